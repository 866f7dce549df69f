//! A given list of (source, destination) pairs, one flow each.

use super::{BuildFlows, FlowsContext, GivenFlow};
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::traffic::invalid;
use serde::Deserialize;

/// Registers `List`.
pub(super) const ENTRY: Entry<BuildFlows> = Entry {
    name: "List",
    aliases: &[],
    summary: "a given list of (source, destination) pairs, one flow each",
    parameters: &[Parameter {
        name: "pairs",
        kind: "list of (host number, host number), at least one",
        default: None,
        summary: "who sends to whom; a pair that is listed twice has two flows",
    }],
    guarantees: &[],
    references: &[],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "List")]
struct List {
    pairs: Vec<(u32, u32)>,
}

fn build(
    arguments: Arguments<'_>,
    context: &FlowsContext<'_>,
) -> Result<Vec<GivenFlow>, ArgumentError> {
    let List { pairs } = arguments.parse()?;
    if pairs.is_empty() {
        return Err(invalid("`pairs` is empty: expected at least one pair"));
    }
    let flow = |(from, to)| {
        let flow = context.flow(from, to);
        flow.map_err(|reason| invalid(format!("`pairs`: {reason}")))
    };
    pairs.into_iter().map(flow).collect()
}
