//! Any text as a scenario: a resolved plan or an error that names its place, never a panic.
//!
//! Everything up to the proof runs, on small fabrics only and without opening files.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::Path;
use virtlane::scenario::{Document, Parts, Scenario, print};

/// Topologies that are made from their parameters alone.
const WITHOUT_FILES: [&str; 18] = [
    "Clos",
    "Complete",
    "Dragonfly",
    "EdgeList",
    "EnrichedTree",
    "HyperX",
    "Hypercube",
    "Irregular",
    "KAryNTree",
    "Kautz",
    "LeafSpine",
    "Mesh",
    "Petersen",
    "Ring",
    "Star",
    "Torus",
    "Tree",
    "Xgft",
];
/// Topologies whose size grows as a power of a parameter.
const POWERS: [&str; 6] = ["EnrichedTree", "Hypercube", "KAryNTree", "Kautz", "Tree", "Dragonfly"];
/// Largest product of the numbers in the topology's arguments: keeps one input in the milliseconds.
const LARGEST_PRODUCT: u64 = 256;
/// Largest number anywhere in the topology's arguments.
const LARGEST_NUMBER: u64 = 16;

/// Whether the fabric is small and needs no file.
fn is_small(scenario: &Scenario) -> bool {
    let topology = &scenario.fabric.topology;
    let arguments = topology.arguments();
    let numbers = arguments
        .split(|c: char| !c.is_ascii_digit())
        .filter(|digits| !digits.is_empty())
        .map(|digits| digits.parse().unwrap_or(u64::MAX));
    let (mut product, mut largest) = (1u64, 0);
    for number in numbers {
        product = product.saturating_mul(number.max(1));
        largest = largest.max(number);
    }
    let is_list = topology.name.value == "EdgeList";
    let is_power = POWERS.contains(&topology.name.value.as_str());
    WITHOUT_FILES.contains(&topology.name.value.as_str())
        && !arguments.contains("file")
        && arguments.len() < 2000
        && largest <= LARGEST_NUMBER
        && (is_list || product <= if is_power { 12 } else { LARGEST_PRODUCT })
}

fuzz_target!(|text: &str| {
    let Ok(document) = Document::parse("input.ron", text, Path::new("/nonexistent")) else {
        return;
    };
    let scenario = match document.scenario() {
        Ok(scenario) => scenario,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    if !is_small(&scenario) {
        return;
    }
    let parts = Parts::registered();
    if let Ok(resolved) = document.resolve(&parts) {
        // what `check --print-plan` prints is a scenario that resolves again
        let printed = print::plan(&resolved, &parts);
        let again = Document::parse("printed.ron", &printed, Path::new("/nonexistent"))
            .and_then(|document| document.resolve(&parts));
        assert!(again.is_ok(), "{:?}\n{printed}", again.err());
    }
});
