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
//! 2. From there on as `quadrants.rs` says; with `inside: DimensionOrder` a mesh has dimension order.
//!
//! # Deviations
//! None.
//!
//! References: [`GOAL`], seed 004 section 1.4 (check C23)

use super::minimal::ADAPTIVE_LANES;
use super::quadrants::{Choice, Inside, Quadrants};
use crate::references::GOAL;
use crate::registry::{Arguments, Entry};
use crate::routing::adaptive::Adaptive;
use crate::routing::regular::{Links as Present, Need};
use crate::routing::{AdaptiveEngine, BuildEngine, Engine, LaneBudget, RoutingError};
use crate::topology::{Graph, Shape};
use serde::Deserialize;
use std::num::NonZeroU8;

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

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &["GOAL"],
    summary: "meshes and tori: directions drawn to balance the rings, adaptive within them",
    parameters: &[Inside::PARAMETER, ADAPTIVE_LANES],
    guarantees: &[
        "deadlock-free: 2 escape lanes on tori, 1 on meshes",
        "minimal on meshes",
    ],
    references: &[GOAL],
    build: |arguments: Arguments<'_>| Ok(Engine::adaptive(arguments.parse::<Goal>()?)),
};

impl AdaptiveEngine for Goal {
    fn need(&self) -> Option<Need> {
        Some(Need {
            engine: NAME,
            takes: |shape| matches!(shape, Shape::Grid(_)),
            links: Present::All(
                "its coordinates need all links; use `MinimalAdaptive()`, which routes any connected fabric",
            ),
        })
    }

    fn adapt(&self, graph: &Graph, budget: LaneBudget) -> Result<Adaptive, RoutingError> {
        let lanes = self.inside.lanes(self.adaptive_lanes);
        Quadrants::adapt(NAME, graph, budget, lanes, Choice::Drawn)
    }
}
