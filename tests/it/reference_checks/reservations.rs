//! The reference model's reservations by packets (D60), worked out by hand.
//!
//! One switch of default delays. In band a control packet of two flits created in t starts in t, is granted in t + 2 and delivered
//! in t + 4 when its way is free. All flows ask for a quarter of a flit per cycle, in packets of four flits; where half of a
//! channel may be given away, that of a host has room for two of them, any other for one.

use super::control::{flow, flows_of, named};
use super::flows::{Every, offered};
use super::{plan, star};
use crate::reference::{AdmissionCounts, Outcome, ReservationCounts, simulate};
use std::sync::Arc;
use virtlane::plan::{
    ClassPlan, Control, FlowPlan, ONE_FLIT_PER_CYCLE, OutOfBand, Plan, Requests, Slots,
    SwitchOptions,
};

const PEAK: u64 = ONE_FLIT_PER_CYCLE / 4;

/// Lets the flows of a class reserve; its answers are those of another class.
fn reserve(class: &mut ClassPlan, arguments: &str, answers: u16, transport: Option<OutOfBand>) {
    class.requests = Some(Requests {
        peak: PEAK,
        delay: None,
        delay_per_switch: 0,
        jitter: Some(1),
    });
    class.control = Some(Control {
        queue: None,
        algorithm: named("Reservation", arguments, 2, Some(PEAK)),
        answers,
        transport,
    });
}

/// A plan whose classes all reserve, each with these arguments.
fn reserving(arguments: &[&str], transport: Option<OutOfBand>, flows: Vec<FlowPlan>) -> Plan {
    let count = arguments.len() as u16;
    let mut classes = Vec::new();
    for (number, arguments) in (0..).zip(arguments) {
        let mine = flows.iter().filter(|flow| flow.class == number);
        let mut class = flows_of(4, mine.count() as u64);
        reserve(&mut class, arguments, count + number, transport);
        classes.push(class);
    }
    for number in 0..count {
        classes.push(ClassPlan {
            answers: Some(number),
            flows: None,
            ..flows_of(2, 0)
        });
    }
    let options = SwitchOptions {
        lane_capacity: 64,
        ..SwitchOptions::default()
    };
    Plan {
        flows,
        ..plan(classes, options)
    }
}

fn run(plan: &Plan, cycles: u64) -> Outcome {
    let (graph, tables) = star(3, 1);
    simulate(plan, &graph, &tables, cycles)
}

/// A flow of twelve flits that may ask from a cycle on.
fn asks(source: u32, destination: u32, start: u64) -> FlowPlan {
    FlowPlan {
        start,
        flits: Some(12),
        ..flow(source, destination)
    }
}

/// Cycles in which the packets of a flow were made, in order.
fn made(outcome: &Outcome, flow: u32) -> Vec<u64> {
    let mine = outcome.deliveries.iter();
    let mine = mine.filter(|d| d.flow == Some(flow) && d.size == 4);
    let mut cycles: Vec<u64> = mine.map(|delivery| delivery.created).collect();
    cycles.sort_unstable();
    cycles
}

fn starts(outcome: &Outcome) -> Vec<Option<u64>> {
    outcome.flows.iter().map(|flow| flow.start).collect()
}

const HALF: &str = "(utilisation: 0.5, retry: \"30 cycles\", attempts: 2, limit: false)";
const MORE: &str = "(utilisation: 0.6, retry: \"30 cycles\", attempts: 2, limit: false)";

