//! Routes against the rules of their policies and against published contention.

use super::link_sets::LinkSets;
use super::{Ends, FlowRoutes, POLICIES, Ways};
use crate::ids::{ChannelId, HostId, SlId};
use crate::registry::Arguments;
use crate::rng::{Purpose, below, stream};
use crate::routing::{ENGINES, Engine, LaneBudget, Tables};
use crate::topology::Graph;
use crate::topology::tests::{built, context};
use std::collections::HashSet;

fn graph(text: &str) -> Graph {
    built(text, &context())
}

fn tables(graph: &Graph) -> Tables {
    let build = ENGINES.find("FatTree").unwrap().build;
    let budget = LaneBudget {
        lanes: 1,
        service_levels: 1,
    };
    match build(Arguments { text: "" }).unwrap() {
        Engine::Tables(engine) => engine.route(graph, budget, 1).unwrap(),
        Engine::Adaptive(engine) => panic!("{engine:?}"),
    }
}

fn routed(
    graph: &Graph,
    tables: Option<&Tables>,
    policy: &str,
    flows: &[Ends],
    seed: u64,
) -> Result<FlowRoutes, String> {
    let (name, arguments) = policy.split_at(policy.find('(').unwrap());
    let policy = (POLICIES.lookup(name)?.build)(Arguments { text: arguments });
    let policy = policy.map_err(|error| error.message)?;
    let routes = policy.routes(&Ways { graph, tables }, flows, seed);
    routes.map_err(|error| error.to_string())
}

fn flow(source: u32, destination: u32) -> Ends {
    Ends {
        source: HostId(source),
        destination: HostId(destination),
        weight: 1,
        level: SlId(0),
    }
}

fn permutation(hosts: u32, seed: u64) -> Vec<Ends> {
    let mut rng = stream(seed, Purpose::Pattern, 0);
    let mut all: Vec<u32> = (0..hosts).collect();
    for last in (1..all.len()).rev() {
        all.swap(last, below(&mut rng, last as u32 + 1) as usize);
    }
    (0..hosts)
        .zip(all)
        .map(|(from, to)| flow(from, to))
        .collect()
}

/// Largest and mean contention of flows: flows over their most loaded link.
fn contention(graph: &Graph, routes: &FlowRoutes) -> (f64, f64) {
    let loads = routes.loads(graph.channels().len());
    let of_flow = |flow: usize| routes.of(flow).iter().map(|&c| loads[c as usize]).max();
    let all: Vec<f64> = (0..routes.len())
        .map(|flow| f64::from(of_flow(flow).unwrap()))
        .collect();
    (
        all.iter().copied().fold(0.0, f64::max),
        all.iter().sum::<f64>() / all.len() as f64,
    )
}

const ADAPTIVE: [&str; 8] = [
    "Ascent()",
    "Ascent(ties: Lowest)",
    "ForcedDir()",
    "ForcedDir(hops: 1, ties: Digit)",
    "ForcedDir(hops: None)",
    "FreeDir()",
    "FreeDir(hops: 2)",
    "FreeDir(hops: None, ties: Lowest)",
];

/// Routes join, end where they should, visit no switch twice, and go up, then level by level across and down.
#[test]
fn adaptive_routes_follow_the_order_of_the_links() {
    for tree in [
        "EnrichedTree(k: 3, n: 3, width: 2)",
        "EnrichedTree(k: 2, n: 4, width: 1)",
        "EnrichedTree(k: 3, n: 1)",
    ] {
        let graph = graph(tree);
        let sets = LinkSets::new(&graph);
        let rank = |channel: u32| {
            let name = &sets.names[usize::from(sets.of_channel[channel as usize])];
            match name.split_once(' ').unwrap() {
                ("from", _) => -20,
                ("up", levels) => -levels[..1].parse::<i32>().unwrap(),
                ("across", level) => 2 * level.parse::<i32>().unwrap() + 1,
                ("down", levels) => 2 * levels[..1].parse::<i32>().unwrap() + 2,
                _ => 20,
            }
        };
        let hosts = graph.hosts().len() as u32;
        let mut flows = permutation(hosts, 1);
        flows.extend(permutation(hosts, 2));
        for policy in ADAPTIVE {
            let routes = routed(&graph, None, policy, &flows, 3).unwrap();
            for (number, flow) in flows.iter().enumerate() {
                let route = routes.of(number);
                let channels: Vec<_> = route.iter().map(|&c| graph.channel(ChannelId(c))).collect();
                assert_eq!(channels[0].from.host(), Some(flow.source));
                assert_eq!(channels[route.len() - 1].to.host(), Some(flow.destination));
                assert!(
                    channels
                        .windows(2)
                        .all(|pair| pair[0].to.switch() == pair[1].from.switch())
                );
                assert!(route.is_sorted_by_key(|&c| rank(c)), "{tree} {policy}");
                let visited: HashSet<_> = channels.iter().filter_map(|c| c.to.switch()).collect();
                assert_eq!(visited.len(), route.len() - 1, "{tree} {policy}");
            }
        }
    }
}

/// R7.
#[test]
fn without_hops_all_adaptive_policies_are_the_ascent() {
    let graph = graph("EnrichedTree(k: 4, n: 3, width: 2)");
    let flows = permutation(64, 5);
    let route = |policy| routed(&graph, None, policy, &flows, 9).unwrap();
    let ascent = route("Ascent()");
    assert_eq!(route("ForcedDir(hops: 0)"), ascent);
    assert_eq!(route("FreeDir(hops: 0)"), ascent);
    assert_ne!(route("FreeDir(hops: 1)"), ascent);
    assert_ne!(
        routed(&graph, None, "Ascent()", &flows, 10).unwrap(),
        ascent
    );
}

