//! Wormhole switching (D76): choices of headers, and headers that request all their candidates.
//!
//! A flit of a packet whose flits come one per cycle leaves S0 in t and S1 or S2 in t + 2, and its credit counts in t + 3. Right
//! behind another packet a header leaves S1 or S2 in t + 3: it is routed when that has left. Flits with gaps between them catch up
//! with their header, by one cycle in every later switch.

use super::{A, B, TwoWays, both, deliveries, draw, draws, graph, packets, to, two_ways};
use crate::reference_checks::timing;
use virtlane::plan::{Forwarding, SwitchOptions};
use virtlane::routing::adaptive::{Candidate, Selection};

fn options() -> SwitchOptions {
    SwitchOptions {
        forwarding: Forwarding::Wormhole,
        ..SwitchOptions::default()
    }
}

fn escape(port: u16) -> Candidate {
    Candidate {
        escape: true,
        ..to(port)
    }
}

/// Cycle in which the two flits of host 0, whose header requests in 4, are at host 3, when packets of `a` and `b` flits to hosts 4
/// and 5 leave on A and B from 2 on. Those that leave S0 from t on are there in t + 6 over A, in t + 15 over B.
fn past_others(routing: &TwoWays, a: u16, b: u16) -> u64 {
    let graph = graph(timing(1, 3), timing(1, 1));
    let classes = vec![
        packets(0, 3, 2, 1),
        packets(1, 4, a, 1),
        packets(2, 5, b, 1),
    ];
    deliveries(&graph, routing, &options(), classes, 1)[0].delivered
}

/// They pass their last flits in 1 + a and 1 + b, and their lanes count as taken until then.
#[test]
fn who_holds_a_lane_counts_as_one_that_waits() {
    let least = two_ways(Selection::LeastLoad);
    assert_eq!(past_others(&least, 12, 6), 8 + 16);
    assert_eq!(past_others(&least, 6, 12), 8 + 7);
    assert_eq!(past_others(&least, 3, 1), 4 + 15);
    assert_eq!(past_others(&least, 1, 3), 4 + 6);
    // nobody holds one in 4
    let expected = match draw(&mut draws(1, 0)) {
        'A' => 6,
        _ => 15,
    };
    assert_eq!(past_others(&least, 2, 1), 4 + expected);
    let first = two_ways(Selection::First);
    assert_eq!(past_others(&first, 12, 6), 14 + 7);
}

/// Lanes are empty when the last credit is back, three cycles after its flit was passed: in 4 + a and 4 + b, in 12 both, and the
/// pointer is before A. The next lane of A is empty then, too; that of B when the flit that S2 has passed in 3 + b has come to S3 and
/// left, in 15 + b, and the header is at host 3 twelve cycles later.
#[test]
fn a_header_needs_an_empty_lane_unless_it_asks_for_an_escape() {
    let mut open = two_ways(Selection::Open);
    assert_eq!(past_others(&open, 6, 12), 10 + 6);
    assert_eq!(past_others(&open, 12, 6), 21 + 13);
    assert_eq!(past_others(&open, 8, 8), 12 + 6);
    open.first = |destination, course| match destination.0 {
        3 => vec![escape(A), to(B)],
        _ => both(destination, course),
    };
    // by A in 2 + a, and by S1 in 6 + a, when the lane behind it is empty
    assert_eq!(past_others(&open, 6, 6), 12 + 4);
    assert_eq!(past_others(&open, 7, 6), 13 + 4);
    // in 10 B is empty, and no escape
    assert_eq!(past_others(&open, 8, 6), 21 + 13);
    assert_eq!(past_others(&open, 9, 6), 21 + 13);
}

/// Two packets of four flits to one host, whose credits are on their way back for long: one leaves in 2 to 5, one in 6 to 9.
#[test]
fn lanes_to_hosts_need_not_be_empty() {
    let graph = graph(timing(1, 1), timing(1, 1));
    let options = SwitchOptions {
        credit_latency: Some(20),
        ..options()
    };
    let classes = vec![packets(0, 2, 4, 1), packets(1, 2, 4, 1)];
    let found = deliveries(&graph, &two_ways(Selection::Open), &options, classes, 1);
    let found: Vec<u64> = found.iter().map(|d| d.delivered).collect();
    assert_eq!(found, [6, 10]);
}

/// Two packets of four flits of host 0, whose flits come in turn, on two lanes: the first ones in 1 and 2. The first header takes A in 2.
/// The second one requests the escape on B in 3, and goes in 4: in 3 the second flit of the first packet is there. From then on each
/// goes when it has come, the first packet in 5 and 7, the second one in 6, 8 and 9; in two switches they catch up.
#[test]
fn an_input_accepts_all_else_before_a_header_that_asks_for_an_escape() {
    let mut open = two_ways(Selection::Open);
    open.width = 2;
    open.first = |_, _| vec![to(A), escape(B)];
    let options = SwitchOptions {
        lanes: 2,
        ..options()
    };
    let graph = graph(timing(1, 1), timing(1, 1));
    let found = deliveries(&graph, &open, &options, vec![packets(0, 3, 4, 2)], 1);
    let found: Vec<u64> = found.iter().map(|d| d.delivered).collect();
    assert_eq!(found, [7 + 3, 9 + 12]);
}
