//! Whole runs of scenarios that drop packets (D58), hold them (D57), pass single flits (D65) or serve heads that have waited
//! first (D72), as users start them: every count that they end with against the reference model.

use super::counts::of_run;
use super::engine::counts;
use crate::reference::{Outcome, simulate};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use virtlane::run::{Settings, execute};
use virtlane::scenario::{Document, Parts};

/// A torus with two hot spots. Service level 0 is lossless, 1 is not, that of flows neither.
fn text(switch: &str, host: &str, queue: &str) -> String {
    format!(
        "Scenario(title: \"whole\", seed: 11, fabric: (topology: Torus(radix: [3, 2], hosts_per_switch: 2), link: (rate: \
         \"100 Gbit/s\", latency: \"3 cycles\"), switch: (lanes: 8, lane_capacity: \"12 flits\", {switch}), \
         host: ({host})), routing: DimensionOrder(), traffic: [\
         (name: \"even\", pattern: Uniform, process: Bernoulli(load: 0.3), size: \"256 B\", sl: 0), \
         (name: \"hot\", pattern: HotSpot(targets: [1, 7], fraction: 0.6), process: Poisson(load: 0.4), \
         size: \"128 B\", sl: 1), \
         (name: \"lossy\", flows: [(pairs: Permutations(count: 2), process: Poisson(load: 0.2))], size: \"192 B\", sl: 1), \
         (name: \"asking\", flows: [(pairs: Permutations(count: 2))], size: \"128 B\", sl: 2, \
         control: RequestReply(outstanding: 3, reply: 2, server: \"40 cycles\"), \
         answers: (size: \"256 B\", sl: 3{queue}))], \
         phases: (warmup: \"200 cycles\", measure: \"900 cycles\", drain: \"400 cycles\"), allow_deadlock: true)"
    )
}

/// What the reference model counts in the run of a scenario, with which the engine must agree.
fn compared(text: &str, threads: usize, shards: usize) -> Outcome {
    let document = Document::parse("whole.ron", text, Path::new(".")).expect("RON");
    let resolved = document.resolve(&Parts::registered());
    let resolved = resolved.unwrap_or_else(|error| panic!("{error}\n{text}"));
    let settings = Settings {
        threads: Some(threads),
        shards: Some(shards),
        check: true,
        ..Settings::default()
    };
    let found = execute(&resolved, settings, &mut |_| {}, &AtomicBool::new(false));
    let found = found.unwrap_or_else(|error| panic!("{error}\n{text}"));
    let cycles = found.cycles.warmup + found.cycles.measure + found.cycles.drain;
    let (plan, graph) = (&resolved.plan, &resolved.layout.graph);
    let tables = resolved.routes.tables().expect("tables");
    let expected = simulate(plan, graph, tables, cycles);
    let flows: Vec<_> = found.flow_counts.iter().map(counts).collect();
    let differences = of_run(&expected, &found.records, &flows);
    assert!(
        differences.is_empty(),
        "{text}, {cycles} cycles:\n{}",
        differences.join("\n")
    );
    expected
}

#[test]
fn counts_of_whole_runs_are_those_of_the_reference_model() {
    let (mut dropped, mut held) = (0, 0);
    for (number, (switch, host, queue)) in [
        ("drop: (sl: [1])", "", ""),
        ("drop: (sl: [1], rule: Threshold(\"3 flits\"))", "", ""),
        ("drop: (sl: [0, 1]), queues: Voq", "source_queue: 3", ""),
        (
            "drop: (sl: [1]), output_lane_buffer: \"4 flits\"",
            "sink_rate: \"50 Gbit/s\", flow_queue: 2",
            ", queue: 2",
        ),
        ("", "", ", queue: 2"),
        (
            "drop: (sl: [1], rule: Threshold(\"6 flits\"))",
            "",
            ", queue: 5",
        ),
        ("forwarding: Wormhole", "source_queue: 3", ""),
        ("forwarding: Wormhole, input_turns: Packets", "", ""),
        ("drop: (sl: [1]), forwarding: Wormhole", "", ""),
        (
            "drop: (sl: [1]), forwarding: Wormhole, input_speedup: 2",
            "sink_rate: \"50 Gbit/s\"",
            "",
        ),
        ("claims: Every(\"40 cycles\")", "", ""),
        (
            "drop: (sl: [1]), claims: Every(\"15 cycles\"), queues: Voq, input_speedup: 2",
            "sink_rate: \"50 Gbit/s\"",
            ", queue: 5",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let text = text(switch, host, queue);
        let expected = compared(&text, 1 + number % 2, 1 + number % 4);
        let drops: u64 = expected.window.dropped.iter().sum();
        let flows_lost = expected.flows.iter().any(|flow| flow.dropped.0 > 0);
        assert_eq!(drops > 0 && flows_lost, switch.contains("drop"), "{text}");
        let claims = expected.claims.made > 50;
        assert_eq!(claims, switch.contains("claims"), "{text}");
        assert!(expected.claims.longest_wait > 20, "{text}");
        dropped += drops;
        held += expected.held;
    }
    assert!(dropped > 500 && held > 500, "{dropped} {held}");
}

/// Two packets leave a buffer at a time where one of them is dropped, also where an input sends one at a time: the credits of
/// both come back side by side.
#[test]
fn credits_of_dropped_packets_come_back_beside_those_of_sent_ones() {
    for (number, buffers) in ["queues: Voq", "lanes: 2, sharing: PortPool"]
        .iter()
        .enumerate()
    {
        let text = format!(
            "Scenario(title: \"beside\", seed: 1, fabric: (topology: Mesh(radix: [3, 3]), link: (rate: \"10 Gbit/s\", \
             latency: \"2 cycles\"), switch: (lane_capacity: \"24 flits\", routing_delay: \"1 cycles\", drop: (sl: [0]), \
             {buffers})), routing: DimensionOrder(), traffic: [(name: \"bulk\", pattern: Uniform, process: Saturating, \
             size: \"8 flits\")], phases: (warmup: \"0 cycles\", measure: \"1500 cycles\"))"
        );
        let expected = compared(&text, 1, 1 + number);
        assert!(expected.window.dropped.iter().sum::<u64>() > 100, "{text}");
    }
}

/// Shipped scenarios of wormhole switching, shorter: the same fate of every packet.
#[test]
fn shipped_wormhole_meshes_are_those_of_the_reference_model() {
    for name in ["wormhole_mesh_8x8", "wormhole_mesh_8x8_full"] {
        let file = format!("scenarios/validation/{name}.ron");
        let mut document = Document::read(Path::new(&file)).expect("RON");
        for change in [
            "phases.warmup=100 cycles",
            "phases.measure=500 cycles",
            "expect=[]",
        ] {
            document.set(change).expect("the key exists");
        }
        let resolved = document.resolve(&Parts::registered()).expect("a plan");
        let settings = Settings {
            threads: Some(2),
            shards: Some(3),
            check: true,
            ..Settings::default()
        };
        let found = execute(&resolved, settings, &mut |_| {}, &AtomicBool::new(false));
        let found = found.expect("a run");
        let cycles = found.cycles.warmup + found.cycles.measure + found.cycles.drain;
        let tables = resolved.routes.tables().expect("tables");
        let expected = simulate(&resolved.plan, &resolved.layout.graph, tables, cycles);
        let differences = of_run(&expected, &found.records, &[]);
        assert!(
            differences.is_empty(),
            "{name}:\n{}",
            differences.join("\n")
        );
        assert!(expected.deliveries.len() > 10, "{name}");
    }
}
