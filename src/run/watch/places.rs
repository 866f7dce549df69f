//! Where packets are between two cycles, by the channels of the fabric.

use super::super::simulation::Simulation;
use crate::cycle::Columns;
use crate::cycle::ledger::Channels;
use crate::fabric::components::{Packet, PacketRecord};
use crate::fabric::rows::LaneRow;
use crate::ids::ChannelId;
use crate::topology::Graph;

/// Place of a packet between two cycles.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Spot {
    /// Not in the fabric.
    #[default]
    Nowhere,
    /// In its host's queue of a lane, behind others.
    Source { lane: u8, ahead: u32 },
    /// On a channel to a switch, or there until it may request.
    Channel {
        into: ChannelId,
        lane: u8,
        /// First cycle in which it may request.
        requests: u64,
        /// Cycle in which its header arrives.
        arrives: u64,
    },
    /// In an input queue, behind others; what it wants once it is head and requests.
    Queue {
        ahead: u32,
        wants: Vec<(ChannelId, u8)>,
    },
    /// In an output lane, behind others.
    OutputLane {
        out: ChannelId,
        lane: u8,
        ahead: u32,
    },
    /// On the channel to its host, or being consumed there; delivered in that cycle.
    Ending { delivered: u64 },
}

/// The channels behind the rows of all shards.
pub(super) struct Places {
    /// Outgoing channel of every port row of every shard.
    pub(super) channels: Vec<Vec<ChannelId>>,
    /// Cycles per flit, `[channel]`.
    steps: Vec<u16>,
}

impl Places {
    pub(super) fn new(graph: &Graph, simulation: &Simulation) -> Self {
        let step = |channel| graph.channel(channel).timing.cycles_per_flit as u16;
        Self {
            channels: simulation.port_channels().to_vec(),
            steps: graph.channel_ids().map(step).collect(),
        }
    }

    /// Outgoing channel and number of a lane of a shard.
    pub(super) fn channel(
        &self,
        view: &dyn Columns,
        shard: usize,
        lane: LaneRow,
    ) -> (ChannelId, u8) {
        let numbering = &view.shared().numbering;
        let channels = Channels::new(&self.channels[shard]);
        let port = numbering.port(lane);
        (channels[port], numbering.number(lane) as u8)
    }

    /// A packet that may request from `at` on in the input lane `lane` of a shard.
    pub(super) fn flight(
        &self,
        view: &dyn Columns,
        shard: usize,
        lane: LaneRow,
        at: u64,
        packet: (&Packet, &PacketRecord),
    ) -> Spot {
        let fabric = view.shared();
        let (outgoing, lane_number) = self.channel(view, shard, lane);
        let incoming = outgoing.reverse();
        let pace = self.steps[incoming.index()];
        let row = fabric.numbering.port(lane);
        let input = &view.ins()[row];
        let delay = if view.place().is_host(row) {
            fabric.underrun(packet.0.size, pace, fabric.switch.sink_step)
        } else {
            fabric.pipeline(
                [view.switch_id(input.owner), input.table_start],
                packet,
                pace,
            )
        };
        Spot::Channel {
            into: incoming,
            lane: lane_number,
            requests: at,
            arrives: at - delay,
        }
    }
}
