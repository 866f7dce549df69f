//! A random number of flows from every host, to hosts drawn at random.

use super::{BuildFlows, FlowsContext, GivenFlow};
use crate::references::ZDORNOV_BIRK;
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::rng::below;
use serde::Deserialize;

/// Registers `Independent`.
pub(super) const ENTRY: Entry<BuildFlows> = Entry {
    name: "Independent",
    aliases: &[],
    summary: "from every host of the class a number of flows drawn at random, to other hosts of it drawn at random",
    parameters: &[Parameter {
        name: "max_flows",
        kind: "integer >= 1",
        default: None,
        summary: "most flows of a host; every number from 1 on is equally likely",
    }],
    guarantees: &["two flows of a host may have the same destination"],
    references: &[ZDORNOV_BIRK],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Independent")]
struct Independent {
    max_flows: u32,
}

fn build(
    arguments: Arguments<'_>,
    context: &FlowsContext<'_>,
) -> Result<Vec<GivenFlow>, ArgumentError> {
    let Independent { max_flows } = arguments.parse()?;
    context.check_count("max_flows", max_flows, context.hosts.len())?;
    let mut rng = context.stream();
    let mut flows = Vec::new();
    for (rank, &host) in context.hosts.iter().enumerate() {
        for _ in 0..=below(&mut rng, max_flows) {
            flows.push(GivenFlow::between(host, context.other(rank, &mut rng)));
        }
    }
    Ok(flows)
}
