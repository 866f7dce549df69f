//! Every engine on every graph it accepts: the tables verify and the guarantees hold.

use super::graphs::{
    complete, grid, host, irregular, spine_leaf, switches, torus_with_a_failed_link, tree,
    without_link,
};
use crate::ids::SlId;
use crate::routing::entries::Entries;
use crate::routing::loads::ChannelLoads;
use crate::routing::*;

pub(in crate::routing) fn engine(text: &str) -> Box<dyn RoutingEngine> {
    let (name, _) = text.split_once('(').unwrap();
    let text = &text[name.len()..];
    let build = ENGINES.find(name).unwrap().build;
    match build(Arguments { text }).unwrap() {
        Engine::Tables(engine) => engine,
        Engine::Adaptive(engine) => panic!("{engine:?} computes no tables"),
    }
}

pub(in crate::routing) fn budget(lanes: u8) -> LaneBudget {
    LaneBudget {
        lanes,
        service_levels: 2,
    }
}

pub(in crate::routing) fn options(lanes: u8) -> VerifyOptions<'static> {
    VerifyOptions::new(&[SlId(0), SlId(1)], lanes)
}

pub(in crate::routing) fn proof(graph: &Graph, text: &str, lanes: u8) -> (Tables, Proof) {
    let tables = engine(text).route(graph, budget(lanes), 1).unwrap();
    let proof = verify(graph, &tables, &options(lanes)).unwrap();
    (tables, proof)
}

#[test]
fn names_are_sorted_and_unique() {
    let names: Vec<_> = ENGINES.names().collect();
    assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
}

/// Every engine, with the parameters that matter.
pub(in crate::routing) const ENGINE_TEXTS: [&str; 45] = [
    "FatTree()",
    "DimensionOrder()",
    "DimensionOrder(dateline: Hop)",
    "DimensionOrder(dateline: None)",
    "DimensionOrder(ties: Positive)",
    "DimensionOrder(unidirectional: true)",
    "Lash()",
    "Lash(width: 4)",
    "Lash(granularity: Source, balance: false)",
    "Lash(granularity: Destination, order: Longest)",
    "Lash(granularity: Both, order: Random)",
    "Lash(granularity: Hybrid, order: Adjacent)",
    "Lash(order: Shortest, paths: Balanced)",
    "Lash(layers: 2, escape: true)",
    "Lash(layers: 1, escape: true)",
    "MinHop()",
    "MinHop(balance: Ports)",
    "MinHop(passes: 3)",
    "SegmentRouting()",
    "SegmentRouting(search: Depth, restriction: Middle)",
    "SegmentRouting(start: Auto, placements: 2)",
    "SpanningTree()",
    "TurnProhibition()",
    "TurnProhibition(root: Auto, layers: 2)",
    "UpDown()",
    "UpDown(root: 1)",
    "UpDown(balance: Ports)",
    "UpDown(tree: Depth)",
    "UpDown(trees: 2)",
    "UpDown(root: [0, 1], trees: 2, passes: 2)",
    "UpDown(lookup: Input)",
    "UpDown(lookup: Input, tree: Depth, root: 0)",
    "Sssp()",
    "Dfsssp()",
    "Dfsssp(spread: true)",
    "OpenSmDfsssp()",
    "OpenSmDfsssp(switch_destinations: true)",
    "OpenSmDor()",
    "OpenSmFatTree()",
    "OpenSmFatTree(root: 0)",
    "OpenSmLash()",
    "OpenSmMinHop()",
    "OpenSmSssp()",
    "OpenSmTorus2Qos()",
    "OpenSmUpDown(root: 1)",
];

#[test]
#[allow(clippy::too_many_lines, reason = "mostly lists of graphs and engines")]
fn every_engine_keeps_its_promises_on_every_graph() {
    let mut graphs = vec![
        tree(2, 2),
        tree(3, 3),
        tree(2, 4),
        tree(4, 1),
        spine_leaf(3, 5, 2),
        irregular(12, 4, 5),
        irregular(30, 3, 6),
        irregular(40, 6, 7),
        complete(2),
        complete(9),
        torus_with_a_failed_link(),
        without_link(&tree(3, 3), 1),
        without_link(&grid(&[2, 2, 2, 2], false, 1), 3),
        without_link(&complete(6), 0),
    ];
    for wrap in [false, true] {
        for radix in [
            &[3][..],
            &[4],
            &[5],
            &[6],
            &[12],
            &[2, 3],
            &[2, 2, 2, 2],
            &[4, 4],
            &[5, 3],
            &[3, 4, 5],
            &[6, 1, 7],
        ] {
            graphs.push(grid(radix, wrap, 2));
        }
    }
    let mut routed = 0;
    for graph in &graphs {
        for (text, lanes) in ENGINE_TEXTS.iter().flat_map(|text| [(text, 2), (text, 4)]) {
            match engine(text).route(graph, budget(lanes), 1) {
                Err(RoutingError::Unsupported { .. }) => {}
                Err(RoutingError::TooFewLanes { needed, .. }) if needed > lanes => {}
                Err(error) => panic!("{text}: {error}"),
                Ok(tables) => {
                    let proof = verify(graph, &tables, &options(lanes)).unwrap();
                    let hosts = graph.hosts().len() as u64;
                    assert_eq!(proof.reachable_pairs, hosts * (hosts - 1), "{text}");
                    agrees_with_paths(graph, &tables, &proof, lanes);
                    routed += 1;
                }
            }
        }
    }
    assert!(routed > 2000, "{routed}");
}

