//! Engines on fabrics whose structure was found: the routes of the generated one, in the fabric's own numbers.

use super::mixed::{Mix, mixed};
use super::{dice, graph, number};
use crate::engines_by_topologies::prove;
use std::path::Path;
use virtlane::ids::{LinkId, SlId};
use virtlane::registry::Arguments;
use virtlane::routing::{ENGINES, LaneBudget, Proof, Routes, RoutingError, VerifyOptions};
use virtlane::topology::faults::{Failing, FaultPlan, apply};
use virtlane::topology::{Endpoint, Graph};

/// Routes and their proof, on 8 lanes.
pub(super) fn routed(graph: &Graph, engine: &str) -> Result<(Routes, Proof), RoutingError> {
    let (name, text) = engine.split_at(engine.find('(').expect("arguments"));
    let entry = ENGINES.find(name).expect("registered");
    let built = (entry.build)(Arguments { text }).expect("arguments fit");
    let budget = LaneBudget {
        lanes: 8,
        service_levels: 1,
    };
    let routes = built.route(graph, budget, 1, Path::new(""))?;
    let options = VerifyOptions::new(&[SlId(0)], budget.lanes);
    let proof = prove(graph, &routes, &options);
    let proof = proof.unwrap_or_else(|error| panic!("{engine}: {error}"));
    Ok((routes, proof))
}

/// Paths over every channel between switches, sorted.
fn loads(graph: &Graph, routes: &Routes) -> Vec<u32> {
    let mut loads = vec![0; graph.channels().len()];
    let Some(tables) = routes.tables() else {
        return Vec::new();
    };
    for source in graph.host_ids() {
        for destination in graph.host_ids().filter(|&host| host != source) {
            let path = tables
                .path(graph, source, destination, SlId(0))
                .expect("a path");
            for (channel, _) in path {
                loads[channel.index()] += 1;
            }
        }
    }
    loads.sort_unstable();
    loads
}

/// Trees, and engines that route them, whole or with a missing link.
const TREES: &[(&str, &[&str])] = &[
    (
        "KAryNTree(k: 3, n: 3)",
        &[
            "FatTree()",
            "FatTree(lanes: Any)",
            "AdaptiveAscent()",
            "MinimalAdaptive()",
        ],
    ),
    (
        "Xgft(children: [4, 3, 2], parents: [1, 2, 3], parallel: [1, 2, 1])",
        &["FatTree()", "AdaptiveAscent()"],
    ),
    (
        "EnrichedTree(k: 3, n: 3)",
        &["FatTree()", "AdaptiveAscent()"],
    ),
    (
        "LeafSpine(leaves: 5, spines: 3, hosts_per_leaf: 4, parallel_links: 2)",
        &["FatTree()", "AdaptiveAscent()"],
    ),
];

/// Other topologies, and engines made for them.
const ROUTED: &[(&str, &[&str])] = &[
    (
        "Torus(radix: [5, 6])",
        &[
            "DimensionOrder()",
            "DirectionOrder()",
            "XyYx()",
            "Goal()",
            "Cqr()",
            "Romm()",
            "Valiant()",
            "MinimalAdaptive()",
        ],
    ),
    ("Torus(radix: [5, 2, 3])", &["DimensionOrder()", "XyYx()"]),
    (
        "Mesh(radix: [5, 4])",
        &["DimensionOrder()", "PlanarAdaptive()", "XyYx()"],
    ),
    (
        "Hypercube(dimensions: 5)",
        &[
            "DimensionOrder()",
            "PlanarAdaptive()",
            "Romm()",
            "MinimalAdaptive()",
        ],
    ),
    (
        "HyperX(sizes: [3, 4], multiplicity: [2, 1])",
        &["DimensionOrder()", "Ugal()", "Valiant()"],
    ),
    (
        "ConcentratedMesh(radix: [6, 4], block: [2, 2])",
        &["DimensionOrder()"],
    ),
    (
        "Dragonfly(p: 2, a: 4, h: 2)",
        &["DragonflyMinimal()", "Ugal()"],
    ),
    ("KAryNFly(k: 2, n: 4)", &["DestinationTag()"]),
    ("KAryNFly(k: 3, n: 2)", &["DestinationTag()"]),
];

#[test]
fn routes_are_those_of_the_generated_fabric() {
    for &(form, engines) in TREES.iter().chain(ROUTED) {
        let model = graph(form);
        let fabric = mixed(&model, Mix::All, 9).recognised();
        for engine in engines {
            let (found, proof) = routed(&fabric, engine)
                .unwrap_or_else(|error| panic!("{engine} on {form}: {error}"));
            // with its dimensions in the order that was found
            let model = graph(fabric.structures()[0].form());
            let (known, proved) = routed(&model, engine).expect("routes");
            assert_eq!(
                loads(&fabric, &found),
                loads(&model, &known),
                "{engine} on {form}"
            );
            let facts = |proof: &Proof| {
                let pairs = (proof.reachable_pairs, proof.hop_histogram.clone());
                (
                    proof.acyclic,
                    proof.minimal,
                    proof.max_hops,
                    proof.dependencies,
                    pairs,
                )
            };
            assert_eq!(facts(&proof), facts(&proved), "{engine} on {form}");
            assert_eq!(found.guarantees(), known.guarantees());
        }
    }
}

/// A graph without one of its links, built with its shape.
fn without(graph: &Graph, link: usize) -> Graph {
    let plan = FaultPlan {
        switches: Failing::Count(0),
        links: Failing::List(vec![LinkId::from(link)]),
        keep_connected: true,
        seed: 1,
    };
    apply(graph, &plan).expect("not cut").graph
}

