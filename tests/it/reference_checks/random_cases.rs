//! The reference model in random cases: its assertions hold, what is sent arrives.

use crate::random_fabric::{Case, adaptive_case, case};
use crate::reference::{Routing, simulate};

/// Runs the cases of 100 seeds: every assertion of the reference holds, and most of them deliver something.
fn conserve<R>(draw: fn(u64) -> Case<R>)
where
    for<'a> &'a R: Into<Routing<'a>>,
{
    let mut delivered = 0;
    let mut idle = 0;
    for seed in 0..100 {
        let case = draw(seed);
        let outcome = simulate(&case.plan, &case.graph, &case.routing, case.cycles);
        let count = outcome.deliveries.len() as u64;
        assert!(count + outcome.rejected <= outcome.created, "seed {seed}");
        delivered += count;
        idle += u32::from(count == 0);
        for delivery in &outcome.deliveries {
            assert!(delivery.created <= delivery.injected, "seed {seed}");
            assert!(delivery.delivered < case.cycles, "seed {seed}");
        }
    }
    assert!(delivered > 20_000, "{delivered}");
    assert!(idle < 5, "{idle}");
}

#[test]
fn random_cases_conserve_everything() {
    conserve(case);
}

#[test]
fn random_adaptive_cases_conserve_everything() {
    conserve(adaptive_case);
}

/// Without cycles of waiting every packet arrives, when sources end.
#[test]
fn every_packet_arrives_where_adaptive_routing_is_free_of_deadlock() {
    let mut sent = 0;
    for seed in 1000..1060 {
        let mut case = adaptive_case(seed);
        if !case.routing.deadlock_free {
            continue;
        }
        let mut expected = 0;
        for class in &mut case.plan.classes {
            class.packets_per_host = Some(20);
            let senders = class.hosts.iter().filter(|&&h| class.pattern.sends(h));
            expected += 20 * senders.count() as u64;
        }
        sent += expected;
        // as long as it takes, within reason
        let done = [2_000, 10_000, 50_000, 250_000].iter().any(|&cycles| {
            let outcome = simulate(&case.plan, &case.graph, &case.routing, cycles);
            let accepted = outcome.created - outcome.rejected;
            outcome.created == expected && outcome.deliveries.len() as u64 == accepted
        });
        assert!(done, "seed {seed}");
    }
    assert!(sent > 10_000, "{sent}");
}

#[test]
fn the_same_case_gives_the_same_outcome() {
    fn twice<R>(draw: fn(u64) -> Case<R>)
    where
        for<'a> &'a R: Into<Routing<'a>>,
    {
        for seed in 200..205 {
            let run = || {
                let case = draw(seed);
                simulate(&case.plan, &case.graph, &case.routing, case.cycles)
            };
            assert_eq!(run(), run());
        }
    }
    twice(case);
    twice(adaptive_case);
}
