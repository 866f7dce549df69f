//! The reference model's control (D39 to D42), worked out by hand.
//!
//! Through one switch of default delays a packet of n flits that starts in cycle t is delivered in t + n + 2 when its way is
//! free. What the machines say is asked of them here again.

use super::marking::{from_fill, infiniband};
use super::{backlogged, plan, star};
use crate::reference::{Controlled, Outcome, Says, simulate};
use virtlane::control::erratic::Erratic;
use virtlane::control::{
    ALGORITHMS, Acknowledge, Actions, Algorithm, Arrival, ControlContext, Event, Facts, Limit,
    Line, Sender, WHOLE_LINK,
};
use virtlane::ids::{HostId, SlId};
use virtlane::plan::{
    ClassPlan, Control, FlowPlan, ONE_FLIT_PER_CYCLE, Plan, Scheduler, SwitchOptions, Victims,
};
use virtlane::registry::Arguments;
use virtlane::traffic::SizeDistribution;
use virtlane::units::Clock;

/// A backlogged flow of class 0.
pub(super) fn flow(source: u32, destination: u32) -> FlowPlan {
    FlowPlan::backlogged(0, HostId(source), HostId(destination))
}

pub(super) fn flows_of(size: u16, count: u64) -> ClassPlan {
    let (hosts, size) = ((0..3).map(HostId).collect(), SizeDistribution::fixed(size));
    ClassPlan {
        flows: Some(count),
        ..ClassPlan::silent(String::from("flows"), hosts, size, vec![SlId(0)])
    }
}

pub(super) fn erratic(seed: u64, answers: u32) -> Erratic {
    Erratic {
        seed,
        delays: true,
        answers,
        ..Erratic::default()
    }
}

/// An algorithm by its name, for packets of four flits, with answers of so many and the peak that flows ask for.
pub(super) fn named(name: &str, arguments: &str, answer: u16, peak: Option<u64>) -> Algorithm {
    let context = ControlContext {
        clock: Clock {
            flit_bytes: 64,
            reference_rate: 1_000_000_000,
        },
        smallest: 4,
        largest: 4,
        answer,
        peak,
        link: WHOLE_LINK,
    };
    let build = ALGORITHMS.find(name).expect("registered").build;
    build(Arguments { text: arguments }, context).expect("arguments fit")
}

/// Class 0 of these flows with control, in packets of four flits; class 1 of their answers, of so many.
pub(super) fn controlled_by(algorithm: Algorithm, flows: Vec<FlowPlan>, answer: u16) -> Plan {
    let mut class = flows_of(4, flows.len() as u64);
    class.control = Some(Control {
        algorithm,
        answers: 1,
        transport: None,
        queue: None,
    });
    let answers = ClassPlan {
        answers: Some(0),
        flows: None,
        ..flows_of(answer, 0)
    };
    let options = SwitchOptions {
        lane_capacity: 64,
        ..SwitchOptions::default()
    };
    Plan {
        flows,
        ..plan(vec![class, answers], options)
    }
}

/// One flow with control, from host 0 to host 1; answers of two flits.
pub(super) fn controlled(machines: Erratic, flits: Option<u64>) -> Plan {
    let flow = FlowPlan {
        flits,
        ..flow(0, 1)
    };
    controlled_by(Algorithm::Erratic(machines), vec![flow], 2)
}

const LINE: Line = Line {
    pace: 1,
    largest: 4,
};

const FACTS: Facts = Facts {
    id: 0,
    start: 0,
    stop: None,
    flits: None,
    weight: 1,
};

fn started(machines: Erratic) -> (Sender, Actions) {
    let mut actions = Actions::default();
    let sender = Algorithm::Erratic(machines).start(LINE, &mut actions);
    (sender, actions)
}

fn sent(machines: Erratic, sender: &mut Sender, now: u64, event: Event) -> Actions {
    let mut actions = Actions::default();
    Algorithm::Erratic(machines).send(sender, now, event, &mut actions);
    actions
}

/// Machines whose sender sets nothing at its start.
fn unset(answers: u32) -> impl Iterator<Item = Erratic> {
    let all = (0..).map(move |seed| erratic(seed, answers));
    all.filter(|&machines| started(machines).1 == Actions::default())
}

/// What the receiver answers to the first packet, started in 0 and delivered in 6, and after how long.
fn first_answer(machines: Erratic) -> (u32, u64) {
    let algorithm = Algorithm::Erratic(machines);
    let arrival = Arrival {
        now: 6,
        flits: 4,
        is_marked: false,
        latency: 6,
    };
    let answer = algorithm.receive(&mut algorithm.receiver(), arrival);
    let answer = answer.expect("it answers everything");
    (answer.value, answer.after)
}

/// Cycles of a run of [`simulated`].
const CYCLES: u64 = 400;

fn simulated(plan: &Plan) -> Outcome {
    let (graph, tables) = star(2, 1);
    simulate(plan, &graph, &tables, CYCLES)
}

