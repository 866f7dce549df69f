//! Tables and metrics of runs: what must hold of every column, and values worked out by hand away from the plain case.
//!
//! Every column of every table has a unit, and this says what becomes of it when the fabric has half the rate and twice the
//! time, and when a window is cut in two.

use crate::program::virtlane;
use crate::runs::{resolve, run};
use serde_json::Value;
use std::collections::BTreeMap;
use virtlane::fluid::check::{Unfair, application_max_min};
use virtlane::fluid::network::{Builder, UNIT};
use virtlane::fluid::rates::Allocation;
use virtlane::metrics;
use virtlane::plan::{Limit, ONE_FLIT_PER_CYCLE};
use virtlane::report::{RunResult, tables};
use virtlane::routing::dump::{management, write_fdbs};
use virtlane::scenario::Resolved;

fn result(resolved: &Resolved) -> RunResult {
    RunResult::new(resolved, run(resolved, [1, 1]), String::new())
}

fn texts(changes: &[String]) -> Vec<&str> {
    changes.iter().map(String::as_str).collect()
}

/// A value of the whole run.
fn metric(run: &RunResult, path: &str) -> f64 {
    let values = Value::Object(metrics::values(run));
    let place = format!("/{}", path.replace('.', "/"));
    let value = values.pointer(&place).and_then(Value::as_f64);
    value.unwrap_or_else(|| panic!("{path} has no number"))
}

/// A table: its columns, and the cells by what tells the row (texts and numbers of things) and column.
struct Cells {
    columns: Vec<String>,
    rows: BTreeMap<Vec<String>, BTreeMap<String, String>>,
}

/// Columns that tell what a row is about.
fn tells(file: &str, column: &str) -> bool {
    matches!(
        (file, column),
        (
            _,
            "class"
                | "sl"
                | "channel"
                | "from"
                | "to"
                | "lane"
                | "host"
                | "name"
                | "flow"
                | "source"
                | "destination"
        ) | ("hops.csv", "hops [channels]")
            | ("timeline.csv", "start [cycle]")
    )
}

/// All tables of a run by their files.
fn cells(run: &RunResult) -> BTreeMap<&'static str, Cells> {
    let read = |table: &virtlane::report::columns::Table<'_>| {
        let text = table.csv().expect("it can be written");
        let mut reader = csv::Reader::from_reader(&text[..]);
        let columns: Vec<String> = reader
            .headers()
            .expect("a header")
            .iter()
            .map(Into::into)
            .collect();
        let rows = reader.records().map(|row| {
            let row = row.expect("a row");
            let named = columns.iter().cloned().zip(row.iter().map(String::from));
            let (told, rest): (Vec<_>, Vec<_>) =
                named.partition(|(column, _)| tells(table.file, column));
            (
                told.into_iter().map(|(_, cell)| cell).collect(),
                rest.into_iter().collect(),
            )
        });
        (
            table.file,
            Cells {
                rows: rows.collect(),
                columns,
            },
        )
    };
    tables::all(run).iter().map(read).collect()
}

/// The unit of a column: what stands in its brackets.
fn unit(column: &str) -> &str {
    let unit = column.split_once('[').map_or("", |(_, unit)| unit);
    unit.trim_end_matches(']')
}

