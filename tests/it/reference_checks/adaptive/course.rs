//! Courses (D20): `depart` and what it sees, `advance`, the order of draws.

use super::{A, B, TwoWays, deliveries, draw, draws, graph, packets, to, two_ways, way, ways};
use crate::reference_checks::timing;
use virtlane::plan::{BufferSharing, SwitchOptions};
use virtlane::rng::below;
use virtlane::routing::adaptive::{Course, Local, Selection};

/// Past S1 or S2, as the course says.
fn by_via(depart: fn(&mut dyn Local) -> Course) -> TwoWays {
    TwoWays {
        depart,
        first: |_, course| match course.via {
            1 => vec![to(A)],
            2 => vec![to(B)],
            _ => panic!("{course:?}"),
        },
        ..two_ways(Selection::First)
    }
}

/// Past S1 when `is_a`.
fn past(is_a: bool) -> Course {
    Course {
        via: if is_a { 1 } else { 2 },
        word: 0,
    }
}

/// `TwoWays::candidates` checks that each switch on the way has advanced the course once, and dropped the via.
#[test]
fn packets_go_past_the_switch_they_draw() {
    let routing = by_via(|local| past(local.below(2) == 0));
    for seed in 1..5 {
        let mut stream = draws(seed, 0);
        let expected: String = (0..8).map(|_| draw(&mut stream)).collect();
        assert_eq!(ways(&routing, &SwitchOptions::default(), seed), expected);
    }
}

/// The load of a way is how many of the last two packets took it; A where both are the same.
#[test]
fn departing_packets_see_the_load() {
    let routing = by_via(|local| past(local.load(A, 0) <= local.load(B, 0)));
    assert_eq!(ways(&routing, &SwitchOptions::default(), 1), "ABAABAAB");
}

/// Nothing goes on lane 1, but in a pool it shares lane 0's credits: A when the last two packets took B.
#[test]
fn the_load_of_a_pool_is_that_of_all_lanes() {
    let mut routing = by_via(|local| past(local.load(A, 1) == 0));
    routing.width = 2;
    let mut options = SwitchOptions {
        lanes: 2,
        ..SwitchOptions::default()
    };
    assert_eq!(ways(&routing, &options, 1), "AAAAAAAA");
    options.sharing = BufferSharing::PortPool;
    assert_eq!(ways(&routing, &options, 1), "ABBABBAB");
}

/// A packet to another host of S0 departs, too; for the others `depart` draws before the selection.
#[test]
fn departures_draw_first() {
    let mut routing = two_ways(Selection::Random);
    routing.depart = |local| Course {
        via: Course::DIRECT,
        word: local.below(3) as u16,
    };
    let graph = graph(timing(1, 1), timing(1, 1));
    for seed in 1..5 {
        let mut stream = draws(seed, 0);
        below(&mut stream, 3);
        let mut expected = String::new();
        for _ in 0..8 {
            below(&mut stream, 3);
            expected.push(draw(&mut stream));
        }
        let classes = vec![packets(0, 1, 1, 1), packets(0, 3, 1, 8)];
        let found = deliveries(&graph, &routing, &SwitchOptions::default(), classes, seed);
        let found: String = found[1..].iter().map(way).collect();
        assert_eq!(found, expected);
    }
}
