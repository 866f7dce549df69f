//! Routes one dimension after the other, lowest first: (concentrated) meshes, tori, hypercubes and `HyperX` networks.
//!
//! Guarantees: minimal unless `unidirectional` or with express channels, in order unless `lanes: Any`;
//! deadlock-free unless `dateline: None` on rings that need a dateline.
//! Needs: a mesh or torus ([`Shape::Grid`]), 2 lanes per group of service levels when a ring needs a
//! dateline, otherwise 1; or a hypercube ([`Shape::Hypercube`], where it is the e-cube routing) or a
//! [`Shape::HyperX`] or a [`Shape::ConcentratedMesh`] (see `express_mesh.rs`), 1 lane.
//! Fails with: [`RoutingError::TooFewLanes`]; [`RoutingError::Unsupported`] for other shapes, missing
//! links, `unidirectional` with open dimensions, and more than 7 dateline dimensions with `Path`.
//! Cost: time and memory O(switches * hosts * dimensions).
//!
//! # Algorithm
//! 1. Correct the lowest dimension where the coordinate differs from the destination's. In a hypercube or a
//!    `HyperX` one hop does.
//! 2. In a mesh or torus: direction, ties and lanes as in `grid_tables.rs`. `dateline: Auto` is `Path`, with
//!    `unidirectional` `Hop`. `ties: Auto` is `Balanced`, but `Positive` with `dateline: None`, which thus is
//!    OpenSM's `dor`.
//!
//! References: [`DALLY_SEITZ`], [`DALLY_TOWLES`] ch. 14, [`SULLIVAN_BASHKOW`] (hypercubes), [`AHN_HYPERX`],
//! OpenSM `osm_torus.c`

use super::express_mesh;
use super::grid_tables::{Dateline, GridRouting, Ties, choices};
use super::one_hop_dimensions;
use super::rings::Order;
use crate::references::{AHN_HYPERX, DALLY_SEITZ, DALLY_TOWLES, SULLIVAN_BASHKOW};
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::routing::adaptive::Lanes;
use crate::routing::regular::{self, Links as Present, Need};
use crate::routing::{BuildEngine, LaneBudget, RoutingEngine, RoutingError, Tables};
use crate::topology::{Graph, Shape};
use serde::Deserialize;

/// Dimension-order routing.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DimensionOrder {
    dateline: Dateline,
    ties: Ties,
    unidirectional: bool,
    lanes: Lanes,
}

const NAME: &str = "DimensionOrder";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &[],
    summary: "meshes (also concentrated), tori, hypercubes (e-cube) and HyperX, one dimension after the other",
    parameters: &[
        Parameter {
            name: "dateline",
            kind: "Auto, Path, Hop or None",
            default: Some("Auto"),
            summary: "lane by path (torus-2QoS), by hop (Dally and Seitz), or deadlock-prone",
        },
        Parameter {
            name: "ties",
            kind: "Auto, Balanced or Positive",
            default: Some("Auto"),
            summary: "direction at exactly half a ring: by parity of the coordinate, or always +",
        },
        Parameter {
            name: "unidirectional",
            kind: "true or false",
            default: Some("false"),
            summary: "use the + direction of every ring only",
        },
        Lanes::PARAMETER,
    ],
    guarantees: &[
        "minimal unless unidirectional or with express channels",
        "deadlock-free unless `dateline: None`",
        "in order unless `lanes: Any`",
    ],
    references: &[DALLY_SEITZ, DALLY_TOWLES, SULLIVAN_BASHKOW, AHN_HYPERX],
    build: |arguments| {
        let engine = DimensionOrder::parse(arguments)?;
        Ok(engine.lanes.engine(NAME, engine))
    },
};

impl DimensionOrder {
    fn parse(arguments: Arguments<'_>) -> Result<Self, ArgumentError> {
        let parsed: Self = arguments.parse()?;
        if parsed.dateline == Dateline::Path && parsed.unidirectional {
            return Err(ArgumentError {
                message: "`dateline: Path` needs paths of at most half a ring; with \
                          `unidirectional: true` use `dateline: Hop`"
                    .into(),
                line: 1,
                column: 1,
            });
        }
        let (dateline, ties) = choices(parsed.dateline, parsed.ties, parsed.unidirectional);
        Ok(Self {
            dateline,
            ties,
            ..parsed
        })
    }
}

