//! Sends the packets that wait in output lanes: the queueing stage behind the crossbar.
//!
//! Stage: `Slot::Transmit` (VL arbitration of the channels, start of link traversal)
//! Reads: waiting packets of the channels that are due
//! Writes: waiting packets, channels, calendar (next hop, wake-ups of outputs), and for packets larger than
//! the buffer input and output of their crossbar grant, credits back to the sender
//! Cost: O(channels due): a channel is visited when it has waiting packets and is free and one is ready;
//! nothing without `output_lane_buffer`
//!
//! # Rules (D18)
//! 1. The crossbar grant puts a packet into the buffer of its output lane; one packet at a time passes to a
//!    lane, one grant per cycle to an output. It needs the lane to be *open*: no packet waits there, or the
//!    buffer holds all waiting packets, the rest of the lane's packet on the channel, and this one. Credits of
//!    the next hop are taken here, so a channel never waits for them.
//! 2. A free channel takes the first packet of a lane, from its crossbar grant + crossbar delay on: by VL tables
//!    with output-first matching or tables at inputs and channels (D70), else by round robin with a pointer of its own, VL15 first.
//! 3. A packet larger than the buffer stalls half-way: its flits from the buffer's size on leave the input one
//!    cycle after the channel made room. When the channel takes it, it is known until when input, queue and lane
//!    are held and when its slots come free.
//! 4. An output that waits for an open lane is woken when known flits have made room, or else when the channel
//!    takes the next packet of that lane.
//!
//! # Exactness
//! An output has one grant per cycle, so a packet that comes to a free channel for which none waits is the one that the channel would
//! take in this cycle's visit: it takes it at the grant. Nothing that happens in between looks at this channel, whose output is busy.
//!
//! # Deviations
//! None. References: [`IBA`](crate::references::IBA) section 7.6.9 (VL arbitration at the port's output).

pub(in crate::cycle::mechanisms) mod ledger;

use crate::cycle::columns::{OPEN_END, OutChannel, WaitingLane};
use crate::cycle::joints::{Behind, LaneChoice as _, Sending as _};
use crate::cycle::look;
use crate::cycle::mechanism::{Mechanism, ShardBuilder, Site};
use crate::cycle::rules::{RuleSet, with_rules};
use crate::cycle::slot::Slot;
use crate::cycle::stages::cross::{forward, return_credits};
use crate::cycle::state::{Grant, Place};
use crate::cycle::view::{Fabric, Transmission, View};
use crate::fabric::mask::LaneMask;
use crate::fabric::rows::{LaneRow, PacketRow, PortRow, Seen};
use crate::fabric::{Group, OutLane, OutPort};
use crate::plan::{Marking, Matching};
use crate::qos::vl_arbitration::VlChoice;
use bevy_ecs::world::World;

/// Output lanes as a mechanism: buffers of lanes and channels, and the stage that empties them. The crossbar's stage
/// fills them.
pub struct OutputLanes;

impl Mechanism for OutputLanes {
    fn of(site: &Site<'_>) -> Option<Self> {
        (site.plan.switch.output_lane_buffer != 0).then_some(Self)
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        shard.column::<Group<OutLane<W>>, Group<WaitingLane>>(Group::default());
        let by_pace = matches!(
            shard.site().plan.switch.marking,
            Some(Marking::InfiniBand { .. })
        );
        shard.column::<OutPort, OutChannel>(OutChannel {
            idle: if by_pace { 0 } else { OutChannel::UNASKED },
            ..OutChannel::default()
        });
        shard.shown().open = Some(open);
        if shard.site().shared.switch.single_flits {
            // `wormhole` puts single flits into them
            return;
        }
        shard.ledger(ledger::enter);
        let options = shard.site().shared;
        with_rules!(options, W, Set => if const { Set::LANES.is_possible() } {
            shard.system(Slot::Transmit, "transmit", system::<W, Set>);
        });
    }
}

/// Largest packet that a lane is open for in cycle `now`.
fn open(world: &World, lane: LaneRow, now: u64) -> u32 {
    let shared = &world.resource::<Place>().shared;
    let port = shared.numbering.port(lane);
    let outs: Seen<'_, PortRow, OutPort> = Seen::new(look::column(world));
    let channels: Seen<'_, PortRow, OutChannel> = Seen::new(look::column(world));
    let lanes: Seen<'_, LaneRow, WaitingLane> = Seen::new(look::grouped(world));
    let leaving = channels[port].leaving(lane, outs[port].step, now);
    lanes[lane].open_for(leaving, shared.switch.output_lane_buffer, now)
}

fn system<const W: usize, P: RuleSet>(
    mut fabric: Fabric<'_, '_, W>,
    mut channels: Transmission<'_, '_>,
) {
    if !fabric.events.lists().channel_visits.is_empty() {
        let rules = fabric.events.rules::<P>();
        fabric.view::<P>(channels.columns(rules)).transmit();
    }
}

