//! Routes over one spanning tree, as Ethernet's spanning tree protocol leaves it (baseline).
//!
//! Guarantees: deadlock-free on 1 lane, in order, exactly (switches - 1) links between switches in use. Not
//! minimal.
//! Needs: a connected fabric, 1 lane.
//! Fails with: [`RoutingError::Unreachable`]; [`RoutingError::Unsupported`] for a root that does not exist.
//! Cost: time and memory O(switches * hosts).
//!
//! # Algorithm
//! 1. Breadth-first tree from the root, by default switch 0; the parent of a switch is the nearer neighbour
//!    that the search met first, over the lowest port; neighbours are met in port order.
//! 2. Every other link is disabled; each pair has one way in the tree.
//!
//! References: [`REINEMO`] §2.1.4 and §3.2.2

use super::root::{Root, single};
use super::turns::route_steps;
use crate::ids::{ChannelId, LinkId, SwitchId};
use crate::references::REINEMO;
use crate::registry::{Arguments, Entry, Parameter};
use crate::routing::paths::Adjacency;
use crate::routing::paths::steps::Steps;
use crate::routing::{BuildEngine, Engine, LaneBudget, RoutingEngine, RoutingError, Tables};
use crate::topology::Graph;
use fixedbitset::FixedBitSet;
use serde::Deserialize;

/// One spanning tree.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SpanningTree {
    root: Root,
}

impl Default for SpanningTree {
    fn default() -> Self {
        Self {
            root: Root::first(),
        }
    }
}

const NAME: &str = "SpanningTree";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &["STP"],
    summary: "one breadth-first spanning tree, all other links unused (Ethernet's default)",
    parameters: &[Parameter {
        name: "root",
        kind: "Auto, switch name or switch number",
        default: Some("0"),
        summary: "root of the tree; Auto = the switch nearest to all hosts",
    }],
    guarantees: &[
        "deadlock-free on 1 lane",
        "in order",
        "uses exactly (switches - 1) links between switches",
    ],
    references: &[REINEMO],
    build: |arguments: Arguments<'_>| Ok(Engine::tables(arguments.parse::<SpanningTree>()?)),
};

impl RoutingEngine for SpanningTree {
    fn is_drawn(&self) -> bool {
        false
    }

    fn route(&self, graph: &Graph, budget: LaneBudget, _seed: u64) -> Result<Tables, RoutingError> {
        let adjacency = Adjacency::new(graph);
        let reason = "a spanning tree has one root; name one switch or use `root: Auto`";
        let root = single(NAME, &self.root, graph, &adjacency, reason)?;
        let links = tree_links(graph, &adjacency, root);
        let keep = |channel: ChannelId| links.contains(channel.link().0 as usize);
        let steps = Steps::by_destination(graph, keep);
        route_steps(graph, NAME, &steps, budget, 1)
    }
}

/// Step 1: the links of the tree, `[link]`.
pub(super) fn tree_links(graph: &Graph, adjacency: &Adjacency, root: SwitchId) -> FixedBitSet {
    let distance = adjacency.distances(&[root]);
    let place = adjacency.breadth_first(root);
    let mut links = FixedBitSet::with_capacity(graph.link_count());
    for switch in graph.switch_ids().filter(|&switch| switch != root) {
        let here = distance[switch.index()];
        let parents = graph
            .neighbors(switch)
            .filter(|(.., to)| distance[to.index()] < here);
        if let Some((_, channel, _)) =
            parents.min_by_key(|&(port, _, to)| (place[to.index()], port))
        {
            let LinkId(link) = channel.link();
            links.insert(link as usize);
        }
    }
    links
}
