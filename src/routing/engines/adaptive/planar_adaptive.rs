//! Planar-adaptive routing on meshes: adaptive in one plane of two dimensions after the other.
//!
//! Guarantees: minimal, deadlock-free; not in order.
//! Needs: a mesh ([`Shape::Grid`](crate::topology::Shape::Grid) without rings) or a hypercube, which is one of 2 switches in each dimension; 3 lanes per group of service levels, with one dimension 1.
//! Fails with: [`RoutingError::TooFewLanes`]; [`RoutingError::Unsupported`] for other shapes.
//! Cost: time and memory O(switches * dimensions).
//!
//! # Algorithm
//! 1. Let i be the lowest dimension in which the destination lies elsewhere. A packet may go on in i, or in i + 1 where
//!    that differs, too: the plane of the two. With i done it is in the next plane.
//! 2. Lane 2 is for dimension i; for i + 1 lane 0 when the packet goes in + direction of i, lane 1 in - direction. So
//!    each plane has two networks, in which dimension i is used in one direction only: no circle.
//! 3. Of the two ways the one with the least load is taken, or one is drawn.
//!
//! # Deviations
//! The last dimension has a lane of its own once all others are done; Chien and Kim go on in the last plane. Lanes 0
//! and 1 of dimension 0 stay unused: all links have the same number of lanes.
//!
//! References: [`CHIEN_KIM`]

use super::dimensions::Dimensions;
use crate::ids::SwitchId;
use crate::references::CHIEN_KIM;
use crate::registry::{Arguments, Entry, Parameter};
use crate::routing::adaptive::{Adaptive, Candidate, Course, Legs, Selection};
use crate::routing::regular::{self, Links as Present, Need};
use crate::routing::{AdaptiveEngine, BuildEngine, Engine, LaneBudget, RoutingError};
use crate::topology::Graph;
use serde::Deserialize;

/// Choice between the two dimensions of a plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
enum Choose {
    Random,
    #[default]
    LeastLoad,
}

/// Adaptive in one plane after the other.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlanarAdaptive {
    choose: Choose,
}

const NAME: &str = "PlanarAdaptive";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &["planar_adapt"],
    summary: "meshes and hypercubes: adaptive in one plane of two dimensions after the other",
    parameters: &[Parameter {
        name: "choose",
        kind: "Random or LeastLoad",
        default: Some("LeastLoad"),
        summary: "the dimension within the plane: drawn, or the one with the fewest flits waiting behind its output",
    }],
    guarantees: &["minimal", "deadlock-free on 3 lanes"],
    references: &[CHIEN_KIM],
    build: |arguments: Arguments<'_>| Ok(Engine::adaptive(arguments.parse::<PlanarAdaptive>()?)),
};

#[derive(Debug)]
struct Planes {
    dimensions: Dimensions,
    choose: Choose,
}

impl AdaptiveEngine for PlanarAdaptive {
    fn need(&self) -> Option<Need> {
        Some(Need {
            engine: NAME,
            takes: regular::is_mesh,
            links: Present::All(
                "its coordinates need all links; use `MinimalAdaptive()`, which routes any connected fabric",
            ),
        })
    }

    fn adapt(&self, graph: &Graph, budget: LaneBudget) -> Result<Adaptive, RoutingError> {
        let is_mesh = regular::is_mesh(graph.shape());
        let dimensions = Dimensions::new(graph, |_| 1).filter(|_| is_mesh);
        let dimensions = dimensions.ok_or_else(|| {
            let advice = "use `Goal()` on tori, elsewhere `UpDown()`";
            regular::is_no_with(NAME, graph, "mesh or hypercube", advice)
        })?;
        let legs = Planes {
            dimensions,
            choose: self.choose,
        };
        Adaptive::by_legs(graph, NAME, legs, budget, [true, true])
    }
}

impl Planes {
    /// Whether packets from `at` to `goal` go in + direction of a dimension.
    fn goes_up(&self, at: SwitchId, goal: SwitchId, dimension: usize) -> bool {
        self.dimensions.coordinate(goal, dimension) > self.dimensions.coordinate(at, dimension)
    }
}

impl Legs for Planes {
    fn width(&self) -> u8 {
        if self.dimensions.count() > 1 { 3 } else { 1 }
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
        let mut differing = self.dimensions.differing(at, goal);
        let Some(lowest) = differing.next() else {
            return;
        };
        let mut add = |dimension, lane| {
            let up = self.goes_up(at, goal, dimension);
            let hop = self.dimensions.hop(at, goal, dimension, up);
            found.extend(hop.ports.map(|port| Candidate {
                port,
                lane,
                escape: false,
            }));
        };
        add(lowest, self.width() - 1);
        if differing.next() == Some(lowest + 1) {
            add(lowest + 1, u8::from(!self.goes_up(at, goal, lowest)));
        }
    }
}