/// An output lane, the channel behind it, and its cycles per flit.
#[inline(always)]
fn behind<'a, const W: usize, P: RuleSet>(
    view: &'a View<'_, W, P>,
    lane: LaneRow,
) -> (&'a WaitingLane, &'a OutChannel, u16) {
    let out = view.shared.numbering.port(lane);
    let (waiting, channel) = (&view.optional.waiting[lane], &view.optional.channels[out]);
    (waiting, channel, view.outs[out].step)
}

impl<const W: usize, P: RuleSet> Behind for View<'_, W, P> {
    #[inline(always)]
    fn room(&self, lane: LaneRow) -> u32 {
        let credits = self.credits(lane);
        if !self.shared.has_output_lanes() {
            return credits;
        }
        let (waiting, channel, step) = behind(self, lane);
        let buffer = self.shared.output_lane_buffer();
        let on_channel = channel.leaving(lane, step, self.now);
        credits.min(waiting.open_for(on_channel, buffer, self.now))
    }

    #[inline(always)]
    fn room_at(&self, lane: LaneRow, flits: u16) -> Option<u64> {
        let credits = self.lanes[self.shared.credit_row(lane)].ready_at(flits);
        if !self.shared.has_output_lanes() {
            return credits;
        }
        let (waiting, channel, step) = behind(self, lane);
        let buffer = self.shared.output_lane_buffer();
        let open = waiting.opens_at(channel, lane, buffer, step, flits)?;
        credits.map(|at| at.max(open))
    }

    fn hold(&mut self, grant: &Grant) -> u64 {
        if self.shared.speedup() == 1 {
            self.ins[grant.input].wake_scheduled = true;
        }
        let lane = &mut self.optional.waiting[grant.lane];
        lane.queue = grant.queue;
        lane.input = grant.input;
        OPEN_END
    }

    #[inline(always)]
    fn enter(&mut self, grant: &Grant, packet_row: PacketRow, flits: u16, until: u64) {
        let step = self.outs[grant.out].step;
        let passes = u32::from(flits).min(self.shared.output_lane_buffer()) as u16;
        return_credits(self, grant.queue, grant.input, self.now, passes, step);
        if is_taken_at_once(self, grant, flits) {
            self.optional.waiting[grant.lane].free_at = until;
            let number = self.shared.numbering.number(grant.lane);
            return start(self, (grant.out, number), (packet_row, flits), None);
        }
        let ready = self.now + self.shared.switch.crossbar_delay;
        self.records[packet_row].requested = ready;
        self.packets[packet_row].next = PacketRow::NONE;
        let lane = &mut self.optional.waiting[grant.lane];
        lane.flits += u32::from(flits);
        lane.free_at = until;
        if lane.head == PacketRow::NONE {
            lane.head = packet_row;
        } else {
            self.packets[lane.tail].next = packet_row;
        }
        lane.tail = packet_row;
        let channel = &mut self.optional.channels[grant.out];
        channel
            .waiting
            .insert(self.shared.numbering.number(grant.lane));
        let at = ready.max(channel.free_at);
        schedule(self, grant.out, at);
    }

    #[inline]
    fn transmit(&mut self) {
        let mut due = std::mem::take(&mut self.lists.channel_visits);
        for out in due.drain(..) {
            visit(self, out);
        }
        self.lists.channel_visits = due;
    }
}

/// Whether a packet that is granted now is the only one that its channel could take in this cycle, and would.
#[inline(always)]
fn is_taken_at_once<const W: usize, P: RuleSet>(
    view: &View<'_, W, P>,
    grant: &Grant,
    flits: u16,
) -> bool {
    let shared = view.shared;
    let channel = &view.optional.channels[grant.out];
    shared.switch.crossbar_delay == 0
        && shared.tables().is_none()
        && !shared.stalls(flits)
        && channel.free_at <= view.now
        && channel.waiting.is_empty()
}

/// Puts a channel on the agenda of cycle `at`. It is there already for no later cycle: packets get ready in the
/// order in which they enter.
pub(in crate::cycle::mechanisms) fn schedule<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    out: PortRow,
    at: u64,
) {
    let channel = &mut view.optional.channels[out];
    if !channel.scheduled {
        channel.scheduled = true;
        if at > view.now {
            view.calendar.at(at).starts.push(out);
        } else {
            view.lists.channel_visits.push(out);
        }
    }
}

/// Visits a free channel (rule 2).
fn visit<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, out: PortRow) {
    view.optional.channels[out].scheduled = false;
    let ready = ready_lanes(view, out, view.now);
    if let Some((lane, choice)) = choose(view, out, ready) {
        take(view, out, lane, choice);
    }
    let channel = &view.optional.channels[out];
    let (free_at, waiting) = (channel.free_at.max(view.now + 1), channel.waiting);
    if waiting.is_empty() {
        return;
    }
    if !ready_lanes(view, out, free_at).is_empty() {
        return schedule(view, out, free_at);
    }
    let later = heads(view, out).map(|(_, ready)| ready).min();
    if let Some(at) = later {
        schedule(view, out, at);
    }
}

