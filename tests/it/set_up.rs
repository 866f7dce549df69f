//! Routes set up by packets (D67): order kept with caches of any size, one route for each flow, nothing left behind, and the
//! same however the fabric is cut.

use crate::runs::{FORWARDING, resolve, run};
use std::collections::BTreeMap;
use virtlane::cycle::Wanted;
use virtlane::cycle::mechanisms::packet_records::PacketRecords;
use virtlane::ids::{ChannelId, HostId};
use virtlane::measure::Delivery;
use virtlane::run::{Options, Outcome, Simulation};
use virtlane::scenario::Resolved;
use virtlane::topology::Endpoint;

/// Three flows for each pair, beside packets that go by the tables.
const TREE: &str = r#"Scenario(
    title: "set-up", seed: 3,
    fabric: (topology: EnrichedTree(k: 4, n: 3, width: 2), flit: "64 B", link: (rate: "10 Gbit/s", latency: "2 cycles"),
             switch: (lanes: 2, lane_capacity: "32 flits", routing_delay: "1 cycles")),
    routing: FatTree(),
    traffic: [
        (name: "flows", flows: [(pairs: Permutations(count: 2), copies: 3, bytes: "40 flits")], size: "8 flits",
         control: SetUp(connections: Pairs), answers: (sl: 1)),
        (name: "heavy", flows: [(pairs: RandomPairs(count: 20), weight: 3, start: "200 cycles", bytes: "30 flits")],
         size: "4 flits", control: SetUp(hops: None, free: true)),
        (name: "others", pattern: Uniform, process: Bernoulli(load: 0.1), packets: 20, size: "4 flits"),
    ],
    phases: (warmup: "0 cycles", measure: "6000 cycles"),
)"#;

/// A tree without horizontal channels.
const PLAIN: &[&str] = &["fabric.topology=KAryNTree(k: 4, n: 3)"];

fn count(outcome: &Outcome, name: &str) -> u64 {
    outcome.records.counts[name]
}

/// Flits over every channel in a lane.
fn loads(resolved: &Resolved, outcome: &Outcome, lane: usize) -> Vec<u64> {
    let channels = resolved.layout.graph.channel_ids();
    let of = |channel| outcome.records.channels.lanes(channel)[lane];
    channels.map(of).collect()
}

/// All deliveries of the first cycles.
fn deliveries(resolved: &Resolved, cycles: u64) -> Vec<Delivery> {
    let options = Options {
        wanted: Wanted {
            deliveries: true,
            order: false,
        },
        ..Options::default()
    };
    let (plan, graph) = (&resolved.plan, &resolved.layout.graph);
    let simulation = Simulation::new(plan, graph, &resolved.routes, options);
    let mut simulation = simulation.expect("one thread");
    simulation.run_until(cycles).expect("there are no messages");
    let records = simulation.each::<PacketRecords>();
    let mut found: Vec<Delivery> = records
        .flat_map(PacketRecords::deliveries)
        .copied()
        .collect();
    found.sort_by_key(|delivery| delivery.delivered);
    found
}

/// Packets of flows that have come after one made later for the same connection.
fn overtaken(resolved: &Resolved, deliveries: &[Delivery]) -> usize {
    let connections = resolved.plan.connections().expect("routes are set up");
    let mut last: BTreeMap<u32, u64> = BTreeMap::new();
    let mut late = 0;
    for delivery in deliveries {
        let class = &resolved.plan.classes[usize::from(delivery.class)];
        let Some(flow) = delivery.flow.filter(|_| class.set_up().is_some()) else {
            continue;
        };
        let connection = connections.of(flow as usize).expect("it has one").id;
        let known = last.entry(connection).or_insert(0);
        late += usize::from(delivery.sequence < *known);
        *known = delivery.sequence.max(*known);
    }
    late
}