impl RoutingEngine for DimensionOrder {
    fn is_drawn(&self) -> bool {
        false
    }

    fn need(&self) -> Option<Need> {
        let has_rings: fn(&Shape) -> bool = |shape| matches!(shape, Shape::Grid(_));
        let has_order: fn(&Shape) -> bool =
            |shape| regular::has_dimensions(shape) || matches!(shape, Shape::ConcentratedMesh(_));
        Some(Need {
            engine: NAME,
            takes: if self.unidirectional {
                has_rings
            } else {
                has_order
            },
            links: Present::All(
                "dimension order needs all links; use `UpDown()`, which routes any connected fabric",
            ),
        })
    }

    fn route(&self, graph: &Graph, budget: LaneBudget, _seed: u64) -> Result<Tables, RoutingError> {
        let unsupported = |reason: &str| Err(RoutingError::unsupported(NAME, reason));
        match graph.shape() {
            Shape::Grid(shape) => {
                let grid = GridRouting {
                    engine: NAME,
                    order: Order::Dimensions,
                    dateline: self.dateline,
                    ties: self.ties,
                    unidirectional: self.unidirectional,
                };
                grid.tables(graph, shape, budget)
            }
            Shape::Hypercube(_) | Shape::HyperX(_) | Shape::ConcentratedMesh(_)
                if self.unidirectional =>
            {
                unsupported("it has no rings to use in one direction; use `unidirectional: false`")
            }
            Shape::ConcentratedMesh(shape) => express_mesh::tables(graph, shape, budget, NAME),
            Shape::Hypercube(shape) => one_hop_dimensions::hypercube(graph, *shape, budget, NAME),
            Shape::HyperX(shape) => one_hop_dimensions::hyper_x(graph, shape, budget, NAME),
            _ => Err(regular::is_no(
                NAME,
                graph,
                "mesh, torus, hypercube or HyperX",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::ENGINES;
    use crate::routing::proof::dependency_graph::describe_cycle;
    use crate::routing::tests::conformance::{budget, engine, proof};
    use crate::routing::tests::graphs::grid;

    #[test]
    fn the_four_ring_without_dateline_waits_in_a_circle() {
        let graph = grid(&[4], true, 1);
        let (_, none) = proof(&graph, "DimensionOrder(dateline: None)", 1);
        assert!(!none.acyclic);
        assert_eq!(
            describe_cycle(&graph, &none.cycle.unwrap()),
            "S0 port 1 -> S1 port 2, lane 0, waits for\n\
             S1 port 1 -> S2 port 2, lane 0, waits for\n\
             S2 port 1 -> S3 port 2, lane 0, waits for\n\
             S3 port 1 -> S0 port 2, lane 0, waits for the first"
        );
        for text in [
            "DimensionOrder(ties: Positive)",
            "DimensionOrder(dateline: Hop, ties: Positive)",
        ] {
            assert!(proof(&graph, text, 2).1.acyclic);
            let error = engine(text).route(&graph, budget(1), 1).unwrap_err();
            assert!(matches!(
                error,
                RoutingError::TooFewLanes {
                    needed: 2,
                    available: 1,
                    ..
                }
            ));
        }
        // with balanced ties a ring of 4 needs no dateline, a ring of 5 does
        assert!(proof(&graph, "DimensionOrder()", 1).1.acyclic);
        let five = grid(&[5], true, 1);
        assert!(!proof(&five, "DimensionOrder(dateline: None)", 1).1.acyclic);
        assert!(
            engine("DimensionOrder()")
                .route(&five, budget(1), 1)
                .is_err()
        );
    }

    #[test]
    fn rings_used_one_way_need_the_hop_dateline() {
        for radix in [3, 4, 5, 8] {
            let graph = grid(&[radix], true, 1);
            let (_, proof) = proof(&graph, "DimensionOrder(unidirectional: true)", 2);
            assert!(proof.acyclic && !proof.minimal);
            assert_eq!(proof.max_hops, radix - 1);
        }
        let build = ENGINES.find("DimensionOrder").unwrap().build;
        let text = "(dateline: Path, unidirectional: true)";
        assert!(
            build(Arguments { text })
                .unwrap_err()
                .message
                .contains("Hop")
        );
    }
}
