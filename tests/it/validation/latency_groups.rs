//! Latencies flow by flow and by hops: the same as of all deliveries, whatever the shards.

use super::{deliveries, scenario};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use virtlane::report::{RunResult, flow_tables};
use virtlane::run::{Settings, execute};
use virtlane::scenario::Resolved;

/// A table of a run on so many shards, row by row.
fn table(resolved: &Resolved, shards: usize, name: &str) -> Vec<BTreeMap<String, String>> {
    let settings = Settings {
        threads: Some(1),
        shards: Some(shards),
        ..Settings::default()
    };
    let outcome = execute(resolved, settings, &mut |_| {}, &AtomicBool::new(false));
    let result = RunResult::new(resolved, outcome.expect("the run ends"), String::new());
    let table = match name {
        "hops" => flow_tables::hops(&result),
        "pairs" => flow_tables::flows(&result),
        _ => flow_tables::plan_flows(&result),
    };
    let text = table.csv().expect("memory");
    let mut reader = csv::Reader::from_reader(&text[..]);
    reader
        .deserialize()
        .map(|row| row.expect("a row"))
        .collect()
}

/// Of so many of 1000, of values below 2048.
fn quantile(values: &mut [u64], per_mille: usize) -> String {
    values.sort_unstable();
    values[(values.len() * per_mille).div_ceil(1000) - 1].to_string()
}

const TREE: &[&str] = &[
    "fabric.topology=KAryNTree(k: 2, n: 3)",
    "traffic=[(name: \"a\", pattern: Uniform, process: Bernoulli(load: 0.6), size: \"4 flits\"), \
     (name: \"b\", flows: [(pairs: PerHost(count: 2), limit: Rate(0.1))], size: \"8 flits\")]",
    "phases=(warmup: \"0 cycles\", measure: \"3000 cycles\", drain: \"1000 cycles\")",
    "expect=[]",
];

#[test]
fn flows_and_hops_have_the_percentiles_of_their_packets() {
    let changes = [TREE, &["observe=(percentiles: true, hops: true)"]].concat();
    let resolved = scenario("flows/incast_window.ron", &changes);
    let all = deliveries(&resolved, 4000);
    let tagged = || all.iter().filter(|packet| packet.created < 3000);
    let (flows, hops) = (table(&resolved, 1, "flows"), table(&resolved, 1, "hops"));
    assert_eq!(flows.len(), 16);
    for row in &flows {
        let of_flow = tagged().filter(|packet| packet.flow == row["flow"].parse().ok());
        let mut network: Vec<u64> = of_flow
            .map(|packet| packet.delivered - packet.injected)
            .collect();
        for (name, per_mille) in [("p50", 500), ("p99", 990), ("p999", 999)] {
            let found = &row[&format!("network_latency_{name} [cycles]")];
            assert_eq!(found, &quantile(&mut network, per_mille));
        }
    }
    // hosts at one switch, in one subtree, and apart: of both classes
    assert_eq!(hops.len(), 6);
    for row in &hops {
        let class = u16::from(row["class"] == "b");
        let of_row = tagged().filter(|packet| {
            packet.class == class && packet.hops.to_string() == row["hops [channels]"]
        });
        let mut whole: Vec<u64> = of_row
            .map(|packet| packet.delivered - packet.created)
            .collect();
        assert_eq!(row["delivered [packets]"], whole.len().to_string());
        assert_eq!(
            row["packet_latency_p99 [cycles]"],
            quantile(&mut whole, 990)
        );
        assert_eq!(
            row["packet_latency_max [cycles]"],
            quantile(&mut whole, 1000)
        );
    }
    assert_eq!(table(&resolved, 3, "flows"), flows);
    assert_eq!(table(&resolved, 3, "hops"), hops);
}

#[test]
fn columns_are_there_when_they_are_asked_for() {
    let name = "network_latency_p999 [cycles]";
    let plain = scenario("flows/incast_window.ron", TREE);
    assert!(!table(&plain, 1, "flows")[0].contains_key(name));
    assert_eq!(table(&plain, 1, "hops").len(), 0);
    // rows by source and destination where no class has flows, of the classes that are asked for
    let changes = [
        TREE,
        &[
            "traffic=[(name: \"a\", pattern: Uniform, process: Bernoulli(load: 0.2), size: \"4 flits\"), \
             (name: \"b\", pattern: Uniform, process: Bernoulli(load: 0.4), size: \"8 flits\")]",
            "observe=(percentiles: true, hops: true, flows: true, classes: [\"b\"])",
        ],
    ];
    let resolved = scenario("flows/incast_window.ron", &changes.concat());
    let rows = table(&resolved, 1, "pairs");
    assert!(
        rows.iter()
            .all(|row| row["class"] == "b" && !row[name].is_empty())
    );
    assert_eq!(rows.len(), 56, "every pair of 8 hosts");
    assert_eq!(table(&resolved, 1, "hops").len(), 3);
}