/// The proof's counts against following every path on its own.
pub(in crate::routing) fn agrees_with_paths(
    graph: &Graph,
    tables: &Tables,
    proof: &Proof,
    lanes: u8,
) {
    use std::collections::BTreeSet;
    let (mut vertices, mut dependencies, mut hops) = (BTreeSet::new(), BTreeSet::new(), 0);
    let mut loads = vec![0; graph.channels().len()];
    for sl in [SlId(0), SlId(1)] {
        for source in graph.host_ids() {
            for destination in graph.host_ids().filter(|&d| d != source) {
                let path = tables.path(graph, source, destination, sl).unwrap();
                for (channel, _) in &path {
                    loads[channel.index()] += 1;
                }
                let inner = &path[1..path.len() - 1];
                assert!(path.iter().all(|(_, lane)| lane.0 < lanes));
                vertices.extend(inner.iter().copied());
                dependencies.extend(inner.windows(2).map(|w| (w[0], w[1])));
                hops += inner.len();
            }
        }
    }
    let both_levels = ChannelLoads::uniform(graph, tables).paths;
    assert!(
        both_levels
            .iter()
            .zip(&loads)
            .all(|(one, both)| 2 * one == *both)
    );
    assert_eq!(proof.vertices, vertices.len() as u64);
    assert_eq!(proof.dependencies, dependencies.len() as u64);
    let mean = hops as f64 / 2.0 / proof.reachable_pairs as f64;
    assert!((mean - proof.mean_hops).abs() < 1e-9);
}

#[test]
fn a_shared_pool_breaks_the_dateline_and_false_promises_are_found() {
    let graph = grid(&[5], true, 1);
    let (mut tables, _) = proof(&graph, "DimensionOrder(dateline: None)", 1);
    tables.guarantees.deadlock_free = true;
    let error = verify(&graph, &tables, &options(1)).unwrap_err();
    assert!(matches!(error, VerifyError::Cyclic { .. }));
    let tables = engine("DimensionOrder()")
        .route(&graph, budget(2), 1)
        .unwrap();
    let pooled = VerifyOptions {
        pool_shared: true,
        ..options(2)
    };
    assert!(!verify(&graph, &tables, &pooled).unwrap().acyclic);
}

#[test]
fn broken_tables_are_named() {
    let graph = grid(&[3], false, 1);
    let (tables, _) = proof(&graph, "MinHop()", 1);
    let broken = |change: &dyn Fn(&mut Tables)| {
        let mut tables = tables.clone();
        change(&mut tables);
        verify(&graph, &tables, &options(1))
            .unwrap_err()
            .to_string()
    };
    let no_path = "no path from S0 to H2: ";
    assert_eq!(
        broken(&|t| t.next.change(|next| next[5] = UNREACHABLE)),
        format!("{no_path}S1 has no entry")
    );
    assert_eq!(
        broken(&|t| t.next.change(|next| next[5] = 3)),
        format!("{no_path}S1 port 3 leads to H1")
    );
    assert!(
        broken(&|t| t.next.change(|next| next[5] = 2))
            .starts_with(&format!("{no_path}it loops through S"))
    );
    assert!(broken(&|t| t.lanes.profiles[0] = 1).contains("uses lane 1"));
    assert!(broken(&|t| t.hop_layer = Entries::new(&[1; 9], 3)).contains("layer 1"));
}

#[test]
fn hosts_that_cannot_meet_are_named() {
    let mut builder = crate::topology::GraphBuilder::new();
    switches(&mut builder, 2, 2);
    host(&mut builder, 0, 0, 1);
    host(&mut builder, 1, 1, 1);
    let graph = builder.build().unwrap();
    for text in ["MinHop()", "UpDown()"] {
        let error = engine(text).route(&graph, budget(1), 1).unwrap_err();
        assert_eq!(error.to_string(), "no path from S0 to H1");
    }
}
