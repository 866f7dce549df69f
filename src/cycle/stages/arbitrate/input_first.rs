//! Input-first allocation: VL arbitration at the input port (seed 000, M-4).
//!
//! Part of `Slot::Arbitrate`. Reads and writes what `arbitrate` does, plus the inputs' own arbiters.
//!
//! # Rules
//! 1. Each input with a place left picks one of its eligible heads: a lane by the input's VL arbiter (tables
//!    or round robin), then, with VOQ, an output by round robin per lane, of open heads one of the eligible requests of the lane (D80, D84).
//! 2. Each output picks among the inputs that propose to it, by its output arbitration.
//! 3. An input that is not served, or that proposed nothing (a bubble of D54), and still has an eligible head is looked at
//!    again in the next cycle.
//!
//! # Deviations
//! None.
//!
//! Cost: O(heads of the inputs behind the visited outputs).

use super::alone::carry_out_now;
use super::by_rule::among;
use super::proposals::{after, each_eligible, is_eligible, of_open_heads, requested};
use crate::cycle::columns::{InputArbiter, VoqPointer};
use crate::cycle::joints::LaneChoice as _;
use crate::cycle::mechanism::{Mechanism, ShardBuilder, Site};
use crate::cycle::rules::{RuleSet, with_rules};
use crate::cycle::slot::Slot;
use crate::cycle::stages::cross::settle;
use crate::cycle::state::Grant;
use crate::cycle::view::{Fabric, InputArbiters, View};
use crate::fabric::mask::{Common, LaneMask};
use crate::fabric::row_set::RowSet;
use crate::fabric::rows::{LaneRow, PacketRow, PortRow, QueueRow};
use crate::fabric::{Group, OutLane, OutPort};
use crate::plan::{Matching, OutputArbitration};
use crate::qos::vl_arbitration::VlChoice;

/// Input-first allocation as a mechanism, in place of `arbitrate`.
pub struct InputFirst;

impl Mechanism for InputFirst {
    fn of(site: &Site<'_>) -> Option<Self> {
        (site.plan.switch.matching == Matching::InputFirst).then_some(Self)
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        shard.column::<OutPort, InputArbiter>(InputArbiter::default());
        let switch = &shard.site().shared.switch;
        if !switch.classifier.is_lane() || switch.open {
            shard.column::<Group<OutLane<W>>, Group<VoqPointer>>(Group::default());
        }
        let options = shard.site().shared;
        if options.switch.single_flits {
            // these have a stage of their own
            return;
        }
        with_rules!(options, W, Set => if Set::ARBITRATION {
            shard.system(Slot::Arbitrate, "input_first", system::<W, Set>);
        });
    }
}

fn system<const W: usize, P: RuleSet>(
    mut fabric: Fabric<'_, '_, W>,
    mut arbiters: InputArbiters<'_, '_>,
) {
    if !fabric.events.lists().visits.is_empty() {
        run(&mut fabric.view::<P>(arbiters.columns(fabric.events.rules::<P>())));
    }
}

/// Runs the allocation.
pub fn run<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>) {
    let mut visits = std::mem::take(&mut view.lists.visits);
    let mut inputs = std::mem::take(&mut view.lists.input_visits);
    for &out in &visits {
        view.outs[out].visited = false;
        collect_inputs(view, out, &mut inputs);
    }
    visits.clear();
    view.lists.visits = visits;
    for round in 0..view.shared.iterations() {
        let (first, is_first) = (view.lists.grants.len(), round == 0);
        let mut proposed = false;
        inputs.each(|input| {
            if has_place(view, input) {
                proposed |= propose(view, input, is_first);
            }
        });
        if !proposed {
            break;
        }
        decide(view, first, is_first);
        settle(view, is_first);
    }
    inputs.drain(|input| {
        if has_place(view, input) {
            look_again(view, input);
        }
    });
    view.lists.input_visits = inputs;
}

