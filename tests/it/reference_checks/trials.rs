//! The reference model's trials (D59), worked out by hand.
//!
//! Through one switch of default delays a packet of n flits that starts in cycle t is granted in t + 2 and delivered in
//! t + n + 2 when its way is free. With a mean gap of one cycle all gaps are one cycle: a session that begins in cycle c makes
//! its packets in c + 1, c + 2 and so on.

use super::admission::{of_class, sized};
use super::control::{flow, flows_of};
use super::{plan, star};
use crate::reference::{AdmissionCounts, Outcome, simulate};
use std::sync::{Arc, Mutex};
use virtlane::admission::{
    ADMISSIONS, Admission, AdmissionContext, DeskState, Fabric, Heard, Request, Sessions, Shown,
    Trials,
};
use virtlane::plan::{AdmissionPlan, FlowPlan, Plan, Requests, SwitchOptions};
use virtlane::registry::Arguments;
use virtlane::rng::{Purpose, below, stream};
use virtlane::units::Clock;

/// Admits what it is told to, and writes down what it is shown.
#[derive(Debug)]
struct Desk {
    trials: Trials,
    /// Whether it admits a flow that was tried so often before.
    admits: fn(u32, usize) -> bool,
    shown: Mutex<Vec<(u32, Heard)>>,
}

impl Admission for Desk {
    fn start(&self, _: Fabric<'_>) -> DeskState {
        DeskState::new()
    }

    fn ask(&self, _: &mut DeskState, _: &Request, _: Shown<'_>) -> bool {
        true
    }

    fn trials(&self) -> Option<Trials> {
        Some(self.trials)
    }

    fn judge(&self, _: &mut DeskState, request: &Request, heard: Heard) -> bool {
        let mut shown = self.shown.lock().expect("one thread");
        let before = shown.iter().filter(|shown| shown.0 == request.flow).count();
        shown.push((request.flow, heard));
        (self.admits)(request.flow, before)
    }
}

/// Packets, mean gap, queue, time from look to look.
fn trials(packets: u32, gap: Option<u32>, queue: u32, look: u64) -> Trials {
    Trials {
        packets,
        gap,
        queue,
        level: None,
        look,
        sessions: Sessions::Own,
    }
}

/// Rounds: the first, the gap, in vain in a row at most, in all at most.
type Rounds = (u64, u64, u32, u32);

/// Once.
const ONCE: Rounds = (0, 1, 1, 1);

/// A plan with packets of so many flits, whose class 0 is tried, and class 1 asks if there is one.
fn asking(
    control: Arc<dyn Admission>,
    (first, gap, empty, most): Rounds,
    (size, jitter): (u16, u64),
    mut flows: Vec<FlowPlan>,
) -> Plan {
    let classes = 1 + flows.iter().map(|flow| flow.class).max().expect("flows");
    let of_class = |class: u16| flows.iter().filter(move |flow| flow.class == class);
    let mut all: Vec<_> = (0..classes)
        .map(|class| flows_of(size, of_class(class).count() as u64))
        .collect();
    for (class, jitter) in all.iter_mut().zip([Some(jitter), None]) {
        class.requests = Some(Requests {
            peak: 1 << 29,
            delay: None,
            delay_per_switch: 0,
            jitter,
        });
    }
    let mut admission = AdmissionPlan {
        control,
        first,
        gap,
        empty,
        most,
        decision: 0,
        tried: Vec::new(),
    };
    admission.add_probes(&mut all, &mut flows);
    let options = SwitchOptions {
        lane_capacity: 64,
        ..SwitchOptions::default()
    };
    Plan {
        flows,
        admission: Some(admission),
        ..plan(all, options)
    }
}

/// A run, with what the desk was shown.
fn run(
    (trials, admits): (Trials, fn(u32, usize) -> bool),
    rounds: Rounds,
    (size, flows): (u16, Vec<FlowPlan>),
    (cycles, change): (u64, fn(&mut Plan)),
) -> (Outcome, Vec<(u32, Heard)>) {
    let desk = Arc::new(Desk {
        trials,
        admits,
        shown: Mutex::default(),
    });
    let mut plan = asking(desk.clone(), rounds, (size, 1), flows);
    change(&mut plan);
    let (graph, tables) = star(4, 2);
    let outcome = simulate(&plan, &graph, &tables, cycles);
    let shown = desk.shown.lock().expect("one thread").clone();
    (outcome, shown)
}

