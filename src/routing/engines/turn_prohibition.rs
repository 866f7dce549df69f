//! Tree-based turn prohibition (TBTP): shortest ways without the turns that close cycles beside a tree.
//!
//! Guarantees: at most half of all turns prohibited; deadlock-free on 1 lane, in order. Not minimal.
//! Needs: a connected fabric, 1 lane, or `layers` lanes; switches that forward by input port and destination
//! (not InfiniBand's).
//! Fails with: [`RoutingError::Unreachable`], [`RoutingError::TooFewLanes`].
//! Cost: time O(switches^2 + turns) for the turns; tables as in `balance/by_load.rs` over channels.
//!
//! # Algorithm
//! 1. `T` = breadth-first spanning tree from the root (switch 0 by default), all other links are *cross*
//!    links, `G` = all links.
//! 2. For every switch `i` with cross links in `G`: `P(i)` = number of turns around `i` in `G` without those
//!    between two tree links; `A(i)` = number of turns in `G` that start at `i` over a cross link.
//! 3. Take the switch with the largest `A - P`, the lowest id on ties; prohibit its `P` turns; remove its
//!    cross links from `G`. Repeat from 2 until `G = T`.
//! 4. Shortest ways over allowed turns, balanced.
//!
//! With `layers: n` the traffic is spread over n lanes with the same turns (TBTPnVL): the pair of switches
//! (s, d) uses layer (s + d) mod n, so that order is kept.
//!
//! References: [`TBTP`]; [`REINEMO`] §2.1.4 and §3.3.5

use super::root::{Root, single};
use super::spanning_tree::tree_links;
use super::turns::{Turns, route_steps};
use crate::ids::SwitchId;
use crate::references::{REINEMO, TBTP};
use crate::registry::{Arguments, Entry, Parameter};
use crate::routing::balance::Balance;
use crate::routing::entries::Entries;
use crate::routing::paths::Adjacency;
use crate::routing::{
    BuildEngine, Engine, LaneBudget, LaneMap, RoutingEngine, RoutingError, Tables,
};
use crate::topology::Graph;
use fixedbitset::FixedBitSet;
use serde::Deserialize;

/// Tree-based turn prohibition.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TurnProhibition {
    root: Root,
    layers: u8,
    passes: u8,
}

impl Default for TurnProhibition {
    fn default() -> Self {
        Self {
            root: Root::first(),
            layers: 1,
            passes: 3,
        }
    }
}

const NAME: &str = "TurnProhibition";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &["TBTP"],
    summary: "shortest ways without the turns that close cycles beside a spanning tree (TBTP)",
    parameters: &[
        Parameter {
            name: "root",
            kind: "Auto, switch name or switch number",
            default: Some("0"),
            summary: "root of the tree; Auto = the switch nearest to all hosts",
        },
        Parameter {
            name: "layers",
            kind: "integer 1..=15",
            default: Some("1"),
            summary: "lanes that the pairs of switches are spread over (TBTPnVL)",
        },
        Parameter {
            default: Some("3"),
            ..Balance::PASSES
        },
    ],
    guarantees: &[
        "deadlock-free on 1 lane",
        "in order",
        "at most half of all turns prohibited",
        "needs switches that forward by input port and destination",
    ],
    references: &[TBTP, REINEMO],
    build: |arguments: Arguments<'_>| Ok(Engine::tables(arguments.parse::<TurnProhibition>()?)),
};

impl RoutingEngine for TurnProhibition {
    fn is_drawn(&self) -> bool {
        false
    }

