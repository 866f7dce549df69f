//! Applications on hosts that are not side by side, each with random permutations among its hosts.

use super::{BuildFlows, FlowsContext, GivenFlow, MOST_FLOWS, Own, permutations};
use crate::ids::HostId;
use crate::references::ZDORNOV_BIRK;
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::rng::below;
use crate::traffic::invalid;
use serde::Deserialize;

/// Registers `Applications`.
pub(super) const ENTRY: Entry<BuildFlows> = Entry {
    name: "Applications",
    aliases: &[],
    summary: "applications of equally many hosts, in groups of neighbours that are given out at random; permutations inside each",
    parameters: &[
        Parameter {
            name: "count",
            kind: "integer >= 1",
            default: None,
            summary: "applications; every one has the same number of hosts, at least 2",
        },
        Parameter {
            name: "fragments",
            kind: "integer >= 1",
            default: Some("1"),
            summary: "groups of consecutive hosts that an application consists of",
        },
        Parameter {
            name: "max_permutations",
            kind: "integer >= 1",
            default: Some("5"),
            summary: "most permutations of an application; every number from 1 on is equally likely",
        },
    ],
    guarantees: &[
        "all ways to give out the groups are equally likely",
        "flow-level solvers know which flows belong to an application",
    ],
    references: &[ZDORNOV_BIRK],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Applications")]
struct Applications {
    count: u32,
    #[serde(default = "one")]
    fragments: u32,
    #[serde(default = "five")]
    max_permutations: u32,
}

const fn one() -> u32 {
    1
}

const fn five() -> u32 {
    5
}

fn build(
    arguments: Arguments<'_>,
    context: &FlowsContext<'_>,
) -> Result<Vec<GivenFlow>, ArgumentError> {
    let Applications {
        count,
        fragments,
        max_permutations,
    } = arguments.parse()?;
    let hosts = context.hosts;
    let groups = count as usize * fragments as usize;
    if count == 0 || fragments == 0 || !hosts.len().is_multiple_of(groups) {
        return Err(invalid(format!(
            "`count` times `fragments` is {groups}: expected a divisor of the {} hosts of the class",
            hosts.len()
        )));
    }
    if hosts.len() / count as usize == 1 {
        return Err(invalid(format!(
            "`count` is {count}: each application has one host, and a flow needs two different ones"
        )));
    }
    let most = MOST_FLOWS / hosts.len() as u64;
    if max_permutations == 0 || u64::from(max_permutations) > most {
        return Err(invalid(format!(
            "`max_permutations` is {max_permutations}: expected 1 to {most}, so that there are at most {MOST_FLOWS} flows"
        )));
    }
    let mut rng = context.stream();
    let size = hosts.len() / groups;
    let mut order: Vec<usize> = (0..groups).collect();
    for last in (1..groups).rev() {
        order.swap(last, below(&mut rng, last as u32 + 1) as usize);
    }
    let mut flows = Vec::new();
    for (application, own) in (0..).zip(order.chunks(fragments as usize)) {
        let members = own
            .iter()
            .flat_map(|group| &hosts[group * size..(group + 1) * size]);
        let members: Vec<HostId> = members.copied().collect();
        for _ in 0..=below(&mut rng, max_permutations) {
            let pairs = permutations::one(&members, &mut rng);
            flows.extend(pairs.into_iter().map(|(from, to)| GivenFlow {
                own: Some(Box::new(Own {
                    application: Some(application),
                    ..Own::default()
                })),
                ..GivenFlow::between(from, to)
            }));
        }
    }
    Ok(flows)
}
