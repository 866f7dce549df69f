//! Every host sends to the host of the same place at one of a few nodes: the hot spots of seed 003 (S20).
//!
//! # Rules
//! 1. Hosts are numbered node by node, `hosts_per_node` of them each; the place of a host is its number within its node.
//! 2. `count` different nodes are drawn, the hot ones. Every node has one of them for all its hosts, drawn evenly; a hot node one
//!    of the others, or any other node if it is the only one.
//! 3. It is the same for all classes of a scenario.
//!
//! References: [`SEM_JACOBSEN`]

use super::node_pairs::{HOSTS_PER_NODE, nodes};
use super::{BuildFlows, FlowsContext, GivenFlow};
use crate::ids::HostId;
use crate::references::SEM_JACOBSEN;
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::rng::{Stream, below};
use crate::traffic::invalid;
use serde::Deserialize;

/// Registers `HotNodes`.
pub(super) const ENTRY: Entry<BuildFlows> = Entry {
    name: "HotNodes",
    aliases: &["HotSpots"],
    summary: "from every host to the host of the same place at one of a few nodes drawn at random",
    parameters: &[
        Parameter {
            name: "count",
            kind: "integer >= 1, less than the nodes",
            default: None,
            summary: "hot nodes",
        },
        HOSTS_PER_NODE,
    ],
    guarantees: &["every node has one destination", "the same in all classes"],
    references: &[SEM_JACOBSEN],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "HotNodes")]
struct HotNodes {
    count: u32,
    hosts_per_node: u32,
}

/// The destination of every node.
fn targets(rng: &mut Stream, nodes: u32, count: u32) -> Vec<u32> {
    let mut drawn: Vec<u32> = (0..nodes).collect();
    for place in 0..count {
        let other = place + below(rng, nodes - place);
        drawn.swap(place as usize, other as usize);
    }
    let hot = &drawn[..count as usize];
    let target = |node: u32| {
        let own = hot.iter().position(|&other| other == node);
        match own {
            None => hot[below(rng, count) as usize],
            Some(_) if count == 1 => (node + 1 + below(rng, nodes - 1)) % nodes,
            Some(own) => hot[(own + 1 + below(rng, count - 1) as usize) % hot.len()],
        }
    };
    (0..nodes).map(target).collect()
}

fn build(
    arguments: Arguments<'_>,
    context: &FlowsContext<'_>,
) -> Result<Vec<GivenFlow>, ArgumentError> {
    let HotNodes {
        count,
        hosts_per_node,
    } = arguments.parse()?;
    let nodes = nodes(context, hosts_per_node)?;
    if !(1..nodes).contains(&count) {
        return Err(invalid(format!(
            "`count` is {count}: expected 1 to {}, less than the nodes",
            nodes - 1
        )));
    }
    // a stream of its own: places have those of their numbers
    let targets = targets(
        &mut context.common_stream(u64::from(hosts_per_node)),
        nodes,
        count,
    );
    let flow = |&from: &HostId| {
        let (node, place) = (from.0 / hosts_per_node, from.0 % hosts_per_node);
        let target = targets[node as usize];
        GivenFlow::between(from, HostId(target * hosts_per_node + place))
    };
    Ok(context.hosts.iter().map(flow).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};
    use std::collections::BTreeSet;

    #[test]
    fn all_go_to_the_hot_nodes_and_these_to_each_other() {
        for (count, seed) in [(2, 1), (2, 2), (3, 3)] {
            let targets = targets(&mut stream(seed, Purpose::Flows, 0), 32, count);
            let hot: BTreeSet<u32> = targets.iter().copied().collect();
            assert_eq!(hot.len(), count as usize);
            for (node, target) in (0..).zip(&targets) {
                assert!(*target != node && hot.contains(target));
            }
            let to = |node: &u32| targets.iter().filter(|&target| target == node).count();
            assert!(hot.iter().all(|node| to(node) >= 4), "{targets:?}");
        }
    }

    #[test]
    fn one_hot_node_sends_to_any_other() {
        let mut seen = BTreeSet::new();
        for seed in 0..200 {
            let targets = targets(&mut stream(seed, Purpose::Flows, 0), 5, 1);
            let hot = (0..5).find(|&node| targets.iter().filter(|&&to| to == node).count() == 4);
            let hot = hot.unwrap();
            assert_ne!(targets[hot as usize], hot);
            seen.insert((hot, targets[hot as usize]));
        }
        assert_eq!(seen.len(), 5 * 4);
    }
}
