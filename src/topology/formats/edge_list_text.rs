//! Reads edge lists: switches by number, links and hosts one by one.
//!
//! # Grammar
//!
//! One statement per line, words separated by blanks; a word with blanks stands in double quotes; `#` starts
//! a comment.
//!
//! ```text
//! switches 4                        number of switches; without it, the largest number used + 1
//! switch 2 "spine 0"                name of a switch; without it, S2
//! 0 1                               a link between switch 0 and switch 1
//! 0 1 40Gbit/s 100ns                another one, with its own rate and latency (either may be missing)
//! 1:7 2:3 "5 cycles" / 10Gbit/s     port 7 of switch 1 to port 3 of switch 2; after `/` the way back
//! host node-17 3 10Gbit/s           a host on switch 3; the name may be missing (H<number>)
//! topology Torus(radix: [4, 4])     all switches, ports, links and hosts are those of this topology; engines that
//!                                   need its structure then accept the fabric
//! ```
//!
//! Switches count from 0, ports from 1. Cost: O(text) time and memory.

use crate::topology::formats::fabric_file::LineError;
use crate::topology::graph::link_rate::OwnTiming;
use crate::units::{BitRate, Time};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

/// One end of a link: a switch, and its port unless any free one will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attachment {
    pub(super) switch: u32,
    pub(super) port: Option<u16>,
}

/// A link between switches; `timing` is that of the way there, then back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LinkStatement {
    /// Line of a file, or number of the entry in a scenario, from 1.
    pub(super) place: usize,
    pub(super) ends: [Attachment; 2],
    pub(super) timing: [OwnTiming; 2],
}

/// A host; `timing` is that from host to switch, then back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HostStatement {
    /// Line of a file, or number of the entry in a scenario, from 1; 0 = made by `hosts_per_switch`.
    pub(super) place: usize,
    pub(super) name: Option<String>,
    pub(super) end: Attachment,
    pub(super) timing: [OwnTiming; 2],
}

/// All statements of one kind each, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Statements {
    pub(super) switches: Option<u32>,
    /// Line and text of the topology that the fabric is.
    pub(super) form: Option<(usize, String)>,
    /// Line and name by switch.
    pub(super) names: BTreeMap<u32, (usize, String)>,
    pub(super) links: Vec<LinkStatement>,
    pub(super) hosts: Vec<HostStatement>,
    /// What is worth saying about the file, with the line it is about.
    pub(super) notes: Vec<(usize, String)>,
}

impl Statements {
    /// What links and hosts say of their timing, every way.
    pub(super) fn timings(&self) -> impl Iterator<Item = &OwnTiming> {
        let of_links = self.links.iter().flat_map(|link| &link.timing);
        of_links.chain(self.hosts.iter().flat_map(|host| &host.timing))
    }

    /// As [`Self::timings`], in the same order.
    pub(super) fn timings_mut(&mut self) -> impl Iterator<Item = &mut OwnTiming> {
        let of_links = self.links.iter_mut().flat_map(|link| &mut link.timing);
        of_links.chain(self.hosts.iter_mut().flat_map(|host| &mut host.timing))
    }

    /// Distinct rates of links and hosts, ascending.
    pub(super) fn rates(&self) -> Vec<BitRate> {
        let of_links = self.links.iter().flat_map(|link| link.timing);
        let of_hosts = self.hosts.iter().flat_map(|host| host.timing);
        let rates = of_links.chain(of_hosts).filter_map(|timing| timing.rate);
        rates.collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// The words of one statement. In a scenario: a number, a text with blanks, or a list of numbers and words,
/// so that `(0, 1, "40 Gbit/s")` and `"0 1 40Gbit/s"` are the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Words(pub(super) Vec<String>);

impl FromStr for Words {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let mut words = Vec::new();
        let mut rest = line.trim_start();
        while !rest.is_empty() && !rest.starts_with('#') {
            let word;
            if let Some(text) = rest.strip_prefix('"') {
                (word, rest) = text.split_once('"').ok_or("a quote is not closed")?;
            } else {
                let is_end = |c: char| c.is_whitespace() || c == '#';
                (word, rest) = rest.split_at(rest.find(is_end).unwrap_or(rest.len()));
            }
            words.push(word.to_owned());
            rest = rest.trim_start();
        }
        Ok(Self(words))
    }
}

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Words;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an entry such as `(0, 1)` or `(0, 1, \"40 Gbit/s\", \"100 ns\")`")
            }
            fn visit_u64<E>(self, number: u64) -> Result<Words, E> {
                Ok(Words(vec![number.to_string()]))
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Words, E> {
                text.parse().map_err(E::custom)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut entry: A) -> Result<Words, A::Error> {
                let mut words = Vec::new();
                while let Some(word) = entry.next_element::<Word>()? {
                    words.push(word.0);
                }
                Ok(Words(words))
            }
        }
        deserializer.deserialize_any(Collect)
    }
}

