//! One packet in an empty fabric: its latency is the closed form of its path, on every topology.

use super::{deliveries_of, scenario};
use crate::random_fabric::{Saturating, ToOne};
use std::path::Path;
use std::sync::Arc;
use virtlane::ids::{HostId, SlId};
use virtlane::plan::Plan;
use virtlane::plan::{Forwarding, SwitchOptions};
use virtlane::routing::{Routes, Tables};
use virtlane::scenario::{Document, Parts, Resolved};
use virtlane::topology::{Graph, TOPOLOGIES};
use virtlane::traffic::SizeDistribution;

/// Fabrics, at least one for each registered topology: (topology, routing, lanes).
const FABRICS: &[(&str, &str, u8)] = &[
    ("KAryNTree(k: 3, n: 3)", "FatTree()", 1),
    ("KAryNFly(k: 2, n: 3)", "DestinationTag()", 1),
    ("KAryNFly(k: 3, n: 2)", "DestinationTag()", 1),
    (
        "ConcentratedMesh(radix: [4, 4], block: [1, 2], express_length: 3)",
        "DimensionOrder()",
        1,
    ),
    (
        "Mesh(radix: [4, 3], hosts_per_switch: 2)",
        "DimensionOrder()",
        1,
    ),
    ("Torus(radix: [5, 4])", "DimensionOrder()", 2),
    (
        "Irregular(switches: 9, degree: 3, hosts_per_switch: 2)",
        "UpDown()",
        1,
    ),
    ("Clos(n: 2, r: 3)", "MinHop()", 1),
    ("Complete(switches: 4, hosts_per_switch: 2)", "MinHop()", 1),
    ("Dragonfly(p: 1, a: 2, h: 2)", "UpDown()", 1),
    ("EnrichedTree(k: 2, n: 3)", "MinHop()", 1),
    (
        "GraphMl(file: \"tests/networks/petersen.graphml\", hosts_per_switch: 1)",
        "UpDown()",
        1,
    ),
    (
        "HyperX(sizes: [3, 2], multiplicity: [1, 2], hosts_per_switch: 2)",
        "UpDown()",
        1,
    ),
    ("Hypercube(dimensions: 3)", "UpDown()", 1),
    (
        "Ibsim(file: \"tests/opensm/ring_8/ring_8.net\")",
        "UpDown()",
        1,
    ),
    ("Kautz(degree: 2, k: 1)", "UpDown()", 1),
    (
        "LeafSpine(leaves: 3, spines: 2, hosts_per_leaf: 2, parallel_links: 2)",
        "MinHop()",
        1,
    ),
    ("Petersen()", "UpDown()", 1),
    ("Ring(switches: 5)", "UpDown()", 1),
    ("Star(leaves: 3, hosts_per_leaf: 2)", "MinHop()", 1),
    ("Tree(arity: 2, levels: 3)", "MinHop()", 1),
    (
        "Xgft(children: [2, 2, 2], parents: [1, 2, 1], parallel: [1, 1, 2])",
        "MinHop()",
        1,
    ),
    // slower, faster, slower, and different ways back
    (
        "EdgeList(links: [(0, 1, \"20 Gbit/s\"), (1, 2, \"40 Gbit/s\", \"50 ns\"), \
         (2, 3, \"10 Gbit/s\"), (3, 4, \"40 Gbit/s\", \"40 ns\", \"/\", \"20 Gbit/s\", \"80 ns\")], \
         hosts: [(\"a\", 0, \"10 Gbit/s\"), (\"b\", 0, \"40 Gbit/s\"), 1, 2, 3, \
         (\"c\", 4, \"10 Gbit/s\"), (\"d\", 4, \"40 Gbit/s\")])",
        "UpDown()",
        1,
    ),
    (
        "Ibnetdiscover(file: \"assets/fabrics/psmn_x5.ibnetdiscover\")",
        "UpDown()",
        1,
    ),
];

