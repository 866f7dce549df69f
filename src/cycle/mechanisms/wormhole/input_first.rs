//! Input-first matching of single flits (D79): inputs propose flits, outputs choose among the proposals to them.
//!
//! Stage: `Slot::Arbitrate`, in place of `outputs`, only with `matching: InputFirst`
//! Reads: as `outputs`
//! Writes: as `outputs`, and the pointers and arbiters of inputs
//! Cost: O(requests of the outputs visited * log of them)
//!
//! # Rules
//! 1. What is eligible is what makes lanes of visited outputs ready: an output that has a ready lane is visited. Queues have one of them
//!    each, since a packet holds or requests one lane, but those of headers that request several (D82), of which one is proposed.
//! 2. What an input or an output has left over is looked at in the next cycle.
//!
//! # Deviations
//! None. References: [`DALLY_TOWLES`](crate::references::DALLY_TOWLES) chapter 19 (input-first separable allocation)

use super::accept::NO_PICK;
use super::passing::{Aboard, Passing, Pick};
use super::ready::Ready;
use crate::cycle::columns::Age;
use crate::cycle::joints::{LaneChoice as _, Way as _};
use crate::cycle::rules::Any;
use crate::cycle::stages::arbitrate::proposals::{after, place};
use crate::cycle::state::Grant;
use crate::cycle::view::{Fabric, InputArbiters, column};
use crate::fabric::Group;
use crate::fabric::mask::LaneMask;
use crate::fabric::rows::{LaneRow, PacketRow, PortRow, QueueRow, Rows};
use crate::plan::OutputArbitration;
use crate::qos::vl_arbitration::VlChoice;
use crate::rng::below;
use bevy_ecs::change_detection::ContiguousMut;
use bevy_ecs::prelude::{Local, Query};

/// A flit that an input proposes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proposal {
    pick: Pick,
    choice: Option<VlChoice>,
    /// Place of its input lane within the switch.
    place: u16,
    /// What the choice among them goes by, the least first, where it is neither by turn nor at random.
    since: u64,
}

/// The system of `Slot::Arbitrate`.
pub(super) fn system<const W: usize>(
    mut fabric: Fabric<'_, '_, W>,
    mut arbiters: InputArbiters<'_, '_>,
    mut aboard: Aboard<'_, '_>,
    mut ages: Query<'_, '_, &mut Group<Age>>,
    (mut eligible, mut proposals): (Local<'_, Vec<Pick>>, Local<'_, Vec<Proposal>>),
) {
    if fabric.events.lists().visits.is_empty() {
        return;
    }
    let view = fabric.view::<Any>(arbiters.columns(fabric.events.rules::<Any>()));
    let mut matching = Matching {
        passing: aboard.passing(view, &mut eligible),
        ages: Rows::new(column!(ages)),
        proposals: &mut proposals,
    };
    matching.collect();
    for round in 0..matching.passing.view.shared.iterations() {
        matching.propose();
        if matching.proposals.is_empty() {
            break;
        }
        matching.decide(round == 0);
        matching.leave_out_passed();
    }
    let next = matching.passing.view.now + 1;
    let passing = &mut matching.passing;
    for number in 0..passing.picks.len() {
        passing.wake(passing.picks[number].out, next);
    }
    passing.picks.clear();
}

/// The matching of a cycle.
struct Matching<'a, const W: usize> {
    /// Its picks are what is eligible, in the order of inputs, their lanes and outputs.
    passing: Passing<'a, W>,
    /// Where the choice among proposals asks for it.
    ages: Rows<'a, LaneRow, Age>,
    proposals: &'a mut Vec<Proposal>,
}

