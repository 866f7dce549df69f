//! Honest intervals: M/D/1, where the mean is known, and runs that find their own length.

use super::{note, run, scenario};
use std::sync::atomic::AtomicBool;
use virtlane::run::outcome::Verdict;
use virtlane::run::{Outcome, Settings, execute};

/// Mean packet latency of `md1_60.ron`: 34 cycles of network and 24 of waiting (Pollaczek-Khinchine).
const EXACT: f64 = 58.0;

/// Mean packet latency of the measured packets.
fn mean(outcome: &Outcome) -> f64 {
    let latency = outcome.records.classes[0].packet.summary();
    latency.mean.expect("packets were measured")
}

/// Repetitions, with other seeds, whose 95 % interval covers the exact mean.
fn covered(repetitions: u32, phases: &str) -> u32 {
    let covers = |repetition: u32| {
        let seed = format!("seed={}", 1000 + repetition);
        let outcome = run(&scenario("validation/md1_60.ron", &[&seed, phases]));
        let found = outcome.precision.packet_latency.expect("long enough");
        u32::from((mean(&outcome) - EXACT).abs() <= found.half_width)
    };
    let covered = (0..repetitions).map(covers).sum();
    note(&format!(
        "{covered} of {repetitions} intervals cover the mean: {phases}"
    ));
    covered
}

const FIXED: &str = "phases=(warmup: \"20000 cycles\", measure: \"200000 cycles\")";
const ADAPTIVE: &str = "phases=(warmup: Auto(at_most: \"200000 cycles\"), \
                        measure: Auto(half_width: 0.03, at_most: \"4000000 cycles\"))";

/// Of 40 intervals 38 are expected to cover the mean; fewer than 34 or so would be too narrow to be chance (one
/// in 60 at 95 %).
#[test]
fn intervals_of_one_run_cover_the_exact_mean() {
    assert!(covered(40, FIXED) >= 35);
}

#[test]
fn of_200_intervals_90_to_99_percent_cover_the_exact_mean() {
    for phases in [FIXED, ADAPTIVE] {
        assert!((180..=198).contains(&covered(200, phases)), "{phases}");
    }
}

/// With a measurement of 1024 batches of 64 cycles every delivery of the window is in one of the 32 batches of the
/// interval, and none from before or after it; that of the latency differs from the packets that are tagged only
/// by those under way at the two ends.
#[test]
fn batches_hold_the_deliveries_of_the_window_and_no_others() {
    let phases = "phases=(warmup: \"5000 cycles\", measure: \"65536 cycles\")";
    let outcome = run(&scenario("validation/md1_60.ron", &[phases]));
    let accepted = outcome.precision.accepted.expect("long enough");
    assert_eq!(accepted.batches as u64 * accepted.batch_cycles, 65_536);
    let flits = outcome.records.classes[0].delivered_flits as f64;
    let found = accepted.mean * 65_536.0;
    // batches count a packet with its tail, the measurement flit by flit: one packet of 32 flits per host and edge
    assert!(
        (found - flits).abs() <= 2.0 * 64.0 * 32.0,
        "{found} for {flits} flits"
    );
    let latency = outcome.precision.packet_latency.expect("long enough").mean;
    let tagged = mean(&outcome);
    assert!(
        (latency / tagged - 1.0).abs() < 0.01,
        "{latency} and {tagged}"
    );
}

/// A small mesh with phases that find their own length.
fn mesh(load: f64, phases: &str) -> virtlane::scenario::Resolved {
    let load = format!("traffic.0.process.load={load}");
    scenario(
        "topologies/mesh_8x8.ron",
        &[&load, &format!("phases={phases}")],
    )
}

const AUTOMATIC: &str = "(warmup: Auto(at_most: \"50000 cycles\"), \
                         measure: Auto(half_width: 0.01, at_most: \"500000 cycles\"))";

#[test]
fn a_run_stops_when_it_is_precise_enough() {
    let outcome = run(&mesh(0.2, AUTOMATIC));
    assert_eq!(outcome.verdict, Verdict::Steady);
    let words = outcome.length.as_deref().expect("the phases are automatic");
    note(words);
    assert!(words.contains("(MSER-5); measurement of"), "{words}");
    assert!(words.contains("packet latency within"), "{words}");
    let latency = outcome.precision.packet_latency.expect("long enough");
    assert!(latency.independent && latency.relative_half_width() <= 0.01);
    assert!(outcome.cycles.warmup < 50_000 && outcome.cycles.measure < 500_000);
    // the batches are those of the measurement
    let accepted = outcome.precision.accepted.expect("long enough").mean;
    let delivered = outcome.records.classes[0].delivered_flits as f64;
    let found = delivered / outcome.cycles.measure as f64;
    assert!(
        (accepted / found - 1.0).abs() < 0.005,
        "{accepted} and {found}"
    );
    // the measurement is what it says: packets of its cycles, no others
    let offered = outcome.records.classes[0].created_flits as f64 / 64.0;
    let offered = offered / outcome.cycles.measure as f64;
    assert!((offered - 0.2).abs() < 0.01, "{offered}");
}

#[test]
fn where_a_run_stops_does_not_depend_on_threads_or_shards() {
    let resolved = mesh(0.2, AUTOMATIC);
    let with = |threads, shards| {
        let settings = Settings {
            threads: Some(threads),
            shards: Some(shards),
            ..Settings::default()
        };
        let stop = AtomicBool::new(false);
        let outcome = execute(&resolved, settings, &mut |_| {}, &stop).expect("the run ends");
        let digest = outcome.records.digest;
        (digest, outcome.length, outcome.cycles, outcome.precision)
    };
    let first = with(1, 1);
    assert_eq!(with(1, 5), first);
    assert_eq!(with(2, 4), first);
}

#[test]
fn bounds_hold_and_are_told() {
    let short = |load| {
        let phases = "(warmup: Auto(at_most: \"5000 cycles\"), \
                      measure: Auto(half_width: 0.0001, at_most: \"9000 cycles\"))";
        run(&mesh(load, phases))
    };
    let outcome = short(0.2);
    assert_eq!(outcome.cycles.measure, 9000);
    let words = outcome.length.expect("the phases are automatic");
    assert!(words.contains("9000 cycles, its bound: "), "{words}");
    // far beyond saturation the queues grow: there is no end of the warm-up, and no need to go on
    let outcome = short(0.9);
    assert_eq!(outcome.verdict, Verdict::Saturated);
    assert_eq!(outcome.cycles.warmup, 5000);
    assert!(outcome.cycles.measure < 9000, "{:?}", outcome.cycles);
    let words = outcome.length.expect("the phases are automatic");
    assert!(
        words.contains("5000 cycles, its bound: the packets present are not"),
        "{words}"
    );
}

#[test]
fn wall_time_interrupts_a_run() {
    let endless = "(warmup: \"10 cycles\", measure: Auto(half_width: 0.0000001, \
                   at_most: \"100000000 cycles\", wall_time: \"200 ms\"))";
    let outcome = run(&mesh(0.2, endless));
    assert_eq!(outcome.verdict, Verdict::Interrupted);
    assert!(
        outcome.reason.contains("the wall time of 0.2 s was over"),
        "{}",
        outcome.reason
    );
}
