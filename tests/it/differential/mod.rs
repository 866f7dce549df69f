//! The engine against the reference model: the same fate of every packet, the same counts.
//!
//! Random small fabrics, options and traffic (`random_fabric`); each case runs in the reference model once and in the
//! engine in a drawn way: with threads and shards, stopped, saved and resumed in the middle, forked.
//! Compared are all deliveries, running totals, and what the measurement window counts. `coverage` demands that every
//! combination that matters was drawn; `random_fabric::strata` sees to it. `VIRTLANE_CASES=n` changes the number of cases, `VIRTLANE_FIRST_CASE=n` the
//! first seed, and `VIRTLANE_FEATURE=name` leaves out those without a feature of `random_fabric::features`.
//!
//! One file per thing: `engine` (a case in the engine), `closed_sets` (who waits for ever), `counts` (what differs), `coverage`, `definitions` (what is counted,
//! worked out by hand), `endings` (when nothing can happen any more), `observed` (what is recorded of single packets), `passes` (all stages in one go), `resumed` (the states of runs that go on), `standing` (packets in several queues, by hand), `trees` (congestion), `wander` (choices that may deadlock), `whole_runs` (of scenarios, with all counts),
//! `wormhole` (single switches, by hand).

mod closed_sets;
mod counts;
mod coverage;
mod definitions;
mod endings;
mod engine;
mod half_way;
mod half_way_cases;
mod management_cases;
mod observed;
mod passes;
mod probes;
mod resumed;
mod standing;
mod standing_cases;
mod trees;
mod unreachable;
mod wander;
mod whole_runs;
mod wormhole;

use crate::random_fabric::{
    Adaptive, Case, Kind, adaptive_case, case, case_with_routes, case_with_set_ups, features,
    shipped_case,
};
use crate::reference::{Delivery, Outcome, Routing, simulate_forked};
use coverage::Coverage;
use std::panic::{AssertUnwindSafe, catch_unwind};
use virtlane::routing::Routes;

/// Packets whose delivery or injection moved, by the earlier of both times.
fn moved(expected: &[Delivery], found: &[Delivery]) -> String {
    let key = |delivery: &Delivery| (delivery.source, delivery.class, delivery.sequence);
    let mut moved = Vec::new();
    for a in expected {
        let b = found.iter().find(|b| key(b) == key(a));
        if b != Some(a) {
            moved.push((
                a.delivered,
                format!(
                    "{a:?}\n     {:?}",
                    b.map(|b| (b.created, b.injected, b.delivered, b.hops, b.fecn))
                ),
            ));
        }
    }
    moved.sort();
    moved
        .into_iter()
        .take(3)
        .map(|(_, text)| text + "\n")
        .collect()
}

/// What differs, in words.
fn differences(expected: &Outcome, found: &engine::Found) -> Option<String> {
    let mut text = counts::differences(expected, found);
    if expected.deliveries != found.deliveries {
        let (expected, found) = (&expected.deliveries, &found.deliveries);
        text.push(format!("{} / {} deliveries", expected.len(), found.len()));
        text.push(moved(expected, found));
    }
    if expected.closed_set != found.closed_set {
        let (expected, found) = (&expected.closed_set, &found.closed_set);
        text.push(format!("closed set {expected:?} / {found:?}"));
    }
    (!text.is_empty()).then(|| text.join("\n"))
}

