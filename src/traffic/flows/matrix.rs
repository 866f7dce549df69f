//! A matrix of traffic: rows send, columns receive.

use super::{BuildFlows, FlowsContext, GivenFlow, Own, lines, wrong};
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::traffic::invalid;
use crate::traffic::table::cells;
use serde::Deserialize;

/// Registers `Matrix`.
pub(super) const ENTRY: Entry<BuildFlows> = Entry {
    name: "Matrix",
    aliases: &[],
    summary: "a flow for every entry above 0 of a square table: rows send, columns receive",
    parameters: &[
        Parameter {
            name: "file",
            kind: "path, relative to the scenario",
            default: None,
            summary: "CSV without a header: rows and columns are the hosts of the class in their order; lines that start \
                      with # are comments",
        },
        Parameter {
            name: "entries",
            kind: "Bytes | Weights",
            default: None,
            summary: "what the entries are: the sizes of the flows, or their weights",
        },
    ],
    guarantees: &["flows go row by row"],
    references: &[],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Matrix")]
struct Matrix {
    file: String,
    entries: Entries,
}

/// What the entries are.
#[derive(Clone, Copy, Debug, Deserialize)]
enum Entries {
    Bytes,
    Weights,
}

fn build(
    arguments: Arguments<'_>,
    context: &FlowsContext<'_>,
) -> Result<Vec<GivenFlow>, ArgumentError> {
    let Matrix { file, entries } = arguments.parse()?;
    let text = context.read(&file)?;
    let hosts = context.hosts;
    let (mut flows, mut rows) = (Vec::new(), 0);
    for (line, row) in lines(&text) {
        let columns = cells(row).count();
        if columns != hosts.len() {
            let reason = format!("{columns} columns, but the class has {} hosts", hosts.len());
            return Err(wrong(&file, line, &reason));
        }
        // rows beyond the last host are told below
        if let Some(from) = hosts.get(rows) {
            for (column, (cell, to)) in cells(row).zip(hosts).enumerate() {
                let own = entries.own(cell, context).and_then(|own| {
                    let flow = own.map(|own| {
                        let flow = context.flow(from.0, to.0)?;
                        let own = Some(Box::new(own));
                        Ok::<_, String>(GivenFlow { own, ..flow })
                    });
                    flow.transpose()
                });
                let place = |reason| {
                    let reason = format!("column {}: {reason}", column + 1);
                    let text = format!("`file`: {file}, line {line}, {reason}");
                    invalid(text)
                };
                flows.extend(own.map_err(place)?);
            }
        }
        rows += 1;
    }
    if rows != hosts.len() {
        return Err(invalid(format!(
            "`file`: {file} has {rows} rows, but the class has {} hosts",
            hosts.len()
        )));
    }
    if flows.is_empty() {
        return Err(invalid(format!(
            "`file`: {file} has no flow: all entries are 0"
        )));
    }
    Ok(flows)
}

impl Entries {
    /// What an entry says of its flow; none of a pair without a flow.
    fn own(self, cell: &str, context: &FlowsContext<'_>) -> Result<Option<Own>, String> {
        let mut own = Own::default();
        match self {
            Self::Bytes => match cell.parse() {
                Ok(0) => return Ok(None),
                Ok(bytes) => own.flits = Some(context.flits(bytes)?),
                Err(_) => return Err(format!("`{cell}` is no number of bytes")),
            },
            Self::Weights => match cell.parse() {
                Ok(0) => return Ok(None),
                Ok(weight) => own.weight = Some(weight),
                Err(_) => {
                    return Err(format!(
                        "`{cell}` is no weight from 1 to 65535, or 0 for no flow"
                    ));
                }
            },
        }
        Ok(Some(own))
    }
}