/// Any link may fail, and the ways around it are proved.
#[test]
fn tolerant_engines_go_around_a_missing_link() {
    let tori: [(&str, &[&str]); 2] = [
        ("Torus(radix: [5, 6])", &["OpenSmTorus2Qos()", "Valiant()"]),
        ("Torus(radix: [4, 3, 3])", &["OpenSmTorus2Qos()"]),
    ];
    for &(form, engines) in TREES.iter().chain(&tori) {
        let model = graph(form);
        let pairs = (model.hosts().len() * (model.hosts().len() - 1)) as u64;
        for link in 0..model.link_count() {
            if model
                .link_ends(LinkId::from(link))
                .iter()
                .any(|end| end.switch().is_none())
            {
                continue;
            }
            let rest = without(&model, link);
            for engine in engines {
                let (routes, proof) = routed(&rest, engine)
                    .unwrap_or_else(|error| panic!("{engine} on {form}: {error}"));
                assert_eq!(proof.reachable_pairs, pairs, "{engine} on {form}");
                assert!(
                    proof.acyclic || !routes.guarantees().deadlock_free,
                    "{engine} on {form}"
                );
            }
        }
    }
}

/// Several failed links in one tree, and one in each of several rings.
#[test]
fn several_missing_links_are_gone_around() {
    let plan = |seed, links| FaultPlan {
        switches: Failing::Count(0),
        links: Failing::Count(links),
        keep_connected: true,
        seed,
    };
    let mut routes = 0;
    let tree = graph("KAryNTree(k: 4, n: 3)");
    for seed in 0..8 {
        let rest = apply(&tree, &plan(seed, 12)).expect("not cut").graph;
        for engine in ["FatTree()", "AdaptiveAscent()"] {
            match routed(&rest, engine) {
                Ok((_, proof)) => {
                    routes += 1;
                    assert!(proof.acyclic);
                }
                Err(error) => assert!(
                    error.to_string().contains("no way up and then down"),
                    "{error}"
                ),
            }
        }
    }
    assert!(routes > 8, "{routes}");
    let torus = graph("Torus(radix: [6, 5])");
    let mut rng = dice(4);
    for _ in 0..6 {
        // ring number y of dimension 0, and ring number x of dimension 1
        let mut links = Vec::new();
        for y in 0..5 {
            let x = number(&mut rng, 6);
            let here = virtlane::ids::SwitchId::from(x + 6 * y);
            links.push(torus.port_channel(here, 1).expect("linked").link());
        }
        let here = virtlane::ids::SwitchId::from(number(&mut rng, 30));
        links.push(torus.port_channel(here, 3).expect("linked").link());
        let all = FaultPlan {
            links: Failing::List(links),
            ..plan(1, 0)
        };
        let rest = apply(&torus, &all).expect("not cut").graph;
        let (_, proof) = routed(&rest, "OpenSmTorus2Qos()").expect("routes");
        assert!(proof.acyclic && !proof.minimal);
    }
}

/// Who needs what is missing says what the fabric is.
#[test]
fn refusals_say_what_is_missing() {
    let refusal = |graph: &Graph, engine| routed(graph, engine).expect_err("refused").to_string();
    let torus = graph("Torus(radix: [4, 5])");
    let rest = without(&torus, 0);
    assert_eq!(
        refusal(&rest, "DimensionOrder()"),
        "DimensionOrder cannot route this fabric: it is a 4x5 torus with 1 missing link (S0.0 - S1.0); dimension order needs \
         all links; use `UpDown()`, which routes any connected fabric"
    );
    assert!(refusal(&rest, "Goal()").contains("it is a 4x5 torus with 1 missing link"));
    let two = without(&rest, 3);
    assert!(
        refusal(&two, "DimensionOrder()")
            .contains("it is a 4x5 torus with 2 missing links (S0.0 - S1.0, ")
    );
    let dragonfly = graph("Dragonfly(p: 2, a: 4, h: 2)");
    let global = dragonfly.link_count() - 1;
    for (link, what) in [
        (global, "no link is left between the group of"),
        (72, "no link is left within a group from"),
    ] {
        for engine in ["DragonflyMinimal()", "Ugal()"] {
            let text = refusal(&without(&dragonfly, link), engine);
            assert!(
                text.contains("it is a dragonfly of 9 groups of 4 switches with 1 missing link"),
                "{text}"
            );
            assert!(text.contains(what), "{text}");
        }
    }
    let plan = FaultPlan {
        switches: Failing::List(vec![virtlane::ids::SwitchId(0)]),
        links: Failing::Count(0),
        keep_connected: true,
        seed: 1,
    };
    let rest = apply(&graph("KAryNTree(k: 3, n: 2)"), &plan)
        .expect("not cut")
        .graph;
    assert!(
        refusal(&rest, "FatTree()")
            .contains("it is a 3-ary 2-tree with 1 missing switch; only links")
    );
}

/// Between groups with several links, others take over.
#[test]
fn dragonflies_use_the_other_links_between_groups() {
    let model = graph("Dragonfly(p: 1, a: 4, h: 2, g: 3)");
    let shape = |link| {
        let ends = model.link_ends(LinkId::from(link)).map(Endpoint::switch);
        matches!(ends, [Some(a), Some(b)] if a.0 / 4 != b.0 / 4)
    };
    let global: Vec<usize> = (0..model.link_count())
        .filter(|&link| shape(link))
        .collect();
    assert_eq!(global.len(), 12);
    for link in global {
        for engine in ["DragonflyMinimal()", "Ugal()"] {
            let (_, proof) = routed(&without(&model, link), engine).expect("routes");
            assert!(proof.acyclic);
        }
    }
}