fn number(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Shows what was drawn, with `--nocapture`.
#[expect(clippy::print_stdout, reason = "what was compared is worth reading")]
fn show(coverage: &Coverage) {
    println!("{coverage}");
}

fn reference<R>(case: &Case<R>) -> Outcome
where
    for<'a> &'a R: Into<Routing<'a>>,
{
    let fork = case.fork.as_ref().map(|fork| (fork.cycle, &fork.plan));
    simulate_forked(&case.plan, &case.graph, &case.routing, fork, case.cycles)
}

/// Runs cases in the reference model and in the engine with the routes that `routes` gives; by default `count` of them, the
/// first ones.
fn compare<R: Clone>(draw: fn(u64) -> Case<R>, routes: fn(&R) -> Routes, count: u64) -> Coverage
where
    for<'a> &'a R: Into<Routing<'a>>,
{
    let first = number("VIRTLANE_FIRST_CASE", 0);
    let cases = first..first + number("VIRTLANE_CASES", count);
    compare_cases(draw, routes, cases)
}

/// Runs these cases.
fn compare_cases<R: Clone>(
    draw: fn(u64) -> Case<R>,
    routes: fn(&R) -> Routes,
    cases: impl Iterator<Item = u64>,
) -> Coverage
where
    for<'a> &'a R: Into<Routing<'a>>,
{
    let feature = std::env::var("VIRTLANE_FEATURE");
    let mut failures = Vec::new();
    let mut coverage = Coverage::default();
    for seed in cases {
        let case = draw(seed);
        if feature
            .as_ref()
            .is_ok_and(|name| !features(&case).contains(name))
        {
            continue;
        }
        let expected = reference(&case);
        let routes = routes(&case.routing);
        // a broken invariant is told where it is found; which case it was is told here
        let found = catch_unwind(AssertUnwindSafe(|| engine::run(&case, &routes)));
        let text = match &found {
            Ok(found) => {
                coverage.add(&case, &expected, found);
                differences(&expected, found)
            }
            Err(_) => Some(String::from("the engine panicked")),
        };
        if let Some(text) = text {
            let fork = case.fork.as_ref().map(|fork| fork.cycle);
            failures.push(format!(
                "{} ({:?}, fork {fork:?}): {text}\n{:?}\n{:?}",
                case.plan.title, case.way, case.plan.switch, case.plan.host
            ));
        }
    }
    show(&coverage);
    assert!(
        failures.is_empty(),
        "{} cases differ; they are:\n{}",
        failures.len(),
        failures.join("\n")
    );
    coverage
}

/// Whether these are the cases whose draws are demanded to leave nothing out.
fn is_usual() -> bool {
    ["VIRTLANE_CASES", "VIRTLANE_FIRST_CASE", "VIRTLANE_FEATURE"]
        .iter()
        .all(|name| std::env::var(name).is_err())
}

#[test]
fn every_packet_arrives_in_the_same_cycle() {
    let coverage = compare(case, |tables| Routes::Tables(tables.clone()), 800);
    if is_usual() {
        coverage.require_general(Kind::Tables);
        coverage.require_plain();
    }
}

/// What few cases draw, each with the fault that no other of the usual ones sees (`tests/mutants.tsv`).
#[test]
fn rare_cases_do_not_differ() {
    // 640: repeats between two packets of an output that InfiniBand's marking looks at
    let rare = [6151];
    compare_cases(
        case,
        |tables| Routes::Tables(tables.clone()),
        rare.into_iter(),
    );
}

#[test]
fn every_adaptively_routed_packet_arrives_in_the_same_cycle() {
    let coverage = compare(adaptive_case, Adaptive::routes, 320);
    if is_usual() {
        coverage.require_general(Kind::Adaptive);
    }
}

#[test]
fn every_packet_on_a_route_of_its_own_arrives_in_the_same_cycle() {
    let coverage = compare(
        case_with_routes,
        |tables| Routes::Tables(tables.clone()),
        240,
    );
    if is_usual() {
        coverage.require_routes();
    }
}

#[test]
fn every_packet_on_a_route_set_up_arrives_in_the_same_cycle() {
    let coverage = compare(
        case_with_set_ups,
        |tables| Routes::Tables(tables.clone()),
        240,
    );
    if is_usual() {
        coverage.require_set_ups();
    }
}

#[test]
fn every_packet_of_shipped_parts_arrives_in_the_same_cycle() {
    let coverage = compare(shipped_case, Routes::clone, 120);
    if is_usual() {
        coverage.require_shipped();
    }
}
