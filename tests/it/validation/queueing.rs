//! Queueing theory: head-of-line blocking of input queues, M/D/1.

use super::{assert_close, note, run, scenario};
use virtlane::run::Outcome;

/// Flits per port and cycle.
fn throughput(outcome: &Outcome, ports: f64) -> f64 {
    super::share(outcome, 0) / ports
}

/// Karol, Hluchyj, Morgan 1987, table I.
#[test]
fn head_of_line_blocking_limits_input_fifos() {
    for (ports, expected) in [(2, 0.75), (4, 0.6553), (8, 0.6184)] {
        let file = format!("validation/hol_blocking_{ports}.ron");
        let measured = |changes: &[&str]| {
            let outcome = run(&scenario(&file, changes));
            throughput(&outcome, f64::from(ports))
        };
        let found = measured(&[]);
        note(&format!(
            "head of line, {ports} ports: {found:.4} (theory {expected})"
        ));
        assert_close(found, expected, 0.004);
        // four times the credits change nothing: they are not what limits
        assert_close(
            measured(&["fabric.switch.lane_capacity=64 flits"]),
            expected,
            0.004,
        );
    }
}

#[test]
fn virtual_output_queues_remove_head_of_line_blocking() {
    for (iterations, least) in [(1, 0.95), (2, 0.98), (3, 0.98)] {
        let change = format!("fabric.switch.iterations={iterations}");
        let outcome = run(&scenario("validation/voq_8.ron", &[&change]));
        let found = throughput(&outcome, 8.0);
        note(&format!(
            "VOQ, 8 ports, {iterations} iterations: {found:.4}"
        ));
        assert!(found > least, "{iterations} iterations: {found}");
    }
}

/// One round of iSLIP sustains any uniform load, however many lanes the packets are spread over: the outputs' pointers
/// over inputs must fall apart as they do with one lane.
#[test]
fn lanes_do_not_keep_one_round_of_matching_from_its_throughput() {
    for lanes in [1, 2, 4, 8] {
        let lanes_of_switch = format!("fabric.switch.lanes={lanes}");
        let levels: Vec<String> = (0..lanes).map(|level| level.to_string()).collect();
        let levels = format!("traffic.uniform.sl=[{}]", levels.join(", "));
        let changes = [
            &lanes_of_switch[..],
            "fabric.switch.iterations=1",
            &levels[..],
            "phases.warmup=10000 cycles",
            "phases.measure=20000 cycles",
        ];
        let outcome = run(&scenario("validation/voq_8.ron", &changes));
        let found = throughput(&outcome, 8.0);
        note(&format!(
            "VOQ, 8 ports, {lanes} lanes, one round: {found:.4}"
        ));
        assert!(found > 0.95, "{lanes} lanes: {found}");
    }
}

/// Mean wait against Pollaczek-Khinchine, in packet times.
fn md1(percent: u32) {
    let rho = f64::from(percent) / 100.0;
    let outcome = run(&scenario(&format!("validation/md1_{percent}.ron"), &[]));
    let class = &outcome.records.classes[0];
    assert_eq!(class.network.summary().max, Some(34));
    assert_eq!(class.network.summary().min, Some(34));
    let waits = class.packet.sum() - class.network.sum();
    let found = waits as f64 / class.packet.count() as f64 / 32.0;
    let expected = rho / (2.0 * (1.0 - rho));
    let deviation = (found / expected - 1.0) * 100.0;
    note(&format!(
        "M/D/1 at {rho}: {found:.4} packet times (theory {expected:.4}, {deviation:+.2} %)"
    ));
    assert_close(found, expected, 0.03 * expected);
}

#[test]
fn md1_wait_at_load_30() {
    md1(30);
}

#[test]
fn md1_wait_at_load_60() {
    md1(60);
}

#[test]
fn md1_wait_at_load_90() {
    md1(90);
}
