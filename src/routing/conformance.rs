//! Every engine on every graph it accepts: the tables verify and the guarantees hold.

use super::dependency_graph::describe_cycle;
use super::loads::ChannelLoads;
use super::paths::Adjacency;
use super::test_graphs::{
    complete, grid, irregular, spine_leaf, torus_with_a_failed_link, tree, without_link,
};
use super::*;
use crate::ids::{HostId, SlId, SwitchId};
use std::time::Instant;

pub(super) fn engine(text: &str) -> Box<dyn RoutingEngine> {
    let (name, _) = text.split_once('(').unwrap();
    let text = &text[name.len()..];
    let build = ENGINES.find(name).unwrap().build;
    match build(Arguments { text }).unwrap() {
        Engine::Tables(engine) => engine,
        Engine::Adaptive(engine) => panic!("{engine:?} computes no tables"),
    }
}

pub(super) fn budget(lanes: u8) -> LaneBudget {
    LaneBudget {
        lanes,
        service_levels: 2,
    }
}

pub(super) fn options(lanes: u8) -> VerifyOptions<'static> {
    VerifyOptions {
        service_levels: &[SlId(0), SlId(1)],
        lanes,
        pool_shared: false,
        senders: None,
        receivers: None,
    }
}

pub(super) fn proof(graph: &Graph, text: &str, lanes: u8) -> (Tables, Proof) {
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
const ENGINE_TEXTS: [&str; 42] = [
    "FatTree()",
    "DimensionOrder()",
    "DimensionOrder(dateline: Hop)",
    "DimensionOrder(dateline: None)",
    "DimensionOrder(ties: Positive)",
    "DimensionOrder(unidirectional: true)",
    "Lash()",
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
pub(super) fn agrees_with_paths(graph: &Graph, tables: &Tables, proof: &Proof, lanes: u8) {
    use std::collections::BTreeSet;
    let (mut vertices, mut dependencies, mut hops) = (BTreeSet::new(), BTreeSet::new(), 0);
    for sl in [SlId(0), SlId(1)] {
        for source in graph.host_ids() {
            for destination in graph.host_ids().filter(|&d| d != source) {
                let path = tables.path(graph, source, destination, sl).unwrap();
                let inner = &path[1..path.len() - 1];
                assert!(path.iter().all(|(_, lane)| lane.0 < lanes));
                vertices.extend(inner.iter().copied());
                dependencies.extend(inner.windows(2).map(|w| (w[0], w[1])));
                hops += inner.len();
            }
        }
    }
    assert_eq!(proof.vertices, vertices.len() as u64);
    assert_eq!(proof.dependencies, dependencies.len() as u64);
    let mean = hops as f64 / 2.0 / proof.reachable_pairs as f64;
    assert!((mean - proof.mean_hops).abs() < 1e-9);
}

#[test]
fn uniform_loads_are_the_sum_of_all_paths() {
    let graph = grid(&[4, 4], true, 1);
    let (tables, proof) = proof(&graph, "DimensionOrder(ties: Positive)", 2);
    let loads = ChannelLoads::uniform(&graph, &tables);
    let hosts = || graph.host_ids();
    let pairs = hosts().flat_map(|s| hosts().filter(move |&d| d != s).map(move |d| (s, d)));
    assert_eq!(loads, ChannelLoads::of_pairs(&graph, &tables, pairs));
    // the published load of OpenSM's torus-2QoS on this torus
    assert_eq!(loads.max(), 12);
    let sum = proof.mean_hops * proof.reachable_pairs as f64;
    assert!((loads.mean() - sum / 64.0).abs() < 1e-9);
    let balanced = engine("DimensionOrder()")
        .route(&graph, budget(2), 1)
        .unwrap();
    assert_eq!(ChannelLoads::uniform(&graph, &balanced).max(), 8);
}

#[test]
fn the_throughput_bound_is_a_share_of_the_host_link() {
    let bound = |cycles_per_flit: u32| {
        let mut builder = crate::topology::GraphBuilder::new();
        test_graphs::switches(&mut builder, 2, 5);
        test_graphs::link(&mut builder, (0, 1), (1, 1));
        for number in 0..8 {
            let timing = crate::topology::ChannelTiming {
                cycles_per_flit,
                latency: 1,
            };
            let host = builder.add_host(format!("H{number}"), 0);
            let end =
                crate::topology::Endpoint::Switch(SwitchId(number / 4), (number % 4) as u16 + 2);
            let from = crate::topology::Endpoint::Host(host);
            builder.connect(from, end, timing).unwrap();
        }
        let graph = builder.build().unwrap();
        let (tables, _) = proof(&graph, "MinHop()", 1);
        let loads = ChannelLoads::uniform(&graph, &tables);
        assert_eq!(loads.histogram().last(), Some(&(15..=16, 2)));
        let bound = loads.throughput_bound(&graph).unwrap();
        (bound.of_host_link, bound.flits_per_cycle)
    };
    // 16 of 7 * 8 paths each way over the link between the switches
    assert_eq!(bound(1), (7.0 / 16.0, 7.0 / 16.0));
    assert_eq!(bound(2), (7.0 / 8.0, 7.0 / 16.0));
    // four times slower host links are the bottleneck themselves
    assert_eq!(bound(4), (1.0, 0.25));
}

#[test]
fn fat_tree_shifts_are_free_of_contention() {
    let graph = tree(4, 3);
    let (tables, proof) = proof(&graph, "DModK()", 1);
    assert!(proof.minimal && proof.acyclic);
    for shift in 1..64 {
        let pairs = (0..64).map(|s| (HostId(s), HostId((s + shift) % 64)));
        assert!(
            ChannelLoads::of_pairs(&graph, &tables, pairs).max() <= 1,
            "shift {shift}"
        );
    }
}

#[test]
fn the_four_ring_without_dateline_waits_in_a_circle() {
    let graph = grid(&[4], true, 1);
    let (_, none) = proof(&graph, "DimensionOrder(dateline: None)", 1);
    assert!(!none.acyclic);
    assert_eq!(
        describe_cycle(&graph, &none.cycle.unwrap()),
        "S0 port 1 -> S1 port 2, lane 0, waits for\n\
         S1 port 1 -> S2 port 2, lane 0, waits for\n\
         S2 port 1 -> S3 port 2, lane 0, waits for\n\
         S3 port 1 -> S0 port 2, lane 0, waits for the first"
    );
    for text in [
        "DimensionOrder(ties: Positive)",
        "DimensionOrder(dateline: Hop, ties: Positive)",
    ] {
        assert!(proof(&graph, text, 2).1.acyclic);
        let error = engine(text).route(&graph, budget(1), 1).unwrap_err();
        assert!(matches!(
            error,
            RoutingError::TooFewLanes {
                needed: 2,
                available: 1,
                ..
            }
        ));
    }
    // with balanced ties a ring of 4 needs no dateline, a ring of 5 does
    assert!(proof(&graph, "DimensionOrder()", 1).1.acyclic);
    let five = grid(&[5], true, 1);
    assert!(!proof(&five, "DimensionOrder(dateline: None)", 1).1.acyclic);
    assert!(
        engine("DimensionOrder()")
            .route(&five, budget(1), 1)
            .is_err()
    );
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
fn rings_used_one_way_need_the_hop_dateline() {
    for radix in [3, 4, 5, 8] {
        let graph = grid(&[radix], true, 1);
        let (_, proof) = proof(&graph, "DimensionOrder(unidirectional: true)", 2);
        assert!(proof.acyclic && !proof.minimal);
        assert_eq!(proof.max_hops, radix - 1);
    }
    let build = ENGINES.find("DimensionOrder").unwrap().build;
    let text = "(dateline: Path, unidirectional: true)";
    assert!(
        build(Arguments { text })
            .unwrap_err()
            .message
            .contains("Hop")
    );
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
        broken(&|t| t.next[5] = UNREACHABLE),
        format!("{no_path}S1 has no entry")
    );
    assert_eq!(
        broken(&|t| t.next[5] = 3),
        format!("{no_path}S1 port 3 leads to H1")
    );
    assert!(broken(&|t| t.next[5] = 2).starts_with(&format!("{no_path}it loops through S")));
    assert!(broken(&|t| t.lanes.profiles[0] = 1).contains("uses lane 1"));
    assert!(broken(&|t| t.hop_layer = vec![1; 9]).contains("layer 1"));
}

#[test]
fn up_down_uses_all_spines_and_balances_parallel_links() {
    let graph = spine_leaf(3, 5, 2);
    let (tables, proof) = proof(&graph, "UPDN(balance: Ports)", 1);
    assert!(proof.minimal && proof.acyclic);
    // the 16 remote hosts are shared by the 6 upward links of each leaf: 2 or 3 each, from 4 hosts
    let loads = ChannelLoads::uniform(&graph, &tables);
    for leaf in (3..8).map(SwitchId) {
        for (_, channel, _) in graph.neighbors(leaf) {
            assert!([8, 12].contains(&loads.paths[channel.index()]));
        }
    }
}

#[test]
fn up_down_is_acyclic_and_nearly_as_short_as_legal_paths() {
    up_down_on(100);
}

#[test]
#[ignore = "long: cargo test --release --lib up_down_on_a_thousand -- --ignored"]
fn up_down_on_a_thousand_random_fabrics() {
    up_down_on(1000);
}

/// A-14 on random fabrics of 16 to 128 switches and degree 3 to 8.
fn up_down_on(fabrics: u64) {
    let (mut taken, mut legal) = (0.0, 0.0);
    for seed in 0..fabrics {
        let size = 16 + (seed * 37 % 113) as u32;
        let graph = irregular(size, 3 + (seed % 6) as u32, seed);
        let (_, automatic) = proof(&graph, "UpDown()", 1);
        let (_, rooted) = proof(&graph, "UpDown(root: \"S0\")", 1);
        assert!(automatic.acyclic && rooted.acyclic, "seed {seed}");
        let shortest = shortest_legal(&graph);
        let (_, by_input) = proof(&graph, "UpDown(root: \"S0\", lookup: Input)", 1);
        assert!((by_input.mean_hops - shortest).abs() < 1e-9, "seed {seed}");
        taken += rooted.mean_hops;
        legal += shortest;
    }
    assert!(taken >= legal && taken < legal * 1.01, "{taken} {legal}");
}

/// Mean hops of the shortest up*/down* paths from root 0, by a search over (switch, phase).
fn shortest_legal(graph: &Graph) -> f64 {
    let rank = Adjacency::new(graph).distances(&[SwitchId(0)]);
    let (mut sum, mut pairs) = (0, 0);
    for source in graph.host_ids() {
        let (start, _) = graph.attachment(source).unwrap();
        let mut distance = vec![[u32::MAX; 2]; graph.switches().len()];
        distance[start.index()][0] = 0;
        let mut queue = std::collections::VecDeque::from([(start, 0)]);
        while let Some((switch, phase)) = queue.pop_front() {
            let here = distance[switch.index()][phase];
            for (_, _, next) in graph.neighbors(switch) {
                let key = |s: SwitchId| (rank[s.index()], s);
                let down = usize::from(key(next) > key(switch));
                if down >= phase && distance[next.index()][down] == u32::MAX {
                    distance[next.index()][down] = here + 1;
                    queue.push_back((next, down));
                }
            }
        }
        for destination in graph.host_ids().filter(|&d| d != source) {
            let (end, _) = graph.attachment(destination).unwrap();
            sum += distance[end.index()].into_iter().min().unwrap();
            pairs += 1;
        }
    }
    f64::from(sum) / f64::from(pairs)
}

#[test]
fn hosts_that_cannot_meet_are_named() {
    let mut builder = crate::topology::GraphBuilder::new();
    test_graphs::switches(&mut builder, 2, 2);
    test_graphs::host(&mut builder, 0, 0, 1);
    test_graphs::host(&mut builder, 1, 1, 1);
    let graph = builder.build().unwrap();
    for text in ["MinHop()", "UpDown()"] {
        let error = engine(text).route(&graph, budget(1), 1).unwrap_err();
        assert_eq!(error.to_string(), "no path from S0 to H1");
    }
}

#[test]
fn tables_are_dumped_as_opensm_does() {
    let graph = grid(&[2], false, 1);
    let (tables, _) = proof(&graph, "MinHop()", 1);
    let mut text = String::new();
    dump::write_lfts(&graph, &tables, &mut text).unwrap();
    let first: Vec<_> = text.lines().take(3).collect();
    assert_eq!(
        first,
        [
            "Unicast lids [0-4] of switch Lid 2 guid 0x0000000000200000 ('S0'):",
            "0x0001 003 # Channel Adapter portguid 0x0000000000100001: 'H0'",
            "0x0004 001 # Channel Adapter portguid 0x0000000000100003: 'H1'",
        ]
    );
}

#[test]
fn exported_tables_come_back_as_they_were() {
    let cases = [
        (grid(&[5, 4], true, 2), "DimensionOrder()", 8, 1),
        (grid(&[5, 4], true, 2), "OpenSmLash()", 8, 2),
        (irregular(12, 4, 5), "Dfsssp(spread: true)", 8, 2),
        (tree(3, 3), "Dfsssp()", 1, 1),
    ];
    for (graph, text, lanes, service_levels) in cases {
        let budget = LaneBudget {
            lanes,
            service_levels,
        };
        let tables = engine(text).route(&graph, budget, 1).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: String| {
            std::fs::write(folder.path().join(name), text).unwrap();
        };
        let mut texts = [const { String::new() }; 5];
        let [lfts, fdbs, sl2vl, guid2lid, path_sl] = &mut texts;
        dump::write_lfts(&graph, &tables, lfts).unwrap();
        dump::write_fdbs(&graph, &tables, fdbs).unwrap();
        dump::write_sl2vl(&graph, &tables, sl2vl).unwrap();
        dump::write_guid2lid(&graph, guid2lid).unwrap();
        dump::write_path_sl(&graph, &tables, path_sl).unwrap();
        for (name, text) in ["lfts", "fdbs", "sl2vl", "guid2lid", "path-sl"]
            .iter()
            .zip(texts)
        {
            write(name, text);
        }
        for arguments in [
            "(lfts: \"lfts\", sl2vl: \"sl2vl\", path_sl: \"path-sl\")",
            "(lfts: \"fdbs\", guid2lid: \"guid2lid\", sl2vl: \"sl2vl\", path_sl: \"path-sl\")",
        ] {
            let import = engine(&format!("TableImport{arguments}"));
            let back = import.route_from(&graph, budget, 1, folder.path()).unwrap();
            assert_eq!(back.next, tables.next, "{text}");
            for source in graph.host_ids() {
                for destination in graph.host_ids().filter(|&d| d != source) {
                    for sl in (0..service_levels).map(SlId) {
                        let path = |tables: &Tables| tables.path(&graph, source, destination, sl);
                        assert_eq!(path(&back), path(&tables), "{text} {source} {destination}");
                    }
                }
            }
        }
    }
}

#[test]
fn dumps_of_the_subnet_manager_are_taken() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/opensm/import");
    let graph = grid(&[8], true, 1);
    let text = "TableImport(lfts: \"opensm-lfts.dump\", guid2lid: \"guid2lid\", \
                sl2vl: \"opensm-sl2vl.dump\")";
    let import = engine(text);
    let budget = LaneBudget {
        lanes: 8,
        service_levels: 1,
    };
    let tables = import.route_from(&graph, budget, 1, &folder).unwrap();
    let own = engine("OpenSmMinHop()").route(&graph, budget, 1).unwrap();
    assert_eq!(tables.next, own.next);
    // the rules of the file: service level 0 is lane 0
    assert!(
        !verify(&graph, &tables, &options_of(&[SlId(0)]))
            .unwrap()
            .acyclic
    );
}

fn options_of(levels: &[SlId]) -> VerifyOptions<'_> {
    VerifyOptions {
        service_levels: levels,
        ..options(8)
    }
}

