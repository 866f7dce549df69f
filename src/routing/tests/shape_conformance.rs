//! Engines that compute from coordinates, on every shape: verified, and the guarantees are neither more nor less.

use super::conformance::{agrees_with_paths, budget, engine, options, proof};
use crate::ids::{SlId, SwitchId};
use crate::routing::*;
use crate::topology::Shape;
use crate::topology::tests::{built, context};
use std::collections::VecDeque;

/// A graph of a registered topology, such as `Star(leaves: 3)`.
pub(in crate::routing) fn graph(text: &str) -> Graph {
    built(text, &context())
}

/// Small graphs of every shape, corner cases included.
const GRAPHS: &[&str] = &[
    "KAryNTree(k: 3, n: 3)",
    "KAryNTree(k: 4, n: 1)",
    "EnrichedTree(k: 3, n: 3, width: 2)",
    "EnrichedTree(k: 2, n: 4, width: 1)",
    "EnrichedTree(k: 3, n: 1)",
    "Xgft(children: [4, 3, 2], parents: [1, 2, 3], parallel: [1, 2, 1])",
    "Xgft(children: [3, 2, 2, 3], parents: [1, 2, 1, 2], parallel: [1, 1, 3, 2])",
    "Xgft(children: [2, 5], parents: [1, 7])",
    "Xgft(children: [5], parents: [1])",
    "Tree(arity: 2, levels: 3, parallel: [2, 4])",
    "Star(leaves: 4, hosts_per_leaf: 2, parallel_links: 2)",
    "LeafSpine(leaves: 6, spines: 3, hosts_per_leaf: 6, parallel_links: 2)",
    "Clos(n: 3, r: 4, form: StrictlyNonBlocking)",
    "Clos(n: 3, r: 4, form: StrictlyNonBlocking, folded: false)",
    "Hypercube(dimensions: 0, hosts_per_switch: 3)",
    "Hypercube(dimensions: 4)",
    "Hypercube(dimensions: 3, hosts_per_switch: 2)",
    "HyperX(sizes: [3, 4], multiplicity: [2, 1], hosts_per_switch: 2)",
    "HyperX(sizes: [2, 1, 3], multiplicity: [3, 1, 2], hosts_per_switch: 3)",
    "Complete(switches: 5, hosts_per_switch: 2)",
    "Ring(switches: 3)",
    "Ring(switches: 5, hosts_per_switch: 2)",
    "Mesh(radix: [4, 3], hosts_per_switch: 1)",
    "Mesh(radix: [3, 3], hosts_per_switch: 2, host_ports: LowestFree)",
    "Torus(radix: [4, 2, 3], hosts_per_switch: 2)",
    "Torus(radix: [5, 6], hosts_per_switch: 1)",
    "Dragonfly(p: 2, a: 4, h: 2)",
    "Dragonfly(p: 2, a: 4, h: 2, g: 5, arrangement: Palmtree)",
    "Dragonfly(p: 1, a: 3, h: 2, g: 3, arrangement: Absolute)",
    "Dragonfly(p: 3, a: 1, h: 4, g: 5)",
    "Dragonfly(p: 2, a: 4, h: 0, g: 1)",
];

#[test]
fn every_shape_has_its_engine_and_guarantees_are_exact() {
    let engines = [
        "FatTree()",
        "DimensionOrder()",
        "DirectionOrder()",
        "DirectionOrder(dateline: Hop)",
        "DirectionOrder(ties: Positive)",
        "DragonflyMinimal()",
    ];
    for text in GRAPHS {
        let graph = graph(text);
        let mut routed = 0;
        for name in engines {
            let mut lanes = 1;
            let tables = loop {
                match engine(name).route(&graph, budget(lanes), 1) {
                    Err(RoutingError::TooFewLanes { needed, .. }) if needed > lanes => {
                        lanes = needed;
                    }
                    Err(RoutingError::Unsupported { .. }) => break None,
                    Err(error) => panic!("{name} on {text}: {error}"),
                    Ok(tables) => break Some(tables),
                }
            };
            let Some(tables) = tables else { continue };
            routed += 1;
            let proof = verify(&graph, &tables, &options(lanes)).unwrap();
            let hosts = graph.hosts().len() as u64;
            assert_eq!(
                proof.reachable_pairs,
                hosts * (hosts - 1),
                "{name} on {text}"
            );
            assert!(proof.acyclic && tables.guarantees.in_order);
            assert_eq!(tables.guarantees.lanes_needed, lanes);
            let minimal = name.starts_with("Dragonfly") || proof.minimal;
            assert!(minimal, "{name} on {text}");
            agrees_with_paths(&graph, &tables, &proof, lanes);
        }
        assert!(routed > 0, "no engine routes {text}");
    }
}

