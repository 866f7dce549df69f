//! The search for the saturation point, through the program.

use super::{Folder, names};
use serde_json::Value;

const SHORT: [&str; 4] = [
    "--set",
    "phases=(warmup: \"1000 cycles\", measure: \"5000 cycles\", drain: \"1000 cycles\", watchdog: \"1000 cycles\")",
    "--resolution",
    "0.02",
];

/// A short search of the small scenario.
fn search<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["saturate", "small.ron", "--out", "out"][..], &SHORT, more].concat()
}

fn result(folder: &Folder, name: &str) -> Value {
    let text = std::fs::read_to_string(folder.path(name).join("saturation.json"));
    serde_json::from_str(&text.expect("a finished search")).expect("JSON")
}

#[test]
fn a_mesh_saturates_between_half_and_the_full_rate() {
    let folder = Folder::new();
    let arguments = search(&[]);
    let shown = folder.succeeds(&arguments);
    assert!(shown.contains("behaviour  saturated: "), "{shown}");
    let found = result(&folder, "out");
    let (low, high) = (&found["sustained"], &found["overloaded"]);
    let (low, high) = (
        low.as_f64().expect("a load"),
        high.as_f64().expect("a load"),
    );
    // a 4 x 4 mesh carries the full rate across its bisection; wormholes of 8 flits on 2 lanes do not reach it
    assert!(
        0.4 < low && low < high && high < 1.0 && high - low <= 0.02,
        "{low} to {high}"
    );
    let table = std::fs::read_to_string(folder.path("out/saturate.csv")).expect("the curve");
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let loads = reader
        .records()
        .map(|row| row.expect("a row")[1].parse().expect("a load"));
    let loads: Vec<f64> = loads.collect();
    assert!(loads.len() >= 10 && loads.is_sorted(), "{loads:?}");
    assert!(loads.contains(&1.0) && loads.iter().any(|load| *load < low / 3.0));
    // the same search finds its runs
    let runs = names(&folder.path("out/runs"));
    assert_eq!(folder.succeeds(&arguments), shown);
    assert_eq!(names(&folder.path("out/runs")), runs);
    // the report says what the search says, and does not go on without
    folder.succeeds(&["report", "out"]);
    let page = std::fs::read_to_string(folder.path("out/report.html")).expect("a report");
    let point = format!("saturation between {low:.4} (sustained) and {high:.4} (not); saturated");
    assert!(page.contains(&point), "{point}");
    std::fs::write(folder.path("out/saturation.json"), "{}").expect("writable");
    let message = folder.fails(2, &["report", "out"]);
    assert!(
        message.contains("saturation.json") && message.contains("damaged"),
        "{message}"
    );
}

/// Three of the four paths that cross a row of a 4 x 4 mesh share a channel in a transpose, so a third of the rate is
/// the bound; twelve of sixteen hosts send, and not all of them by such a channel.
#[test]
fn a_transpose_is_not_sustained_beyond_the_bound_of_its_busiest_channel() {
    let folder = Folder::new();
    let transpose = [
        "--set",
        "traffic.bulk.pattern=Transpose",
        "--set",
        "fabric.switch=(lanes: 4, lane_capacity: \"64 flits\")",
    ];
    folder.succeeds(&search(&transpose));
    let sustained = result(&folder, "out")["sustained"].as_f64();
    let sustained = sustained.expect("a load");
    assert!((0.3..=1.0 / 3.0).contains(&sustained), "{sustained}");
}

#[test]
fn a_deadlock_is_told_from_saturation() {
    let folder = Folder::new();
    let ring = [
        "--set",
        "fabric.topology=Ring(switches: 8)",
        "--set",
        "routing=MinHop()",
        "--set",
        "fabric.switch=(lanes: 1, lane_capacity: \"8 flits\")",
        "--set",
        "allow_deadlock=true",
        "--seeds",
        "2",
        "--quiet",
    ];
    folder.fails(3, &search(&ring));
    assert_eq!(result(&folder, "out")["behaviour"], "deadlocked");
    // what was found is not that of another search, though that one fails
    let proved = [&ring[..], &["--set", "allow_deadlock=false", "--force"]].concat();
    let message = folder.fails(2, &search(&proved));
    assert!(message.contains("the run failed"), "{message}");
    assert!(!folder.path("out/saturation.json").exists());
    assert!(!names(&folder.path("out/runs")).is_empty());
}

#[test]
fn senseless_searches_are_refused() {
    let folder = Folder::new();
    let errors = folder.fails(2, &["saturate", "small.ron", "--class", "bluk"]);
    assert!(errors.contains("did you mean `bulk`?"), "{errors}");
    let process = "traffic.bulk.process=Saturating()";
    let errors = folder.fails(2, &["saturate", "small.ron", "--set", process]);
    assert!(
        errors.contains("of class `bulk` has no load to vary"),
        "{errors}"
    );
    let errors = folder.fails(2, &["saturate", "small.ron", "--tolerance", "1"]);
    assert!(errors.contains("such as 0.01"), "{errors}");
    folder.succeeds(&["sweep", "small.ron", "--quiet", "--out", "out"]);
    let errors = folder.fails(2, &["saturate", "small.ron", "--out", "out"]);
    assert!(
        errors.contains("its runs are those of a Sweep, not of a Saturate"),
        "{errors}"
    );
}
