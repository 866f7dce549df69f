//! The reference model in random cases: its assertions hold, what is sent arrives.

use crate::random_fabric::{
    Adaptive, Case, Saturating, adaptive_case, case, case_with_routes, case_with_set_ups,
};
use crate::reference::{Routing, simulate};
use std::sync::Arc;

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
fn random_cases_with_routes_conserve_everything() {
    conserve(case_with_routes);
}

#[test]
fn random_cases_with_set_ups_conserve_everything() {
    conserve(case_with_set_ups);
}

#[test]
fn random_adaptive_cases_conserve_everything() {
    conserve(adaptive_case);
}

/// A case under pressure: every source backlogged until it has sent 30 packets, lanes as small as can be. Returns
/// the packets it will make.
fn press(case: &mut Case<Adaptive>) -> u64 {
    case.plan.switch.lane_capacity = case.plan.largest_packet().into();
    case.plan.switch.drop = None;
    case.plan.host.source_queue = None;
    // as fast as it can be
    case.plan.host.sink_cycles_per_flit = None;
    case.plan.link_retry = None;
    case.plan.classes.retain(|class| {
        let others = [class.messages.is_some(), class.flows.is_some()];
        !others.contains(&true) && class.answers.is_none()
    });
    case.plan.workloads.clear();
    case.plan.flows.clear();
    case.plan.app_phases.clear();
    let mut expected = 0;
    for class in &mut case.plan.classes {
        class.hosts = case.graph.host_ids().collect();
        class.process = Arc::new(Saturating);
        class.packets_per_host = Some(30);
        let senders = class
            .hosts
            .iter()
            .filter(|&&host| class.pattern.sends(host));
        expected += 30 * senders.count() as u64;
    }
    expected
}

/// Every packet arrives where lanes are enough for the hops and do not share their space.
#[test]
fn every_packet_arrives_where_adaptive_routing_is_free_of_deadlock() {
    let mut arrived = 0;
    for seed in 1100..1600 {
        if arrived > 30 {
            break;
        }
        let mut case = adaptive_case(seed);
        // long under pressure
        let is_large = case.graph.hosts().len() > 14 || case.plan.largest_packet() > 32;
        if is_large || !case.routing.deadlock_free {
            continue;
        }
        let expected = press(&mut case);
        let paces = case.graph.channels().iter();
        let slowest = paces.map(|channel| u64::from(channel.timing.cycles_per_flit));
        let flits = expected * u64::from(case.plan.largest_packet());
        // over one channel they take too long
        if flits * slowest.max().unwrap_or(1) > 10_000 {
            continue;
        }
        // as long as it takes, within reason
        let done = [4_000, 40_000].iter().any(|&cycles| {
            let outcome = simulate(&case.plan, &case.graph, &case.routing, cycles);
            outcome.deliveries.len() as u64 == expected
        });
        assert!(done, "seed {seed}");
        arrived += 1;
    }
    assert!(arrived > 20, "{arrived}");
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
