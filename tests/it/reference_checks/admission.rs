//! The reference model's admission (D53, D55, D56, D61), worked out by hand.
//!
//! Through one switch of default delays a packet of n flits that starts in cycle t is granted in t + 2 and delivered in
//! t + n + 2 when its way is free.

use super::control::{flow, flows_of};
use super::flows::{Every, offered};
use super::{plan, star};
use crate::reference::{AdmissionCounts, Outcome, simulate};
use std::sync::{Arc, Mutex};
use virtlane::admission::Arrived;
use virtlane::admission::{
    ADMISSIONS, Admission, AdmissionContext, DeskState, Fabric, Meter, Request, Shown,
};
use virtlane::ids::HostId;
use virtlane::plan::{
    AdmissionPlan, FlowPlan, ONE_FLIT_PER_CYCLE, Plan, Requests, Slots, SwitchOptions,
};
use virtlane::registry::Arguments;
use virtlane::units::Clock;

/// A request, and what the desk was shown with it.
#[derive(Clone, Debug, PartialEq)]
struct Asked {
    now: u64,
    flow: u32,
    /// Flits by channel, and cycles; of one lane.
    loads: Option<(Vec<u64>, u64)>,
    meter: Option<Meter>,
}

/// Refuses what it is told to, and writes down what it is asked.
#[derive(Debug)]
struct Desk {
    /// Whether it refuses a flow in a cycle.
    refuses: fn(u64, u32) -> bool,
    loads: bool,
    meter: Option<Meter>,
    asked: Mutex<Vec<Asked>>,
}

impl Admission for Desk {
    fn start(&self, fabric: Fabric<'_>) -> DeskState {
        vec![fabric.paces.len() as u64]
    }

    fn ask(&self, _: &mut DeskState, request: &Request, shown: Shown<'_>) -> bool {
        let loads = shown.loads;
        self.asked.lock().expect("one thread").push(Asked {
            now: shown.now,
            flow: request.flow,
            loads: loads.map(|loads| (loads.flits.to_vec(), loads.cycles)),
            meter: shown.meter.cloned(),
        });
        !(self.refuses)(shown.now, request.flow)
    }

    fn meter(&self) -> Option<Meter> {
        self.meter.clone()
    }

    fn looks_at_loads(&self) -> bool {
        self.loads
    }
}

fn desk(refuses: fn(u64, u32) -> bool) -> Desk {
    Desk {
        refuses,
        loads: false,
        meter: None,
        asked: Mutex::default(),
    }
}

/// Rounds: the first, the gap, in vain in a row at most, in all at most.
type Rounds = (u64, u64, u32, u32);

/// A run in which the first so many classes ask, of packets of four flits; with what was asked.
fn run(
    desk: Desk,
    (first, gap, empty, most): Rounds,
    (asking, list): (usize, Vec<FlowPlan>),
    (cycles, change): (u64, fn(&mut Plan)),
) -> (Outcome, Vec<Asked>) {
    let desk = Arc::new(desk);
    let classes = 1 + list.iter().map(|flow| flow.class).max().expect("flows");
    let of_class = |class: u16| list.iter().filter(move |flow| flow.class == class);
    let mut all: Vec<_> = (0..classes)
        .map(|class| flows_of(4, of_class(class).count() as u64))
        .collect();
    for class in &mut all[..asking] {
        class.requests = Some(Requests {
            peak: 1,
            delay: None,
            delay_per_switch: 0,
            jitter: None,
        });
    }
    let options = SwitchOptions {
        lane_capacity: 64,
        ..SwitchOptions::default()
    };
    let mut plan = Plan {
        flows: list,
        admission: Some(AdmissionPlan {
            control: desk.clone(),
            first,
            gap,
            empty,
            most,
            decision: 0,
            tried: Vec::new(),
        }),
        ..plan(all, options)
    };
    change(&mut plan);
    let (graph, tables) = star(4, 1);
    let outcome = simulate(&plan, &graph, &tables, cycles);
    let asked = desk.asked.lock().expect("one thread").clone();
    (outcome, asked)
}

pub(super) fn sized(flits: u64, flow: FlowPlan) -> FlowPlan {
    FlowPlan {
        flits: Some(flits),
        ..flow
    }
}

