//! Conservation laws, checked between windows with `--check` and in tests (model section 6).
//!
//! # Laws
//! 1. Packets: created = rejected + in source queues + in the fabric + delivered.
//! 2. A packet is in exactly one place: a queue, an output lane, the calendar, the mail, or delivered.
//! 3. Credits of a lane: in hand + on their way back + taken by packets that have not been forwarded =
//!    capacity. Credits are never negative, so no lane exceeds its capacity.
//! 4. Packets of a flow arrive in the order of their numbers, where the routing engine promises it.
//!
//! Cost: O(state of the fabric) per check.

use super::inspect::Columns;
use crate::cycle::state::{Message, Shared};
use crate::fabric::components::NONE;
use crate::ids::ChannelId;

/// Sums over all shards.
#[derive(Debug, Default)]
pub struct Ledger {
    created: u64,
    rejected: u64,
    delivered: u64,
    waiting: u64,
    in_fabric: u64,
    /// Flits taken from each (channel, lane) by packets not forwarded yet, plus credits on their way.
    claimed: Vec<u64>,
    /// Credits in hand per (channel, lane); `None` where they are not counted.
    held: Vec<Option<u64>>,
    lanes: usize,
    broken: Option<String>,
}

impl Ledger {
    /// An empty ledger for a fabric.
    pub fn new(channels: usize, lanes: usize) -> Self {
        let rows = channels * lanes;
        Self {
            claimed: vec![0; rows],
            held: vec![None; rows],
            lanes,
            ..Self::default()
        }
    }

    /// Adds one shard; `channels` is the outgoing channel of each of its port rows.
    pub fn add(
        &mut self,
        view: &dyn Columns,
        channels: &[ChannelId],
        inbox: &[Message],
        all: &[Vec<ChannelId>],
    ) {
        let work = view.work();
        let totals = &work.records.totals;
        self.created += totals.created;
        self.rejected += totals.rejected;
        self.delivered += totals.delivered;
        self.waiting += work.source_queues.waiting();
        self.in_fabric += work.packets_in_use;
        if let (Some((source, destination, class, sequence)), None) =
            (work.records.overtaken(), &self.broken)
        {
            self.broken = Some(format!(
                "packet {sequence} of class {class} from host {source} to host {destination} was overtaken"
            ));
        }
        self.count_packets(view, channels);
        self.count_credits(view, channels);
        let shared = view.shared();
        self.count_mail(shared, inbox, channels);
        for (shard, mail) in work.outbox.iter().enumerate() {
            self.count_mail(shared, mail, &all[shard]);
        }
    }

    fn row(&self, channel: ChannelId, lane: u32) -> usize {
        channel.index() * self.lanes + lane as usize
    }

    /// Law 2, and the packets' side of law 3.
    fn count_packets(&mut self, view: &dyn Columns, channels: &[ChannelId]) {
        let shared = view.shared();
        let mut seen = vec![false; view.packets().len()];
        let mut found = 0;
        let mut places = Vec::new();
        let stride = shared.voq_stride.max(1);
        for (row, queue) in view.queues().iter().enumerate() {
            let mut packet = queue.head;
            while packet != NONE {
                places.push((packet, Some(row as u32 / stride)));
                packet = if packet == queue.tail {
                    NONE
                } else {
                    view.packets()[packet as usize].next
                };
            }
        }
        for slot in view.work().calendar.slots() {
            places.extend(
                slot.heads
                    .iter()
                    .map(|&(lane, packet)| (packet, Some(lane))),
            );
            places.extend(slot.deliveries.iter().map(|&packet| (packet, None)));
        }
        places.extend(self.count_output_lanes(view, channels));
        for (packet, lane) in places {
            found += 1;
            if std::mem::replace(&mut seen[packet as usize], true) {
                self.broken = Some(format!("packet row {packet} is in two places"));
            }
            if let Some(lane) = lane {
                let incoming = channels[(lane >> shared.lane_shift) as usize].reverse();
                let lane = if shared.pool {
                    0
                } else {
                    lane & shared.lane_mask
                };
                let row = self.row(incoming, lane);
                self.claimed[row] += u64::from(view.packets()[packet as usize].size);
            }
        }
        if found != view.work().packets_in_use {
            let used = view.work().packets_in_use;
            self.broken = Some(format!(
                "{used} packets are in the fabric, {found} have a place"
            ));
        }
    }

