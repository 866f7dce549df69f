//! A table of flows as CSV: one flow per line, columns by name, units of times in the header.
//!
//! ```text
//! # a large flow, and a small one that starts later
//! source, destination, bytes,   start [us], rate
//! 0,      5,           1000000, ,           0.5
//! 1,      5,           4096,    20,
//! ```

use super::{BuildFlows, FlowsContext, GivenFlow, LATEST, Own, lines, wrong};
use crate::registry::{ArgumentError, Arguments, Entry, Parameter, unknown};
use crate::traffic::invalid;
use crate::traffic::table::{TimeUnit, cells, named};
use crate::units::Clock;
use serde::Deserialize;

/// Registers `Csv`.
pub(super) const ENTRY: Entry<BuildFlows> = Entry {
    name: "Csv",
    aliases: &[],
    summary: "flows of a CSV file, each with its hosts and, where given, its own start, stop, size, rate and weight",
    parameters: &[Parameter {
        name: "file",
        kind: "path, relative to the scenario",
        default: None,
        summary: "columns `source`, `destination`: host numbers; and any of `start [UNIT]`, `stop [UNIT]` with a unit of \
                  cycles, ps, ns, us, ms, s; `bytes`, at least 1; `rate`, a fraction of the link rate of the source; `weight`. An \
                  empty cell leaves what is said beside the generator; lines that start with # are comments",
    }],
    guarantees: &["flows go line by line"],
    references: &[],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Csv")]
struct Csv {
    file: String,
}

/// Names of the columns.
const COLUMNS: [&str; 7] = [
    "source",
    "destination",
    "start",
    "stop",
    "bytes",
    "rate",
    "weight",
];

/// A column of the file.
#[derive(Clone, Copy, Debug)]
enum Column {
    Source,
    Destination,
    Start(TimeUnit),
    Stop(TimeUnit),
    Bytes,
    Rate,
    Weight,
}

fn build(
    arguments: Arguments<'_>,
    context: &FlowsContext<'_>,
) -> Result<Vec<GivenFlow>, ArgumentError> {
    let Csv { file } = arguments.parse()?;
    let text = context.read(&file)?;
    let mut lines = lines(&text);
    let Some((line, header)) = lines.next() else {
        let reason = "is empty: expected a header with the names of the columns";
        return Err(wrong(&file, 1, reason));
    };
    let columns = columns(header, context.clock);
    let columns = columns.map_err(|reason| wrong(&file, line, &reason))?;
    let mut flows = Vec::new();
    for (line, row) in lines {
        let flow = flow(row, &columns, context);
        let place = |(column, reason): (Option<usize>, String)| {
            let reason = match column {
                None => format!(": {reason}"),
                Some(column) => {
                    let name = named(cells(header).nth(column).unwrap_or_default()).0;
                    format!(", column {} (`{name}`): {reason}", column + 1)
                }
            };
            invalid(format!("`file`: {file}, line {line}{reason}"))
        };
        flows.push(flow.map_err(place)?);
    }
    if flows.is_empty() {
        return Err(invalid(format!(
            "`file`: {file} has no flow behind its header"
        )));
    }
    Ok(flows)
}

/// The columns of a header.
fn columns(header: &str, clock: Clock) -> Result<Vec<Column>, String> {
    let mut found: Vec<&str> = Vec::new();
    let mut columns = Vec::new();
    for cell in cells(header) {
        let (name, unit) = named(cell);
        if found.contains(&name) {
            return Err(format!("the column `{name}` is there twice"));
        }
        found.push(name);
        let time = || TimeUnit::of_column(name, unit, clock);
        columns.push(match (name, unit) {
            ("start", _) => Column::Start(time()?),
            ("stop", _) => Column::Stop(time()?),
            ("source", "") => Column::Source,
            ("destination", "") => Column::Destination,
            ("bytes", "" | "B") => Column::Bytes,
            ("rate", "") => Column::Rate,
            ("weight", "") => Column::Weight,
            _ if COLUMNS.contains(&name) => {
                return Err(format!("`{cell}`: the column `{name}` has no such unit"));
            }
            _ => return Err(unknown("column", name, COLUMNS.into_iter())),
        });
    }
    let missing = ["source", "destination"];
    match missing.iter().find(|name| !found.contains(name)) {
        Some(name) => Err(format!("the column `{name}` is missing")),
        None => Ok(columns),
    }
}

/// The flow of a line; what is wrong with it, and in which column if it is one.
fn flow(
    row: &str,
    columns: &[Column],
    context: &FlowsContext<'_>,
) -> Result<GivenFlow, (Option<usize>, String)> {
    let count = cells(row).count();
    if count != columns.len() {
        let wanted = columns.len();
        return Err((
            None,
            format!("{count} columns, but the header has {wanted}"),
        ));
    }
    let (mut source, mut destination, mut own) = (0, 0, Own::default());
    for (place, (cell, column)) in cells(row).zip(columns).enumerate() {
        let host = || {
            let number = cell.parse::<u32>();
            number.map_err(|_| format!("`{cell}` is no host number"))
        };
        let read = match column {
            Column::Source => host().map(|host| source = host),
            Column::Destination => host().map(|host| destination = host),
            _ if cell.is_empty() => Ok(()),
            column => column.read(cell, context, &mut own),
        };
        read.map_err(|reason| (Some(place), reason))?;
    }
    let flow = context.flow(source, destination);
    let flow = flow.map_err(|reason| (None, reason))?;
    let own = (own != Own::default()).then(|| Box::new(own));
    Ok(GivenFlow { own, ..flow })
}

impl Column {
    /// Enters what a cell says.
    fn read(self, cell: &str, context: &FlowsContext<'_>, own: &mut Own) -> Result<(), String> {
        match self {
            Self::Source | Self::Destination => {}
            Self::Start(unit) => own.start = Some(unit.cycles(cell, LATEST)?),
            Self::Stop(unit) => own.stop = Some(unit.cycles(cell, LATEST)?),
            Self::Bytes => {
                let bytes = cell.parse();
                let bytes = bytes.map_err(|_| format!("`{cell}` is no number of bytes"))?;
                if bytes == 0 {
                    return Err(String::from(
                        "a flow of 0 bytes: expected at least 1, or no line",
                    ));
                }
                own.flits = Some(context.flits(bytes)?);
            }
            Self::Rate => match cell.parse() {
                Ok(rate) if (0.0..=1.0).contains(&rate) => own.rate = Some(rate),
                _ => {
                    return Err(format!(
                        "`{cell}` is no fraction of the link rate from 0 to 1"
                    ));
                }
            },
            Self::Weight => match cell.parse() {
                Ok(weight) if weight > 0 => own.weight = Some(weight),
                _ => return Err(format!("`{cell}` is no weight from 1 to 65535")),
            },
        }
        Ok(())
    }
}
