//! Scenario texts through all stages, with small parts of their own.

mod admission;
mod carry;
mod claims;
mod control;
mod defaults;
mod dropping;
mod levels;
mod links;
mod mistakes;
mod parts;
mod phases;
mod set_up;

use super::print;
use super::{Document, Parts, Resolved};
use crate::ids::HostId;
use crate::measure::Sample;
use parts::parts;
use std::path::Path;

/// A scenario that uses every option once.
const FULL: &str = r#"
#![enable(implicit_some)]
/* a /* nested */ comment */
Scenario(
    title: r"raw \ title", seed: 0x2A,
    fabric: (
        topology: Line(switches: 4, hosts: 3, rate: Some("20 Gbit/s")),
        flit: "64 B",
        link: (rate: "10 Gbit/s", latency: "100 ns"),
        host_link: (rate: "5 Gbit/s"),
        switch: (
            lanes: 4, lane_capacity: "4 KiB", queues: Voq, sharing: PerLane, input_speedup: 2,
            output_buffer: "8 flits", matching: OutputFirst, iterations: 2, claims: Off,
            output_arbitration: OldestFirst, reserve: true, forwarding: StoreAndForward,
            routing_delay: "2 cycles", allocation_delay: "1 cycles", crossbar_delay: "0 cycles",
            credit_latency: Some("3 cycles"), marking: (threshold: "8 flits"), drop: (sl: [2], rule: Threshold("6 flits")),
        ),
        host: (sink_rate: "5 Gbit/s", source_queue: 100),
    ),
    faults: (switches: List([]), links: Count(0), keep_connected: false, seed: 3),
    qos: (
        vl_arbitration: (high: [(0, 4), (1, 6)], low: [(2, 8), (3, 1)], limit_of_high_priority: Packets(32), unit: Packets,
            accept: HighFirst),
        management_lane: true,
    ),
    routing: shortest(),
    traffic: [
        (name: "bulk", pattern: Next, process: Once(load: 0.6), size: "512 B", sl: [0, 1]),
        (name: "mix", hosts: Range(2, 5), pattern: Next, process: Once(load: 1), sl: 3,
         size: Mixed([("64 B", 3), ("2 KiB", 1)]), packets: 1000),
        (name: "step", hosts: EveryNth(4, 1), pattern: Next(), process: Once(load: 0.1), size: "1 flit", sl: 2),
        (name: "some", hosts: List([4, "H1.0", 0]), pattern: Next, process: Once(load: 0.1), size: "2 flits",
         sl: Management),
        (name: "two", hosts: Switches([0, "S3"]), pattern: Next, process: Once(load: 0.1), size: "2 flits"),
    ],
    phases: (warmup: "10 us", measure: "10000 cycles", drain: Auto, watchdog: "1 ms"),
    allow_unreachable: false,
    allow_deadlock: false,
    observe: (packets: Every(10), flows: true, percentiles: true, hops: true, classes: ["bulk", "some"]),
    sweep: (axes: [("traffic.bulk.process.load", [0.1, 0.3]), ("fabric.switch.queues", [Fifo, Voq])], seeds: 4,
        quick: (seeds: 2, values: [("traffic.bulk.process.load", [0.1])], set: [("phases.measure", "1000 cycles")])),
    expect: [(metric: "load.accepted", per: "load.offered", relation: Equals, value: 0.6, tolerance: Relative(0.05), source: "here")],
)
"#;

fn document(text: &str) -> Document {
    Document::parse("full.ron", text, Path::new("")).unwrap()
}