fn fabric((topology, routing, lanes): (&str, &str, u8)) -> Resolved {
    let text = format!(
        "Scenario(
            fabric: (
                topology: {topology},
                link: (rate: \"40 Gbit/s\", latency: \"60 ns\"),
                switch: (lanes: {lanes}, lane_capacity: \"32 flits\"),
            ),
            routing: {routing},
            traffic: [(name: \"one\", pattern: Uniform, process: Saturating, size: \"1 flits\")],
            phases: (warmup: \"0 cycles\", measure: \"1 cycles\"),
        )"
    );
    let document = Document::parse("fabric.ron", &text, Path::new("")).expect("well-formed");
    let resolved = document.resolve(&Parts::registered());
    resolved.unwrap_or_else(|error| panic!("{topology}: {error}"))
}

/// Start on the first channel to arrival of the tail, from the path alone.
///
/// Every channel adds its latency, every switch its delays. The flits behind the header follow at the pace
/// of the last channel. Cut-through: a switch with a faster way out waits until no flit can run dry;
/// where rates only fall or only rise along the path, header and body together cost (n - 1) times the largest
/// step. Store-and-forward: every switch waits for the tail.
fn closed_form(
    graph: &Graph,
    tables: &Tables,
    switch: &SwitchOptions,
    (source, destination): (HostId, HostId),
    flits: u64,
) -> u64 {
    let path = tables.path(graph, source, destination, SlId(0));
    let path = path.expect("connected");
    let timings: Vec<_> = path
        .iter()
        .map(|&(channel, _)| graph.channel(channel).timing)
        .collect();
    let step = |hop: usize| u64::from(timings[hop].cycles_per_flit);
    let last = timings.len() - 1;
    let delay = u64::from(switch.routing_delay + switch.allocation_delay + switch.crossbar_delay);
    let waits: u64 = (0..last)
        .map(|hop| match switch.forwarding {
            Forwarding::CutThrough => step(hop).saturating_sub(step(hop + 1)),
            Forwarding::StoreAndForward => step(hop),
            Forwarding::Wormhole => unreachable!("none is drawn here"),
        })
        .sum();
    let flight: u64 = timings.iter().map(|timing| u64::from(timing.latency)).sum();
    let steps: Vec<_> = (0..=last).map(step).collect();
    if switch.forwarding == Forwarding::CutThrough
        && (steps.is_sorted() || steps.is_sorted_by(|a, b| a >= b))
    {
        assert_eq!(waits + step(last), steps.into_iter().max().expect("a path"));
    }
    flight + last as u64 * delay + (flits - 1) * (waits + step(last))
}

/// Network latency of one packet in the empty fabric, at most `cycles`.
fn measured(graph: &Graph, routes: &Routes, plan: &Plan, cycles: u64) -> u64 {
    let deliveries = deliveries_of(plan, graph, routes, cycles);
    let [delivery] = deliveries[..] else {
        panic!("{} deliveries", deliveries.len());
    };
    assert_eq!((delivery.created, delivery.injected), (0, 0));
    delivery.delivered
}

/// Up to 30 pairs of different hosts, spread over the fabric.
fn pairs(hosts: u32) -> Vec<(HostId, HostId)> {
    let all = (0..hosts).flat_map(|a| (0..hosts).map(move |b| (a, b)));
    let all: Vec<_> = all.filter(|(a, b)| a != b).collect();
    let stride = (all.len() / 30).max(1) | 1;
    all.into_iter()
        .step_by(stride)
        .map(|(a, b)| (HostId(a), HostId(b)))
        .collect()
}

fn check(resolved: &Resolved) {
    let graph = &resolved.layout.graph;
    for (source, destination) in pairs(graph.hosts().len() as u32) {
        for flits in [1, 32] {
            for forwarding in [Forwarding::CutThrough, Forwarding::StoreAndForward] {
                for (allocation_delay, crossbar_delay, output_lane_buffer) in
                    [(0, 0, 0), (2, 3, 0), (0, 0, 5), (2, 3, 2), (2, 3, 40)]
                {
                    let mut plan = resolved.plan.clone();
                    plan.switch.forwarding = forwarding;
                    plan.switch.allocation_delay = allocation_delay;
                    plan.switch.crossbar_delay = crossbar_delay;
                    plan.switch.output_lane_buffer = output_lane_buffer;
                    let class = &mut plan.classes[0];
                    class.hosts = vec![source];
                    class.pattern = Arc::new(ToOne(destination));
                    class.process = Arc::new(Saturating);
                    class.other_processes.clear();
                    class.size = SizeDistribution::fixed(flits);
                    class.packets_per_host = Some(1);
                    let expected = closed_form(
                        graph,
                        resolved
                            .routes
                            .tables()
                            .expect("the scenarios route by tables"),
                        &plan.switch,
                        (source, destination),
                        u64::from(flits),
                    );
                    assert_eq!(
                        measured(graph, &resolved.routes, &plan, 20_000),
                        expected,
                        "{} to {destination:?} from {source:?}: {flits} flits, {forwarding:?}",
                        resolved.plan.title
                    );
                }
            }
        }
    }
}

#[test]
fn latency_is_the_closed_form_on_every_topology() {
    for topology in TOPOLOGIES.names() {
        let covered = FABRICS
            .iter()
            .any(|(text, ..)| text.starts_with(&format!("{topology}(")));
        assert!(covered, "{topology} has no zero-load fabric");
    }
    for &choice in FABRICS {
        check(&fabric(choice));
    }
}

#[test]
fn latency_is_the_closed_form_with_fdr10_between_qdr() {
    check(&scenario("fabrics/loginoff_8sw.ron", &[]));
}

/// Seed 004, C1: every pair of the 8x8 mesh, packets of 16 flits; H hops are H + 1 switches and H + 2 links.
#[test]
fn every_pair_of_the_8x8_mesh_takes_the_closed_form() {
    let resolved = fabric(("Mesh(radix: [8, 8])", "DimensionOrder()", 1));
    let mut plan = resolved.plan.clone();
    let timing = resolved.layout.graph.channels()[0].timing;
    let (link, tail) = (u64::from(timing.latency), 15);
    for (source, destination) in (0..64).flat_map(|a| (0..64).map(move |b| (a, b))) {
        if source == destination {
            continue;
        }
        let distance = |a: u32, b: u32| u64::from(a.abs_diff(b));
        let hops = distance(source % 8, destination % 8) + distance(source / 8, destination / 8);
        for forwarding in [Forwarding::CutThrough, Forwarding::StoreAndForward] {
            plan.switch.forwarding = forwarding;
            let class = &mut plan.classes[0];
            class.hosts = vec![HostId(source)];
            class.pattern = Arc::new(ToOne(HostId(destination)));
            class.process = Arc::new(Saturating);
            class.size = SizeDistribution::fixed(16);
            class.packets_per_host = Some(1);
            let stored = match forwarding {
                Forwarding::CutThrough | Forwarding::Wormhole => 0,
                Forwarding::StoreAndForward => (hops + 1) * tail,
            };
            let delay = u64::from(plan.switch.routing_delay);
            let expected = (hops + 2) * link + (hops + 1) * delay + tail + stored;
            let found = measured(&resolved.layout.graph, &resolved.routes, &plan, 500);
            assert_eq!(found, expected, "{source} to {destination}, {forwarding:?}");
        }
    }
}
