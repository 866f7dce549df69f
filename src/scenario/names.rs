//! What differs between runs, as a person says it: `16 x 16 torus`, `DCQCN`, `no control`, `4 lanes`.
//!
//! Names are for reading; tables for programs keep values as the scenario writes them.

use super::syntax::parser::parse;
use super::syntax::{Field, Node, Value};

/// Keys whose values say what they are by themselves.
const PARTS: [&str; 12] = [
    "topology", "routing", "pattern", "control", "process", "source", "solver", "policy",
    "messages", "pairs", "ticks", "slots",
];
/// Parts whose names are spoken in capital letters.
const ACRONYMS: [(&str, &str); 5] = [
    ("Dcqcn", "DCQCN"),
    ("Saa", "SAA"),
    ("SaaM", "SAA-M"),
    ("Ffa", "FFA"),
    ("Afa", "AFA"),
];
/// Key of what is drawn anew in every repetition.
const SEED: &str = "seed";

/// Whether values of this key path are repetitions and no settings: every key that is called `seed`.
pub fn is_seed(path: &str) -> bool {
    path.rsplit('.').next() == Some(SEED)
}

/// The value without seeds of its parts: `Irregular(switches: 16, degree: 4)` of one with `seed: 3`.
pub fn unseeded(text: &str) -> String {
    match parse(text, 0) {
        Ok(node) if text.contains(SEED) => without_seeds(&node).to_text(),
        _ => text.to_owned(),
    }
}

/// The value without seeds of its parts.
pub fn without_seeds(node: &Node) -> Node {
    let all = |nodes: &[Node]| nodes.iter().map(without_seeds).collect();
    let value = match &node.value {
        Value::Struct(fields) => {
            let kept = fields.iter().filter(|field| field.key != SEED);
            let fields: Vec<Field> = kept
                .map(|field| Field {
                    value: without_seeds(&field.value),
                    ..field.clone()
                })
                .collect();
            if fields.is_empty() {
                Value::Tuple(Vec::new())
            } else {
                Value::Struct(fields)
            }
        }
        Value::Named(name, arguments) => {
            Value::Named(name.clone(), Box::new(without_seeds(arguments)))
        }
        Value::List(nodes) => Value::List(all(nodes)),
        Value::Tuple(nodes) => Value::Tuple(all(nodes)),
        other => other.clone(),
    };
    Node {
        place: node.place,
        value,
    }
}

/// A value beside others of its key: `16 x 16 torus`, `Lash`, `none`.
pub fn value(text: &str) -> String {
    let Ok(node) = parse(text, 0) else {
        return text.to_owned();
    };
    match &node.value {
        Value::Word(word) if word == "None" => "none".into(),
        Value::Named(name, arguments) => part(name, arguments),
        Value::Text(text) => text.clone(),
        _ => text.to_owned(),
    }
}

/// A value with its key, where the value alone does not say what it is; `None` where a run has no such key. `class` is
/// named where several classes have the key.
pub fn setting(path: &str, text: Option<&str>, class: Option<&str>) -> String {
    let key = path.rsplit('.').next().unwrap_or(path);
    let noun = key.replace('_', " ");
    let of_class = class.map_or(String::new(), |class| format!("{class} "));
    let text = text.unwrap_or("None");
    let words = match text {
        "None" | "false" => format!("no {noun}"),
        "true" => noun,
        number if is_counted(key) && number.parse::<u64>().is_ok() => {
            let one = noun.trim_end_matches('s');
            format!("{number} {}", if number == "1" { one } else { &noun })
        }
        other if PARTS.contains(&key) => value(other),
        other => format!("{noun} {}", value(other)),
    };
    of_class + &words
}

/// `lanes`, `iterations`: so many of them.
fn is_counted(key: &str) -> bool {
    key.ends_with('s') && !key.ends_with("ss") && !key.contains('_')
}

/// A part with its arguments.
fn part(name: &str, arguments: &Node) -> String {
    let fields: &[Field] = match &arguments.value {
        Value::Struct(fields) => fields,
        Value::Tuple(nodes) if nodes.is_empty() => &[],
        _ => return format!("{name}{}", arguments.to_text()),
    };
    let (words, rest) = topology(name, fields).unwrap_or_else(|| {
        let known = ACRONYMS.iter().find(|(written, _)| *written == name);
        let spoken = known.map_or(name, |(_, spoken)| spoken);
        (spoken.to_owned(), fields.iter().collect())
    });
    let rest: Vec<String> = rest.into_iter().map(argument).collect();
    if rest.is_empty() {
        words
    } else {
        format!("{words} ({})", rest.join(", "))
    }
}

/// `threshold 4`, `no escape`.
fn argument(field: &Field) -> String {
    let noun = field.key.replace('_', " ");
    match &field.value.value {
        Value::Word(word) if word == "None" || word == "false" => format!("no {noun}"),
        Value::Word(word) if word == "true" => noun,
        Value::Text(text) => format!("{noun} {text}"),
        _ => format!("{noun} {}", field.value.to_text()),
    }
}

