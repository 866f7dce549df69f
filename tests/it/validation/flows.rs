//! Flows whose times follow from arithmetic (D27 to D34 of the model).

use super::{deliveries, run};
use std::path::Path;
use virtlane::measure::FlowResult;
use virtlane::plan::Limit;
use virtlane::report::RunResult;
use virtlane::run::Outcome;
use virtlane::run::outcome::Verdict;
use virtlane::scenario::{Document, Parts, Resolved};

/// Four switches with links of several speeds and latencies.
fn scenario(switch: &str, host: &str, flows: &str, size: u32) -> Resolved {
    let text = text(switch, host, flows, size, "\"60000 cycles\"");
    let document = Document::parse("flows.ron", &text, Path::new(".")).expect("a scenario");
    let resolved = document.resolve(&Parts::registered());
    resolved.unwrap_or_else(|error| panic!("{error}"))
}

fn text(switch: &str, host: &str, flows: &str, size: u32, measure: &str) -> String {
    format!(
        r#"Scenario(
            fabric: (
                topology: Mesh(radix: [2, 2]),
                flit: "64 B",
                link: (rate: "40 Gbit/s", latency: "3 cycles", except: [(on: Dimension(1), rate: "10 Gbit/s", latency: "7 cycles")]),
                host_link: (rate: "20 Gbit/s", latency: "2 cycles"),
                switch: (lane_capacity: "2000 flits", {switch}),
                host: ({host}),
            ),
            routing: DimensionOrder(),
            traffic: [(name: "flows", flows: [{flows}], size: "{size} flits")],
            phases: (warmup: "0 cycles", measure: {measure}),
        )"#
    )
}

fn results(resolved: &Resolved) -> Vec<FlowResult> {
    RunResult::new(resolved, run(resolved), String::new()).flow_results
}

/// The formula of the empty fabric against the engine: every option that it has a term for.
#[test]
fn a_flow_alone_takes_what_the_formula_says() {
    for switch in [
        "routing_delay: \"1 cycles\"",
        "routing_delay: \"5 cycles\", allocation_delay: \"2 cycles\", crossbar_delay: \"4 cycles\"",
        "routing_delay: \"1 cycles\", forwarding: StoreAndForward, crossbar_delay: \"3 cycles\"",
    ] {
        for host in ["", "sink_rate: \"10 Gbit/s\"", "sink_rate: \"40 Gbit/s\""] {
            for size in [1, 5, 16] {
                for flits in [1, 3, 16, 160, 163] {
                    for (from, to) in [(0, 3), (3, 0), (0, 1), (2, 0)] {
                        let flows = format!(
                            "(pairs: List(pairs: [({from}, {to})]), bytes: \"{flits} flits\", start: \"9 cycles\")"
                        );
                        let flow = results(&scenario(switch, host, &flows, size))[0];
                        let case = format!("{switch} {host} {size} {flits} {from} {to}");
                        assert_eq!(flow.completion(), flow.alone, "{case}");
                        assert!(flow.alone.is_some(), "{case}");
                    }
                }
            }
        }
    }
}

/// With W packets outstanding, alone: W packets per round trip, exactly.
#[test]
fn a_window_sends_so_many_packets_per_round_trip() {
    let (size, delay, packets) = (4, 50, 30);
    let one = format!("(pairs: List(pairs: [(0, 3)]), bytes: \"{size} flits\")");
    let alone = results(&scenario("", "", &one, size))[0].completion();
    let alone = alone.expect("it is complete");
    for window in [1, 2, 3, 5] {
        let flows = format!(
            "(pairs: List(pairs: [(0, 3)]), bytes: \"{} flits\", window: {window}, acknowledgement: \"{delay} cycles\")",
            packets * size
        );
        let flow = results(&scenario("", "", &flows, size))[0];
        // a host's flit takes 2 cycles, one on the slow link 4: packets of a window follow one another at that pace
        let round_trip = alone + delay;
        let windows = u64::from((packets - 1) / window);
        let rest = u64::from((packets - 1) % window);
        let expected = windows * round_trip + rest * 4 * u64::from(size) + alone;
        assert_eq!(flow.completion(), Some(expected), "window {window}");
    }
}

