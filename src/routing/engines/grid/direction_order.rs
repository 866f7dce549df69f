//! Routes meshes and tori in all + directions first, then in all - directions.
//!
//! Guarantees: minimal, in order; deadlock-free unless `dateline: None` on rings that need a dateline.
//! Needs: a mesh or torus ([`Shape::Grid`]); 2 lanes per group of service levels when a ring needs a
//! dateline, otherwise 1.
//! Fails with: [`RoutingError::TooFewLanes`]; [`RoutingError::Unsupported`] for other shapes, missing links,
//! and more than 7 dateline dimensions with `Path`.
//! Cost: time and memory O(switches * hosts * dimensions).
//!
//! # Algorithm
//! 1. Every dimension where the coordinate differs from the destination's has its direction; direction, ties
//!    and lanes are those of `grid_tables.rs`.
//! 2. Take the first of `+0, +1, .., -0, -1, ..` that is one of them. The directions come in one order for all
//!    packets, and the hops in one direction come one after the other: without rings channels cannot wait in a
//!    circle, in rings the datelines see to it as in dimension order.
//!
//! References: [`BOLBOL`] section 1.3 (direction order), [`DALLY_TOWLES`] ch. 14

use super::grid_tables::{Dateline, GridRouting, Ties, choices};
use super::rings::Order;
use crate::references::{BOLBOL, DALLY_TOWLES};
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::routing::adaptive::Lanes;
use crate::routing::regular::{self, Links as Present, Need};
use crate::routing::{BuildEngine, LaneBudget, RoutingEngine, RoutingError, Tables};
use crate::topology::{Graph, Shape};
use serde::Deserialize;

/// Direction-order routing.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DirectionOrder {
    dateline: Dateline,
    ties: Ties,
    lanes: Lanes,
}

const NAME: &str = "DirectionOrder";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &["DIR"],
    summary: "meshes and tori, all + directions first, then all - directions",
    parameters: &[
        Parameter {
            name: "dateline",
            kind: "Auto, Path, Hop or None",
            default: Some("Auto"),
            summary: "lane by path (as Auto), by hop (Dally and Seitz), or deadlock-prone",
        },
        Parameter {
            name: "ties",
            kind: "Auto, Balanced or Positive",
            default: Some("Auto"),
            summary: "direction at exactly half a ring: by parity of the coordinate, or always +",
        },
        Lanes::PARAMETER,
    ],
    guarantees: &[
        "minimal",
        "deadlock-free unless `dateline: None`",
        "in order unless `lanes: Any`",
    ],
    references: &[BOLBOL, DALLY_TOWLES],
    build: |arguments| {
        let engine = DirectionOrder::parse(arguments)?;
        Ok(engine.lanes.engine(NAME, engine))
    },
};

impl DirectionOrder {
    fn parse(arguments: Arguments<'_>) -> Result<Self, ArgumentError> {
        let parsed: Self = arguments.parse()?;
        let (dateline, ties) = choices(parsed.dateline, parsed.ties, false);
        Ok(Self {
            dateline,
            ties,
            ..parsed
        })
    }
}

impl RoutingEngine for DirectionOrder {
    fn is_drawn(&self) -> bool {
        false
    }

    fn need(&self) -> Option<Need> {
        Some(Need {
            engine: NAME,
            takes: |shape| matches!(shape, Shape::Grid(_)),
            links: Present::All(
                "direction order needs all links; use `UpDown()`, which routes any connected fabric",
            ),
        })
    }

    fn route(&self, graph: &Graph, budget: LaneBudget, _seed: u64) -> Result<Tables, RoutingError> {
        let Shape::Grid(shape) = graph.shape() else {
            return Err(regular::is_no(NAME, graph, "mesh or torus"));
        };
        let grid = GridRouting {
            engine: NAME,
            order: Order::Directions,
            dateline: self.dateline,
            ties: self.ties,
            unidirectional: false,
        };
        grid.tables(graph, shape, budget)
    }
}
