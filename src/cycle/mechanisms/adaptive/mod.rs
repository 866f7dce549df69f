//! Adaptive routing: a head chooses among its candidates, or requests them all.
//!
//! Part of `Slot::Route` (`choose`), `Slot::Deliver` (`offer`), `Slot::Arbitrate` (`preference`) and
//! `Slot::Cross` (`withdraw`).
//! Reads: the routing function, credits of the switch's outputs
//! Writes: course of the head, its requests, the streams of the inputs
//! Cost: O(candidates) per head, and per time it is offered again; nothing with tables
//!
//! # Rules (D20)
//! 1. At its first switch a packet gets its course, at later ones the course may change; candidates follow from it.
//! 2. Committed: one of them is requested: the first, one drawn, or one for which fewest flits wait, ties drawn.
//! 3. Open: all are requested; the accepted grant withdraws the others. Of the grants of a round an input accepts
//!    no escape before an escape, then the one with the least downstream, then by its pointer.
//! 4. Downstream = capacity minus credits in hand, before this cycle's arbitration: no output is granted twice in a
//!    cycle, so credits taken in it do not show. Waiting: see [`Contention`]. Load, for courses, is the sum of both.
//! 5. New heads of a cycle choose in the order of (input, lane), each behind those before it.
//! 6. Packets of VL15 go by tables of their own: a head of one has one request (D83).
//! 7. Open with VOQ: a packet stands in the queue of every output that it may take (D84, `standing`).
//!
//! # Deviations
//! None.

mod choice;
mod outputs;
mod standing;

use self::choice::{by_tables, choose, head_of, list, set_out};
use self::outputs::Head;
use crate::cycle::columns::{Choice, Contention, Request};
use crate::cycle::joints::Way;
use crate::cycle::look;
use crate::cycle::mechanism::{Mechanism, ShardBuilder, Site};
use crate::cycle::rules::{RuleSet, Rules};
use crate::cycle::stages::route::join;
use crate::cycle::state::{Adaptation, Place};
use crate::cycle::view::View;
use crate::fabric::components::Peer;
use crate::fabric::rows::{LaneRow, PacketRow, PortRow, QueueRow, Row as _, Rows, Seen};
use crate::fabric::{Group, OutLane, OutPort, Queue};
use crate::ids::ChannelId;
use crate::plan::OutputArbitration;
use crate::rng::{Purpose, Stream, stream};
use crate::routing::adaptive::Candidate;

/// Adaptive routing as a mechanism: a choice for every input queue. The heads are routed by the core's stage.
pub struct Adapting {
    /// Streams of the queues of switches.
    streams: Vec<Stream>,
}

impl Mechanism for Adapting {
    fn of(site: &Site<'_>) -> Option<Self> {
        site.shared.adaptation.as_ref()?;
        let lanes = 0..site.shared.numbering.lanes();
        let inputs = site.placement.switch_channels(site.graph, site.number);
        let streams = inputs.flat_map(|channel| {
            let input = channel.reverse();
            let lane = move |lane| stream(site.plan.seed, Purpose::Adaptive, draws(input, lane));
            lanes.clone().map(lane)
        });
        Some(Self {
            streams: streams.collect(),
        })
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        let Self { streams } = self;
        let classifier = shard.site().shared.switch.classifier;
        let start = move |row: usize| {
            let mut choice = Choice::default();
            // a lane has one stream, at its first queue
            let (queue, lane) = (QueueRow::of(row), classifier.lane(QueueRow::of(row)));
            let is_first = classifier.behind(lane, 0) == queue;
            if let Some(stream) = streams.get(lane.index()).filter(|_| is_first) {
                choice.stream.clone_from(stream);
            }
            choice
        };
        shard.column_by::<Group<Queue>, Group<Choice>>(move |number| Group::by(number, &start));
        shard.column::<Group<OutLane<W>>, Group<Contention>>(Group::default());
        if shard.site().shared.switch.open {
            shard.shown().requests = Some(|world| {
                let choices: Seen<'_, QueueRow, Choice> = Seen::new(look::grouped(world));
                Box::new(move |row| {
                    let requests = choices[row].requests.iter();
                    requests.map(|request| request.lane).collect()
                })
            });
            if shard.site().shared.sorts() {
                shard.shown().standing = Some(|world, lane| {
                    let classifier = world.resource::<Place>().shared.switch.classifier;
                    let choices: &[Choice] = look::grouped(world);
                    let first = &choices[classifier.behind(lane, 0).index()];
                    let standing = first.standing.as_ref();
                    standing.map_or(&[], |standing| standing.all())
                });
            }
            let single = shard.site().shared.switch.single_flits;
            shard.shown().empty = single.then_some(|world, row, lane| {
                let choices: Seen<'_, QueueRow, Choice> = Seen::new(look::grouped(world));
                choices[row].needs_empty(lane)
            });
        }
    }
}