fn resolve(text: &str) -> Resolved {
    document(text)
        .resolve(&parts())
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The same with the parts that the program has.
fn resolve_registered(text: &str) -> Resolved {
    let resolved = document(text).resolve(&Parts::registered());
    resolved.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// What is said of a text with each of these changes: what is right there, and what stands in its place.
///
/// # Panics
/// When what is right is not there, or a change is accepted.
fn refusals(file: &str, text: &str, wrong: &[(&str, &str)]) -> String {
    let mut list = String::new();
    for (right, wrong) in wrong {
        assert!(text.contains(right), "{right}");
        let message = refusal(file, &text.replacen(right, wrong, 1));
        list += &[wrong, "\n    ", &message, "\n"].concat();
    }
    list
}

/// What is said of a wrong text.
fn refusal(file: &str, text: &str) -> String {
    let document = Document::parse(file, text, Path::new(""));
    let resolved = document.and_then(|document| document.resolve(&Parts::registered()));
    match resolved {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn everything_is_read() {
    let resolved = resolve(FULL);
    let plan = &resolved.plan;
    assert_eq!((plan.title.as_str(), plan.seed), (r"raw \ title", 42));
    // links of 20, 10 and 5 Gbit/s: the fastest is the reference
    assert_eq!(plan.reference_rate, 20_000_000_000);
    assert_eq!(resolved.layout.switch_link.cycles_per_flit, 2);
    assert_eq!(resolved.layout.host_link.cycles_per_flit, 4);
    assert_eq!(resolved.layout.switch_link.latency, 4); // 100 ns / 25.6 ns
    assert_eq!(plan.host.sink_cycles_per_flit, Some(4));
    assert_eq!(plan.switch.lane_capacity, 64);
    assert_eq!(plan.classes[1].size.entries(), [(1, 3), (32, 1)]);
    let numbers = |class: usize| -> Vec<u32> {
        plan.classes[class]
            .hosts
            .iter()
            .map(|host| host.0)
            .collect()
    };
    assert_eq!(numbers(0).len(), 12);
    assert_eq!(numbers(1), [2, 3, 4, 5]);
    assert_eq!(numbers(2), [1, 5, 9]);
    assert_eq!(numbers(3), [0, 3, 4]);
    assert_eq!(plan.classes[3].ranks, [4, 3, 0].map(HostId));
    assert_eq!(numbers(4), [0, 1, 2, 9, 10, 11]);
    assert!(plan.classes[3].management);
    assert_eq!(plan.phases.drain_limit, 10_391); // warm-up of 391 cycles + measurement
    assert_eq!(plan.observe.packets, Sample::Every(10));
    assert_eq!(plan.observe.classes, [true, false, false, true, false]);
    assert!(resolved.scenario.expect[0].holds(0.58));
    assert!(!resolved.scenario.expect[0].holds(0.5));
}

#[test]
fn the_printed_plan_resolves_to_itself() {
    let first = resolve(FULL);
    let printed = print::plan(&first, &parts());
    let second = resolve(&printed);
    assert_eq!(print::plan(&second, &parts()), printed);
    assert_eq!(format!("{:?}", first.plan), format!("{:?}", second.plan));
    assert_eq!(
        first.layout.graph.channels(),
        second.layout.graph.channels()
    );
    insta::assert_snapshot!(printed);
}

#[test]
fn values_are_set_by_path() {
    let mut document = document(FULL);
    for assignment in [
        "seed=7",
        "title=hello",
        "fabric.link.rate=20 Gbit/s",
        "fabric.switch.lanes=8",
        "fabric.switch.credit_latency=Auto",
        "fabric.host.source_queue=None",
        "traffic.0.size=1 KiB",
        "traffic.bulk.process.load=0.25",
        "traffic[1].process.load=0.5",
        "traffic.step.hosts=All",
        "traffic.two.packets=5",
        "phases.drain=5000 cycles",
        "fabric.topology.switches=5",
        "fabric.host_link.latency=1 us",
    ] {
        document.set(assignment).unwrap();
    }
    let resolved = document.resolve(&parts()).unwrap();
    let plan = resolved.plan;
    assert_eq!((plan.title.as_str(), plan.seed), ("hello", 7));
    assert_eq!(plan.switch.lanes, 8);
    assert_eq!(plan.switch.credit_latency, None);
    assert_eq!(plan.host.source_queue, None);
    assert_eq!(plan.classes[0].size.largest(), 16);
    assert!((plan.classes[0].load - 0.25).abs() < 1e-12);
    assert!((plan.classes[1].load - 0.5).abs() < 1e-12);
    assert_eq!(plan.classes[2].hosts.len(), 15);
    assert_eq!(plan.classes[4].packets_per_host, Some(5));
    assert_eq!(plan.phases.drain_limit, 5000);
    assert_eq!(resolved.layout.host_link.latency, 39);
}

/// What is said where there is nothing of what was asked for.
#[test]
fn what_is_not_there_is_said_to_be_so() {
    let registered = Parts::registered();
    let said = |assignments: &[&str]| {
        let mut document = document(FAULTY);
        for assignment in assignments {
            document.set(assignment).unwrap();
        }
        document.resolve(&registered).unwrap_err().to_string()
    };
    let alone = "fabric.topology=Complete(switches: 1, hosts_per_switch: 3)";
    let incast = "traffic=[(name: \"i\", hosts: List([1]), size: \"1 flits\", flows: [(pairs: Incast(to: 1))])]";
    for (assignments, told) in [
        (
            &["traffic.0.flows.0.weight=2"][..],
            "traffic[0].flows: there is no list of which an entry could be changed: write it, such as `[...]`",
        ),
        (
            &[alone, "faults=(links: Count(1))"],
            "faults.links: 1 link between switches cannot fail, there is none",
        ),
        (
            &[alone, "faults=(switches: Count(2))"],
            "faults.switches: 2 switches cannot fail, there is 1",
        ),
        (
            &["faults=(links: Count(0))", incast],
            "the class has no host beside the receiver",
        ),
        (
            &["traffic.0.process=Saturating(lanes: 2)"],
            "unknown parameter `lanes`: there is no parameter",
        ),
    ] {
        let error = said(assignments);
        assert!(error.contains(told), "{assignments:?}: {error}");
    }
}

/// What the program ships, on a fabric with faults.
const FAULTY: &str = r#"
Scenario(
    seed: 5,
    fabric: (
        topology: Mesh(radix: [8, 8]),
        link: (rate: "10 Gbit/s", latency: "1 cycles"),
        switch: (lane_capacity: "64 flits"),
    ),
    faults: (
        switches: List(["S3.3", 0]),
        links: List([("S5.5", "S6.5"), Port("S1.0", 3)]),
    ),
    routing: UpDown(),
    traffic: [(name: "bulk", pattern: Uniform, process: Bernoulli(load: 0.01), size: "1 flit")],
    phases: (warmup: "100 cycles", measure: "1000 cycles"),
)
"#;

#[test]
fn what_fails_is_taken_out() {
    let registered = Parts::registered();
    let resolved = document(FAULTY).resolve(&registered).unwrap();
    let (graph, failed) = (&resolved.layout.graph, &resolved.layout.failed);
    assert_eq!((graph.switches().len(), graph.hosts().len()), (62, 62));
    assert_eq!(failed.switches, ["S0.0", "S3.3"]);
    assert_eq!(
        failed.links,
        ["S1.0 port 3 - S1.1 port 4", "S5.5 port 1 - S6.5 port 2"]
    );
    assert_eq!(failed.hosts, ["H0", "H27"]);
    let printed = print::plan(&resolved, &registered);
    let again = document(&printed).resolve(&registered).unwrap();
    assert_eq!(print::plan(&again, &registered), printed);
    assert_eq!(again.layout.failed, *failed);
}

#[test]
fn random_faults_follow_their_own_seed() {
    let failed = |sets: &[&str]| {
        let mut document = document(FAULTY);
        for set in ["faults.switches=None", "faults.links=Fraction(0.05)"]
            .iter()
            .chain(sets)
        {
            document.set(set).unwrap();
        }
        let layout = document.layout(&Parts::registered()).unwrap().1;
        assert_eq!(layout.failed.links.len(), 6);
        layout.failed
    };
    assert_eq!(failed(&[]), failed(&["faults.seed=5", "seed=9"]));
    assert_ne!(failed(&[]), failed(&["faults.seed=6"]));
}

#[test]
fn the_embedded_scenario_is_read() {
    let scenario = Document::embedded().scenario().unwrap();
    assert_eq!(scenario.fabric.topology.arguments(), "(k: 10, n: 3)");
    assert_eq!(scenario.traffic.len(), 1);
    let resolved = Document::embedded().resolve(&Parts::registered()).unwrap();
    assert_eq!(resolved.layout.graph.hosts().len(), 1000);
    assert!(resolved.proof.acyclic && resolved.proof.minimal);
    let printed = print::plan(&resolved, &Parts::registered());
    let again = document(&printed).resolve(&Parts::registered()).unwrap();
    assert_eq!(print::plan(&again, &Parts::registered()), printed);
}
