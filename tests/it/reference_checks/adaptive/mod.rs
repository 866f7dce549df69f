//! The reference model with adaptive routing (D20) in cases computed by hand: a fabric with two ways.
//!
//! Hosts 0 to 2 at S0, hosts 3 to 5 at S3; way A leads from S0 over S1 to S3, way B over S2. Channels have pace 1 and
//! latency 1, but S2 to S3 takes 10 cycles, which tells the ways apart. A packet that leaves S0 at t and waits
//! nowhere leaves S1 or S2 at t + 2; on A its header arrives at t + 5, on B at t + 14. The credit of its header counts
//! at S0 from t + 3 on.

mod chosen;
mod claims;
mod course;
mod drops;
mod open;
mod vl15;
mod wormhole;
mod wormhole_places;

use super::{backlogged, plan, timing};
use crate::reference::{Delivery, Routing, simulate};
use virtlane::ids::{HostId, SwitchId};
use virtlane::plan::{ClassPlan, Plan, SwitchOptions};
use virtlane::rng::{Purpose, Stream, below, stream};
use virtlane::routing::adaptive::{AdaptiveRouting, Candidate, Course, Local, Selection};
use virtlane::topology::{ChannelTiming, Endpoint, Graph, GraphBuilder};

/// Ports of S0 that lead to S1 and S2.
const A: u16 = 4;
const B: u16 = 5;

/// A routing function for the two ways; `word` counts the switches passed in steps of 16.
#[derive(Clone, Debug)]
struct TwoWays {
    width: u8,
    selection: Selection,
    depart: fn(&mut dyn Local) -> Course,
    /// What to do at S0 for a host of S3.
    first: fn(HostId, Course) -> Vec<Candidate>,
}

impl AdaptiveRouting for TwoWays {
    fn width(&self) -> u8 {
        self.width
    }

    fn selection(&self) -> Selection {
        self.selection
    }

    fn depart(&self, source: SwitchId, _: HostId, local: &mut dyn Local) -> Course {
        assert_eq!(source, SwitchId(0));
        (self.depart)(local)
    }

    fn advance(&self, at: SwitchId, _: HostId, course: Course) -> Course {
        let Course { via, word } = course;
        Course {
            via: if via == at.0 { Course::DIRECT } else { via },
            word: word + 16,
        }
    }

    fn candidates(
        &self,
        at: SwitchId,
        destination: HostId,
        course: Course,
        found: &mut Vec<Candidate>,
    ) {
        let passed = [0, 1, 1, 2][at.index()];
        assert_eq!(
            course.word / 16,
            passed,
            "advance once at every later switch"
        );
        assert!(passed == 0 || course.via == Course::DIRECT);
        *found = match (at.0, destination.0) {
            (0, 0..3) => vec![to(destination.0 as u16 + 1)],
            (3, 3..6) => vec![to(destination.0 as u16 - 2)],
            (0, _) => (self.first)(destination, course),
            _ => vec![to(2)],
        };
    }
}

/// A candidate on lane 0.
fn to(port: u16) -> Candidate {
    Candidate {
        port,
        lane: 0,
        escape: false,
    }
}

fn direct(_: &mut dyn Local) -> Course {
    Course {
        via: Course::DIRECT,
        word: 0,
    }
}

/// Both ways for host 3, one each for the others.
fn both(destination: HostId, _: Course) -> Vec<Candidate> {
    match destination.0 {
        3 => vec![to(A), to(B)],
        4 => vec![to(A)],
        _ => vec![to(B)],
    }
}

fn two_ways(selection: Selection) -> TwoWays {
    TwoWays {
        width: 1,
        selection,
        depart: direct,
        first: both,
    }
}

