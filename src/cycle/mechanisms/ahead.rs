//! Flits that channels have been granted and that have not crossed yet, by lane.
//!
//! Stage: `Slot::Observe`; only where the state of a channel does not tell the lanes: packets of several lanes booked ahead in
//! output buffers (D10), and VL15, whose grants move no pointer. Claims (D72), whose grants move none either, book them themselves
//! Reads: grants, packets that hosts have started, when channels are free
//! Writes: its own column
//! Cost: O(grants), of hosts O(packets of VL15 * log hosts)
//!
//! # Rules (D22)
//! 1. Lanes count whole packets, when their channel is granted. At an edge of a window that is too much by the flits that cross
//!    from the edge on. These cross back to back until the channel is free, one every pace: their number follows from that cycle.
//! 2. Without a buffer they are of one packet, of the lane that was granted last: the one before the pointer over lanes, VL15,
//!    or that of a claim.
//! 3. In an output buffer they may be of several packets: the ends of those that have not crossed are kept, with their lanes.
//! 4. A channel that repeats a packet (D74) is free later than its flits have crossed, which is their first time.
//! 5. Output lanes know the packet on their channel; single flits (D65) cross in the cycle in which they pass, without a buffer.

use crate::cycle::columns::{OutChannel, OutputBuffer};
use crate::cycle::look::Columns;
use crate::cycle::mechanism::{Mechanism, ShardBuilder, Site};
use crate::cycle::slot::Slot;
use crate::cycle::snapshot::Persistent;
use crate::cycle::state::{Calendar, Fact, Place, Worklists};
use crate::cycle::view::{Packets, column};
use crate::fabric::bit_errors::Retry;
use crate::fabric::rows::{HostRow, PortRow, Rows, Seen};
use crate::fabric::{Host, OutPort};
use bevy_ecs::change_detection::ContiguousMut;
use bevy_ecs::component::Component;
use bevy_ecs::prelude::{Query, Res};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A packet that a channel was granted.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Granted {
    /// Cycle after its last flit, without the crossbar delay.
    end: u64,
    flits: u16,
    /// Number of its lane.
    lane: u8,
}

/// Packets that a channel was granted and that may not have crossed, in the order in which they cross. Without an output
/// buffer those of VL15 and of claims only.
#[derive(Component, Clone, Debug, Default, Serialize, Deserialize)]
pub struct Booked(VecDeque<Granted>);

impl Persistent for Booked {}

impl Booked {
    /// A packet that is granted in cycle `now`, the last flit of which crosses before `end`; those that have crossed are forgotten.
    pub(super) fn add(&mut self, now: u64, end: u64, (flits, lane): (u16, u32)) {
        while self.0.front().is_some_and(|packet| packet.end <= now) {
            self.0.pop_front();
        }
        let lane = lane as u8;
        self.0.push_back(Granted { end, flits, lane });
    }
}

/// Lanes of packets that are booked ahead, as a mechanism.
pub enum Booking {
    /// Of all lanes.
    All,
    /// Of VL15.
    Management,
    /// Of claims, or of single flits (D77), which book themselves.
    Themselves,
}

impl Mechanism for Booking {
    const LOOKS_ON: bool = true;

    fn of(site: &Site<'_>) -> Option<Self> {
        let shared = site.shared;
        let has_buffers = shared.switch.output_buffer > 0;
        if shared.switch.single_flits {
            return has_buffers.then_some(Self::Themselves);
        }
        if !shared.switch.management.is_empty() {
            return Some(if has_buffers {
                Self::All
            } else {
                Self::Management
            });
        }
        if shared.numbering.is_single() {
            return (has_buffers && shared.errors.is_some()).then_some(Self::All);
        }
        let has_claims = site.plan.switch.allocation.claims.is_some();
        if has_buffers {
            Some(Self::All)
        } else if has_claims && shared.switch.output_lane_buffer == 0 {
            Some(Self::Themselves)
        } else {
            None
        }
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        shard.column::<OutPort, Booked>(Booked::default());
        if matches!(self, Self::Themselves) {
            return;
        }
        shard.subscribe(Fact::Granted);
        shard.subscribe(Fact::Sent);
        if matches!(self, Self::All) {
            shard.system(Slot::Observe, "booked_ahead", system::<true>);
        } else {
            shard.system(Slot::Observe, "booked_ahead", system::<false>);
        }
    }
}

