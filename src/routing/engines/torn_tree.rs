//! Ways up and then down in a regular tree that lacks some links.
//!
//! Guarantees: every way goes up to a switch from which links lead down to the goal, and then down; of the ways up the
//! shortest ones. Links within a level are not used.
//! Cost: O(links) for every goal, in parallel; one byte per pair of switches.

use crate::ids::SwitchId;
use crate::routing::RoutingError;
use crate::topology::{Graph, Shape};
use rayon::prelude::*;

/// No way.
const NONE: u8 = u8::MAX;

/// What a switch has to do for a goal.
#[derive(Debug)]
pub(super) struct TornTree<'a> {
    graph: &'a Graph,
    /// Level of every switch, 1 = leaves.
    levels: Vec<u8>,
    /// Hops up before the first one down, `[goal][switch]`; rows of switches without hosts are empty.
    ups: Vec<Vec<u8>>,
}

impl<'a> TornTree<'a> {
    /// The ways of a tree with the numbering of its shape.
    ///
    /// # Errors
    /// [`RoutingError::Unsupported`] when there is none between two switches with hosts.
    pub(super) fn new(graph: &'a Graph, engine: &'static str) -> Result<Self, RoutingError> {
        let level = |switch: SwitchId| match graph.shape() {
            Shape::Tree(tree) => tree.levels - tree.level(switch),
            Shape::EnrichedTree(tree) => tree.tree.levels - tree.tree.level(switch),
            Shape::Xgft(tree) => tree.level_and_word(switch).0 as u32,
            _ => 1,
        };
        let levels = graph.switch_ids().map(|switch| level(switch) as u8);
        let mut tree = Self {
            graph,
            levels: levels.collect(),
            ups: Vec::new(),
        };
        let mut from_top: Vec<SwitchId> = graph.switch_ids().collect();
        from_top.sort_by_key(|switch| std::cmp::Reverse(tree.levels[switch.index()]));
        let has_hosts = |switch: SwitchId| graph.attached_hosts(switch).next().is_some();
        let goals: Vec<SwitchId> = graph.switch_ids().collect();
        let rows = goals.par_iter().map(|&goal| {
            if has_hosts(goal) {
                tree.row(goal, &from_top)
            } else {
                Vec::new()
            }
        });
        tree.ups = rows.collect();
        for (goal, row) in graph.switch_ids().zip(&tree.ups) {
            let mut rows = graph.switch_ids().zip(row);
            if let Some((from, _)) = rows.find(|&(switch, &ups)| ups == NONE && has_hosts(switch)) {
                let name = |switch: SwitchId| &graph.switches()[switch.index()].name;
                let reason = format!(
                    "no way up and then down is left from {} to {}; use `UpDown()`, which routes any connected fabric",
                    name(from),
                    name(goal)
                );
                return Err(RoutingError::unsupported(engine, reason));
            }
        }
        Ok(tree)
    }

    /// Ports up (true) or down, ascending, with the switches they lead to.
    fn exits(&self, switch: SwitchId, up: bool) -> impl Iterator<Item = (u16, SwitchId)> {
        let own = self.levels[switch.index()];
        let exits = self.graph.neighbors(switch);
        exits
            .map(|(port, _, to)| (port, to))
            .filter(move |(_, to)| {
                let level = self.levels[to.index()];
                if up { level > own } else { level < own }
            })
    }

    fn row(&self, goal: SwitchId, from_top: &[SwitchId]) -> Vec<u8> {
        let mut ups = vec![NONE; self.levels.len()];
        ups[goal.index()] = 0;
        let mut above = vec![goal];
        while let Some(switch) = above.pop() {
            for (_, parent) in self.exits(switch, true) {
                if ups[parent.index()] == NONE {
                    ups[parent.index()] = 0;
                    above.push(parent);
                }
            }
        }
        for &switch in from_top {
            if ups[switch.index()] == NONE {
                let parents = self.exits(switch, true).map(|(_, to)| ups[to.index()]);
                let least = parents.min().unwrap_or(NONE);
                ups[switch.index()] = least.saturating_add(1);
            }
        }
        ups
    }

    /// Adds the ports at a switch for a goal with hosts, another switch, ascending; none where no way leads on.
    pub(super) fn ports(&self, at: SwitchId, goal: SwitchId, found: &mut Vec<u16>) {
        let Some(&own) = self.ups[goal.index()].get(at.index()) else {
            return;
        };
        if own == NONE || at == goal {
            return;
        }
        let ups = &self.ups[goal.index()];
        // what is above the goal is left downwards, to what is above it too
        let (up, wanted) = (own > 0, own.saturating_sub(1));
        let exits = self
            .exits(at, up)
            .filter(|(_, to)| ups[to.index()] == wanted);
        found.extend(exits.map(|(port, _)| port));
    }
}