/// Whether the input can send one more packet now.
fn has_place<const W: usize, P: RuleSet>(view: &View<'_, W, P>, input: PortRow) -> bool {
    let port = &view.ins[input];
    if view.shared.speedup() == 1 {
        port.free_at <= view.now
    } else {
        port.leaving < view.shared.speedup()
    }
}

/// Inputs with a place left and a request for a visited output.
fn collect_inputs<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    out: PortRow,
    inputs: &mut RowSet<PortRow>,
) {
    if view.outs[out].free_at > view.now {
        return;
    }
    let numbering = view.shared.numbering;
    let switch = &view.switches[view.outs[out].owner];
    for number in view.outs[out].request_lanes {
        let lane = &mut view.lanes[numbering.lane(out, number)];
        lane.need = 0;
        let input = |bit| switch.first_port.plus(numbering.input_index(bit));
        let standing = &switch.free & &lane.requests;
        standing.iter().for_each(|bit| inputs.insert(input(bit)));
    }
}

/// Lanes of an input with an eligible head.
fn eligible_lanes<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    input: PortRow,
) -> LaneMask {
    let (mut eligible, open) = (LaneMask::EMPTY, view.shared.open());
    for mark in view.ins[input].occupied {
        view.each_queue(input, mark, |view, queue| {
            if is_eligible(view, queue, open) {
                let lane = view.shared.classifier().lane(queue);
                eligible.insert(view.shared.numbering.number(lane));
            }
        });
    }
    eligible
}

/// The input's proposal, as a grant to be decided by its output, or carried out at once; `false`: it has none.
fn propose<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    input: PortRow,
    is_first_round: bool,
) -> bool {
    let numbering = view.shared.numbering;
    let eligible = eligible_lanes(view, input);
    let Some((lane, choice)) = pick_lane(view, input, eligible) else {
        return false;
    };
    let input_lane = numbering.lane(input, lane);
    let found = if view.shared.open() {
        of_open_heads(view, input_lane).map(|(queue, lane)| (queue, (numbering.port(lane), lane)))
    } else {
        pick_queue(view, input_lane).map(|queue| (queue, requested(view, queue)))
    };
    let Some((queue, (out, lane))) = found else {
        return false;
    };
    let first_port = view.switches[view.ins[input].owner].first_port;
    let mut grant = Grant {
        out,
        lane,
        queue,
        input,
        bit: numbering.bit(first_port, input_lane),
        accepted: false,
        by_inputs: false,
        choice,
        packet: PacketRow::NONE,
    };
    if is_certain(view, &grant) {
        move_pointers(view, &grant, is_first_round);
        carry_out_now(view, &mut grant, is_first_round);
    } else {
        view.lists.grants.push(grant);
    }
    true
}

/// Whether no other input asks for the output, so that it picks this proposal: then it is carried out before the other inputs propose,
/// which request other outputs. (Where grants are kept for others, all are decided together.)
fn is_certain<const W: usize, P: RuleSet>(view: &View<'_, W, P>, grant: &Grant) -> bool {
    let requests = &view.lanes[grant.lane].requests;
    !view.outs[grant.out].request_lanes.has_several()
        && requests.in_common(requests) == Common::One(grant.bit)
        && !view.shared.open()
        && !view.lists.facts.granted
}

/// Rule 1, lane: VL15, then tables or round robin.
fn pick_lane<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    input: PortRow,
    eligible: LaneMask,
) -> Option<(u32, Option<VlChoice>)> {
    if eligible.is_empty() {
        return None;
    }
    if view.shared.tables().is_some() {
        let choice = view.consult_input(input, eligible)?;
        return Some((u32::from(choice.lane), Some(choice)));
    }
    let pointer = view.optional.input_first[input].lane;
    Some((view.shared.first_lane(eligible, pointer), None))
}

