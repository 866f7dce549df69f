//! Adaptive ascent in regular trees: any way up, the one way down.
//!
//! Guarantees: deadlock-free on one lane (up, then down), minimal when all links are there; not in order.
//! Needs: a k-ary n-tree ([`Shape::Tree`]), an extended generalised fat tree ([`Shape::Xgft`]: star, tree, leaf-spine and
//! Clos networks too) or an enriched tree ([`Shape::EnrichedTree`]); 1 lane.
//! Fails with: [`RoutingError::TooFewLanes`]; [`RoutingError::Unsupported`] for any other shape, and where missing links leave no
//! way up and then down between two switches with hosts.
//! Cost: as `shortest.rs`.
//!
//! # Algorithm
//! Where the destination is not below, every port up is on a shortest way: one is drawn, or the one for which fewest flits
//! wait taken. Where it is below, there is one way down; over parallel links the choice is the same.
//! With missing links these are the ways up and then down of the fewest hops (`torn_tree.rs`).
//!
//! # Deviations
//! Per packet, with what waits for the output at the switch; the source chooses per flow, by the flows on the output. The
//! horizontal links of an enriched tree stay unused.
//!
//! References: [`ZDORNOV_BIRK`] sections 3.2 and 6.2 (seed 001 section 1.4), [`PETRINI_VANNESCHI`]

use super::shortest::Shortest;
use crate::ids::SwitchId;
use crate::references::{PETRINI_VANNESCHI, ZDORNOV_BIRK};
use crate::registry::{Arguments, Entry, Parameter};
use crate::routing::adaptive::{Adaptive, Candidate, Course, Legs, Selection};
use crate::routing::engines::torn_tree::TornTree;
use crate::routing::regular::{self, Links as Present, Need};
use crate::routing::{AdaptiveEngine, BuildEngine, Engine, LaneBudget, RoutingError};
use crate::topology::{Graph, Shape};
use serde::Deserialize;

/// Choice among the ways up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
enum Choose {
    Random,
    #[default]
    LeastLoad,
}

/// Adaptive ascent, deterministic descent.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AdaptiveAscent {
    choose: Choose,
}

const NAME: &str = "AdaptiveAscent";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &[],
    summary: "regular trees: any way up by load or at random, the one way down",
    parameters: &[Parameter {
        name: "choose",
        kind: "Random or LeastLoad",
        default: Some("LeastLoad"),
        summary: "the port up: drawn, or the one with the fewest flits waiting behind it",
    }],
    guarantees: &["minimal when no link is missing", "deadlock-free on 1 lane"],
    references: &[ZDORNOV_BIRK, PETRINI_VANNESCHI],
    build: |arguments: Arguments<'_>| Ok(Engine::adaptive(arguments.parse::<AdaptiveAscent>()?)),
};

#[derive(Debug)]
struct Ascent {
    shortest: Shortest,
    choose: Choose,
}

impl AdaptiveEngine for AdaptiveAscent {
    fn need(&self) -> Option<Need> {
        Some(Need {
            engine: NAME,
            takes: regular::is_tree,
            links: Present::Some(regular::is_tree, ""),
        })
    }

    fn adapt(&self, graph: &Graph, budget: LaneBudget) -> Result<Adaptive, RoutingError> {
        let (Shape::Tree(_) | Shape::Xgft(_) | Shape::EnrichedTree(_)) = graph.shape() else {
            return Err(regular::is_no(NAME, graph, "regular tree"));
        };
        let is_torn = has_gaps(graph);
        let shortest = if is_torn {
            let tree = TornTree::new(graph, NAME)?;
            Shortest::by_ports(graph.switches().len(), |at, goal, found| {
                tree.ports(SwitchId::from(at), SwitchId::from(goal), found);
            })
        } else {
            Shortest::new(graph, NAME)?
        };
        let legs = Ascent {
            shortest,
            choose: self.choose,
        };
        Adaptive::by_legs(graph, NAME, legs, budget, [!is_torn, true])
    }
}

/// Whether a switch has a port without a link where the shape has one; ends of chains of an enriched tree have such ports.
fn has_gaps(graph: &Graph) -> bool {
    let links = match graph.shape() {
        Shape::EnrichedTree(shape) => return graph.link_count() as u64 != shape.links(),
        _ => graph.switch_ids().map(|switch| graph.ports(switch)),
    };
    links.flatten().any(Option::is_none)
}

impl Legs for Ascent {
    fn width(&self) -> u8 {
        1
    }

    fn selection(&self) -> Selection {
        match self.choose {
            Choose::Random => Selection::Random,
            Choose::LeastLoad => Selection::LeastLoad,
        }
    }

    fn chances(&self, _source: SwitchId, _home: SwitchId) -> Option<Vec<(u16, f64)>> {
        Some(vec![(Course::STRAIGHT.word, 1.0)])
    }

    fn ways(&self, at: SwitchId, goal: SwitchId, _word: u16, found: &mut Vec<Candidate>) {
        let ports = self.shortest.ports(at, goal).iter();
        found.extend(ports.map(|&port| Candidate::at(port)));
    }

    fn ports(&self, at: SwitchId, goal: SwitchId, _word: u16) -> Option<&[u16]> {
        Some(self.shortest.ports(at, goal))
    }
}