/// The fabric; timing of host 0's injection channel and of S0 to S1.
fn graph(host: ChannelTiming, a: ChannelTiming) -> Graph {
    let mut builder = GraphBuilder::new();
    let ports = [5, 2, 2, 5];
    let switches: Vec<_> = (0..)
        .zip(ports)
        .map(|(i, ports)| builder.add_switch(format!("S{i}"), 0, ports))
        .collect();
    let plain = timing(1, 1);
    // hosts come last: no host channel has number 0
    for (from, to, there) in [
        ((0, A), (1, 1), a),
        ((1, 2), (3, 4), plain),
        ((0, B), (2, 1), plain),
        ((2, 2), (3, 5), timing(1, 10)),
    ] {
        let end = |(switch, port): (usize, u16)| Endpoint::Switch(switches[switch], port);
        builder
            .connect_with(end(from), end(to), [there, plain])
            .expect("well-formed");
    }
    for number in 0..6u16 {
        let host_end = Endpoint::Host(builder.add_host(format!("H{number}"), 0));
        let (switch, port) = (switches[usize::from(number / 3) * 3], number % 3 + 1);
        let there = if number == 0 { host } else { plain };
        builder
            .connect_with(host_end, Endpoint::Switch(switch, port), [there, plain])
            .expect("well-formed");
    }
    builder.build().expect("well-formed")
}

/// `count` packets of a host that always has one until then.
fn packets(host: u32, destination: u32, size: u16, count: u64) -> ClassPlan {
    let mut class = backlogged(&[host], destination, size, 0);
    class.packets_per_host = Some(count);
    class
}

/// Deliveries by (source, class, sequence); every packet arrives.
fn deliveries(
    graph: &Graph,
    routing: &TwoWays,
    options: &SwitchOptions,
    classes: Vec<ClassPlan>,
    seed: u64,
) -> Vec<Delivery> {
    let mut plan = plan(classes, options.clone());
    plan.seed = seed;
    deliveries_of(&plan, graph, routing)
}

/// The same of a plan.
fn deliveries_of(plan: &Plan, graph: &Graph, routing: &TwoWays) -> Vec<Delivery> {
    let outcome = simulate(plan, graph, Routing::Adaptive(routing), 300);
    let sent = plan.classes.iter().map(|class| class.packets_per_host);
    assert_eq!(Some(outcome.created), sent.sum());
    assert_eq!(outcome.created, outcome.deliveries.len() as u64);
    outcome.deliveries
}

/// The ways of eight packets of one flit from host 0 to host 3. Packet k is injected in k and leaves S0 in k + 2, a
/// packet in every cycle: those on A meet none of those on B at S3.
fn ways(routing: &TwoWays, options: &SwitchOptions, seed: u64) -> String {
    let graph = graph(timing(1, 1), timing(1, 1));
    let classes = vec![packets(0, 3, 1, 8)];
    let found = deliveries(&graph, routing, options, classes, seed);
    assert!(found.iter().all(|d| d.injected == d.sequence));
    found.iter().map(way).collect()
}

/// The way of a packet that waited nowhere.
fn way(delivery: &Delivery) -> char {
    match delivery.delivered - delivery.injected {
        7 => 'A',
        16 => 'B',
        _ => panic!("{delivery:?}"),
    }
}

/// What host 0's packets on `lane` draw from at S0.
fn draws(seed: u64, lane: u64) -> Stream {
    let channel = graph(timing(1, 1), timing(1, 1)).host_channel(HostId(0));
    stream(seed, Purpose::Adaptive, u64::from(channel.0) * 16 + lane)
}

/// One of two in listed order.
fn draw(stream: &mut Stream) -> char {
    ['A', 'B'][below(stream, 2) as usize]
}

#[test]
fn first_takes_the_first_listed() {
    let mut routing = two_ways(Selection::First);
    assert_eq!(ways(&routing, &SwitchOptions::default(), 1), "AAAAAAAA");
    routing.first = |_, _| vec![to(B), to(A)];
    assert_eq!(ways(&routing, &SwitchOptions::default(), 1), "BBBBBBBB");
}

#[test]
fn random_draws_from_the_stream_of_the_input_lane() {
    for seed in 1..5 {
        let mut routing = two_ways(Selection::Random);
        for lanes in [1, 2] {
            routing.width = lanes;
            let mut streams: Vec<_> = (0..lanes.into()).map(|l| draws(seed, l)).collect();
            let expected = (0..8).map(|k| draw(&mut streams[k % usize::from(lanes)]));
            let options = SwitchOptions {
                lanes,
                ..SwitchOptions::default()
            };
            assert_eq!(ways(&routing, &options, seed), expected.collect::<String>());
        }
    }
}

