//! Scenarios given as texts, resolved with changes as on the command line, and run with the laws checked.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use virtlane::measure::digest::Digest;
use virtlane::run::{Options, Outcome, Settings, Simulation, execute};
use virtlane::scenario::{Document, Parts, Resolved};

/// Options under which forwarding asks for the outputs of packets in other ways.
pub(crate) const FORWARDING: [&[&str]; 5] = [
    &[],
    &[
        "fabric.switch.queues=Voq",
        "fabric.switch.input_speedup=Unlimited",
        "fabric.switch.output_arbitration=FirstComeFirstServed",
        "fabric.switch.sharing=PortPool",
    ],
    &["fabric.switch.output_lane_buffer=16 flits"],
    &["fabric.switch.marking=Ecn(k_min: \"8 flits\", k_max: \"16 flits\")"],
    &["fabric.switch.forwarding=StoreAndForward"],
];

/// A scenario with changes.
pub(crate) fn document(text: &str, changes: &[&str]) -> Document {
    let mut document = Document::parse("test.ron", text, Path::new("")).expect("it is a scenario");
    for change in changes {
        document.set(change).expect("the key exists");
    }
    document
}

/// The same, resolved.
pub(crate) fn resolve(text: &str, changes: &[&str]) -> Resolved {
    let resolved = document(text, changes).resolve(&Parts::registered());
    resolved.unwrap_or_else(|error| panic!("{changes:?}: {error}"))
}

/// So many threads and shards, and every law checked.
pub(crate) fn checked([threads, shards]: [usize; 2]) -> Settings {
    Settings {
        threads: Some(threads),
        shards: Some(shards),
        check: true,
        ..Settings::default()
    }
}

/// A simulation on so many threads and shards, before cycle 0.
pub(crate) fn simulation(resolved: &Resolved, [threads, shards]: [usize; 2]) -> Simulation {
    let options = Options {
        threads,
        shards,
        ..Options::default()
    };
    let graph = &resolved.layout.graph;
    let simulation = Simulation::new(&resolved.plan, graph, &resolved.routes, options);
    simulation.expect("threads start")
}

/// Digest of all deliveries so far.
pub(crate) fn digest(simulation: &Simulation) -> Digest {
    let mut digest = Digest::default();
    for records in simulation.records() {
        digest.merge(records.measured.digest);
    }
    digest
}

/// Runs to the end on so many threads and shards.
pub(crate) fn run(resolved: &Resolved, cut: [usize; 2]) -> Outcome {
    run_with(resolved, checked(cut))
}

/// The same without a look at the laws, all stages of a window in one pass.
pub(crate) fn run_unchecked(resolved: &Resolved, cut: [usize; 2]) -> Outcome {
    let settings = Settings {
        check: false,
        ..checked(cut)
    };
    run_with(resolved, settings)
}

fn run_with(resolved: &Resolved, settings: Settings) -> Outcome {
    let stop = AtomicBool::new(false);
    execute(resolved, settings, &mut |_| {}, &stop).expect("the run ends")
}