/// First waiting packet of each lane of a channel: its lane number and the cycle from which it may be taken.
fn heads<const W: usize, P: RuleSet>(
    view: &View<'_, W, P>,
    out: PortRow,
) -> impl Iterator<Item = (u32, u64)> {
    let waiting = view.optional.channels[out].waiting;
    waiting.into_iter().map(move |number| {
        let lane = view.shared.numbering.lane(out, number);
        let head = view.optional.waiting[lane].head;
        (number, view.records[head].requested)
    })
}

/// Lanes whose first waiting packet may be taken in cycle `at`.
fn ready_lanes<const W: usize, P: RuleSet>(
    view: &View<'_, W, P>,
    out: PortRow,
    at: u64,
) -> LaneMask {
    if view.shared.switch.crossbar_delay == 0 {
        return view.optional.channels[out].waiting;
    }
    let ready = heads(view, out).filter(|&(_, ready)| ready <= at);
    ready.map(|(lane, _)| lane).collect()
}

/// The lane the channel serves among `ready` ones.
pub(in crate::cycle::mechanisms) fn choose<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    out: PortRow,
    ready: LaneMask,
) -> Option<(u32, Option<VlChoice>)> {
    if ready.is_empty() {
        return None;
    }
    let shared = view.shared;
    let by_tables = shared.matching() == Matching::OutputFirst || shared.tables_twice();
    if shared.tables().is_some() && by_tables {
        let choice = view.consult(out, ready)?;
        return Some((u32::from(choice.lane), Some(choice)));
    }
    let pointer = view.optional.channels[out].pointer;
    Some((shared.first_lane(ready, pointer), None))
}

/// The channel takes the first packet of a lane.
fn take<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    out: PortRow,
    number: u32,
    choice: Option<VlChoice>,
) {
    let lane = view.shared.numbering.lane(out, number);
    let waiting = &mut view.optional.waiting[lane];
    let packet_row = waiting.head;
    let packet = &mut view.packets[packet_row];
    let flits = packet.size;
    waiting.head = std::mem::replace(&mut packet.next, PacketRow::NONE);
    waiting.flits -= u32::from(flits);
    if waiting.head == PacketRow::NONE {
        view.optional.channels[out].waiting.remove(number);
    }
    start(view, (out, number), (packet_row, flits), choice);
}

/// A packet that has left its lane, or has not entered it, starts on the channel.
fn start<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    (out, number): (PortRow, u32),
    (packet_row, flits): (PacketRow, u16),
    choice: Option<VlChoice>,
) {
    let (now, shared) = (view.now, view.shared);
    let lane = shared.numbering.lane(out, number);
    let step = view.outs[out].step;
    let delay = view.late(out, flits);
    let channel = &mut view.optional.channels[out];
    if channel.idle != OutChannel::UNASKED {
        channel.lose(now, (flits, shared.traffic.largest), step);
    }
    channel.free_at = now + u64::from(flits) * u64::from(step) + delay;
    channel.taken_at = now;
    channel.lane = lane;
    channel.flits = flits;
    if !shared.management().contains(number) {
        channel.pointer = shared.numbering.after(number);
    }
    if let Some(choice) = choice {
        view.commit(out, choice, flits);
    }
    let row = &mut view.lanes[lane];
    row.sent = row.sent.wrapping_add(u32::from(flits));
    if shared.stalls(flits) {
        let granted = view.records[packet_row].requested - shared.switch.crossbar_delay;
        release(view, lane, granted, flits, step);
    }
    if view.lanes[lane].need != 0 {
        view.wake_with_room(out, lane);
    }
    forward(view, (out, lane), packet_row, flits, now + delay);
}

/// Rule 3: the channel takes the packet that stalls in the crossbar on its way to `lane`.
fn release<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    lane: LaneRow,
    granted: u64,
    flits: u16,
    step: u16,
) {
    let buffer = view.shared.output_lane_buffer();
    let pace = u64::from(step);
    let filled = u64::from(buffer) * pace;
    let resumes = (granted + filled).max(view.now + 1);
    let rest = (u32::from(flits) - buffer) as u16;
    let held_until = resumes + u64::from(rest) * pace;
    let lane = &mut view.optional.waiting[lane];
    lane.free_at = held_until;
    let (queue, input) = (lane.queue, lane.input);
    let slot = view.calendar.at(held_until);
    if view.shared.speedup() == 1 {
        view.ins[input].free_at = held_until;
        slot.frees.push(input.into());
    } else {
        slot.frees.push(queue.into());
    }
    return_credits(view, queue, input, resumes, rest, step);
}
