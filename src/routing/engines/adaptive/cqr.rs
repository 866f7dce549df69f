//! CQR on meshes and tori: directions by the queues of the source's switch; adaptive within them.
//!
//! Guarantees: deadlock-free; minimal on meshes, in a ring of `k` at most `k - 1` hops; not in order.
//! Needs: a mesh, torus or ring ([`Shape::Grid`]); with `inside: Adaptive` `adaptive_lanes`
//! lanes and 2 escape lanes on tori, 1 on meshes; with `inside: DimensionOrder` 2 and 1.
//! Fails with: [`RoutingError::TooFewLanes`]; [`RoutingError::Unsupported`] for other shapes or more than 12 dimensions.
//! Cost: that of `Goal`, at the source O(dimensions * lanes) loads per packet.
//!
//! # Algorithm
//! 1. At the source, for every ring in which the destination is off: `q` = load of the output in a direction (D20),
//!    over all lanes of the group. The short way is taken when `q * hops <= q * hops + threshold`, the short one on the
//!    left, the long one on the right. With as many hops both ways and equal loads one is drawn.
//! 2. From there on as `quadrants.rs` says. On a mesh there is nothing to choose.
//!
//! A queue that grows tells of congestion farther on, through back-pressure: light loads and local traffic stay on
//! the short ways, which GOAL leaves whatever the load.
//!
//! Shift by 3 on an 8x8 torus, 3 lanes: of an offered 0.4, 0.5 and 0.9 it accepts 0.357, 0.326 and 0.314, short ways carry
//! a third. `inside: DimensionOrder`, with the same choice of directions, sustains 0.42 and accepts 0.437 of 0.9: what
//! limits are adaptive lanes, which close rings without a dateline and drain over the escape lanes alone once they are full.
//! `Goal` sustains 0.4 there, accepts 0.253 of 0.5 and 0.234 of 0.9; its balance would allow 0.53.
//!
//! # Deviations
//! What waits in the switch before its output is not seen, only what the output's channel and the buffers behind it hold.
//!
//! References: [`CQR`], seed 004 section 1.4

use super::minimal::ADAPTIVE_LANES;
use super::quadrants::{Choice, Inside, Quadrants};
use crate::references::CQR;
use crate::registry::{Arguments, Entry, Parameter};
use crate::routing::adaptive::Adaptive;
use crate::routing::regular::{Links as Present, Need};
use crate::routing::{AdaptiveEngine, BuildEngine, Engine, LaneBudget, RoutingError};
use crate::topology::{Graph, Shape};
use serde::Deserialize;
use std::num::NonZeroU8;

/// Channel queue routing.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cqr {
    threshold: u32,
    inside: Inside,
    adaptive_lanes: NonZeroU8,
}

impl Default for Cqr {
    fn default() -> Self {
        Self {
            threshold: 0,
            inside: Inside::Adaptive,
            adaptive_lanes: NonZeroU8::MIN,
        }
    }
}

const NAME: &str = "Cqr";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &["CQR"],
    summary: "meshes and tori: directions by the queues at the source, adaptive within them",
    parameters: &[
        Parameter {
            name: "threshold",
            kind: "integer >= 0 [flits x hops]",
            default: Some("0"),
            summary: "how much worse the short way round a ring may be before the long one is taken",
        },
        Inside::PARAMETER,
        ADAPTIVE_LANES,
    ],
    guarantees: &[
        "deadlock-free: 2 escape lanes on tori, 1 on meshes",
        "minimal on meshes",
    ],
    references: &[CQR],
    build: |arguments: Arguments<'_>| Ok(Engine::adaptive(arguments.parse::<Cqr>()?)),
};

impl AdaptiveEngine for Cqr {
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
        let choice = Choice::Queues {
            threshold: self.threshold,
        };
        Quadrants::adapt(NAME, graph, budget, lanes, choice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{HostId, SwitchId};
    use crate::routing::adaptive::Local;
    use crate::routing::tests::conformance::budget;
    use crate::routing::tests::graphs::grid;

    /// Load of each port, one lane; what is drawn.
    struct Known([u32; 2], u32);

    impl Local for Known {
        fn load(&self, port: u16, lane: u8) -> u32 {
            if lane == 0 {
                self.0[usize::from(port) - 1]
            } else {
                0
            }
        }

        fn below(&mut self, _bound: u32) -> u32 {
            self.1
        }
    }

    /// Whether a packet leaves switch 0 of a ring of 8 in + direction.
    fn goes_up(engine: Cqr, to: u32, loads: [u32; 2], drawn: u32) -> bool {
        let adaptive = engine.adapt(&grid(&[8], true, 1), budget(3)).unwrap();
        let mut local = Known(loads, drawn);
        let course = adaptive.routing.depart(SwitchId(0), HostId(to), &mut local);
        let mut found = Vec::new();
        adaptive
            .routing
            .candidates(SwitchId(0), HostId(to), course, &mut found);
        assert!(
            found
                .iter()
                .all(|candidate| candidate.port == found[0].port)
        );
        found[0].port == 1
    }

    #[test]
    fn the_short_way_is_taken_up_to_the_load_of_the_long_one() {
        let plain = Cqr::default();
        // 3 hops up, 5 down
        assert!(goes_up(plain, 3, [0, 0], 0));
        assert!(goes_up(plain, 3, [5, 3], 0) && !goes_up(plain, 3, [6, 3], 0));
        assert!(!goes_up(plain, 3, [1, 0], 0));
        // 3 hops down, 5 up
        assert!(!goes_up(plain, 5, [3, 5], 0) && goes_up(plain, 5, [3, 6], 0));
        let patient = Cqr {
            threshold: 3,
            ..plain
        };
        assert!(goes_up(patient, 3, [6, 3], 0) && !goes_up(patient, 3, [7, 3], 0));
        // 4 hops either way
        assert!(goes_up(plain, 4, [2, 2], 0) && !goes_up(plain, 4, [2, 2], 1));
        assert!(goes_up(plain, 4, [1, 2], 1) && !goes_up(plain, 4, [2, 1], 0));
    }
}