fn starts(outcome: &Outcome, class: u16) -> Vec<u64> {
    let mine = outcome.deliveries.iter().filter(|d| d.class == class);
    mine.map(|delivery| delivery.injected).collect()
}

/// One packet: its answer is made d cycles after its delivery, starts at once, and is counted.
#[test]
fn an_answer_is_made_after_its_time() {
    let mut delays = Vec::new();
    for machines in unset(100).take(30) {
        let outcome = simulated(&controlled(machines, Some(4)));
        let [packet, answer] = &outcome.deliveries[..] else {
            panic!("{outcome:?}")
        };
        assert_eq!((packet.class, packet.delivered), (0, 6));
        let (_, after) = first_answer(machines);
        assert_eq!((answer.class, answer.sequence, answer.size), (1, 0, 2));
        assert_eq!((answer.source, answer.destination), (HostId(1), HostId(0)));
        assert_eq!(
            [answer.created, answer.injected, answer.delivered],
            [6 + after, 6 + after, 6 + after + 4]
        );
        let counts = &outcome.flows[0];
        assert_eq!((counts.delivered, counts.answered), ((1, 4), 1));
        assert_eq!(outcome.created, 2);
        delays.push(after);
    }
    assert!(delays.contains(&1) && delays.iter().any(|&after| after > 40));
    // no answer to anything
    let machines = unset(0).next().expect("no end of them");
    let outcome = simulated(&controlled(machines, Some(4)));
    assert_eq!((outcome.created, outcome.flows[0].answered), (1, 0));
}

/// At host 1 a queue and a flow send packets of four flits in turns, from cycle 0 on. The answer takes the first free
/// cycle, and nobody loses a turn.
#[test]
fn answers_go_before_flows_and_queues() {
    for machines in unset(100).take(6) {
        let mut plan = controlled(machines, Some(4));
        plan.host.scheduler = Scheduler::RoundRobin;
        plan.classes.push(flows_of(4, 1));
        plan.classes.push(backlogged(&[1], 0, 4, 0));
        plan.flows.push(FlowPlan {
            class: 2,
            ..flow(1, 0)
        });
        let outcome = simulated(&plan);
        let created = 6 + first_answer(machines).1;
        let start = created.next_multiple_of(4);
        assert_eq!(starts(&outcome, 1), [start]);
        let at = |turn: u64| 4 * turn + if 4 * turn >= start { 2 } else { 0 };
        let (flow, queue) = (starts(&outcome, 2), starts(&outcome, 3));
        assert!(flow.len() > 40 && queue.len() > 40);
        for (turn, (&flow, &queue)) in (0..).zip(flow.iter().zip(&queue)) {
            assert_eq!((queue, flow), (at(2 * turn), at(2 * turn + 1)));
        }
    }
}

/// Answers share an output with packets that are marked, and are not.
#[test]
fn answers_are_not_marked() {
    let machines = unset(100).next().expect("no end of them");
    let mut plan = controlled(machines, None);
    plan.flows[0].destination = HostId(2);
    plan.switch.marking = Some(from_fill(1));
    plan.classes.push(backlogged(&[1], 0, 4, 0));
    let (graph, tables) = star(3, 1);
    for marking in [from_fill(1), infiniband(15, Victims::All)] {
        plan.switch.marking = Some(marking);
        let outcome = simulate(&plan, &graph, &tables, 2_000);
        assert!(outcome.flows[0].answered > 3);
        let marked = |class| {
            let mine = outcome.deliveries.iter().filter(move |d| d.class == class);
            mine.filter(|delivery| delivery.fecn).count()
        };
        assert_eq!(marked(1), 0);
        assert!(marked(2) > 3);
    }
}

/// The first start sets a limit: the second follows from it.
#[test]
fn a_limit_set_at_a_start_holds_the_next_packet() {
    let (mut rates, mut delays) = (0, 0);
    for machines in unset(0).take(300) {
        let mut sender = started(machines).0;
        let actions = sent(machines, &mut sender, 0, Event::Started(4));
        if actions.timer.flatten().is_some() {
            continue;
        }
        let eligible = match actions.limit {
            None | Some(Limit::None) => 0,
            Some(Limit::Delay { entry, shift }) => {
                delays += 1;
                4 + (4 >> shift) * u64::from(entry)
            }
            Some(Limit::Rate(rate)) => {
                rates += 1;
                (4 * ONE_FLIT_PER_CYCLE).div_ceil(rate)
            }
        };
        let expected = [0, eligible.max(4)];
        let in_time = expected.into_iter().filter(|start| start + 6 < CYCLES);
        let starts = starts(&simulated(&controlled(machines, Some(8))), 0);
        assert_eq!(
            starts,
            in_time.collect::<Vec<_>>(),
            "{machines:?} {actions:?}"
        );
    }
    assert!(rates > 5 && delays > 5, "{rates} {delays}");
}