pub(super) fn of_class(class: u16, flow: FlowPlan) -> FlowPlan {
    FlowPlan { class, ..flow }
}

/// Cycle and flow of every request.
fn order(asked: &[Asked]) -> Vec<(u64, u32)> {
    asked.iter().map(|asked| (asked.now, asked.flow)).collect()
}

fn start_cycles(outcome: &Outcome) -> Vec<Option<u64>> {
    outcome.flows.iter().map(|flow| flow.start).collect()
}

/// Cycles in which the packets of a flow were made, in order.
fn made(outcome: &Outcome, flow: u32) -> Vec<u64> {
    let mine = outcome.deliveries.iter().filter(|d| d.flow == Some(flow));
    let mut cycles: Vec<u64> = mine.map(|delivery| delivery.created).collect();
    cycles.sort_unstable();
    cycles
}

/// Hosts in order, at each the classes; one flow of each in a round. Then nobody asks in two rounds.
#[test]
fn a_round_asks_for_one_flow_of_each_host_and_class() {
    let list = vec![
        sized(4, flow(1, 3)),
        sized(4, flow(0, 3)),
        sized(4, flow(0, 2)),
        of_class(1, sized(4, flow(0, 3))),
    ];
    let (outcome, asked) = run(desk(|_, _| false), (5, 7, 2, 99), (2, list), (60, |_| {}));
    assert_eq!(order(&asked), [(5, 1), (5, 3), (5, 0), (12, 2)]);
    assert_eq!(start_cycles(&outcome), [5, 5, 12, 5].map(Some));
    let counts = AdmissionCounts {
        rounds: 4,
        released: 4,
        requests: vec![3, 1],
        admitted: vec![3, 1],
        waits: (0, 0),
        end: Some(26),
    };
    assert_eq!(outcome.admission, counts);
}

/// The flow behind it at its host waits for it; those of other hosts do not.
#[test]
fn a_refused_flow_asks_again_until_rounds_end() {
    let list = || vec![flow(0, 1), flow(0, 1), of_class(1, flow(0, 1))];
    let refuses = |now, flow| flow == 0 && now < 20;
    let (outcome, asked) = run(desk(refuses), (0, 10, 3, 99), (1, list()), (95, |_| {}));
    assert_eq!(order(&asked), [(0, 0), (10, 0), (20, 0), (30, 1)]);
    // what does not ask begins at once
    assert_eq!(start_cycles(&outcome), [20, 30, 0].map(Some));
    // 0 to 60: the three rounds without a request are in vain
    assert_eq!(outcome.admission.rounds, 7);
    assert_eq!(outcome.admission.requests, [4, 0]);
    // asked for in 0 and admitted in 20; at once
    assert_eq!(outcome.admission.waits, (20, 20));
    assert_eq!(outcome.admission.end, Some(60));
    let (outcome, asked) = run(desk(refuses), (0, 10, 2, 99), (1, list()), (95, |_| {}));
    assert_eq!(order(&asked), [(0, 0), (10, 0)]);
    assert_eq!(start_cycles(&outcome), [None, None, Some(0)]);
    assert!(made(&outcome, 0).is_empty());
    assert_eq!((outcome.admission.rounds, made(&outcome, 1).len()), (2, 0));
    assert_eq!(outcome.admission.end, Some(10));
    assert_eq!(outcome.admission.admitted, [0, 0]);
}

#[test]
fn rounds_end_when_so_many_are_done() {
    let list = vec![flow(0, 1), flow(0, 1), flow(0, 1)];
    let (outcome, _) = run(desk(|_, _| false), (3, 1, 9, 2), (1, list), (50, |_| {}));
    assert_eq!(start_cycles(&outcome), [Some(3), Some(4), None]);
    assert_eq!(outcome.admission.rounds, 2);
    assert_eq!(outcome.admission.end, Some(4));
}

