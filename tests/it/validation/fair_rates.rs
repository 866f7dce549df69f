//! Weighted max-min fair rates on the routes of tables, and what paced flows get of them.

use super::{assert_close, note, run, scenario};
use std::fmt::Write;
use std::path::Path;
use virtlane::report::{RunResult, summarize};
use virtlane::scenario::{Document, Parts, Resolved};

fn result(resolved: &Resolved) -> RunResult {
    RunResult::new(resolved, run(resolved), String::new())
}

/// Distance and least part of a run, if they are known.
fn apart(changes: &[&str]) -> Option<(f64, f64)> {
    let endless = ["traffic.0.flows.0.bytes=None", "phases.warmup=8000 cycles"];
    let changes = [&endless[..], changes].concat();
    let result = result(&scenario("flows/parking_lot.ron", &changes));
    let values = summarize(&result).values;
    let value = |name: &str| values["flows"]["max_min"][name].as_f64();
    Some((value("distance")?, value("least")?))
}

/// Figure 1.1 (seed 001, M1): a sixth or a third each without rates, where a quarter is fair.
#[test]
fn the_parking_lot_is_a_third_from_fair() {
    let (distance, least) = apart(&[]).expect("tables, and flows without end");
    assert_close(distance, 1.0 / 3.0, 0.001);
    assert_close(least, 2.0 / 3.0, 0.001);
    let (distance, least) = apart(&["traffic.0.flows.0.limit=Rate(0.25)"]).expect("likewise");
    assert_close(distance, 0.0, 0.001);
    assert_close(least, 1.0, 0.001);
    // a limit is part of what is fair
    let (distance, _) = apart(&["traffic.0.flows.0.limit=Rate(0.1)"]).expect("likewise");
    assert_close(distance, 0.0, 0.001);
    // hosts that take half a flit per cycle: a quarter each into d1 and an eighth into d2 would be fair, a twelfth on the shared
    // link and a sixth beside it are found
    let (distance, least) = apart(&["fabric.host.sink_rate=5 Gbit/s"]).expect("likewise");
    assert_close(distance, 0.5, 0.001);
    assert_close(least, 1.0 / 3.0, 0.001);
}

#[test]
fn fair_rates_are_unknown_where_they_change_or_routes_do() {
    for change in [
        "traffic.0.flows.0.stop=30000 cycles",
        "traffic.0.flows.0.start=9000 cycles",
        "traffic.0.flows.0.bytes=1600 flits",
        "traffic.0.flows.0.limit=Delay(8, 1)",
        "traffic.0.flows.0.changes=[(\"9000 cycles\", Rate(0.1))]",
        "traffic.0.flows.0.process=Poisson(load: 0.1)",
        "routing=MinimalAdaptive()",
    ] {
        let switch = [
            "fabric.switch.lanes=2",
            "fabric.switch.queues=Fifo",
            "fabric.switch.input_speedup=1",
        ];
        assert_eq!(apart(&[&switch[..], &[change]].concat()), None, "{change}");
    }
    // what changes before or after the measurement does not matter
    let changes =
        "traffic.0.flows.0.changes=[(\"1000 cycles\", Rate(0.1)), (\"90000 cycles\", Rate(0.2))]";
    let (distance, _) = apart(&[changes]).expect("one rate in the measurement");
    assert_close(distance, 0.0, 0.001);
}

/// A 5-ary 3-tree with flows from a generator and buffers of so many packets at the inputs.
fn tree(pairs: &str, buffers: u32, phases: &str, folder: &Path) -> Resolved {
    let text = format!(
        r#"Scenario(
            fabric: (
                topology: KAryNTree(k: 5, n: 3),
                flit: "64 B",
                link: (rate: "10 Gbit/s", latency: "1 cycles"),
                switch: (
                    lane_capacity: "{} flits",
                    queues: Voq,
                    input_speedup: Unlimited,
                    output_arbitration: FirstComeFirstServed,
                    forwarding: StoreAndForward,
                ),
                host: (scheduler: Paced),
            ),
            routing: FatTree(),
            traffic: [(name: "flows", flows: [(pairs: {pairs})], size: "2 KiB")],
            phases: ({phases}),
        )"#,
        32 * buffers
    );
    let document = Document::parse("tree.ron", &text, folder).expect("a scenario");
    let resolved = document.resolve(&Parts::registered());
    resolved.unwrap_or_else(|error| panic!("{error}"))
}

/// Least and mean of what flows get of their fair rates, least over least and mean over mean, by buffers \[packets\]; the
/// rates are given to them as the table `given.csv`.
fn realised(max_flows: u32, buffers: [u32; 3]) -> [(f64, f64); 3] {
    let folder = tempfile::tempdir().expect("a folder");
    let pairs = format!("Independent(max_flows: {max_flows})");
    let once = "warmup: \"0 cycles\", measure: \"64 cycles\", drain: \"0 cycles\"";
    let free = result(&tree(&pairs, 8, once, folder.path()));
    let mut table = String::from("source,destination,rate\n");
    let given: Vec<f64> = free
        .flow_results
        .iter()
        .map(|flow| flow.fair.expect("tables"))
        .collect();
    for (flow, rate) in free.flow_results.iter().zip(&given) {
        writeln!(table, "{},{},{rate}", flow.source, flow.destination).expect("a string");
    }
    std::fs::write(folder.path().join("given.csv"), table).expect("a file");
    let phases = "warmup: \"20000 cycles\", measure: \"200000 cycles\", drain: \"0 cycles\"";
    buffers.map(|buffers| {
        let paced = tree("Csv(file: \"given.csv\")", buffers, phases, folder.path());
        let outcome = run(&paced);
        let received = outcome.flow_counts.iter();
        let rates: Vec<f64> = received
            .map(|counts| counts.arrived.received as f64 / 200_000.0)
            .collect();
        let least = |rates: &[f64]| rates.iter().copied().fold(1.0, f64::min);
        let sum = |rates: &[f64]| rates.iter().sum::<f64>();
        let found = (least(&rates) / least(&given), sum(&rates) / sum(&given));
        note(&format!(
            "up to {max_flows} flows, {buffers} packets: least {:.4}, mean {:.4}",
            found.0, found.1
        ));
        found
    })
}

/// Table 6.4 of Zdornov and Birk 2009 (seed 001, I1 to I3) with fair rates on the routes of tables, 125 hosts: buffers of
/// 8 packets realise them, of 2 do not.
#[test]
fn paced_flows_get_their_fair_rates_with_buffers_of_eight_packets() {
    // means of the source with 2 buffers, from 4096 hosts with routes that flows choose
    for (max_flows, published) in [(1, 0.91), (3, 0.83), (5, 0.78)] {
        let [two, four, eight] = realised(max_flows, [2, 4, 8]);
        assert!(eight.0 >= 0.995 && eight.1 >= 0.995, "{eight:?}");
        assert!(two.0 <= four.0 && four.0 <= eight.0);
        assert!(max_flows > 1 || four.0 >= 0.995, "{four:?}");
        assert!(four.1 >= 0.97, "{four:?}");
        assert_close(two.1, published, 0.07);
        assert!(two.0 < 0.7, "{two:?}");
    }
}