/// M6: a flow leaves its chain switch for strictly fewer flows only, and keeps its direction.
#[test]
fn ties_go_down_and_directions_are_kept() {
    let graph = graph("EnrichedTree(k: 2, n: 2, width: 1)");
    let across = |flows: &[Ends]| {
        let sets = LinkSets::new(&graph);
        let routes = routed(&graph, None, "ForcedDir()", flows, 1).unwrap();
        let of = |flow| {
            routes
                .of(flow)
                .iter()
                .map(|&c| sets.names[usize::from(sets.of_channel[c as usize])].clone())
        };
        let all = (0..flows.len()).flat_map(of);
        all.filter(|name| name.starts_with("across")).count()
    };
    // two flows take the two roots, and their ways down are free
    assert_eq!(across(&[flow(0, 2)]), 0);
    assert_eq!(across(&[flow(0, 2), flow(1, 3)]), 0);
    // the third finds a flow on its way down and none on the link to the other root, where it has to go down
    assert_eq!(across(&[flow(0, 2), flow(1, 3), flow(0, 3)]), 1);
}

/// 31: static routes are the same with horizontal links and without; they are those of the tables.
#[test]
fn static_routes_use_no_horizontal_link() {
    let loads = |text: &str| {
        let graph = graph(text);
        let tables = tables(&graph);
        let flows = permutation(64, 2);
        let routes = routed(&graph, Some(&tables), "Static()", &flows, 1).unwrap();
        let path = tables
            .path(&graph, HostId(5), flows[5].destination, SlId(0))
            .unwrap();
        let path: Vec<u32> = path.iter().map(|(channel, _)| channel.0).collect();
        assert_eq!(routes.of(5), path);
        let lengths: Vec<usize> = (0..64).map(|flow| routes.of(flow).len()).collect();
        (contention(&graph, &routes), lengths)
    };
    assert_eq!(
        loads("KAryNTree(k: 4, n: 3)"),
        loads("EnrichedTree(k: 4, n: 3, width: 2)")
    );
}

#[test]
fn fabrics_that_do_not_fit_are_refused() {
    let refused = |fabric: &str, policy: &str| {
        routed(&graph(fabric), None, policy, &[flow(0, 1)], 1).unwrap_err()
    };
    let message = refused("KAryNTree(k: 2, n: 2)", "ForcedDir()");
    assert!(message.contains("needs an enriched tree"), "{message}");
    let message = refused("Ring(switches: 4)", "Ascent()");
    assert!(message.contains("Ascent needs a k-ary n-tree"), "{message}");
    let message = refused("KAryNTree(k: 2, n: 2)", "Static()");
    assert!(message.contains("no forwarding tables"), "{message}");
    let message = refused("KAryNTree(k: 2, n: 2)", "Ascend()");
    assert!(message.contains("did you mean `Ascent`"), "{message}");
    let message = refused("KAryNTree(k: 2, n: 2)", "Ascent(hops: 1)");
    assert!(message.contains("unknown parameter `hops`"), "{message}");
}

/// Largest and mean contention, means over some permutations.
fn mean_contention(
    graph: &Graph,
    tables: Option<&Tables>,
    policy: &str,
    permutations: u64,
) -> (f64, f64) {
    let hosts = graph.hosts().len() as u32;
    let runs = (0..permutations).map(|seed| {
        let flows = permutation(hosts, seed);
        contention(graph, &routed(graph, tables, policy, &flows, seed).unwrap())
    });
    let (max, mean) = runs.fold((0.0, 0.0), |sum, run| (sum.0 + run.0, sum.1 + run.1));
    (max / permutations as f64, mean / permutations as f64)
}

/// R4: radix 12, heights 2 to 4.
#[test]
fn horizontal_links_gain_more_in_higher_trees() {
    let mut before = (0.0, 0.0);
    for (height, permutations) in [(2, 300), (3, 20), (4, 8)] {
        let graph = graph(&format!("EnrichedTree(k: 12, n: {height}, width: 2)"));
        let tables = tables(&graph);
        let found = |policy| mean_contention(&graph, Some(&tables), policy, permutations);
        let (plain, adaptive) = (found("Static()"), found("ForcedDir(hops: None)"));
        let gain = (1.0 - adaptive.0 / plain.0, 1.0 - adaptive.1 / plain.1);
        assert!(gain.0 > before.0 && gain.1 > before.1, "{height}: {gain:?}");
        assert!((0.4..=0.58).contains(&gain.0), "{height}: {gain:?}");
        before = gain;
    }
}

/// R1, R2, T4 on a few permutations: largest and mean contention as in the calibration of the studies.
#[test]
fn contention_of_the_16_ary_3_tree_is_the_published_one() {
    let graph = graph("EnrichedTree(k: 16, n: 3, width: 2)");
    let tables = tables(&graph);
    for (policy, (max, average)) in [
        ("Static()", (6.0, 2.333)),
        ("Ascent()", (6.0, 2.337)),
        ("ForcedDir(hops: None)", (3.0, 1.866)),
        ("ForcedDir(hops: 8)", (3.0, 1.866)),
        ("ForcedDir(hops: 1)", (4.57, 1.93)),
        ("FreeDir(hops: 1)", (4.57, 1.87)),
    ] {
        let found = mean_contention(&graph, Some(&tables), policy, 4);
        assert!((found.0 - max).abs() <= 0.5, "{policy}: {found:?}");
        assert!((found.1 - average).abs() <= 0.03, "{policy}: {found:?}");
    }
}