/// Id of the stream of an input lane: lanes from 16 on are beyond the first 16 of all channels.
fn draws(input: ChannelId, lane: u32) -> u64 {
    let (group, lane) = (u64::from(lane / 16), u64::from(lane % 16));
    (group << 40) + u64::from(input.0) * 16 + lane
}

impl<const W: usize, P: RuleSet> Way for View<'_, W, P> {
    fn choose(&mut self, adaptation: &Adaptation) {
        let mut choosing = std::mem::take(&mut self.lists.choosing);
        choosing.drain(|queue| raise(self, adaptation, queue, self.queue_port(queue)));
        self.lists.choosing = choosing;
    }

    fn sort(&mut self, adaptation: &Adaptation, arrived: &[(LaneRow, PacketRow)]) {
        // lanes in the order of their rows are in that of (input, lane)
        let mut comers = std::mem::take(&mut self.lists.comers);
        for &(lane, packet) in arrived {
            if !self.place.is_host(self.shared.numbering.port(lane)) {
                comers.insert(lane, packet);
            }
        }
        comers.drain(|lane, packet| come(self, adaptation, (lane, packet)));
        self.lists.comers = comers;
    }

    fn rise(&mut self, queue: QueueRow) {
        standing::rise(self, queue);
    }

    fn retire(&mut self, lane: LaneRow, packet: PacketRow) {
        standing::retire(self, lane, packet);
    }

    fn offer(&mut self, queue: QueueRow) {
        let size = self.queues[queue].size;
        for i in 0..self.optional.choices[queue].requests.len() {
            let lane = self.optional.choices[queue].requests[i].lane;
            self.consider(self.shared.numbering.port(lane), lane, size);
        }
    }

    #[inline(always)]
    fn withdraw(&mut self, queue: QueueRow, lane: LaneRow, bit: u16) {
        let shared = self.shared;
        let contention = &mut self.optional.contention;
        let size = if shared.single_flits() {
            let size = self.packets[self.queues[queue].head].size;
            contention.hold(lane, size);
            size
        } else {
            let size = self.queues[queue].size;
            contention.remove((lane, shared.credit_row(lane)), size);
            size
        };
        if shared.sorts() && shared.open() {
            standing::leave(self, queue, lane, bit);
        } else if shared.open() {
            withdraw_others(self, queue, (lane, bit), size);
        }
    }

    #[inline]
    fn preference(&self, queue: QueueRow, lane: LaneRow) -> (bool, u32) {
        let Some(adaptation) = self.shared.adaptation() else {
            return (false, 0);
        };
        if !self.shared.open() {
            return (false, 0);
        }
        let requests = &self.optional.choices[queue].requests;
        let mut same = requests.iter().filter(|request| request.lane == lane);
        let escape = same.next().is_some_and(|request| request.escape);
        let credits = self.credits(lane);
        (escape, adaptation.capacity.saturating_sub(credits))
    }

    fn needs_empty(&self, queue: QueueRow, lane: LaneRow) -> bool {
        self.shared.open() && self.optional.choices[queue].needs_empty(lane)
    }

    fn is_empty_behind(&self, lane: LaneRow) -> bool {
        let out = &self.outs[self.shared.numbering.port(lane)];
        let capacity = self.shared.adaptation().map_or(0, |one| one.capacity);
        matches!(out.peer, Peer::Host | Peer::Sink) || self.credits(lane) >= capacity
    }

    fn release(&mut self, lane: LaneRow, flits: u16) {
        if self.shared.adaptation().is_some() {
            let row = self.shared.credit_lane(lane);
            self.optional.contention.release(row, flits);
        }
    }
}

/// The head that was granted requests nothing else any more.
#[inline(never)]
fn withdraw_others<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    queue: QueueRow,
    (granted, bit): (LaneRow, u16),
    size: u16,
) {
    let shared = view.shared;
    let requests = &mut view.optional.choices[queue].requests;
    let requests = requests.drain(..);
    for request in requests.filter(|request| request.lane != granted) {
        let contention = &mut view.optional.contention;
        contention.remove((request.lane, shared.credit_row(request.lane)), size);
        let columns = (&mut view.outs, &mut view.lanes);
        take_back(shared, columns, request.lane, bit);
    }
}

/// A head no longer requests a lane.
fn take_back<const W: usize, P: RuleSet>(
    shared: Rules<'_, P>,
    (outs, lanes): (
        &mut Rows<'_, PortRow, OutPort>,
        &mut Rows<'_, LaneRow, OutLane<W>>,
    ),
    lane: LaneRow,
    bit: u16,
) {
    let row = &mut lanes[lane];
    row.requests.remove(bit);
    // a packet may hold it
    if row.requests.is_empty() && !shared.single_flits() {
        row.need = 0;
        let out = shared.numbering.port(lane);
        outs[out]
            .request_lanes
            .remove(shared.numbering.number(lane));
    }
}