    /// Packets in output lanes and what they took: credits of the next hop, and of a packet larger than the
    /// buffer the slots in which its rest waits. Returns the packets, claimed here.
    fn count_output_lanes(
        &mut self,
        view: &dyn Columns,
        channels: &[ChannelId],
    ) -> Vec<(u32, Option<u32>)> {
        let shared = view.shared();
        let (buffer, stride) = (shared.output_lane_buffer, shared.voq_stride.max(1));
        let counted = |lane: u32| {
            if shared.pool {
                0
            } else {
                lane & shared.lane_mask
            }
        };
        let mut found = Vec::new();
        let lanes = &view.work().output_lanes;
        for (lane, waiting) in (0u32..).zip(&lanes.lanes) {
            let out = (lane >> shared.lane_shift) as usize;
            let (mut packet, mut flits) = (waiting.head, 0);
            while packet != NONE {
                found.push((packet, None));
                let size = u32::from(view.packets()[packet as usize].size);
                flits += size;
                if size > buffer {
                    let inside = waiting.queue / stride;
                    let incoming = channels[(inside >> shared.lane_shift) as usize].reverse();
                    let row = self.row(incoming, counted(inside));
                    self.claimed[row] += u64::from(size - buffer);
                }
                packet = view.packets()[packet as usize].next;
            }
            let row = self.row(channels[out], counted(lane));
            self.claimed[row] += u64::from(flits);
            if flits != waiting.flits {
                let known = waiting.flits;
                self.broken = Some(format!(
                    "an output lane counts {known} flits, its packets have {flits}"
                ));
            }
        }
        found
    }

    /// The sender's side of law 3.
    fn count_credits(&mut self, view: &dyn Columns, channels: &[ChannelId]) {
        let shared = view.shared();
        for (port, out) in view.outs().iter().enumerate() {
            if out.boundless {
                continue;
            }
            let lanes = if shared.pool { 0 } else { shared.lane_mask };
            for lane in 0..=lanes {
                let row = self.row(channels[port], lane);
                let (all, _) = view.credits(((port as u32) << shared.lane_shift) + lane);
                self.held[row] = Some(u64::from(all));
            }
        }
        for ramp in view
            .work()
            .calendar
            .slots()
            .iter()
            .flat_map(|slot| &slot.ramps)
        {
            let row = self.row(
                channels[(ramp.lane >> shared.lane_shift) as usize],
                ramp.lane & shared.lane_mask,
            );
            self.claimed[row] += u64::from(ramp.flits);
        }
    }

    fn count_mail(&mut self, shared: &Shared, mail: &[Message], channels: &[ChannelId]) {
        let shift = shared.lane_shift;
        let mask = if shared.pool { 0 } else { shared.lane_mask };
        for message in mail {
            match message {
                Message::Head { lane, packet, .. } => {
                    let row = self.row(channels[(lane >> shift) as usize].reverse(), lane & mask);
                    self.in_fabric += 1;
                    self.claimed[row] += u64::from(packet.size);
                }
                Message::Ramp { lane, flits, .. } => {
                    let row = self.row(channels[(lane >> shift) as usize], lane & mask);
                    self.claimed[row] += u64::from(*flits);
                }
            }
        }
    }

    /// Whether all laws hold, else the first that does not, in words.
    ///
    /// # Errors
    /// Names the law and the place.
    pub fn settle(
        mut self,
        capacity: u32,
        name: impl Fn(ChannelId) -> String,
    ) -> Result<(), String> {
        if let Some(broken) = self.broken.take() {
            return Err(broken);
        }
        let known = self.rejected + self.waiting + self.in_fabric + self.delivered;
        if self.created != known {
            return Err(format!(
                "{} packets were created, but {known} are accounted for ({} rejected, {} waiting, {} in the fabric, {} delivered)",
                self.created, self.rejected, self.waiting, self.in_fabric, self.delivered
            ));
        }
        for (row, held) in self.held.iter().enumerate() {
            let Some(held) = held else { continue };
            let sum = held + self.claimed[row];
            if sum != u64::from(capacity) {
                let channel = ChannelId::from(row / self.lanes);
                return Err(format!(
                    "credits of lane {} of {}: {held} held + {} on the way or occupied is not the capacity {capacity}",
                    row % self.lanes,
                    name(channel),
                    self.claimed[row]
                ));
            }
        }
        Ok(())
    }
}