fn heard(packets: u32, received: u32, latencies: Option<(u64, u64)>, rejected: u32) -> Heard {
    Heard {
        packets,
        received,
        latencies,
        rejected,
    }
}

/// Packets received, and their least and most latencies.
fn received(shown: &[(u32, Heard)]) -> Vec<(u32, Option<(u64, u64)>)> {
    let of = |heard: Heard| (heard.received, heard.latencies);
    shown.iter().map(|&(_, heard)| of(heard)).collect()
}

/// Cycles in which the packets of a flow were made, in order.
fn made(outcome: &Outcome, flow: u32) -> Vec<u64> {
    let mine = outcome.deliveries.iter().filter(|d| d.flow == Some(flow));
    let mut cycles: Vec<u64> = mine.map(|delivery| delivery.created).collect();
    cycles.sort_unstable();
    cycles
}

/// Made in 6, 7 and 8, delivered in 9, 10 and 11. The look in 8 comes before the last one is made; from 9 on, a gap after
/// that, the trial is over whatever has come.
#[test]
fn a_look_hears_what_came_before_it() {
    for (look, over, expected) in [
        (1, 9, heard(3, 0, None, 0)),
        (3, 11, heard(3, 2, Some((3, 3)), 0)),
        (4, 9, heard(3, 0, None, 0)),
        (5, 10, heard(3, 1, Some((3, 3)), 0)),
        (6, 11, heard(3, 2, Some((3, 3)), 0)),
        (7, 12, heard(3, 3, Some((3, 3)), 0)),
        (20, 25, heard(3, 3, Some((3, 3)), 0)),
    ] {
        let trials = trials(3, Some(1), 4, look);
        let flows = vec![sized(2, flow(0, 1))];
        let rounds = (5, 7, 1, 9);
        let (outcome, shown) = run((trials, |_, _| true), rounds, (1, flows), (60, |_| {}));
        assert_eq!(shown, [(0, expected)], "{look}");
        assert_eq!(outcome.flows[0].start, Some(over), "{look}");
        assert_eq!(made(&outcome, 0), [over, over + 1]);
        assert_eq!(made(&outcome, 1), [6, 7, 8]);
        let probes = &outcome.flows[1];
        assert_eq!((probes.start, probes.created), (Some(0), (3, 3)));
        let classes = outcome.deliveries.iter().map(|d| (d.class, d.flow));
        assert!(
            classes
                .into_iter()
                .all(|(class, flow)| flow == Some(class.into()))
        );
        // one more round in which nobody asks, and what was admitted is over
        let counts = AdmissionCounts {
            rounds: 2,
            released: 1,
            requests: vec![1, 0],
            admitted: vec![1, 0],
            waits: (over - 5, over - 5),
            end: Some(over + 7),
        };
        assert_eq!(outcome.admission, counts);
    }
}

/// Five packets of four flits, made in 1 to 5. That of 1 starts at once, the next in 5 after all are made: one waits, and
/// those behind it are rejected; or two wait.
#[test]
fn packets_that_wait_behind_too_many_are_rejected() {
    for (queue, look, expected) in [
        (1, 6, heard(5, 0, None, 3)),
        (1, 12, heard(5, 2, Some((6, 6)), 3)),
        (2, 12, heard(5, 2, Some((6, 6)), 2)),
        (2, 30, heard(5, 3, Some((6, 6)), 2)),
        (4, 30, heard(5, 5, Some((6, 6)), 0)),
    ] {
        let trials = trials(5, Some(1), queue, look);
        for flow_queue in [
            |_: &mut Plan| {},
            |plan: &mut Plan| plan.host.flow_queue = Some(0),
        ] {
            let flows = vec![sized(4, flow(0, 1))];
            let control: (_, fn(u32, usize) -> bool) = (trials, |_, _| false);
            let (outcome, shown) = run(control, ONCE, (4, flows), (60, flow_queue));
            assert_eq!(shown, [(0, expected)], "{queue} {look}");
            let rejected = u64::from(expected.rejected);
            let counts = &outcome.flows[1];
            assert_eq!(counts.created, (5, 20));
            assert_eq!(counts.rejected, (rejected, 4 * rejected));
            assert_eq!(outcome.rejected, rejected);
        }
    }
}