/// A row of switches of which the first row of a mesh is used; its other links give the clock. Host 2 answers the load of the
/// others: packets at a steady pace, flows with weights, one with a limit, one that never starts, and two that switches drop.
fn row(factor: u64, [warmup, measure]: [u64; 2], drain: &str) -> RunResult {
    let text = r#"Scenario(
        title: "row", seed: 3,
        fabric: (topology: Mesh(radix: [3, 2], hosts_per_switch: 2), flit: "64 B",
                 link: (rate: "RATE Gbit/s", latency: "3 cycles", except: [(on: Dimension(1), rate: "40 Gbit/s", latency: "3 cycles")]),
                 switch: (lanes: 2, lane_capacity: "24 flits", routing_delay: "2 cycles", crossbar_delay: "1 cycles",
                          marking: (threshold: "8 flits"), drop: (sl: [1], rule: Held)),
                 host: (scheduler: WeightedRoundRobin(Flits))),
        routing: DimensionOrder(),
        traffic: [
            (name: "steady", pattern: Pairs([(4, 1), (5, 0)]), process: ConstantRate(load: 0.4, phase: Zero), size: "8 flits", sl: 0),
            (name: "flows", size: "8 flits", sl: 0, flows: [
                (pairs: List(pairs: [(0, 4), (2, 4)]), weight: 3), (pairs: List(pairs: [(0, 5)])),
                (pairs: List(pairs: [(3, 0)]), limit: Rate(0.25)),
                (pairs: List(pairs: [(1, 3)]), start: "1000000 cycles")]),
            (name: "lossy", size: "8 flits", sl: 1, flows: [(pairs: List(pairs: [(1, 4), (3, 4)]))]),
        ],
        observe: (queues: true, hops: true),
        phases: (warmup: "1 cycles", measure: "1 cycles", drain: Auto),
    )"#;
    let text = text.replace("RATE", &(40 / factor).to_string());
    let times = [
        ("fabric.link.latency", 3),
        ("fabric.switch.routing_delay", 2),
        ("fabric.switch.crossbar_delay", 1),
        ("phases.warmup", warmup),
        ("phases.measure", measure),
    ];
    let changes = times.map(|(key, cycles)| format!("{key}={} cycles", cycles * factor));
    let changes = [&changes[..], &[format!("phases.drain={drain}")]].concat();
    result(&resolve(&text, &texts(&changes)))
}

/// What a number becomes where everything takes so many times as long; `None` of what says nothing of the fabric.
fn scaled(unit: &str, factor: f64) -> Option<f64> {
    match unit {
        "cycle" | "cycles" => Some(factor),
        "packets per cycle" => Some(1.0 / factor),
        "s" | "1/s" | "bytes" => None,
        _ => Some(1.0),
    }
}

/// A fabric of half, or a quarter of, the rate with twice, or four times, the time shows the same fractions and counts in all
/// tables and metrics, and times in proportion.
#[test]
fn half_the_rate_and_twice_the_time_show_the_same() {
    let run = |factor| row(factor, [400, 2000], "0 cycles");
    let fast = run(1);
    let tables = cells(&fast);
    let values = Value::Object(metrics::values(&fast));
    for factor in [2, 4] {
        let slow = run(factor);
        assert_eq!(slow.channels[0].cycles_per_flit, factor as u32);
        let found = cells(&slow);
        let close = |fast: f64, slow: f64, unit: &str, place: &str| {
            let expected = scaled(unit, factor as f64).map(|by| fast * by);
            let same =
                expected.is_none_or(|expected| (slow - expected).abs() <= 1e-9 * expected.abs());
            assert!(
                same,
                "{place} [{unit}]: {fast} becomes {slow} with a factor of {factor}"
            );
        };
        // rows of the timeline are of a length of their own
        for (file, table) in tables.iter().filter(|(file, _)| **file != "timeline.csv") {
            let found = &found[file];
            assert_eq!(found.columns, table.columns);
            assert_eq!(found.rows.len(), table.rows.len(), "{file}");
            for (row, cells) in &table.rows {
                for (column, cell) in cells {
                    let other = &found.rows[row][column];
                    let place = format!("{file}, {row:?}, {column}");
                    match (cell.parse(), other.parse()) {
                        (Ok(fast), Ok(slow)) => close(fast, slow, unit(column), &place),
                        _ => assert_eq!(cell, other, "{place}"),
                    }
                }
            }
        }
        let others = Value::Object(metrics::values(&slow));
        for metric in metrics::all() {
            let place = format!("/{}", metric.path.replace('.', "/"));
            let number = |values: &Value| values.pointer(&place).and_then(Value::as_f64);
            // intervals rest on batches, of a length of their own
            if metric.path.starts_with("confidence") {
                continue;
            }
            assert_eq!(
                number(&values).is_some(),
                number(&others).is_some(),
                "{}",
                metric.path
            );
            if let (Some(fast), Some(slow)) = (number(&values), number(&others)) {
                close(fast, slow, metric.unit, metric.path);
            }
        }
    }
}

