//! Pairs of hosts drawn at random.

use super::{BuildFlows, FlowsContext, GivenFlow};
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::rng::below;
use serde::Deserialize;

/// Registers `RandomPairs`.
pub(super) const ENTRY: Entry<BuildFlows> = Entry {
    name: "RandomPairs",
    aliases: &[],
    summary: "so many pairs of different hosts of the class, drawn at random",
    parameters: &[Parameter {
        name: "count",
        kind: "integer >= 1",
        default: None,
        summary: "flows; a pair may come several times",
    }],
    guarantees: &[],
    references: &[],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "RandomPairs")]
struct RandomPairs {
    count: u32,
}

fn build(
    arguments: Arguments<'_>,
    context: &FlowsContext<'_>,
) -> Result<Vec<GivenFlow>, ArgumentError> {
    let RandomPairs { count } = arguments.parse()?;
    context.check_count("count", count, 1)?;
    let mut rng = context.stream();
    let hosts = context.hosts;
    let pairs = (0..count).map(|_| {
        let from = below(&mut rng, hosts.len() as u32) as usize;
        GivenFlow::between(hosts[from], context.other(from, &mut rng))
    });
    Ok(pairs.collect())
}
