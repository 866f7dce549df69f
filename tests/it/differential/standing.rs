//! Packets that stand in the queues of all outputs that they may take (D84), in fabrics so small that what differs can be followed by hand.

use super::{differences, engine, reference};
use crate::random_fabric::{Adaptive, Case, Way};
use crate::reference::Outcome;
use crate::reference_checks::{backlogged, plan, star_of, timing};
use std::sync::Arc;
use virtlane::ids::{HostId, SwitchId};
use virtlane::plan::{
    Allocation, ClassPlan, InputSpeedup, Matching, OutputArbitration, Queues, SwitchOptions,
};
use virtlane::routing::adaptive::{AdaptiveRouting, Candidate, Course, Selection};
use virtlane::topology::{Endpoint, Graph, GraphBuilder};

/// Ways as they are written down: `[switch][destination]`.
#[derive(Clone, Debug)]
struct Written {
    width: u8,
    ways: Vec<Vec<Vec<Candidate>>>,
}

impl AdaptiveRouting for Written {
    fn width(&self) -> u8 {
        self.width
    }

    fn selection(&self) -> Selection {
        Selection::Open
    }

    fn candidates(&self, at: SwitchId, to: HostId, _: Course, found: &mut Vec<Candidate>) {
        found.clone_from(&self.ways[at.index()][to.index()]);
    }
}

fn way(port: u16, lane: u8) -> Candidate {
    Candidate {
        port,
        lane,
        escape: false,
    }
}

/// `count` packets of a host that always has one until then.
fn packets(host: u32, destination: u32, size: u16, count: u64) -> ClassPlan {
    ClassPlan {
        packets_per_host: Some(count),
        ..backlogged(&[host], destination, size, 0)
    }
}

/// VOQ with every kind of matching, in one round and in two, and every choice among requests.
fn options(lanes: u8, lane_capacity: u32) -> Vec<SwitchOptions> {
    let mut all = Vec::new();
    for (matching, input_speedup) in [
        (Matching::OutputFirst, InputSpeedup::Limited(1)),
        (Matching::OutputFirst, InputSpeedup::Limited(2)),
        (Matching::OutputFirst, InputSpeedup::Unlimited),
        (Matching::InputFirst, InputSpeedup::Limited(1)),
        (Matching::InputFirst, InputSpeedup::Limited(2)),
    ] {
        for output_arbitration in [
            OutputArbitration::RoundRobin,
            OutputArbitration::FirstComeFirstServed,
            OutputArbitration::OldestFirst,
            OutputArbitration::Random,
        ] {
            all.extend([1, 2].map(|iterations| SwitchOptions {
                lanes,
                lane_capacity,
                queues: Queues::Voq,
                matching,
                input_speedup,
                output_arbitration,
                allocation: Allocation::rounds(iterations),
                ..SwitchOptions::default()
            }));
        }
    }
    all
}

/// What both models make of it in so many cycles, resumed on the way.
fn agreed(
    graph: &Graph,
    routing: &Written,
    classes: &[ClassPlan],
    options: &SwitchOptions,
    cycles: u64,
) -> Outcome {
    let routing = Adaptive {
        function: Arc::new(routing.clone()),
        deadlock_free: false,
    };
    let routes = routing.routes();
    let case = Case {
        plan: plan(classes.to_vec(), options.clone()),
        graph: graph.clone(),
        routing,
        cycles,
        fork: None,
        way: Way {
            shards: 2,
            resume: Some((20, 1)),
            ..Way::alone()
        },
    };
    let expected = reference(&case);
    let different = differences(&expected, &engine::run(&case, &routes));
    assert_eq!(different, None, "{options:?}");
    expected
}

/// The packet of host 1 holds output 2 from 2 to 21. The first packet of host 0 requests that in 4, and gets it in 22; the second one, for host 3,
/// requests in 5. It goes at once, or from a FIFO behind the first one.
#[test]
fn a_packet_passes_one_that_waits_for_another_output() {
    let (graph, _) = star_of(&[timing(1, 3), timing(1, 1), timing(1, 1), timing(1, 1)], 1);
    let routing = Written {
        width: 1,
        ways: vec![(1..=4).map(|port| vec![way(port, 0)]).collect()],
    };
    let classes = [
        packets(0, 2, 1, 1),
        packets(0, 3, 1, 1),
        packets(1, 2, 20, 1),
    ];
    for options in options(1, 32) {
        for (queues, expected) in [(Queues::Voq, [23, 6]), (Queues::Fifo, [23, 24])] {
            let options = SwitchOptions {
                queues,
                ..options.clone()
            };
            let outcome = agreed(&graph, &routing, &classes, &options, 60);
            let own = outcome.deliveries.iter();
            let own = own.filter(|packet| packet.source == HostId(0));
            let mut times: Vec<_> = own
                .map(|packet| (packet.destination, packet.delivered))
                .collect();
            times.sort_unstable();
            let times: Vec<u64> = times.into_iter().map(|(_, cycle)| cycle).collect();
            assert_eq!(times, expected, "{options:?}");
        }
    }
}

/// Ports of two switches with three hosts each that lead to the other one.
const A: u16 = 4;
const B: u16 = 5;

