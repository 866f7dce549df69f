//! Message traces as CSV: one message per line, columns by name, units in the header.
//!
//! ```text
//! # halo exchange of two ranks, twice
//! time [ns], source, destination, bytes, class, after
//! 0,         0,      1,           4096,  data,
//! 0,         1,      0,           4096,  data,
//! 0,         0,      1,           4096,  data,  0 1+500
//! 0,         1,      0,           4096,  data,  0+500 1
//! ```
//!
//! Lines that start with `#` are comments. `after` and `class` may be missing. No cell needs quotes.

use super::check::LATEST;
use super::{
    After, BuildMessages, Message, MessageClass, MessageError, MessageSource, Messages,
    MessagesContext,
};
use crate::registry::{ArgumentError, Arguments, Entry, Parameter, unknown};
use crate::text_file::without_mark;
use crate::traffic::table::{TimeUnit, cells, named};
use crate::units::Clock;
use serde::Deserialize;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::sync::Arc;

/// Registers `Trace`.
pub(super) const ENTRY: Entry<BuildMessages> = Entry {
    name: "Trace",
    aliases: &[],
    summary: "messages of a CSV file, each with its time, hosts, bytes, class and what it waits for",
    parameters: &[Parameter {
        name: "file",
        kind: "path, relative to the scenario",
        default: None,
        summary: "columns `time [cycles | ps | ns | us | ms | s]`, never falling; `source` and `destination`, from 0 \
                  among the hosts of the class; `bytes`; `class`, needed when several classes name the file; `after`, \
                  what it waits for: numbers of earlier messages from or to its source (the first is 0), apart by \
                  spaces, `7+500` = 500 time units after message 7",
    }],
    guarantees: &["read as the run goes on: memory for what is under way or waits"],
    references: &[],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Trace")]
struct Parameters {
    file: String,
}

/// A file of messages.
#[derive(Clone, Debug)]
struct Trace {
    file: String,
    path: PathBuf,
    clock: Clock,
    classes: Vec<MessageClass>,
}

fn build(
    arguments: Arguments<'_>,
    context: MessagesContext<'_>,
) -> Result<Arc<dyn MessageSource>, ArgumentError> {
    let Parameters { file } = arguments.parse()?;
    Ok(Arc::new(Trace {
        path: context.base.join(&file),
        file,
        clock: context.clock,
        classes: context.classes.to_vec(),
    }))
}

impl MessageSource for Trace {
    fn file(&self) -> &str {
        &self.file
    }

    fn messages(&self) -> Result<Messages, MessageError> {
        let file = File::open(&self.path).map_err(|cause| {
            let reason = format!(
                "cannot be read: {cause}; relative names start from the folder of the scenario"
            );
            self.wrong(0, reason)
        })?;
        let mut lines = Lines {
            file: BufReader::new(file),
            number: 0,
            text: String::new(),
        };
        let is_there = lines.advance();
        let columns = match is_there {
            Ok(true) => Columns::new(&lines.text, self.clock),
            Ok(false) => Err("is empty: expected a header with the names of the columns".into()),
            Err(reason) => Err(reason),
        };
        Ok(Box::new(Rows {
            columns: columns.map_err(|reason| self.wrong(lines.number, reason))?,
            trace: self.clone(),
            lines,
            is_over: false,
        }))
    }
}

impl Trace {
    fn wrong(&self, line: u64, reason: impl Into<String>) -> MessageError {
        MessageError {
            file: self.file.clone(),
            line,
            reason: reason.into(),
        }
    }

    /// The class of a message.
    fn class(&self, text: &str) -> Result<&MessageClass, String> {
        match &self.classes[..] {
            [only] if text.is_empty() => Ok(only),
            classes => {
                let found = classes.iter().find(|class| class.name == text);
                let names = classes.iter().map(|class| class.name.as_str());
                found.ok_or_else(|| unknown("class with this trace", text, names))
            }
        }
    }
}

/// The lines of a file, one at a time.
struct Lines {
    file: BufReader<File>,
    number: u64,
    text: String,
}

impl Lines {
    /// Goes to the next line that is neither empty nor a comment; returns whether there is one.
    fn advance(&mut self) -> Result<bool, String> {
        loop {
            self.text.clear();
            self.number += 1;
            let read = self.file.read_line(&mut self.text);
            if self.number == 1 && without_mark(&self.text).len() < self.text.len() {
                self.text = without_mark(&self.text).to_owned();
            }
            match read {
                Ok(0) => return Ok(false),
                Ok(_) if self.text.trim().is_empty() || self.text.starts_with('#') => {}
                Ok(_) => return Ok(true),
                Err(cause) => return Err(format!("cannot be read: {cause}")),
            }
        }
    }
}

/// Places of the columns.
#[derive(Clone, Copy, Debug)]
struct Columns {
    time: usize,
    source: usize,
    destination: usize,
    bytes: usize,
    class: Option<usize>,
    after: Option<usize>,
    count: usize,
    unit: TimeUnit,
}

/// Names of the columns.
const COLUMNS: [&str; 6] = ["time", "source", "destination", "bytes", "class", "after"];

impl Columns {
    fn new(header: &str, clock: Clock) -> Result<Self, String> {
        let mut places = [None; COLUMNS.len()];
        let mut unit = "";
        for (place, cell) in cells(header).enumerate() {
            let (name, bracket) = named(cell);
            let Some(column) = COLUMNS.iter().position(|column| *column == name) else {
                return Err(unknown("column", name, COLUMNS.into_iter()));
            };
            if places[column].replace(place).is_some() {
                return Err(format!("the column `{name}` is there twice"));
            }
            match (name, bracket) {
                ("time", bracket) => unit = bracket,
                (_, "") | ("bytes", "B") => {}
                _ => return Err(format!("`{cell}`: the column `{name}` has no such unit")),
            }
        }
        let need = |column: usize| {
            let name = COLUMNS[column];
            places[column].ok_or_else(|| format!("the column `{name}` is missing"))
        };
        let time = need(0)?;
        let unit = TimeUnit::of_column(COLUMNS[0], unit, clock)?;
        Ok(Self {
            time,
            source: need(1)?,
            destination: need(2)?,
            bytes: need(3)?,
            class: places[4],
            after: places[5],
            count: cells(header).count(),
            unit,
        })
    }
}

/// The messages of a file, line by line.
struct Rows {
    trace: Trace,
    columns: Columns,
    lines: Lines,
    is_over: bool,
}

impl Iterator for Rows {
    type Item = Result<Message, MessageError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let read = match self.lines.advance() {
            Ok(true) => self.message(),
            Ok(false) => {
                self.is_over = true;
                return None;
            }
            Err(reason) => Err(reason),
        };
        self.is_over = read.is_err();
        Some(read.map_err(|reason| self.trace.wrong(self.lines.number, reason)))
    }
}

