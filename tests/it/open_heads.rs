//! Open heads with input speed-up and with input-first matching (D80), cycle by cycle.
//!
//! Hosts 0 to 2 at S0, hosts 3 to 5 at S1; two links lead from S0 to S1, A of latency 1 and B of latency 10, which tells them apart. The
//! channel from host 0 has latency 3, all others 1, and all have pace 1. What host 0 sends in t requests at S0 in t + 4, what the others
//! send in t + 2; a packet of one flit that leaves S0 in g and waits nowhere is at its host in g + 3 on A and in g + 12 on B.

use crate::reference_checks::{backlogged, plan, timing};
use std::sync::Arc;
use virtlane::cycle::Wanted;
use virtlane::cycle::mechanisms::packet_records::PacketRecords;
use virtlane::ids::{HostId, SwitchId};
use virtlane::plan::{Allocation, ClassPlan, InputSpeedup, Matching, SwitchOptions};
use virtlane::routing::adaptive::{AdaptiveRouting, Candidate, Course, Selection};
use virtlane::routing::{Adaptive, Guarantees, Routes};
use virtlane::run::{Options, Simulation};
use virtlane::topology::{Endpoint, Graph, GraphBuilder};

/// Ports of S0 that lead to S1.
const A: u16 = 4;
const B: u16 = 5;

/// Both ways for host 3, one each for the others.
#[derive(Clone, Debug)]
struct TwoWays {
    width: u8,
    both: Vec<Candidate>,
}

impl AdaptiveRouting for TwoWays {
    fn width(&self) -> u8 {
        self.width
    }

    fn selection(&self) -> Selection {
        Selection::Open
    }

    fn candidates(&self, at: SwitchId, destination: HostId, _: Course, found: &mut Vec<Candidate>) {
        found.clear();
        match (at.0, destination.0) {
            (1, host) => found.push(way(host as u16 - 2, 0)),
            (_, 3) => found.extend(&self.both),
            (_, 4) => found.push(way(A, 0)),
            _ => found.push(way(B, 0)),
        }
    }
}

fn way(port: u16, lane: u8) -> Candidate {
    Candidate {
        port,
        lane,
        escape: false,
    }
}

fn escape(port: u16) -> Candidate {
    Candidate {
        escape: true,
        ..way(port, 0)
    }
}

fn graph() -> Graph {
    let mut builder = GraphBuilder::new();
    let switches = [0, 1].map(|number| builder.add_switch(format!("S{number}"), 0, 5));
    let plain = timing(1, 1);
    for (port, there) in [(A, plain), (B, timing(1, 10))] {
        let ends = switches.map(|switch| Endpoint::Switch(switch, port));
        let connected = builder.connect_with(ends[0], ends[1], [there, plain]);
        connected.expect("well-formed");
    }
    for number in 0..6u16 {
        let host = Endpoint::Host(builder.add_host(format!("H{number}"), 0));
        let switch = switches[usize::from(number / 3)];
        let port = Endpoint::Switch(switch, number % 3 + 1);
        let there = if number == 0 { timing(1, 3) } else { plain };
        let connected = builder.connect_with(host, port, [there, plain]);
        connected.expect("well-formed");
    }
    builder.build().expect("well-formed")
}

/// `count` packets of a host that always has one until then.
fn packets(host: u32, destination: u32, size: u16, count: u64) -> ClassPlan {
    ClassPlan {
        packets_per_host: Some(count),
        ..backlogged(&[host], destination, size, 0)
    }
}

/// Cycles in which the packets of host 0 were sent and delivered, in their order.
fn of_first_host(
    routing: &TwoWays,
    options: &SwitchOptions,
    classes: Vec<ClassPlan>,
) -> Vec<[u64; 2]> {
    let routes = Routes::Adaptive(Adaptive {
        engine: String::from("two ways"),
        routing: Arc::new(routing.clone()),
        guarantees: Guarantees {
            minimal: true,
            deadlock_free: true,
            in_order: false,
            lanes_needed: routing.width,
        },
        remarks: Vec::new(),
    });
    let options = SwitchOptions {
        lanes: routing.width,
        ..options.clone()
    };
    let plan = plan(classes, options);
    let how = Options {
        threads: 1,
        shards: 1,
        wanted: Wanted {
            deliveries: true,
            order: false,
        },
        ..Options::default()
    };
    let simulation = Simulation::new(&plan, &graph(), &routes, how);
    let mut simulation = simulation.expect("threads start");
    simulation.run_until(100).expect("there are no messages");
    let mut found = Vec::new();
    for packets in simulation.each::<PacketRecords>() {
        let deliveries = packets.deliveries().iter();
        let own = deliveries.filter(|delivery| delivery.source == HostId(0));
        found.extend(own.map(|one| (one.sequence, [one.injected, one.delivered])));
    }
    found.sort_unstable();
    found.into_iter().map(|(_, cycles)| cycles).collect()
}