/// Columns that count what happens in the measurement, or to packets created in it.
const OF_THE_WINDOW: [(&str, &[&str]); 4] = [
    ("channels.csv", &["sent [flits]", "dropped [packets]"]),
    (
        "hosts.csv",
        &[
            "created [flits]",
            "accepted [flits]",
            "destined [flits]",
            "received [flits]",
        ],
    ),
    (
        "classes.csv",
        &[
            "created [packets]",
            "injected [packets]",
            "delivered [packets]",
            "rejected [packets]",
            "tagged [packets]",
            "tagged_delivered [packets]",
            "marked [packets]",
            "network_latency_count [packets]",
        ],
    ),
    (
        "flows.csv",
        &[
            "received [flits]",
            "attempted [packets]",
            "tagged_delivered [packets]",
        ],
    ),
];

/// What two halves of a window count is together what the whole counts, in every column that counts.
#[test]
fn two_halves_of_a_window_are_the_whole() {
    for factor in [1, 2] {
        let runs =
            [[400, 2001], [400, 997], [1397, 1004]].map(|window| row(factor, window, "Auto"));
        let [whole, first, second] = runs.each_ref().map(cells);
        for (file, columns) in OF_THE_WINDOW {
            for column in columns {
                let mut sums = BTreeMap::new();
                for (table, sign) in [(&whole[file], 1), (&first[file], -1), (&second[file], -1)] {
                    for (row, cells) in &table.rows {
                        let count: i64 = cells[*column].parse().expect("a number");
                        let (total, sum) = sums.entry(row).or_insert((0, 0));
                        *total += count.abs();
                        *sum += sign * count;
                    }
                }
                let broken: Vec<_> = sums.iter().filter(|(_, sum)| sum.1 != 0).collect();
                assert!(broken.is_empty(), "{file}, {column}: {broken:?}");
                let is_used = sums.values().any(|sum| sum.0 > 0);
                assert!(
                    is_used || column.starts_with("rejected"),
                    "{file}, {column} is 0"
                );
            }
        }
    }
}

/// Sums over rows of one table are those of another.
#[test]
fn columns_add_up_to_each_other() {
    for factor in [1, 2] {
        let run = row(factor, [400, 2001], "Auto");
        let tables = cells(&run);
        let sum = |file: &str, column: &str| -> u64 {
            let rows = tables[file].rows.values();
            let counts = rows.map(|cells| cells[column].parse::<u64>());
            counts.map(|count| count.expect("a number")).sum()
        };
        // all packets have eight flits
        let created = sum("classes.csv", "created [packets]");
        assert_eq!(sum("hosts.csv", "created [flits]"), 8 * created);
        assert_eq!(sum("hosts.csv", "destined [flits]"), 8 * created);
        let received = sum("hosts.csv", "received [flits]");
        assert_eq!(sum("hosts.csv", "accepted [flits]"), received);
        let steady = &run.records.classes[0];
        let of_flows = sum("flows.csv", "received [flits]");
        assert_eq!(of_flows + steady.delivered_flits, received);
        let attempted = sum("flows.csv", "attempted [packets]");
        assert_eq!(attempted + steady.created_packets, created);
        // what is dropped in the measurement is dropped by classes too
        let classes = run.records.classes.iter();
        let dropped: u64 = classes.map(|class| class.lost.window_flits).sum();
        assert_eq!(8 * sum("channels.csv", "dropped [packets]"), dropped);
        assert!(dropped > 0);
    }
}

/// Columns of counts, and those of their fractions of what a link carries.
const FRACTIONS: [(&str, &str, &str); 6] = [
    ("channels.csv", "sent [flits]", "utilisation [fraction]"),
    (
        "hosts.csv",
        "created [flits]",
        "offered [fraction of link rate]",
    ),
    (
        "hosts.csv",
        "accepted [flits]",
        "accepted [fraction of link rate]",
    ),
    (
        "hosts.csv",
        "destined [flits]",
        "destined [fraction of link rate]",
    ),
    (
        "hosts.csv",
        "received [flits]",
        "received [fraction of link rate]",
    ),
    (
        "flows.csv",
        "received [flits]",
        "received [fraction of link rate]",
    ),
];