/// Three sessions of one flow, at every cycle a look. A trial ends when its last packet has come, in the cycle after, or a mean
/// gap after it was made.
#[test]
fn gaps_are_drawn_around_the_mean() {
    for (mean, size) in [(2, 1), (3, 1), (4, 4), (5, 1), (20, 1), (20, 4), (32, 4)] {
        // at the peak of an eighth of a flit per cycle four flits take 32 cycles
        let gap = (mean < 32).then_some(mean);
        let flows = vec![sized(size, flow(0, 1))];
        let admits: fn(u32, usize) -> bool = |_, before| before == 2;
        let trials = trials(3, gap, 9, 1);
        let rounds = (7, 10, 9, 9);
        let (outcome, shown) = run(
            (trials, admits),
            rounds,
            (size as u16, flows),
            (800, |_| {}),
        );
        let mut draws = stream(1, Purpose::FlowArrivals, 1);
        let (mut round, mut expected) = (7, Vec::new());
        for _ in 0..3 {
            let mut at = round;
            for _ in 0..3 {
                let half = mean / 2;
                at += u64::from(mean - half + below(&mut draws, 2 * half + 1));
                expected.push(at);
            }
            let delivered = at + size + 2;
            round = 10 + (delivered + 1).min(at + u64::from(mean));
        }
        assert_eq!(made(&outcome, 1), expected, "{mean} {size}");
        assert_eq!(outcome.flows[0].start, Some(round - 10));
        assert_eq!(shown.len(), 3);
        let most = u64::from(mean + mean / 2);
        let least = u64::from(mean - mean / 2);
        let gaps = expected.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(gaps.clone().all(|gap| gap >= least));
        let within = gaps.enumerate().filter(|(place, _)| place % 3 != 2);
        assert!(within.into_iter().all(|(_, gap)| gap <= most));
    }
}

/// Packets of four flits made in 1 and 2, in 6 and 7, in 11 and 12, one after the other on the channel: those of a session come
/// when it is over.
#[test]
fn packets_of_an_earlier_session_do_not_count() {
    let flows = || vec![flow(0, 1)];
    let often = trials(2, Some(1), 9, 1);
    let rounds = (0, 2, 9, 3);
    let (outcome, shown) = run((often, |_, _| false), rounds, (4, flows()), (60, |_| {}));
    assert_eq!(made(&outcome, 1), [1, 2, 6, 7, 11, 12]);
    let delivered: Vec<u64> = outcome.deliveries.iter().map(|d| d.delivered).collect();
    assert_eq!(delivered, [7, 11, 15, 19, 23, 27]);
    assert_eq!(received(&shown), [(0, None); 3]);
    assert_eq!(outcome.admission.requests, [3, 0]);
    assert_eq!(outcome.flows[0].start, None);
    // with one look in 12, 26 and 40 they all come in time
    let rarely = trials(2, Some(1), 9, 12);
    let (_, shown) = run((rarely, |_, _| false), rounds, (4, flows()), (60, |_| {}));
    assert_eq!(received(&shown), [(2, Some((6, 6))); 3]);
}

