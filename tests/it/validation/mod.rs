//! Validation: results that are known from theory, measured on the shipped scenarios.

mod adaptive;
mod admission;
mod all_sections;
mod answer_loads;
mod bounds;
mod closed_loops;
mod confidence;
mod control;
mod counted;
mod deadlock;
mod determinism;
mod dropping;
mod expert;
mod fabrics;
mod fair_rates;
mod flows;
mod headers;
mod held_back;
mod jobs;
mod lanes;
mod lash;
mod late;
mod latency_groups;
mod lengths;
mod link_retry;
mod loops;
mod losses;
mod offered;
mod open_times;
mod output_lanes;
mod paces;
mod parking_lot;
mod presets;
mod queueing;
mod replies;
mod shipped;
mod shortfalls;
mod sinks;
mod slow_fabrics;
mod stopped;
mod timelines;
mod verdicts;
mod vl_arbitration;
mod waits;
mod windows;
mod worst_case;
mod zero_load;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use virtlane::cycle::Wanted;
use virtlane::cycle::mechanisms::packet_records::PacketRecords;
use virtlane::measure::Delivery;
use virtlane::plan::Plan;
use virtlane::routing::Routes;
use virtlane::run::{Options, Outcome, Settings, Simulation, execute};
use virtlane::scenario::{Document, Parts, Resolved};
use virtlane::topology::Graph;

/// A shipped scenario, with changes as on the command line.
pub(crate) fn scenario(file: &str, changes: &[&str]) -> Resolved {
    let path = Path::new("scenarios").join(file);
    let mut document = Document::read(&path).expect("shipped scenarios are readable");
    for change in changes {
        document.set(change).expect("the key exists");
    }
    let resolved = document.resolve(&Parts::registered());
    resolved.unwrap_or_else(|error| panic!("{error}"))
}

/// Runs to the end on one thread.
fn run(resolved: &Resolved) -> Outcome {
    judged_by(resolved, false)
}

/// The same, judged by what was measured alone or by what is known of routes and patterns too.
fn judged_by(resolved: &Resolved, measured_only: bool) -> Outcome {
    let settings = Settings {
        threads: Some(1),
        shards: Some(1),
        measured_only,
        ..Settings::default()
    };
    execute(resolved, settings, &mut |_| {}, &AtomicBool::new(false)).expect("the run ends")
}

/// All deliveries of the first cycles, on one thread.
fn deliveries(resolved: &Resolved, cycles: u64) -> Vec<Delivery> {
    deliveries_of(
        &resolved.plan,
        &resolved.layout.graph,
        &resolved.routes,
        cycles,
    )
}

/// The same of a plan.
fn deliveries_of(plan: &Plan, graph: &Graph, routes: &Routes, cycles: u64) -> Vec<Delivery> {
    let options = Options {
        wanted: Wanted {
            deliveries: true,
            order: false,
        },
        ..Options::default()
    };
    let simulation = Simulation::new(plan, graph, routes, options);
    let mut simulation = simulation.expect("one thread");
    simulation.run_until(cycles).expect("there are no messages");
    let records = simulation.each::<PacketRecords>();
    records
        .flat_map(PacketRecords::deliveries)
        .copied()
        .collect()
}

/// Flits of a class delivered per cycle of the measurement.
fn share(outcome: &Outcome, class: usize) -> f64 {
    outcome.records.classes[class].delivered_flits as f64 / outcome.cycles.measure as f64
}

/// Shows a measured value, with `--nocapture`.
#[expect(
    clippy::print_stdout,
    reason = "the measured values are worth reading, not only that they pass"
)]
fn note(text: &str) {
    println!("{text}");
}

/// Asserts that `found` lies within `tolerance` of `expected`.
#[track_caller]
fn assert_close(found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance,
        "found {found}, expected {expected} +- {tolerance}"
    );
}

/// Every scenario file below `scenarios/FOLDER`.
fn scenario_files(folder: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![Path::new("scenarios").join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("tests run in the repository") {
            let path = entry.expect("readable folder").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "ron") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}