/// A number or a text, kept as it is.
struct Word(String);

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl Visitor<'_> for Collect {
            type Value = Word;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a text")
            }
            fn visit_u64<E>(self, number: u64) -> Result<Word, E> {
                Ok(Word(number.to_string()))
            }
            fn visit_str<E>(self, text: &str) -> Result<Word, E> {
                Ok(Word(text.to_owned()))
            }
        }
        deserializer.deserialize_any(Collect)
    }
}

/// Reads a whole file.
pub(super) fn parse(text: &str) -> Result<Statements, LineError> {
    let mut statements = Statements::default();
    for (index, line) in text.lines().enumerate() {
        let place = index + 1;
        let at_line = |reason: String| LineError::new(place, reason);
        if let Some(form) = line.trim().strip_prefix("topology ") {
            if statements
                .form
                .replace((place, form.trim().to_owned()))
                .is_some()
            {
                return Err(at_line("`topology` is given twice".to_owned()));
            }
            continue;
        }
        let words: Words = line.parse().map_err(at_line)?;
        let words: Vec<&str> = words.0.iter().map(String::as_str).collect();
        match words.as_slice() {
            [] => {}
            ["switches", count] => {
                let number = count
                    .parse()
                    .map_err(|_| at_line(no_number("switches", count)))?;
                if statements.switches.replace(number).is_some() {
                    return Err(at_line("`switches` is given twice".to_owned()));
                }
            }
            ["switch", number, name] => {
                let switch = number
                    .parse()
                    .map_err(|_| at_line(no_number("switch", number)))?;
                let entry = (place, (*name).to_owned());
                if let Some((first, _)) = statements.names.insert(switch, entry) {
                    return Err(at_line(format!(
                        "switch {switch} is already named on line {first}"
                    )));
                }
            }
            ["switches" | "switch", ..] => {
                let reason = "expected `switches <count>` or `switch <number> <name>`";
                return Err(at_line(reason.to_owned()));
            }
            ["host", rest @ ..] => statements.hosts.push(host(place, rest).map_err(at_line)?),
            link_words => statements
                .links
                .push(link(place, link_words).map_err(at_line)?),
        }
    }
    Ok(statements)
}

fn no_number(what: &str, word: &str) -> String {
    format!("`{what} {word}`: `{word}` is not a number in 0..2^32")
}

/// `0 1:7 40Gbit/s 100ns / 10Gbit/s`
pub(super) fn link(place: usize, words: &[&str]) -> Result<LinkStatement, String> {
    let [a, b, rest @ ..] = words else {
        let reason = "expected a link such as `0 1` or `0 1 40Gbit/s 100ns`, `host <name> <switch>`, \
                      `switch <number> <name>` or `switches <count>`";
        return Err(reason.to_owned());
    };
    let ends = [attachment(a)?, attachment(b)?];
    let switch = ends[0].switch;
    if switch == ends[1].switch && ends.iter().any(|end| end.port.is_none()) {
        return Err(format!(
            "switch {switch} is linked to itself; if that is meant, give both ports: `{switch}:1 {switch}:2`"
        ));
    }
    let timing = timing(rest)?;
    Ok(LinkStatement {
        place,
        ends,
        timing,
    })
}

/// `node-17 3:1 10Gbit/s`, or without the name.
pub(super) fn host(place: usize, words: &[&str]) -> Result<HostStatement, String> {
    let (name, end, rest) = match words {
        [name, end, rest @ ..] if attachment(end).is_ok() => (Some((*name).to_owned()), end, rest),
        [end, rest @ ..] => (None, end, rest),
        [] => return Err("expected a host such as `host node-17 3`".to_owned()),
    };
    Ok(HostStatement {
        place,
        name,
        end: attachment(end)?,
        timing: timing(rest)?,
    })
}

