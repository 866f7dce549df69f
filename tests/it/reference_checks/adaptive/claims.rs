//! Claims of open heads (D72, D20): for the first escape candidate, until any candidate is granted.
//!
//! Lanes of four flits: of packets of one flit that leave by A in every cycle two are always on their way, so that host 0's
//! four flits, which request in 4, stand for as long as such packets go on. With looks after every 5 cycles they claim in 10.

use super::{A, B, Selection, TwoWays, graph, packets, to, two_ways};
use crate::reference::{Outcome, Routing, simulate};
use crate::reference_checks::{plan, timing};
use virtlane::plan::{Allocation, ClassPlan, SwitchOptions};
use virtlane::routing::adaptive::Candidate;

/// Thirty packets of one flit go by A, those of host 2 as the classes say.
fn run(routing: &TwoWays, by_b: Vec<ClassPlan>) -> Outcome {
    let switch = SwitchOptions {
        lane_capacity: 4,
        allocation: Allocation {
            claims: Some(5),
            ..Allocation::rounds(1)
        },
        ..SwitchOptions::default()
    };
    let mut classes = vec![packets(0, 3, 4, 1), packets(1, 4, 1, 30)];
    classes.extend(by_b);
    let graph = graph(timing(1, 3), timing(1, 1));
    let routing = Routing::Adaptive(routing);
    simulate(&plan(classes, switch), &graph, routing, 200)
}

/// The slow way first, and the other one as the escape.
fn with_escape() -> TwoWays {
    let mut routing = two_ways(Selection::Open);
    routing.first = |destination, _| match destination.0 {
        3 => vec![
            to(B),
            Candidate {
                escape: true,
                ..to(A)
            },
        ],
        4 => vec![to(A)],
        _ => vec![to(B)],
    };
    routing
}

/// Cycles in which the packets of a class arrive.
fn arrivals(outcome: &Outcome, class: u16) -> Vec<u64> {
    let mine = outcome.deliveries.iter().filter(|d| d.class == class);
    mine.map(|d| d.delivered).collect()
}

/// A is barred from 10 on, and its credits are there in 12; a head that waits from 10 to 16 is served then. Of six packets by
/// B two wait for credits in the next switch until then. The claim is for the escape, or without one for the first candidate.
#[test]
fn a_claim_is_for_the_first_escape_or_the_first_candidate() {
    for routing in [with_escape(), two_ways(Selection::Open)] {
        let outcome = run(&routing, vec![packets(2, 5, 1, 6)]);
        // of the first switch
        assert_eq!(outcome.claims.lives[0], (10, Some(12)));
        assert_eq!(arrivals(&outcome, 0), [12 + 5 + 3]);
        let by_a = (7..15).chain(21..43);
        assert_eq!(arrivals(&outcome, 1), by_a.collect::<Vec<_>>());
        assert_eq!(outcome.claims.met.elsewhere, 0);
    }
}

/// Host 2 sends to host 5 and to host 1 in turn: packets leave by B in 2, 4, 6 and 8, and their credits are there in 11, one
/// cycle before those of A. The claim for A has ended in 12. At the next switch the credits of all four must be back, that of
/// the last one in 22.
#[test]
fn the_grant_of_another_candidate_ends_a_claim() {
    let by_turns = vec![packets(2, 5, 1, 4), packets(2, 1, 1, 30)];
    let outcome = run(&with_escape(), by_turns);
    assert_eq!(outcome.claims.lives[0], (10, Some(11)));
    assert_eq!(outcome.claims.met.elsewhere, 1);
    assert_eq!(arrivals(&outcome, 0), [22 + 12 + 3]);
    let by_a = (7..15).chain(17..39);
    assert_eq!(arrivals(&outcome, 1), by_a.collect::<Vec<_>>());
}
