//! The reference model's turns at contested outputs (D5 to D8), computed by hand.
//!
//! Each output is held by a blocker of its own until all contestants have packets for it; from then on every cycle
//! with a packet in it is a turn.

use super::{backlogged, plan, star, star_of};
use crate::reference::{Outcome, simulate};
use virtlane::ids::HostId;
use virtlane::plan::{
    Allocation, ClassPlan, InputSpeedup, Matching, OutputArbitration, Queues, SwitchOptions,
};
use virtlane::qos::VlArbitrationTables;
use virtlane::qos::vl_arbitration::HighPriorityLimit;
use virtlane::topology::ChannelTiming;

/// Flits of a blocker; it is granted in cycle 2.
const HELD: u16 = 24;

/// A stream of packets of one flit.
#[derive(Clone, Copy)]
pub(super) struct Flow {
    pub(super) contestant: u8,
    pub(super) lane: u8,
    pub(super) output: u8,
}

/// All flows of so many contestants, lanes and outputs.
pub(super) fn all(contestants: u8, lanes: u8, outputs: u8) -> Vec<Flow> {
    let mut flows = Vec::new();
    for contestant in 0..contestants {
        for lane in 0..lanes {
            flows.extend((0..outputs).map(|output| Flow {
                contestant,
                lane,
                output,
            }));
        }
    }
    flows
}

pub(super) fn options(lanes: u8) -> SwitchOptions {
    SwitchOptions {
        lanes,
        lane_capacity: 64,
        queues: Queues::Voq,
        ..SwitchOptions::default()
    }
}

/// The turns of each output in the `cycles` from the one in which all come free: contestant (a, b, ...) and lane,
/// `--` for none. Inputs are first the blockers, in the order of their outputs, then the contestants.
pub(super) fn contest(flows: &[Flow], options: &SwitchOptions, cycles: u64) -> Vec<String> {
    let outputs = 1 + flows.iter().map(|flow| flow.output).max().expect("a flow");
    let contestants = 1 + flows.iter().map(|flow| flow.contestant).max().expect("one");
    let (graph, tables) = star(2 * outputs + contestants, options.lanes);
    let host = |output: u8| u32::from(outputs + contestants + output);
    let mut classes: Vec<ClassPlan> = (0..outputs)
        .map(|output| {
            let mut blocker = backlogged(&[output.into()], host(output), HELD, 0);
            blocker.packets_per_host = Some(1);
            blocker
        })
        .collect();
    classes.extend(flows.iter().map(|flow| {
        let source = u32::from(outputs + flow.contestant);
        backlogged(&[source], host(flow.output), 1, flow.lane)
    }));
    let outcome = simulate(&plan(classes, options.clone()), &graph, &tables, 100);
    // a flit granted in t arrives in t + 1
    let from = 2 + u64::from(HELD) + 1;
    let turn = |output: u8, now: u64| {
        let mut found = outcome.deliveries.iter();
        let found = found.find(|d| d.delivered == now && d.destination == HostId(host(output)));
        found.map_or("--".to_owned(), |delivery| {
            let flow = flows[usize::from(delivery.class) - usize::from(outputs)];
            format!("{}{}", char::from(b'a' + flow.contestant), flow.lane)
        })
    };
    (0..outputs)
        .map(|output| {
            let turns = (from..from + cycles).map(|now| turn(output, now));
            turns.collect::<Vec<_>>().join(" ")
        })
        .collect()
}

#[test]
fn an_output_takes_turns_by_inputs_then_by_their_lanes() {
    let found = contest(&all(2, 2, 1), &options(2), 8);
    assert_eq!(found, ["a0 b0 a1 b1 a0 b0 a1 b1"]);
    let found = contest(&all(3, 2, 1), &options(2), 8);
    assert_eq!(found, ["a0 b0 c0 a1 b1 c1 a0 b0"]);
}

/// Contestant b uses lane 1 only.
fn uneven() -> Vec<Flow> {
    let mut flows = all(2, 2, 1);
    flows.retain(|flow| (flow.contestant, flow.lane) != (1, 0));
    flows
}

/// Inputs share evenly, or lanes do. By lanes, the blocker's lane 0 leaves the turn to lane 1.
#[test]
fn an_output_takes_turns_by_lanes_with_tables_reserve_or_other_arbitration() {
    let by_inputs = options(2);
    let reserve = SwitchOptions {
        reserve: true,
        ..options(2)
    };
    // one flit each
    let tables = SwitchOptions {
        vl_arbitration: Some(VlArbitrationTables {
            high: vec![],
            low: vec![(0, 1), (1, 1)],
            limit: HighPriorityLimit::Unlimited,
            ..VlArbitrationTables::default()
        }),
        ..options(2)
    };
    // in lane 1: b's head since 2, a's since 3, then the one that was not served is older
    let first_come = SwitchOptions {
        output_arbitration: OutputArbitration::FirstComeFirstServed,
        ..options(2)
    };
    for (options, expected) in [
        (by_inputs, "a0 b1 a1 b1 a0 b1 a1 b1"),
        (reserve, "a1 a0 b1 a0 a1 a0 b1 a0"),
        (tables, "a1 a0 b1 a0 a1 a0 b1 a0"),
        (first_come, "b1 a0 a1 a0 b1 a0 a1 a0"),
    ] {
        assert_eq!(contest(&uneven(), &options, 8), [expected], "{options:?}");
    }
}

/// Both outputs want a in the first cycle. Then one pointer is behind the other, and no output is idle again.
#[test]
fn outputs_fall_apart_with_one_round_and_two_lanes() {
    assert_eq!(
        contest(&all(2, 2, 2), &options(2), 10),
        [
            "a0 b0 a1 b1 a0 b0 a1 b1 a0 b0",
            "-- a0 b0 a1 b1 a0 b0 a1 b1 a0"
        ]
    );
}