/// The timer in 10 sends what is created in 11 and delivered in 15; the reply is created in 16 and delivered in 20. Out of band
/// it takes 2 + 2 + (3 + 2 + 6 + 2) cycles there, and 2 + 2 + (3 + 2 + 2) back.
#[test]
fn a_flow_begins_in_the_cycle_after_the_reply() {
    let slow = OutOfBand {
        serialisation: 2,
        routing: 3,
        processing: 6,
        propagation: 2,
        broadcast: None,
    };
    for (transport, start) in [(None, 21), (Some(slow), 11 + 17 + 1 + 11 + 1)] {
        let mut plan = reserving(&[HALF], transport, vec![asks(0, 2, 10)]);
        let outcome = run(&plan, 100);
        assert_eq!(starts(&outcome), [Some(start)]);
        assert_eq!(made(&outcome, 0), [start, start + 4, start + 8]);
        let counts = ReservationCounts {
            requests: 1,
            begun: 1,
            waits: (start - 10, start - 10),
        };
        assert_eq!(outcome.reservations, counts);
        // the reply, and the answer to its last flit, after which a release visits as the request did
        assert_eq!((outcome.flows[0].logged, outcome.flows[0].answered), (1, 2));
        assert_eq!(outcome.control[0].visits.iter().sum::<u64>(), 4);
        // no desk, no rounds
        assert_eq!(outcome.admission, AdmissionCounts::default());
        // the reply comes in the last cycle, or after it
        let begun = |cycles| run(&plan, cycles).reservations.begun;
        assert_eq!((begun(start - 1), begun(start)), (0, 1));
        assert_eq!(starts(&run(&plan, start)), [None]);
        // a process counts from there
        plan.flows[0].process = Some(offered(Arc::new(Every(9))));
        let outcome = run(&plan, 100);
        assert_eq!(made(&outcome, 0), [start, start + 9, start + 18]);
    }
}

/// The second one comes to the channel of host 2 two cycles after the first, which has left too little; it asks once more, and
/// begins then if the first has an end and is over.
#[test]
fn what_has_no_room_does_not_begin() {
    let flows = || vec![asks(0, 2, 10), asks(1, 2, 12)];
    let outcome = run(&reserving(&[HALF], None, flows()), 200);
    assert_eq!(starts(&outcome)[0], Some(21));
    assert!(starts(&outcome)[1] > Some(21 + 12 + 4), "{outcome:?}");
    let endless = || {
        let flows = flows().into_iter();
        let endless = flows.map(|flow| FlowPlan {
            flits: None,
            ..flow
        });
        endless.collect::<Vec<_>>()
    };
    let outcome = run(&reserving(&[HALF], None, endless()), 200);
    assert_eq!(starts(&outcome), [Some(21), None]);
    assert!(made(&outcome, 1).is_empty());
    let counts = ReservationCounts {
        requests: 3,
        begun: 1,
        waits: (11, 11),
    };
    assert_eq!(outcome.reservations, counts);
    // at the hosts' own channels and that of host 2: two requests, or two requests and two releases
    let mut visits = outcome.control[0].visits.clone();
    visits.sort_unstable();
    assert_eq!(visits, [0, 0, 0, 1, 4, 5]);
    let outcome = run(&reserving(&[MORE], None, flows()), 200);
    assert_eq!(starts(&outcome), [Some(21), Some(23)]);
    assert_eq!(outcome.reservations.waits, (22, 11));
    // each class has agents of its own
    let mut flows = flows();
    flows[1].class = 1;
    let outcome = run(&reserving(&[HALF, HALF], None, flows), 200);
    assert_eq!(starts(&outcome), [Some(21), Some(23)]);
    let counts = ReservationCounts {
        requests: 2,
        begun: 2,
        waits: (22, 11),
    };
    assert_eq!(outcome.reservations, counts);
}

/// Four slots, a tick every four cycles. The second flow asks in 30 and begins in 41: too late for the tick of its slot in 40.
#[test]
fn a_slot_is_held_from_the_start_cycle_on() {
    let mut flows = vec![asks(0, 2, 10), asks(0, 2, 30)];
    for flow in &mut flows {
        flow.flits = None;
    }
    let mut plan = reserving(&[MORE], None, flows);
    plan.classes[0].slots = Some(Slots {
        count: 4,
        load: 0.0,
        ticks: Arc::new(Every(4)),
        source: None,
    });
    let outcome = run(&plan, 110);
    assert_eq!(starts(&outcome), [Some(21), Some(41)]);
    assert_eq!(made(&outcome, 0), [32, 48, 64, 80, 96]);
    assert_eq!(made(&outcome, 1), [56, 72, 88]);
}
