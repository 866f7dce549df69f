//! Random wormhole switching (D65): which cases have it, how small their lanes are, their VL tables, and what else goes with it (D77).

use super::{Dice, options};
use virtlane::plan::{
    Allocation, BufferSharing, ClassPlan, DropRule, Dropping, Forwarding, InputSpeedup, InputTurns,
    Marking, Matching, OutputArbitration, Plan, Queues, SwitchOptions,
};
use virtlane::qos::vl_arbitration::{Accept, Rules, Unit};
use virtlane::rng::{Purpose, stream};
use virtlane::routing::adaptive::Selection;

/// Cases with wormhole switching, of those without messages that drop or not \[percent\].
const SHARE: [u32; 2] = [10, 20];
/// The same, where packets of data carry (D69), which is seldom enough \[percent\].
const CARRYING: u32 = 40;

/// The same of adaptive routing, of heads that request all their candidates and of the few that choose one; cases with queues by
/// output, or with pools, stay as they are \[percent\].
const OPEN: u32 = 65;
const CHOOSING: u32 = 85;

/// Wormhole switching for some cases without messages, bounded answers and looks at own switches, which lose what it does not
/// go with. By tables, or by an engine with that selection; after everything else is drawn. From a stream of its own, so that all
/// else is drawn as without.
pub(super) fn add(plan: &mut Plan, selection: Option<Selection>, attempt: u64) {
    let mut controls = (plan.classes.iter()).filter_map(|class| class.control.as_ref());
    let share = match selection {
        Some(Selection::Open) => OPEN,
        Some(_) => CHOOSING,
        None if controls.any(|control| control.algorithm.carries()) => CARRYING,
        None => SHARE[usize::from(plan.switch.drop.is_none())],
    };
    add_to(plan, selection, share, attempt);
}

/// The same for so many of these cases \[percent\].
pub(super) fn add_to(plan: &mut Plan, selection: Option<Selection>, share: u32, attempt: u64) {
    let mut dice = Dice(stream(plan.seed, Purpose::Topology, (1 << 44) + attempt));
    let is_bounded = plan.bounded().next().is_some();
    let looks = plan.classes.iter().any(looks_at_switches);
    let is_usual =
        plan.switch.queues == Queues::Fifo && plan.switch.sharing == BufferSharing::PerLane;
    let is_kept = selection.is_some() && !is_usual;
    if !plan.workloads.is_empty() || is_bounded || looks || is_kept || !dice.chance(share) {
        return;
    }
    let is_open = selection == Some(Selection::Open);
    let largest = u32::from(plan.largest_packet());
    let capacities = [
        1,
        2,
        3,
        largest / 2,
        largest - 1,
        largest,
        2 * largest,
        4 * largest,
    ];
    plan.switch = SwitchOptions {
        forwarding: Forwarding::Wormhole,
        lane_capacity: dice.pick(&capacities).max(1),
        vl_arbitration: None,
        ..only_what_goes_with_it(&plan.switch)
    };
    if dice.chance(25) && !is_open {
        plan.switch.input_speedup = InputSpeedup::Unlimited;
    }
    if dice.chance(50) {
        let mut tables = options::vl_tables(&mut dice, plan.switch.lanes);
        tables.unit = dice.pick(&[Unit::Blocks64, Unit::Flits, Unit::Packets]);
        tables.rules = dice.pick(&[Rules::InfiniBand, Rules::Legacy]);
        tables.accept = dice.pick(&[Accept::InTurn, Accept::HighFirst]);
        plan.switch.vl_arbitration = Some(tables);
        options::settle_tables(&mut plan.switch);
    }
    if plan.switch.input_speedup == InputSpeedup::Limited(1) && dice.chance(50) {
        plan.switch.input_turns = InputTurns::Packets;
    }
    add_options(&mut dice, &mut plan.switch);
    plan.host.sink_cycles_per_flit = None;
    if plan.classes.iter().any(|class| class.management) {
        // what had a lane of its own may be on a service level that is dropped
        plan.switch.drop = None;
    }
    for class in &mut plan.classes {
        class.management = false;
    }
    for flow in &mut plan.flows {
        flow.after = Box::default();
    }
}

/// D77: rounds, but not with legacy tables, output buffers and marks.
fn add_options(dice: &mut Dice, options: &mut SwitchOptions) {
    let tables = options.vl_arbitration.as_ref();
    let is_legacy = tables.is_some_and(|tables| tables.rules == Rules::Legacy);
    let rounds = dice.pick(&[1, 2, 3]);
    if rounds > 1 && dice.chance(25) {
        options.output_arbitration = OutputArbitration::Random;
    }
    options.allocation = Allocation::rounds(if is_legacy { 1 } else { rounds });
    options.output_buffer = dice.pick(&[0, 0, 0, 1, 2, 5, 16]);
    options.marking = dice.chance(60).then(|| marking(dice));
    if let Some(tables) = &mut options.vl_arbitration
        && options.allocation.iterations > 1
        && dice.chance(70)
    {
        tables.accept = Accept::HighFirst;
        options::settle_tables(options);
    }
}

/// A marking that is not InfiniBand's.
fn marking(dice: &mut Dice) -> Marking {
    loop {
        let marking = options::marking(dice, false);
        if !matches!(marking, Marking::InfiniBand { .. }) {
            return marking;
        }
    }
}

/// Whether the control of a class looks at the own switch (D51).
fn looks_at_switches(class: &ClassPlan) -> bool {
    let control = class.control.as_ref();
    control.is_some_and(|control| control.algorithm.looks().is_some())
}

/// The options without what excludes wormhole switching.
fn only_what_goes_with_it(options: &SwitchOptions) -> SwitchOptions {
    SwitchOptions {
        management_lane: false,
        queues: Queues::Fifo,
        sharing: BufferSharing::PerLane,
        input_speedup: InputSpeedup::Limited(1),
        output_buffer: 0,
        output_lane_buffer: 0,
        matching: Matching::OutputFirst,
        allocation: Allocation::rounds(1),
        reserve: false,
        marking: None,
        drop: options.drop.clone().map(|drop| Dropping {
            rule: DropRule::Held,
            ..drop
        }),
        ..options.clone()
    }
}