/// Routes the head of a queue and raises its requests.
#[inline(always)]
fn raise<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    adaptation: &Adaptation,
    queue: QueueRow,
    port_row: PortRow,
) {
    let packet = view.queues[queue].head;
    let head = head_of(view, adaptation, (queue, port_row), packet);
    if view.shared.open() {
        return raise_all(view, head, port_row);
    }
    let chosen = choose(view, head);
    request(view, head, &[chosen], port_row);
}

/// The same where heads request all candidates.
#[inline(never)]
fn raise_all<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    head: Head<'_>,
    port_row: PortRow,
) {
    if let Some(only) = by_tables(view, head) {
        return request(view, head, &[only], port_row);
    }
    let course = set_out(view, head);
    let mut found = std::mem::take(&mut view.lists.candidates);
    list(view, head, course, &mut found);
    request(view, head, &found, port_row);
    view.lists.candidates = found;
}

/// A packet has come.
#[inline(always)]
fn come<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    adaptation: &Adaptation,
    comer: (LaneRow, PacketRow),
) {
    if view.shared.open() {
        standing::come(view, adaptation, comer);
    } else {
        sort_in(view, adaptation, comer);
    }
}

/// D75: a packet that has come chooses, and joins the queue of its output.
fn sort_in<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    adaptation: &Adaptation,
    (lane, packet): (LaneRow, PacketRow),
) {
    let (classifier, numbering) = (view.shared.classifier(), view.shared.numbering);
    let place = (classifier.behind(lane, 0), numbering.port(lane));
    let head = head_of(view, adaptation, place, packet);
    let chosen = choose(view, head);
    let output = head.index(chosen.port);
    let number = head.first_lane + chosen.lane;
    let row = &mut view.packets[packet];
    (row.output, row.lane) = (output as u8, number);
    let size = row.size;
    let wanted = numbering.lane(head.first_port.plus(output), number.into());
    let contention = &mut view.optional.contention;
    contention.add((wanted, view.shared.credit_row(wanted)), size);
    let found = classifier.classify(numbering, lane, || output);
    join(view, found, (lane, packet), None);
}

/// Raises the requests of a head for all of `found`.
#[inline(always)]
fn request<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    head: Head<'_>,
    found: &[Candidate],
    port_row: PortRow,
) {
    let shared = view.shared;
    let input_lane = shared.classifier().lane(head.queue);
    let bit = shared.numbering.bit(head.first_port, input_lane);
    let flits = view.packets[head.packet].size;
    let size = shared.request_size(flits);
    let queue = &mut view.queues[head.queue];
    queue.size = size;
    queue.requesting = true;
    queue.since = view.now as u32;
    if shared.output_arbitration() == OutputArbitration::FirstComeFirstServed {
        view.records[head.packet].requested = view.now;
    }
    let is_management = view.packets[head.packet].key == head.adaptation.management_key();
    for candidate in found {
        let out = head.first_port.plus(head.index(candidate.port));
        let lane = head.first_lane + candidate.lane;
        queue.out = out;
        queue.out_lane = lane;
        view.outs[out].request_lanes.insert(u32::from(lane));
        let lane = shared.numbering.lane(out, u32::from(lane));
        debug_assert_eq!(
            input_lane,
            shared.numbering.input_lane(head.first_port, bit, lane)
        );
        view.lanes[lane].requests.insert(bit);
        let contention = &mut view.optional.contention;
        contention.add((lane, shared.credit_row(lane)), flits);
        if shared.open() {
            view.optional.choices[head.queue].requests.push(Request {
                lane,
                escape: candidate.escape,
                needs_empty: !candidate.escape && !is_management,
            });
        }
    }
    if !may_send(view, port_row, bit) {
        return;
    }
    if shared.open() {
        return view.offer(head.queue);
    }
    let queue = &view.queues[head.queue];
    let lane = shared.numbering.lane(queue.out, u32::from(queue.out_lane));
    view.consider(queue.out, lane, size);
}

/// Whether an input can send one more packet now; if not it is looked at when it can. `bit`: of the requests of a head of it.
#[inline(always)]
fn may_send<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    port_row: PortRow,
    bit: u16,
) -> bool {
    let shared = view.shared;
    let port = &mut view.ins[port_row];
    if shared.speedup() != 1 {
        return port.leaving < shared.speedup();
    }
    if port.free_at > view.now {
        port.wake_when_free(port_row, view.calendar);
        return false;
    }
    let lanes = shared.numbering.beside(bit);
    view.switches[port.owner].free.insert_all(lanes);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_input_lane_draws_from_a_stream_of_its_own() {
        let lanes = || (0..32).flat_map(|lane| (0..50).map(move |channel| (channel, lane)));
        let ids: BTreeSet<_> = lanes()
            .map(|(channel, lane)| draws(ChannelId(channel), lane))
            .collect();
        assert_eq!(ids.len(), 32 * 50);
        assert_eq!(draws(ChannelId(7), 15), 7 * 16 + 15);
        assert!(draws(ChannelId(u32::MAX), 15) < draws(ChannelId(0), 16));
    }
}
