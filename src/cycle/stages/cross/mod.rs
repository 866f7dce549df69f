//! Moves granted packets: out of their queue, over crossbar and channel, credits back to the sender.
//!
//! Stage: `Slot::Cross` (switch traversal, start of link traversal)
//! Reads: accepted grants
//! Writes: queue, input and output of the grant, credits of the output lane, calendar; the credit ramp of
//! the upstream lane, which counts from a later cycle on
//! Cost: O(accepted grants): one calendar entry for the next hop; wake-ups only where something waits
//!
//! # Rules
//! 1. A packet of `n` flits granted at `t` holds input, queue head and output until `t + n * s`, `s` the
//!    pace of the outgoing channel (model rule 2).
//! 2. All credits are taken at the grant (rule 5). Flit `k` frees its slot at the end of `t + k * s`: the
//!    sender's ramp starts at `t + credit latency` with step `s`.
//! 3. The next hop requests at `arrival + delay`, later by `(n - 1) * (s_in - s_out)` when it leaves faster
//!    than it arrives, or after its tail when packets are stored first (rules 3, 4).
//! 4. With an output buffer the channel starts the packet when it is free (rule 10). With output lanes the
//!    packet waits there for `Slot::Transmit`.
//!
//! # Deviations
//! None.

mod buffer;
mod emptied;

pub use self::buffer::OutputBuffers;

pub(in crate::cycle) use self::buffer::hold_channel;
use self::emptied::is_last;
use crate::cycle::columns::{self, OPEN_END};
use crate::cycle::joints::{Behind as _, LaneChoice as _, Way as _};
use crate::cycle::rules::RuleSet;
use crate::cycle::state::calendar::Ramp;
use crate::cycle::state::{CreditReturn, Departure, Grant};
use crate::cycle::view::View;
use crate::fabric::components::Peer;
use crate::fabric::mask::Mask;
use crate::fabric::rows::{LaneRow, PacketRow, PortRow, QueueRow};

pub(in crate::cycle) use self::emptied::clear_occupied;

/// Runs the stage.
#[inline(never)]
pub fn run<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>) {
    let first = is_first_round(view);
    settle(view, first);
    view.lists.settled = 0;
    if !view.lists.facts.granted {
        view.lists.grants.clear();
    }
}

/// Whether the grants that have not been carried out yet are of the first round of output-first matching.
pub(in crate::cycle) fn is_first_round<const W: usize, P: RuleSet>(view: &View<'_, W, P>) -> bool {
    view.shared.iterations() == 1 || view.lists.settled == 0
}

/// Carries out the accepted grants that have not been carried out yet; `first`: they are of the first round.
#[inline(never)]
pub(in crate::cycle) fn settle<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, first: bool) {
    let (mut hops, mut flits, mut longest) = (0, 0, view.lists.hops.longest);
    let mut grants = std::mem::take(&mut view.lists.grants);
    for grant in &mut grants[view.lists.settled..] {
        if grant.accepted && grant.packet == PacketRow::NONE {
            let queue = &view.queues[grant.queue];
            flits += u64::from(queue.size);
            longest = longest.max(queue.waited(view.now));
            grant.packet = carry_out::<W, P, true>(view, grant, first);
            hops += 1;
        }
    }
    view.lists.hops.packets += hops;
    view.lists.hops.flits += flits;
    view.lists.hops.longest = longest;
    view.lists.settled = grants.len();
    view.lists.grants = grants;
}

/// See [`carry_out_here`].
#[inline(never)]
pub(in crate::cycle) fn carry_out<const W: usize, P: RuleSet, const TURNS: bool>(
    view: &mut View<'_, W, P>,
    grant: &Grant,
    first: bool,
) -> PacketRow {
    carry_out_here::<W, P, TURNS>(view, grant, first)
}

/// Returns the packet. `first`: pointers over inputs and outputs move, as they do in the first round; without `TURNS` none does:
/// the grant was nobody's turn. Inlined, where a call for each hop would cost more than the code; not for channels that make
/// errors.
#[inline(always)]
pub(in crate::cycle) fn carry_out_here<const W: usize, P: RuleSet, const TURNS: bool>(
    view: &mut View<'_, W, P>,
    grant: &Grant,
    first: bool,
) -> PacketRow {
    // the constant first: sets without these options have no such copy
    if P::OTHER && view.shared.errors().is_some() {
        return with_errors::<W, P, TURNS>(view, grant, first);
    }
    carry_out_over::<W, P, TURNS, false>(view, grant, first)
}

/// The same over a channel that makes errors.
#[inline(never)]
fn with_errors<const W: usize, P: RuleSet, const TURNS: bool>(
    view: &mut View<'_, W, P>,
    grant: &Grant,
    first: bool,
) -> PacketRow {
    carry_out_over::<W, P, TURNS, true>(view, grant, first)
}