/// A sender that begins at rate 0 with a timer, whose call sets another limit: the flow goes in the cycle after.
#[test]
fn a_limit_counts_from_the_cycle_after() {
    let mut woken = 0;
    for seed in 0..400 {
        let machines = erratic(seed, 0);
        let (mut sender, actions) = started(machines);
        let (Some(Limit::Rate(0)), Some(Some(timer))) = (actions.limit, actions.timer) else {
            continue;
        };
        let called = sent(machines, &mut sender, timer, Event::Timer);
        if called.limit.is_none_or(|limit| limit == Limit::Rate(0)) {
            continue;
        }
        let outcome = simulated(&controlled(machines, Some(4)));
        assert_eq!(starts(&outcome, 0), [timer + 1], "{machines:?}");
        woken += 1;
    }
    assert!(woken > 3, "{woken}");
}

/// A flow of machines that set nothing at the start.
pub(super) fn blank() -> Controlled {
    let machines = unset(0).next().expect("no end of them");
    Controlled::new(&Algorithm::Erratic(machines), LINE, Some(FACTS))
}

fn acknowledge(after: u64) -> Actions {
    Actions {
        acknowledge: Some(Acknowledge::one(after)),
        ..Actions::default()
    }
}

fn window(packets: u32) -> Actions {
    Actions {
        window: Some(packets),
        ..Actions::default()
    }
}

#[test]
fn limits_and_windows_count_from_the_next_cycle() {
    let mut flow = blank();
    flow.start();
    let limit = Limit::Rate(77);
    let actions = Actions {
        limit: Some(limit),
        ..window(1)
    };
    flow.act(actions, 7);
    assert_eq!((flow.limit(7), flow.limit(8)), (Limit::None, limit));
    assert_eq!((flow.is_open(7), flow.is_open(8)), (true, false));
    // of two calls of one cycle the later one counts
    flow.act(window(1), 9);
    flow.act(window(2), 9);
    assert_eq!((flow.is_open(9), flow.is_open(10)), (false, true));
}

/// More acknowledgements than packets are outstanding: what is too much is lost.
#[test]
fn acknowledgements_stop_at_none() {
    let mut flow = blank();
    flow.act(window(1), 0);
    for after in [3, 3, 4] {
        flow.act(acknowledge(after), 2);
    }
    flow.start();
    assert!(!flow.is_open(4));
    flow.acknowledge(4);
    assert!(!flow.is_open(4));
    flow.acknowledge(5);
    assert!(flow.is_open(5));
    // the second of cycle 5 and that of cycle 6 found none, and the packet started between is acknowledged by the latter
    flow.start();
    assert!(!flow.is_open(5));
    flow.acknowledge(6);
    assert!(flow.is_open(6));
    flow.acknowledge(7);
    flow.start();
    assert!(!flow.is_open(7));
}

/// Three packets are outstanding when the window falls to one: three acknowledgements open it.
#[test]
fn a_window_may_fall_below_what_is_outstanding() {
    let mut flow = blank();
    flow.act(window(4), 0);
    for _ in 0..3 {
        flow.start();
    }
    assert!(flow.is_open(1));
    flow.act(window(1), 10);
    assert!(flow.is_open(10) && !flow.is_open(11));
    for after in [5, 6, 9] {
        flow.act(acknowledge(after), 10);
    }
    let mut open = Vec::new();
    for now in 11..25 {
        flow.acknowledge(now);
        if flow.is_open(now) {
            open.push(now);
        }
    }
    assert_eq!(open, (19..25).collect::<Vec<_>>());
}

/// In a cycle with a start, an answer and a timer the sender is called in this order; a call before it may have set the
/// timer anew.
#[test]
fn a_sender_is_called_in_order() {
    let (mut with_timer, mut without) = (0, 0);
    for seed in 0..200 {
        let machines = erratic(seed, 0);
        let (mut sender, mut all) = started(machines);
        let Some(Some(now)) = all.timer else {
            continue;
        };
        let algorithm = Algorithm::Erratic(machines);
        let mut flow = Controlled::new(&algorithm, LINE, Some(FACTS));
        flow.notify(&algorithm, Some(3), Some(Says::Answer(99)), now);
        let mut timer = Some(now);
        for event in [Event::Started(3), Event::Answered(99), Event::Timer] {
            if event == Event::Timer && timer != Some(now) {
                without += 1;
                continue;
            }
            with_timer += u32::from(event == Event::Timer);
            let actions = sent(machines, &mut sender, now, event);
            all.limit = actions.limit.or(all.limit);
            timer = actions.timer.unwrap_or(timer);
        }
        assert_eq!(flow.limit(now + 1), all.limit.unwrap_or_default());
        // what the machine was told before shows in what it does next
        if timer == Some(now + 1) {
            continue;
        }
        let next = sent(machines, &mut sender, now + 1, Event::Answered(5));
        flow.notify(&algorithm, None, Some(Says::Answer(5)), now + 1);
        let expected = next.limit.or(all.limit).unwrap_or_default();
        assert_eq!(flow.limit(now + 2), expected, "{seed}");
    }
    assert!(with_timer > 5 && without > 5, "{with_timer} {without}");
}
