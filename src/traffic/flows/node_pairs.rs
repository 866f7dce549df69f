//! Every host sends to the host of the same place at another node, and receives from one: the random pairs of seed 003 (S20).
//!
//! # Rules
//! 1. Hosts are numbered node by node, `hosts_per_node` of them each; the place of a host is its number within its node.
//! 2. A random permutation of all nodes without fixed points is drawn, with `drawn: ByPlace` one for every place: the host of
//!    place p at node i sends to that of place p at node pi(i).
//! 3. It is the same for all classes of a scenario, so a class may have some of the hosts of a place.
//!
//! References: [`SEM_JACOBSEN`]

use super::{BuildFlows, FlowsContext, GivenFlow};
use crate::ids::HostId;
use crate::references::SEM_JACOBSEN;
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::rng::{Stream, below};
use crate::traffic::invalid;
use serde::Deserialize;

/// How many hosts of a node are numbered one after the other.
pub(super) const HOSTS_PER_NODE: Parameter = Parameter {
    name: "hosts_per_node",
    kind: "integer >= 1",
    default: None,
    summary: "hosts of a node, which are numbered one after the other, as those of a switch",
};

/// Registers `NodePairs`.
pub(super) const ENTRY: Entry<BuildFlows> = Entry {
    name: "NodePairs",
    aliases: &[],
    summary: "from every host to the host of the same place at another node, which receives from no other",
    parameters: &[
        HOSTS_PER_NODE,
        Parameter {
            name: "drawn",
            kind: "Once | ByPlace",
            default: Some("Once"),
            summary: "one permutation of the nodes, or one for every place",
        },
    ],
    guarantees: &[
        "a permutation of the nodes without fixed points, every one equally likely",
        "the same in all classes",
    ],
    references: &[SEM_JACOBSEN],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "NodePairs")]
struct NodePairs {
    hosts_per_node: u32,
    #[serde(default)]
    drawn: Drawn,
}

/// How many permutations there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
enum Drawn {
    #[default]
    Once,
    ByPlace,
}

/// The nodes of a fabric, of the same number of hosts each.
///
/// # Errors
/// When there are not at least two such nodes.
pub(super) fn nodes(context: &FlowsContext<'_>, hosts_per_node: u32) -> Result<u32, ArgumentError> {
    let hosts = context.host_count as u32;
    if hosts_per_node == 0 || !hosts.is_multiple_of(hosts_per_node) || hosts / hosts_per_node < 2 {
        return Err(invalid(format!(
            "`hosts_per_node` is {hosts_per_node}: expected a divisor of the {hosts} hosts, with two nodes or more"
        )));
    }
    Ok(hosts / hosts_per_node)
}

/// A permutation of so many nodes without fixed points: drawn until it has none, e times on average.
fn derangement(rng: &mut Stream, nodes: u32) -> Vec<u32> {
    let mut targets: Vec<u32> = (0..nodes).collect();
    loop {
        for last in (1..targets.len()).rev() {
            targets.swap(last, below(rng, last as u32 + 1) as usize);
        }
        if (0..).zip(&targets).all(|(from, &to)| from != to) {
            return targets;
        }
    }
}

fn build(
    arguments: Arguments<'_>,
    context: &FlowsContext<'_>,
) -> Result<Vec<GivenFlow>, ArgumentError> {
    let NodePairs {
        hosts_per_node,
        drawn,
    } = arguments.parse()?;
    let nodes = nodes(context, hosts_per_node)?;
    let stream = |place| match drawn {
        Drawn::Once => 0,
        Drawn::ByPlace => u64::from(place),
    };
    let draw = |place| derangement(&mut context.common_stream(stream(place)), nodes);
    let targets: Vec<Vec<u32>> = (0..hosts_per_node).map(draw).collect();
    let flow = |&from: &HostId| {
        let (node, place) = (from.0 / hosts_per_node, from.0 % hosts_per_node);
        let target = targets[place as usize][node as usize];
        GivenFlow::between(from, HostId(target * hosts_per_node + place))
    };
    Ok(context.hosts.iter().map(flow).collect())
}

#[cfg(test)]
mod tests {
    use super::super::FLOW_GENERATORS;
    use super::*;
    use crate::units::Clock;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// Flows of a class with hosts of the first or the second half of 8 nodes of 3 hosts.
    fn flows(text: &str, class: usize, half: u32) -> Vec<(u32, u32)> {
        let hosts: Vec<HostId> = (half * 12..half * 12 + 12).map(HostId).collect();
        let context = FlowsContext {
            hosts: &hosts,
            members: &hosts,
            host_count: 24,
            base: Path::new("."),
            clock: Clock {
                flit_bytes: 64,
                reference_rate: 32_000_000_000,
            },
            seed: 5,
            class,
            name: "data",
            entry: 0,
        };
        let (name, arguments) = text.split_at(text.find('(').unwrap());
        let build = FLOW_GENERATORS.find(name).unwrap().build;
        let flows = build(Arguments { text: arguments }, &context).unwrap();
        flows
            .iter()
            .map(|flow| (flow.source.0, flow.destination.0))
            .collect()
    }

    #[test]
    fn classes_share_a_permutation() {
        for (drawn, same) in [("Once", true), ("ByPlace", false)] {
            let text = format!("NodePairs(hosts_per_node: 3, drawn: {drawn})");
            let all = [flows(&text, 3, 0), flows(&text, 4, 1)].concat();
            assert!(
                (all.iter()).all(|(from, to)| from / 3 != to / 3 && from % 3 == to % 3),
                "{all:?}"
            );
            let targets: BTreeSet<u32> = all.iter().map(|&(_, to)| to).collect();
            assert_eq!(targets.len(), 24);
            let nodes = |place| {
                let of_place = all.iter().filter(move |(from, _)| from % 3 == place);
                of_place.map(|(_, to)| to / 3).collect::<Vec<_>>()
            };
            assert_eq!(nodes(0) == nodes(1), same, "{drawn}");
        }
    }

    #[test]
    fn classes_share_hot_nodes() {
        let text = "HotNodes(count: 2, hosts_per_node: 3)";
        let all = [flows(text, 3, 0), flows(text, 4, 1)].concat();
        let targets: BTreeSet<u32> = all.iter().map(|&(_, to)| to / 3).collect();
        assert_eq!(targets.len(), 2);
        assert!(all.iter().all(|(from, to)| from % 3 == to % 3));
    }
}