/// `ERRORS`: what the channel repeats comes late (D74).
#[inline(always)]
fn carry_out_over<const W: usize, P: RuleSet, const TURNS: bool, const ERRORS: bool>(
    view: &mut View<'_, W, P>,
    grant: &Grant,
    first: bool,
) -> PacketRow {
    if const { P::ADAPTIVE.is_possible() } && view.shared.is_adaptive() {
        view.withdraw(grant.queue, grant.lane, grant.bit);
    }
    let taken = take_head(view, grant);
    let mut until = view.now + u64::from(taken.flits) * u64::from(view.outs[grant.out].step);
    if view.shared.stalls(taken.flits) {
        until = view.hold(grant);
    }
    let start = hold_channel::<W, P, ERRORS>(view, grant.out, taken.flits, until);
    occupy_output::<W, P, TURNS>(view, grant, taken.flits, first);
    if view.shared.tables().is_some() {
        view.commit_grant(grant, taken.flits);
    }
    occupy_input::<W, P, TURNS>(view, grant, until, taken.emptied, first);
    if const { P::LANES.is_possible() } && view.shared.has_output_lanes() {
        view.enter(grant, taken.packet, taken.flits, until);
        return taken.packet;
    }
    let step = view.outs[grant.out].step;
    return_credits(view, grant.queue, grant.input, view.now, taken.flits, step);
    let channel = (grant.out, grant.lane);
    forward(view, channel, taken.packet, taken.flits, start);
    taken.packet
}

/// The packet of a grant, which has left its queue.
struct Taken {
    packet: PacketRow,
    flits: u16,
    /// The queue has no other packet.
    emptied: bool,
}

/// The head of the granted queue leaves it.
#[inline(always)]
fn take_head<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, grant: &Grant) -> Taken {
    let queue = &mut view.queues[grant.queue];
    let taken = Taken {
        packet: queue.head,
        flits: queue.size,
        emptied: queue.head == queue.tail,
    };
    let packet = &mut view.packets[taken.packet];
    packet.hops = packet.hops.saturating_add(1);
    queue.head = if taken.emptied {
        PacketRow::NONE
    } else {
        packet.next
    };
    queue.requesting = false;
    taken
}

/// Output side of the grant: credits, request, and its round robins (D3, D5 to D7); the output is looked at again if more requests
/// stand.
#[inline(always)]
fn occupy_output<const W: usize, P: RuleSet, const TURNS: bool>(
    view: &mut View<'_, W, P>,
    grant: &Grant,
    flits: u16,
    first: bool,
) {
    let (now, shared) = (view.now, view.shared);
    let out = &mut view.outs[grant.out];
    // a boundless lane keeps its credits, which cover any packet
    let taken = if out.is_boundless() { 0 } else { flits };
    if shared.pool() {
        view.lanes[shared.credit_row(grant.lane)].take(taken, now);
    }
    let lane = &mut view.lanes[grant.lane];
    if !shared.has_output_lanes() {
        lane.sent = lane.sent.wrapping_add(u32::from(flits));
    }
    if !shared.pool() {
        lane.take(taken, now);
    }
    lane.requests.remove(grant.bit);
    let number = shared.numbering.number(grant.lane);
    if lane.requests.is_empty() {
        out.request_lanes.remove(number);
        lane.need = 0;
    }
    if !out.request_lanes.is_empty() {
        out.wake_when_free(grant.out, view.calendar);
    }
    if !TURNS {
        return;
    }
    let is_data = !shared.management().contains(number);
    if is_data {
        out.lane_pointer = shared.numbering.after(number);
    }
    if is_data && grant.by_inputs {
        let request = (grant.bit, grant.lane);
        columns::advance(shared.numbering, out, &mut view.turns, request, first);
    } else if first {
        lane.pointer = Mask::<W>::after(grant.bit);
    }
}

/// Input side of the grant, and its round robin; `emptied`: its queue has no other packet.
#[inline(always)]
fn occupy_input<const W: usize, P: RuleSet, const TURNS: bool>(
    view: &mut View<'_, W, P>,
    grant: &Grant,
    until: u64,
    emptied: bool,
    first: bool,
) {
    let shared = view.shared;
    let clears = emptied && is_last(view, grant);
    let index = u16::from(view.outs[grant.out].index);
    let input = &mut view.ins[grant.input];
    if clears {
        // with queues per output that of the grant is for its output
        let classifier = shared.classifier();
        let mark = classifier.mark_for(shared.numbering, grant.queue, index.into());
        input.occupied.remove(mark);
    }
    if shared.speedup() != 1 {
        return occupy_place(view, grant, until);
    }
    if TURNS && first {
        input.accept_pointer = index + 1;
    }
    input.free_at = until;
    input.leaving_queue = grant.queue;
    let lanes = shared.numbering.beside(grant.bit);
    view.switches[input.owner].free.remove_all(lanes);
    if !input.occupied.is_empty() {
        input.wake_when_free(grant.input, view.calendar);
        if shared.reserve() {
            reopen_reserved(view, grant.input);
        }
    }
}