fn two_switches() -> Graph {
    let mut builder = GraphBuilder::new();
    let switches = [0, 1].map(|number| builder.add_switch(format!("S{number}"), 0, 5));
    for (port, latency) in [(A, 1), (B, 4)] {
        let [first, second] = switches.map(|switch| Endpoint::Switch(switch, port));
        let connected = builder.connect(first, second, timing(1, latency));
        connected.expect("well-formed");
    }
    for number in 0..6u16 {
        let host = Endpoint::Host(builder.add_host(format!("H{number}"), 0));
        let port = Endpoint::Switch(switches[usize::from(number / 3)], number % 3 + 1);
        let connected = builder.connect(host, port, timing(1, 1));
        connected.expect("well-formed");
    }
    builder.build().expect("well-formed")
}

/// Both links for host 3, one each for hosts 4 and 5, on all lanes; both for those at the first switch.
fn two_links(width: u8) -> Written {
    let over = |ports: &[u16]| -> Vec<Candidate> {
        let lanes = |port: u16| (0..width).map(move |lane| way(port, lane));
        ports.iter().flat_map(|&port| lanes(port)).collect()
    };
    let near: Vec<Vec<Candidate>> = (1..=3).map(|port| vec![way(port, 0)]).collect();
    let there = vec![over(&[A, B]), over(&[A]), over(&[B])];
    let back = vec![over(&[B, A]); 3];
    Written {
        width,
        ways: vec![[near.clone(), there].concat(), [back, near].concat()],
    }
}

/// Packets for both links stand before and behind those for one of them, which others of their own switch fill.
#[test]
fn packets_leave_all_their_queues_when_they_are_granted() {
    let graph = two_switches();
    let classes = [
        packets(0, 3, 2, 6),
        packets(0, 4, 3, 4),
        packets(0, 5, 1, 4),
        packets(1, 4, 5, 6),
        packets(2, 5, 4, 6),
        packets(4, 0, 3, 5),
    ];
    for width in [1, 2] {
        for options in options(width, 8) {
            let outcome = agreed(&graph, &two_links(width), &classes, &options, 500);
            assert_eq!(outcome.deliveries.len(), 31, "{options:?}");
        }
    }
}

/// Ports of switches in a circle.
const HOST: u16 = 1;
const NEXT: u16 = 2;
const PREVIOUS: u16 = 3;

/// A torus of one dimension: four switches with a host each.
fn circle() -> Graph {
    let mut builder = GraphBuilder::new();
    let switches = [0, 1, 2, 3].map(|number| builder.add_switch(format!("S{number}"), 0, 3));
    for (number, &switch) in switches.iter().enumerate() {
        let ends = [
            Endpoint::Switch(switch, NEXT),
            Endpoint::Switch(switches[(number + 1) % 4], PREVIOUS),
        ];
        let connected = builder.connect(ends[0], ends[1], timing(1, 1));
        connected.expect("well-formed");
        let host = Endpoint::Host(builder.add_host(format!("H{number}"), 0));
        let connected = builder.connect(host, Endpoint::Switch(switch, HOST), timing(1, 1));
        connected.expect("well-formed");
    }
    builder.build().expect("well-formed")
}

/// The shortest ways on lane 0, with an escape on lane 1 along the line from S0 to S3; or one way around, on one lane.
fn around(escapes: bool) -> Written {
    let ways = |at: u16, home: u16| {
        if at == home {
            return vec![way(HOST, 0)];
        }
        if !escapes {
            return vec![way(NEXT, 0)];
        }
        let hops = (home + 4 - at) % 4;
        let shortest = [(NEXT, hops <= 2), (PREVIOUS, hops >= 2)];
        let shortest = shortest.into_iter().filter(|&(_, is_one)| is_one);
        let mut found: Vec<_> = shortest.map(|(port, _)| way(port, 0)).collect();
        found.push(Candidate {
            escape: true,
            ..way(if home > at { NEXT } else { PREVIOUS }, 1)
        });
        found
    };
    let from = |at| -> Vec<Vec<Candidate>> { (0..4).map(|home| ways(at, home)).collect() };
    Written {
        width: 1 + u8::from(escapes),
        ways: (0..4).map(from).collect(),
    }
}

/// Every host sends to all others as fast as it can, and goes on doing so.
#[test]
fn packets_that_stand_do_not_wait_for_ever_where_they_may_escape() {
    let graph = circle();
    let pairs = (0..4u32).flat_map(|host| (1..4u32).map(move |hops| (host, hops)));
    let classes: Vec<_> = pairs
        .map(|(host, hops)| backlogged(&[host], (host + hops) % 4, hops as u16 + 1, 0))
        .collect();
    for options in options(2, 4) {
        let outcome = agreed(&graph, &around(true), &classes, &options, 400);
        let ends = (outcome.closed_set.len(), outcome.deliveries.len() > 40);
        assert_eq!(ends, (0, true), "{options:?}");
    }
}

/// Four packets fill the buffers of the circle in the same cycle, each a hop from its host.
#[test]
fn packets_that_stand_in_a_circle_wait_for_ever() {
    let graph = circle();
    let classes: Vec<_> = (0..4)
        .map(|host| backlogged(&[host], (host + 2) % 4, 4, 0))
        .collect();
    for options in options(1, 4) {
        let outcome = agreed(&graph, &around(false), &classes, &options, 100);
        let ends = (outcome.deliveries.len(), outcome.closed_set.len() >= 4);
        assert_eq!(ends, (0, true), "{options:?}");
    }
}