    fn route(&self, graph: &Graph, budget: LaneBudget, _seed: u64) -> Result<Tables, RoutingError> {
        let adjacency = Adjacency::new(graph);
        let reason = "the tree has one root; name one switch or use `root: Auto`";
        let root = single(NAME, &self.root, graph, &adjacency, reason)?;
        if !(1..=15).contains(&self.layers) {
            let reason = format!("`layers` is {}, expected 1..=15", self.layers);
            return Err(RoutingError::unsupported(NAME, reason));
        }
        budget.require(NAME, self.layers)?;
        let turns = prohibited_turns(graph, &tree_links(graph, &adjacency, root));
        let steps = turns.steps(graph, NAME)?;
        let mut tables = route_steps(graph, NAME, &steps, budget, self.passes)?;
        tables.remarks.push(turns.remark(graph));
        if self.layers > 1 {
            let layers = Tables::path_layers_by_switch(graph, |source, destination| {
                ((source.0 + destination.0) % u32::from(self.layers)) as u8
            });
            tables.path_layer = Entries::new(&layers, graph.hosts().len());
            tables.guarantees.lanes_needed = self.layers;
            tables.lanes =
                LaneMap::grouped(graph, budget, self.layers, self.layers, |_, layer| layer);
        }
        Ok(tables)
    }
}

/// Steps 2 and 3.
fn prohibited_turns(graph: &Graph, tree: &FixedBitSet) -> Turns {
    let mut turns = Turns::new(graph);
    let is_tree = |channel: crate::ids::ChannelId| tree.contains(channel.link().0 as usize);
    let mut left: FixedBitSet = (0..graph.link_count()).collect();
    let (mut tree_degree, mut cross_degree) = (Vec::new(), Vec::new());
    for switch in graph.switch_ids() {
        let all = graph.neighbors(switch).count() as i64;
        let inside = graph.neighbors(switch).filter(|n| is_tree(n.1)).count() as i64;
        tree_degree.push(inside);
        cross_degree.push(all - inside);
    }
    let cross_links = |switch: SwitchId| graph.neighbors(switch).filter(|n| !is_tree(n.1));
    loop {
        let pairs = |n: i64| n * (n - 1) / 2;
        let gain = |switch: SwitchId| {
            let (t, c) = (tree_degree[switch.index()], cross_degree[switch.index()]);
            let prohibited = pairs(t + c) - pairs(t);
            let kept: i64 = cross_links(switch)
                .filter(|n| left.contains(n.1.link().0 as usize))
                .map(|n| tree_degree[n.2.index()] + cross_degree[n.2.index()] - 1)
                .sum();
            kept - prohibited
        };
        let open = graph.switch_ids().filter(|s| cross_degree[s.index()] > 0);
        let best = open.min_by_key(|&switch| (std::cmp::Reverse(gain(switch)), switch));
        let Some(switch) = best else {
            return turns;
        };
        let links: Vec<_> = graph
            .neighbors(switch)
            .filter(|n| left.contains(n.1.link().0 as usize))
            .collect();
        for (i, a) in links.iter().enumerate() {
            for b in links[..i]
                .iter()
                .filter(|b| !(is_tree(a.1) && is_tree(b.1)))
            {
                turns.prohibit(switch, a.0, b.0);
            }
        }
        for &(_, channel, neighbor) in links.iter().filter(|link| !is_tree(link.1)) {
            left.set(channel.link().0 as usize, false);
            cross_degree[neighbor.index()] -= 1;
            cross_degree[switch.index()] -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::tests::graphs::{grid, irregular, torus_with_a_failed_link};

    #[test]
    fn at_most_half_of_the_turns_are_prohibited() {
        //
        let mut graphs = vec![
            grid(&[8, 8], false, 1),
            grid(&[8, 8], true, 1),
            torus_with_a_failed_link(),
        ];
        graphs
            .extend((0..40).map(|seed| irregular(8 + 2 * seed as u32, 3 + seed as u32 % 5, seed)));
        for graph in graphs {
            let tree = tree_links(&graph, &Adjacency::new(&graph), SwitchId(0));
            let turns = prohibited_turns(&graph, &tree);
            assert!(2 * turns.prohibited() <= Turns::all(&graph));
        }
    }
}
