//! The reference model's slots (D52), worked out by hand.
//!
//! Host 0 sends to host 1 through one switch, with room enough for all that is on its way.

use super::flows::{Every, flow, flows, run};
use crate::reference::Outcome;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use virtlane::ids::HostId;
use virtlane::plan::{FlowPlan, Limit, Plan, Slots};
use virtlane::registry::Arguments;
use virtlane::rng::{Purpose, Stream, source_id, stream, unit_interval};
use virtlane::traffic::{
    Gap, PROCESSES, Process, ProcessContext, ProcessState, SLOT_SOURCES, SizeDistribution,
    SlotSource, SlotState,
};

/// Packets of two flits in the slots of one class.
fn slotted(count: u32, ticks: Arc<dyn Process>, list: Vec<FlowPlan>) -> Plan {
    let mut plan = flows(SizeDistribution::fixed(2), list);
    plan.classes[0].slots = Some(Slots {
        count,
        load: 0.0,
        ticks,
        source: None,
    });
    plan
}

/// A process that scenarios name, for packets of two flits.
fn named(name: &str, text: &str) -> Arc<dyn Process> {
    let entry = PROCESSES.find(name).expect("registered");
    let context = ProcessContext {
        mean_size: 2.0,
        cycles_per_flit: 1,
    };
    let offered = (entry.build)(Arguments { text }, context);
    offered.expect("arguments fit").process
}

fn between(start: u64, stop: Option<u64>) -> FlowPlan {
    FlowPlan {
        start,
        stop,
        ..flow()
    }
}

fn sized(flits: u64) -> FlowPlan {
    FlowPlan {
        flits: Some(flits),
        ..flow()
    }
}

/// Cycles in which the packets of a flow were made, in order.
fn made(outcome: &Outcome, flow: u32) -> Vec<u64> {
    let mine = outcome.deliveries.iter().filter(|d| d.flow == Some(flow));
    let mut cycles: Vec<u64> = mine.map(|delivery| delivery.created).collect();
    cycles.sort_unstable();
    cycles
}

/// Counts how often it is asked for a gap.
#[derive(Debug)]
struct Counted(Every, AtomicU64);

impl Process for Counted {
    fn start(&self, rng: &mut Stream) -> ProcessState {
        self.0.start(rng)
    }

    fn gap(&self, state: &mut ProcessState, rng: &mut Stream) -> Gap {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.gap(state, rng)
    }
}

/// Sends in every second tick, and counts how often it is asked.
#[derive(Debug, Default)]
struct EverySecond(AtomicU64);

impl SlotSource for EverySecond {
    fn start(&self, _: &mut Stream) -> SlotState {
        SlotState::default()
    }

    fn sends(&self, state: &mut SlotState, _: &mut Stream) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed);
        state.calls += 1;
        state.calls.is_multiple_of(2)
    }
}

/// Two of four slots: 0 and floor(1 * 4 / 2).
#[test]
fn each_flow_has_every_nth_tick() {
    let two = || vec![flow(), flow()];
    // ticks in 0, 4, 8, ...
    let ticks = named("ConstantRate", "(load: 0.5, phase: Zero)");
    let outcome = run(&slotted(4, ticks, two()), 56);
    assert_eq!(made(&outcome, 0), [0, 16, 32, 48]);
    assert_eq!(made(&outcome, 1), [8, 24, 40]);
    // ticks in floor(2.5 k)
    let ticks = named("ConstantRate", "(load: 0.8, phase: Zero)");
    let outcome = run(&slotted(4, ticks, two()), 40);
    assert_eq!(made(&outcome, 0), [0, 10, 20, 30]);
    assert_eq!(made(&outcome, 1), [5, 15, 25, 35]);
    // three of seven: 0, floor(7 / 3), floor(14 / 3)
    let outcome = run(&slotted(7, Arc::new(Every(2)), vec![flow(); 3]), 42);
    assert_eq!(made(&outcome, 0), [0, 14, 28]);
    assert_eq!(made(&outcome, 1), [4, 18, 32]);
    assert_eq!(made(&outcome, 2), [8, 22, 36]);
}