impl<const W: usize> Matching<'_, W> {
    /// Rule 1.
    fn collect(&mut self) {
        let passing = &mut self.passing;
        let mut visits = std::mem::take(&mut passing.view.lists.visits);
        for out in visits.drain(..) {
            passing.each_ready(out);
        }
        passing.view.lists.visits = visits;
        let view = &passing.view;
        let (classifier, outs) = (view.shared.classifier(), view.outs.seen());
        passing.picks.sort_unstable_by_key(|pick| {
            let lane = classifier.lane(pick.queue);
            (pick.input, lane, outs[pick.out].index)
        });
    }

    /// Every input proposes one of its eligible flits.
    fn propose(&mut self) {
        self.proposals.clear();
        let mut first = 0;
        while let Some(&Pick { input, .. }) = self.passing.picks.get(first) {
            let others = self.passing.picks[first..].iter();
            let end = first + others.take_while(|pick| pick.input == input).count();
            if let Some((lane, choice)) = self.pick_lane(first..end) {
                let pick = self.pick_queue(first..end, lane);
                let proposal = self.proposal(pick, lane, choice);
                self.proposals.push(proposal);
            }
            first = end;
        }
    }

    /// The lane of an input whose turn it is.
    fn pick_lane(&mut self, own: std::ops::Range<usize>) -> Option<(LaneRow, Option<VlChoice>)> {
        let Self { passing, .. } = self;
        let view = &mut passing.view;
        let (classifier, numbering) = (view.shared.classifier(), view.shared.numbering);
        let input = passing.picks[own.start].input;
        let lanes = passing.picks[own].iter();
        let lanes: LaneMask = lanes
            .map(|pick| numbering.number(classifier.lane(pick.queue)))
            .collect();
        let (number, choice) = if view.shared.tables().is_some() {
            let choice = view.consult_input(input, lanes)?;
            (u32::from(choice.lane), Some(choice))
        } else {
            let pointer = view.optional.input_first[input].lane;
            (view.shared.first_lane(lanes, pointer), None)
        };
        Some((numbering.lane(input, number), choice))
    }

    /// Of an input lane the queue whose turn it is; with one queue for each lane there is a choice among the requests of a header only.
    fn pick_queue(&self, own: std::ops::Range<usize>, lane: LaneRow) -> Pick {
        let view = &self.passing.view;
        let classifier = view.shared.classifier();
        let is_of_lane = |pick: &&Pick| classifier.lane(pick.queue) == lane;
        let of_lane = self.passing.picks[own.clone()].iter().filter(is_of_lane);
        let mut first = None;
        if classifier.is_lane() {
            let pointer = view
                .shared
                .open()
                .then(|| view.optional.voq_pointers[lane].0);
            let rank = |pick: &&Pick| {
                let place = place(view, pick.lane);
                let is_passed = pointer.is_some_and(|pointer| place < pointer);
                (view.preference(pick.queue, pick.lane), is_passed, place)
            };
            let best = of_lane.min_by_key(rank);
            return *best.unwrap_or(&self.passing.picks[own.start]);
        }
        for pick in of_lane {
            if u16::from(view.outs[pick.out].index) >= view.optional.voq_pointers[lane].0 {
                return *pick;
            }
            first = first.or(Some(*pick));
        }
        first.unwrap_or(self.passing.picks[own.start])
    }

    fn proposal(&self, pick: Pick, lane: LaneRow, choice: Option<VlChoice>) -> Proposal {
        let view = &self.passing.view;
        let first_port = view.switches[view.ins[pick.input].owner].first_port;
        let since = if self.ages.seen().is_empty() {
            0
        } else if pick.first.is_none() {
            self.ages[pick.lane].since
        } else {
            let record = &view.records[view.queues[pick.queue].head];
            match view.shared.output_arbitration() {
                OutputArbitration::OldestFirst => record.created,
                _ => record.requested,
            }
        };
        Proposal {
            pick,
            choice,
            place: view.shared.numbering.place(first_port, lane),
            since,
        }
    }

    /// Every output chooses one of the proposals to it, which passes.
    fn decide(&mut self, is_first_round: bool) {
        (self.proposals).sort_unstable_by_key(|proposal| (proposal.pick.out, proposal.place));
        let mut first = 0;
        while let Some(&Proposal { pick, .. }) = self.proposals.get(first) {
            let others = self.proposals[first..].iter();
            let mine = others.take_while(|other| other.pick.out == pick.out);
            let end = first + mine.count();
            let chosen = self.choose(first..end);
            self.pass(self.proposals[chosen], is_first_round);
            first = end;
        }
    }

    /// The proposal to an output that it chooses.
    fn choose(&mut self, own: std::ops::Range<usize>) -> usize {
        let view = &mut self.passing.view;
        let mine = &self.proposals[own.clone()];
        let out = mine[0].pick.out;
        let chosen = match view.shared.output_arbitration() {
            OutputArbitration::RoundRobin => {
                let pointer = view.optional.input_first[out].output;
                let ahead = mine.iter().position(|proposal| proposal.place >= pointer);
                ahead.unwrap_or(0)
            }
            OutputArbitration::Random if mine.len() > 1 => {
                below(&mut view.optional.streams[out].0, mine.len() as u32) as usize
            }
            _ => {
                let oldest = (0..mine.len()).min_by_key(|&number| mine[number].since);
                oldest.unwrap_or(0)
            }
        };
        own.start + chosen
    }

    /// A flit passes, and what chose it moves on.
    fn pass(&mut self, proposal: Proposal, is_first_round: bool) {
        let Proposal { pick, place, .. } = proposal;
        self.passing.pass(&pick, is_first_round);
        if pick.first.is_some()
            && let Some(age) = self.ages.get_mut(pick.lane)
        {
            age.since = proposal.since;
        }
        let view = &mut self.passing.view;
        let (classifier, numbering) = (view.shared.classifier(), view.shared.numbering);
        let lane = classifier.lane(pick.queue);
        let number = numbering.number(lane);
        if !view.shared.management().contains(number) {
            view.optional.input_first[pick.input].lane = numbering.after(number);
        }
        if is_first_round {
            view.optional.input_first[pick.out].output = place + 1;
        }
        if !classifier.is_lane() {
            let output = view.outs[pick.out].index;
            view.optional.voq_pointers[lane].0 = classifier.after(output);
        } else if view.shared.open() && pick.first.is_some() {
            view.optional.voq_pointers[lane].0 = after(view, pick.lane);
        }
        if proposal.choice.is_some() {
            let grant = Grant {
                choice: proposal.choice,
                ..pick.grant(PacketRow::NONE)
            };
            view.commit_grant(&grant, 1);
        }
    }

    /// What cannot pass any more in this cycle is eligible no longer, nor what a header that has passed requested beside; where another flit
    /// has taken its input, its output is looked at again when that is free.
    fn leave_out_passed(&mut self) {
        let mut picks = std::mem::take(self.passing.picks);
        picks.retain(|pick| {
            let view = &self.passing.view;
            let now = view.now;
            let is_gone = pick.first.is_some() && !view.queues[pick.queue].requesting;
            if is_gone || view.outs[pick.out].free_at > now {
                return false;
            }
            let free_at = self.passing.free_at(pick.input);
            if free_at > now {
                self.passing.wake(pick.out, free_at);
            }
            free_at <= now
        });
        *self.passing.picks = picks;
    }
}

impl<const W: usize> Passing<'_, W> {
    /// Notes what makes the lanes of an output ready.
    fn each_ready(&mut self, out: PortRow) {
        if !self.may_pass(out) {
            return;
        }
        let view = &self.view;
        let first_port = view.switches[view.outs[out].owner].first_port;
        for number in view.outs[out].request_lanes {
            let lane = self.view.shared.numbering.lane(out, number);
            match self.ready(out, lane) {
                None => {}
                Some(Ready::Holder(queue)) => self.note((out, lane), (queue, None)),
                Some(Ready::Requests(mask)) => {
                    for bit in &mask {
                        let queue = self.view.queue_of(first_port, bit, lane);
                        self.note((out, lane), (queue, Some(bit)));
                    }
                }
            }
        }
    }

    fn note(&mut self, (out, lane): (PortRow, LaneRow), (queue, first): (QueueRow, Option<u16>)) {
        let input = self.view.queue_port(queue);
        self.picks.push(Pick {
            out,
            lane,
            queue,
            input,
            first,
            choice: None,
            accepted: true,
            is_latest: true,
            before: NO_PICK,
        });
    }
}
