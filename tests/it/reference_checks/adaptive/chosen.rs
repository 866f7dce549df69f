//! VOQ behind committed choices (D75), and marks by what waits (D36, D38) with either kind of queues.

use super::{TwoWays, deliveries, draw, draws, graph, packets, two_ways};
use crate::reference_checks::timing;
use virtlane::plan::{Marking, Queues, SwitchOptions};
use virtlane::routing::adaptive::Selection;

fn options(queues: Queues) -> SwitchOptions {
    SwitchOptions {
        queues,
        lane_capacity: 64,
        ..SwitchOptions::default()
    }
}

/// Every packet is marked by a fill of more than `least` flits, and by no other.
fn marking(least: u32, queues: Queues) -> SwitchOptions {
    SwitchOptions {
        marking: Some(Marking::Ecn {
            least,
            most: least + 1,
            probability: 0,
        }),
        ..options(queues)
    }
}

/// A is taken from 2 to 13. Host 0's first packet waits for it, the other two request B in 4 and 5: behind it, or at once.
#[test]
fn who_has_chosen_another_output_passes() {
    let graph = graph(timing(1, 2), timing(1, 1));
    let classes = || {
        vec![
            packets(0, 4, 1, 1),
            packets(0, 5, 1, 2),
            packets(1, 4, 12, 1),
        ]
    };
    let passing = |queues| -> Vec<u64> {
        let routing = two_ways(Selection::First);
        let found = deliveries(&graph, &routing, &options(queues), classes(), 1);
        found[1..3].iter().map(|d| d.delivered).collect()
    };
    assert_eq!(passing(Queues::Fifo), [15 + 14, 16 + 14]);
    assert_eq!(passing(Queues::Voq), [4 + 14, 5 + 14]);
}

/// A and B are taken from 2 to 21. Host 0's packets choose in 3, 6, 8 and 10: 3 flits for B, 2 and 2 for A, so that the last one
/// takes B, where less waits, though the head for A is smaller than that for B. They leave in 22 (A, where the pointer is), 24 (B),
/// 27 (A) and, with the pointer past A, in 29.
#[test]
fn what_has_chosen_counts_before_it_is_head() {
    let graph = graph(timing(1, 2), timing(1, 1));
    let classes = vec![
        packets(0, 5, 3, 1),
        packets(0, 4, 2, 1),
        packets(0, 4, 2, 1),
        packets(0, 3, 1, 1),
        packets(1, 4, 20, 1),
        packets(2, 5, 20, 1),
    ];
    let routing = two_ways(Selection::LeastLoad);
    let found = deliveries(&graph, &routing, &options(Queues::Voq), classes, 1);
    let delivered: Vec<u64> = found[..4].iter().map(|d| d.delivered).collect();
    assert_eq!(
        delivered,
        [24 + 14 + 2, 22 + 5 + 1, 27 + 5 + 1, 29 + 14],
        "{found:?}"
    );
}

/// Marks of three packets of two flits, of hosts 0 to 2 to host 3, that come to S0 in one cycle.
fn marks(routing: &TwoWays, options: &SwitchOptions) -> [bool; 3] {
    let graph = graph(timing(1, 1), timing(1, 1));
    let classes = (0..3).map(|host| packets(host, 3, 2, 1)).collect();
    let found = deliveries(&graph, routing, options, classes, 1);
    let marks: Vec<bool> = found.iter().map(|d| d.fecn).collect();
    marks.try_into().expect("three packets")
}

/// Both outputs pick host 0's packet in 2: it takes A while the others wait for both. Host 1's takes B in 3 while host 2's waits for
/// both, and nobody waits for what that takes.
#[test]
fn an_open_head_waits_for_all_that_it_requests() {
    let open = two_ways(Selection::Open);
    let marks = |least| marks(&open, &marking(least, Queues::Fifo));
    assert_eq!(marks(1), [true, true, false]);
    for least in [2, 3] {
        assert_eq!(marks(least), [true, false, false]);
    }
    assert_eq!(marks(4), [false, false, false]);
}

/// All want A: four flits wait behind the first, two behind the second.
#[test]
fn heads_wait_for_what_they_have_chosen() {
    let first = two_ways(Selection::First);
    for queues in [Queues::Fifo, Queues::Voq] {
        assert_eq!(marks(&first, &marking(1, queues)), [true, true, false]);
        assert_eq!(marks(&first, &marking(2, queues)), [true, false, false]);
    }
}

/// The second one goes where the first one has not; so many flits wait on both ways when the third one draws, and it waits for one of
/// the two.
#[test]
fn those_of_a_cycle_choose_one_behind_the_other() {
    let least = two_ways(Selection::LeastLoad);
    let channel = |host: u32| {
        let graph = graph(timing(1, 1), timing(1, 1));
        let channel = graph.host_channel(virtlane::ids::HostId(host));
        let purpose = virtlane::rng::Purpose::Adaptive;
        virtlane::rng::stream(1, purpose, u64::from(channel.0) * 16)
    };
    let (first, third) = (draw(&mut draws(1, 0)), draw(&mut channel(2)));
    for queues in [Queues::Fifo, Queues::Voq] {
        let expected = [first == third, first != third, false];
        assert_eq!(marks(&least, &marking(1, queues)), expected);
    }
}

/// A is taken from 2 to 13; three packets of host 0 come from 3 on. With VOQ all of them have chosen it.
#[test]
fn who_has_not_chosen_is_not_counted() {
    let graph = graph(timing(1, 2), timing(1, 1));
    let first = two_ways(Selection::First);
    for (queues, expected) in [
        (Queues::Fifo, [false, false, false]),
        (Queues::Voq, [true, true, false]),
    ] {
        let classes = vec![packets(0, 4, 2, 3), packets(1, 4, 12, 1)];
        let found = deliveries(&graph, &first, &marking(1, queues), classes, 1);
        let marks: Vec<bool> = found[..3].iter().map(|d| d.fecn).collect();
        assert_eq!(marks, expected, "{queues:?}");
    }
}