/// Fractions are their counts over what a link carries in the measurement; of what crosses a link they are at most 1.
#[test]
fn fractions_are_counts_over_what_can_be() {
    for factor in [1, 2] {
        let run = row(factor, [400, 2001], "Auto");
        let tables = cells(&run);
        let measured = run.cycles.measure as f64;
        let mut used = vec![0.0; run.channels.len()];
        for (file, counted, fraction) in FRACTIONS {
            for (row, cells) in &tables[file].rows {
                let number = |column: &str| cells[column].parse::<f64>().expect("a number");
                let mut pace = factor as f64;
                let found = number(fraction);
                if file == "channels.csv" {
                    let channel: usize = row[0].parse().expect("a number");
                    pace = f64::from(run.channels[channel].cycles_per_flit);
                    used[channel] += found;
                }
                let expected = number(counted) * pace / measured;
                assert!(
                    (found - expected).abs() < 1e-9,
                    "{file}, {row:?}, {fraction}"
                );
                let is_asked = fraction.starts_with("offered") || fraction.starts_with("destined");
                assert!(found <= 1.0 || is_asked, "{file}, {row:?}, {fraction}");
            }
        }
        let mean = used.iter().sum::<f64>() / used.len() as f64;
        let most = used.iter().copied().fold(0.0, f64::max);
        assert!((metric(&run, "channels.utilisation.mean") - mean).abs() < 1e-9);
        assert!((metric(&run, "channels.utilisation.max") - most).abs() < 1e-9);
    }
}

/// One switch whose links have half the reference rate; two flows to host 3, of weights 3 and 1, and one that never starts.
fn sharing() -> Resolved {
    let text = r#"Scenario(
        title: "sharing", seed: 1,
        fabric: (topology: EdgeList(switches: 1, hosts_per_switch: 4), flit: "64 B",
                 link: (rate: "10 Gbit/s", latency: "1 cycles"), host_link: (rate: "5 Gbit/s", latency: "1 cycles"),
                 switch: (lanes: 1, lane_capacity: "32 flits")),
        routing: UpDown(),
        traffic: [(name: "all", size: "4 flits", flows: [
            (pairs: List(pairs: [(0, 3)]), weight: 3), (pairs: List(pairs: [(1, 3)])),
            (pairs: List(pairs: [(2, 3)]), start: "1000000 cycles")])],
        phases: (warmup: "800 cycles", measure: "1600 cycles"),
    )"#;
    resolve(text, &[])
}

/// The channel to host 3 carries one flit every two cycles. By weight its flows should have 3/4 and 1/4 of it; round robin gives
/// them a half each: 400 flits in 1600 cycles.
#[test]
fn fair_rates_and_utilisation_at_a_pace_of_2() {
    let run = result(&sharing());
    let received: Vec<u64> = run
        .flow_results
        .iter()
        .map(|flow| flow.counts.arrived.received)
        .collect();
    assert_eq!(received, [400, 400, 0]);
    let tables = cells(&run);
    let column = |name: &str| -> Vec<Option<f64>> {
        let rows = tables["flows.csv"].rows.values();
        rows.map(|cells| cells[name].parse().ok()).collect()
    };
    let rates = column("received [fraction of link rate]");
    assert_eq!(rates, [Some(0.5), Some(0.5), Some(0.0)]);
    let fair = column("max_min_fair [fraction of link rate]");
    assert_eq!(fair, [Some(0.75), Some(0.25), None]);
    // |1/2 - 3/4| + |1/2 - 1/4| over 1; the worst off has 1/2 of 3/4
    assert!((metric(&run, "flows.max_min.distance") - 0.5).abs() < 1e-12);
    assert!((metric(&run, "flows.max_min.least") - 2.0 / 3.0).abs() < 1e-12);
    assert!((metric(&run, "flows.rate.max") - 0.5).abs() < 1e-12);
    // of eight channels one carries all the time, two half of it
    assert!((metric(&run, "channels.utilisation.max") - 1.0).abs() < 1e-12);
    assert!((metric(&run, "channels.utilisation.mean") - 2.0 / 8.0).abs() < 1e-12);
}

/// (x + x + 0)^2 / (3 (x^2 + x^2 + 0)): a flow that gets nothing counts among all.
#[test]
fn jains_index_counts_a_flow_at_zero() {
    let run = result(&sharing());
    assert!((metric(&run, "flows.fairness") - 2.0 / 3.0).abs() < 1e-12);
}

