//! The engine against the reference model: the same delivery cycle for every packet.
//!
//! Random small fabrics, options and traffic (`random_fabric::case`); each case runs in the reference model
//! once and in the engine with several shard counts, staged and fused. `VIRTLANE_CASES=n` changes the number
//! of cases, `VIRTLANE_FIRST_CASE=n` the first seed.

use crate::random_fabric::{Case, adaptive_case, case};
use crate::reference::{self, Delivery, Outcome, Routing};
use virtlane::routing::Routes;
use virtlane::run::{Options, Simulation};
use virtlane::scenario::plan::{HostOptions, SwitchOptions};

/// What the engine makes of a case.
fn engine(mut simulation: Simulation, cycles: u64) -> Outcome {
    simulation.run_until(cycles).expect("messages can be read");
    let mut outcome = Outcome {
        deliveries: Vec::new(),
        created: 0,
        rejected: 0,
        messages: 0,
    };
    for state in simulation.states() {
        let records = &state.work.records;
        outcome.created += records.totals.created;
        outcome.rejected += records.totals.rejected;
        let classes = records.measured.classes.iter();
        let messages = classes.filter_map(|class| class.messages.as_ref());
        outcome.messages += messages.map(|messages| messages.delivered).sum::<u64>();
        outcome
            .deliveries
            .extend(records.deliveries().iter().map(|delivery| Delivery {
                source: delivery.source,
                class: delivery.class,
                sequence: delivery.sequence,
                destination: delivery.destination,
                size: delivery.size,
                created: delivery.created,
                injected: delivery.injected,
                delivered: delivery.delivered,
                fecn: delivery.is_marked,
            }));
    }
    outcome.deliveries.sort();
    outcome
}

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
                    b.map(|b| (b.created, b.injected, b.delivered, b.fecn))
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

/// Default switch options, which the stages are compiled for: queues, arbitration, buffers and sinks as they
/// come; sizes, delays and latencies stay as drawn.
fn default_options<R>(case: &mut Case<R>) {
    let drawn = case.plan.switch.clone();
    let management = case.plan.classes.iter().any(|class| class.management);
    case.plan.switch = SwitchOptions {
        lanes: drawn.lanes,
        management_lane: management,
        lane_capacity: drawn.lane_capacity,
        forwarding: drawn.forwarding,
        routing_delay: drawn.routing_delay,
        allocation_delay: drawn.allocation_delay,
        crossbar_delay: drawn.crossbar_delay,
        credit_latency: drawn.credit_latency,
        ..SwitchOptions::default()
    };
    case.plan.host = HostOptions::default();
}

/// The first delivery that differs, in words.
fn first_difference(expected: &Outcome, found: &Outcome) -> String {
    let by_time = |outcome: &Outcome| {
        let mut deliveries = outcome.deliveries.clone();
        deliveries.sort_by_key(|delivery| {
            (
                delivery.delivered,
                delivery.source,
                delivery.class,
                delivery.sequence,
            )
        });
        deliveries
    };
    let (expected_list, found_list) = (by_time(expected), by_time(found));
    let place = expected_list
        .iter()
        .zip(&found_list)
        .position(|(a, b)| a != b);
    let place = place.unwrap_or(expected_list.len().min(found_list.len()));
    format!(
        "{}\ncreated {} / {}, rejected {} / {}, messages {} / {}, delivered {} / {}; first difference at {place}:\nreference {:?}\nengine    {:?}",
        moved(&expected_list, &found_list),
        expected.created,
        found.created,
        expected.rejected,
        found.rejected,
        expected.messages,
        found.messages,
        expected_list.len(),
        found_list.len(),
        expected_list.get(place),
        found_list.get(place),
    )
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

/// Runs cases in the reference model and in the engine, which `build` sets up.
fn compare<R>(draw: fn(u64) -> Case<R>, build: fn(&Case<R>, Options) -> Simulation)
where
    for<'a> &'a R: Into<Routing<'a>>,
{
    let first = number("VIRTLANE_FIRST_CASE", 0);
    let mut failures = Vec::new();
    let (mut delivered, mut messages) = (0, 0);
    for seed in first..first + number("VIRTLANE_CASES", 300) {
        let mut case = draw(seed);
        if seed % 2 == 1 {
            default_options(&mut case);
        }
        let expected = reference::simulate(&case.plan, &case.graph, &case.routing, case.cycles);
        delivered += expected.deliveries.len();
        messages += expected.messages;
        let ways = [(1, false), (1, true), (2, false), (5, true)];
        let (shards, fused) = ways[seed as usize % ways.len()];
        let options = Options {
            shards,
            fused,
            keep_deliveries: true,
            ..Options::default()
        };
        let found = engine(build(&case, options), case.cycles);
        if found != expected {
            failures.push(format!(
                "case {seed} ({shards} shards, fused {fused}): {}\n{:?}\n{:?}",
                first_difference(&expected, &found),
                case.plan.switch,
                case.plan.host
            ));
        }
    }
    assert!(
        delivered > 1000 && messages > 100,
        "the cases hardly deliver anything: {delivered} packets, {messages} messages"
    );
    assert!(
        failures.is_empty(),
        "{} cases differ; they are:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

/// A simulation of the case with `routes`.
fn simulation<R>(case: &Case<R>, routes: &Routes, options: Options) -> Simulation {
    Simulation::new(&case.plan, &case.graph, routes, options).expect("threads can be started")
}

#[test]
fn every_packet_arrives_in_the_same_cycle() {
    compare(case, |case, options| {
        simulation(case, &Routes::Tables(case.routing.clone()), options)
    });
}

#[test]
fn every_adaptively_routed_packet_arrives_in_the_same_cycle() {
    compare(adaptive_case, |case, options| {
        simulation(case, &case.routing.routes(), options)
    });
}
