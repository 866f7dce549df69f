//! Valiant's randomised routing: every packet goes through a random switch first.
//!
//! Guarantees: deadlock-free on meshes, tori, hypercubes and `HyperX` networks; elsewhere the proof tells. At most
//! twice as long as the longest shortest way; not in order.
//! Needs: 2 lanes per group of service levels; on rings longer than 3 switches 4.
//! Fails with: [`RoutingError::TooFewLanes`], [`RoutingError::Unreachable`].
//! Cost: time and memory O(switches * dimensions), elsewhere as `shortest.rs`.
//!
//! # Algorithm
//! 1. At its source a packet draws a switch `x` among all that have hosts. It goes to `x`, then to its
//!    destination; when `x` is the switch of either, straight to its destination.
//! 2. Both legs go in dimension order, the first on one class of lanes, the last and straight ways on another.
//!    A class has two lanes, before and behind the dateline, where rings need them.
//! 3. In other fabrics a leg goes over shortest ways, one drawn at every switch. These may wait for each other in a
//!    circle: the proof before the run tells, and refuses them then.
//!
//! # Deviations
//! A packet that passes the switch of its destination on its first leg leaves there (D20).
//!
//! References: [`VALIANT`], seed 004 section 1.5

use super::dimensions::Dimensions;
use super::shortest::Shortest;
use crate::ids::SwitchId;
use crate::references::{DALLY_TOWLES, VALIANT};
use crate::registry::{Arguments, Entry};
use crate::routing::adaptive::{Adaptive, Candidate, Course, Leg, Legs, Local, Selection};
use crate::routing::regular::{self, Links as Present, Need};
use crate::routing::{AdaptiveEngine, BuildEngine, Engine, LaneBudget, RoutingError};
use crate::topology::Graph;
use serde::Deserialize;

/// Randomised routing; takes no parameters.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Valiant {}

const NAME: &str = "Valiant";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &[],
    summary: "through a random switch first, in dimension order or over shortest ways",
    parameters: &[],
    guarantees: &[
        "deadlock-free on 2 lanes on meshes, hypercubes and HyperX, on 4 on tori; elsewhere as proved",
        "the same throughput for every pattern, at most about half of that of uniform traffic",
    ],
    references: &[VALIANT, DALLY_TOWLES],
    build: |arguments: Arguments<'_>| Ok(Engine::adaptive(arguments.parse::<Valiant>()?)),
};

/// Word of packets on their first leg.
const FIRST: u16 = 0;
/// Word of packets on their last leg.
const LAST: u16 = 1;

/// How a leg goes.
#[derive(Debug)]
enum Inside {
    DimensionOrder(Dimensions),
    Shortest(Shortest),
}

#[derive(Debug)]
struct TwoPhases {
    inside: Inside,
    /// Switches with hosts.
    through: Vec<SwitchId>,
}

impl AdaptiveEngine for Valiant {
    fn need(&self) -> Option<Need> {
        Some(Need {
            engine: NAME,
            takes: regular::has_dimensions,
            links: Present::AllOrAny,
        })
    }

    fn adapt(&self, graph: &Graph, budget: LaneBudget) -> Result<Adaptive, RoutingError> {
        let inside = match Dimensions::new(graph, |size| size / 2) {
            Some(dimensions) => Inside::DimensionOrder(dimensions),
            None => Inside::Shortest(Shortest::new(graph, NAME)?),
        };
        let deadlock_free = matches!(inside, Inside::DimensionOrder(_));
        let has_hosts = |&switch: &SwitchId| graph.attached_hosts(switch).next().is_some();
        let legs = TwoPhases {
            inside,
            through: graph.switch_ids().filter(has_hosts).collect(),
        };
        Adaptive::by_legs(graph, NAME, legs, budget, [false, deadlock_free])
    }
}

impl Legs for TwoPhases {
    fn width(&self) -> u8 {
        2 * match &self.inside {
            Inside::DimensionOrder(dimensions) => dimensions.lanes(),
            Inside::Shortest(_) => 1,
        }
    }

    fn selection(&self) -> Selection {
        Selection::Random
    }

    fn words(&self) -> u16 {
        2
    }

    fn depart(&self, source: SwitchId, home: SwitchId, local: &mut dyn Local) -> Course {
        let via = self.through[local.below(self.through.len() as u32) as usize];
        Course::through(via, [source, home], [FIRST, LAST])
    }

    fn starts(&self, _source: SwitchId, goal: SwitchId, leg: Leg, found: &mut Vec<u16>) {
        match leg {
            Leg::First if self.through.binary_search(&goal).is_ok() => found.push(FIRST),
            Leg::First => {}
            Leg::Last => found.push(LAST),
        }
    }

    fn hand_over(&self, _word: u16) -> u16 {
        LAST
    }

    fn ways(&self, at: SwitchId, goal: SwitchId, word: u16, found: &mut Vec<Candidate>) {
        let way = |port, lane| Candidate {
            port,
            lane,
            escape: false,
        };
        match &self.inside {
            Inside::DimensionOrder(dimensions) => {
                let hop = dimensions.in_order(at, goal);
                let lane = word as u8 * dimensions.lanes() + hop.lane;
                found.extend(hop.ports.map(|port| way(port, lane)));
            }
            Inside::Shortest(shortest) => {
                let ports = shortest.ports(at, goal);
                found.extend(ports.iter().map(|&port| way(port, word as u8)));
            }
        }
    }
}