/// Rule 1, output: round robin over the eligible queues of a lane that has several.
fn pick_queue<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    lane: LaneRow,
) -> Option<QueueRow> {
    let classifier = view.shared.classifier();
    if classifier.is_lane() {
        return Some(QueueRow(lane.0));
    }
    let pointer = view.optional.voq_pointers[lane].0;
    (classifier.in_turn(lane, pointer)).find(|&queue| is_eligible(view, queue, false))
}

/// Brings together the proposals of a round for each output. Inputs propose in the order of their rows, so those of a switch are
/// beside each other, and few.
fn group<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, first: usize) {
    let outs = view.outs.seen();
    let proposals = &mut view.lists.grants[first..];
    for of_switch in proposals.chunk_by_mut(|one, next| outs[one.out].owner == outs[next.out].owner)
    {
        of_switch.sort_unstable_by_key(|grant| (grant.out, grant.bit));
    }
}

/// Rule 2: each output picks one of the proposals of this round, which begins with grant `first`.
fn decide<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    first: usize,
    is_first_round: bool,
) {
    group(view, first);
    let mut start = first;
    while let Some(&Grant { out, .. }) = view.lists.grants.get(start) {
        let proposals = view.lists.grants[start..].iter();
        let end = start + proposals.take_while(|grant| grant.out == out).count();
        let winner = match view.shared.output_arbitration() {
            OutputArbitration::RoundRobin => {
                let pointer = view.optional.input_first[out].output;
                let place = |number: &usize| place(view, &view.lists.grants[*number]);
                let ahead = (start..end).find(|number| place(number) >= pointer);
                ahead.unwrap_or(start)
            }
            rule => among(view, out, start..end, rule),
        };
        view.lists.grants[winner].accepted = true;
        let grant = view.lists.grants[winner];
        move_pointers(view, &grant, is_first_round);
        start = end;
    }
}

/// Place of the input lane of a proposal within its switch.
#[inline]
fn place<const W: usize, P: RuleSet>(view: &View<'_, W, P>, grant: &Grant) -> u16 {
    let first_port = view.switches[view.ins[grant.input].owner].first_port;
    let lane = view.shared.classifier().lane(grant.queue);
    view.shared.numbering.place(first_port, lane)
}

/// State of an accepted proposal that only this allocator has; the pointer per output moves in the first round
/// only (D5).
fn move_pointers<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    grant: &Grant,
    is_first_round: bool,
) {
    let (shared, place) = (view.shared, place(view, grant));
    let input_lane = shared.classifier().lane(grant.queue);
    let lane = shared.numbering.number(input_lane);
    if !shared.management().contains(lane) {
        view.optional.input_first[grant.input].lane = shared.numbering.after(lane);
    }
    if is_first_round {
        view.optional.input_first[grant.out].output = place + 1;
    }
    let classifier = shared.classifier();
    if shared.open() {
        view.optional.voq_pointers[input_lane].0 = after(view, grant.lane);
    } else if !classifier.is_lane() {
        let output = view.outs[grant.out].index;
        view.optional.voq_pointers[input_lane].0 = classifier.after(output);
    }
}

/// Rule 3: outputs of the eligible heads of an input that was not served.
fn look_again<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, input: PortRow) {
    if view.shared.open() {
        return look_at_all(view, input);
    }
    for mark in view.ins[input].occupied {
        view.each_queue(input, mark, |view, queue| {
            if is_eligible(view, queue, false) {
                let out = view.queues[queue].out;
                view.calendar.at(view.now + 1).wakes.push(out);
            }
        });
    }
}

/// The same of the requests of open heads.
#[inline(never)]
fn look_at_all<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, input: PortRow) {
    for mark in view.ins[input].occupied {
        view.each_queue(input, mark, |view, queue| {
            if view.queues[queue].requesting {
                each_eligible(view, queue, |view, lane| {
                    let out = view.shared.numbering.port(lane);
                    view.calendar.at(view.now + 1).wakes.push(out);
                });
            }
        });
    }
}