/// A flit's credit is missing in the two cycles after it left S0; the way that it took waits for nobody, so that every choice is
/// a tie, and drawn.
#[test]
fn least_load_does_not_ask_for_credits() {
    for seed in 1..5 {
        let mut stream = draws(seed, 0);
        let expected: String = (0..8).map(|_| draw(&mut stream)).collect();
        let routing = two_ways(Selection::LeastLoad);
        assert_eq!(ways(&routing, &SwitchOptions::default(), seed), expected);
    }
}

/// Cycle in which a packet of two flits from host 0, which requests in 4, arrives at host 3 when packets of `a` and `b`
/// flits to hosts 4 and 5 hold A and B from 2 on: it leaves on A at 2 + a or on B at 2 + b.
fn past_others(routing: &TwoWays, a: u16, b: u16) -> u64 {
    let graph = graph(timing(1, 3), timing(1, 1));
    let classes = vec![
        packets(0, 3, 2, 1),
        packets(1, 4, a, 1),
        packets(2, 5, b, 1),
    ];
    deliveries(&graph, routing, &SwitchOptions::default(), classes, 1)[0].delivered
}

/// Header on A at t + 5, on B at t + 14, the tail one later. All credits of a packet are taken at its grant: at 4 the
/// loads are the sizes of the others.
#[test]
fn a_committed_head_waits_for_its_choice() {
    let first = two_ways(Selection::First);
    assert_eq!(past_others(&first, 6, 12), 8 + 6);
    assert_eq!(past_others(&first, 12, 6), 14 + 6);
    let least = two_ways(Selection::LeastLoad);
    for (a, b) in [(6, 12), (12, 6)] {
        let expected = match draw(&mut draws(1, 0)) {
            'A' => 2 + a + 6,
            _ => 2 + b + 15,
        };
        assert_eq!(past_others(&least, a as u16, b as u16), expected);
    }
}

/// D1 takes the smallest pace at S0, 1, though A has 3: a packet of 5 flits with pace 3 arrives in 1, requests in 2 +
/// 4 * 2 and so again at S1: 11 + 1 + 8. It leaves S3 in 22, its tail arrives in 23 + 4.
#[test]
fn the_fastest_output_sets_the_request_time() {
    let graph = graph(timing(3, 1), timing(3, 1));
    let routing = two_ways(Selection::First);
    let classes = vec![packets(0, 3, 5, 1)];
    let found = deliveries(&graph, &routing, &SwitchOptions::default(), classes, 1);
    assert_eq!(found[0].delivered, 27);
}

/// Delivery cycles of host 0's two packets to host 5 over B, in a class of their own after one to host 4 over A, which
/// is taken from 2 to 13: requests would be in 3, 4 and 5.
fn beside_a_blocked_one(lanes: u8, width: u8, sl: u8) -> [u64; 2] {
    let graph = graph(timing(1, 2), timing(1, 1));
    let mut routing = two_ways(Selection::First);
    routing.width = width;
    let options = SwitchOptions {
        lanes,
        ..SwitchOptions::default()
    };
    let mut passing = packets(0, 5, 1, 2);
    passing.service_levels = vec![virtlane::ids::SlId(sl)];
    let classes = vec![packets(0, 4, 1, 1), passing, packets(1, 4, 12, 1)];
    let found = deliveries(&graph, &routing, &options, classes, 1);
    let passing: Vec<u64> = found[1..3].iter().map(|d| d.delivered).collect();
    passing.try_into().expect("two packets")
}

/// Number q of a source waits on lane q mod width of the group of its service level. Behind the blocked packet, which
/// leaves in 14, it leaves in 15 or 16; otherwise at once.
#[test]
fn injection_goes_over_the_lanes_of_the_group() {
    assert_eq!(beside_a_blocked_one(1, 1, 0), [15 + 14, 16 + 14]);
    // the second one is on lane 1 and overtakes
    assert_eq!(beside_a_blocked_one(2, 2, 0), [15 + 14, 5 + 14]);
    // one group of two lanes, then two groups
    assert_eq!(beside_a_blocked_one(3, 2, 1), [15 + 14, 5 + 14]);
    assert_eq!(beside_a_blocked_one(4, 2, 1), [4 + 14, 5 + 14]);
    assert_eq!(beside_a_blocked_one(4, 2, 2), [15 + 14, 5 + 14]);
}