/// Two flows of one host, one held to a quarter of its link: it has what its scheduler leaves it, the other the rest.
#[test]
fn a_rate_leaves_the_rest_to_others() {
    // in turns, it goes in its first eligible cycle, every 40; first come, after the packet that was first, every 50;
    // with virtual clocks in proportion to the rates, 1 to 4
    for (scheduler, share) in [("RoundRobin", 0.25), ("Fifo", 0.2), ("VirtualClock", 0.2)] {
        let host = format!("scheduler: {scheduler}");
        let flows =
            "(pairs: List(pairs: [(0, 1)]), limit: Rate(0.25)), (pairs: List(pairs: [(0, 1)]))";
        let flows = results(&scenario("", &host, flows, 5));
        let received = |flow: &FlowResult| flow.counts.arrived.received as f64;
        let (paced, other) = (received(&flows[0]), received(&flows[1]));
        // 60,000 cycles of a link of 2 cycles per flit
        let expected = share * 30_000.0;
        assert!((paced - expected).abs() < 20.0, "{scheduler}: {paced}");
        assert!(
            (paced + other - 30_000.0).abs() < 30.0,
            "{scheduler}: {other}"
        );
    }
}

/// Weights share a lane exactly; rates that add up to less than the link leave it idle with `Paced`.
#[test]
fn schedulers_share_as_they_say() {
    let received = |host: &str, first: &str, second: &str| {
        let flow = |more: &str| format!("(pairs: List(pairs: [(0, 1)]){more})");
        let flows = format!("{}, {}", flow(first), flow(second));
        let flows = results(&scenario("", host, &flows, 4));
        let of = |flow: &FlowResult| flow.counts.arrived.received / 4;
        (of(&flows[0]), of(&flows[1]))
    };
    for unit in ["Flits", "Packets"] {
        let weight = if unit == "Flits" {
            ["12", "4"]
        } else {
            ["3", "1"]
        };
        let [first, second] = weight.map(|weight| format!(", weight: {weight}"));
        let host = format!("scheduler: WeightedRoundRobin({unit})");
        let (first, second) = received(&host, &first, &second);
        assert!(first.abs_diff(3 * second) <= 3, "{unit}: {first} {second}");
        assert!((first + second).abs_diff(7500) <= 4, "{unit}");
    }
    let rates = [", limit: Rate(0.5)", ", limit: Rate(0.125)"];
    let (first, second) = received("scheduler: Paced", rates[0], rates[1]);
    assert!(first.abs_diff(4 * second) <= 4, "{first} {second}");
    // 5/8 of 7500 packets
    assert!((first + second).abs_diff(4688) <= 4, "{first} {second}");
    let sizes = [", bytes: \"400 flits\"", ", bytes: \"300 flits\""];
    let flow = |more: &str| format!("(pairs: List(pairs: [(0, 1)]){more})");
    let flows = format!("{}, {}", flow(sizes[0]), flow(sizes[1]));
    let flows = results(&scenario("", "scheduler: ShortestRemaining", &flows, 4));
    assert_eq!(flows[1].completion(), flows[1].alone);
    let last = flows[0].completion().expect("it is complete");
    assert_eq!(last, flows[0].alone.expect("it has a size") + 600);
}

/// A rate that changes on the way: so many flits before, so many after.
#[test]
fn rates_change_in_flight() {
    let flows = "(pairs: List(pairs: [(0, 1)]), limit: Rate(0.5), changes: [(\"20000 cycles\", Rate(0)), \
                 (\"40000 cycles\", Rate(1))], stop: \"50000 cycles\")";
    let flow = results(&scenario("", "", flows, 5))[0];
    // a quarter flit per cycle, nothing, half a flit per cycle
    let expected = 20_000 / 4 + 10_000 / 2;
    let started = flow.counts.sent.started.flits;
    assert!(started.abs_diff(expected) <= 5, "{started}");
}

