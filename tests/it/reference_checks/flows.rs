//! The reference model's flows (D27 to D34), starts computed by hand.
//!
//! One host sends to another through one switch; with room enough for all that is on its way only the flows' own rules
//! say when a packet starts.

use super::{backlogged, plan, star, star_of, timing};
use crate::reference::{FlowCounts, Outcome, simulate};
use std::sync::Arc;
use virtlane::ids::{HostId, SlId};
use virtlane::plan::{
    ClassPlan, FlowPlan, Limit, ONE_FLIT_PER_CYCLE, Plan, Scheduler, SwitchOptions, Unit, Window,
};
use virtlane::rng::Stream;
use virtlane::traffic::{Gap, OfferedProcess, Process, ProcessState, SizeDistribution};

/// A quarter of a flit per cycle.
const QUARTER: Limit = Limit::Rate(ONE_FLIT_PER_CYCLE / 4);
const HALF: Limit = Limit::Rate(ONE_FLIT_PER_CYCLE / 2);

/// A backlogged flow of class 0.
pub(super) fn flow() -> FlowPlan {
    FlowPlan::backlogged(0, HostId(0), HostId(1))
}

fn limited(limit: Limit) -> FlowPlan {
    FlowPlan { limit, ..flow() }
}

fn sized(flits: u64) -> FlowPlan {
    FlowPlan {
        flits: Some(flits),
        ..flow()
    }
}

fn weighted(weight: u16) -> FlowPlan {
    FlowPlan { weight, ..flow() }
}

/// A process of a flow; its load is told to nobody.
pub(super) fn offered(process: Arc<dyn Process>) -> OfferedProcess {
    let load = 0.0;
    OfferedProcess { process, load }
}

/// A packet every so many cycles, the first one at once.
#[derive(Debug)]
pub(super) struct Every(pub(super) u64);

impl Process for Every {
    fn start(&self, _: &mut Stream) -> ProcessState {
        ProcessState::default()
    }

    fn gap(&self, state: &mut ProcessState, _: &mut Stream) -> Gap {
        state.calls += 1;
        Gap::After(if state.calls == 1 { 0 } else { self.0 })
    }
}

/// A plan of one class with these flows.
pub(super) fn flows(size: SizeDistribution, flows: Vec<FlowPlan>) -> Plan {
    let hosts = vec![HostId(0), HostId(1)];
    let class = ClassPlan {
        flows: Some(flows.len() as u64),
        ..ClassPlan::silent(String::from("flows"), hosts, size, vec![SlId(0)])
    };
    let options = SwitchOptions {
        lane_capacity: 64,
        ..SwitchOptions::default()
    };
    Plan {
        flows,
        ..plan(vec![class], options)
    }
}

/// The same with packets of one size and a scheduler.
fn scheduled(size: u16, scheduler: Scheduler, list: Vec<FlowPlan>) -> Plan {
    let mut plan = flows(SizeDistribution::fixed(size), list);
    plan.host.scheduler = scheduler;
    plan
}

pub(super) fn run(plan: &Plan, cycles: u64) -> Outcome {
    let (graph, tables) = star(2, 1);
    simulate(plan, &graph, &tables, cycles)
}

/// Starts of a flow.
fn starts(outcome: &Outcome, flow: u32) -> Vec<u64> {
    let mine = outcome.deliveries.iter().filter(|d| d.flow == Some(flow));
    let mut starts: Vec<u64> = mine.map(|delivery| delivery.injected).collect();
    starts.sort_unstable();
    starts
}

/// Who starts, in order: flows from A on, Q for the source queue.
fn turns(outcome: &Outcome, packets: usize) -> String {
    let mut all: Vec<(u64, char)> = outcome
        .deliveries
        .iter()
        .map(|d| {
            let name = d.flow.map_or('Q', |flow| char::from(b'A' + flow as u8));
            (d.injected, name)
        })
        .collect();
    all.sort_unstable();
    all.into_iter().take(packets).map(|turn| turn.1).collect()
}

/// A second class, always backlogged, of ordinary packets.
fn add_queue(plan: &mut Plan, size: u16) {
    plan.classes.push(backlogged(&[0], 1, size, 0));
}