/// 001 R8, R11: caches of any size, many flows of a connection, other traffic beside them.
#[test]
fn caches_of_any_size_keep_the_order_and_nothing_is_left() {
    let mut full = Vec::new();
    for cache in ["0", "1", "2", "8", "None"] {
        let control =
            format!("traffic[0].control=SetUp(connections: Pairs, cache: {cache}, free: true)");
        let heavy = format!("traffic[1].control=SetUp(hops: None, cache: {cache})");
        let resolved = resolve(TREE, &[&control, &heavy]);
        let outcome = run(&resolved, [1, 1]);
        for (flow, counts) in resolved.plan.flows.iter().zip(&outcome.flow_counts) {
            assert_eq!(Some(counts.arrived.delivered.flits), flow.flits, "{cache}");
        }
        let flows = resolved.plan.flows.len() as u64;
        assert_eq!(count(&outcome, "reservation.begun"), flows, "{cache}");
        assert_eq!(
            count(&outcome, "reservation.requests"),
            2 * flows,
            "{cache}"
        );
        assert_eq!(count(&outcome, "set_up.entries"), 0, "{cache}");
        assert_eq!(count(&outcome, "set_up.weight"), 0, "{cache}");
        let most = count(&outcome, "set_up.entries_most");
        match cache.parse::<u64>() {
            Ok(places) => assert!(most <= places, "{cache}: {most}"),
            Err(_) => assert!(most > 2, "{most}"),
        }
        full.push(count(&outcome, "set_up.full"));
        let deliveries = deliveries(&resolved, 6000);
        assert_eq!(overtaken(&resolved, &deliveries), 0, "{cache}");
    }
    // fewer choices find no place the more there are
    assert!(full[0] > 0 && full[1] > 0 && full[4] == 0, "{full:?}");
    assert!(full.is_sorted_by(|a, b| a >= b), "{full:?}");
}

/// 001 R9: without caches the data go by the tables.
#[test]
fn without_caches_routes_are_those_of_the_tables() {
    let changes = [
        "traffic[0].control=SetUp(cache: 0)",
        "traffic[0].sl=0",
        "traffic[1].control=SetUp(cache: 0, free: true)",
        "traffic[1].answers=(sl: 1)",
        "traffic[2].packets=1",
        "traffic[2].sl=1",
    ];
    let resolved = resolve(TREE, &changes);
    let outcome = run(&resolved, [1, 1]);
    let (graph, plan) = (&resolved.layout.graph, &resolved.plan);
    let tables = resolved.routes.tables().expect("FatTree has tables");
    let mut expected = vec![0; graph.channels().len()];
    for flow in &plan.flows {
        let level = flow.level;
        let way = tables.path(graph, flow.source, flow.destination, level);
        for (channel, _) in way.expect("there is one") {
            expected[channel.index()] += flow.flits.expect("it has a size");
        }
    }
    assert_eq!(loads(&resolved, &outcome, 0), expected);
    assert!(count(&outcome, "set_up.full") > 0);
}

/// 001 R10: the wait for the end of a flow is what keeps the order.
#[test]
fn taking_routes_down_at_once_breaks_the_order() {
    let of = |release: &str| {
        let control = format!("traffic[0].control=SetUp(connections: Pairs, release: {release})");
        let changes = [
            &*control,
            "traffic[0].flows[0].copies=6",
            "traffic[2].process=Bernoulli(load: 0.4)",
            "traffic[2].packets=200",
        ];
        let resolved = resolve(TREE, &changes);
        overtaken(&resolved, &deliveries(&resolved, 6000))
    };
    let [kept, broken] = ["Acknowledged", "AtOnce"].map(of);
    assert_eq!(kept, 0);
    assert!(broken > 0);
}

#[test]
fn threads_and_shards_change_nothing() {
    for changes in FORWARDING.into_iter().chain([PLAIN]) {
        let resolved = resolve(TREE, changes);
        let alone = run(&resolved, [1, 1]);
        assert_eq!(count(&alone, "set_up.weight"), 0, "{changes:?}");
        assert_eq!(count(&alone, "set_up.entries"), 0, "{changes:?}");
        for [threads, shards] in [[1, 2], [2, 7], [4, 16], [2, 16]] {
            let cut = run(&resolved, [threads, shards]);
            assert_eq!(cut.records, alone.records, "{changes:?}, {shards} shards");
            assert_eq!(
                cut.flow_counts, alone.flow_counts,
                "{changes:?}, {shards} shards"
            );
        }
    }
}

/// Flows whose sizes are different powers of two, packets of one flit.
fn powers(topology: &str, pairs: &[(u32, u32)], gap: u64, control: &str) -> Resolved {
    let flows = pairs.iter().enumerate().map(|(number, pair)| {
        let (flits, start) = (1 << number, number as u64 * gap);
        format!(
            "(pairs: List(pairs: [{pair:?}]), bytes: \"{flits} flits\", start: \"{start} cycles\")"
        )
    });
    let flows: Vec<String> = flows.collect();
    let text = format!(
        r#"Scenario(
    title: "powers", seed: 5,
    fabric: (topology: {topology}, flit: "64 B", link: (rate: "10 Gbit/s", latency: "1 cycles"),
             switch: (lanes: 2, lane_capacity: "16 flits")),
    routing: FatTree(),
    traffic: [(name: "flows", flows: [{}], size: "1 flits", control: {control}, answers: (sl: 1))],
    phases: (warmup: "0 cycles", measure: "20000 cycles"),
)"#,
        flows.join(", ")
    );
    resolve(&text, &[])
}