/// Starts of packets at one host as (cycle, flow, flits), of flows with these rates \[2^-32 flits per cycle\].
fn starts(
    scheduler: &str,
    rates: &[f64],
    size: &str,
    cycles: u64,
) -> (Vec<(u64, usize, u64)>, Vec<u64>) {
    let flow = |rate: &f64| format!("(pairs: List(pairs: [(0, 1)]), limit: Rate({rate}))");
    let flows: Vec<String> = rates.iter().map(flow).collect();
    let text = format!(
        r#"Scenario(
            fabric: (topology: Mesh(radix: [2]), flit: "64 B", link: (rate: "10 Gbit/s", latency: "1 cycles"),
                     switch: (lane_capacity: "200 flits"), host: (scheduler: {scheduler})),
            routing: DimensionOrder(),
            traffic: [(name: "flows", flows: [{}], size: {size})],
            phases: (warmup: "0 cycles", measure: "1000 cycles"),
        )"#,
        flows.join(", ")
    );
    let document = Document::parse("flows.ron", &text, Path::new(".")).expect("a scenario");
    let resolved = document.resolve(&Parts::registered()).expect("it fits");
    let mut starts: Vec<_> = deliveries(&resolved, cycles)
        .iter()
        .map(|delivery| {
            let flow = delivery.flow.expect("all are of flows") as usize;
            (delivery.injected, flow, u64::from(delivery.size))
        })
        .collect();
    starts.sort_unstable();
    let rates = resolved.plan.flows.iter().map(|flow| match flow.limit {
        Limit::Rate(rate) => rate,
        limit => panic!("{limit:?}"),
    });
    (starts, rates.collect())
}

/// seed-001 I4: periodic selection from a host alone. A packet of n flits holds the flows for n / R cycles, R the sum of
/// their rates, exactly over a million packets; and at every instant the flits sent over the rates of any two flows
/// differ by one packet of the slower at most (equation 5.3).
#[test]
fn periodic_selection_keeps_to_its_rates() {
    let (starts, rates) = starts(
        "Paced",
        &[0.3, 0.07, 0.011, 0.5, 0.1],
        "\"1 flits\"",
        1_021_000,
    );
    assert!(starts.len() >= 1_000_000, "{}", starts.len());
    let sum: u128 = rates.iter().map(|&rate| u128::from(rate)).sum();
    let mut sent = vec![0u128; rates.len()];
    let one = 1u128 << 32;
    let largest = rates.iter().map(|&rate| (one * one).div_ceil(rate.into()));
    let largest = largest.max().unwrap_or_default();
    for (number, &(cycle, flow, _)) in starts.iter().enumerate() {
        assert_eq!(u128::from(cycle), (number as u128 * one).div_ceil(sum));
        sent[flow] += one;
        let ratios = sent
            .iter()
            .zip(&rates)
            .map(|(sent, &rate)| sent * one / u128::from(rate));
        let (least, most) = ratios.fold((u128::MAX, 0), |(least, most), ratio| {
            (least.min(ratio), most.max(ratio))
        });
        // clocks are rounded down at every packet, by less than one of their units
        assert!(
            most - least <= largest + number as u128 + 2,
            "packet {number}"
        );
    }
}

/// seed-001 I6: the same with packets of several sizes. The flits together keep the sum of the rates, those of a flow its
/// share.
#[test]
fn periodic_selection_takes_packets_of_any_size() {
    let mix = "Mixed([(\"1 flits\", 3), (\"4 flits\", 2), (\"16 flits\", 1)])";
    let (starts, rates) = starts("Paced", &[0.4, 0.25, 0.05], mix, 400_000);
    let sum: u64 = rates.iter().sum();
    let mut sent = vec![0u64; rates.len()];
    let mut before = 0u64;
    for &(cycle, flow, flits) in &starts {
        // what went before holds the channel of the flows until now
        let exact = (u128::from(before) << 32).div_ceil(sum.into());
        assert_eq!(u128::from(cycle), exact);
        before += flits;
        sent[flow] += flits;
    }
    for (sent, rate) in sent.iter().zip(&rates) {
        let expected = before as f64 * *rate as f64 / sum as f64;
        assert!((*sent as f64 - expected).abs() <= 17.0, "{sent} {expected}");
    }
}