/// Alone, a flow of a rate starts a packet when the flits before it are paid for, rounded up, without drift.
#[test]
fn a_paced_flow_does_not_drift() {
    // 0.3 * 2^32 = 1288490188.8
    let rate = 1_288_490_189;
    let mixed = SizeDistribution::mixed((1..=4).map(|size| (size, 1)).collect());
    let mixed = mixed.expect("sizes");
    let fixed = (1..=4).map(SizeDistribution::fixed);
    for size in fixed.chain([mixed]) {
        let mut paced = limited(Limit::Rate(rate));
        paced.start = 17;
        let outcome = run(&flows(size, vec![paced]), 3_000);
        let mut flits: u64 = 0;
        for delivery in &outcome.deliveries {
            let paid = (u128::from(flits) << 32).div_ceil(rate.into());
            assert_eq!(u128::from(delivery.injected), 17 + paid, "{delivery:?}");
            assert_eq!(delivery.created, delivery.injected);
            flits += u64::from(delivery.size);
        }
        assert!((880..=900).contains(&flits), "{flits}");
    }
}

/// The delay counts from the end of the packet: 5 flits of 2 cycles, and 3 times floor(10 / 2^2).
#[test]
fn a_delay_counts_from_the_end_of_the_packet() {
    let (graph, tables) = star_of(&[timing(2, 1); 2], 1);
    let delay = Limit::Delay { entry: 3, shift: 2 };
    let plan = flows(SizeDistribution::fixed(5), vec![limited(delay)]);
    let outcome = simulate(&plan, &graph, &tables, 100);
    assert_eq!(starts(&outcome, 0), [0, 16, 32, 48, 64, 80]);
}

/// After a change the flow goes as if its last start had been under the new limit.
#[test]
fn a_change_counts_from_the_last_start() {
    let mut changing = limited(HALF);
    changing.changes = Arc::new([
        (18, Limit::Rate(ONE_FLIT_PER_CYCLE / 8)),
        (30, Limit::Rate(ONE_FLIT_PER_CYCLE)),
        (40, Limit::Rate(0)),
        (60, Limit::None),
        (66, Limit::Delay { entry: 2, shift: 0 }),
        (84, QUARTER),
    ]);
    let outcome = run(
        &flows(SizeDistribution::fixed(4), vec![changing.clone()]),
        140,
    );
    // 16 + 4 * 8 = 48 is not reached; 16 + 4 has passed; nothing at rate 0; 68 is too early for 64 + 4 + 4 * 2, 76 + 12
    // for 76 + 4 * 4
    let expected = [0, 8, 16, 30, 34, 38, 60, 64, 76, 92, 108, 124];
    assert_eq!(starts(&outcome, 0), expected);
    // a rate that is 0 at first
    changing.limit = Limit::Rate(0);
    changing.changes = Arc::new([(33, QUARTER)]);
    let outcome = run(&flows(SizeDistribution::fixed(4), vec![changing]), 80);
    assert_eq!(starts(&outcome, 0), [33, 49, 65]);
}

/// What rounding has cost is given back only to a packet that goes in its first eligible cycle: 2/7 of a flit per
/// cycle, held up by a packet of 7 flits of another flow in the cycles 9 to 15.
#[test]
fn time_lost_to_others_is_not_made_up() {
    let rate = ONE_FLIT_PER_CYCLE * 2 / 7;
    let mut long = sized(7);
    (long.class, long.start) = (1, 9);
    let mut plan = flows(
        SizeDistribution::fixed(1),
        vec![limited(Limit::Rate(rate)), long],
    );
    let mut class = plan.classes[0].clone();
    class.size = SizeDistribution::fixed(7);
    plan.classes.push(class);
    let outcome = run(&plan, 40);
    assert_eq!(starts(&outcome, 1), [9]);
    // packet k at ceil(3.5 k) and a bit, so 4, 8 (7 and a bit), 11; that waits for 16, from which all begins anew
    assert_eq!(starts(&outcome, 0), [0, 4, 8, 16, 20, 24, 27, 31, 34]);
}

#[test]
fn turns_of_schedulers_without_clocks() {
    let two = || vec![weighted(3), weighted(1)];
    let (packets, flits) = (
        Scheduler::WeightedRoundRobin(Unit::Packets),
        Scheduler::WeightedRoundRobin(Unit::Flits),
    );
    for (scheduler, alone, with_queue) in [
        // a flow that has gone stands from the cycle after on, behind who stands since before
        (Scheduler::Fifo, "ABABABAB", "QABQABQA"),
        (Scheduler::RoundRobin, "ABABABAB", "QABQABQA"),
        (packets, "AAABAAAB", "QAAABQAA"),
        // packets of two flits: 3, 1, -1 of A, and 1, -1 of B
        (flits, "AABAABAA", "QAABQAAB"),
        (Scheduler::ShortestRemaining, "AAAAAAAA", "AAAAAAAA"),
    ] {
        let mut plan = scheduled(2, scheduler, two());
        assert_eq!(turns(&run(&plan, 100), 8), alone, "{scheduler:?}");
        add_queue(&mut plan, 2);
        assert_eq!(turns(&run(&plan, 100), 8), with_queue, "{scheduler:?}");
    }
}

