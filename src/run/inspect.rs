//! Read-only look at a shard's columns, without its mask width: for checks, reports and statistics.

use crate::cycle::state::{Shared, Work};
use crate::cycle::view::View;
use crate::fabric::components::{InPort, OutPort, Packet, PacketRecord, Queue};
use crate::ids::{ChannelId, HostId};
use crate::measure::Records;
use crate::run::shard::Inspect;

/// The columns of a shard.
pub trait Columns {
    /// The current cycle.
    fn now(&self) -> u64;
    /// Sending sides of ports.
    fn outs(&self) -> &[OutPort];
    /// Receiving sides of ports.
    fn ins(&self) -> &[InPort];
    /// Queues.
    fn queues(&self) -> &[Queue];
    /// Packet pool.
    fn packets(&self) -> &[Packet];
    /// Records of the packet pool.
    fn records(&self) -> &[PacketRecord];
    /// Credits a lane has or will have by the running ramp, and those that count now.
    fn credits(&self, lane: u32) -> (u32, u32);
    /// Credits of a lane that count in `cycle`, which is not before the current one.
    fn credits_in(&self, lane: u32, cycle: u64) -> u32;
    /// Flits a lane has sent since the start of the run, modulo 2^32.
    fn sent(&self, lane: u32) -> u32;
    /// Global id of a switch row.
    fn switch_id(&self, row: u32) -> u32;
    /// Tables and options.
    fn shared(&self) -> &Shared;
    /// Calendar and worklists.
    fn work(&self) -> &Work;
}

impl<const W: usize> Columns for View<'_, W> {
    fn now(&self) -> u64 {
        self.now
    }
    fn outs(&self) -> &[OutPort] {
        self.outs
    }
    fn ins(&self) -> &[InPort] {
        self.ins
    }
    fn queues(&self) -> &[Queue] {
        self.queues
    }
    fn packets(&self) -> &[Packet] {
        self.packets
    }
    fn records(&self) -> &[PacketRecord] {
        self.records
    }
    fn credits(&self, lane: u32) -> (u32, u32) {
        let row = &self.lanes[lane as usize];
        (
            row.credits + u32::from(row.ramp_flits),
            row.available(self.now),
        )
    }
    fn credits_in(&self, lane: u32, cycle: u64) -> u32 {
        self.lanes[lane as usize].available(cycle)
    }
    fn sent(&self, lane: u32) -> u32 {
        self.lanes[lane as usize].sent
    }
    fn switch_id(&self, row: u32) -> u32 {
        self.switches[row as usize].global
    }
    fn shared(&self) -> &Shared {
        self.shared.0
    }
    fn work(&self) -> &Work {
        self.work
    }
}

/// Collects the flit counters of all output lanes.
pub(super) struct Sent<'a> {
    /// Outgoing channel of every port row of every shard.
    pub(super) channels: &'a [Vec<ChannelId>],
    /// Shard that comes next.
    pub(super) shard: usize,
    /// Lanes of a channel.
    pub(super) lanes: usize,
    /// Flits sent so far, `[channel * lanes + lane]`; lanes count modulo 2^32.
    pub(super) flits: Vec<u64>,
}

impl Inspect for Sent<'_> {
    fn look(&mut self, view: &dyn Columns) {
        let shift = view.shared().lane_shift;
        for (port, channel) in self.channels[self.shard].iter().enumerate() {
            for lane in 0..self.lanes {
                let total = &mut self.flits[channel.index() * self.lanes + lane];
                let sent = view.sent((port << shift | lane) as u32);
                *total += u64::from(sent.wrapping_sub(*total as u32));
            }
        }
        self.shard += 1;
    }
}

/// Counts, in the records of a whole run, the flits that arrived within the measurement of packets whose tails are
/// still to come.
pub(super) struct Underway<'a> {
    /// Counters of the run.
    pub(super) records: &'a mut Records,
    /// First cycle not simulated; a shard that has nothing to do lags behind it.
    pub(super) now: u64,
}

impl Inspect for Underway<'_> {
    fn look(&mut self, view: &dyn Columns) {
        let records = &view.work().records;
        let now = self.now;
        for (tail, slot) in view.work().calendar.ahead(now) {
            for &row in &slot.deliveries {
                let packet = &view.packets()[row as usize];
                let record = &view.records()[row as usize];
                let flits = records.arrived_by(now, tail, packet.destination, packet.size);
                let ends = [record.source, packet.destination].map(HostId);
                self.records.arrive(usize::from(record.class), ends, flits);
            }
        }
    }
}
