//! Every host to every other.

use super::{BuildFlows, FlowsContext, GivenFlow};
use crate::registry::{ArgumentError, Arguments, Entry};
use serde::Deserialize;

/// Registers `AllToAll`.
pub(super) const ENTRY: Entry<BuildFlows> = Entry {
    name: "AllToAll",
    aliases: &[],
    summary: "a flow from every host of the class to every other",
    parameters: &[],
    guarantees: &[
        "the flows of a host in order begin with the host after it, so that all hosts begin with others",
    ],
    references: &[],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "AllToAll")]
struct AllToAll {}

fn build(
    arguments: Arguments<'_>,
    context: &FlowsContext<'_>,
) -> Result<Vec<GivenFlow>, ArgumentError> {
    let AllToAll {} = arguments.parse()?;
    let hosts = context.hosts;
    let count = hosts.len();
    let others = u32::try_from(count.saturating_sub(1)).unwrap_or(u32::MAX);
    if count as u64 * u64::from(others) > super::MOST_FLOWS {
        let most = super::MOST_FLOWS;
        return Err(crate::traffic::invalid(format!(
            "{count} hosts have {} flows to one another: at most {most} are possible",
            count as u64 * u64::from(others)
        )));
    }
    context.check_count("count", others.max(1), 1)?;
    let from = |rank: usize| {
        let to = (1..count).map(move |step| hosts[(rank + step) % count]);
        to.map(move |to| GivenFlow::between(hosts[rank], to))
    };
    Ok((0..count).flat_map(from).collect())
}
