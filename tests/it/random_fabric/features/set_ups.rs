//! What a case has of routes that packets set up (D67).

use virtlane::control::set_up::{ANY_HOPS, Release, SetUp};
use virtlane::plan::Plan;
use virtlane::routing::Tables;
use virtlane::topology::{Graph, Shape};

/// How classes set up, and in what trees.
pub(crate) const SET_UPS: [&str; 16] = [
    "set-ups in plain trees",
    "set-ups in enriched trees",
    "set-ups forced",
    "set-ups free",
    "no hops",
    "few hops",
    "any hops",
    "caches without places",
    "small caches",
    "caches of any size",
    "connections of several flows",
    "release by the last packet",
    "release at once",
    "two classes that set up",
    "heavy flows set up",
    "tables with horizontal channels",
];

/// What flows whose routes are set up may have beside them, first what is seldom.
pub(crate) const BESIDE_SET_UPS: [&str; 39] = [
    "dropping of flows",
    "flows beside classes",
    "flows beside messages",
    "flows with a process",
    "slots",
    "later phases",
    "changes of limits",
    "windows",
    "control beside other flows",
    "two algorithms",
    "answers of several packets",
    "probes of others",
    "probes on VL15",
    "reservations",
    "dropping what is held",
    "dropping by a threshold",
    "dropping with VOQ",
    "VOQ",
    "input-first VOQ",
    "VL15",
    "VL tables at outputs",
    "VL tables at inputs",
    "VL tables at channels",
    "slow sinks",
    "bounded source queues",
    "output lanes",
    "output buffers",
    "random arbitration",
    "input-first",
    "several places",
    "unlimited places",
    "a pool",
    "store-and-forward",
    "InfiniBand's marking",
    "marking with hysteresis",
    "RoCE's marking",
    "rows by input",
    "lanes by input",
    "packets observed",
];

/// Names of what it has.
pub(super) fn features(plan: &Plan, graph: &Graph, tables: &Tables) -> Vec<String> {
    let classes = plan.classes.iter();
    let all: Vec<&SetUp> = classes.filter_map(|class| class.set_up()).collect();
    if all.is_empty() {
        return Vec::new();
    }
    let any = |has: fn(&SetUp) -> bool| all.iter().any(|one| has(one));
    let is_plain = matches!(graph.shape(), Shape::Tree(_));
    let connections = plan.connections();
    let connections = connections.iter().flat_map(|all| {
        let flows = 0..plan.flows.len();
        flows.filter(|&flow| all.is_later(flow))
    });
    let class = |flow: usize| &plan.classes[usize::from(plan.flows[flow].class)];
    let mut flows = 0..plan.flows.len();
    let heavy = flows.any(|flow| class(flow).set_up().is_some() && plan.flows[flow].weight > 9);
    let mut others = plan.classes.iter();
    let probes = others.any(|class| {
        let control = class.control.as_ref();
        control.is_some_and(|control| control.algorithm.probes()) && class.set_up().is_none()
    });
    let found = [
        ("set-ups in plain trees", is_plain),
        ("set-ups in enriched trees", !is_plain),
        ("set-ups forced", any(|one| !one.free)),
        ("set-ups free", any(|one| one.free)),
        ("no hops", any(|one| one.hops == 0)),
        ("few hops", any(|one| [1, 2].contains(&one.hops))),
        ("any hops", any(|one| one.hops == ANY_HOPS)),
        ("caches without places", any(|one| one.cache == 0)),
        ("small caches", any(|one| [1, 2].contains(&one.cache))),
        ("caches of any size", any(|one| one.cache == u32::MAX)),
        ("connections of several flows", connections.count() > 0),
        (
            "release by the last packet",
            any(|one| one.release == Release::LastPacket),
        ),
        ("release at once", any(|one| one.release == Release::AtOnce)),
        ("two classes that set up", all.len() > 1),
        ("heavy flows set up", heavy),
        (
            "tables with horizontal channels",
            !is_plain && go_across(graph, tables),
        ),
        ("probes of others", probes),
        ("rows by input", !tables.input_row.is_empty()),
        ("lanes by input", !tables.lanes.by_input.is_empty()),
    ];
    let found = found.into_iter().filter(|(_, is_met)| *is_met);
    found.map(|(name, _)| String::from(name)).collect()
}

/// Whether some entry of the tables leads along a chain.
fn go_across(graph: &Graph, tables: &Tables) -> bool {
    let Shape::EnrichedTree(shape) = graph.shape() else {
        return false;
    };
    graph.switch_ids().any(|at| {
        let level = shape.tree.level(at);
        graph.neighbors(at).any(|(port, channel, other)| {
            let row = tables.row(channel.reverse(), at);
            let mut hosts = graph.host_ids();
            shape.tree.level(other) == level
                && hosts.any(|host| tables.next_port(row, host) == Some(port))
        })
    })
}