/// The channels of every flow, as their sizes tell from what the channels have carried.
fn routes(resolved: &Resolved, outcome: &Outcome) -> Vec<Vec<ChannelId>> {
    let graph = &resolved.layout.graph;
    let loads = loads(resolved, outcome, 0);
    let flows = resolved.plan.flows.iter().enumerate();
    let route = |(number, flow): (usize, &virtlane::plan::FlowPlan)| {
        let carries = |channel: &ChannelId| loads[channel.index()] >> number & 1 == 1;
        let all = graph.channel_ids().filter(carries).count();
        let mut route = vec![graph.host_channel(flow.source)];
        while let Endpoint::Switch(switch, _) = graph.channel(route[route.len() - 1]).to {
            let outputs = graph.connected_ports(switch).map(|(_, channel)| channel);
            let outputs: Vec<ChannelId> = outputs.filter(carries).collect();
            assert_eq!(outputs.len(), 1, "flow {number} at switch {}", switch.0);
            route.push(outputs[0]);
        }
        let end = graph.channel(route[route.len() - 1]).to;
        assert_eq!(end, Endpoint::Host(flow.destination));
        assert_eq!(route.len(), all, "flow {number}");
        route
    };
    flows.map(route).collect()
}

/// Horizontal channels of a route.
fn sideways(resolved: &Resolved, route: &[ChannelId]) -> usize {
    let tree = virtlane::topology::graph::TreeWays::of(&resolved.layout.graph);
    let tree = tree.expect("it is a tree");
    let channels = route.iter();
    channels
        .filter(|&&channel| {
            tree.direction(resolved.layout.graph.channel(channel))
                .is_some()
        })
        .count()
}

/// 001 R8, M6: every flow has one route; those that come while others go take the outputs with fewer of them, and sideways only
/// where that is strictly better than down.
#[test]
fn flows_take_the_outputs_with_fewer_flows() {
    // all from leaf 0, all by the same way up with the tables; big flows behind, so that all are there at once
    let pairs = [(0, 4), (1, 8), (2, 12), (3, 4)];
    let resolved = powers("KAryNTree(k: 4, n: 2)", &pairs, 0, "SetUp()");
    let outcome = run(&resolved, [1, 1]);
    let mut up: Vec<ChannelId> = routes(&resolved, &outcome)
        .iter()
        .map(|route| route[1])
        .collect();
    up.sort();
    up.dedup();
    assert_eq!(up.len(), 4);

    // 12 flows to the 4 hosts of leaf 0, 3 over each root: one down, the others to neighbours or down if that is no better
    let pairs: Vec<(u32, u32)> = (0..12).map(|number| (4 + number, number % 4)).collect();
    let of = |control: &str| {
        let tree = "EnrichedTree(k: 4, n: 2, width: 2)";
        let resolved = powers(tree, &pairs, 0, control);
        let outcome = run(&resolved, [1, 1]);
        assert_eq!(count(&outcome, "set_up.weight"), 0);
        let routes = routes(&resolved, &outcome).into_iter();
        let hops: Vec<usize> = routes.map(|route| sideways(&resolved, &route)).collect();
        hops
    };
    assert!(of("SetUp(hops: 0)").iter().all(|&hops| hops == 0));
    assert!(of("SetUp(cache: 0)").iter().all(|&hops| hops == 0));
    let one = of("SetUp(hops: 1)");
    assert!(
        one.contains(&0) && one.contains(&1) && one.iter().all(|&hops| hops < 2),
        "{one:?}"
    );
    let free = of("SetUp(hops: None, free: true)");
    assert!(
        free.iter().any(|&hops| hops > 0) && free.iter().all(|&hops| hops < 4),
        "{free:?}"
    );
    // one at a time, nothing is ever strictly better than down
    let resolved = powers(
        "EnrichedTree(k: 4, n: 2, width: 2)",
        &pairs[..6],
        200,
        "SetUp()",
    );
    let outcome = run(&resolved, [1, 1]);
    for route in routes(&resolved, &outcome) {
        assert_eq!(sideways(&resolved, &route), 0);
    }
    let hosts = resolved.plan.flows.iter().map(|flow| flow.source);
    assert!(hosts.eq((4..10).map(HostId)));
}