/// seed-001 I5: rates of 1/4, 1/8 and twice 1/16, packets of 4 flits. Periodic selection leaves 8 cycles from start to start,
/// always: variance 0. Shaped virtual clocks and leaky buckets bound each flow, not their sum: packets follow each other back
/// to back wherever periods meet, in runs of no more than B packets with B <= the sum of 1 + floor(B * rate) over the flows,
/// which is 5. The leaky buckets' run comes in every 64 cycles, exactly.
#[test]
fn only_periodic_selection_has_no_bursts() {
    const RATES: [f64; 4] = [0.25, 0.125, 0.0625, 0.0625];
    const SIZE: u64 = 4;
    let gaps = |scheduler: &str| -> Vec<u64> {
        let (starts, _) = starts(scheduler, &RATES, "\"4 flits\"", 64_200);
        let before_the_end = starts.iter().take_while(|start| start.0 < 64_000);
        let cycles: Vec<u64> = before_the_end.map(|start| start.0).collect();
        // half of the link, whoever chooses
        assert!(
            cycles.len().abs_diff(8000) <= 1,
            "{scheduler}: {}",
            cycles.len()
        );
        cycles.windows(2).map(|pair| pair[1] - pair[0]).collect()
    };
    assert!(gaps("Paced").iter().all(|&gap| gap == 2 * SIZE));
    let most = (1..100).rev().find(|&run| {
        let refilled = RATES.iter().map(|rate| 1 + (f64::from(run) * rate) as u32);
        run <= refilled.sum::<u32>()
    });
    assert_eq!(most, Some(5));
    for scheduler in ["VirtualClock", "LeakyBucket"] {
        let gaps = gaps(scheduler);
        let runs = gaps
            .split(|&gap| gap > SIZE)
            .map(|run| run.len() as u32 + 1);
        assert_eq!(runs.max(), most, "{scheduler}");
        let mean = 2.0 * SIZE as f64;
        let squares = gaps.iter().map(|&gap| (gap as f64 - mean).powi(2));
        let variance = squares.sum::<f64>() / gaps.len() as f64;
        assert!(variance > 16.0, "{scheduler}: {variance}");
    }
    // 0, 4, 8, 12 all four, 16 the first, 32 and 36 the first two, 48 the first
    let period = [4, 4, 4, 4, 16, 4, 12, 16];
    let of_buckets = gaps("LeakyBucket");
    for (number, gap) in of_buckets.iter().enumerate() {
        assert_eq!(*gap, period[number % 8], "gap {number}");
    }
}

/// Flows whose processes make more than the channel of their host takes: their queues count, and the run says so.
#[test]
fn queues_of_flows_count_as_backlog() {
    let flow = "(pairs: List(pairs: [(0, 1)]), process: Bernoulli(load: 0.8))";
    let resolved = scenario("", "", &format!("{flow}, {flow}"), 4);
    let outcome = run(&resolved);
    assert_eq!(outcome.verdict, Verdict::Saturated, "{}", outcome.reason);
    // 0.6 of the link for as long as was measured
    let grown = outcome.growth.backlog as f64 * 8.0 / outcome.cycles.measure as f64;
    assert!((grown - 0.6).abs() < 0.05, "{grown}");
}

/// The measurement of such flows that lasts until they are complete, at most so many cycles.
fn until_complete(flows: &str, most: u64) -> Outcome {
    let measure = format!("Flows(at_most: \"{most} cycles\")");
    let document = Document::parse(
        "until.ron",
        &text("", "", flows, 4, &measure),
        Path::new("."),
    );
    let asked = document.expect("a scenario").resolve(&Parts::registered());
    run(&asked.unwrap_or_else(|error| panic!("{error}")))
}

