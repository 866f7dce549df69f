//! Time that routing and proof take on large fabrics.

use super::conformance::{budget, engine, options, proof};
use super::graphs::{grid, tree};
use crate::routing::loads::ChannelLoads;
use crate::routing::verify;
use std::time::Instant;

#[test]
fn a_thousand_switch_torus_and_tree_verify() {
    let (_, torus) = proof(&grid(&[10, 10, 10], true, 1), "DimensionOrder()", 2);
    assert!(torus.acyclic && torus.minimal && torus.max_hops == 15);
    let (_, tree) = proof(&tree(10, 3), "FatTree()", 1);
    assert!(tree.acyclic && tree.minimal && tree.max_hops == 4);
}

#[test]
#[ignore = "release, 10 seconds: prints times of routing and proof; scripts/on_demand.sh large_fabrics_keep_their_promises"]
#[allow(clippy::print_stderr, reason = "reports timings")]
fn large_fabrics_keep_their_promises() {
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
        let promised = tables.guarantees;
        assert!(proof.acyclic || !promised.deadlock_free, "{text}");
        assert!(proof.minimal || !promised.minimal, "{text}");
    }
    let large = grid(&[100, 100], false, 5);
    let start = Instant::now();
    engine("MinHop()").route(&large, budget(1), 1).unwrap();
    let routed = start.elapsed();
    eprintln!("MinHop() 10 000 switches, 50 000 hosts: route {routed:?}");
}
