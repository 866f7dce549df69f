//! Links that differ by their kind.

use super::document;
use crate::scenario::{Parts, Resolved, print};
use crate::topology::{ChannelTiming, LinkKind};
use std::collections::BTreeSet;

const DRAGONFLY: &str = r#"
Scenario(
    fabric: (
        topology: Dragonfly(p: 2, a: 4, h: 2), flit: "64 B",
        link: (rate: "100 Gbit/s", latency: "2 cycles",
               except: [(on: Local, latency: "3 cycles"), (on: Global, latency: "100 cycles", rate: "50 Gbit/s"),
                        (on: Local, latency: "4 cycles")]),
        host_link: (latency: "1 cycles"),
        switch: (lanes: 3, lane_capacity: "32 flits"),
    ),
    routing: DragonflyMinimal(),
    traffic: [(name: "all", pattern: Uniform, process: Bernoulli(load: 0.1), size: "64 B")],
    phases: (warmup: "100 cycles", measure: "100 cycles"),
)
"#;

fn timings(resolved: &Resolved) -> BTreeSet<(Option<LinkKind>, u32, u32)> {
    let graph = &resolved.layout.graph;
    let all = graph.channels().iter().map(|channel| {
        let ChannelTiming {
            cycles_per_flit,
            latency,
        } = channel.timing;
        (LinkKind::of(graph, channel), cycles_per_flit, latency)
    });
    all.collect()
}

#[test]
fn links_of_a_kind_have_rate_and_latency_of_their_own() {
    let registered = Parts::registered();
    let resolved = document(DRAGONFLY).resolve(&registered).unwrap();
    let expected = [
        (None, 1, 1),
        (Some(LinkKind::Local), 1, 4),
        (Some(LinkKind::Global), 2, 100),
    ];
    assert_eq!(timings(&resolved), BTreeSet::from(expected));
    let printed = print::plan(&resolved, &registered);
    let again = document(&printed).resolve(&registered).unwrap();
    assert_eq!(print::plan(&again, &registered), printed);
    assert_eq!(timings(&again), timings(&resolved));
    let mut longer = document(DRAGONFLY);
    longer
        .set("fabric.link.except[1].latency=200 cycles")
        .unwrap();
    let longer = longer.resolve(&registered).unwrap();
    assert!(timings(&longer).contains(&(Some(LinkKind::Global), 2, 200)));
}

#[test]
fn kinds_that_a_topology_has_not_are_refused() {
    for (change, expected) in [
        (
            "fabric.link.except[0].on=Dimension(0)",
            "no link is of kind `Dimension(0)`: this topology has `Local`, `Global`",
        ),
        (
            "fabric.link.except[0].on=Golbal",
            "a kind of links: `Dimension(0)`, `Level(1)`, `Horizontal`, `Local` or `Global`",
        ),
        (
            "fabric.link.except[0].latency=0 cycles",
            "fabric.link.except[0].latency",
        ),
        (
            "fabric.topology=Petersen()",
            "no structure that tells links apart",
        ),
    ] {
        let mut document = document(DRAGONFLY);
        document.set(change).unwrap();
        let error = document
            .resolve(&Parts::registered())
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{change}: {error}");
    }
}
