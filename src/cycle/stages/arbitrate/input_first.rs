//! Input-first allocation: VL arbitration at the input port (seed 000, M-4).
//!
//! Part of `Slot::Arbitrate`. Reads and writes what `arbitrate` does, plus the inputs' own arbiters.
//!
//! # Rules
//! 1. Each input with a place left picks one of its eligible heads: a lane by the input's VL arbiter (tables
//!    or round robin), then, with VOQ, an output by round robin per lane.
//! 2. Each output picks among the inputs that propose to it, by its output arbitration.
//! 3. An input that is not served and still has an eligible head is looked at again in the next cycle.
//!
//! # Deviations
//! None.
//!
//! Cost: O(heads of the inputs behind the visited outputs).

use super::{by_rule, first_from};
use crate::cycle::mechanism::{Mechanism, ShardBuilder, Site};
use crate::cycle::mechanisms::vl_tables;
use crate::cycle::rules::{RuleSet, with_rules};
use crate::cycle::slot::Slot;
use crate::cycle::snapshot::Persistent;
use crate::cycle::stages::cross::{next_bit, settle};
use crate::cycle::state::Grant;
use crate::cycle::view::{Fabric, InputArbiters, View};
use crate::fabric::components::NONE;
use crate::fabric::{OutLane, OutPort};
use crate::plan::{Matching, OutputArbitration};
use crate::qos::vl_arbitration::VlChoice;
use bevy_ecs::component::Component;
use serde::{Deserialize, Serialize};

/// Pointers of a port: of its input over lanes, of its output over request bits.
#[derive(Component, Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct InputArbiter {
    lane: u8,
    output: u16,
}

impl Persistent for InputArbiter {}

/// With VOQ, the pointer of an input lane over outputs.
#[derive(Component, Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct VoqPointer(u16);

impl Persistent for VoqPointer {}

/// Input-first allocation as a mechanism, in place of `arbitrate`.
pub struct InputFirst;

impl Mechanism for InputFirst {
    fn of(site: &Site<'_>) -> Option<Self> {
        (site.plan.switch.matching == Matching::InputFirst).then_some(Self)
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        shard.column::<OutPort, InputArbiter>(InputArbiter::default());
        if shard.site().shared.switch.voq_stride != 0 {
            shard.column::<OutLane<W>, VoqPointer>(VoqPointer::default());
        }
        let shared = shard.site().shared;
        with_rules!(shared, Set => shard.system(Slot::Arbitrate, "input_first", system::<W, Set>));
    }
}

fn system<const W: usize, P: RuleSet>(
    mut fabric: Fabric<'_, '_, W>,
    mut arbiters: InputArbiters<'_, '_>,
) {
    if !fabric.events.lists().visits.is_empty() {
        run(&mut fabric.view::<P>(arbiters.columns()));
    }
}

/// Runs the allocation.
pub fn run<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>) {
    let mut visits = std::mem::take(&mut view.lists.visits);
    let mut inputs = std::mem::take(&mut view.lists.input_visits);
    for &out in &visits {
        view.outs[out as usize].visited = false;
        collect_inputs(view, out, &mut inputs);
    }
    visits.clear();
    view.lists.visits = visits;
    inputs.sort_unstable();
    inputs.dedup();
    for round in 0..view.shared.switch.iterations {
        let first = view.lists.grants.len();
        for &input in &inputs {
            if has_place(view, input) {
                propose(view, input);
            }
        }
        if view.lists.grants.len() == first {
            break;
        }
        decide(view, first, round == 0);
        settle(view);
    }
    for &input in &inputs {
        if has_place(view, input) {
            look_again(view, input);
        }
    }
    inputs.clear();
    view.lists.input_visits = inputs;
}

/// Whether the input can send one more packet now.
fn has_place<const W: usize, P: RuleSet>(view: &View<'_, W, P>, input: u32) -> bool {
    let port = &view.ins[input as usize];
    if view.shared.speedup() == 1 {
        port.free_at <= view.now
    } else {
        port.leaving < view.shared.speedup()
    }
}

/// Inputs with a request for a visited output.
fn collect_inputs<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    out: u32,
    inputs: &mut Vec<u32>,
) {
    if view.outs[out as usize].free_at > view.now {
        return;
    }
    let mut lanes = view.outs[out as usize].request_lanes;
    let first_port = view.switches[view.outs[out as usize].owner as usize].first_port;
    while lanes != 0 {
        let lane = (out << view.shared.lane_shift) + lanes.trailing_zeros();
        lanes &= lanes - 1;
        view.lanes[lane as usize].need = 0;
        for (i, &word) in view.lanes[lane as usize].requests.iter().enumerate() {
            let mut rest = word;
            while rest != 0 {
                let bit = i as u32 * 64 + rest.trailing_zeros();
                rest &= rest - 1;
                inputs.push(first_port + (bit >> view.shared.lane_shift));
            }
        }
    }
}

/// Whether a queue's head requests a free output and its lane has room; starves the lane otherwise.
fn is_eligible<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, queue: u32) -> bool {
    let head = &view.queues[queue as usize];
    if head.head == NONE || !head.requesting {
        return false;
    }
    let (out, size) = (head.out, head.size);
    let lane = (out << view.shared.lane_shift) + u32::from(head.out_lane);
    let port = &view.outs[out as usize];
    if port.free_at > view.now {
        return false;
    }
    if view.room(lane) >= u32::from(size) {
        return true;
    }
    view.starve(out, lane, size);
    false
}