/// `ALL`: packets of all lanes, not of VL15 only.
fn system<const ALL: bool>(
    place: Res<'_, Place>,
    calendar: Res<'_, Calendar>,
    lists: Res<'_, Worklists>,
    packets: Packets<'_, '_>,
    hosts: Query<'_, '_, &Host>,
    outs: Query<'_, '_, &OutPort>,
    (buffers, retries): (Query<'_, '_, &OutputBuffer>, Query<'_, '_, &Retry>),
    mut booked: Query<'_, '_, &mut Booked>,
) {
    if lists.grants.is_empty() && lists.sent.is_empty() {
        return;
    }
    let outs = outs.contiguous_iter().into_iter().flatten().next();
    let outs: Seen<'_, PortRow, OutPort> = Seen::new(outs.unwrap_or_default());
    let buffers = buffers.contiguous_iter().into_iter().flatten().next();
    let buffers: Seen<'_, PortRow, OutputBuffer> = Seen::new(buffers.unwrap_or_default());
    let retries = retries.contiguous_iter().into_iter().flatten().next();
    let retries: Seen<'_, PortRow, Retry> = Seen::new(retries.unwrap_or_default());
    let mut booked: Rows<'_, PortRow, Booked> = Rows::new(column!(booked));
    let (now, shared) = (calendar.now(), &place.shared);
    let management = shared.switch.management;
    let (packets, records) = packets.rows();
    // rule 5
    let known = shared.switch.output_lane_buffer > 0;
    let grants = lists.grants.iter().filter(|_| !known);
    for grant in grants.filter(|grant| grant.accepted) {
        let lane = shared.numbering.number(grant.lane);
        if ALL || management.contains(lane) {
            let free_at = free_at(&place, grant.out, &outs[grant.out], buffers);
            let end = free_at - Retry::late(retries, grant.out);
            booked[grant.out].add(now, end, (packets[grant.packet].size, lane));
        }
    }
    if management.is_empty() || lists.sent.is_empty() {
        return;
    }
    let hosts = hosts.contiguous_iter().into_iter().flatten().next();
    let hosts = hosts.unwrap_or_default();
    for &row in &lists.sent {
        if packets[row].key != shared.forwarding.management_key {
            continue;
        }
        let source = records[row].source;
        if let Ok(host) = hosts.binary_search_by_key(&source, |host| host.id) {
            let port = place.port(HostRow(host as u32));
            let end = outs[port].free_at - Retry::late(retries, port);
            booked[port].add(now, end, (packets[row].size, management.first()));
        }
    }
}

/// First cycle in which a channel is free of what it has been granted, without the crossbar delay; not with output lanes.
fn free_at(
    place: &Place,
    port: PortRow,
    out: &OutPort,
    buffers: Seen<'_, PortRow, OutputBuffer>,
) -> u64 {
    let buffer = buffers.get(port).filter(|_| !place.is_host(port));
    buffer.map_or(out.free_at, |buffer| {
        let delay = place.shared.switch.crossbar_delay;
        buffer.channel_free().saturating_sub(delay)
    })
}

/// What tells, in a shard, which flits cross in a cycle or later of those granted before it.
pub struct Ahead<'a> {
    now: u64,
    place: &'a Place,
    outs: Seen<'a, PortRow, OutPort>,
    buffers: Seen<'a, PortRow, OutputBuffer>,
    channels: Seen<'a, PortRow, OutChannel>,
    booked: Seen<'a, PortRow, Booked>,
    retries: Seen<'a, PortRow, Retry>,
}

impl<'a> Ahead<'a> {
    /// Before cycle `now`, the first that is not simulated.
    pub fn new(view: &'a dyn Columns, now: u64) -> Self {
        Self {
            now,
            place: view.place(),
            outs: view.outs(),
            buffers: view.column(),
            channels: view.column(),
            booked: view.column(),
            retries: view.column(),
        }
    }

    /// Tells lanes of a port, by number, with their flits.
    pub fn each(&self, port: PortRow, mut tell: impl FnMut(u32, u64)) {
        let (shared, out) = (&self.place.shared, &self.outs[port]);
        if shared.switch.output_lane_buffer > 0 && !self.place.is_host(port) {
            let channel = &self.channels[port];
            let flits = channel.leaving(channel.lane, out.step, self.now);
            if flits > 0 {
                tell(shared.numbering.number(channel.lane), flits.into());
            }
            return;
        }
        let left = |end: u64| end.saturating_sub(self.now) / u64::from(out.step);
        let mut told = 0;
        for packet in self.booked.get(port).iter().flat_map(|booked| &booked.0) {
            let flits = left(packet.end);
            if flits > told {
                // a channel that repeats one packet stands between two
                tell(packet.lane.into(), (flits - told).min(packet.flits.into()));
                told = flits;
            }
        }
        let free_at = free_at(self.place, port, out, self.buffers);
        let flits = left(free_at - Retry::late(self.retries, port));
        if flits > told {
            tell(shared.numbering.before(out.lane_pointer), flits - told);
        }
    }
}