/// Whatever its own start, a flow begins in the cycle of the act: backlogged, and with a process that counts from there.
#[test]
fn the_cycle_of_the_act_is_the_start_cycle() {
    let mut late = sized(8, flow(0, 2));
    late.start = 40;
    let mut early = sized(8, flow(1, 3));
    early.process = Some(offered(Arc::new(Every(9))));
    let list = vec![late, early];
    let (outcome, _) = run(desk(|_, _| false), (17, 5, 1, 99), (1, list), (60, |_| {}));
    assert_eq!(made(&outcome, 0), [17, 21]);
    assert_eq!(made(&outcome, 1), [17, 26]);
}

/// Flows admitted in 17 and 22 begin nine cycles later; rounds go on as without.
#[test]
fn decisions_take_time() {
    let far = |plan: &mut Plan| plan.admission.as_mut().expect("a desk").decision = 9;
    let mut second = sized(8, flow(0, 3));
    second.process = Some(offered(Arc::new(Every(9))));
    let list = || vec![sized(8, flow(0, 2)), second.clone()];
    let run_until = |cycles| {
        run(
            desk(|_, _| false),
            (17, 5, 2, 99),
            (1, list()),
            (cycles, far),
        )
    };
    let (outcome, asked) = run_until(60);
    assert_eq!(order(&asked), [(17, 0), (22, 1)]);
    assert_eq!(start_cycles(&outcome), [26, 31].map(Some));
    assert_eq!(made(&outcome, 0), [26, 30]);
    assert_eq!(made(&outcome, 1), [31, 40]);
    let counts = AdmissionCounts {
        rounds: 4,
        released: 0,
        requests: vec![2],
        admitted: vec![2],
        waits: (18, 9),
        end: Some(32),
    };
    assert_eq!(outcome.admission, counts);
    // admitted, and not begun
    let (outcome, _) = run_until(26);
    assert_eq!(outcome.admission.admitted, [2]);
    assert_eq!(start_cycles(&outcome), [None, None]);
}

/// Four slots, a tick every four cycles: B has slot 2 from the tick in 20 on, and slot 1 from that in 40 on, when C gets
/// slot 2 in that very tick.
#[test]
fn slots_move_when_a_flow_is_admitted() {
    let slotted = |plan: &mut Plan| {
        plan.classes[0].slots = Some(Slots {
            count: 4,
            load: 0.0,
            ticks: Arc::new(Every(4)),
            source: None,
        });
    };
    let list = vec![flow(0, 1), flow(0, 1), flow(0, 1)];
    let (outcome, _) = run(desk(|_, _| false), (0, 20, 1, 99), (1, list), (80, slotted));
    assert_eq!(made(&outcome, 0), [0, 16, 32, 48, 64]);
    assert_eq!(made(&outcome, 1), [24, 52, 68]);
    assert_eq!(made(&outcome, 2), [40, 56, 72]);
}

/// A control as a scenario names it.
fn control(name: &str, text: &str) -> Arc<dyn Admission> {
    let context = AdmissionContext {
        clock: Clock {
            flit_bytes: 64,
            reference_rate: 1,
        },
        lanes: None,
    };
    let entry = ADMISSIONS.find(name).expect("registered");
    (entry.build)(Arguments { text }, context).expect("arguments fit")
}

fn meter() -> Meter {
    let made = control("EgressMeasurement", "(slot: \"100 cycles\", slots: 4)");
    made.meter().expect("it measures")
}

