//! GOAL on meshes and tori: directions drawn at the source, balanced over the rings; adaptive within them.
//!
//! Guarantees: deadlock-free; minimal on meshes, in a ring of `k` at most `k - 1` hops; not in order.
//! Needs: a mesh, torus or ring ([`Shape::Grid`]); with `inside: Adaptive` `adaptive_lanes` lanes and 2 escape lanes on
//! tori, 1 on meshes; with `inside: DimensionOrder` 2 and 1.
//! Fails with: [`RoutingError::TooFewLanes`]; [`RoutingError::Unsupported`] for other shapes or more than 12 dimensions.
//! Cost: time and memory O(switches * dimensions); the proof follows `2^dimensions` words per destination.
//!
//! # Algorithm
//! 1. At the source, for every ring of `k` switches in which the destination is `D` hops away on the short way: the
//!    short direction with probability `(k - D) / k`, the long one with `D / k` (at `D = k / 2` + is "short"). Both
//!    directions of a ring then carry the same load of any pattern.
//! 2. At every switch all dimensions that differ may be taken, in the direction drawn, on adaptive lanes.
//! 3. Escape lanes: the lowest dimension that differs, before and behind the dateline.
//! 4. With `inside: DimensionOrder` only the hop of step 3, on its lanes: on a mesh that is dimension order.
//!
//! # Deviations
//! None.
//!
//! References: [`GOAL`], seed 004 section 1.4 (check C23)

use super::dimensions::{Dimensions, Hop};
use super::minimal::ADAPTIVE_LANES;
use crate::ids::SwitchId;
use crate::references::GOAL;
use crate::registry::{Arguments, Entry, Parameter};
use crate::routing::adaptive::{Adaptive, Candidate, Course, Leg, Legs, Local, Selection};
use crate::routing::{AdaptiveEngine, BuildEngine, Engine, LaneBudget, RoutingError};
use crate::topology::{Graph, Shape};
use serde::Deserialize;
use std::num::NonZeroU8;

/// Choice within the directions drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
enum Inside {
    #[default]
    Adaptive,
    DimensionOrder,
}

/// Globally oblivious, adaptive locally.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Goal {
    inside: Inside,
    adaptive_lanes: NonZeroU8,
}

impl Default for Goal {
    fn default() -> Self {
        Self {
            inside: Inside::Adaptive,
            adaptive_lanes: NonZeroU8::MIN,
        }
    }
}

const NAME: &str = "Goal";
/// Most dimensions: a word has a bit for each, and the proof follows every word.
const MOST_DIMENSIONS: usize = 12;

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &["GOAL"],
    summary: "meshes and tori: directions drawn to balance the rings, adaptive within them",
    parameters: &[
        Parameter {
            name: "inside",
            kind: "Adaptive or DimensionOrder",
            default: Some("Adaptive"),
            summary: "within the directions drawn: any dimension on adaptive lanes, or dimension order",
        },
        ADAPTIVE_LANES,
    ],
    guarantees: &[
        "deadlock-free: 2 escape lanes on tori, 1 on meshes",
        "minimal on meshes",
    ],
    references: &[GOAL],
    build: |arguments: Arguments<'_>| Ok(Engine::adaptive(arguments.parse::<Goal>()?)),
};

#[derive(Debug)]
struct Quadrants {
    dimensions: Dimensions,
    /// Lanes beside the escape lanes; `None` in dimension order.
    adaptive_lanes: Option<u8>,
}

