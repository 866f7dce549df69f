//! Random permutations, one over the other.

use super::{BuildFlows, FlowsContext, GivenFlow};
use crate::ids::HostId;
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::rng::{Stream, below};
use serde::Deserialize;

/// Registers `Permutations`.
pub(super) const ENTRY: Entry<BuildFlows> = Entry {
    name: "Permutations",
    aliases: &[],
    summary: "random permutations of the hosts of the class without fixed points, one over the other",
    parameters: &[Parameter {
        name: "count",
        kind: "integer >= 1",
        default: Some("1"),
        summary: "permutations: every host sends and receives so many flows",
    }],
    guarantees: &[
        "each permutation is drawn anew; every one without a fixed point is equally likely",
    ],
    references: &[],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Permutations")]
struct Permutations {
    #[serde(default = "single")]
    count: u32,
}

fn single() -> u32 {
    1
}

fn build(
    arguments: Arguments<'_>,
    context: &FlowsContext<'_>,
) -> Result<Vec<GivenFlow>, ArgumentError> {
    let Permutations { count } = arguments.parse()?;
    context.check_count("count", count, context.hosts.len())?;
    let mut rng = context.stream();
    let mut pairs = Vec::with_capacity(context.hosts.len() * count as usize);
    let mut targets: Vec<HostId> = context.hosts.to_vec();
    for _ in 0..count {
        derange(context.hosts, &mut targets, &mut rng);
        let ends = context.hosts.iter().zip(&targets);
        pairs.extend(ends.map(|(&from, &to)| GivenFlow::between(from, to)));
    }
    Ok(pairs)
}

/// One permutation of at least two hosts.
pub(super) fn one(hosts: &[HostId], rng: &mut Stream) -> Vec<(HostId, HostId)> {
    let mut targets = hosts.to_vec();
    derange(hosts, &mut targets, rng);
    hosts.iter().copied().zip(targets).collect()
}

/// Shuffles `targets`, drawn until there is no fixed point: e times on average.
fn derange(hosts: &[HostId], targets: &mut [HostId], rng: &mut Stream) {
    loop {
        for last in (1..targets.len()).rev() {
            targets.swap(last, below(rng, last as u32 + 1) as usize);
        }
        if targets.iter().zip(hosts).all(|(to, from)| to != from) {
            break;
        }
    }
}
