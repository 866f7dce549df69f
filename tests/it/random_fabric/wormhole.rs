//! Random wormhole switching (D65): which cases have it, how small their lanes are, their VL tables, and what else goes with it (D77,
//! D78, D79, D82).

use super::{Dice, options};
use virtlane::plan::{
    Allocation, BufferSharing, ClassPlan, DropRule, Forwarding, InputSpeedup, InputTurns, Matching,
    OutputArbitration, Plan, Queues, SwitchOptions,
};
use virtlane::qos::vl_arbitration::{Accept, Places, Rules, Unit};
use virtlane::rng::{Purpose, stream};
use virtlane::routing::adaptive::Selection;

/// Cases with wormhole switching, of those that lose much by it, and of all others \[percent\].
const SHARE: [u32; 2] = [10, 55];
/// The same, of those with messages at most, by tables or not \[percent\].
const MESSAGES: [u32; 2] = [40, 85];
/// The same, of those with flows that wait, which are few, by tables or not \[percent\].
const WAITING: [u32; 2] = [45, 90];
/// The same, of those whose flows have routes of their own, or set them up \[percent\].
const ROUTES: u32 = 45;
/// The same, where packets of data carry (D69), which is seldom enough \[percent\].
const CARRYING: u32 = 40;

/// The same, of those with bounded answers, and of those with looks at own switches \[percent\].
const BOUNDED: u32 = 80;
const LOOKING: u32 = 60;

/// The same of adaptive routing, of heads that request all their candidates and of the few that choose one; cases with pools stay as
/// they are \[percent\].
const OPEN: u32 = 65;
const CHOOSING: u32 = 85;
/// The same, of packets that choose their queues (D75) \[percent\].
const CHOOSING_QUEUES: u32 = 40;
/// The same, of what few cases have with packets as units \[percent\].
const SELDOM: u32 = 30;

/// Of these cases those with input-first matching (D79), of which some have routes by tables, and those with output lanes, where
/// these go \[percent\].
const INPUT_FIRST: u32 = 35;
const OUTPUT_LANES: u32 = 40;
/// Cases that drop by a threshold, of those that are drawn so \[percent\].
const THRESHOLDS: u32 = 75;

/// Places of inputs (D78), some more often than others.
const PLACES: [InputSpeedup; 7] = [
    InputSpeedup::Limited(1),
    InputSpeedup::Limited(1),
    InputSpeedup::Limited(1),
    InputSpeedup::Limited(2),
    InputSpeedup::Limited(2),
    InputSpeedup::Limited(3),
    InputSpeedup::Unlimited,
];
/// The same, of heads that choose, which few cases have.
const PLACES_OF_CHOICES: [InputSpeedup; 6] = [
    InputSpeedup::Limited(1),
    InputSpeedup::Limited(1),
    InputSpeedup::Limited(2),
    InputSpeedup::Limited(3),
    InputSpeedup::Unlimited,
    InputSpeedup::Unlimited,
];

/// The same, of heads that request all their candidates.
const PLACES_OF_OPEN_HEADS: [InputSpeedup; 7] = [
    InputSpeedup::Limited(1),
    InputSpeedup::Limited(2),
    InputSpeedup::Limited(2),
    InputSpeedup::Limited(3),
    InputSpeedup::Unlimited,
    InputSpeedup::Unlimited,
    InputSpeedup::Unlimited,
];
/// Cases with such heads in which packets keep their inputs no more, so that these may have several places; and those with
/// input-first matching, of those that it goes with \[percent\].
const RELEASED: u32 = 40;
const OPEN_INPUT_FIRST: u32 = 50;

