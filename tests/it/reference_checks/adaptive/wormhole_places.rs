//! Headers that request all their candidates, with several places of inputs and with input-first matching (D82).
//!
//! Times are those of `wormhole`: what leaves S0 in t over A is at its host in t + 5, over B in t + 14; a credit counts three cycles after
//! its flit has left S0. A header leaves two cycles after the last flit of the packet before it in its lane, at the earliest.

use super::{A, B, TwoWays, both, deliveries, graph, packets, to, two_ways, way};
use crate::reference_checks::timing;
use virtlane::plan::{Allocation, Forwarding, InputSpeedup, Matching, SwitchOptions};
use virtlane::routing::adaptive::{Candidate, Selection};

fn options(matching: Matching, input_speedup: InputSpeedup, rounds: u8) -> SwitchOptions {
    SwitchOptions {
        forwarding: Forwarding::Wormhole,
        matching,
        input_speedup,
        allocation: Allocation::rounds(rounds),
        ..SwitchOptions::default()
    }
}

/// All kinds of matching, those of D76 included.
fn matchings(rounds: u8) -> Vec<SwitchOptions> {
    let [one, two] = [1, 2].map(InputSpeedup::Limited);
    [
        (Matching::OutputFirst, one),
        (Matching::OutputFirst, two),
        (Matching::OutputFirst, InputSpeedup::Unlimited),
        (Matching::InputFirst, one),
        (Matching::InputFirst, two),
    ]
    .map(|(matching, places)| options(matching, places, rounds))
    .into()
}

fn escape(port: u16) -> Candidate {
    Candidate {
        escape: true,
        ..to(port)
    }
}

/// Two packets of four flits of host 0, whose flits come in turn, on two lanes: the first ones in 1 and 2. Both outputs pick the first
/// header in 2, it takes A. The second one requests the escape on B from 3 on, in which the second flit of the first packet comes.
///
/// With two places both go in 3, and all others when they have come: in 5 and 7, and in 4, 6 and 8. With one they go as `wormhole` says,
/// or where inputs propose in turn: the first packet in 4, 6 and 8, the second one in 3, 5, 7 and 9. A second place needs a second round
/// there.
#[test]
fn an_input_passes_as_many_flits_as_it_has_places_of_a_header_one() {
    use InputSpeedup::{Limited, Unlimited};
    use Matching::{InputFirst, OutputFirst};
    let mut open = two_ways(Selection::Open);
    open.width = 2;
    open.first = |_, _| vec![to(A), escape(B)];
    let graph = graph(timing(1, 1), timing(1, 1));
    for (matching, places, rounds, expected) in [
        (OutputFirst, Limited(1), 1, [7 + 3, 9 + 12]),
        (OutputFirst, Limited(2), 1, [7 + 3, 8 + 12]),
        (OutputFirst, Unlimited, 1, [7 + 3, 8 + 12]),
        (InputFirst, Limited(1), 1, [8 + 3, 9 + 12]),
        (InputFirst, Limited(2), 1, [8 + 3, 9 + 12]),
        (InputFirst, Limited(1), 2, [8 + 3, 9 + 12]),
        (InputFirst, Limited(2), 2, [7 + 3, 8 + 12]),
    ] {
        let options = SwitchOptions {
            lanes: 2,
            ..options(matching, places, rounds)
        };
        let found = deliveries(&graph, &open, &options, vec![packets(0, 3, 4, 2)], 1);
        let found: Vec<u64> = found.iter().map(|d| d.delivered).collect();
        assert_eq!(found, expected, "{matching:?} {places:?} {rounds}");
    }
}

/// Outputs pick host 0's header in 2, or its input and that of host 1 propose for A: it takes A. The other one follows on B, which is
/// empty, in 3, with a second round in 2.
#[test]
fn what_a_header_withdraws_goes_in_the_next_round() {
    let graph = graph(timing(1, 1), timing(1, 1));
    let mut open = two_ways(Selection::Open);
    open.first = |_, _| vec![to(A), to(B)];
    for (rounds, second) in [(1, 3 + 14), (2, 2 + 14)] {
        for options in matchings(rounds) {
            let classes = vec![packets(0, 3, 1, 1), packets(1, 4, 1, 1)];
            let found = deliveries(&graph, &open, &options, classes, 1);
            let found: Vec<u64> = found.iter().map(|d| d.delivered).collect();
            assert_eq!(found, [2 + 5, second], "{options:?}");
        }
    }
}

/// Ways of eight packets of one flit, 14 cycles apart: all lanes are empty when one requests.
fn ways(routing: &TwoWays, options: &SwitchOptions) -> String {
    let options = SwitchOptions {
        lanes: routing.width,
        ..options.clone()
    };
    let graph = graph(timing(14, 1), timing(1, 1));
    let found = deliveries(&graph, routing, &options, vec![packets(0, 3, 1, 8)], 1);
    assert!(found.iter().all(|d| d.injected == 14 * d.sequence));
    found.iter().map(way).collect()
}

/// Packets come on two lanes in turn. Inputs that accept have one pointer over outputs: first A, then B. Those that propose have one for
/// each of their lanes, over output lanes first: lane 0 of B, then lane 1 of A.
#[test]
fn among_equals_pointers_decide() {
    let mut open = two_ways(Selection::Open);
    open.width = 2;
    open.first = |_, _| {
        let on_a = Candidate { lane: 1, ..to(A) };
        vec![on_a, to(B)]
    };
    for options in matchings(1) {
        let expected = match options.matching {
            Matching::OutputFirst => "ABABABAB",
            Matching::InputFirst => "BBAABBAA",
        };
        assert_eq!(ways(&open, &options), expected, "{options:?}");
    }
}

#[test]
fn escapes_come_last() {
    let mut open = two_ways(Selection::Open);
    for options in matchings(1) {
        open.first = |_, _| vec![to(A), escape(B)];
        assert_eq!(ways(&open, &options), "AAAAAAAA", "{options:?}");
        open.first = |_, _| vec![escape(A), to(B)];
        assert_eq!(ways(&open, &options), "BBBBBBBB", "{options:?}");
    }
}

/// Packets of `a` and `b` flits have left on A and B from 2 on, their credits come 20 cycles late. Host 0's packet of two flits requests
/// escapes in 10, and takes the way with less downstream; A, where both have the same. Behind S1 it waits for an empty lane, to 25 + a,
/// behind S2 to 34 + b.
#[test]
fn among_escapes_the_least_downstream_comes_first() {
    let mut open = two_ways(Selection::Open);
    open.first = |destination, course| match destination.0 {
        3 => vec![escape(A), escape(B)],
        _ => both(destination, course),
    };
    let graph = graph(timing(1, 9), timing(1, 1));
    for (a, b, delivered) in [(4, 1, 35 + 13), (1, 4, 26 + 4), (4, 4, 29 + 4)] {
        for options in matchings(1) {
            let options = SwitchOptions {
                credit_latency: Some(20),
                ..options
            };
            let classes = vec![
                packets(0, 3, 2, 1),
                packets(1, 4, a, 1),
                packets(2, 5, b, 1),
            ];
            let found = deliveries(&graph, &open, &options, classes, 1);
            assert_eq!(found[0].delivered, delivered, "{a} {b} {options:?}");
        }
    }
}