#[test]
fn a_thousand_switch_torus_and_tree_verify() {
    let (_, torus) = proof(&grid(&[10, 10, 10], true, 1), "DimensionOrder()", 2);
    assert!(torus.acyclic && torus.minimal && torus.max_hops == 15);
    let (_, tree) = proof(&tree(10, 3), "FatTree()", 1);
    assert!(tree.acyclic && tree.minimal && tree.max_hops == 4);
}

#[test]
#[ignore = "prints timings: cargo test --release --lib verification_takes -- --ignored --nocapture"]
#[allow(clippy::print_stderr, reason = "reports timings")]
fn verification_takes_little_time() {
    let cases = [
        (tree(10, 3), "FatTree()", 1),
        (grid(&[10, 10, 10], true, 1), "DimensionOrder()", 2),
        (grid(&[10, 10, 10], true, 1), "UpDown()", 1),
        (tree(16, 3), "FatTree()", 1),
        (tree(16, 3), "UpDown()", 1),
        (tree(16, 3), "MinHop()", 4),
        (tree(16, 3), "Sssp()", 4),
        (tree(16, 3), "Dfsssp()", 4),
        (tree(16, 3), "OpenSmDfsssp()", 4),
        (grid(&[5, 5, 5], true, 1), "Dfsssp()", 15),
        (grid(&[5, 5, 5], true, 1), "DimensionOrder()", 2),
    ];
    for (graph, text, lanes) in cases {
        let start = Instant::now();
        let tables = engine(text).route(&graph, budget(lanes), 1).unwrap();
        let routed = start.elapsed();
        let start = Instant::now();
        let proof = verify(&graph, &tables, &options(lanes)).unwrap();
        let verified = start.elapsed();
        let loads = ChannelLoads::uniform(&graph, &tables).max();
        let hosts = graph.hosts().len();
        eprintln!(
            "{text} {hosts} hosts: route {routed:?}, verify {verified:?}, load {loads}, {}",
            proof.mean_hops
        );
        assert!(routed.as_secs_f64() < 10.0, "{text}");
        assert!(verified.as_secs_f64() < 2.0, "{text}");
    }
    let large = grid(&[100, 100], false, 5);
    let start = Instant::now();
    engine("MinHop()").route(&large, budget(1), 1).unwrap();
    let routed = start.elapsed();
    eprintln!("MinHop() 10 000 switches, 50 000 hosts: route {routed:?}");
    assert!(routed.as_secs_f64() < 10.0);
}