/// Wormhole switching for some cases, which lose what it does not go with. By tables, or by an engine with that selection; after
/// everything else is drawn. From streams of its own, so that all else is drawn as without.
pub(super) fn add(plan: &mut Plan, selection: Option<Selection>, attempt: u64) {
    let waits = plan.flows.iter().any(|flow| !flow.after.is_empty());
    let mut controls = (plan.classes.iter()).filter_map(|class| class.control.as_ref());
    let share = match selection {
        _ if waits => WAITING[usize::from(selection.is_some())],
        Some(Selection::Open) => OPEN,
        Some(_) => CHOOSING,
        None if controls.any(|control| control.algorithm.carries()) => CARRYING,
        None => SHARE[usize::from(keeps_most(&plan.switch))],
    };
    add_to(plan, selection, share, attempt);
}

/// The same of cases whose flows have routes of their own (D66, D67).
pub(super) fn add_to_routes(plan: &mut Plan, attempt: u64) {
    // not among the streams that draw such cases
    add_to(plan, None, ROUTES, (1 << 48) + attempt);
}

/// The same for so many of these cases \[percent\].
pub(super) fn add_to(plan: &mut Plan, selection: Option<Selection>, share: u32, attempt: u64) {
    let mut dice = Dice(stream(plan.seed, Purpose::Topology, (1 << 44) + attempt));
    let is_pool = plan.switch.sharing == BufferSharing::PortPool;
    let is_kept = selection.is_some() && is_pool;
    let mut aside = Dice(stream(plan.seed, Purpose::Topology, (1 << 52) + attempt));
    let chooses_queue = selection.is_some() && plan.switch.queues == Queues::Voq;
    let is_spared = is_spared(&mut aside, plan, selection);
    let is_it = if plan.workloads.is_empty() {
        dice.chance(share)
    } else {
        let mut own = Dice(stream(plan.seed, Purpose::Topology, (1 << 51) + attempt));
        own.chance(share.min(MESSAGES[usize::from(selection.is_some())]))
    };
    if is_spared || is_kept || !is_it {
        return;
    }
    let is_open = selection == Some(Selection::Open);
    let capacities = capacities(plan.largest_packet().into());
    plan.switch = SwitchOptions {
        forwarding: Forwarding::Wormhole,
        lane_capacity: dice.pick(&capacities).max(1),
        vl_arbitration: None,
        ..only_what_goes_with_it(&plan.switch)
    };
    let mut matched = Dice(stream(plan.seed, Purpose::Topology, (1 << 53) + attempt));
    if let Some(drop) = &mut plan.switch.drop
        && !matched.chance(THRESHOLDS)
    {
        drop.rule = DropRule::Held;
    }
    if !is_open {
        let places: &[InputSpeedup] = match selection {
            None => &PLACES,
            Some(_) => &PLACES_OF_CHOICES,
        };
        plan.switch.input_speedup = dice.pick(places);
    }
    if selection.is_none() && !plan.switch.management_lane && dice.chance(45) {
        add_vl15(&mut dice, plan);
    }
    if dice.chance(50) {
        add_tables(&mut dice, &mut plan.switch);
    }
    let is_choice = selection.is_some() && !is_open;
    keep_inputs(&mut dice, &mut plan.switch, is_choice);
    add_options(&mut dice, &mut plan.switch);
    add_queues(&mut aside, &mut plan.switch, (selection, chooses_queue));
    keep_hosts_short(&mut dice, plan);
    if !is_open && matched.chance(INPUT_FIRST) {
        match_inputs_first(&mut plan.switch);
    }
    if matched.chance(OUTPUT_LANES) {
        add_output_lanes(&mut matched, plan);
    }
    if is_open {
        match_open_heads(plan, attempt);
    }
}

/// Lanes \[flits\] that hold a part of a packet, and those that hold several.
fn capacities(largest: u32) -> [u32; 8] {
    [
        1,
        2,
        3,
        largest / 2,
        largest - 1,
        largest,
        2 * largest,
        4 * largest,
    ]
}

/// Hosts with as little room for answers as there can be, and some that take flits slowly.
fn keep_hosts_short(dice: &mut Dice, plan: &mut Plan) {
    // as little room for answers as there can be
    for control in plan
        .classes
        .iter_mut()
        .filter_map(|class| class.control.as_mut())
    {
        let least = control.algorithm.packets_per_answer().into();
        control.queue = control.queue.map(|_| least);
    }
    let slow = if plan.bounded().next().is_some() {
        85
    } else {
        35
    };
    if plan.host.sink_cycles_per_flit.is_none() && dice.chance(slow) {
        plan.host.sink_cycles_per_flit = Some(dice.between(1, 4));
    }
}