/// `3` or `3:7`.
fn attachment(word: &str) -> Result<Attachment, String> {
    let read = || {
        let (switch, port) = match word.split_once(':') {
            Some((switch, port)) => (switch, Some(port.parse().ok()?)),
            None => (word, None),
        };
        let switch = switch.parse().ok()?;
        Some(Attachment { switch, port })
    };
    read().ok_or_else(|| format!("`{word}` is not a switch such as `3`, or `3:7` for its port 7"))
}

/// `40Gbit/s 100ns / 10Gbit/s`; without `/` both ways are the same.
fn timing(words: &[&str]) -> Result<[OwnTiming; 2], String> {
    let mut ways = words.split(|&word| word == "/");
    let there = one_way(ways.next().unwrap_or_default())?;
    let back = ways.next().map_or(Ok(there), one_way)?;
    match ways.next() {
        None => Ok([there, back]),
        Some(_) => Err("more than one `/`, expected the way there and the way back".to_owned()),
    }
}

fn one_way(words: &[&str]) -> Result<OwnTiming, String> {
    let mut own = OwnTiming::default();
    for word in words {
        let is_repeated = match (word.parse::<BitRate>(), word.parse::<Time>()) {
            (Ok(rate), _) => own.rate.replace(rate).is_some(),
            (_, Ok(latency)) => own.latency.replace(latency).is_some(),
            _ => {
                return Err(format!(
                    "`{word}` is not a rate such as `40Gbit/s` or a latency such as `100ns` or `5cycles`"
                ));
            }
        };
        if is_repeated {
            return Err(format!("`{word}` is the second of its kind, expected one"));
        }
    }
    Ok(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_read() {
        let text = "# a comment\nswitches 4\n\nswitch 2 \"spine 0\" # one\n0 1\n\
                    1:7 2:3 \"5 cycles\" / 10Gbit/s 100ns\nhost node-17 3 10Gbit/s\nhost 3\nhost 5 3\n";
        let statements = parse(text).unwrap();
        assert_eq!(statements.switches, Some(4));
        assert_eq!(statements.names[&2], (4, "spine 0".to_owned()));
        let [plain, timed] = statements.links.as_slice() else {
            panic!("two links");
        };
        assert_eq!((plain.place, plain.timing), (5, Default::default()));
        assert_eq!(timed.ends.map(|end| end.port), [Some(7), Some(3)]);
        assert_eq!(timed.timing[0].latency, Some(Time::Cycles(5)));
        assert_eq!(timed.timing[1].rate, Some(BitRate(10_000_000_000)));
        assert_eq!(timed.timing[1].latency, Some(Time::Picoseconds(100_000)));
        let names: Vec<_> = statements
            .hosts
            .iter()
            .map(|host| host.name.as_deref())
            .collect();
        assert_eq!(names, [Some("node-17"), None, Some("5")]);
        assert_eq!(statements.hosts[0].timing[0], statements.hosts[0].timing[1]);
    }

    #[test]
    fn malformed_lines_are_told() {
        let cases = [
            (
                "0",
                "expected a link such as `0 1` or `0 1 40Gbit/s 100ns`, `host <name> <switch>`, `switch \
                   <number> <name>` or `switches <count>`",
            ),
            (
                "0 b",
                "`b` is not a switch such as `3`, or `3:7` for its port 7",
            ),
            (
                "0 1:",
                "`1:` is not a switch such as `3`, or `3:7` for its port 7",
            ),
            (
                "0 1:70000",
                "`1:70000` is not a switch such as `3`, or `3:7` for its port 7",
            ),
            (
                "4 4:1",
                "switch 4 is linked to itself; if that is meant, give both ports: `4:1 4:2`",
            ),
            (
                "0 1 fast",
                "`fast` is not a rate such as `40Gbit/s` or a latency such as `100ns` or `5cycles`",
            ),
            (
                "0 1 1ns 2ns",
                "`2ns` is the second of its kind, expected one",
            ),
            (
                "0 1 / / 1ns",
                "more than one `/`, expected the way there and the way back",
            ),
            ("host", "expected a host such as `host node-17 3`"),
            ("host \"x 3", "a quote is not closed"),
            (
                "switches many",
                "`switches many`: `many` is not a number in 0..2^32",
            ),
            (
                "switch 1",
                "expected `switches <count>` or `switch <number> <name>`",
            ),
            ("switches 1\nswitches 1", "`switches` is given twice"),
            (
                "switch 1 a\nswitch 1 b",
                "switch 1 is already named on line 1",
            ),
        ];
        for (text, reason) in cases {
            let error = parse(text).unwrap_err();
            assert_eq!(error, LineError::new(text.lines().count(), reason));
        }
    }
}