/// Four slots, a tick every four cycles: C starts in that of tick 5, A stops in that of tick 12.
#[test]
fn slots_move_when_flows_start_and_stop() {
    let list = vec![between(0, Some(48)), flow(), between(20, None)];
    let outcome = run(&slotted(4, Arc::new(Every(4)), list), 80);
    // slot 0 in ticks 0, 4, 8
    assert_eq!(made(&outcome, 0), [0, 16, 32]);
    // slot 2 in tick 2; slot 1 in ticks 5 and 9; slot 0 in ticks 12 and 16
    assert_eq!(made(&outcome, 1), [8, 20, 36, 48, 64]);
    // slot 2 in ticks 6, 10, 14, 18
    assert_eq!(made(&outcome, 2), [24, 40, 56, 72]);
}

/// What has made all its flits holds its slot, until it stops.
#[test]
fn a_slot_of_a_flow_without_flits_is_silent() {
    let mut done = sized(3);
    done.stop = Some(30);
    let outcome = run(&slotted(4, Arc::new(Every(2)), vec![done, flow()]), 50);
    let sizes: Vec<_> = (outcome.deliveries.iter())
        .filter(|d| d.flow == Some(0))
        .map(|d| (d.created, d.size))
        .collect();
    assert_eq!(sizes, [(0, 2), (8, 1)]);
    // slot 2 in ticks 2, 6, 10, 14; slot 0 in ticks 16 and 20
    assert_eq!(made(&outcome, 1), [4, 12, 20, 28, 32, 40]);
}

/// Room for two packets of each class at each host: A and B share it, neither with C, of another class, nor with D, at
/// another host.
#[test]
fn flows_of_a_class_share_a_bounded_queue() {
    let held = FlowPlan {
        limit: Limit::Rate(0),
        ..flow()
    };
    let released = |cycle: u64| FlowPlan {
        changes: Arc::new([(cycle, Limit::None)]),
        ..held.clone()
    };
    let back = FlowPlan {
        source: HostId(1),
        destination: HostId(0),
        ..flow()
    };
    let other = FlowPlan {
        class: 1,
        ..released(30)
    };
    let list = vec![held.clone(), released(18), back, other];
    let mut plan = slotted(2, Arc::new(Every(4)), list);
    let mut class = plan.classes[0].clone();
    class.slots = Some(Slots {
        count: 1,
        load: 0.0,
        ticks: Arc::new(Every(8)),
        source: None,
    });
    plan.classes.push(class);
    plan.host.flow_queue = Some(2);
    let outcome = run(&plan, 60);
    let of_flow = |flow: u32| {
        let mine = outcome.deliveries.iter().filter(|d| d.flow == Some(flow));
        let mine = mine.map(|d| (d.sequence, d.created, d.injected));
        mine.collect::<Vec<_>>()
    };
    // A in ticks 0, 2, 4, ..., B in 1, 3, 5, ...; accepted are 0, 1, 5, and 6, with which A has two
    assert_eq!(of_flow(0), []);
    assert_eq!(of_flow(1), [(1, 4, 18), (5, 20, 20)]);
    let counts = |flow: usize| (outcome.flows[flow].created, outcome.flows[flow].rejected);
    assert_eq!(counts(0), ((8, 16), (6, 12)));
    assert_eq!(counts(1), ((7, 14), (5, 10)));
    // alone at its host, slot 0
    let expected = (0..7).map(|k| (k, 8 * k, 8 * k)).collect::<Vec<_>>();
    assert_eq!(of_flow(2), expected);
    // made in 0 and 8, and from 32 on; 16 and 24 are rejected
    let expected = [
        (0, 0, 30),
        (1, 8, 32),
        (4, 32, 34),
        (5, 40, 40),
        (6, 48, 48),
    ];
    assert_eq!(of_flow(3), expected);
    assert_eq!(counts(3), ((8, 16), (2, 4)));
    assert_eq!(outcome.rejected, 13);
}