/// Input-first matching (D79) goes with a limited speed-up, and without `reserve`.
fn match_inputs_first(options: &mut SwitchOptions) {
    options.matching = Matching::InputFirst;
    options.reserve = false;
    if options.input_speedup == InputSpeedup::Unlimited {
        options.input_speedup = InputSpeedup::Limited(3);
    }
    options::settle_tables(options);
}

/// Places of inputs and input-first matching (D82) of heads that request all their candidates. Inputs that accept by priority go on
/// doing so.
fn match_open_heads(plan: &mut Plan, attempt: u64) {
    let mut dice = Dice(stream(plan.seed, Purpose::Topology, (1 << 54) + attempt));
    let options = &mut plan.switch;
    let tables = options.vl_arbitration.as_ref();
    let by_priority = tables.is_some_and(|tables| tables.accept == Accept::HighFirst);
    if dice.chance(RELEASED) {
        options.input_turns = InputTurns::Flits;
    }
    let places = dice.pick(&PLACES_OF_OPEN_HEADS);
    if options.input_turns == InputTurns::Flits {
        options.input_speedup = match places {
            InputSpeedup::Unlimited if by_priority => InputSpeedup::Limited(3),
            places => places,
        };
    }
    let is_limited = options.input_speedup != InputSpeedup::Unlimited;
    if dice.chance(OPEN_INPUT_FIRST) && is_limited && !by_priority {
        match_inputs_first(options);
        if let Some(tables) = &mut options.vl_arbitration
            && options.output_lane_buffer > 0
        {
            tables.places = dice.pick(&[Places::One, Places::InputsAndChannels]);
        }
    }
}

/// Output lanes (D79), where nobody looks at what they hide (D51, D56); with input-first matching tables may act twice (D70).
fn add_output_lanes(dice: &mut Dice, plan: &mut Plan) {
    let admission = plan.admission.as_ref();
    let looks_at_loads = admission.is_some_and(|desk| desk.control.looks_at_loads());
    if looks_at_loads || plan.classes.iter().any(looks_at_switches) {
        return;
    }
    let largest = plan.largest_packet().into();
    let options = &mut plan.switch;
    if options.output_buffer > 0 && options.input_speedup == InputSpeedup::Unlimited {
        // which few cases have
        return;
    }
    let places = dice.pick(&[1, 1, 2, 3, 5, 16, 40]);
    options.output_lane_buffer = if places >= largest {
        places
    } else {
        places.max(options.crossbar_delay + 1)
    };
    options.output_buffer = 0;
    if let Some(tables) = &mut options.vl_arbitration {
        tables.places = dice.pick(&[Places::One, Places::InputsAndChannels]);
    }
    options::settle_tables(options);
}

fn keep_inputs(dice: &mut Dice, options: &mut SwitchOptions, is_choice: bool) {
    let kept = if is_choice || options.management_lane {
        85
    } else {
        60
    };
    if options.input_speedup == InputSpeedup::Limited(1) && dice.chance(kept) {
        options.input_turns = InputTurns::Packets;
    }
}

/// Some cases with what others need with packets that travel as units, too.
fn is_spared(dice: &mut Dice, plan: &Plan, selection: Option<Selection>) -> bool {
    let is_open = selection == Some(Selection::Open);
    let has_places = plan.switch.input_speedup != InputSpeedup::Limited(1);
    let chooses_queue = selection.is_some() && plan.switch.queues == Queues::Voq;
    let is_bounded = plan.bounded().next().is_some();
    let looks = plan.classes.iter().any(looks_at_switches);
    [
        (is_bounded, BOUNDED),
        (looks, LOOKING),
        (chooses_queue, CHOOSING_QUEUES),
        (has_seldom_claims(plan, is_open), SELDOM),
        (
            is_open && has_places && plan.switch.output_lane_buffer > 0,
            SELDOM / 2,
        ),
    ]
    .map(|(has, share)| has && !dice.chance(share))
    .contains(&true)
}

