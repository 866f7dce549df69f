//! Tables of a mesh or torus that is routed ring by ring, with dateline lanes: what two engines share.
//!
//! Cost: time and memory O(switches * hosts * dimensions).
//!
//! # Algorithm
//! 1. In a dimension where the coordinate differs from the destination's, take the shorter way
//!    round. At exactly half the ring (the tie) [`Ties`] decide: `Balanced` goes + from even coordinates,
//!    `-` from odd ones, which loads both directions alike; `Positive` always goes +. After the
//!    first hop the way on is the shorter one, so the direction stays.
//! 2. In a ring of 2 the two links are parallel; they are shared by the parity of the destination host's
//!    place on its switch plus the destination's other coordinates.
//! 3. A ring needs a dateline when packets may wait for each other all the way round: no path of one
//!    hop does that, so rings up to 3 (one-way: up to 2) need none; neither does a ring of 4 with `Balanced`
//!    ties, where every second dependency is missing.
//! 4. [`Dateline::Path`] (torus-2QoS): bit `d` of the path layer tells whether the path crosses the link
//!    between coordinates `k - 1` and 0 of the `d`-th dateline dimension; on channels of that dimension the
//!    bit is the lane. Lane 0 misses the dependency over the dateline; lane 1 misses one on the other side,
//!    because a path is at most half a ring long.
//! 5. [`Dateline::Hop`] (Dally and Seitz): lane 1 while the dateline lies ahead in the current dimension (or
//!    is being crossed), then 0: also right when paths go nearly all the way round.

use super::rings::{Order, Rings};
use crate::ids::ChannelId;
use crate::routing::balance::require_nameable_ports;
use crate::routing::entries::Entries;
use crate::routing::{Guarantees, LaneBudget, LaneMap, RoutingError, Tables, UNREACHABLE};
use crate::topology::Graph;
use crate::topology::graph::GridShape;
use serde::Deserialize;

/// How rings are kept free of deadlock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) enum Dateline {
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
pub(super) enum Ties {
    /// `Balanced`, or `Positive` with `dateline: None`.
    #[default]
    Auto,
    /// + from even coordinates, - from odd ones.
    Balanced,
    /// Always +.
    Positive,
}

/// What an engine makes of a grid; no choice is `Auto` any more.
#[derive(Clone, Copy, Debug)]
pub(super) struct GridRouting {
    /// Registered name of the engine.
    pub(super) engine: &'static str,
    /// Order of the hops.
    pub(super) order: Order,
    /// Lanes of rings.
    pub(super) dateline: Dateline,
    /// Direction at half a ring.
    pub(super) ties: Ties,
    /// Use the + direction of every ring only.
    pub(super) unidirectional: bool,
}

impl GridRouting {
    /// Tables for the grid `shape` of `graph`.
    ///
    /// # Errors
    /// [`RoutingError::TooFewLanes`]; [`RoutingError::Unsupported`] for missing links, `unidirectional` with
    /// open dimensions, and more than 7 dateline dimensions with `Path`.
    pub(super) fn tables(
        self,
        graph: &Graph,
        shape: &GridShape,
        budget: LaneBudget,
    ) -> Result<Tables, RoutingError> {
        require_nameable_ports(graph, self.engine)?;
        let rings = self.rings(shape)?;
        let datelines = rings.dateline_count();
        let dateline = if datelines == 0 {
            Dateline::None
        } else {
            self.dateline
        };
        let lanes_needed = if dateline == Dateline::None { 1 } else { 2 };
        budget.require(self.engine, lanes_needed)?;
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
        let next = self.next(graph, &rings)?;
        let lanes = LaneMap::grouped(graph, budget, layers, lanes_needed, lane);
        let guarantees = Guarantees {
            minimal: !rings.detours(),
            deadlock_free: datelines == 0 || dateline != Dateline::None,
            in_order: true,
            lanes_needed,
        };
        Ok(Tables {
            hop_layer: Entries::new(&hop_layer, graph.hosts().len()),
            ..Tables::by_destination(graph, self.engine, next, path_layer, lanes, guarantees)
        })
    }

    /// The rings of `shape` under these rules.
    fn rings(self, shape: &GridShape) -> Result<Rings<'_>, RoutingError> {
        let open = shape.radix.iter().zip(&shape.wrap);
        if self.unidirectional && open.into_iter().any(|(&radix, &wrap)| radix > 1 && !wrap) {
            return Err(self.unsupported(
                "an open dimension cannot be routed in one direction; use `unidirectional: false`",
            ));
        }
        let balanced = self.ties == Ties::Balanced;
        let rings = Rings::new(shape, self.order, balanced, self.unidirectional);
        if self.dateline == Dateline::Path && rings.dateline_count() > 7 {
            return Err(
                self.unsupported("more than 7 dimensions need a dateline; use `dateline: Hop`")
            );
        }
        Ok(rings)
    }

    /// Steps 1 and 2 for every (switch, host).
    fn next(self, graph: &Graph, rings: &Rings<'_>) -> Result<Vec<u8>, RoutingError> {
        let mut next = Vec::with_capacity(graph.switches().len() * graph.hosts().len());
        for switch in graph.switch_ids() {
            for host in graph.host_ids() {
                let attached = || graph.attachment(host).map(|(_, port)| port);
                let port = rings.port(switch, host).or_else(attached);
                let port = port.unwrap_or(u16::from(UNREACHABLE));
                if graph.port_channel(switch, port).is_none() {
                    return Err(self.unsupported(&format!(
                        "{} port {port} has no link; use `UpDown()`, which needs no complete torus",
                        graph.switches()[switch.index()].name
                    )));
                }
                next.push(port as u8);
            }
        }
        Ok(next)
    }

    fn unsupported(self, reason: &str) -> RoutingError {
        RoutingError::unsupported(self.engine, reason)
    }
}

/// `Auto` choices replaced, for rings used in both directions or in one.
pub(super) fn choices(dateline: Dateline, ties: Ties, one_way: bool) -> (Dateline, Ties) {
    let dateline = match (dateline, one_way) {
        (Dateline::Auto, true) => Dateline::Hop,
        (Dateline::Auto, false) => Dateline::Path,
        (dateline, _) => dateline,
    };
    let ties = match (ties, dateline) {
        (Ties::Auto, Dateline::None) => Ties::Positive,
        (Ties::Auto, _) => Ties::Balanced,
        (ties, _) => ties,
    };
    (dateline, ties)
}