impl Rows {
    /// The message of the current line.
    fn message(&self) -> Result<Message, String> {
        let columns = &self.columns;
        let mut row = [""; COLUMNS.len()];
        let mut count = 0;
        for cell in cells(&self.lines.text) {
            if let Some(place) = row.get_mut(count) {
                *place = cell;
            }
            count += 1;
        }
        if count != columns.count {
            let wanted = columns.count;
            return Err(format!("{count} columns, but the header has {wanted}"));
        }
        let optional = |place: Option<usize>| place.map_or("", |place| row[place]);
        let class = self.trace.class(optional(columns.class))?;
        let bytes = row[columns.bytes];
        Ok(Message {
            line: self.lines.number,
            time: columns.unit.cycles(row[columns.time], LATEST)?,
            source: class.host("source", row[columns.source])?,
            destination: class.host("destination", row[columns.destination])?,
            class: class.number,
            bytes: bytes
                .parse()
                .map_err(|_| format!("`{bytes}` is no number of bytes"))?,
            after: optional(columns.after)
                .split_whitespace()
                .map(|text| self.after(text))
                .collect::<Result<_, _>>()?,
        })
    }

    /// `7` or `7+500`.
    fn after(&self, text: &str) -> Result<After, String> {
        let (message, delay) = text.split_once('+').unwrap_or((text, "0"));
        Ok(After {
            message: message.parse().map_err(|_| {
                format!(
                    "`{text}` is nothing to wait for: expected the number of a message, such as 7 or 7+500"
                )
            })?,
            delay: self.columns.unit.cycles(delay, LATEST)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::HostId;
    use crate::traffic::messages::check;
    use std::fmt::Write;

    /// What is read from a text, by two classes with hosts 4 to 7 and 0 to 1 at 16 ns per cycle.
    fn read(text: &str) -> Result<Vec<Message>, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("t.csv"), text).unwrap();
        let class = |number, name: &str, hosts: std::ops::Range<u32>| MessageClass {
            number,
            name: name.into(),
            hosts: hosts.map(HostId).collect(),
        };
        let classes = [class(0, "data", 4..8), class(2, "control", 0..2)];
        let context = MessagesContext {
            base: folder.path(),
            clock: Clock {
                flit_bytes: 64,
                reference_rate: 32_000_000_000,
            },
            classes: &classes,
        };
        let arguments = Arguments {
            text: "(file: \"t.csv\")",
        };
        let source = build(arguments, context).unwrap();
        let messages = source.messages().map_err(|error| error.to_string())?;
        let messages: Result<Vec<_>, _> = messages.collect();
        let messages = messages.map_err(|error| error.to_string())?;
        check(&*source, 8, &[4, 4, 4], 64).map_err(|error| error.to_string())?;
        Ok(messages)
    }

    #[test]
    fn columns_go_by_name_and_times_by_their_unit() {
        let text = "# a comment\n bytes [B], time [ns] ,destination,source,after,class\n\
                    0,0,1,0,,data\n# another\n100,24.1,0,1,0+160,data\n";
        let messages = read(text).unwrap();
        let message = |line, time, source, destination, bytes, after| Message {
            line,
            time,
            source: HostId(source),
            destination: HostId(destination),
            class: 0,
            bytes,
            after,
        };
        let after = After {
            message: 0,
            delay: 10,
        };
        let expected = [
            message(3, 0, 4, 5, 0, Vec::new()),
            message(5, 2, 5, 4, 100, vec![after]),
        ];
        assert_eq!(messages, expected);
        assert_eq!(messages[0].flits(64), 1);
        assert_eq!(messages[1].flits(64), 2);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let header = "time [cycles],source,destination,bytes,class,after\n";
        let in_ns = header.replace("[cycles]", "[ns]");
        let mut list = String::new();
        for text in [
            "time [ns],source,destination,byte\n",
            "time [ns],source,destination\n",
            "source,destination,bytes\n",
            "time,source,destination,bytes\n",
            "time [],source,destination,bytes\n",
            "time [days],source,destination,bytes\n",
            "time [ns],time [ns],source,destination,bytes\n",
            "time [ns],source [ns],destination,bytes\n",
            &format!("{header}0,0,1,64,data\n"),
            &format!("{header}-1,0,1,64,data,\n"),
            &format!("{header}0,0,4,64,data,\n"),
            &format!("{header}0,0,1,64,date,\n"),
            &format!("{header}0,0,1,64,,\n"),
            &format!("{header}0,0,1,many,data,\n"),
            &format!("{header}0,0,1,64,data,x\n"),
            &format!("{header}0,1,1,64,data,\n"),
            &format!("{header}5,0,1,64,data,\n4,0,1,64,data,\n"),
            &format!("{header}0,0,1,64,data,0\n"),
            &format!("{header}0,0,1,64,data,\n0,2,3,64,data,0\n"),
            &format!("{header}0,0,1,99999999999999,data,\n"),
            // less than half of a cycle of 16 ns before 0
            &format!("{in_ns}-1,0,1,64,data,\n"),
            &format!("{in_ns}NaN,0,1,64,data,\n"),
            &format!("{in_ns}1e300,0,1,64,data,\n"),
        ] {
            let _ = writeln!(list, "{}", read(text).unwrap_err());
        }
        insta::assert_snapshot!(list);
    }
}
