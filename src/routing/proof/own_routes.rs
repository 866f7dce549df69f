//! What waits for what on routes that flows have beside the tables (D66 of the model).
//!
//! Cost: O(channels of all routes), and the search for a cycle.

use super::dependency_graph::DependencyGraph;
use super::set_up::{self, SetUpRoutes};
use super::statement::{Proof, VerifyError};
use crate::ids::{ChannelId, SlId, VlId};
use crate::routing::Tables;
use crate::topology::Graph;

/// What packets go over beside the ways of tables.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beside<'a> {
    /// Routes that are known.
    pub routes: &'a [OwnRoute<'a>],
    /// Routes that may be set up.
    pub set_ups: &'a [SetUpRoutes],
}

/// A route of packets of a service level, which carry no layer.
#[derive(Clone, Copy, Debug)]
pub struct OwnRoute<'a> {
    /// From the channel of the source to that to the destination.
    pub channels: &'a [ChannelId],
    /// The service level.
    pub level: SlId,
}

impl OwnRoute<'_> {
    /// The channels with their lanes; `is_merged`: all lanes of a channel are one.
    pub(super) fn lanes(
        &self,
        tables: &Tables,
        is_merged: bool,
    ) -> impl Iterator<Item = (ChannelId, VlId)> {
        let mut before = None;
        self.channels.iter().map(move |&channel| {
            let lane = match before {
                _ if is_merged => VlId(0),
                None => tables.lanes.injection_lane(channel, self.level, 0),
                Some(input) => tables.lanes.lane(input, channel, self.level, 0),
            };
            before = Some(channel);
            (channel, lane)
        })
    }
}

/// Adds the steps of routes to those of the tables, and to what was found of these; a channel has so many `lanes`, 1: all are
/// one.
pub(super) fn extend(
    (graph, tables): (&Graph, &Tables),
    beside: &Beside<'_>,
    lanes: u8,
    dependencies: &DependencyGraph<'_>,
    proof: &mut Proof,
) -> Result<(), VerifyError> {
    if beside.routes.is_empty() && beside.set_ups.is_empty() {
        return Ok(());
    }
    set_up::add(graph, tables, beside.set_ups, lanes, dependencies)?;
    let is_inner = |channel: ChannelId| {
        let ends = graph.channel(channel);
        ends.from.switch().is_some() && ends.to.switch().is_some()
    };
    for route in beside.routes {
        let mut before = None;
        for (channel, lane) in route.lanes(tables, lanes == 1) {
            if !is_inner(channel) {
                before = None;
                continue;
            }
            dependencies.add_vertex(channel, lane);
            if let Some((from, from_lane)) = before {
                dependencies.add(from, from_lane, channel, lane);
            }
            before = Some((channel, lane));
        }
    }
    proof.channels_used = dependencies.channels_used();
    proof.dependencies = dependencies.dependencies();
    proof.vertices = dependencies.vertices();
    proof.cycle = dependencies.find_cycle();
    proof.acyclic = proof.cycle.is_none();
    Ok(())
}