/// The name of a regular topology, and the arguments that it does not say.
fn topology<'a>(name: &str, fields: &'a [Field]) -> Option<(String, Vec<&'a Field>)> {
    let field = |key: &str| fields.iter().find(|field| field.key == key);
    let number = |key: &str| match &field(key)?.value.value {
        Value::Number(number) => Some(number.clone()),
        _ => None,
    };
    let (words, said): (String, &[&str]) = match name {
        "Torus" => (format!("{} torus", sizes(field("radix")?)?), &["radix"]),
        "Mesh" => (format!("{} mesh", sizes(field("radix")?)?), &["radix"]),
        "HyperX" => (format!("{} HyperX", sizes(field("sizes")?)?), &["sizes"]),
        "Hypercube" => (
            format!("{}-dimensional hypercube", number("dimensions")?),
            &["dimensions"],
        ),
        "KAryNTree" => (
            format!("{}-ary {}-tree", number("k")?, number("n")?),
            &["k", "n"],
        ),
        "KAryNFly" => (
            format!("{}-ary {}-fly", number("k")?, number("n")?),
            &["k", "n"],
        ),
        "Dragonfly" => ("dragonfly".into(), &[]),
        "Ring" => (format!("ring of {}", number("switches")?), &["switches"]),
        "Irregular" => (
            format!("irregular, {} switches", number("switches")?),
            &["switches"],
        ),
        _ => return None,
    };
    let rest = fields
        .iter()
        .filter(|field| !said.contains(&field.key.as_str()));
    Some((words, rest.collect()))
}

/// `16 x 16` of `[16, 16]`.
fn sizes(field: &Field) -> Option<String> {
    let Value::List(nodes) = &field.value.value else {
        return None;
    };
    let sizes: Vec<String> = nodes.iter().map(Node::to_text).collect();
    (!sizes.is_empty()).then(|| sizes.join(" x "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_read_as_a_person_says_them() {
        for (text, words) in [
            ("Torus(radix: [16, 16])", "16 x 16 torus"),
            (
                "Mesh(radix: [4, 4, 2], hosts_per_switch: 2)",
                "4 x 4 x 2 mesh (hosts per switch 2)",
            ),
            ("HyperX(sizes: [4, 4])", "4 x 4 HyperX"),
            ("KAryNTree(k: 4, n: 3)", "4-ary 3-tree"),
            ("Hypercube(dimensions: 5)", "5-dimensional hypercube"),
            ("Dragonfly(p: 2, a: 4, h: 2)", "dragonfly (p 2, a 4, h 2)"),
            ("Petersen()", "Petersen"),
            ("Lash()", "Lash"),
            ("Ugal(threshold: 4)", "Ugal (threshold 4)"),
            (
                "Lash(escape: false, width: None)",
                "Lash (no escape, no width)",
            ),
            ("Dcqcn(rate: \"1 Gbit/s\")", "DCQCN (rate 1 Gbit/s)"),
            ("None", "none"),
            ("0.25", "0.25"),
            ("64 B", "64 B"),
            ("[(0, 4)]", "[(0, 4)]"),
            ("Packets(1)", "Packets(1)"),
        ] {
            assert_eq!(value(text), words);
        }
    }

    #[test]
    fn settings_name_their_key_where_the_value_does_not_say_it() {
        for (path, text, words) in [
            ("routing", Some("UpDown()"), "UpDown"),
            ("traffic.bulk.control", Some("Dcqcn()"), "DCQCN"),
            ("traffic.bulk.control", Some("None"), "no control"),
            ("traffic.bulk.control", None, "no control"),
            ("fabric.switch.lanes", Some("4"), "4 lanes"),
            ("fabric.switch.lanes", Some("1"), "1 lane"),
            (
                "fabric.switch.lane_capacity",
                Some("16 flits"),
                "lane capacity 16 flits",
            ),
            ("fabric.switch.reserve", Some("false"), "no reserve"),
            ("fabric.switch.reserve", Some("true"), "reserve"),
            ("fabric.switch.queues", Some("Voq"), "queues Voq"),
        ] {
            assert_eq!(setting(path, text, None), words);
        }
        let of_class = setting("traffic.bulk.pattern", Some("Uniform"), Some("bulk"));
        assert_eq!(of_class, "bulk Uniform");
    }

    #[test]
    fn seeds_are_no_part_of_a_value() {
        assert!(is_seed("seed") && is_seed("faults.seed") && is_seed("fabric.topology.seed"));
        assert!(!is_seed("faults.links") && !is_seed("sweep.seeds"));
        let drawn = "Irregular(switches: 16, seed: 3)";
        assert_eq!(unseeded(drawn), "Irregular(switches: 16)");
        assert_eq!(unseeded("Drawn(seed: 3)"), "Drawn()");
        assert_eq!(unseeded("64 B"), "64 B");
    }
}
