//! Dropping (D58) of packets that choose.

use super::{TwoWays, draw, draws, graph, packets, two_ways};
use crate::reference::{Outcome, Routing, simulate};
use crate::reference_checks::drops::dropping;
use crate::reference_checks::{plan, timing};
use virtlane::plan::{ClassPlan, DropRule, Forwarding, Queues, SwitchOptions};
use virtlane::routing::adaptive::Selection;

fn run(routing: &TwoWays, options: &SwitchOptions, classes: Vec<ClassPlan>) -> Outcome {
    run_with_seed(routing, options, classes, 1)
}

fn run_with_seed(
    routing: &TwoWays,
    options: &SwitchOptions,
    classes: Vec<ClassPlan>,
    seed: u64,
) -> Outcome {
    let graph = graph(timing(1, 3), timing(1, 1));
    let mut plan = plan(classes, options.clone());
    plan.seed = seed;
    simulate(&plan, &graph, Routing::Adaptive(routing), 100)
}

/// Source and cycle of each drop.
fn lost(outcome: &Outcome) -> Vec<(u32, u64)> {
    let lost = outcome.lost.iter();
    lost.map(|packet| (packet.source.0, packet.dropped))
        .collect()
}

/// Lanes of twelve flits, which packets of `a` and `b` flits to hosts 4 and 5 take in 2. The first credit is back in 5; two flits
/// of host 0 choose in 4.
fn past_others(routing: &TwoWays, options: &SwitchOptions, a: u16, b: u16) -> Vec<(u32, u64)> {
    let classes = vec![
        packets(0, 3, 2, 1),
        packets(1, 4, a, 1),
        packets(2, 5, b, 1),
    ];
    lost(&run(routing, options, classes))
}

#[test]
fn a_packet_is_dropped_if_all_that_it_requests_is_held() {
    let options = dropping(DropRule::Held, 12);
    let (first, open) = (two_ways(Selection::First), two_ways(Selection::Open));
    let dropped = vec![(0, 4)];
    assert_eq!(past_others(&first, &options, 12, 1), dropped);
    assert_eq!(past_others(&first, &options, 11, 1), dropped);
    assert_eq!(past_others(&first, &options, 10, 12), []);
    assert_eq!(past_others(&open, &options, 12, 11), dropped);
    assert_eq!(past_others(&open, &options, 12, 10), []);
    assert_eq!(past_others(&open, &options, 10, 12), []);
}

/// A is passing flits until 1 + a, and its credits are all back three cycles later.
#[test]
fn a_header_is_dropped_if_no_lane_is_ready_for_it() {
    let options = SwitchOptions {
        forwarding: Forwarding::Wormhole,
        ..dropping(DropRule::Held, 12)
    };
    let (first, open) = (two_ways(Selection::First), two_ways(Selection::Open));
    let dropped = vec![(0, 4)];
    assert_eq!(past_others(&first, &options, 3, 1), dropped);
    assert_eq!(past_others(&first, &options, 2, 1), []);
    // of single flits the credits count in 5
    assert_eq!(past_others(&open, &options, 3, 1), dropped);
    assert_eq!(past_others(&open, &options, 1, 1), dropped);
}

/// A is taken from 2 to 13. Two flits of host 0 wait for it from 4 on. The second packet of host 2 chooses it in 6 and finds
/// them; if it is dropped, its four flits leave in 6 to 9, and the last packet takes B in 10.
#[test]
fn a_threshold_decides_on_what_has_chosen_before() {
    for queues in [Queues::Fifo, Queues::Voq] {
        for (limit, expected) in [(2, vec![(2, 6)]), (3, vec![])] {
            let options = SwitchOptions {
                queues,
                ..dropping(DropRule::Threshold(limit), 64)
            };
            let classes = vec![
                packets(0, 4, 2, 1),
                packets(1, 4, 12, 1),
                packets(2, 5, 4, 1),
                packets(2, 4, 4, 1),
                packets(2, 5, 1, 1),
            ];
            let outcome = run(&two_ways(Selection::First), &options, classes);
            assert_eq!(lost(&outcome), expected, "{queues:?}");
            let mut found = outcome.deliveries.iter();
            let last = found.find(|delivery| delivery.class == 4);
            let at_once = last.expect("delivered").delivered == 10 + 14;
            assert_eq!(at_once, limit == 2 || queues == Queues::Voq, "{queues:?}");
        }
    }
}

/// Host 2 takes all credits of A in 2. Two flits of host 0 choose in 4, those of host 1 behind them: what host 0 has chosen counts,
/// whether it is dropped or not, so that the other way is left for host 1.
#[test]
fn what_is_dropped_has_chosen_before_others() {
    let options = dropping(DropRule::Held, 12);
    let least = two_ways(Selection::LeastLoad);
    let mut seen = [false; 2];
    for seed in 1..10 {
        let classes = vec![
            packets(0, 3, 2, 1),
            packets(1, 0, 2, 1),
            packets(1, 3, 2, 1),
            packets(2, 4, 12, 1),
        ];
        let outcome = run_with_seed(&least, &options, classes, seed);
        let first_takes_a = draw(&mut draws(seed, 0)) == 'A';
        let dropped = u32::from(!first_takes_a);
        assert_eq!(lost(&outcome), [(dropped, 4)], "{seed}");
        let mut others = outcome.deliveries.iter();
        let other = others.find(|delivery| delivery.destination.0 == 3);
        assert_eq!(other.expect("over B").delivered, 4 + 15, "{seed}");
        seen[usize::from(first_takes_a)] = true;
    }
    assert_eq!(seen, [true, true]);
}
