//! The reference model's leaky buckets (D46), worked out by hand.
//!
//! Through one switch of default delays a packet of n flits that starts in cycle t is delivered in t + n + 2 when its way is
//! free.

use super::control::{flow, flows_of};
use super::flows::{Every, offered};
use super::{backlogged, plan, star};
use crate::reference::{Outcome, simulate};
use std::sync::Arc;
use virtlane::plan::{FlowPlan, Limit, ONE_FLIT_PER_CYCLE, Plan, Scheduler, SwitchOptions, Window};

const QUARTER: Limit = Limit::Rate(ONE_FLIT_PER_CYCLE / 4);

fn limited(limit: Limit) -> FlowPlan {
    FlowPlan {
        limit,
        ..flow(0, 1)
    }
}

/// Packets of four flits.
fn buckets(flows: Vec<FlowPlan>) -> Plan {
    let options = SwitchOptions {
        lane_capacity: 64,
        ..SwitchOptions::default()
    };
    let class = flows_of(4, flows.len() as u64);
    let mut plan = Plan {
        flows,
        ..plan(vec![class], options)
    };
    plan.host.scheduler = Scheduler::LeakyBucket;
    plan
}

fn run(plan: &Plan, cycles: u64) -> Outcome {
    let (graph, tables) = star(2, 1);
    simulate(plan, &graph, &tables, cycles)
}

/// (Creation, start) of the packets of a flow; `None`: of the source queue.
fn times(outcome: &Outcome, flow: Option<u32>) -> Vec<(u64, u64)> {
    let mine = outcome.deliveries.iter().filter(|d| d.flow == flow);
    let mut times: Vec<(u64, u64)> = mine.map(|d| (d.created, d.injected)).collect();
    times.sort_unstable();
    times
}

/// Buckets do not know of each other: both packets enter in one cycle, and one leaves right behind the other.
#[test]
fn packets_of_two_flows_leave_back_to_back() {
    let mut plan = buckets(vec![limited(QUARTER), limited(QUARTER)]);
    let outcome = run(&plan, 60);
    assert_eq!(
        times(&outcome, Some(0)),
        [(0, 0), (16, 16), (32, 32), (48, 48)]
    );
    assert_eq!(
        times(&outcome, Some(1)),
        [(0, 4), (16, 20), (32, 36), (48, 52)]
    );
    // the queue goes before what has not entered before its head was created: in 0, 1, 13, 17, 29, 33
    plan.classes.push(backlogged(&[0], 1, 4, 0));
    let outcome = run(&plan, 60);
    assert_eq!(
        times(&outcome, Some(0)),
        [(0, 4), (16, 20), (32, 36), (48, 52)]
    );
    assert_eq!(times(&outcome, Some(1))[..3], [(0, 8), (16, 24), (32, 40)]);
    let queue = times(&outcome, None);
    assert_eq!(
        queue[..6],
        [(0, 0), (1, 12), (13, 16), (17, 28), (29, 32), (33, 44)]
    );
}

/// At rate 0 nothing enters; after a change e follows from the last entry; what has entered goes also after the stop.
#[test]
fn entries_follow_from_entries() {
    let mut stopped = limited(Limit::None);
    stopped.stop = Some(9);
    let mut changing = limited(Limit::Rate(0));
    changing.changes = Arc::new([
        (2, QUARTER),
        (20, Limit::Rate(ONE_FLIT_PER_CYCLE / 8)),
        (40, Limit::Rate(0)),
    ]);
    let outcome = run(&buckets(vec![stopped, limited(Limit::None), changing]), 60);
    // A enters in 0, 4, 8, B in every fourth cycle, C in 2 and 18, and not in 50
    assert_eq!(times(&outcome, Some(0)), [(0, 0), (4, 12), (8, 20)]);
    let second = times(&outcome, Some(1));
    assert_eq!(
        second[..6],
        [(0, 4), (4, 16), (8, 24), (12, 28), (16, 32), (20, 40)]
    );
    assert_eq!(times(&outcome, Some(2)), [(2, 8), (18, 36)]);
}

/// A window counts what has entered.
#[test]
fn a_window_counts_entries() {
    let mut windowed = limited(Limit::None);
    windowed.window = Some(Window {
        packets: 1,
        delay: 10,
    });
    let outcome = run(&buckets(vec![windowed, limited(Limit::None)]), 60);
    // delivered in 6 and 26; the other flow has four packets before the second one, five before the third
    assert_eq!(times(&outcome, Some(0)), [(0, 0), (16, 20), (36, 44)]);
}

/// A packet that is made in 32 meets the full queue before the first leaves it for the FIFO.
#[test]
fn queues_of_flows_are_in_front_of_the_fifo() {
    let mut made = limited(Limit::Rate(ONE_FLIT_PER_CYCLE / 8));
    made.process = Some(offered(Arc::new(Every(8))));
    let mut plan = buckets(vec![made]);
    plan.host.flow_queue = Some(2);
    let outcome = run(&plan, 71);
    assert_eq!(times(&outcome, Some(0)), [(0, 0), (8, 32), (16, 64)]);
    let counts = &outcome.flows[0];
    // made in 0, 8, ..., 64; in 24, 32, 48, 56, 64 there were two
    assert_eq!((counts.created, counts.rejected), ((9, 36), (5, 20)));
}
