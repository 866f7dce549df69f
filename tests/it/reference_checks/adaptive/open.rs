//! Open selection (D20): all candidates requested, the first accepted grant withdraws the others.

use super::{A, B, TwoWays, deliveries, graph, packets, past_others, to, two_ways, ways};
use crate::reference_checks::timing;
use virtlane::plan::{Allocation, Marking, SwitchOptions};
use virtlane::routing::adaptive::{Candidate, Selection};

fn escape(port: u16) -> Candidate {
    Candidate {
        escape: true,
        ..to(port)
    }
}

fn open() -> TwoWays {
    two_ways(Selection::Open)
}

/// By A at 8 or by B at 8; when both come free in 10, loads are the same and the pointer is before A.
#[test]
fn a_head_leaves_by_the_output_that_is_free_first() {
    assert_eq!(past_others(&open(), 6, 12), 8 + 6);
    assert_eq!(past_others(&open(), 12, 6), 8 + 15);
    assert_eq!(past_others(&open(), 8, 8), 10 + 6);
}

/// Both are free in every cycle. Without escape: A and B have carried one each of the last two packets (the first
/// goes to A, the second finds load there), so the pointer decides. With it load does not matter.
#[test]
fn accepted_are_other_grants_before_escape_then_by_turns() {
    let default = SwitchOptions::default();
    assert_eq!(ways(&open(), &default, 1), "ABABABAB");
    let mut routing = open();
    routing.first = |_, _| vec![to(A), escape(B)];
    assert_eq!(ways(&routing, &default, 1), "AAAAAAAA");
    routing.first = |_, _| vec![escape(A), to(B)];
    assert_eq!(ways(&routing, &default, 1), "BBBBBBBB");
}

/// A is taken from 2 to 13: the escape is there in 4.
#[test]
fn escape_goes_when_nothing_else_does() {
    let mut routing = open();
    routing.first = |destination, _| match destination.0 {
        3 => vec![to(A), escape(B)],
        _ => vec![to(A)],
    };
    let graph = graph(timing(1, 3), timing(1, 1));
    let classes = vec![packets(0, 3, 2, 1), packets(1, 4, 12, 1)];
    let found = deliveries(&graph, &routing, &SwitchOptions::default(), classes, 1);
    assert_eq!(found[0].delivered, 4 + 15);
}

/// Packets of `a` and `b` flits have left on A and B, their credits come late. Host 0's packet of two flits requests in
/// 10, the pointer is before A; it takes the way with less load.
#[test]
fn accepted_is_the_least_load_before_turns() {
    let options = SwitchOptions {
        credit_latency: Some(20),
        ..SwitchOptions::default()
    };
    let graph = graph(timing(1, 9), timing(1, 1));
    for (a, b, delivered) in [(4, 1, 10 + 15), (1, 4, 10 + 6), (4, 4, 10 + 6)] {
        let classes = vec![
            packets(0, 3, 2, 1),
            packets(1, 4, a, 1),
            packets(2, 5, b, 1),
        ];
        let found = deliveries(&graph, &open(), &options, classes, 1);
        assert_eq!(found[0].delivered, delivered, "{a} {b}");
    }
}

/// Both outputs pick host 0's packet in 2; the other one follows in 3 on B, which has no load, with a second round in
/// 2 on B, which is still free.
#[test]
fn what_is_withdrawn_can_be_granted_in_the_next_round() {
    let graph = graph(timing(1, 1), timing(1, 1));
    let mut routing = open();
    routing.first = |_, _| vec![to(A), to(B)];
    for (iterations, second) in [(1, 3 + 14), (2, 2 + 14)] {
        let options = SwitchOptions {
            allocation: Allocation::rounds(iterations),
            ..SwitchOptions::default()
        };
        let classes = vec![packets(0, 3, 1, 1), packets(1, 4, 1, 1)];
        let found = deliveries(&graph, &routing, &options, classes, 1);
        let found: Vec<u64> = found.iter().map(|d| d.delivered).collect();
        assert_eq!(found, [2 + 5, second]);
    }
}

/// Lanes of four flits; packets of one flit leave on A and on B in 2 to 7, two of them always on their way, so that
/// host 0's four flits stand from 4 to 10. Open, they stand at both outputs.
#[test]
fn a_head_is_counted_wherever_it_requests() {
    let graph = graph(timing(1, 3), timing(1, 1));
    let seen = [false, false, true, true, true, true];
    let unseen = [false; 6];
    for (routing, threshold, on_a, on_b) in [
        (open(), 4, seen, seen),
        (open(), 5, unseen, unseen),
        (two_ways(Selection::First), 4, seen, unseen),
    ] {
        let options = SwitchOptions {
            lane_capacity: 4,
            marking: Some(Marking::Requests(threshold)),
            ..SwitchOptions::default()
        };
        let classes = vec![
            packets(0, 3, 4, 1),
            packets(1, 4, 1, 6),
            packets(2, 5, 1, 6),
        ];
        let found = deliveries(&graph, &routing, &options, classes, 1);
        let fecn: Vec<bool> = found.iter().map(|d| d.fecn).collect();
        assert_eq!(found[0].delivered, 10 + 5 + 3);
        assert!(!fecn[0]);
        assert_eq!((&fecn[1..7], &fecn[7..]), (&on_a[..], &on_b[..]));
    }
}