/// Two slots, a tick every two cycles. A sends three packets in every second of ticks 0, 2, 4, ...; B, from 12 on, one in
/// the second of ticks 7, 9, ...
#[test]
fn a_source_is_asked_in_each_tick_of_its_slot_while_flits_are_left() {
    let source = Arc::new(EverySecond::default());
    let mut late = sized(2);
    late.start = 12;
    let mut plan = slotted(2, Arc::new(Every(2)), vec![sized(6), late]);
    let slots = plan.classes[0].slots.as_mut().expect("given");
    slots.source = Some(source.clone());
    let outcome = run(&plan, 100);
    assert_eq!(made(&outcome, 0), [4, 12, 20]);
    assert_eq!(made(&outcome, 1), [18]);
    assert_eq!(source.0.load(Ordering::Relaxed), 6 + 2);
}

/// One clock per class and host, with gaps of its own; each flow draws on its own.
#[test]
fn ticks_and_sources_have_their_own_streams() {
    let bernoulli = named("Bernoulli", "(load: 0.7)");
    let mut plan = slotted(2, bernoulli.clone(), vec![flow(), flow()]);
    let mut empty = plan.classes[0].clone();
    empty.slots = None;
    plan.classes.insert(0, empty);
    for flow in &mut plan.flows {
        flow.class = 1;
    }
    let text = "(probability: 0.3)";
    let entry = SLOT_SOURCES.find("Chance").expect("registered");
    let source = (entry.build)(Arguments { text }).expect("arguments fit");
    plan.classes[1].slots.as_mut().expect("given").source = Some(source.source);
    let outcome = run(&plan, 400);
    let mut gaps = stream(plan.seed, Purpose::SlotTicks, source_id(1, 0));
    let mut draws = [0, 1].map(|flow| stream(plan.seed, Purpose::FlowArrivals, flow));
    let mut state = bernoulli.start(&mut gaps);
    let (mut expected, mut now) = ([vec![], vec![]], 0);
    for tick in 0.. {
        let Gap::After(gap) = bernoulli.gap(&mut state, &mut gaps) else {
            panic!("ticks go on");
        };
        now += gap;
        // the last ones are still on their way
        if now >= 300 {
            assert!(tick > 80, "{tick}");
            break;
        }
        let flow = tick % 2;
        if unit_interval(&mut draws[flow]) <= 0.3 {
            expected[flow].push(now);
        }
    }
    for (flow, expected) in (0..).zip(expected) {
        let mut made = made(&outcome, flow);
        made.retain(|&cycle| cycle < 300);
        assert_eq!(made, expected);
        assert!(made.len() > 8, "{made:?}");
    }
}

/// The first tick that finds nobody to make a packet, now or later, is the last.
#[test]
fn a_clock_ends_with_its_flows() {
    let gaps = |list: Vec<FlowPlan>| {
        let ticks = Arc::new(Counted(Every(5), AtomicU64::new(0)));
        let outcome = run(&slotted(2, ticks.clone(), list), 200);
        (made(&outcome, 0), ticks.1.load(Ordering::Relaxed))
    };
    // flits end with tick 2, so tick 3 is the last
    assert_eq!(gaps(vec![sized(4)]), (vec![0, 10], 4));
    // ticks 0 to 4 come before the stop; tick 5, in it, is the last
    assert_eq!(gaps(vec![between(0, Some(25))]), (vec![0, 10, 20], 6));
    // it waits for a later start: slot 0 again in ticks 22 and 24, in 110 and 120; tick 25 is the last
    let list = vec![between(101, Some(121)), sized(2)];
    assert_eq!(gaps(list), (vec![110, 120], 26));
    // none that can still go: 40 ticks in 200 cycles
    assert_eq!(gaps(vec![flow()]).1, 41);
}
