//! VL arbitration at a contended link: weights, limit of high priority, VL15, no idle cycle.

use super::{assert_close, note, run, scenario, share};
use virtlane::ids::HostId;
use virtlane::run::Outcome;
use virtlane::scenario::Resolved;

/// Runs a scenario whose last host receives everything and checks that its link never idles.
fn contended(file: &str, changes: &[&str]) -> (Resolved, Outcome) {
    let resolved = scenario(file, changes);
    let outcome = run(&resolved);
    let graph = &resolved.layout.graph;
    let receiver = HostId(graph.hosts().len() as u32 - 1);
    let link = graph.host_channel(receiver).reverse();
    // a packet counts in the cycle it is granted: one packet may stick out at either end of the window
    let largest = resolved
        .plan
        .classes
        .iter()
        .map(|class| class.size.largest());
    let edge = u64::from(largest.max().expect("a class") - 1);
    let idle = outcome
        .cycles
        .measure
        .abs_diff(outcome.records.channels.flits(link));
    assert!(
        idle <= edge,
        "{file}: the contended link idles for {idle} cycles"
    );
    (resolved, outcome)
}

#[track_caller]
fn assert_shares(outcome: &Outcome, expected: &[f64]) {
    let found: Vec<_> = (0..expected.len())
        .map(|class| share(outcome, class))
        .collect();
    note(&format!("shares {found:.5?}, closed form {expected:.5?}"));
    for (found, expected) in found.into_iter().zip(expected) {
        assert_close(found, *expected, 0.01 * expected);
    }
}

#[test]
fn backlogged_lanes_share_by_weight() {
    let (_, outcome) = contended("validation/vl_weights.ron", &[]);
    assert_shares(&outcome, &[0.4, 0.6]);
    let table = "qos.vl_arbitration.high=[(0, 1), (1, 9)]";
    let (_, outcome) = contended("validation/vl_weights.ron", &[table]);
    assert_shares(&outcome, &[0.1, 0.9]);
}

#[test]
fn limit_of_high_priority_gives_the_closed_form() {
    let (high, low) = (32.0 / 33.0, 1.0 / 33.0);
    let (_, outcome) = contended("validation/vl_limit.ron", &[]);
    let split = |high: f64, low: f64| {
        [
            high * 0.4,
            high * 0.6,
            low * 8.0 / 19.0,
            low * 10.0 / 19.0,
            low / 19.0,
        ]
    };
    assert_shares(&outcome, &split(high, low));
    // one high packet between two low ones
    for limit in ["Packets(1)", "0"] {
        let change = format!("qos.vl_arbitration.limit_of_high_priority={limit}");
        let shorter = "phases.measure=190000 cycles";
        let (_, outcome) = contended("validation/vl_limit.ron", &[&change, shorter]);
        assert_shares(&outcome, &split(0.5, 0.5));
    }
}

#[test]
fn without_a_limit_the_low_table_starves() {
    let (_, outcome) = contended("validation/vl_limit_none.ron", &[]);
    assert_shares(&outcome, &[0.4, 0.6, 0.0, 0.0, 0.0]);
}

#[test]
fn the_limit_counts_units_of_4096_bytes() {
    let (_, outcome) = contended("validation/vl_limit_bytes.ron", &[]);
    assert_shares(&outcome, &[2.0 / 3.0, 1.0 / 3.0]);
}

#[test]
fn vl15_goes_first() {
    let (_, outcome) = contended("validation/vl15_first.ron", &[]);
    assert_shares(&outcome, &[0.25, 0.5, 0.25]);
    assert_eq!(outcome.records.classes[0].packet.summary().max, Some(3));
    // behind packets of 32 flits: at most the rest of the one on the link
    let large = ["traffic.1.size=32 flits", "traffic.2.size=32 flits"];
    let (_, outcome) = contended("validation/vl15_first.ron", &large);
    let slowest = outcome.records.classes[0].network.summary().max;
    assert!(slowest <= Some(3 + 31), "{slowest:?}");
    note(&format!(
        "VL15 behind packets of 32 flits: at most {slowest:?} cycles"
    ));
    assert_close(share(&outcome, 0), 0.25, 0.0025);
}