/// Claims (D72) that few cases have: of open heads at inputs with several places, and of inputs that propose out of several queues.
fn has_seldom_claims(plan: &Plan, is_open: bool) -> bool {
    let options = &plan.switch;
    let has_places = options.input_speedup != InputSpeedup::Limited(1);
    let proposes = options.matching == Matching::InputFirst && options.queues == Queues::Voq;
    options.allocation.claims.is_some() && (is_open && has_places || proposes)
}

/// Tables of either kind; those of D54 not with VL15.
fn add_tables(dice: &mut Dice, options: &mut SwitchOptions) {
    let mut tables = options::vl_tables(dice, options.lanes);
    tables.unit = dice.pick(&[Unit::Blocks64, Unit::Flits, Unit::Packets]);
    tables.rules = dice.pick(&[Rules::InfiniBand, Rules::Legacy]);
    if options.management_lane {
        tables.rules = Rules::InfiniBand;
    }
    tables.accept = dice.pick(&[Accept::InTurn, Accept::HighFirst]);
    options.vl_arbitration = Some(tables);
    options::settle_tables(options);
}

/// VL15, and on it some classes of one service level: of packets that patterns draw, or of control packets.
fn add_vl15(dice: &mut Dice, plan: &mut Plan) {
    if plan.switch.lanes == 32 {
        return;
    }
    plan.switch.management_lane = true;
    let may_go = |class: &&mut ClassPlan| {
        class.service_levels.len() == 1 && class.flows.is_none() && class.messages.is_none()
    };
    // the first class has all service levels, and goes on with them
    for class in plan.classes.iter_mut().skip(1).filter(may_go) {
        class.management = dice.chance(if class.answers.is_some() { 70 } else { 35 });
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
    options.marking = dice.chance(60).then(|| options::marking(dice, false));
    if let Some(tables) = &mut options.vl_arbitration
        && options.allocation.iterations > 1
        && dice.chance(70)
    {
        tables.accept = Accept::HighFirst;
        options::settle_tables(options);
    }
}

/// D78: queues by output, `reserve` and more of InfiniBand's marking, which heads that request all their candidates have alone.
fn add_queues(
    dice: &mut Dice,
    options: &mut SwitchOptions,
    (selection, chooses_queue): (Option<Selection>, bool),
) {
    if options.marking.is_none() && dice.chance(30) {
        options.marking = Some(options::infiniband(dice));
    }
    if selection == Some(Selection::Open) {
        return;
    }
    if chooses_queue || dice.chance(45) {
        options.queues = Queues::Voq;
    }
    options.reserve = options.output_arbitration != OutputArbitration::Random && dice.chance(25);
}

/// Whether the options have nothing that cases with wormhole switching lose.
fn keeps_most(options: &SwitchOptions) -> bool {
    options.sharing == BufferSharing::PerLane
        && options.matching == Matching::OutputFirst
        && options.output_lane_buffer == 0
        && options.forwarding == Forwarding::CutThrough
}

/// Whether the control of a class looks at the own switch (D51).
fn looks_at_switches(class: &ClassPlan) -> bool {
    let control = class.control.as_ref();
    control.is_some_and(|control| control.algorithm.looks().is_some())
}

/// The options without what excludes wormhole switching.
fn only_what_goes_with_it(options: &SwitchOptions) -> SwitchOptions {
    SwitchOptions {
        queues: Queues::Fifo,
        sharing: BufferSharing::PerLane,
        input_speedup: InputSpeedup::Limited(1),
        output_buffer: 0,
        output_lane_buffer: 0,
        matching: Matching::OutputFirst,
        allocation: Allocation::rounds(1),
        reserve: false,
        marking: None,
        ..options.clone()
    }
}
