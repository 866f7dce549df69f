//! What a case has of routes of flows (D66).

use virtlane::ids::ChannelId;
use virtlane::plan::{Limit, Plan};
use virtlane::routing::Tables;
use virtlane::topology::Graph;

/// Where the routes of flows come from, and how they differ from those of tables.
pub(crate) const ROUTES: [&str; 10] = [
    "routes by Static",
    "routes by Ascent",
    "routes by ForcedDir",
    "routes by FreeDir",
    "routes by chance",
    "limits by a solver",
    "routes beside those of tables",
    "routes longer than those of tables",
    "routes that come back to a switch",
    "two routes between two hosts",
];

/// What flows with routes may have beside them.
pub(crate) const BESIDE_ROUTES: [&str; 36] = [
    "flows beside classes",
    "flows beside messages",
    "flows with a process",
    "later phases",
    "changes of limits",
    "windows",
    "control",
    "control beside other flows",
    "groups of flows",
    "answers of several packets",
    "bounded answers",
    "probes",
    "probes on VL15",
    "probes out of band",
    "answers out of band",
    "elements",
    "reservations",
    "reservations out of band",
    "dropping what is held",
    "dropping by a threshold",
    "dropping of flows",
    "dropping with VOQ",
    "VOQ",
    "input-first VOQ",
    "VL15",
    "VL tables at channels",
    "slow sinks",
    "output lanes",
    "output buffers",
    "input-first",
    "unlimited places",
    "a pool",
    "InfiniBand's marking",
    "RoCE's marking",
    "rows by input",
    "lanes by input",
];

/// Names of what it has.
pub(super) fn features(plan: &Plan, graph: &Graph, tables: &Tables) -> Vec<String> {
    let Some(routes) = &plan.routes_of_flows else {
        return Vec::new();
    };
    let (mut beside, mut longer, mut back, mut two) = (false, false, false, false);
    for (flow, route) in plan.flows.iter().zip(routes.iter()) {
        let level = flow.level;
        let path = tables.path(graph, flow.source, flow.destination, level);
        let path: Vec<ChannelId> = path.expect("a way").iter().map(|hop| hop.0).collect();
        beside |= path != route;
        longer |= path.len() < route.len();
        let switches = route.iter().filter_map(|id| graph.channel(*id).to.switch());
        let mut switches: Vec<_> = switches.collect();
        let count = switches.len();
        switches.sort_unstable();
        switches.dedup();
        back |= switches.len() < count;
        let mut others = plan.flows.iter().zip(routes.iter());
        two |= others.any(|(other, way)| {
            let ends = (other.source, other.destination);
            ends == (flow.source, flow.destination) && way != route
        });
    }
    let title = plan.title.split(", ").skip(1).map(String::from);
    let has_rate = |limit: Limit| matches!(limit, Limit::Rate(_));
    let found = [
        ("routes beside those of tables", beside),
        ("routes longer than those of tables", longer),
        ("routes that come back to a switch", back),
        ("two routes between two hosts", two),
        ("rows by input", !tables.input_row.is_empty()),
        ("lanes by input", !tables.lanes.by_input.is_empty()),
    ];
    let found = found.into_iter().filter(|(_, is_met)| *is_met);
    let found = found.map(|(name, _)| String::from(name));
    let limited = plan.flows.iter().any(|flow| has_rate(flow.limit));
    let names = title.filter(|name| name != "limits by a solver" || limited);
    found.chain(names).collect()
}
