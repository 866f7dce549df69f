//! What is read of all shards between windows: flits granted and crossed, packets under way.

use crate::cycle::ledger::Channels;
use crate::cycle::mechanisms::ahead::Ahead;
use crate::cycle::records::Records as Counters;
use crate::cycle::shown::Shown;
use crate::cycle::state::Place;
use crate::cycle::{Columns, Inspect};
use crate::fabric::components::NONE;
use crate::ids::{ChannelId, HostId};
use crate::measure::flow_counts::Amount;
use crate::measure::{FlowCounts, Records};
use crate::run::shards::Shards;
use bevy_ecs::world::World;

/// Collects the flit counters of all output lanes: what was granted.
pub(super) struct Sent<'a> {
    /// Outgoing channel of every port row of every shard.
    pub(super) channels: &'a [Vec<ChannelId>],
    /// Shard that comes next.
    pub(super) shard: usize,
    /// Lanes of a channel.
    pub(super) lanes: usize,
    /// Flits granted so far, `[channel * lanes + lane]`; lanes count modulo 2^32.
    pub(super) flits: Vec<u64>,
}

impl Inspect for Sent<'_> {
    fn look(&mut self, view: &dyn Columns) {
        let numbering = view.shared().numbering;
        for (port, channel) in Channels::new(&self.channels[self.shard]).enumerate() {
            for number in 0..self.lanes {
                let total = &mut self.flits[channel.index() * self.lanes + number];
                let sent = view.sent(numbering.lane(port, number as u32));
                *total += u64::from(sent.wrapping_sub(*total as u32));
            }
        }
        self.shard += 1;
    }
}

/// Of flits granted so far, `[channel * lanes + lane]`, those that have crossed (D22).
pub fn crossed(shards: &Shards, lanes: usize, granted: Vec<u64>) -> Vec<u64> {
    let mut crossed = Crossed {
        channels: shards.port_channels(),
        shard: 0,
        lanes,
        now: shards.now(),
        flits: granted,
    };
    shards.inspect(&mut crossed);
    crossed.flits
}

/// Takes what crosses later off what was granted.
struct Crossed<'a> {
    channels: &'a [Vec<ChannelId>],
    shard: usize,
    lanes: usize,
    now: u64,
    flits: Vec<u64>,
}

impl Inspect for Crossed<'_> {
    fn look(&mut self, view: &dyn Columns) {
        let ahead = Ahead::new(view, self.now);
        for (port, channel) in Channels::new(&self.channels[self.shard]).enumerate() {
            let first = channel.index() * self.lanes;
            ahead.each(port, |lane, flits| {
                self.flits[first + lane as usize] -= flits;
            });
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
        let Some(records) = view.resource::<Counters>() else {
            return;
        };
        let now = self.now;
        for (tail, slot) in view.calendar().ahead(now) {
            for &row in &slot.deliveries {
                let packet = &view.packets()[row];
                let record = &view.records()[row];
                let flits = records.arrived_by(now, tail, packet.destination, packet.size);
                let ends = [record.source, packet.destination].map(HostId);
                self.records.arrive(usize::from(record.class), ends, flits);
            }
        }
    }
}

/// Flits of a flow that have been delivered, rejected or dropped. O(shards)
pub fn gone(shards: &Shards, flow: u32) -> u64 {
    let place = shards.each::<Place>().next();
    let Some(end) = place.map(|place| place.shared.flow_ends[flow as usize]) else {
        return 0;
    };
    let dropped: u64 = (shards.worlds())
        .map(|world| Shown::lost(world, flow as usize).flits)
        .sum();
    let rejected = (shards.worlds().nth(end.shard as usize)).and_then(Shown::flows);
    let rejected = rejected.map_or(0, |flows| flows.rejected(end.row).flits);
    let delivered = shards.worlds().nth(end.tail_shard as usize);
    let delivered = delivered.map_or(0, |world| Shown::arrived(world, end.tail).delivered.flits);
    delivered + rejected + dropped
}

/// What flows have sent and what of it has arrived, by id. With the first cycle not simulated, packets whose tails are to
/// come count with the flits that have arrived within the measurement.
pub fn flow_counts(shards: &Shards, now: Option<u64>) -> Vec<FlowCounts> {
    let Some(place) = shards.each::<Place>().next() else {
        return Vec::new();
    };
    let ends = &place.shared.flow_ends;
    let worlds: Vec<&World> = shards.worlds().collect();
    let sent: Vec<_> = shards.worlds().filter_map(Shown::flows).collect();
    let mut partly = PartlyArrived {
        flits: vec![0; ends.len()],
        now: now.unwrap_or_default(),
    };
    if now.is_some() {
        shards.inspect(&mut partly);
    }
    let arrived = ends.iter().zip(partly.flits).enumerate();
    let arrived = arrived.map(|(id, (end, flits))| {
        let mut sent = sent[end.shard as usize].sent(end.row);
        sent.start = sent.start.filter(|&start| start < shards.now());
        let world = worlds[end.shard as usize];
        if let Some(senders) = Shown::of(world).senders {
            (senders.count)(world, end.row, &mut sent);
        }
        let mut arrived = Shown::arrived(worlds[end.tail_shard as usize], end.tail);
        arrived.received += flits;
        let mut dropped = Amount::default();
        for shard in &worlds {
            dropped.merge(Shown::lost(shard, id));
        }
        FlowCounts {
            sent,
            arrived,
            dropped,
        }
    });
    arrived.collect()
}

/// Flits that arrived within the measurement of packets whose tails are still to come, by flow.
struct PartlyArrived {
    flits: Vec<u64>,
    now: u64,
}

impl Inspect for PartlyArrived {
    fn look(&mut self, view: &dyn Columns) {
        let Some(records) = view.resource::<Counters>() else {
            return;
        };
        let classes = &view.shared().traffic.classes;
        for (tail, slot) in view.calendar().ahead(self.now) {
            for &row in &slot.deliveries {
                let (packet, record) = (&view.packets()[row], &view.records()[row]);
                if record.flow != NONE && classes[usize::from(record.class)].answers.is_none() {
                    let (destination, size) = (packet.destination, packet.size);
                    self.flits[record.flow as usize] +=
                        records.arrived_by(self.now, tail, destination, size);
                }
            }
        }
    }
}
