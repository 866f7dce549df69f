//! Trees: published loads, shifts without contention, up then down, what is refused.

use super::*;
use crate::ids::HostId;
use crate::routing::loads::ChannelLoads;
use crate::routing::tests::conformance::{budget, engine, proof};
use crate::routing::tests::graphs::{grid, host, link, switches};
use crate::routing::tests::shape_conformance::graph;
use crate::topology::GraphBuilder;

/// Largest loads of uniform traffic that OpenSM 3.3.23 gave.
#[test]
fn loads_are_the_published_ones() {
    for (text, most) in [
        ("KAryNTree(k: 2, n: 3)", 6),
        ("KAryNTree(k: 3, n: 3)", 24),
        ("KAryNTree(k: 4, n: 3)", 60),
        ("KAryNTree(k: 6, n: 3)", 210),
        ("LeafSpine(leaves: 4, spines: 4, hosts_per_leaf: 4)", 12),
        (
            "LeafSpine(leaves: 18, spines: 9, hosts_per_leaf: 18, parallel_links: 2)",
            306,
        ),
    ] {
        let graph = graph(text);
        let (tables, proof) = proof(&graph, "OpenSmFatTree()", 1);
        assert!(proof.minimal && proof.acyclic, "{text}");
        assert_eq!(ChannelLoads::uniform(&graph, &tables).max(), most, "{text}");
    }
}

/// Two levels; the hosts of every leaf are given, leaves have a link to each spine.
fn leaves_and_spines(hosts: &[u32], spines: u32) -> Graph {
    let leaves = hosts.len() as u32;
    let most = hosts.iter().copied().max().unwrap();
    let mut builder = GraphBuilder::new();
    switches(&mut builder, leaves + spines, (most + spines).max(leaves));
    for leaf in 0..leaves {
        for spine in 0..spines {
            link(
                &mut builder,
                (leaf, most + spine + 1),
                (leaves + spine, leaf + 1),
            );
        }
    }
    let mut number = 0;
    for (leaf, &hosts) in (0..).zip(hosts) {
        for port in 1..=hosts {
            host(&mut builder, number, leaf, port);
            number += 1;
        }
    }
    builder.build().unwrap()
}

/// The hosts in the order in which routes to them are laid, `None` where a leaf has fewer than the fullest.
fn order(graph: &Graph) -> Vec<Option<HostId>> {
    let subnet = Subnet::new(graph);
    let leaves = tree(graph, &subnet, None).unwrap().leaves;
    let hosts = |leaf: &usize| subnet.hosts[*leaf].iter().map(|&(_, host)| Some(host));
    let most = leaves.iter().map(|leaf| hosts(leaf).count()).max().unwrap();
    let padded = |leaf| hosts(leaf).chain(std::iter::repeat(None)).take(most);
    leaves.iter().flat_map(padded).collect()
}

#[test]
fn every_shift_is_free_of_contention_with_missing_hosts_too() {
    for graph in [
        graph("KAryNTree(k: 3, n: 3)"),
        graph("KAryNTree(k: 4, n: 2)"),
        graph("Xgft(children: [4, 4, 6], parents: [1, 2, 4], parallel: [1, 2, 2])"),
        graph("LeafSpine(leaves: 6, spines: 3, hosts_per_leaf: 6, parallel_links: 2)"),
        leaves_and_spines(&[3, 3, 3, 3], 3),
        leaves_and_spines(&[3, 1, 2, 3], 3),
        leaves_and_spines(&[1, 4, 4, 2, 3], 4),
    ] {
        let (tables, _) = proof(&graph, "OpenSmFatTree()", 1);
        let order = order(&graph);
        for shift in 1..order.len() {
            let pairs = (0..order.len()).filter_map(|source| {
                Some((order[source]?, order[(source + shift) % order.len()]?))
            });
            let loads = ChannelLoads::of_pairs(&graph, &tables, pairs);
            assert!(loads.max() <= 1, "shift {shift}: {}", loads.max());
        }
    }
}

#[test]
fn unequal_trees_need_their_roots_named() {
    // a leaf without a link to the second spine
    let mut builder = GraphBuilder::new();
    switches(&mut builder, 5, 4);
    for (leaf, spine) in [(0, 3), (1, 3), (2, 3), (0, 4), (1, 4)] {
        link(&mut builder, (leaf, spine), (spine, leaf + 1));
    }
    for number in 0..3 {
        host(&mut builder, number, number, 1);
    }
    let graph = builder.build().unwrap();
    let error = engine("OpenSmFatTree()").route(&graph, budget(1), 1);
    assert_eq!(
        error.unwrap_err().to_string(),
        "OpenSmFatTree cannot route this fabric: S0 and S2 of rank 1 differ in neighbours upward: 2 and 1 (name the \
         roots to route unequal trees); use `UpDown()`, which routes any connected fabric"
    );
    let (tables, proof) = proof(&graph, "OpenSmFatTree(root: [3, 4])", 1);
    assert!(tables.guarantees.deadlock_free && proof.minimal && proof.acyclic);
}

#[test]
fn what_is_no_tree_is_refused() {
    let refused = |graph: &Graph, text: &str, reason: &str| {
        let error = engine(text).route(graph, budget(1), 1).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    };
    let no_root = "every switch is a root";
    refused(&grid(&[4], true, 1), "OpenSmFatTree()", no_root);
    refused(
        &grid(&[3, 3], false, 1),
        "OpenSmFatTree(root: 0)",
        "1 ranks from the roots",
    );
    refused(
        &leaves_and_spines(&[1], 1),
        "OpenSmFatTree()",
        "there are 2 and 1",
    );
    refused(
        &leaves_and_spines(&[2, 0], 1),
        "OpenSmFatTree()",
        "on one switch",
    );
    let graph = graph("Star(leaves: 4, hosts_per_leaf: 2)");
    refused(
        &graph,
        "OpenSmFatTree(root: 9)",
        "there is no root switch 9",
    );
}

/// Hosts on switches of one rank that are linked: routes along these links, and no promise.
#[test]
fn linked_switches_of_one_rank_are_used_and_nothing_is_promised() {
    let mut builder = GraphBuilder::new();
    switches(&mut builder, 4, 4);
    for leaf in 0..3 {
        link(&mut builder, (leaf, 2), (3, leaf + 1));
        host(&mut builder, leaf, leaf, 1);
    }
    link(&mut builder, (0, 3), (1, 3));
    let graph = builder.build().unwrap();
    let (tables, proof) = proof(&graph, "OpenSmFatTree(root: 3)", 1);
    assert!(!tables.guarantees.deadlock_free && proof.minimal);
    assert_eq!(tables.next_port(0, HostId(1)), Some(3));
    assert_eq!(tables.next_port(0, HostId(2)), Some(2));
}