/// The second output's grant to b in the second round leaves its pointer over inputs before a, and from then on
/// all is as with one round.
#[test]
fn pointers_over_inputs_move_in_the_first_round_only() {
    for (iterations, second) in [(1, "-- a0 b0 c0 a0 b0 c0"), (2, "b0 a0 b0 c0 a0 b0 c0")] {
        for matching in [Matching::OutputFirst, Matching::InputFirst] {
            let options = SwitchOptions {
                allocation: Allocation::rounds(iterations),
                matching,
                ..options(1)
            };
            let found = contest(&all(3, 1, 2), &options, 7);
            let first = "a0 b0 c0 a0 b0 c0 a0";
            assert_eq!(found, [first, second], "{iterations} {matching:?}");
        }
    }
}

/// b has been served on lane 0 in the second round: of its lanes it is the turn of lane 1.
#[test]
fn pointers_over_lanes_move_in_every_round() {
    let options = SwitchOptions {
        allocation: Allocation::rounds(2),
        ..options(2)
    };
    assert_eq!(
        contest(&all(2, 2, 2), &options, 8),
        ["a0 b0 a1 b1 a0 b0 a1 b1", "b0 a0 b1 a1 b0 a0 b1 a1"]
    );
}

/// Input-first: in the first cycle all propose the first output; b gets the second one in the second round, and its
/// pointer is past that.
#[test]
fn pointers_over_outputs_move_in_every_round() {
    let options = SwitchOptions {
        allocation: Allocation::rounds(2),
        matching: Matching::InputFirst,
        ..options(1)
    };
    assert_eq!(
        contest(&all(3, 1, 3), &options, 7),
        [
            "a0 c0 b0 a0 c0 b0 a0",
            "b0 a0 c0 b0 a0 c0 b0",
            "-- b0 a0 c0 b0 a0 c0"
        ]
    );
}

/// Input-first, two places: in every cycle a proposes from lane 0 in the first round, from lane 1 in the second.
#[test]
fn a_lane_served_in_second_rounds_only_starves_no_output() {
    let options = SwitchOptions {
        allocation: Allocation::rounds(2),
        matching: Matching::InputFirst,
        input_speedup: InputSpeedup::Limited(2),
        ..options(2)
    };
    let flows = [(0, 0), (1, 1), (1, 2)].map(|(lane, output)| Flow {
        contestant: 0,
        lane,
        output,
    });
    assert_eq!(
        contest(&flows, &options, 8),
        [
            "a0 a0 a0 a0 a0 a0 a0 a0",
            "a1 -- a1 -- a1 -- a1 --",
            "-- a1 -- a1 -- a1 -- a1"
        ]
    );
}

pub(super) fn deliveries(outcome: &Outcome) -> Vec<(u16, u64)> {
    let all = outcome.deliveries.iter();
    all.map(|d| (d.class, d.delivered)).collect()
}

/// Hosts 0 to 2 hold outputs 5, 6, 7, the last one for a cycle more. In 10 host 3 takes 5 with four flits, 6 goes to
/// host 4 in the second round. In 11 both 6 and 7 want host 4, whose accept pointer is still before 6.
#[test]
fn the_accept_pointer_moves_in_the_first_round_only() {
    let (graph, tables) = star(8, 1);
    let classes = [
        (0, 5, 8, 1),
        (1, 6, 8, 1),
        (2, 7, 9, 1),
        (3, 5, 4, 1),
        (3, 6, 1, 1),
        (4, 6, 1, 2),
        (4, 7, 1, 1),
    ];
    let classes = classes.map(|(host, destination, size, count)| {
        let mut class = backlogged(&[host], destination, size, 0);
        class.packets_per_host = Some(count);
        class
    });
    let options = SwitchOptions {
        allocation: Allocation::rounds(2),
        ..options(1)
    };
    let plan = plan(classes.to_vec(), options);
    let outcome = simulate(&plan, &graph, &tables, 100);
    assert_eq!(
        deliveries(&outcome),
        [
            (0, 10),
            (1, 10),
            (2, 11),
            (3, 14),
            // host 3 is free again in 14
            (4, 15),
            (5, 11),
            (5, 12),
            (6, 13)
        ]
    );
}

/// Data requests from 2 on, two VL15 packets each of hosts 2 and 3 from 9 on, when it is the turn of host 1's lane 1.
/// They go first, by turns of their own, and the turn stays.
#[test]
fn vl15_goes_first_and_moves_no_turn() {
    let mut timings = vec![ChannelTiming::default(); 5];
    (timings[2].latency, timings[3].latency) = (8, 8);
    let (graph, tables) = star_of(&timings, 2);
    let management = |host| {
        let mut class = backlogged(&[host], 4, 1, 0);
        class.management = true;
        class.packets_per_host = Some(2);
        class
    };
    let mut classes = Vec::new();
    for host in 0..2 {
        classes.extend((0..2).map(|lane| backlogged(&[host], 4, 1, lane)));
    }
    classes.extend([management(2), management(3)]);
    let options = SwitchOptions {
        management_lane: true,
        ..options(2)
    };
    let outcome = simulate(&plan(classes, options), &graph, &tables, 100);
    let mut found = deliveries(&outcome);
    found.sort_by_key(|&(_, delivered)| delivered);
    // host 0's lanes are 0 and 1, host 1's 2 and 3
    let expected = [0, 2, 1, 3, 0, 2, 1, 4, 5, 4, 5, 3, 0, 2, 1, 3];
    let expected: Vec<(u16, u64)> = expected.into_iter().zip(3..).collect();
    assert_eq!(found[..16], expected);
}
