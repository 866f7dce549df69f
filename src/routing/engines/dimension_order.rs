//! Routes meshes and tori one dimension after the other, lowest first, with dateline lanes on rings.
//!
//! Guarantees: minimal unless `unidirectional`, in order; deadlock-free unless `dateline: None` on rings
//! that need a dateline.
//! Needs: a mesh or torus ([`Shape::Grid`]); 2 lanes per group of service levels when a ring needs a
//! dateline, otherwise 1.
//! Fails with: [`RoutingError::TooFewLanes`]; [`RoutingError::Unsupported`] for other shapes, missing
//! links, `unidirectional` with open dimensions, and more than 7 dateline dimensions with `Path`.
//! Cost: time and memory O(switches * hosts * dimensions).
//!
//! # Algorithm
//! 1. In the lowest dimension where the coordinate differs from the destination's, take the shorter way
//!    round. At exactly half the ring (the tie) `ties` decides: `Balanced` goes + from even coordinates,
//!    `-` from odd ones, which loads both directions alike; `Positive` always goes + (OpenSM). After the
//!    first hop the way on is the shorter one, so the direction stays. `Auto` is `Balanced`, but `Positive`
//!    with `dateline: None`, which thus is OpenSM's `dor`.
//! 2. In a ring of 2 the two links are parallel; they are shared by the parity of the destination host's
//!    place on its switch plus the destination's other coordinates.
//! 3. A ring needs a dateline when packets may wait for each other all the way round: no path of one
//!    hop does that, so rings up to 3 (one-way: up to 2) need none; neither does a ring of 4 with `Balanced`
//!    ties, where every second dependency is missing.
//! 4. `Path` (torus-2QoS): bit `d` of the path layer tells whether the path crosses the link between
//!    coordinates `k - 1` and 0 of the `d`-th dateline dimension; on channels of that dimension the bit is
//!    the lane. Lane 0 misses the dependency over the dateline; lane 1 misses one on the other side,
//!    because a path is at most half a ring long.
//! 5. `Hop` (Dally and Seitz): lane 1 while the dateline lies ahead in the current dimension (or is being
//!    crossed), then 0: also right when paths go nearly all the way round (`unidirectional`).
//!
//! References: [`DALLY_SEITZ`],
//! [`DALLY_TOWLES`] ch. 14, OpenSM `osm_torus.c`

use super::rings::Rings;
use crate::ids::ChannelId;
use crate::references::{DALLY_SEITZ, DALLY_TOWLES};
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::routing::balance::require_nameable_ports;
use crate::routing::{
    BuildEngine, Guarantees, LaneBudget, LaneMap, RoutingEngine, RoutingError, Tables,
};
use crate::topology::graph::GridShape;
use crate::topology::{Graph, Shape};
use serde::Deserialize;

/// How rings are kept free of deadlock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum Dateline {
    /// `Path`, or `Hop` when unidirectional.
    #[default]
    Auto,
    /// The lane is a property of the path.
    Path,
    /// The lane changes at the dateline.
    Hop,
    /// Not at all.
    None,
}

/// Direction at exactly half a ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum Ties {
    /// `Balanced`, or `Positive` with `dateline: None`.
    #[default]
    Auto,
    /// + from even coordinates, - from odd ones.
    Balanced,
    /// Always +.
    Positive,
}

/// Dimension-order routing.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DimensionOrder {
    dateline: Dateline,
    ties: Ties,
    unidirectional: bool,
}

const NAME: &str = "DimensionOrder";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &["DOR", "dor"],
    summary: "meshes and tori, one dimension after the other, with dateline lanes on rings",
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
    ],
    guarantees: &[
        "minimal unless unidirectional",
        "deadlock-free unless `dateline: None`",
        "in order",
    ],
    references: &[DALLY_SEITZ, DALLY_TOWLES],
    build: |arguments| Ok(Box::new(DimensionOrder::parse(arguments)?)),
};