/// Flows of weights 3 and 1 with a half of the channel each: per weight 1/6 and 1/2, so their application has 1/6 times 3; as two
/// applications they have a half each. With an eighth for the one of weight 1 this is the slower per weight: 1/8 times 3.
#[test]
fn an_application_has_the_least_rate_per_weight_times_its_largest_weight() {
    let run = |applications: [u32; 2], order: [usize; 2], limit: Option<f64>| {
        let mut resolved = sharing();
        let flows = &mut resolved.plan.flows;
        for (flow, application) in flows.iter_mut().zip(applications) {
            flow.application = Some(application);
        }
        if let Some(part) = limit {
            // of a link that carries a flit every two cycles
            flows[1].limit = Limit::Rate((part / 2.0 * ONE_FLIT_PER_CYCLE as f64) as u64);
        }
        flows.swap(order[0], order[1]);
        let run = result(&resolved);
        ["count", "min", "max"].map(|name| metric(&run, &format!("flows.applications.{name}")))
    };
    let near = |found: [f64; 3], expected: [f64; 3]| {
        let apart = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
        assert!(
            apart.fold(0.0, f64::max) < 1e-12,
            "{found:?}, not {expected:?}"
        );
    };
    for order in [[0, 0], [0, 1]] {
        near(run([0, 0], order, None), [1.0, 0.5, 0.5]);
        near(run([0, 1], order, None), [2.0, 0.5, 0.5]);
        near(run([7, 7], order, Some(0.125)), [1.0, 0.375, 0.375]);
    }
}

/// Host 0 and the host of the middle send one packet each over the last channel from cycle 0 on, as `scenarios/flows/dropping.ron`:
/// where packets are dropped counts in the measurement only, whether before it or after it.
#[test]
fn drops_outside_the_window_are_not_in_channels() {
    let drops = |warmup: u64, measure: u64| {
        let text = r#"Scenario(
            title: "line", seed: 1,
            fabric: (topology: Mesh(radix: [3]), flit: "64 B", link: (rate: "10 Gbit/s", latency: "2 cycles"),
                     switch: (lane_capacity: "8 flits", routing_delay: "1 cycles", drop: (sl: [0], rule: Held))),
            routing: DimensionOrder(),
            traffic: [(name: "live", flows: [(pairs: Incast(to: 2), bytes: "16 flits")], size: "8 flits")],
            phases: (warmup: "0 cycles", measure: "200 cycles"),
        )"#;
        let times = [
            format!("phases.warmup={warmup} cycles"),
            format!("phases.measure={measure} cycles"),
        ];
        let run = result(&resolve(text, &texts(&times)));
        let rows = &cells(&run)["channels.csv"].rows;
        let drops = rows
            .values()
            .map(|cells| cells["dropped [packets]"].parse::<u64>());
        drops.map(|count| count.expect("a number")).sum::<u64>()
    };
    // the headers of host 0 reach the middle at 2 + 1 + 2, twelve cycles apart (credits), and are decided a cycle later
    assert_eq!(drops(0, 200), 2);
    assert_eq!([drops(0, 6), drops(0, 7)], [0, 1]);
    assert_eq!([drops(6, 8), drops(7, 7), drops(7, 100)], [1, 0, 1]);
    assert_eq!([drops(18, 1), drops(19, 100)], [1, 0]);
}

/// A ring of five with one link that up*/down* never crosses beside the root's: ways around it are longer than they need to be,
/// and the dump says so; all others are optimal.
#[test]
fn fdbs_say_which_ways_are_optimal() {
    let text = r#"Scenario(
        title: "ring", seed: 1,
        fabric: (topology: Ring(switches: 5, hosts_per_switch: 1), flit: "64 B", link: (rate: "10 Gbit/s", latency: "1 cycles"),
                 switch: (lanes: 1, lane_capacity: "16 flits")),
        routing: UpDown(root: 0),
        traffic: [(name: "a", pattern: Uniform, process: Bernoulli(load: 0.1), size: "64 B")],
        phases: (warmup: "0 cycles", measure: "1 cycles"),
    )"#;
    let resolved = resolve(text, &[]);
    let graph = &resolved.layout.graph;
    let tables = resolved.routes.tables().expect("tables");
    let mut dump = String::new();
    let ports = management(graph, tables);
    write_fdbs(graph, tables, &ports, &mut dump).expect("a string takes all");
    let told: Vec<(&str, usize, &str)> = dump
        .lines()
        .filter(|line| line.starts_with("0x"))
        .map(|line| {
            let cells: Vec<&str> = line.split(':').map(str::trim).collect();
            (cells[0], cells[2].parse().expect("hops"), cells[3])
        })
        .collect();
    // five switches, each with the LIDs of five switches and five hosts; a host is one link further away than its switch
    assert_eq!(told.len(), 50);
    let around = |a: usize, b: usize| {
        let apart = a.abs_diff(b);
        apart.min(5 - apart)
    };
    let mut longer = 0;
    for from in graph.switch_ids() {
        for to in graph.host_ids() {
            let (home, _) = graph.attachment(to).expect("attached");
            let mut at = from;
            let mut hops = 1;
            while at != home {
                let port = tables.next_port(at.index(), to).expect("a way");
                let channel = graph.port_channel(at, port).expect("connected");
                at = graph.channel(channel).to.switch().expect("a switch");
                hops += 1;
            }
            longer += usize::from(hops > around(from.index(), home.index()) + 1);
        }
    }
    let not_optimal = told.iter().filter(|row| row.2 == "no").count();
    assert!(longer > 0);
    // of switches as of hosts: the ways are the same
    assert_eq!(not_optimal, 2 * longer, "{dump}");
    assert!(told.iter().all(|row| row.2 == "no" || row.1 <= 3), "{dump}");
}

