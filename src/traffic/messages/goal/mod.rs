//! GOAL schedules, the input of `LogGOPSim` and ATLAHS, as messages.
//!
//! A schedule gives each rank operations (`calc`, `send`, `recv`) and what they require. Sends become messages; the operations
//! between them become what a message waits for, with delays: a computation adds its time, a receive adds the message that
//! it receives, a send on the same rank stands for all it has waited for.

mod matching;
mod order;
mod parse;
mod words;

use super::{
    BuildMessages, Message, MessageClass, MessageError, MessageSource, Messages, MessagesContext,
};
use crate::ids::HostId;
use crate::references::{GOAL_SCHEDULES, LOG_GOP_SIM};
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::text_file::without_mark;
use crate::traffic::invalid;
use crate::units::{Clock, Time};
use serde::Deserialize;
use std::path::Path;
use std::sync::Arc;

/// Registers `Goal`.
pub(super) const ENTRY: Entry<BuildMessages> = Entry {
    name: "Goal",
    aliases: &["LogGOPSim"],
    summary: "messages of a GOAL schedule: the sends of its ranks, with the receives and computations they wait for",
    parameters: &[
        Parameter {
            name: "file",
            kind: "path, relative to the scenario",
            default: None,
            summary: "schedule as text: `num_ranks`, then `rank N { ... }` with `calc`, `send`, `recv`, `requires` and \
                      `irequires`; rank N is the N-th host of the class, `cpu` and `nic` are read and not modelled",
        },
        Parameter {
            name: "unit",
            kind: "time",
            default: Some("\"1 ns\""),
            summary: "what `calc 1` takes",
        },
    ],
    guarantees: &[
        "the n-th send to a rank with a tag is the n-th receive there of it; where something is received from any rank or with any \
         tag (-1), what comes first when messages take no time",
        "a receive may have room for more than is sent; what a rank sends to itself is no message and takes no time",
        "overheads and gaps of the LogGOPS model are the fabric's: hosts add none",
    ],
    references: &[GOAL_SCHEDULES, LOG_GOP_SIM],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Goal")]
struct Parameters {
    file: String,
    #[serde(default)]
    unit: Option<String>,
}

/// A schedule that was read, as messages or as what is wrong with it.
#[derive(Debug)]
struct Goal {
    file: String,
    messages: Result<Arc<[Message]>, MessageError>,
}

fn build(
    arguments: Arguments<'_>,
    context: MessagesContext<'_>,
) -> Result<Arc<dyn MessageSource>, ArgumentError> {
    let Parameters { file, unit } = arguments.parse()?;
    let unit: Time = unit
        .as_deref()
        .unwrap_or("1 ns")
        .parse()
        .map_err(|cause| invalid(format!("`unit`: {cause}")))?;
    let [class] = context.classes else {
        return Err(invalid(
            "`file` is named by several classes: a GOAL schedule has one",
        ));
    };
    let messages = read(
        &context.base.join(&file),
        class,
        Unit::new(unit, context.clock),
    );
    let messages = messages.map_err(|(line, reason)| MessageError {
        file: file.clone(),
        line,
        reason,
    });
    Ok(Arc::new(Goal { file, messages }))
}

/// Cycles of so many units of time.
#[derive(Clone, Copy, Debug)]
struct Unit(f64);

impl Unit {
    fn new(unit: Time, clock: Clock) -> Self {
        Self(match unit {
            Time::Cycles(cycles) => cycles as f64,
            Time::Picoseconds(ps) => ps as f64 / clock.cycle_picoseconds(),
        })
    }

    fn cycles(self, units: u64) -> u64 {
        (units as f64 * self.0).round() as u64
    }
}

/// Line and reason.
type Wrong = (u64, String);

fn read(path: &Path, class: &MessageClass, unit: Unit) -> Result<Arc<[Message]>, Wrong> {
    let bytes = std::fs::read(path).map_err(|cause| {
        let reason = format!(
            "cannot be read: {cause}; relative names start from the folder of the scenario"
        );
        (0, reason)
    })?;
    let text = String::from_utf8(bytes)
        .map_err(|error| no_text(error.as_bytes(), error.utf8_error().valid_up_to()))?;
    let operations = parse::operations(without_mark(&text))?;
    order::messages(&operations, class, unit).map(Arc::from)
}

/// What is wrong with a file that is UTF-8 up to a place only. Binary schedules have numbers of eight bytes, with bytes of 0.
fn no_text(bytes: &[u8], valid: usize) -> Wrong {
    if bytes.contains(&0) {
        return (0, String::from("is no text: binary schedules are not read"));
    }
    let lines = bytes[..valid].iter().filter(|&&byte| byte == b'\n');
    let (line, byte) = (lines.count() as u64 + 1, bytes[valid]);
    let reason = format!("the byte 0x{byte:02X} is not UTF-8, expected a text in UTF-8");
    (line, reason)
}

impl MessageSource for Goal {
    fn file(&self) -> &str {
        &self.file
    }

    fn messages(&self) -> Result<Messages, MessageError> {
        let messages = self.messages.clone()?;
        let all = 0..messages.len();
        Ok(Box::new(
            all.map(move |number| Ok(messages[number].clone())),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::messages::{After, check};
    use std::fmt::Write;

    /// Messages of a text for four ranks on hosts 10 to 13, one cycle per unit.
    fn read(text: impl AsRef<[u8]>) -> Result<Vec<Message>, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("s.goal"), text.as_ref()).unwrap();
        let class = MessageClass {
            number: 1,
            name: "mpi".into(),
            hosts: (10..14).map(HostId).collect(),
        };
        let clock = Clock {
            flit_bytes: 64,
            reference_rate: 10_000_000_000,
        };
        let context = MessagesContext {
            base: folder.path(),
            clock,
            classes: &[class],
        };
        let arguments = Arguments {
            text: "(file: \"s.goal\", unit: \"1 cycles\")",
        };
        let source = build(arguments, context).map_err(|error| error.to_string())?;
        check(&*source, 14, &[4, 4], 64).map_err(|error| error.to_string())?;
        let messages = source.messages().map_err(|error| error.to_string())?;
        Ok(messages.map(Result::unwrap).collect())
    }

    /// Computes, sends, waits for the answer, computes again; the answer comes while the other rank computes on.
    const PING_PONG: &str = "num_ranks 4 // two of them idle
rank 0 {
l1: calc 100
l2: send 64b to 1 tag 7 cpu 0 nic 0
l2 requires l1
l3: recv 8b from 1 tag 9
l3 requires l2
l4: calc 50
l4 requires l3
l5: send 128b to 1
l5 requires l4
l6: calc 20
l6 irequires l3
l7: send 1b to 1 tag 3
l7 requires l6
}
rank 1 {
a: recv 64b from 0 tag 7
b: send 8b to 0 tag 9
b requires a
c: calc 500
c requires a
d: recv 128b from 0
d requires c
e: recv 1b from 0 tag 3
}";

    #[test]
    fn sends_wait_for_what_lies_between() {
        let found = read(PING_PONG).unwrap();
        let message = |line, time, ends: [u32; 2], bytes, after: &[(u64, u64)]| Message {
            line,
            time,
            source: HostId(ends[0]),
            destination: HostId(ends[1]),
            class: 1,
            bytes,
            after: after
                .iter()
                .map(|&(message, delay)| After { message, delay })
                .collect(),
        };
        // l3 has started when l2 is sent; b waits for l2; l5 for l2, and for b 50 earlier
        let expected = [
            message(4, 100, [10, 11], 64, &[]),
            message(19, 100, [11, 10], 8, &[(0, 0)]),
            message(14, 120, [10, 11], 1, &[(0, 20)]),
            message(10, 150, [10, 11], 128, &[(0, 50), (1, 50)]),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn binary_schedules_and_other_encodings_are_told_apart() {
        let wrong = read(b"num_ranks 1\n// M\xFCnchen\nrank 0 {\n}\n").unwrap_err();
        let expected = "s.goal:2: the byte 0xFC is not UTF-8, expected a text in UTF-8";
        assert!(wrong.ends_with(expected), "{wrong}");
        let wrong = read(b"\x04\0\0\0\0\0\0\0\xFF").unwrap_err();
        assert!(wrong.contains("binary schedules are not read"), "{wrong}");
    }

    /// Time and ends of the messages, and what they wait for.
    fn told(text: &str) -> Vec<(u64, u32, u32, Vec<(u64, u64)>)> {
        let messages = read(text).expect("a schedule");
        let one = |message: Message| {
            let after = message
                .after
                .iter()
                .map(|after| (after.message, after.delay));
            let [from, to] = [message.source, message.destination].map(|host| host.0 - 10);
            (message.time, from, to, after.collect())
        };
        messages.into_iter().map(one).collect()
    }

    #[test]
    fn labels_lines_and_comments_are_as_the_grammar_has_them() {
        let plain = told(PING_PONG);
        let on_one_line = PING_PONG.replace(
            "num_ranks 4 // two of them idle",
            "/* two\n idle */ num_ranks 4",
        );
        let on_one_line = on_one_line.replace('\n', " \t ");
        assert_eq!(told(&on_one_line), plain);
        let apart = PING_PONG
            .replace("64b", "64 b")
            .replace("128b", "128\nB")
            .replace("l2: send", "l2 : send");
        assert_eq!(told(&apart), plain);
        let roomy = PING_PONG.replace("recv 128b", "recv 4096b");
        assert_eq!(told(&roomy), plain);
        let later = PING_PONG.replace("l1: calc 100\n", "");
        let later = later.replace("l2 requires l1", "l2 requires l1 l1: calc 100");
        assert_eq!(told(&later), plain);
        let text =
            "num_ranks 2 rank 0 { send 64b to 1 tag 5 calc 7 } rank 1 { recv 64b from 0 tag 5 }";
        assert_eq!(told(text), [(0, 0, 1, vec![])]);
    }

    /// A rank hands 64 bytes to itself after 30 units, without a message; what it sends then is 30 later.
    #[test]
    fn what_a_rank_sends_to_itself_is_no_message() {
        let text = "num_ranks 2
            rank 0 {
                work: calc 30
                out: send 64b to 0  in: recv 64b from 0  on: send 8b to 1
                out requires work  on requires in
            }
            rank 1 { recv 8b from 0 }";
        assert_eq!(told(text), [(30, 0, 1, vec![])]);
    }

    /// Rank 2 sends at 10, rank 0 at 20, rank 1 takes them in this order whatever stands first.
    #[test]
    fn any_source_and_any_tag_are_matched_in_time() {
        let text = "num_ranks 4
            rank 0 { a: calc 20 b: send 8b to 1 tag 3 b requires a }
            rank 1 {
                first: recv 8b from -1 tag -1  second: recv 8b from -1
                second requires first
                next: send 8b to 3 tag 1  next requires first
                last: send 8b to 3 tag 2  last requires second
            }
            rank 2 { a: calc 10 b: send 8b to 1 tag 0 b requires a }
            rank 3 { recv 8b from 1 tag -1 recv 8b from 1 tag 2 }";
        let wrong = read(text).unwrap_err();
        assert!(
            wrong.contains("nothing is sent that rank 1 could receive here"),
            "{wrong}"
        );
        let tagged =
            told(&text.replace("second: recv 8b from -1", "second: recv 8b from -1 tag 3"));
        let expected = [
            (10, 2, 1, vec![]),
            (10, 1, 3, vec![(0, 0)]),
            (20, 0, 1, vec![]),
            (20, 1, 3, vec![(2, 0), (0, 0)]),
        ];
        assert_eq!(tagged, expected);
        let any_sent = "num_ranks 2 rank 0 { send 8b to 1 tag -1 } rank 1 { recv 8b from 0 tag 9 }";
        assert_eq!(told(any_sent), [(0, 0, 1, vec![])]);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let mut list = String::new();
        let rank = |lines: &str| format!("num_ranks 2\nrank 0 {{\n{lines}\n}}");
        for text in [
            "",
            "rank 0 {\n}",
            "num_ranks 2\nrank 2 {\n}",
            "num_ranks 2\nrank 0 {\n}\nrank 0 {\n}",
            "num_ranks 2\nrank 0 {",
            "num_ranks two",
            &rank("a: wait 7"),
            &rank("a: calc x"),
            &rank("a: send 64 to 1"),
            &rank("a: send 64b to 5"),
            &rank("a: send 64b to 1 port 7"),
            &rank("a: calc 1\na: calc 2"),
            &rank("a: calc 1\na requires b"),
            &rank("a: send 64b to 1"),
            &rank("a: recv 64b from 1"),
            &PING_PONG.replace("recv 128b", "recv 127b"),
            &rank("a: calc 1\nb: calc 1\na requires b\nb requires a"),
            &rank("a: send 64b to -1"),
            &rank("/* a: calc 1"),
            &rank("a: recv 64b from -1"),
            &rank("a: send 64b to 1 tag -1"),
            &rank("a: calc 1\nrequires a"),
            &(rank("a: calc 99999999999999999\nb: send 64b to 1\nb requires a")
                + "\nrank 1 {\na: recv 64b from 0\n}"),
            &PING_PONG
                .replace("num_ranks 4", "num_ranks 9")
                .replace("rank 1", "rank 8")
                .replace("to 1", "to 8")
                .replace("from 1", "from 8"),
        ] {
            let _ = writeln!(list, "{}", read(text).unwrap_err());
        }
        insta::assert_snapshot!(list);
    }
}