/// Two hosts send three packets each to a third, in turns: those of host 0 take 3, 4 and 5 cycles, the others one more. With a
/// common counter the first flow in the turn has all of them and moves the number; the sessions of the next round have another
/// one than the counter waits for.
#[test]
fn a_common_counter_counts_what_comes_to_the_destination() {
    let flows = || vec![flow(0, 2), flow(1, 2)];
    let own = trials(3, Some(1), 4, 50);
    let rounds = (0, 10, 9, 3);
    let none: (_, fn(u32, usize) -> bool) = (own, |_, _| false);
    let (outcome, shown) = run(none, rounds, (1, flows()), (200, |_| {}));
    let order: Vec<u32> = shown.iter().map(|shown| shown.0).collect();
    assert_eq!(order, [0, 1, 0, 1, 0, 1]);
    let both = [(3, Some((3, 5))), (3, Some((4, 6)))];
    assert_eq!(received(&shown), [both; 3].concat());
    assert_eq!(outcome.admission.rounds, 3);
    let shared = Trials {
        sessions: Sessions::Shared,
        ..own
    };
    let (_, shown) = run((shared, none.1), rounds, (1, flows()), (200, |_| {}));
    let mut expected = [(0, None); 6];
    expected[0] = (6, Some((3, 6)));
    assert_eq!(received(&shown), expected);
}

/// Two flows of a host, one after the other, to different hosts: with common numbers the session of the second is 2, and its
/// counter waits for 1.
#[test]
fn sessions_of_a_host_have_common_numbers() {
    let flows = || vec![sized(1, flow(0, 2)), sized(1, flow(0, 3))];
    let own = trials(3, Some(1), 4, 50);
    let all: (_, fn(u32, usize) -> bool) = (own, |_, _| true);
    let rounds = (0, 10, 9, 2);
    let (outcome, shown) = run(all, rounds, (1, flows()), (200, |_| {}));
    let whole = (3, Some((3, 3)));
    assert_eq!(received(&shown), [whole; 2]);
    let starts = outcome.flows.iter().map(|flow| flow.start);
    assert_eq!(starts.collect::<Vec<_>>(), [50, 110, 0, 0].map(Some));
    let shared = Trials {
        sessions: Sessions::Shared,
        ..own
    };
    let (_, shown) = run((shared, all.1), rounds, (1, flows()), (200, |_| {}));
    assert_eq!(received(&shown), [whole, (0, None)]);
}

/// Rounds begin in 5, 19, 33 and so on; trials are over four cycles later. Flow 1 is admitted when it is tried for the third time.
#[test]
fn a_round_is_over_when_nobody_is_on_trial() {
    let flows = || {
        vec![
            sized(4, flow(0, 2)),
            sized(4, flow(1, 2)),
            of_class(1, sized(4, flow(0, 3))),
            of_class(1, sized(4, flow(0, 3))),
        ]
    };
    let trials = trials(1, Some(1), 1, 4);
    let admits: fn(u32, usize) -> bool = |flow, before| flow == 0 || before == 2;
    let at = |rounds, cycles| {
        let (outcome, _) = run((trials, admits), rounds, (4, flows()), (cycles, |_| {}));
        let starts = outcome.flows[..4].iter().map(|flow| flow.start);
        (outcome.admission, starts.collect::<Vec<_>>())
    };
    let starts = [Some(9), Some(37), Some(5), Some(19)];
    let counts = |(rounds, released, end), requests, admitted, waits| AdmissionCounts {
        rounds,
        released,
        requests,
        admitted,
        waits,
        end,
    };
    let rounds = (5, 10, 2, 99);
    let (found, found_starts) = at(rounds, 100);
    // those in 47 and 57, in which nobody asks, end the rounds
    let all = counts((5, 4, Some(57)), vec![4, 2, 0], vec![2, 2, 0], (4 + 32, 32));
    assert_eq!((found, &found_starts[..]), (all, &starts[..]));
    // in cycle 35 two are over, and one goes on
    let (found, _) = at(rounds, 35);
    assert_eq!(
        found,
        counts((2, 3, None), vec![4, 2, 0], vec![1, 2, 0], (4, 4))
    );
    // the acts of cycle 37 come before the end
    assert_eq!(at(rounds, 36).0.rounds, 2);
    assert_eq!(at(rounds, 37).0.rounds, 3);
    // one that admits in a look only is not in vain
    assert_eq!(at((5, 10, 1, 99), 100).0.rounds, 4);
    // two rounds at most
    let (found, found_starts) = at((5, 10, 2, 2), 100);
    assert_eq!(
        found,
        counts((2, 1, Some(23)), vec![3, 2, 0], vec![1, 2, 0], (4, 4))
    );
    assert_eq!(found_starts[1], None);
    // the second has admitted before its looks only; the third is in vain
    let never: fn(u32, usize) -> bool = |flow, _| flow == 0;
    let (outcome, shown) = run((trials, never), (5, 10, 1, 99), (4, flows()), (100, |_| {}));
    assert_eq!(outcome.admission.rounds, 3);
    let order: Vec<u32> = shown.iter().map(|shown| shown.0).collect();
    assert_eq!(order, [0, 1, 1, 1]);
}

