//! What a value says, however it is spelled: `0.10` is `0.1`, `"1 KiB"` is `"1024 B"`, `(a: 1, b: 2)` is `(b: 2, a: 1)`.
//!
//! Deviations: what is the same only beside other values, such as `"4 flits"` and `"256 B"`, or a default that is written
//! out, differs here.

use super::parser::{float, integer, parse};
use super::tree::quote;
use super::{Node, Value};
use crate::units::{Amount, BitRate, Time};

/// The same text for values that say the same by themselves.
pub fn sense(node: &Node) -> String {
    let all = |nodes: &[Node]| nodes.iter().map(sense).collect::<Vec<String>>();
    match &node.inside().value {
        Value::Number(text) => number(text),
        Value::Text(text) => quantity(text).unwrap_or_else(|| quote(text)),
        Value::Word(text) | Value::Verbatim(text) => text.clone(),
        Value::Tuple(nodes) => enclosed(all(nodes), ["(", ")"]),
        Value::List(nodes) => enclosed(all(nodes), ["[", "]"]),
        Value::Struct(fields) => {
            let fields = fields.iter();
            let fields = fields.map(|field| format!("{}: {}", field.key, sense(&field.value)));
            enclosed(sorted(fields), ["(", ")"])
        }
        Value::Map(entries) => {
            let entries = entries.iter();
            let entries = entries.map(|(key, value)| format!("{}: {}", sense(key), sense(value)));
            enclosed(sorted(entries), ["{", "}"])
        }
        // `Name()` is `Name`
        Value::Named(name, arguments) => match sense(arguments).as_str() {
            "()" => name.clone(),
            arguments => format!("{name}{arguments}"),
        },
    }
}

/// The sense of a text that is one value; of another one, the text.
pub fn sense_of(text: &str) -> String {
    parse(text, 0).map_or_else(|_| text.to_owned(), |node| sense(&node))
}

fn enclosed(values: Vec<String>, [open, close]: [&str; 2]) -> String {
    format!("{open}{}{close}", values.join(", "))
}

fn sorted(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut values: Vec<String> = values.collect();
    values.sort();
    values
}

/// A number by its value.
fn number(text: &str) -> String {
    if let Some(whole) = integer(text) {
        return whole.to_string();
    }
    let Some(number) = float(text) else {
        return text.to_owned();
    };
    let whole = number as i128;
    if (whole as f64).to_bits() == number.to_bits() {
        whole.to_string()
    } else {
        format!("{number:?}")
    }
}

/// A quantity in its smallest unit.
fn quantity(text: &str) -> Option<String> {
    if let Ok(BitRate(rate)) = text.parse::<BitRate>() {
        return Some(format!("{rate} bit/s"));
    }
    if let Ok(time) = text.parse::<Time>() {
        return Some(match time {
            Time::Cycles(cycles) => format!("{cycles} cycles"),
            Time::Picoseconds(picoseconds) => format!("{picoseconds} ps"),
        });
    }
    let amount = text.parse::<Amount>().ok()?;
    Some(match amount {
        Amount::Flits(flits) => format!("{flits} flits"),
        Amount::Bytes(bytes) => format!("{bytes} B"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_value_have_one_sense() {
        for same in [
            &["0.1", "0.10", "1e-1", "Some(0.1)", "0.1f64"][..],
            &["1", "01", "0x1", "1.0", "1u8", "+1"],
            &["-2", "-2.0"],
            &["\"100 Gbit/s\"", "\"0.1 Tbit/s\"", "r\"100Gbit/s\""],
            &["\"1 KiB\"", "\"1024 B\"", "\"1_024 B\""],
            &["\"1.5 us\"", "\"1500 ns\""],
            &["\"1 cycle\"", "\"1 cycles\""],
            &["MinHop", "MinHop()"],
            &["Name(a: 1, b: [2, 3])", "Name(b: [02, 3.0], a: 1)"],
            &["{\"a\": 1, \"b\": 2}", "{\"b\": 2, \"a\": 1}"],
            &["\"text\"", "r\"text\""],
        ] {
            for other in &same[1..] {
                assert_eq!(sense_of(other), sense_of(same[0]), "{other}");
            }
        }
    }

    #[test]
    fn what_differs_has_another_sense() {
        let texts = [
            "0.1",
            "0.2",
            "1",
            "\"1\"",
            "\"1 B\"",
            "\"1 flits\"",
            "\"1 cycles\"",
            "\"1 ps\"",
            "\"1 bit/s\"",
            "\"64 bytes\"",
            "One",
            "One(1)",
            "One(a: 1)",
            "[1, 2]",
            "[2, 1]",
            "(1, 2)",
            "None",
            "\"None\"",
        ];
        let mut senses: Vec<String> = texts.iter().map(|text| sense_of(text)).collect();
        senses.sort();
        senses.dedup();
        assert_eq!(senses.len(), texts.len(), "{senses:?}");
    }
}