/// Three flows of 0.4 of a flit per cycle, where one has room. Each starts in the round that has released the one before: its
/// eight flits have come with the tenth cycle after its start, which the round of that cycle does not know yet. Rounds that admit
/// nothing do not count as empty while somebody asks and one admitted is not released. From 35 on nobody asks: that round is empty,
/// whoever still goes, and the last flow is released in 45 if there are three such.
#[test]
fn who_is_over_makes_room_for_who_was_refused() {
    let one_at_a_time = |plan: &mut Plan| {
        let admission = plan.admission.as_mut().expect("a desk");
        admission.control = control("CalibratedLoad", "(groups: [([0], 0.5)])");
        let requests = plan.classes[0].requests.as_mut().expect("it asks");
        requests.peak = ONE_FLIT_PER_CYCLE / 5 * 2;
    };
    let list = || (0..3).map(|host| sized(8, flow(host, 3))).collect();
    let run_until = |cycles, empty| {
        let rounds = (0, 5, empty, 99);
        run(
            desk(|_, _| false),
            rounds,
            (1, list()),
            (cycles, one_at_a_time),
        )
        .0
    };
    for (empty, rounds, released, end) in [(1, 8, 2, 35), (2, 9, 2, 40), (3, 10, 3, 45)] {
        let outcome = run_until(60, empty);
        assert_eq!(start_cycles(&outcome), [0, 15, 30].map(Some));
        let counts = AdmissionCounts {
            rounds,
            released,
            requests: vec![12],
            admitted: vec![3],
            waits: (45, 30),
            end: Some(end),
        };
        assert_eq!(outcome.admission, counts);
    }
    assert_eq!(run_until(44, 3).admission.released, 2);
    // without sizes nothing is ever released, and the second round ends them
    let list = (0..3).map(|host| flow(host, 3)).collect();
    let (outcome, _) = run(
        desk(|_, _| false),
        (0, 5, 1, 99),
        (1, list),
        (60, one_at_a_time),
    );
    assert_eq!(start_cycles(&outcome), [Some(0), None, None]);
    assert_eq!(
        (outcome.admission.released, outcome.admission.end),
        (0, Some(5))
    );
}

/// A packet of flow 0 from host 0 to host 1.
fn arrived(created: u64, now: u64) -> Arrived {
    Arrived {
        now,
        created,
        source: 0,
        host: 1,
        class: 0,
        flits: 4,
    }
}

/// Packets of a flow that asks are delivered in 6 and 10, one of a class that does not in 18.
#[test]
fn a_meter_has_been_told_what_came_before_the_round() {
    let mut other = of_class(1, sized(4, flow(2, 1)));
    other.start = 12;
    let list = || vec![sized(8, flow(0, 1)), flow(0, 1), other.clone()];
    let measuring = || Desk {
        meter: Some(meter()),
        ..desk(|_, flow| flow == 1)
    };
    let (outcome, asked) = run(measuring(), (0, 6, 9, 9), (1, list()), (30, |_| {}));
    assert_eq!(
        order(&asked),
        [(0, 0), (6, 1), (12, 1), (18, 1), (24, 1), (30, 1)]
    );
    assert_eq!(outcome.flows[2].last_delivery, Some(18));
    let mut expected = meter();
    assert_eq!(asked[0].meter.as_ref(), Some(&expected));
    // the delivery in 6 comes after the act of 6
    assert_eq!(asked[1].meter.as_ref(), Some(&expected));
    expected.arrive(arrived(0, 6));
    expected.arrive(arrived(4, 10));
    for later in &asked[2..] {
        assert_eq!(later.meter.as_ref(), Some(&expected));
    }
    let (_, asked) = run(measuring(), (0, 7, 9, 9), (1, list()), (8, |_| {}));
    let mut expected = meter();
    expected.arrive(arrived(0, 6));
    assert_eq!(asked[1].meter.as_ref(), Some(&expected));
}

/// Starts in 0 and 4, grants in 2 and 6.
#[test]
fn loads_are_those_of_the_gap() {
    let list = vec![sized(8, flow(0, 1)), flow(0, 1)];
    let looking = Desk {
        loads: true,
        ..desk(|_, flow| flow == 1)
    };
    let (_, asked) = run(looking, (0, 5, 9, 4), (1, list), (40, |_| {}));
    let (graph, _) = star(4, 1);
    let ways = [
        graph.host_channel(HostId(0)),
        graph.host_channel(HostId(1)).reverse(),
    ];
    assert_eq!(asked[0].loads, None);
    for (asked, expected) in asked[1..].iter().zip([[8, 4], [0, 4], [0, 0]]) {
        let (flits, cycles) = asked.loads.as_ref().expect("not the first round");
        assert_eq!(*cycles, 5);
        let found = ways.map(|channel| flits[channel.index()]);
        assert_eq!(found, expected, "{asked:?}");
        assert_eq!(flits.iter().sum::<u64>(), expected.iter().sum::<u64>());
    }
    assert_eq!(order(&asked), [(0, 0), (5, 1), (10, 1), (15, 1)]);
}
