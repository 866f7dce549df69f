//! Routing within directions chosen at the source, on meshes and tori: what GOAL and CQR share.
//!
//! Cost: time and memory O(switches * dimensions); the proof follows `2^dimensions` words per destination.
//!
//! # Algorithm
//! 1. At the source a direction is chosen for every ring in which source and destination differ: a bit of the word.
//! 2. At every switch all dimensions that differ may be taken, in the direction chosen, on adaptive lanes.
//! 3. Escape lanes: the lowest dimension that differs, before and behind the dateline.
//! 4. In dimension order only the hop of step 3, on its lanes.

use super::dimensions::{Dimensions, Hop};
use crate::ids::SwitchId;
use crate::registry::Parameter;
use crate::routing::adaptive::{Adaptive, Candidate, Course, Leg, Legs, Local, Selection};
use crate::routing::regular;
use crate::routing::{LaneBudget, RoutingError};
use crate::topology::{Graph, Shape};
use serde::Deserialize;
use std::num::NonZeroU8;

/// Most dimensions: a word has a bit for each, and the proof follows every word.
const MOST_DIMENSIONS: usize = 12;

/// Choice of the dimension within the directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) enum Inside {
    /// Any that differs.
    #[default]
    Adaptive,
    /// The lowest that differs.
    DimensionOrder,
}

impl Inside {
    /// The parameter that names it.
    pub(super) const PARAMETER: Parameter = Parameter {
        name: "inside",
        kind: "Adaptive or DimensionOrder",
        default: Some("Adaptive"),
        summary: "within the directions chosen: any dimension on adaptive lanes, or dimension order",
    };

    /// Lanes beside the escape lanes; `None` in dimension order.
    pub(super) fn lanes(self, adaptive: NonZeroU8) -> Option<u8> {
        (self == Self::Adaptive).then_some(adaptive.get())
    }
}

/// How the direction in a ring is chosen.
#[derive(Clone, Copy, Debug)]
pub(super) enum Choice {
    /// Of `k` switches, with the destination `D` hops away on the short way: that with probability `(k - D) / k`.
    Drawn,
    /// By the queues of the source's switch: the short way unless its `queue * hops` is larger by more than this.
    Queues {
        /// Difference at which the short way is still taken \[flits * hops\].
        threshold: u32,
    },
}

/// The routing function.
#[derive(Debug)]
pub(super) struct Quadrants {
    dimensions: Dimensions,
    /// Lanes beside the escape lanes; `None` in dimension order.
    adaptive_lanes: Option<u8>,
    choice: Choice,
}

/// The two ways round a ring.
#[derive(Clone, Copy)]
struct Ways {
    /// Hops on the short and on the long way.
    hops: [u32; 2],
    /// Whether the short one leads in + direction; + is the short one where they are the same.
    up_is_short: bool,
}

impl Quadrants {
    /// The routing of `engine` on a mesh or torus.
    ///
    /// # Errors
    /// [`RoutingError::Unsupported`] for other graphs, [`RoutingError::TooFewLanes`].
    pub(super) fn adapt(
        engine: &'static str,
        graph: &Graph,
        budget: LaneBudget,
        adaptive_lanes: Option<u8>,
        choice: Choice,
    ) -> Result<Adaptive, RoutingError> {
        let grid = matches!(graph.shape(), Shape::Grid(_));
        let dimensions = Dimensions::new(graph, |size| size.saturating_sub(1)).filter(|_| grid);
        let dimensions =
            dimensions.ok_or_else(|| regular::is_no(engine, graph, "mesh, torus or ring"))?;
        if dimensions.count() > MOST_DIMENSIONS {
            let reason = "it has more than 12 dimensions";
            return Err(RoutingError::unsupported(engine, reason));
        }
        let escape = dimensions.lanes();
        budget.require(engine, escape.saturating_add(adaptive_lanes.unwrap_or(0)))?;
        let mut rings = (0..dimensions.count()).filter(|&d| dimensions.is_ring(d));
        let minimal = !rings.any(|d| dimensions.size(d) > 2);
        let legs = Self {
            dimensions,
            adaptive_lanes,
            choice,
        };
        Adaptive::by_legs(graph, engine, legs, budget, [minimal, true])
    }

    /// Step 1: whether the short way is taken in a ring.
    fn is_short(
        &self,
        [source, home]: [SwitchId; 2],
        dimension: usize,
        ways: Ways,
        local: &mut dyn Local,
    ) -> bool {
        match self.choice {
            Choice::Drawn => {
                let size = self.dimensions.size(dimension);
                local.below(size) < size - ways.hops[0]
            }
            Choice::Queues { threshold } => {
                let waiting = |up: bool| {
                    let hop = self.dimensions.hop(source, home, dimension, up);
                    let lanes = hop
                        .ports
                        .flat_map(|port| (0..self.width()).map(move |l| (port, l)));
                    let loads = lanes.map(|(port, lane)| u64::from(local.load(port, lane)));
                    loads.sum::<u64>()
                };
                let [short, long] = [waiting(ways.up_is_short), waiting(!ways.up_is_short)];
                let [short, long] = [(short, ways.hops[0]), (long, ways.hops[1])]
                    .map(|(queue, hops)| queue * u64::from(hops));
                if short == long && ways.hops[0] == ways.hops[1] {
                    return local.below(2) == 0;
                }
                short <= long + u64::from(threshold)
            }
        }
    }

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
            let ways = Ways {
                hops: [hops, size - hops],
                up_is_short: 2 * forward <= size,
            };
            let short = self.is_short([source, home], dimension, ways, local);
            word |= u16::from(short == ways.up_is_short) << dimension;
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
