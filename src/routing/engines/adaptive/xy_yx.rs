//! Dimension order from the lowest or from the highest dimension on, chosen for each packet (O1TURN).
//!
//! Guarantees: minimal, deadlock-free; not in order.
//! Needs: a mesh, torus or ring ([`Shape::Grid`](crate::topology::Shape)), a hypercube or a `HyperX`; 2 lanes per group
//! of service levels, on rings longer than 3 switches 4.
//! Fails with: [`RoutingError::TooFewLanes`]; [`RoutingError::Unsupported`] for other shapes.
//! Cost: time and memory O(switches * dimensions).
//!
//! # Algorithm
//! 1. At its source a packet takes one of two orders: the lowest dimension first (XY) or the highest first (YX).
//!    `choose: Random` draws it; `Pair` takes the same for all packets from one switch to another, by a hash of both;
//!    `LeastLoad` compares the load of the first outputs, all lanes of the group together, and draws a tie.
//! 2. Each order has its class of lanes: one, or two, before and behind the dateline, where rings need them.
//!
//! # Deviations
//! Seo et al. look at two dimensions and at random choice only.
//!
//! References: [`O1TURN`], [`BOOKSIM`] (`xy_yx`, `adaptive_xy_yx`)

use super::dimensions::{Dimensions, Hop};
use crate::ids::SwitchId;
use crate::references::{BOOKSIM, O1TURN};
use crate::registry::{Arguments, Entry, Parameter};
use crate::routing::adaptive::{Adaptive, Candidate, Course, Leg, Legs, Local, Selection};
use crate::routing::regular::{self, Links as Present, Need};
use crate::routing::{AdaptiveEngine, BuildEngine, Engine, LaneBudget, RoutingError};
use crate::topology::Graph;
use serde::Deserialize;

/// Which order a packet takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
enum Choose {
    /// Drawn.
    #[default]
    Random,
    /// One per pair of switches.
    Pair,
    /// The one with the least load on its first output.
    LeastLoad,
}

/// One of two dimension orders.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct XyYx {
    choose: Choose,
}

const NAME: &str = "XyYx";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &["O1Turn", "xy_yx"],
    summary: "meshes, tori, hypercubes and HyperX: lowest or highest dimension first, chosen at the source",
    parameters: &[Parameter {
        name: "choose",
        kind: "Random, Pair or LeastLoad",
        default: Some("Random"),
        summary: "order of a packet: drawn, a fixed one per pair of switches, or the one with the fewest flits \
                  waiting behind its first output (adaptive xy_yx)",
    }],
    guarantees: &["minimal", "deadlock-free on 2 lanes, on tori on 4"],
    references: &[O1TURN, BOOKSIM],
    build: |arguments: Arguments<'_>| Ok(Engine::adaptive(arguments.parse::<XyYx>()?)),
};

/// Words: the lowest dimension first, and the highest.
const ORDERS: [u16; 2] = [0, 1];

#[derive(Debug)]
struct TwoOrders {
    dimensions: Dimensions,
    choose: Choose,
}

impl AdaptiveEngine for XyYx {
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
        let legs = TwoOrders {
            dimensions,
            choose: self.choose,
        };
        Adaptive::by_legs(graph, NAME, legs, budget, [true, true])
    }
}

impl TwoOrders {
    /// The next hop in an order; `at` is not `goal`.
    fn hop(&self, at: SwitchId, goal: SwitchId, order: u16) -> Hop {
        if order == ORDERS[0] {
            return self.dimensions.in_order(at, goal);
        }
        let highest = self.dimensions.differing(at, goal).last();
        let highest = highest.unwrap_or_default();
        self.dimensions.shorter(at, goal, highest)
    }

    /// Load of the first outputs of an order, the least of parallel links.
    fn load(&self, source: SwitchId, home: SwitchId, order: u16, local: &dyn Local) -> u32 {
        let of_port = |port| (0..self.width()).map(|lane| local.load(port, lane)).sum();
        let ports = self.hop(source, home, order).ports;
        ports.map(of_port).min().unwrap_or(0)
    }
}

/// The order of all packets from one switch to another: the highest bit of a multiple of 2^64 over the golden ratio.
fn of_pair(source: SwitchId, home: SwitchId) -> u16 {
    let pair = u64::from(source.0) << 32 | u64::from(home.0);
    (pair.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 63) as u16
}

impl Legs for TwoOrders {
    fn width(&self) -> u8 {
        2 * self.dimensions.lanes()
    }

    fn selection(&self) -> Selection {
        Selection::Random
    }

    fn words(&self) -> u16 {
        2
    }

    fn depart(&self, source: SwitchId, home: SwitchId, local: &mut dyn Local) -> Course {
        let word = match self.choose {
            Choose::Random => local.below(2) as u16,
            Choose::Pair => of_pair(source, home),
            Choose::LeastLoad => {
                let [lowest, highest] = ORDERS.map(|order| self.load(source, home, order, local));
                match lowest.cmp(&highest) {
                    std::cmp::Ordering::Less => ORDERS[0],
                    std::cmp::Ordering::Equal => local.below(2) as u16,
                    std::cmp::Ordering::Greater => ORDERS[1],
                }
            }
        };
        Course {
            via: Course::DIRECT,
            word,
        }
    }

    fn starts(&self, _source: SwitchId, _goal: SwitchId, leg: Leg, found: &mut Vec<u16>) {
        if leg == Leg::Last {
            found.extend(ORDERS);
        }
    }

    fn chances(&self, source: SwitchId, home: SwitchId) -> Option<Vec<(u16, f64)>> {
        match self.choose {
            Choose::Random => Some(ORDERS.map(|order| (order, 0.5)).to_vec()),
            Choose::Pair => Some(vec![(of_pair(source, home), 1.0)]),
            Choose::LeastLoad => None,
        }
    }

    fn ways(&self, at: SwitchId, goal: SwitchId, word: u16, found: &mut Vec<Candidate>) {
        let hop = self.hop(at, goal, word);
        let lane = word as u8 * self.dimensions.lanes() + hop.lane;
        found.extend(hop.ports.map(|port| Candidate {
            port,
            lane,
            escape: false,
        }));
    }
}