/// Lanes of an input with an eligible head.
fn eligible_lanes<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, input: u32) -> u16 {
    let mut eligible = 0u16;
    let mut occupied = view.ins[input as usize].occupied;
    while occupied != 0 {
        let bit = occupied.trailing_zeros();
        occupied &= occupied - 1;
        view.each_queue(input, bit, |view, queue| {
            if is_eligible(view, queue) {
                let lane = queue / view.shared.voq_stride().max(1);
                eligible |= 1 << (lane & view.shared.lane_mask);
            }
        });
    }
    eligible
}

/// The input's proposal, as a grant to be decided by its output.
fn propose<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, input: u32) {
    let shift = view.shared.lane_shift;
    let stride = view.shared.voq_stride().max(1);
    let first_lane = input << shift;
    let eligible = eligible_lanes(view, input);
    let Some((lane, choice)) = pick_lane(view, input, eligible) else {
        return;
    };
    let lane_row = first_lane + u32::from(lane);
    let Some(queue) = pick_queue(view, lane_row, stride) else {
        return;
    };
    let head = &view.queues[queue as usize];
    let first_port = view.switches[view.ins[input as usize].owner as usize].first_port;
    let grant = Grant {
        out: head.out,
        lane: (head.out << shift) + u32::from(head.out_lane),
        queue,
        input,
        bit: (lane_row - (first_port << shift)) as u16,
        accepted: false,
        by_inputs: false,
        choice,
        packet: NONE,
    };
    view.lists.grants.push(grant);
}

/// Rule 1, lane: VL15, then tables or round robin.
fn pick_lane<const W: usize, P: RuleSet>(
    view: &View<'_, W, P>,
    input: u32,
    eligible: u16,
) -> Option<(u8, Option<VlChoice>)> {
    if eligible == 0 {
        return None;
    }
    if view.shared.tables().is_some() {
        let choice = vl_tables::select(view, input, eligible)?;
        return Some((choice.lane, Some(choice)));
    }
    let first = eligible & view.shared.management();
    let data = eligible & !view.shared.management();
    let ahead = data & (u16::MAX << view.optional.input_first[input as usize].lane);
    let lanes = [first, ahead, data].into_iter().find(|&lanes| lanes != 0)?;
    Some((lanes.trailing_zeros() as u8, None))
}

/// Rule 1, output: round robin over the eligible queues of a lane.
fn pick_queue<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    lane_row: u32,
    stride: u32,
) -> Option<u32> {
    let pointer = if stride == 1 {
        0
    } else {
        u32::from(view.optional.voq_pointers[lane_row as usize].0)
    };
    (0..stride)
        .map(|step| lane_row * stride + (pointer + step) % stride)
        .find(|&queue| is_eligible(view, queue))
}

/// Rule 2: each output picks one of the proposals of this round, which begins with grant `first`.
fn decide<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    first: usize,
    is_first_round: bool,
) {
    view.lists.grants[first..].sort_unstable_by_key(|grant| (grant.out, grant.bit));
    let mut start = first;
    while let Some(&Grant { out, .. }) = view.lists.grants.get(start) {
        let mut mask = [0u64; W];
        let proposals = view.lists.grants[start..].iter();
        let mut end = start;
        for grant in proposals.take_while(|grant| grant.out == out) {
            mask[usize::from(grant.bit / 64)] |= 1 << (grant.bit % 64);
            end += 1;
        }
        let winner = match view.shared.output_arbitration() {
            OutputArbitration::RoundRobin => {
                first_from(&mask, view.optional.input_first[out as usize].output)
            }
            rule => by_rule(view, out, &mask, rule),
        };
        let mut proposals = view.lists.grants[start..end].iter_mut();
        if let Some(grant) = proposals.find(|grant| Some(grant.bit) == winner) {
            grant.accepted = true;
            let grant = *grant;
            move_pointers(view, &grant, is_first_round);
        }
        start = end;
    }
}

/// State of an accepted proposal that only this allocator has; the pointer per output moves in the first round
/// only (D5).
fn move_pointers<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    grant: &Grant,
    is_first_round: bool,
) {
    let lane = grant.bit & view.shared.lane_mask as u16;
    let lane_row = (grant.input << view.shared.lane_shift) + u32::from(lane);
    if view.shared.management() >> lane & 1 == 0 {
        view.optional.input_first[grant.input as usize].lane =
            (lane as u8 + 1) & view.shared.lane_mask as u8;
    }
    if is_first_round {
        view.optional.input_first[grant.out as usize].output = next_bit::<W>(grant.bit);
    }
    if view.shared.voq_stride() != 0 {
        let ports = view.shared.voq_stride() as u16;
        let next = (u16::from(view.outs[grant.out as usize].index) + 1) % ports;
        view.optional.voq_pointers[lane_row as usize].0 = next;
    }
}

/// Rule 3: outputs of the eligible heads of an input that was not served.
fn look_again<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, input: u32) {
    let mut occupied = view.ins[input as usize].occupied;
    while occupied != 0 {
        let bit = occupied.trailing_zeros();
        occupied &= occupied - 1;
        view.each_queue(input, bit, |view, queue| {
            if is_eligible(view, queue) {
                let out = view.queues[queue as usize].out;
                view.calendar.at(view.now + 1).wakes.push(out);
            }
        });
    }
}