/// C15: the service level of the probes carries nothing else.
#[test]
fn probes_go_on_a_service_level_of_their_own() {
    let wide = |plan: &mut Plan| {
        plan.switch.lanes = 2;
        (plan.phases.warmup, plan.phases.measure) = (0, 60);
    };
    let own = trials(3, Some(1), 4, 20);
    for (level, lane) in [(None, 0), (Some(0), 0), (Some(1), 1)] {
        let trials = Trials { level, ..own };
        let flows = vec![sized(12, flow(0, 1))];
        let (outcome, _) = run((trials, |_, _| true), ONCE, (4, flows), (60, wide));
        let mut expected = vec![0, 0];
        expected[lane] += 12;
        expected[0] += 12;
        let sent = outcome.window.sent.iter();
        let used: Vec<_> = sent.filter(|lanes| lanes.iter().sum::<u64>() > 0).collect();
        assert_eq!(used, [&expected, &expected], "{level:?}");
    }
}

/// Whether jitter probing with these arguments admits the flow from host 0 to host 2 with this jitter bound, in packets of four
/// flits. Its probes start in 1, 5, 9 and so on; with `other`, a packet from host 1 comes to the output in cycle 6 and goes there in
/// 7, so that the second probe is granted four cycles late.
fn is_admitted(arguments: &str, jitter: u64, other: bool) -> bool {
    let context = AdmissionContext {
        clock: Clock {
            flit_bytes: 64,
            reference_rate: 1,
        },
        lanes: None,
    };
    let entry = ADMISSIONS.find("JitterProbing").expect("registered");
    let text = format!("(gap: \"1 cycles\", {arguments})");
    let made = (entry.build)(Arguments { text: &text }, context);
    let control = made.expect("arguments fit");
    let mut flows = vec![sized(4, flow(0, 2)), of_class(2, sized(4, flow(1, 2)))];
    flows[1].start = if other { 4 } else { 1_000 };
    let plan = asking(control, ONCE, (4, jitter), flows);
    let (graph, tables) = star(4, 1);
    let outcome = simulate(&plan, &graph, &tables, 200);
    assert_eq!(outcome.admission.requests[0], 1);
    outcome.flows[0].start == Some(40)
}

/// C15: all packets have come, 0 < spread < J, none was rejected.
#[test]
fn jitter_probing_admits_a_spread_below_the_bound() {
    let two = "packets: 2, queue: 4, look: \"40 cycles\"";
    assert!(is_admitted(two, 5, true));
    assert!(!is_admitted(two, 4, true), "the spread is 4");
    assert!(!is_admitted(two, 5, false), "no spread");
    assert!(is_admitted(&format!("{two}, accept_zero: true"), 1, false));
    // the last of six starts in 21 and comes in 27, or in 31: in time for one look and not for the other
    let six = "packets: 6, queue: 6";
    assert!(is_admitted(&format!("{six}, look: \"40 cycles\""), 5, true));
    let early = format!("{six}, look: \"20 cycles\", accept_zero: true");
    assert!(!is_admitted(&early, 99, false));
}

/// A-6C: one of three meets a full queue.
#[test]
fn jitter_probing_refuses_when_a_packet_is_rejected() {
    let three = "packets: 3, look: \"40 cycles\", accept_zero: true";
    assert!(is_admitted(&format!("{three}, queue: 2"), 99, false));
    assert!(!is_admitted(&format!("{three}, queue: 1"), 99, false));
}
