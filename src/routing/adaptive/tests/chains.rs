//! Seed 001, T5: routes in enriched trees, with and without horizontal hops, cannot wait in a circle.

use super::*;
use crate::routing::loads::ChannelLoads;
use crate::routing::tests::conformance;
use crate::topology::Shape;
use crate::topology::graph::shape::EnrichedTreeShape;
use std::cmp::Ordering;

/// Up by any way to the first switch that reaches the goal; there and on every level below along the chain, one
/// direction per packet and up to its end, then down. Bit 0 of the word is the direction.
#[derive(Debug)]
struct Chains {
    graph: Graph,
    shape: EnrichedTreeShape,
    /// Both directions, which lets packets go to and fro.
    turns_back: bool,
}

impl Chains {
    /// Whether hops down lead from `at` to the leaf `goal`.
    fn reaches(&self, at: SwitchId, goal: SwitchId) -> bool {
        let below = self.shape.chain_length(self.shape.tree.level(at));
        self.shape.tree.word(at) / below == self.shape.tree.word(goal) / below
    }
}

impl Legs for Chains {
    fn width(&self) -> u8 {
        1
    }

    fn selection(&self) -> Selection {
        Selection::LeastLoad
    }

    fn words(&self) -> u16 {
        2
    }

    fn starts(&self, _: SwitchId, _: SwitchId, leg: Leg, found: &mut Vec<u16>) {
        if leg == Leg::Last {
            found.extend([0, 1]);
        }
    }

    fn ways(&self, at: SwitchId, goal: SwitchId, word: u16, found: &mut Vec<Candidate>) {
        let level = |switch| self.shape.tree.level(switch);
        let is_above = self.reaches(at, goal);
        let ways = self
            .graph
            .neighbors(at)
            .filter(|&(.., to)| match level(to).cmp(&level(at)) {
                Ordering::Less => !is_above,
                Ordering::Equal => is_above && (self.turns_back || (to > at) == (word == 1)),
                Ordering::Greater => is_above && self.reaches(to, goal),
            });
        found.extend(ways.map(|(port, ..)| Candidate {
            port,
            lane: 0,
            escape: false,
        }));
    }
}

/// The function on an enriched tree, and its channels along chains.
fn chains(k: u32, n: u32, width: u32, turns_back: bool) -> (Graph, Adaptive, Vec<ChannelId>) {
    let graph = built(&format!("EnrichedTree(k: {k}, n: {n}, width: {width})"));
    let Shape::EnrichedTree(shape) = graph.shape().clone() else {
        panic!("not an enriched tree");
    };
    let level = |switch: Option<SwitchId>| switch.map(|switch| shape.tree.level(switch));
    let horizontal = |&channel: &ChannelId| {
        let ends = graph.channel(channel);
        let (from, to) = (level(ends.from.switch()), level(ends.to.switch()));
        from.is_some() && from == to
    };
    let horizontal = graph.channel_ids().filter(horizontal).collect();
    let legs = Chains {
        graph: graph.clone(),
        shape,
        turns_back,
    };
    let budget = LaneBudget {
        lanes: 1,
        service_levels: 1,
    };
    let adaptive = Adaptive::by_legs(&graph, "Chains", legs, budget, [false, true]).unwrap();
    (graph, adaptive, horizontal)
}

#[test]
fn horizontal_hops_in_one_direction_are_free_of_deadlock_on_one_lane() {
    for (k, n, width) in [(3, 3, 2), (2, 4, 1), (4, 2, 3), (8, 3, 2)] {
        let (graph, adaptive, horizontal) = chains(k, n, width, false);
        let proof = verify(&graph, &adaptive, &options(1)).unwrap();
        assert!(proof.acyclic && !proof.minimal);
        // all channels between switches, those along chains included
        let between = graph.channels().len() - 2 * graph.hosts().len();
        assert_eq!(proof.channels_used, between, "{k} {n} {width}");
        assert!(!horizontal.is_empty());
        // up and down, and once along the longest chain: hops down keep the place in the chains below
        assert_eq!(proof.max_hops, 2 * (n - 1) + k.pow(n - 1) - 1);
        let (graph, turning, _) = chains(k, n, width, true);
        let error = verify(&graph, &turning, &options(1)).unwrap_err();
        assert!(error.to_string().contains("go round"), "{error}");
    }
}

/// Shortest ways never lead along a chain.
#[test]
fn engines_on_enriched_trees_are_free_of_deadlock() {
    let (graph, _, horizontal) = chains(4, 3, 2, false);
    for text in ["AdaptiveAscent()", "MinimalAdaptive()"] {
        let proof = prove(&graph, &adapt(&graph, text).unwrap()).unwrap();
        assert!(proof.acyclic && proof.minimal, "{text}");
    }
    for text in ["FatTree()", "MinHop()", "UpDown()", "Lash()"] {
        let (tables, proof) = conformance::proof(&graph, text, 1);
        assert!(proof.acyclic && proof.minimal, "{text}");
        let loads = ChannelLoads::uniform(&graph, &tables);
        let used = |channel: &ChannelId| loads.paths[channel.index()] > 0;
        assert!(!horizontal.iter().any(used), "{text}");
    }
}
