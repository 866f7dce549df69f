//! Fabrics that lack links and do not say so.

use super::engines::routed;
use super::mixed::{Mix, mixed};
use super::{graph, holds};

#[test]
fn a_missing_link_is_told_where_it_is_the_only_completion() {
    for (form, name) in [
        ("KAryNTree(k: 3, n: 3)", "a 3-ary 3-tree"),
        (
            "LeafSpine(leaves: 6, spines: 4, hosts_per_leaf: 6)",
            "a leaf-spine network of 6 leaves and 4 spines",
        ),
        ("Torus(radix: [5, 6])", "torus"),
        ("Hypercube(dimensions: 4)", "a hypercube of 4 dimensions"),
        ("HyperX(sizes: [5, 5])", "a 5x5 HyperX"),
        ("Complete(switches: 7)", "a full mesh of 7 switches"),
        (
            "Dragonfly(p: 2, a: 4, h: 2)",
            "a dragonfly of 9 groups of 4 switches",
        ),
    ] {
        let model = graph(form);
        for seed in 0..4 {
            let fabric = mixed(&model, Mix::Drop(1), seed).recognised();
            let first = fabric.structures().first();
            let first = first.unwrap_or_else(|| panic!("{form} {seed} is not found"));
            assert!(first.name().contains(name), "{form}: {}", first.name());
            assert_eq!(first.missing().len(), 1, "{form}");
            assert!(holds(&fabric, first), "{form}");
            assert!(
                first.told().contains(" with 1 missing link (node"),
                "{}",
                first.told()
            );
        }
    }
}

/// Where switches of a kind have different numbers of links, and where a part is cut off.
#[test]
fn a_missing_link_is_found_where_surroundings_are_rare() {
    for form in [
        "Mesh(radix: [5, 4])",
        "Mesh(radix: [4, 3, 3], hosts_per_switch: 2)",
        "Mesh(radix: [12, 12])",
        "EnrichedTree(k: 3, n: 3)",
        "Dragonfly(p: 2, a: 4, h: 2, g: 5)",
        "ConcentratedMesh(radix: [6, 4], block: [2, 2])",
        "Tree(arity: 3, levels: 3)",
        "Star(leaves: 5)",
        "Xgft(children: [4, 3, 2], parents: [1, 2, 3], parallel: [1, 2, 1])",
        "KAryNFly(k: 2, n: 4)",
        "Kautz(degree: 2, k: 3)",
        "Petersen()",
    ] {
        let model = graph(form);
        let mut found = 0;
        for seed in 0..6 {
            let fabric = mixed(&model, Mix::Drop(1), seed).recognised();
            if let Some(first) = fabric.structures().first() {
                found += 1;
                assert_eq!(first.missing().len(), 1, "{form}");
                assert!(holds(&fabric, first), "{form}");
            } else {
                let why = fabric.why_irregular().expect("irregular");
                assert!(
                    why.contains("ways to put them back"),
                    "{form} {seed}: {why}"
                );
            }
        }
        assert!(found > 2, "{form}: {found}");
    }
}

/// Two missing links of a torus can be put back in one way only, unless their ends make a torus otherwise too.
#[test]
fn two_missing_links_are_found_or_nothing_is() {
    let mut found = 0;
    for form in ["Torus(radix: [5, 6])", "KAryNTree(k: 3, n: 3)"] {
        for seed in 0..8 {
            let fabric = mixed(&graph(form), Mix::Drop(2), seed).recognised();
            for structure in fabric.structures() {
                found += 1;
                assert_eq!(structure.missing().len(), 2);
                assert!(holds(&fabric, structure), "{form}");
            }
        }
    }
    assert!(found >= 12, "{found}");
}

/// Leaves and spines are known apart, so what is missing between them is, too.
#[test]
fn leaf_spine_networks_lack_as_many_links_as_a_quarter() {
    for (form, most) in [
        (
            "LeafSpine(leaves: 16, spines: 8, hosts_per_leaf: 8, parallel_links: 1)",
            32,
        ),
        (
            "LeafSpine(leaves: 6, spines: 4, hosts_per_leaf: 2, parallel_links: 3)",
            18,
        ),
    ] {
        for missing in [4, 9, most] {
            let fabric = mixed(&graph(form), Mix::Drop(missing), 3).recognised();
            let first = fabric.structures().first();
            let first = first.unwrap_or_else(|| panic!("{form} without {missing} is not found"));
            assert_eq!(first.form(), form);
            assert_eq!(first.missing().len(), missing);
            assert!(holds(&fabric, first), "{form}");
            let (_, proof) = routed(&fabric, "FatTree()").expect("another parent is there");
            assert!(proof.acyclic, "{form}");
        }
        let fabric = mixed(&graph(form), Mix::Drop(most + 1), 3).recognised();
        assert_eq!(
            fabric.why_irregular().expect("irregular"),
            "none found: it is no regular topology as it stands or with at most 3 missing links (1 where switches equally far \
             from the hosts differ in their links; a quarter of those of a leaf-spine network)"
        );
    }
}

/// Two lines of switches can be joined to a ring in two ways.
#[test]
fn several_completions_are_none() {
    let ring = graph("Ring(switches: 8)");
    let mut split = 0;
    for seed in 0..8 {
        let fabric = mixed(&ring, Mix::Drop(2), seed).recognised();
        match fabric.why_irregular() {
            Some(why) => {
                split += 1;
                assert_eq!(
                    why,
                    "none: links are missing, and 2 ways to put them back make a regular topology"
                );
            }
            // a switch that stands alone can be put back between the two ends only
            None => assert_eq!(fabric.structures()[0].missing().len(), 2),
        }
    }
    assert!(split > 2, "{split}");
}

/// The engines route what was found, around the missing link.
#[test]
fn found_fabrics_with_a_missing_link_are_routed() {
    for (form, engines) in [
        (
            "KAryNTree(k: 3, n: 3)",
            &["FatTree()", "AdaptiveAscent()"][..],
        ),
        (
            "LeafSpine(leaves: 6, spines: 4, hosts_per_leaf: 6)",
            &["FatTree()", "AdaptiveAscent()"],
        ),
        ("Torus(radix: [5, 6])", &["OpenSmTorus2Qos()"]),
    ] {
        for seed in 0..4 {
            let fabric = mixed(&graph(form), Mix::Drop(1), seed).recognised();
            for engine in engines {
                let (routes, proof) = routed(&fabric, engine)
                    .unwrap_or_else(|error| panic!("{engine} on {form}: {error}"));
                assert!(
                    proof.acyclic && proof.unreachable_pairs == 0,
                    "{engine} on {form}"
                );
                assert!(routes.guarantees().deadlock_free);
            }
        }
    }
}