/// Input side of the grant where several packets may leave at a time.
fn occupy_place<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, grant: &Grant, until: u64) {
    let input = &mut view.ins[grant.input];
    input.leaving += 1;
    if input.leaving >= view.shared.speedup() {
        view.close_input(grant.input);
        if view.shared.reserve() {
            reopen_reserved(view, grant.input);
        }
    }
    view.queues[grant.queue].leaving = true;
    if until != OPEN_END {
        view.calendar.at(until).frees.push(grant.queue.into());
    }
}

/// An input that has no place left no longer holds turns it reserved (D9): the outputs its heads request
/// choose anew, in the next round of this cycle or in the next cycle.
fn reopen_reserved<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, input: PortRow) {
    for mark in view.ins[input].occupied {
        view.each_queue(input, mark, |view, queue| {
            let head = &view.queues[queue];
            if head.requesting {
                let out = head.out;
                view.calendar.at(view.now + 1).wakes.push(out);
                if view.shared.iterations() > 1 {
                    view.visit(out);
                }
            }
        });
    }
}

/// Slots of a packet that starts leaving at `start` come free one by one; the sender learns of it.
#[inline(always)]
pub(in crate::cycle) fn return_credits<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    queue: QueueRow,
    input: PortRow,
    start: u64,
    flits: u16,
    step: u16,
) {
    let (classifier, numbering) = (view.shared.classifier(), view.shared.numbering);
    let port = &view.ins[input];
    let lane_number = if view.shared.pool() {
        0
    } else {
        classifier.lane_number(numbering, queue)
    };
    let at = start + u64::from(port.credit_latency);
    match port.peer {
        Peer::Border => {
            view.lists.outgoing.credits.push(CreditReturn {
                border: port.from.border(),
                lane: lane_number,
                at,
                flits,
                step,
            });
        }
        Peer::Switch | Peer::Host | Peer::Sink => {
            let sender = view.shared.numbering.lane(port.from.port(), lane_number);
            // Counting from the next cycle on, the previous ramp of this lane has ended: no event needed.
            if at == view.now + 1 && !view.shared.stepped_credits() {
                view.ramp(sender, at, flits, step);
            } else {
                view.calendar.at(at).ramps.push(Ramp {
                    lane: sender,
                    flits,
                    step,
                });
            }
        }
    }
}

/// Sends the packet over its channel (output and its lane): the next hop's event. `start`: of the transmission without errors.
#[inline(always)]
pub(in crate::cycle) fn forward<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    (out_row, out_lane): (PortRow, LaneRow),
    packet_row: PacketRow,
    flits: u16,
    start: u64,
) {
    let out = &view.outs[out_row];
    let arrival = start + u64::from(out.latency);
    let step = out.step;
    let (to, peer) = (out.to, out.peer);
    let lane_number = view.shared.numbering.number(out_lane);
    let lane = view.shared.numbering.lane(to.port(), lane_number);
    match peer {
        Peer::Switch => {
            let at = arrival + view.pipeline_of(to.port(), packet_row, step);
            view.calendar.at(at).heads.push((lane, packet_row));
        }
        Peer::Host | Peer::Sink if view.shared.sink_step() == 0 => {
            let tail = arrival + u64::from(flits - 1) * u64::from(step);
            view.calendar.at(tail).deliveries.push(packet_row);
            if peer == Peer::Host {
                let at = arrival + u64::from(view.ins[to.port()].credit_latency);
                let sender = view.shared.credit_row(out_lane);
                view.calendar.at(at).ramps.push(Ramp {
                    lane: sender,
                    flits,
                    step,
                });
            }
        }
        Peer::Host | Peer::Sink => {
            let at = arrival + view.shared.underrun(flits, step, view.shared.sink_step());
            view.calendar.at(at).heads.push((lane, packet_row));
        }
        Peer::Border => {
            let border = view.place.border(to.border());
            let packet = (&view.packets[packet_row], &view.records[packet_row]);
            let at = arrival
                + view
                    .shared
                    .pipeline([border.switch, border.table_start], packet, step);
            view.lists.outgoing.packets.push(Departure {
                border: to.border(),
                lane: lane_number,
                at,
                packet: packet_row,
            });
        }
    }
}
