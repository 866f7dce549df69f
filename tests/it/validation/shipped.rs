//! Every shipped scenario: keeps its own promises, and obeys the conservation laws.

use super::{scenario, scenario_files};
use crate::drawn::is_drawn;
use assert_cmd::Command;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use virtlane::run::{Settings, execute};

/// Exit code promised on the first line, `// exit: N`; 0 without one.
fn promised_exit(file: &Path) -> i32 {
    let text = std::fs::read_to_string(file).expect("readable");
    let first = text.lines().next().unwrap_or_default();
    let code = first.strip_prefix("// exit: ");
    code.map_or(0, |code| code.parse().expect("a number"))
}

fn folder_keeps_its_promises(folder: &str) {
    let out = tempfile::tempdir().expect("a temporary folder");
    for (number, file) in scenario_files(folder).iter().enumerate() {
        let output = Command::cargo_bin("virtlane")
            .expect("built before its tests")
            .args(["run", "--quiet", "--threads", "1", "--out"])
            .arg(out.path().join(number.to_string()))
            .arg(file)
            .output()
            .expect("the program starts");
        assert_eq!(
            output.status.code(),
            Some(promised_exit(file)),
            "{}: {}",
            file.display(),
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn adaptive_routing_keeps_its_promises() {
    folder_keeps_its_promises("adaptive");
}

#[test]
fn fabrics_keep_their_promises() {
    folder_keeps_its_promises("fabrics");
}

#[test]
fn messages_keep_their_promises() {
    folder_keeps_its_promises("messages");
}

#[test]
fn flows_keep_their_promises() {
    folder_keeps_its_promises("flows");
}

#[test]
fn traffic_keeps_its_promises() {
    folder_keeps_its_promises("traffic");
}

#[test]
fn topologies_keep_their_promises() {
    folder_keeps_its_promises("topologies");
}

#[test]
fn routing_keeps_its_promises() {
    folder_keeps_its_promises("routing");
}

#[test]
fn validation_keeps_its_promises() {
    folder_keeps_its_promises("validation");
}

#[test]
fn every_scenario_has_a_header() {
    for file in scenario_files("") {
        let text = std::fs::read_to_string(&file).expect("readable");
        assert!(text.starts_with("// "), "{}", file.display());
    }
}

#[test]
fn conservation_laws_hold_everywhere() {
    let changes = [
        "phases.warmup=300 cycles",
        "phases.measure=1500 cycles",
        "phases.drain=1000 cycles",
    ];
    // every packet is looked at in every cycle
    let of_large_fabrics = [
        "phases.warmup=30 cycles",
        "phases.measure=100 cycles",
        "phases.drain=70 cycles",
    ];
    let files = scenario_files("").into_iter().enumerate();
    for (_, file) in files.filter(|(number, _)| is_drawn(*number)) {
        let file = file.strip_prefix("scenarios").expect("below it");
        let name = file.to_str().expect("plain names");
        let mut resolved = scenario(name, &changes);
        if resolved.layout.graph.hosts().len() > 1500 {
            resolved = scenario(name, &of_large_fabrics);
        }
        for shards in [1, 3] {
            let settings = Settings {
                threads: Some(1),
                shards: Some(shards),
                check: true,
                ..Settings::default()
            };
            let stop = AtomicBool::new(false);
            let outcome = execute(&resolved, settings, &mut |_| {}, &stop);
            if let Err(error) = outcome {
                panic!("{name}, {shards} shards: {error}");
            }
        }
    }
}