impl DimensionOrder {
    fn parse(arguments: Arguments<'_>) -> Result<Self, ArgumentError> {
        let mut parsed: Self = arguments.parse()?;
        parsed.dateline = match (parsed.dateline, parsed.unidirectional) {
            (Dateline::Path, true) => {
                return Err(ArgumentError {
                    message: "`dateline: Path` needs paths of at most half a ring; with \
                              `unidirectional: true` use `dateline: Hop`"
                        .into(),
                    line: 1,
                    column: 1,
                });
            }
            (Dateline::Auto, true) => Dateline::Hop,
            (Dateline::Auto, false) => Dateline::Path,
            (dateline, _) => dateline,
        };
        if parsed.ties == Ties::Auto {
            parsed.ties = match parsed.dateline {
                Dateline::None => Ties::Positive,
                _ => Ties::Balanced,
            };
        }
        Ok(parsed)
    }

    /// The rings of `shape` under these parameters.
    fn rings(self, shape: &GridShape) -> Result<Rings<'_>, RoutingError> {
        let open = shape.radix.iter().zip(&shape.wrap);
        if self.unidirectional && open.into_iter().any(|(&radix, &wrap)| radix > 1 && !wrap) {
            return Err(unsupported(
                "an open dimension cannot be routed in one direction; use `unidirectional: false`",
            ));
        }
        let rings = Rings::new(shape, self.ties == Ties::Balanced, self.unidirectional);
        if self.dateline == Dateline::Path && rings.dateline_count() > 7 {
            return Err(unsupported(
                "more than 7 dimensions need a dateline; use `dateline: Hop`",
            ));
        }
        Ok(rings)
    }
}

impl RoutingEngine for DimensionOrder {
    fn route(&self, graph: &Graph, budget: LaneBudget, _seed: u64) -> Result<Tables, RoutingError> {
        let Shape::Grid(shape) = graph.shape() else {
            return Err(unsupported(
                "it is not a mesh or torus; use `UpDown()`, which routes any connected fabric",
            ));
        };
        require_nameable_ports(graph, NAME)?;
        let rings = self.rings(shape)?;
        let datelines = rings.dateline_count();
        let dateline = if datelines == 0 {
            Dateline::None
        } else {
            self.dateline
        };
        let lanes_needed = if dateline == Dateline::None { 1 } else { 2 };
        if budget.lanes < lanes_needed {
            return Err(RoutingError::TooFewLanes {
                engine: NAME,
                needed: lanes_needed,
                available: budget.lanes,
            });
        }
        let (layers, hop_layer, path_layer) = match dateline {
            Dateline::Path => (1 << datelines, Vec::new(), rings.path_layers(graph)),
            Dateline::Hop => (2, rings.hop_layers(graph), Vec::new()),
            _ => (1, Vec::new(), Vec::new()),
        };
        let lane = |channel: ChannelId, layer: u8| match rings.dateline_of(graph, channel) {
            Some(bit) if dateline == Dateline::Path => layer >> bit & 1,
            Some(_) if dateline == Dateline::Hop => layer,
            _ => 0,
        };
        Ok(Tables {
            engine: NAME.into(),
            next: next(graph, &rings)?,
            input_row: Vec::new(),
            hop_layer,
            path_layer,
            lanes: LaneMap::grouped(graph, budget, layers, lanes_needed, lane),
            guarantees: Guarantees {
                minimal: !rings.detours(),
                deadlock_free: datelines == 0 || dateline != Dateline::None,
                in_order: true,
                lanes_needed,
            },
            remarks: Vec::new(),
            host_count: graph.hosts().len(),
            switch_count: graph.switches().len(),
        })
    }
}

fn unsupported(reason: &str) -> RoutingError {
    RoutingError::Unsupported {
        engine: NAME,
        reason: reason.to_owned(),
    }
}

/// Steps 1 and 2 for every (switch, host).
fn next(graph: &Graph, rings: &Rings<'_>) -> Result<Vec<u8>, RoutingError> {
    let mut next = Vec::with_capacity(graph.switches().len() * graph.hosts().len());
    for switch in graph.switch_ids() {
        for host in graph.host_ids() {
            let port = rings.port(switch, host);
            if graph.port_channel(switch, port).is_none() {
                return Err(unsupported(&format!(
                    "{} port {port} has no link; use `UpDown()`, which needs no complete torus",
                    graph.switches()[switch.index()].name
                )));
            }
            next.push(port as u8);
        }
    }
    Ok(next)
}