#[test]
fn a_measurement_ends_soon_after_the_last_flow() {
    let flows = "(pairs: List(pairs: [(0, 3)]), bytes: \"5000 flits\"), \
                 (pairs: List(pairs: [(1, 2)]), bytes: \"70 flits\", start: \"30000 cycles\")";
    let outcome = until_complete(flows, 60_000);
    let ends: Vec<u64> = (outcome.flow_counts.iter())
        .map(|flow| flow.arrived.last_delivery.expect("complete"))
        .collect();
    let last = *ends.iter().max().expect("two flows");
    assert_eq!(outcome.verdict, Verdict::Complete, "{}", outcome.reason);
    let expected = format!("2 of 2 flows with a size complete, the last in cycle {last}");
    assert!(outcome.reason.starts_with(&expected), "{}", outcome.reason);
    let end = outcome.cycles.measure;
    assert!(last < end && end <= last + 256, "{last} {end}");
    let length = outcome.length.expect("the run found its length");
    assert_eq!(length, format!("measurement of {end} cycles: {expected}"));
}

#[test]
fn flows_that_are_not_complete_are_the_verdict() {
    let flow = "(pairs: List(pairs: [(0, 3)]), bytes: \"5000 flits\")";
    let endless = "(pairs: List(pairs: [(1, 2)]))";
    let outcome = until_complete(&format!("{flow}, {endless}"), 4000);
    assert_eq!(outcome.verdict, Verdict::Incomplete, "{}", outcome.reason);
    let reason = "the bound of the measurement came first: 0 of 1 flows with a size complete (1 without a size not counted)";
    assert_eq!(outcome.reason, reason);
    assert_eq!(outcome.cycles.measure, 4000);
    // flows that never end are not waited for
    let outcome = until_complete(&format!("{flow}, {endless}"), 60_000);
    assert_eq!(outcome.verdict, Verdict::Complete, "{}", outcome.reason);
    assert!(outcome.cycles.measure < 60_000);
}

/// What a generator says of a flow counts before what is said beside it; the rest stays.
#[test]
fn flows_of_a_table_have_values_of_their_own() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table = "source,destination,start [cycles],stop [cycles],bytes,rate,weight\n\
                 0,3,,,,,\n1,2,70,900,65,0.25,9\n";
    std::fs::write(folder.path().join("flows.csv"), table).expect("a writable folder");
    let resolve = |more: &str| {
        let flows = format!("(pairs: Csv(file: \"flows.csv\"), {more})");
        let text = text("", "", &flows, 4, "\"1000 cycles\"");
        let document = Document::parse("flows.ron", &text, folder.path()).expect("a scenario");
        document.resolve(&Parts::registered())
    };
    let resolved = resolve("start: \"5 cycles\", bytes: \"7 flits\", limit: Rate(0.5)");
    let resolved = resolved.unwrap_or_else(|error| panic!("{error}"));
    let flows: Vec<_> = (resolved.plan.flows.iter())
        .map(|flow| (flow.start, flow.stop, flow.flits, flow.weight, flow.limit))
        .collect();
    // a host's flit takes 2 cycles
    let expected = [
        (5, None, Some(7), 1, Limit::Rate(1 << 30)),
        (70, Some(900), Some(2), 9, Limit::Rate(1 << 29)),
    ];
    assert_eq!(flows, expected);
    let error = resolve("stop: \"6 cycles\", start: \"5 cycles\"");
    assert!(error.is_ok(), "its own stop counts");
    let table = table.replace("70", "900");
    std::fs::write(folder.path().join("flows.csv"), table).expect("a writable folder");
    let error = resolve("weight: 2")
        .expect_err("it stops before it starts")
        .to_string();
    let message = "the flow from host 1 to host 2: it stops in cycle 900: expected after its start in cycle 900";
    assert!(error.contains(message), "{error}");
}