/// Weighted round robin, alone again: the current place comes last and gets its weight anew.
#[test]
fn a_lone_contender_has_all_turns() {
    let mut late = weighted(1);
    late.start = 9;
    let scheduler = Scheduler::WeightedRoundRobin(Unit::Packets);
    let plan = scheduled(2, scheduler, vec![weighted(3), late]);
    // A begins anew in cycle 6, so two turns are left when B comes
    assert_eq!(turns(&run(&plan, 100), 11), "AAAAAABAAAB");
}

/// Fifo: of a flow with a process the creation counts, or the eligible cycle.
#[test]
fn a_packet_that_waits_stands_since_it_may_go() {
    let process: Arc<dyn Process> = Arc::new(Every(8));
    let mut made = flow();
    made.process = Some(offered(process));
    let mut paced = limited(QUARTER);
    paced.flits = Some(6);
    // A stands since 0, 8, 16, 24; B since 0, 2 + 8, 14 + 8; C since the cycle after its last start
    let plan = scheduled(2, Scheduler::Fifo, vec![made, paced, flow()]);
    assert_eq!(turns(&run(&plan, 60), 15), "ABCCCACBCACCBCA");
}

/// The fewest flits left first; without a size after them, the queue last.
#[test]
fn the_shortest_goes_first() {
    let mut late = sized(2);
    late.start = 5;
    let list = vec![sized(6), sized(4), flow(), late];
    let mut plan = scheduled(2, Scheduler::ShortestRemaining, list);
    add_queue(&mut plan, 2);
    assert_eq!(turns(&run(&plan, 100), 9), "BBADAACCC");
}

/// Each flow is held to its rate, and what is too much for the channel is shared by rates.
#[test]
fn virtual_clocks_share_by_rates() {
    let whole = Limit::Rate(ONE_FLIT_PER_CYCLE);
    let two = |a, b| vec![limited(a), limited(b)];
    let plan = scheduled(1, Scheduler::VirtualClock, two(HALF, QUARTER));
    let outcome = run(&plan, 20);
    assert_eq!(starts(&outcome, 0), [0, 2, 4, 6, 8, 10, 12, 14, 16]);
    assert_eq!(starts(&outcome, 1), [1, 5, 9, 13]);
    // keys 0 0 1 2 2 3 4 4 5
    let plan = scheduled(1, Scheduler::VirtualClock, two(whole, HALF));
    assert_eq!(turns(&run(&plan, 40), 9), "ABAABAABA");
    // the queue has what is left; a flow without a limit leaves nothing
    let mut plan = scheduled(1, Scheduler::VirtualClock, two(HALF, QUARTER));
    add_queue(&mut plan, 1);
    assert_eq!(turns(&run(&plan, 40), 8), "ABAQABAQ");
    let mut plan = scheduled(1, Scheduler::VirtualClock, two(Limit::None, Limit::Rate(0)));
    add_queue(&mut plan, 1);
    assert_eq!(turns(&run(&plan, 40), 8), "AAAAAAAA");
}

/// A flow that comes late begins at the common virtual time: it does not make up for what it has not sent.
#[test]
fn a_late_flow_begins_at_the_common_virtual_time() {
    let mut late = limited(Limit::None);
    late.start = 10;
    let list = vec![limited(Limit::None), late];
    let plan = scheduled(1, Scheduler::VirtualClock, list);
    // V is 9 in cycle 10, so B has key 9, A 10; then B has 10, too
    assert_eq!(turns(&run(&plan, 40), 16), "AAAAAAAAAABABABA");
}

