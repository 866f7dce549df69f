//! Routes that set-ups may choose: what waits for what.

use super::conformance::{engine, options};
use super::shape_conformance::graph;
use crate::control::set_up::ANY_HOPS;
use crate::ids::SlId;
use crate::routing::*;

/// (Channel, lane) in use, steps between them, and whether nothing waits in a circle; of tables and all set-ups.
fn steps(topology: &str, hops: u32, free: bool) -> (u64, u64, bool) {
    let graph = graph(topology);
    let budget = LaneBudget {
        lanes: 1,
        service_levels: 2,
    };
    let tables = engine("FatTree()").route(&graph, budget, 1).unwrap();
    let level = SlId(0);
    let beside = Beside {
        routes: &[],
        set_ups: &[SetUpRoutes { level, hops, free }],
    };
    let proof = verify_with(&graph, &tables, &options(1), &beside).unwrap();
    (proof.vertices, proof.dependencies, proof.acyclic)
}

/// 001 T5: every way that a set-up can choose is free of deadlock on one lane; horizontal channels take part as far as hops go.
#[test]
fn routes_that_are_set_up_are_free_of_deadlock_on_one_lane() {
    // 16 channels up, each of them before 3 of the 16 down
    let tree = steps("KAryNTree(k: 4, n: 2)", 8, true);
    assert_eq!(tree, (32, 16 * 3, true));
    let enriched = "EnrichedTree(k: 4, n: 2, width: 2)";
    assert_eq!(steps(enriched, 0, false), tree);
    // one hop inwards from each of 4 switches, by 2 links
    assert_eq!(steps(enriched, 1, false).0, 32 + 8);
    for (hops, free) in [
        (2, false),
        (ANY_HOPS, false),
        (1, true),
        (3, true),
        (ANY_HOPS, true),
    ] {
        let (vertices, dependencies, acyclic) = steps(enriched, hops, free);
        assert!(acyclic, "{hops} {free}");
        assert_eq!(vertices, 32 + 12, "{hops} {free}");
        assert!(dependencies > tree.1, "{hops} {free}");
    }
    assert_eq!(steps(enriched, 3, true), steps(enriched, ANY_HOPS, true));
    assert!(steps("EnrichedTree(k: 2, n: 4, width: 3)", ANY_HOPS, true).2);
    assert!(steps("EnrichedTree(k: 3, n: 3, width: 1)", 1, false).2);
}