impl AdaptiveEngine for Goal {
    fn adapt(&self, graph: &Graph, budget: LaneBudget) -> Result<Adaptive, RoutingError> {
        let unsupported = |reason: &str| RoutingError::Unsupported {
            engine: NAME,
            reason: reason.to_owned(),
        };
        let grid = matches!(graph.shape(), Shape::Grid(_));
        let dimensions = Dimensions::new(graph, |size| size.saturating_sub(1)).filter(|_| grid);
        let dimensions = dimensions.ok_or_else(|| {
            unsupported(
                "it is no mesh, torus or ring; use `MinimalAdaptive()`, which routes any connected fabric",
            )
        })?;
        if dimensions.count() > MOST_DIMENSIONS {
            return Err(unsupported("it has more than 12 dimensions"));
        }
        let adaptive_lanes = match self.inside {
            Inside::Adaptive => Some(self.adaptive_lanes.get()),
            Inside::DimensionOrder => None,
        };
        let needed = dimensions
            .lanes()
            .saturating_add(adaptive_lanes.unwrap_or(0));
        budget.require(NAME, needed)?;
        let mut rings = (0..dimensions.count()).filter(|&d| dimensions.is_ring(d));
        let minimal = !rings.any(|d| dimensions.size(d) > 2);
        let legs = Quadrants {
            dimensions,
            adaptive_lanes,
        };
        Adaptive::by_legs(graph, NAME, legs, budget, [minimal, true])
    }
}

impl Quadrants {
    /// The hop in a dimension, in the direction of the word in a ring.
    fn hop(&self, at: SwitchId, goal: SwitchId, dimension: usize, word: u16) -> Hop {
        let dimensions = &self.dimensions;
        let up = if dimensions.is_ring(dimension) {
            word >> dimension & 1 == 1
        } else {
            dimensions.coordinate(goal, dimension) > dimensions.coordinate(at, dimension)
        };
        dimensions.hop(at, goal, dimension, up)
    }
}

impl Legs for Quadrants {
    fn width(&self) -> u8 {
        self.dimensions.lanes() + self.adaptive_lanes.unwrap_or(0)
    }

    fn selection(&self) -> Selection {
        match self.adaptive_lanes {
            Some(_) => Selection::Open,
            None => Selection::First,
        }
    }

    fn words(&self) -> u16 {
        1 << self.dimensions.count()
    }

    fn depart(&self, source: SwitchId, home: SwitchId, local: &mut dyn Local) -> Course {
        let mut word = 0;
        let differing = self.dimensions.differing(source, home);
        for dimension in differing.filter(|&d| self.dimensions.is_ring(d)) {
            let size = self.dimensions.size(dimension);
            let forward = self.dimensions.forward(source, home, dimension);
            let hops = forward.min(size - forward);
            let short = local.below(size) < size - hops;
            let up_is_short = 2 * forward <= size;
            word |= u16::from(short == up_is_short) << dimension;
        }
        Course {
            via: Course::DIRECT,
            word,
        }
    }

    fn starts(&self, source: SwitchId, goal: SwitchId, leg: Leg, found: &mut Vec<u16>) {
        if leg == Leg::First {
            return;
        }
        let differing = self.dimensions.differing(source, goal);
        let rings = differing.filter(|&d| self.dimensions.is_ring(d));
        let drawn = rings.fold(0, |mask, d| mask | 1 << d);
        found.extend((0..self.words()).filter(|word| word & !drawn == 0));
    }

    fn ways(&self, at: SwitchId, goal: SwitchId, word: u16, found: &mut Vec<Candidate>) {
        let mut lowest = None;
        for dimension in self.dimensions.differing(at, goal) {
            let hop = self.hop(at, goal, dimension, word);
            for port in hop.ports.clone() {
                let first = self.dimensions.lanes();
                let lanes = first..self.width();
                found.extend(lanes.map(|lane| Candidate {
                    port,
                    lane,
                    escape: false,
                }));
            }
            lowest.get_or_insert(hop);
        }
        let escape = self.adaptive_lanes.is_some();
        let ways = lowest.into_iter().flat_map(|hop| {
            let lane = hop.lane;
            hop.ports.map(move |port| (port, lane))
        });
        found.extend(ways.map(|(port, lane)| Candidate { port, lane, escape }));
    }
}