/// One packet after the other at the sum of the rates of those that are sendable now.
#[test]
fn paced_lanes_send_at_the_sum_of_rates() {
    let mut stopped = limited(QUARTER);
    stopped.stop = Some(10);
    let mut plan = scheduled(2, Scheduler::Paced, vec![limited(QUARTER), stopped]);
    let outcome = run(&plan, 50);
    // 2 flits at 1/2: 4 cycles; from cycle 10 on at 1/4: 8 cycles after the start in 8
    assert_eq!(starts(&outcome, 0), [0, 8, 16, 24, 32, 40]);
    assert_eq!(starts(&outcome, 1), [4]);
    // the queue goes between
    add_queue(&mut plan, 1);
    let outcome = run(&plan, 50);
    assert_eq!(starts(&outcome, 0), [0, 8, 16, 24, 32, 40]);
    assert_eq!(starts(&outcome, 1), [4]);
    assert_eq!(turns(&outcome, 12), "AQQBQQAQQQQQ");
    // of three flits, from 2 to 4 and from 7 to 9: B a cycle late, which is not made up
    plan.classes[1] = backlogged(&[0], 1, 3, 0);
    assert_eq!(starts(&run(&plan, 12), 1), [5]);
}

/// What rounding costs a lane is given back: 1 flit at 2/7 of a flit per cycle, as of one flow.
#[test]
fn a_paced_lane_does_not_drift() {
    let seventh = limited(Limit::Rate(ONE_FLIT_PER_CYCLE / 7));
    let plan = scheduled(1, Scheduler::Paced, vec![seventh.clone(), seventh]);
    let outcome = run(&plan, 40);
    // a bit more than 3.5 cycles each: 0, 3.5, 7.0, 10.5, ... rounded up
    assert_eq!(starts(&outcome, 0), [0, 8, 15, 22, 29, 36]);
    assert_eq!(starts(&outcome, 1), [4, 11, 18, 25, 32]);
}

/// With a window of W the packet W later starts when the delivery counts.
#[test]
fn a_window_waits_for_deliveries() {
    for (packets, delay) in [(1, 1), (1, 12), (3, 40)] {
        let mut windowed = flow();
        windowed.window = Some(Window { packets, delay });
        let outcome = run(&flows(SizeDistribution::fixed(4), vec![windowed]), 800);
        let window = packets as usize;
        assert!(outcome.deliveries.len() > 2 * window);
        for (first, second) in outcome.deliveries.iter().zip(&outcome.deliveries[window..]) {
            let counts = first.delivered + delay;
            assert!(second.injected >= counts);
            let others = u64::from(packets - 1) * 4;
            assert!(second.injected <= counts + others);
            assert!(packets > 1 || second.injected == counts);
        }
    }
}

/// Numbers are given in the order of making; what meets a full queue counts towards the size.
#[test]
fn what_a_flow_makes_is_numbered_and_counted() {
    let mut made = sized(15);
    made.process = Some(offered(Arc::new(Every(10))));
    made.start = 7;
    made.limit = Limit::Rate(0);
    made.changes = Arc::new([(60, Limit::None)]);
    let mut started = sized(4);
    started.start = 7;
    let mut plan = flows(SizeDistribution::fixed(2), vec![started, made]);
    plan.host.flow_queue = Some(2);
    plan.phases.warmup = 10;
    plan.phases.measure = 100;
    let outcome = run(&plan, 200);
    let numbers: Vec<_> = outcome
        .deliveries
        .iter()
        .map(|d| (d.sequence, d.flow, d.created, d.injected, d.size))
        .collect();
    // made in 7 before the other starts, 17, ..., 77; of these 27, 37 and 47 and 57 are rejected
    let expected = [
        (0, Some(1), 7, 60, 2),
        (1, Some(0), 7, 7, 2),
        (2, Some(0), 9, 9, 2),
        (3, Some(1), 17, 62, 2),
        (8, Some(1), 67, 67, 2),
        (9, Some(1), 77, 77, 1),
    ];
    assert_eq!(numbers, expected);
    assert_eq!((outcome.created, outcome.rejected), (10, 4));
    // 1 + 2 cycles and the tail to the other host; the packet made in 7 is not tagged
    let latency = outcome.deliveries[1].delivered - 7;
    let counts = FlowCounts {
        start: Some(7),
        created: (8, 15),
        attempted: 7,
        rejected: (4, 8),
        started: (4, 7),
        delivered: (4, 7),
        dropped: (0, 0),
        received: 7,
        tagged: 3,
        network: (3 * latency - 1, latency),
        packet: (3 * latency - 1 + 45, latency + 45),
        jitter: (1, 1),
        first_start: Some(60),
        last_delivery: Some(77 + latency - 1),
        marked: 0,
        answered: 0,
        logged: 0,
        last_logged: None,
    };
    assert_eq!(outcome.flows[1], counts);
    let class = &outcome.window.classes[0];
    assert_eq!(
        (class.created, class.rejected, class.tagged),
        ((7, 13), 4, 3)
    );
}
