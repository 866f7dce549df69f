//! The same number of flows at every host, to hosts drawn at random.

use super::{BuildFlows, FlowsContext, GivenFlow};
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use serde::Deserialize;

/// Registers `PerHost`.
pub(super) const ENTRY: Entry<BuildFlows> = Entry {
    name: "PerHost",
    aliases: &[],
    summary: "so many flows from every host of the class, to other hosts of it drawn at random",
    parameters: &[Parameter {
        name: "count",
        kind: "integer >= 1",
        default: None,
        summary: "flows of each host; two of them may have the same destination",
    }],
    guarantees: &[],
    references: &[],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "PerHost")]
struct PerHost {
    count: u32,
}

fn build(
    arguments: Arguments<'_>,
    context: &FlowsContext<'_>,
) -> Result<Vec<GivenFlow>, ArgumentError> {
    let PerHost { count } = arguments.parse()?;
    context.check_count("count", count, context.hosts.len())?;
    let mut rng = context.stream();
    let mut pairs = Vec::with_capacity(context.hosts.len() * count as usize);
    for (rank, &host) in context.hosts.iter().enumerate() {
        for _ in 0..count {
            pairs.push(GivenFlow::between(host, context.other(rank, &mut rng)));
        }
    }
    Ok(pairs)
}
