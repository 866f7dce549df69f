//! The reference model's phases of applications (D50), worked out by hand.
//!
//! Through one switch of default delays a packet of n flits that starts in cycle t is delivered in t + n + 2 when its way is
//! free.

use super::control::{flow, flows_of};
use super::{plan, star};
use crate::reference::{Delivery, Outcome, simulate};
use virtlane::plan::{AppPhase, FlowPlan, Limit, ONE_FLIT_PER_CYCLE, Plan, SwitchOptions};

/// A flow of so many flits in the phase with this place.
fn of_phase(place: u32, ends: (u32, u32), start: u64, flits: u64) -> FlowPlan {
    FlowPlan {
        start,
        flits: Some(flits),
        phase: Some(place),
        ..flow(ends.0, ends.1)
    }
}

fn phase(application: &str, number: u32) -> AppPhase {
    AppPhase {
        application: application.to_owned(),
        number,
        first_start: 0,
    }
}

/// Packets of four flits.
fn applications(phases: Vec<AppPhase>, flows: Vec<FlowPlan>) -> Plan {
    let options = SwitchOptions {
        lane_capacity: 64,
        ..SwitchOptions::default()
    };
    Plan {
        app_phases: phases,
        ..Plan {
            flows,
            ..plan(vec![flows_of(4, 0)], options)
        }
    }
}

fn run(plan: &Plan, cycles: u64) -> Outcome {
    let (graph, tables) = star(4, 1);
    simulate(plan, &graph, &tables, cycles)
}

fn starts(outcome: &Outcome, flow: u32) -> Vec<u64> {
    let mine = outcome.deliveries.iter().filter(|d| d.flow == Some(flow));
    let mut starts: Vec<u64> = mine.map(|delivery: &Delivery| delivery.injected).collect();
    starts.sort_unstable();
    starts
}

/// Two applications side by side; the slower flow of a phase opens the next.
#[test]
fn a_phase_opens_with_the_last_delivery_of_the_one_before() {
    let phases = vec![
        phase("a", 0),
        phase("a", 1),
        phase("a", 2),
        phase("b", 0),
        phase("b", 1),
    ];
    let mut paced = of_phase(1, (2, 3), 2, 8);
    paced.limit = Limit::Rate(ONE_FLIT_PER_CYCLE / 4);
    let flows = vec![
        // delivered in 9 and 13, and in 6: phase 1 opens in 13
        of_phase(0, (0, 1), 3, 8),
        of_phase(0, (2, 0), 0, 4),
        // 18 and 22, to 28
        of_phase(1, (1, 0), 5, 8),
        // 15 and 31, to 37: phase 2 opens in 37
        paced,
        of_phase(2, (0, 1), 1, 3),
        // of the other application, in the order of the flows; opens its phase 1 in 30
        of_phase(3, (3, 2), 24, 4),
        of_phase(4, (3, 2), 7, 4),
    ];
    let plan = applications(phases, flows);
    let outcome = run(&plan, 100);
    let all: Vec<Vec<u64>> = (0..7).map(|flow| starts(&outcome, flow)).collect();
    let expected: [&[u64]; 7] = [&[3, 7], &[0], &[18, 22], &[15, 31], &[38], &[24], &[37]];
    assert_eq!(all, expected);
    let begins = |outcome: &Outcome| {
        let counts = outcome.flows.iter();
        counts.map(|counts| counts.start).collect::<Vec<_>>()
    };
    let all = [3, 0, 18, 15, 38, 24, 37].map(Some);
    assert_eq!(begins(&outcome), all);
    // D34: a start cycle counts once it has come
    for cycles in [1, 13, 15, 16, 24, 25, 31, 37, 38, 39] {
        let begins = begins(&run(&plan, cycles));
        let come = |start: &u64| *start < cycles;
        let expected = all.map(|start| start.filter(come));
        assert_eq!(begins, expected, "after {cycles} cycles");
    }
    let early = run(&plan, 31);
    let counts = &early.flows[4];
    assert_eq!((counts.created, counts.first_start), ((0, 0), None));
}

/// Fifo: a flow stands since its own start cycle, which is 11 + 3 here; an endless flow stands since the cycle after its
/// last start.
#[test]
fn a_flow_of_a_later_phase_stands_since_its_start_cycle() {
    let flows = vec![
        of_phase(0, (1, 2), 5, 4),
        of_phase(1, (0, 3), 3, 8),
        FlowPlan {
            start: 2,
            ..flow(0, 1)
        },
    ];
    let plan = applications(vec![phase("a", 0), phase("a", 1)], flows);
    let outcome = run(&plan, 60);
    // the endless flow goes in 2, 6, 10; in 14 it stands since 11, in 18 since 15
    assert_eq!(starts(&outcome, 1), [18, 26]);
    assert_eq!(starts(&outcome, 2)[..7], [2, 6, 10, 14, 22, 30, 34]);
}
