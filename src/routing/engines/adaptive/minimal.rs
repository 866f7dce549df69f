//! Minimal adaptive routing: every shortest way, with escape lanes against deadlock.
//!
//! Guarantees: minimal, deadlock-free on any connected fabric; not in order.
//! Needs: `adaptive_lanes` lanes and the escape lanes: 1 on meshes, hypercubes, `HyperX` networks and regular trees, 2 on
//! tori, elsewhere as many as the longest shortest way to a host's switch has hops.
//! Fails with: [`RoutingError::TooFewLanes`], [`RoutingError::Unreachable`], [`RoutingError::Unsupported`].
//! Cost: as `shortest.rs`.
//!
//! # Algorithm
//! 1. A packet may take every port that leads nearer to its destination, on any adaptive lane.
//! 2. It may always take an escape lane instead, and go back to adaptive lanes behind it:
//!    - in networks of dimensions the hop of dimension order, with datelines in rings;
//!    - in regular trees, where shortest ways go up, then down, every port of step 1;
//!    - elsewhere every port of step 1, on the lane numbered by the hops left: lanes fall on every way.
//!
//! # Deviations
//! Irregular fabrics are often given up*/down* escape lanes. These are safe only for packets that never go back to
//! adaptive lanes (Silla and Duato); a packet here does not remember on which lane it came.
//!
//! References: [`DUATO`], [`MERLIN_SCHWEITZER`]

use super::dimensions::Dimensions;
use super::shortest::Shortest;
use crate::ids::SwitchId;
use crate::references::{DUATO, MERLIN_SCHWEITZER};
use crate::registry::{Arguments, Entry, Parameter};
use crate::routing::adaptive::{Adaptive, Candidate, Legs, Selection};
use crate::routing::regular::{self, Links as Present, Need};
use crate::routing::{AdaptiveEngine, BuildEngine, Engine, LaneBudget, RoutingError};
use crate::topology::{Graph, Shape};
use serde::Deserialize;
use std::num::NonZeroU8;

/// Minimal adaptive routing.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MinimalAdaptive {
    adaptive_lanes: NonZeroU8,
}

impl Default for MinimalAdaptive {
    fn default() -> Self {
        Self {
            adaptive_lanes: NonZeroU8::MIN,
        }
    }
}

const NAME: &str = "MinimalAdaptive";

/// The parameter that two engines share.
pub(super) const ADAPTIVE_LANES: Parameter = Parameter {
    name: "adaptive_lanes",
    kind: "integer >= 1",
    default: Some("1"),
    summary: "lanes of a group beside the escape lanes",
};

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &["MinAdapt"],
    summary: "every shortest way of any connected fabric, with escape lanes",
    parameters: &[ADAPTIVE_LANES],
    guarantees: &[
        "minimal",
        "deadlock-free: 1 escape lane on meshes, hypercubes, HyperX and regular trees, 2 on tori, elsewhere one \
         per hop of the longest shortest way",
    ],
    references: &[DUATO, MERLIN_SCHWEITZER],
    build: |arguments: Arguments<'_>| Ok(Engine::adaptive(arguments.parse::<MinimalAdaptive>()?)),
};

/// The escape lanes.
#[derive(Debug)]
enum Escape {
    DimensionOrder(Dimensions),
    UpThenDown,
    /// One per hop left.
    HopsLeft(u8),
}

impl Escape {
    fn lanes(&self) -> u8 {
        match self {
            Self::DimensionOrder(dimensions) => dimensions.lanes(),
            Self::UpThenDown => 1,
            Self::HopsLeft(most) => *most,
        }
    }
}

#[derive(Debug)]
struct AllShortest {
    shortest: Shortest,
    escape: Escape,
    adaptive_lanes: u8,
}

impl AdaptiveEngine for MinimalAdaptive {
    fn need(&self) -> Option<Need> {
        Some(Need {
            engine: NAME,
            takes: |shape| {
                regular::has_dimensions(shape) || matches!(shape, Shape::Tree(_) | Shape::Xgft(_))
            },
            links: Present::AllOrAny,
        })
    }

    fn adapt(&self, graph: &Graph, budget: LaneBudget) -> Result<Adaptive, RoutingError> {
        let shortest = Shortest::new(graph, NAME)?;
        let dimensions = Dimensions::new(graph, |size| size / 2);
        let escape = match (graph.shape(), dimensions) {
            (_, Some(dimensions)) => Escape::DimensionOrder(dimensions),
            (Shape::Tree(_) | Shape::Xgft(_), None) => Escape::UpThenDown,
            _ => {
                let homes = graph.host_ids().filter_map(|host| graph.attachment(host));
                let most = shortest.farthest(homes.map(|(switch, _)| switch));
                Escape::HopsLeft(most.max(1))
            }
        };
        let needed = escape.lanes().saturating_add(self.adaptive_lanes.get());
        budget.require(NAME, needed)?;
        let legs = AllShortest {
            shortest,
            escape,
            adaptive_lanes: self.adaptive_lanes.get(),
        };
        let remark = format!("{} of {}", legs.escape.lanes(), legs.width());
        let mut adaptive = Adaptive::by_legs(graph, NAME, legs, budget, [true, true])?;
        adaptive.remarks.push(("escape lanes".into(), remark));
        Ok(adaptive)
    }
}

impl Legs for AllShortest {
    fn width(&self) -> u8 {
        self.escape.lanes() + self.adaptive_lanes
    }

    fn selection(&self) -> Selection {
        Selection::Open
    }

    fn ways(&self, at: SwitchId, goal: SwitchId, _word: u16, found: &mut Vec<Candidate>) {
        let escapes = self.escape.lanes();
        for &port in self.shortest.ports(at, goal) {
            let lanes = escapes..escapes + self.adaptive_lanes;
            found.extend(lanes.map(|lane| Candidate {
                port,
                lane,
                escape: false,
            }));
        }
        let escape = |port, lane| Candidate {
            port,
            lane,
            escape: true,
        };
        match &self.escape {
            Escape::DimensionOrder(dimensions) => {
                let hop = dimensions.in_order(at, goal);
                found.extend(hop.ports.map(|port| escape(port, hop.lane)));
            }
            Escape::UpThenDown => {
                let ports = self.shortest.ports(at, goal);
                found.extend(ports.iter().map(|&port| escape(port, 0)));
            }
            Escape::HopsLeft(_) => {
                let lane = self.shortest.hops(at, goal) - 1;
                let ports = self.shortest.ports(at, goal);
                found.extend(ports.iter().map(|&port| escape(port, lane)));
            }
        }
    }
}
