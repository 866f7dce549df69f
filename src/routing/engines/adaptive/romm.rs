//! ROMM: two phases through a random switch between source and destination, so that ways stay shortest.
//!
//! Guarantees: minimal, deadlock-free; not in order.
//! Needs: a mesh, torus or ring ([`Shape::Grid`](crate::topology::Shape)), a hypercube or a `HyperX`; 2 lanes per group
//! of service levels, on rings longer than 3 switches 4.
//! Fails with: [`RoutingError::TooFewLanes`]; [`RoutingError::Unsupported`] for other shapes.
//! Cost: time and memory O(switches * dimensions).
//!
//! # Algorithm
//! 1. At its source a packet draws, in every dimension, one of the coordinates on the shorter way to its destination,
//!    both ends included. It goes to the switch of these coordinates first; when that is the switch of either end,
//!    straight to its destination.
//! 2. Both phases go in dimension order, the first on one class of lanes, the last and straight ways on another. A
//!    class has two lanes, before and behind the dateline, where rings need them.
//!
//! # Deviations
//! None: ROMM with two phases.
//!
//! References: [`ROMM`], [`DALLY_TOWLES`] section 9.2

use super::dimensions::Dimensions;
use crate::ids::SwitchId;
use crate::references::{DALLY_TOWLES, ROMM};
use crate::registry::{Arguments, Entry};
use crate::routing::adaptive::{Adaptive, Candidate, Course, Leg, Legs, Local, Selection};
use crate::routing::regular::{self, Links as Present, Need};
use crate::routing::{AdaptiveEngine, BuildEngine, Engine, LaneBudget, RoutingError};
use crate::topology::Graph;
use serde::Deserialize;

/// Two random phases within the minimal quadrant; takes no parameters.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Romm {}

const NAME: &str = "Romm";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &["ROMM"],
    summary: "meshes, tori, hypercubes and HyperX: through a random switch between source and destination",
    parameters: &[],
    guarantees: &["minimal", "deadlock-free on 2 lanes, on tori on 4"],
    references: &[ROMM, DALLY_TOWLES],
    build: |arguments: Arguments<'_>| Ok(Engine::adaptive(arguments.parse::<Romm>()?)),
};

/// Word of packets on their first leg.
const FIRST: u16 = 0;
/// Word of packets on their last leg, and of those that go straight.
const LAST: u16 = 1;

#[derive(Debug)]
struct TwoPhases(Dimensions);

impl AdaptiveEngine for Romm {
    fn need(&self) -> Option<Need> {
        Some(Need {
            engine: NAME,
            takes: regular::has_dimensions,
            links: Present::All(
                "its coordinates need all links; use `MinimalAdaptive()`, which routes any connected fabric",
            ),
        })
    }

    fn adapt(&self, graph: &Graph, budget: LaneBudget) -> Result<Adaptive, RoutingError> {
        let dimensions = Dimensions::required(graph, NAME)?;
        Adaptive::by_legs(graph, NAME, TwoPhases(dimensions), budget, [true, true])
    }
}

impl Legs for TwoPhases {
    fn width(&self) -> u8 {
        2 * self.0.lanes()
    }

    fn selection(&self) -> Selection {
        Selection::Random
    }

    fn words(&self) -> u16 {
        2
    }

    fn depart(&self, source: SwitchId, home: SwitchId, local: &mut dyn Local) -> Course {
        let mut via = source;
        for dimension in self.0.differing(source, home) {
            let hops = local.below(self.0.span(source, home, dimension) + 1);
            via = self.0.along(via, home, dimension, hops);
        }
        Course::through(via, [source, home], [FIRST, LAST])
    }

    fn starts(&self, _source: SwitchId, _goal: SwitchId, leg: Leg, found: &mut Vec<u16>) {
        found.push(match leg {
            Leg::First => FIRST,
            Leg::Last => LAST,
        });
    }

    fn stays_between(&self) -> bool {
        true
    }

    fn hand_over(&self, _word: u16) -> u16 {
        LAST
    }

    fn ways(&self, at: SwitchId, goal: SwitchId, word: u16, found: &mut Vec<Candidate>) {
        let hop = self.0.in_order(at, goal);
        let lane = word as u8 * self.0.lanes() + hop.lane;
        found.extend(hop.ports.map(|port| Candidate {
            port,
            lane,
            escape: false,
        }));
    }
}
