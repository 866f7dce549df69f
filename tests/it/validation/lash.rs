//! LASH in motion (seed 002, checks A18 to A21): no deadlock with the smallest buffers, order and distances kept, and
//! what layers carry beside up*/down* routing on as many lanes.

use super::{assert_close, note, run, share};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use virtlane::ids::{HostId, SlId, SwitchId};
use virtlane::routing::entries::Entries;
use virtlane::routing::{Routes, VerifyOptions, verify};
use virtlane::run::outcome::Verdict;
use virtlane::run::{Outcome, Settings, execute};
use virtlane::scenario::{Document, Parts, Resolved};
use virtlane::topology::Graph;
use virtlane::topology::survey::switch_distances;

/// Flits of a packet, and of the buffer of a lane where it holds one packet.
const PACKET: u32 = 8;

/// What is run.
struct Setup {
    topology: String,
    routing: String,
    lanes: u8,
    /// Service levels, one drawn for every packet: engines of fewer layers than lanes use a group of lanes for each.
    levels: u8,
    /// Capacity of a lane [packets].
    buffer: u32,
    /// `Saturating`, or a Bernoulli process.
    process: String,
    warmup: u64,
    measure: u64,
    drain: u64,
}

impl Setup {
    /// Uniform traffic.
    fn resolve(&self) -> Resolved {
        let levels: Vec<u8> = (0..self.levels).collect();
        let Self {
            topology,
            routing,
            lanes,
            process,
            warmup,
            measure,
            drain,
            ..
        } = self;
        let text = format!(
            "Scenario(
                seed: 1,
                fabric: (
                    topology: {topology},
                    flit: \"64 B\",
                    link: (rate: \"10 Gbit/s\", latency: \"1 cycles\"),
                    switch: (lanes: {lanes}, lane_capacity: \"{} flits\"),
                ),
                routing: {routing},
                traffic: [(name: \"uniform\", pattern: Uniform, process: {process}, size: \"{PACKET} flits\", sl: {levels:?})],
                phases: (
                    warmup: \"{warmup} cycles\",
                    measure: \"{measure} cycles\",
                    drain: \"{drain} cycles\",
                    watchdog: \"5000 cycles\",
                ),
                observe: (flows: true),
            )",
            self.buffer * PACKET
        );
        let document = Document::parse("lash.ron", &text, Path::new("")).expect("well-formed");
        let resolved = document.resolve(&Parts::registered());
        resolved.unwrap_or_else(|error| panic!("{topology}, {routing}: {error}"))
    }
}

/// Runs with the laws checked, the order of packets among them.
fn checked(resolved: &Resolved) -> Outcome {
    let settings = Settings {
        threads: Some(1),
        shards: Some(1),
        check: true,
        ..Settings::default()
    };
    let outcome = execute(resolved, settings, &mut |_| {}, &AtomicBool::new(false));
    outcome.unwrap_or_else(|error| panic!("{error}"))
}

/// Saturating traffic through buffers of one packet.
fn smallest_buffers(topology: &str, lanes: u8, cycles: u64) -> Setup {
    Setup {
        topology: topology.to_owned(),
        routing: "Lash()".to_owned(),
        lanes,
        levels: 1,
        buffer: 1,
        process: "Saturating".to_owned(),
        warmup: 0,
        measure: cycles,
        drain: 100_000,
    }
}

/// Load offered to buffers of four packets, spread over all lanes.
fn loaded(topology: &str, routing: &str, lanes: u8, load: f64) -> Resolved {
    let setup = Setup {
        topology: topology.to_owned(),
        routing: routing.to_owned(),
        lanes,
        levels: lanes,
        buffer: 4,
        process: format!("Bernoulli(load: {load:?})"),
        warmup: 2000,
        measure: 4000,
        drain: 0,
    };
    setup.resolve()
}

/// Layers of LASH.
fn layers(topology: &str, routing: &str) -> u8 {
    let resolved = loaded(topology, routing, 15, 0.1);
    let tables = resolved.routes.tables().expect("LASH makes tables");
    tables.guarantees.lanes_needed
}

/// A network as the published layers ask for: `2 n` links.
fn published(switches: u32, seed: u32) -> String {
    let links = 2 * switches;
    format!(
        "Irregular(switches: {switches}, generator: Recursive, links: {links}, hosts_per_switch: 1, seed: {seed})"
    )
}

/// A18: saturating traffic through buffers of one packet.
fn runs_without_deadlock(topology: &str, cycles: u64) {
    let lanes = layers(topology, "Lash()");
    let setup = smallest_buffers(topology, lanes, cycles);
    let resolved = setup.resolve();
    let tables = resolved.routes.tables().expect("LASH makes tables");
    assert!(tables.guarantees.in_order && tables.guarantees.minimal);
    let outcome = checked(&resolved);
    assert_ne!(outcome.verdict, Verdict::Deadlocked, "{}", outcome.reason);
    let class = &outcome.records.classes[0];
    assert_eq!(class.tagged_created, class.tagged_delivered, "{topology}");
    assert!(class.delivered_packets > cycles / 10, "{topology}");
    // no path is shorter than the distance, so that equal sums are equal paths, packet by packet
    let graph = &resolved.layout.graph;
    let home = |host| graph.attachment(HostId(host)).expect("connected").0;
    let distances: Vec<_> = graph
        .switch_ids()
        .map(|switch| switch_distances(graph, switch))
        .collect();
    let flows = outcome.flows.expect("asked for");
    for (flow, record) in &flows {
        let distance = distances[home(flow.source).index()][home(flow.destination).index()];
        let distance = u64::from(distance.expect("connected"));
        assert_eq!(
            record.hops,
            record.packets * distance,
            "{topology}: {flow:?}"
        );
    }
    let hosts = graph.hosts().len();
    assert!(flows.len() > hosts * (hosts - 1) * 9 / 10, "{topology}");
}

fn irregular_networks() -> [String; 4] {
    [
        "Irregular(switches: 16, degree: 4, hosts_per_switch: 2, seed: 1)".to_owned(),
        published(16, 2),
        "Irregular(switches: 32, degree: 4, hosts_per_switch: 1, seed: 1)".to_owned(),
        published(64, 1),
    ]
}

#[test]
fn lash_runs_in_order_on_shortest_paths_with_buffers_of_one_packet() {
    for topology in irregular_networks() {
        runs_without_deadlock(&topology, 30_000);
    }
}

#[test]
#[ignore = "dev, 1 minute: a million cycles; scripts/on_demand.sh lash_runs_a_million_cycles_with_buffers_of_one_packet"]
fn lash_runs_a_million_cycles_with_buffers_of_one_packet() {
    for topology in irregular_networks() {
        runs_without_deadlock(&topology, 1_000_000);
    }
}

/// A19: the same paths of a ring with all pairs on one lane deadlock, on the two layers of LASH they do not.
#[test]
fn a_ring_of_six_needs_the_layers_of_lash() {
    let setup = smallest_buffers("Ring(switches: 6, hosts_per_switch: 2)", 2, 50_000);
    let layered = setup.resolve();
    let mut merged = setup.resolve();
    let mut tables = merged.routes.tables().expect("LASH makes tables").clone();
    assert_eq!(tables.guarantees.lanes_needed, 2);
    tables.path_layer = Entries::default();
    tables.guarantees.deadlock_free = false;
    let options = VerifyOptions::new(&[SlId(0)], 2);
    merged.proof = verify(&merged.layout.graph, &tables, &options).expect("well-formed");
    assert!(layered.proof.acyclic && !merged.proof.acyclic);
    assert_eq!(layered.proof.hop_histogram, merged.proof.hop_histogram);
    merged.routes = Routes::Tables(tables);
    let outcome = checked(&merged);
    assert_eq!(outcome.verdict, Verdict::Deadlocked, "{}", outcome.reason);
    assert!(
        outcome.reason.contains("wait-for cycle"),
        "{}",
        outcome.reason
    );
    let outcome = checked(&layered);
    assert_ne!(outcome.verdict, Verdict::Deadlocked, "{}", outcome.reason);
}

/// Accepted load when all that is possible is offered.
fn saturation(topology: &str, routing: &str, lanes: u8) -> f64 {
    let resolved = loaded(topology, routing, lanes, 1.0);
    let outcome = run(&resolved);
    let hosts = resolved.layout.graph.hosts().len() as f64;
    share(&outcome, 0) / hosts
}

/// Networks over which throughput is averaged.
const NETWORKS: u32 = 4;

fn mean(value: impl Fn(u32) -> f64) -> f64 {
    (1..=NETWORKS).map(value).sum::<f64>() / f64::from(NETWORKS)
}

/// A20, throughput: with as many lanes for both, LASH carries more than up*/down* routing.
///
/// Both balance their paths. Not every network agrees, and LASH that takes the lowest switch carries about as much as
/// balanced up*/down* routing.
#[test]
fn lash_carries_more_than_up_down_on_as_many_lanes() {
    const LASH: &str = "Lash(paths: Balanced)";
    for switches in [32, 64] {
        let of = |routing: &str| {
            mean(|seed| {
                let topology = published(switches, seed);
                saturation(&topology, routing, layers(&topology, LASH))
            })
        };
        let (lash, up_down) = (of(LASH), of("UpDown(passes: 10)"));
        note(&format!(
            "{switches} switches: LASH accepts {lash:.3}, up*/down* {up_down:.3}"
        ));
        assert!(lash > 1.1 * up_down, "{lash} {up_down}");
    }
}

/// A20, hops: averages over 20 networks, within 3 % of those of an independent program; its root, as here: the highest degree.
#[test]
fn up_down_makes_detours_and_lash_none() {
    for (switches, shortest, detoured) in
        [(16, 1.995, 2.032), (32, 2.585, 2.683), (64, 3.113, 3.294)]
    {
        let of = |routing: &dyn Fn(&Graph) -> String| {
            let hops = (1..=20).map(|seed| {
                let topology = published(switches, seed);
                let minimal = loaded(&topology, "Lash()", 15, 0.1);
                let routing = routing(&minimal.layout.graph);
                loaded(&topology, &routing, 15, 0.1).proof.mean_hops
            });
            hops.sum::<f64>() / 20.0
        };
        let lash = of(&|_| String::from("Lash()"));
        let up_down = of(&|graph| format!("UpDown(root: {}, passes: 10)", roots(graph)[0].0));
        note(&format!(
            "{switches} switches: LASH {lash:.3} hops, up*/down* {up_down:.3}"
        ));
        assert!(lash < up_down);
        assert_close(lash, shortest, 0.03 * shortest);
        assert_close(up_down, detoured, 0.03 * detoured);
    }
}

/// The switch of most links, and two more, each the farthest from those before it.
fn roots(graph: &Graph) -> [SwitchId; 3] {
    let first = graph
        .switch_ids()
        .max_by_key(|&switch| graph.neighbors(switch).count());
    let mut roots = [first.expect("there are switches"); 3];
    for next in 1..3 {
        let known = &roots[..next];
        let distance = |&switch: &SwitchId| {
            let hops = known
                .iter()
                .map(|&root| switch_distances(graph, root)[switch.index()]);
            hops.min()
        };
        roots[next] = graph
            .switch_ids()
            .max_by_key(distance)
            .expect("there are switches");
    }
    roots
}

/// Flits of the busiest link of a root per cycle.
fn busiest_at(roots: &[SwitchId], graph: &Graph, outcome: &Outcome) -> f64 {
    let links = graph.channel_ids().filter(|&channel| {
        let ends = graph.channel(channel);
        let (from, to) = (ends.from.switch(), ends.to.switch());
        from.is_some() && to.is_some() && roots.iter().any(|&root| [from, to].contains(&Some(root)))
    });
    let flits = links
        .map(|channel| outcome.records.channels.flits(channel))
        .max();
    flits.unwrap_or(0) as f64 / outcome.cycles.measure as f64
}

/// A21: three trees on three lanes carry more than one on the same lanes, and their roots are less busy at the same load.
#[test]
fn several_roots_carry_more_and_are_less_busy_than_one() {
    for switches in [32, 64] {
        let graph = |seed| {
            loaded(&published(switches, seed), "UpDown()", 3, 0.1)
                .layout
                .graph
        };
        let one = |seed| format!("UpDown(root: {}, passes: 10)", roots(&graph(seed))[0].0);
        let three = |seed| {
            let [a, b, c] = roots(&graph(seed)).map(|root| root.0);
            format!("UpDown(root: [{a}, {b}, {c}], trees: 3, passes: 10)")
        };
        let carried = |routing: &dyn Fn(u32) -> String| {
            mean(|seed| saturation(&published(switches, seed), &routing(seed), 3))
        };
        let busiest = |routing: &dyn Fn(u32) -> String, count: usize| {
            mean(|seed| {
                let resolved = loaded(&published(switches, seed), &routing(seed), 3, 0.15);
                let graph = &resolved.layout.graph;
                busiest_at(&roots(graph)[..count], graph, &run(&resolved))
            })
        };
        let (single, several) = (carried(&one), carried(&three));
        let (root, any_root) = (busiest(&one, 1), busiest(&three, 3));
        note(&format!(
            "{switches} switches: one root accepts {single:.3}, three {several:.3}; busiest link of a root {root:.3} and {any_root:.3}"
        ));
        assert!(several > 1.1 * single, "{several} {single}");
        assert!(any_root < 0.97 * root, "{any_root} {root}");
    }
}