/// Options of every kind of matching that D80 speaks of, and those of D20.
fn matchings() -> Vec<SwitchOptions> {
    let output_first = [
        InputSpeedup::Limited(1),
        InputSpeedup::Limited(2),
        InputSpeedup::Unlimited,
    ];
    let with = |matching, input_speedup| SwitchOptions {
        matching,
        input_speedup,
        ..SwitchOptions::default()
    };
    let mut all: Vec<_> = output_first
        .into_iter()
        .map(|speedup| with(Matching::OutputFirst, speedup))
        .collect();
    let input_first = [1, 2].map(InputSpeedup::Limited);
    all.extend(input_first.map(|speedup| with(Matching::InputFirst, speedup)));
    all
}

/// Packet k leaves S0 in k + 4. In 4 nothing lies downstream of both and A has its turn; in 5 the first packet lies behind A; in 6 and
/// 7 one packet lies behind each, and they take turns. In 8 and 9 two are on their way on B, and one lies behind A; in 10 two lie behind
/// each, and B has its turn.
#[test]
fn a_head_takes_the_least_downstream_then_turns() {
    let routing = TwoWays {
        width: 1,
        both: vec![way(A, 0), way(B, 0)],
    };
    for options in matchings() {
        let found = of_first_host(&routing, &options, vec![packets(0, 3, 1, 8)]);
        let ways: String = found.iter().map(way_of).collect();
        assert_eq!(ways, "ABABAABA", "{options:?}");
    }
}

/// The way of a packet that waited nowhere.
fn way_of([injected, delivered]: &[u64; 2]) -> char {
    match delivered - injected {
        7 => 'A',
        16 => 'B',
        cycles => panic!("{cycles} cycles"),
    }
}

/// Two input lanes, each with a pointer of its own: packet 1 finds the first packet behind lane 0 of A, and lane 0 of B is next.
/// Packet 2 follows packet 0 in its queue, whose turn is past lane 0 of A: lane 1 of A. Packet 3 follows packet 1: lane 1 of B, before
/// lane 0 of A, which is empty again.
#[test]
fn requests_take_turns_by_lanes_then_outputs() {
    let routing = TwoWays {
        width: 2,
        both: [A, B]
            .into_iter()
            .flat_map(|port| [way(port, 0), way(port, 1)])
            .collect(),
    };
    let options = SwitchOptions {
        matching: Matching::InputFirst,
        ..SwitchOptions::default()
    };
    let found = of_first_host(&routing, &options, vec![packets(0, 3, 1, 4)]);
    let ways: String = found.iter().map(way_of).collect();
    assert_eq!(ways, "ABAB");
}

/// Packets of hosts 1 and 2 hold A and B from 2 to 13, while those of host 0 wait on two lanes. In 14 both outputs may be granted: with 2
/// of the 12 flits of host 1 behind A and 11 of host 2's behind B. What host 0's packets arrive at.
fn after_others(both: [Candidate; 2], options: &SwitchOptions) -> [u64; 2] {
    let routing = TwoWays {
        width: 2,
        both: both.to_vec(),
    };
    let classes = vec![
        packets(0, 3, 1, 2),
        packets(1, 4, 12, 1),
        packets(2, 5, 12, 1),
    ];
    let found = of_first_host(&routing, options, classes);
    assert_eq!([found[0][0], found[1][0]], [0, 1], "sent one by one");
    [found[0][1], found[1][1]]
}

/// Demands when the head of lane 0 and what follows it are delivered, in one round and, where inputs have a place for another, in two.
fn check_rounds(both: [Candidate; 2], head: u64, [later, at_once]: [u64; 2]) {
    for options in matchings() {
        for iterations in [1, 2] {
            let options = SwitchOptions {
                allocation: Allocation::rounds(iterations),
                ..options.clone()
            };
            let has_place = options.input_speedup != InputSpeedup::Limited(1);
            let other = if iterations == 2 && has_place {
                at_once
            } else {
                later
            };
            let found = after_others(both, &options);
            assert_eq!(found, [head, other], "{options:?}");
        }
    }
}

/// In the first round both outputs grant lane 0, whose head takes A; the other one follows in 15, on A, which has less behind it. In a
/// second round it takes B in 14, where the input has a place.
#[test]
fn one_grant_of_each_head_is_accepted() {
    check_rounds([way(A, 0), way(B, 0)], 14 + 3, [15 + 3, 14 + 12]);
}

/// A is the escape: the first head takes B, whatever lies there, and the other one follows it in 15. In a second round only A is free.
#[test]
fn an_escape_is_taken_when_nothing_else_is_free() {
    check_rounds([escape(A), way(B, 0)], 14 + 12, [15 + 12, 14 + 3]);
}

/// A packet of host 2 has left on B and three of the four flits there are still taken when the second packet of host 0, which has waited
/// for credits to 6, requests in 10: its escape is proposed and granted at once.
#[test]
fn only_eligible_requests_are_proposed() {
    let routing = TwoWays {
        width: 1,
        both: vec![escape(A), way(B, 0)],
    };
    for options in matchings() {
        let options = SwitchOptions {
            lane_capacity: 4,
            ..options
        };
        let classes = vec![
            packets(0, 4, 4, 1),
            packets(0, 3, 2, 1),
            packets(2, 5, 3, 1),
        ];
        let found = of_first_host(&routing, &options, classes);
        assert_eq!(found, [[0, 4 + 3 + 3], [6, 10 + 3 + 1]], "{options:?}");
    }
}