/// Two flows of one application on a full link each, one with more per weight than the other, and so that the rest of a division
/// does not hide it; alone their links would allow it.
#[test]
fn a_flow_above_the_level_of_its_application_is_found() {
    let mut builder = Builder::new(vec![UNIT / 2, UNIT]);
    builder.flow(1, 0, [0]);
    builder.flow(2, 0, [1]);
    let network = builder.build();
    let check = |second: u128| {
        let rates = vec![UNIT / 2, second];
        application_max_min(&network, &Allocation { rates, rounds: 1 })
    };
    assert_eq!(check(UNIT), Ok(()));
    let mut builder = Builder::new(vec![UNIT / 4, UNIT]);
    builder.flow(1, 0, [0]);
    builder.flow(2, 0, [1]);
    let network = builder.build();
    let check = |second: u128| {
        let rates = vec![UNIT / 4, second];
        application_max_min(&network, &Allocation { rates, rounds: 1 })
    };
    assert_eq!(check(UNIT / 2), Ok(()), "held by the first link");
    for above in [UNIT / 2 + 1, UNIT / 2 + 2, UNIT] {
        assert_eq!(check(above), Err(Unfair::Unequal(1)), "{above}");
    }
    assert_eq!(check(UNIT / 2 - 2), Err(Unfair::Unequal(1)));
}

/// Links of 42 Gbit/s and of 64: both are whole fractions of 1344 Gbit/s, of which a flit of 64 bytes takes 512 / 1344 ns; on the
/// faster link it takes 21 of these.
#[test]
fn a_cycle_shorter_than_any_flit_is_told() {
    let text = r#"Scenario(
        title: "mixed", seed: 1,
        fabric: (topology: EdgeList(links: [(0, 1)], hosts_per_switch: 1), flit: "64 B",
                 link: (rate: "42 Gbit/s", latency: "20 ns"), host_link: (rate: "64 Gbit/s", latency: "20 ns"),
                 switch: (lanes: 1, lane_capacity: "128 flits")),
        routing: UpDown(),
        traffic: [(name: "a", pattern: Uniform, process: Bernoulli(load: 0.1), size: "64 B")],
        phases: (warmup: "10 ns", measure: "1 us"),
    )"#;
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("mixed.ron"), text).expect("it can be written");
    let clock = "1 cycle = 0.3810 ns; a flit takes 21 cycles on the fastest link";
    let (_, checked, _) = virtlane(folder.path(), &["check", "mixed.ron"]);
    assert!(
        checked.contains(&format!("\n  clock    {clock}\n")),
        "{checked}"
    );
    let (_, table, _) = virtlane(folder.path(), &["run", "mixed.ron"]);
    assert!(table.contains(&format!("\nclock     {clock}\n")), "{table}");
    // with one rate a flit takes a cycle, and nothing needs to be said
    let (_, checked, _) = virtlane(
        folder.path(),
        &[
            "check",
            "mixed.ron",
            "--set",
            "fabric.host_link.rate=42 Gbit/s",
        ],
    );
    assert!(
        checked.contains(": ok") && !checked.contains("clock"),
        "{checked}"
    );
}
