//! Counters of whole runs: rows of the timeline up to the last cycle, and the jitter of classes.

use crate::runs::{resolve, run};
use virtlane::report::{RunResult, summarize};
use virtlane::run::Outcome;
use virtlane::scenario::Resolved;

fn resolved(traffic: &str, phases: &str) -> Resolved {
    let text = format!(
        "Scenario(title: \"counted\", seed: 1,
         fabric: (topology: EdgeList(hosts: [0, 0, 0]), flit: \"64 B\", link: (rate: \"10 Gbit/s\", latency: \"2 cycles\"),
                  switch: (lanes: 1, lane_capacity: \"64 flits\")),
         routing: MinHop(), traffic: [{traffic}], phases: ({phases}))"
    );
    resolve(&text, &[])
}

fn outcome(resolved: &Resolved) -> Outcome {
    run(resolved, [1, 1])
}

/// Intervals of 256 cycles do not divide the run: its last row is shorter, and all rows together count all flits.
#[test]
fn rows_of_a_timeline_go_up_to_the_end_of_the_run() {
    let class = "(name: \"u\", pattern: Uniform, process: Bernoulli(load: 0.3), size: \"4 flits\")";
    for (measure, rows) in [(2000, 24), (1888, 23), (100, 17)] {
        let phases =
            format!("warmup: \"4000 cycles\", measure: \"{measure} cycles\", drain: \"0 cycles\"");
        let outcome = outcome(&resolved(class, &phases));
        let timeline = &outcome.timeline;
        assert_eq!(timeline.len(), rows, "{measure}");
        let mut end = 0;
        for row in timeline {
            assert_eq!(row.start, end, "{measure}");
            end += row.length;
        }
        assert_eq!(end, 4000 + measure);
        assert_eq!(end, outcome.cycles.total);
        let created: u64 = timeline.iter().map(|row| row.created_flits).sum();
        let delivered: u64 = timeline.iter().map(|row| row.delivered_flits).sum();
        let last = timeline[rows - 1];
        let present = (last.queued_packets + last.in_flight_packets) * 4;
        assert_eq!(created - delivered, present, "{measure}");
    }
}

/// Of all flows of a class together, by what each of them counts; of a pattern with one destination for each source as before.
#[test]
fn the_jitter_of_a_class_is_that_of_its_flows() {
    let flows = "(name: \"f\", flows: [(pairs: List(pairs: [(0, 2), (1, 2), (1, 0)]), process: Bernoulli(load: 0.3))], size: \"4 flits\")";
    let pattern = "(name: \"p\", hosts: List([0, 1]), pattern: AllTo(target: 2), process: Bernoulli(load: 0.1), size: \"4 flits\")";
    let uniform =
        "(name: \"u\", pattern: Uniform, process: Bernoulli(load: 0.1), size: \"4 flits\")";
    let resolved = resolved(
        &[flows, pattern, uniform].join(", "),
        "warmup: \"0 cycles\", measure: \"5000 cycles\"",
    );
    let result = RunResult::new(&resolved, outcome(&resolved), String::new());
    let arrived = || result.flow_results.iter().map(|flow| &flow.counts.arrived);
    let sum: u64 = arrived().map(|one| one.jitter.sum).sum();
    let count: u64 = arrived().map(|one| one.tagged - 1).sum();
    let most = arrived().map(|one| one.jitter.most).max();
    assert!(sum > 0, "packets of three flows get into each other's way");
    let values = summarize(&result).values;
    let jitter = |class: usize, key: &str| &values["classes"][class]["jitter"][key];
    assert_eq!(jitter(0, "mean").as_f64(), Some(sum as f64 / count as f64));
    assert_eq!(jitter(0, "max").as_u64(), most);
    assert!(jitter(1, "mean").as_f64().is_some_and(|mean| mean > 0.0));
    assert!(jitter(2, "mean").is_null() && jitter(2, "max").is_null());
}