#[test]
fn engines_say_which_shapes_they_want() {
    let message = |name: &str, text: &str| {
        let error = engine(name).route(&graph(text), budget(2), 1).unwrap_err();
        error.to_string()
    };
    assert_eq!(
        message("FatTree()", "Petersen()"),
        "FatTree cannot route this fabric: it is no fat tree as it stands or with at most 3 missing links (1 where switches \
         equally far from the hosts differ in their links; a quarter of those of a leaf-spine network); use `UpDown()`, which \
         routes any connected fabric"
    );
    assert!(message("DimensionOrder()", "KAryNTree(k: 2, n: 2)").contains("no mesh, torus, hyper"));
    assert!(
        message("DirectionOrder()", "Hypercube(dimensions: 2)")
            .contains("it is no mesh or torus; ")
    );
    assert!(message("DragonflyMinimal()", "Ring(switches: 4)").contains("it is no dragonfly; "));
    let one_way = "DimensionOrder(unidirectional: true)";
    assert!(message(one_way, "Hypercube(dimensions: 2)").contains("no rings"));
}

/// Hops from `start` over at most one global link, `[switch]`, by a search over (switch, globals used).
fn over_one_global(graph: &Graph, start: SwitchId) -> Vec<u32> {
    let Shape::Dragonfly(shape) = graph.shape() else {
        panic!("not a dragonfly");
    };
    let mut hops = vec![[u32::MAX; 2]; graph.switches().len()];
    hops[start.index()][0] = 0;
    let mut queue = VecDeque::from([(start, 0)]);
    while let Some((switch, globals)) = queue.pop_front() {
        for (_, _, next) in graph.neighbors(switch) {
            let used = globals + usize::from(shape.group(switch) != shape.group(next));
            if used < 2 && hops[next.index()][used] == u32::MAX {
                hops[next.index()][used] = hops[switch.index()][globals] + 1;
                queue.push_back((next, used));
            }
        }
    }
    hops.into_iter().map(|[none, one]| none.min(one)).collect()
}

#[test]
fn dragonflies_are_crossed_over_one_global_link_by_the_shortest_way() {
    for text in GRAPHS.iter().filter(|text| text.starts_with("Dragonfly")) {
        let graph = graph(text);
        let (tables, proof) = proof(&graph, "MIN()", 2);
        assert!(proof.max_hops <= 3 && proof.acyclic, "{text}");
        for source in graph.host_ids() {
            let (from, _) = graph.attachment(source).unwrap();
            let shortest = over_one_global(&graph, from);
            for destination in graph.host_ids().filter(|&host| host != source) {
                let (to, _) = graph.attachment(destination).unwrap();
                let path = tables.path(&graph, source, destination, SlId(0)).unwrap();
                assert_eq!(path.len() as u32 - 2, shortest[to.index()], "{text}");
            }
        }
    }
}

#[test]
fn dragonflies_need_the_second_lane() {
    let graph = graph("Dragonfly(p: 2, a: 4, h: 2)");
    let error = engine("MIN()").route(&graph, budget(1), 1).unwrap_err();
    assert!(matches!(error, RoutingError::TooFewLanes { needed: 2, .. }));
    let tables = engine("MIN()").route(&graph, budget(2), 1).unwrap();
    let pooled = VerifyOptions {
        pool_shared: true,
        ..options(2)
    };
    assert!(!verify(&graph, &tables, &pooled).unwrap().acyclic);
}
