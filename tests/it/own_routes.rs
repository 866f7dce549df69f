//! Flows with routes of their own (D66): every packet takes the route of its flow, however the fabric is cut, and nothing else
//! changes.

use crate::runs::{FORWARDING, resolve, run};
use virtlane::ids::{ChannelId, HostId, SlId, SwitchId};
use virtlane::run::Outcome;
use virtlane::run::outcome::Verdict;
use virtlane::scenario::Resolved;
use virtlane::scenario::prove::prove;

/// Flows that choose their routes, beside packets that go by the tables.
const TREE: &str = r#"Scenario(
    title: "own routes", seed: 3,
    fabric: (topology: EnrichedTree(k: 4, n: 3, width: 2), flit: "64 B", link: (rate: "10 Gbit/s", latency: "2 cycles"),
             switch: (lanes: 2, lane_capacity: "32 flits", routing_delay: "1 cycles")),
    routing: FatTree(),
    traffic: [
        (name: "flows", flows: [(pairs: Permutations(count: 2), bytes: "64 flits")], size: "8 flits"),
        (name: "told", flows: [(pairs: Permutations(count: 1), bytes: "40 flits")], size: "4 flits", sl: 1,
         control: RequestReply(), answers: (size: "1 flits", sl: 0)),
    ],
    fluid: (policy: ForcedDir(hops: 8), carry: Routes),
    phases: (warmup: "0 cycles", measure: "4000 cycles"),
)"#;

/// A ring that its tables cut, with a flow from every host to the one across.
const RING: &str = r#"Scenario(
    title: "around a ring", seed: 1,
    fabric: (topology: Torus(radix: [4]), flit: "64 B", link: (rate: "10 Gbit/s", latency: "2 cycles"),
             switch: (lane_capacity: "8 flits")),
    routing: UpDown(),
    traffic: [(name: "flows", flows: [(pairs: List(pairs: [(0, 2), (1, 3), (2, 0), (3, 1)]))], size: "8 flits")],
    fluid: (carry: Routes),
    phases: (warmup: "0 cycles", measure: "10000 cycles"),
)"#;

/// What else flows with routes may meet.
const BESIDE: [&[&str]; 2] = [
    &["fabric.host.scheduler=Paced", "fluid.carry=Rates"],
    &[
        "fabric.link=(rate: \"20 Gbit/s\", latency: \"3 cycles\", except: [])",
        "fabric.host_link=(rate: \"10 Gbit/s\")",
    ],
];

/// Flits over every channel in the measurement.
fn loads(resolved: &Resolved, outcome: &Outcome) -> Vec<u64> {
    let channels = resolved.layout.graph.channel_ids();
    let of = |channel| outcome.records.channels.lanes(channel).iter().sum();
    channels.map(of).collect()
}

/// Adds a number of flits to all channels of a way.
fn add(loads: &mut [u64], way: impl IntoIterator<Item = ChannelId>, flits: u64) {
    for channel in way {
        loads[channel.index()] += flits;
    }
}

#[test]
fn every_packet_takes_the_route_of_its_flow() {
    for changes in FORWARDING.iter().chain(&BESIDE) {
        let resolved = resolve(TREE, changes);
        let outcome = run(&resolved, [1, 1]);
        let (graph, plan) = (&resolved.layout.graph, &resolved.plan);
        let tables = resolved.routes.tables().expect("FatTree has tables");
        let routes = plan.routes_of_flows.as_ref().expect("they are carried");
        let mut expected = vec![0; graph.channels().len()];
        let mut others = 0;
        for ((flow, counts), route) in plan
            .flows
            .iter()
            .zip(&outcome.flow_counts)
            .zip(routes.iter())
        {
            let flits = flow.flits.expect("it has a size");
            assert_eq!(counts.arrived.delivered.flits, flits, "{changes:?}");
            add(&mut expected, route.iter().copied(), flits);
            let level = flow.level;
            let table = tables.path(graph, flow.source, flow.destination, level);
            let table = table.expect("there is one").into_iter();
            others += usize::from(!table.map(|(channel, _)| channel).eq(route.iter().copied()));
            // answers go back by the tables
            let back = tables.path(graph, flow.destination, flow.source, level);
            let back = back.expect("there is one").into_iter();
            let back = back.map(|(channel, _)| channel);
            add(&mut expected, back, counts.sent.answered);
        }
        assert!(
            others > plan.flows.len() / 2,
            "{others} are not the tables'"
        );
        assert_eq!(loads(&resolved, &outcome), expected, "{changes:?}");
    }
}

#[test]
fn threads_and_shards_change_nothing() {
    for changes in FORWARDING.iter().chain(&BESIDE) {
        let resolved = resolve(TREE, changes);
        let alone = run(&resolved, [1, 1]);
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

#[test]
fn routes_of_the_tables_change_nothing() {
    for changes in FORWARDING.iter().chain(&BESIDE) {
        let digest = |carry: &str| {
            let mut all = vec!["fluid.policy=Static()"];
            all.extend(*changes);
            all.push(carry);
            run(&resolve(TREE, &all), [2, 3]).records
        };
        let rated = changes.contains(&"fluid.carry=Rates");
        let tables = digest("fluid.carry=Nothing");
        let carried = digest(if rated {
            "fluid.carry=Rates"
        } else {
            "fluid.carry=Routes"
        });
        assert_eq!(carried == tables, !rated, "{changes:?}");
    }
}

/// Flows that ask by packets; what they have in lane 1 is a flit each.
const ASKING: &str = r#"(name: "asks", flows: [(pairs: Permutations(count: 2), bytes: "8 flits")], size: "8 flits", requests: (peak: 0.01),
    control: Reservation(), answers: (size: "1 flits", sl: 1))"#;

/// Probes go over the route of their flow and visit its channels, to reserve and to release; replies and answers, which reserve
/// nothing, go by the tables.
#[test]
fn probes_go_with_their_flow() {
    let traffic = |answers: &str| {
        format!(
            "traffic=[{}]",
            ASKING.replace("size: \"1 flits\", sl: 1", answers)
        )
    };
    let in_band = traffic("size: \"1 flits\", sl: 1");
    let beside = traffic(
        "transport: OutOfBand(serialisation: \"2 cycles\", processing: \"1 cycles\", routing: \"1 cycles\", propagation: \"2 cycles\")",
    );
    let mut latencies = Vec::new();
    for set in [in_band, beside] {
        let resolved = resolve(TREE, &[&set]);
        let outcome = run(&resolved, [1, 1]);
        let (graph, plan) = (&resolved.layout.graph, &resolved.plan);
        let tables = resolved.routes.tables().expect("FatTree has tables");
        let routes = plan.routes_of_flows.as_ref().expect("they are carried");
        let visits = routes.iter().map(|route| route.len() as u64).sum::<u64>();
        assert_eq!(outcome.records.counts["control.visits"], 2 * visits);
        assert!(outcome.flow_counts.iter().all(|flow| flow.sent.logged == 1));
        let mut expected = vec![0; graph.channels().len()];
        for (flow, route) in plan.flows.iter().zip(routes.iter()) {
            let control = plan.classes[0].control.as_ref().expect("it has control");
            if control.transport.is_none() {
                let back = tables.path(graph, flow.destination, flow.source, SlId(1));
                let back = back.expect("there is one").into_iter();
                add(&mut expected, route.iter().copied(), 2);
                add(&mut expected, back.map(|(channel, _)| channel), 2);
            }
        }
        let channels = graph.channel_ids();
        let controls = channels.map(|channel| outcome.records.channels.lanes(channel)[1]);
        assert!(controls.eq(expected));
        let counts = &outcome.records.counts;
        latencies.push(counts.get("out_of_band.cycles").copied());
        let cut = run(&resolved, [2, 16]);
        assert_eq!(cut.records, outcome.records);
    }
    assert!(
        matches!(latencies[..], [None | Some(0), Some(1..)]),
        "{latencies:?}"
    );
}

/// Two flows around a ring of four close a circle that the tables, which cut it, do not have.
#[test]
fn routes_are_part_of_the_proof() {
    let resolved = resolve(TREE, &[]);
    let bare = resolve(TREE, &["fluid.carry=Nothing"]);
    assert!(resolved.proof.acyclic && resolved.proof.dependencies > bare.proof.dependencies);
    assert!(resolved.proof.channels_used > bare.proof.channels_used);
    let mut ring = resolve(RING, &[]);
    let graph = &ring.layout.graph;
    let around = |from: u32| {
        let hosts = [HostId(from), HostId((from + 2) % 4)];
        let next = |switch: u32| {
            let (from, to) = (SwitchId(switch % 4), SwitchId((switch + 1) % 4));
            let mut channels = graph.channel_ids();
            let is_next = |&id: &ChannelId| {
                let ends = graph.channel(id);
                ends.from.switch() == Some(from) && ends.to.switch() == Some(to)
            };
            channels.find(is_next).expect("a ring")
        };
        vec![
            graph.host_channel(hosts[0]),
            next(from),
            next(from + 1),
            graph.host_channel(hosts[1]).reverse(),
        ]
    };
    assert!(ring.proof.acyclic);
    ring.plan.routes_of_flows = Some((0..4).map(around).collect());
    let refused = prove(graph, &ring.routes, &ring.plan)
        .expect_err("a circle")
        .to_string();
    assert!(
        refused
            .starts_with("the data lanes with the routes of flows (`fluid.policy`) may deadlock"),
        "{refused}"
    );
    ring.plan.allow_deadlock = true;
    let proof = prove(graph, &ring.routes, &ring.plan).expect("it is allowed");
    assert!(!proof.acyclic);
    // packets as large as their lanes: all four wait for the next
    let outcome = run(&ring, [1, 2]);
    assert_eq!(outcome.verdict, Verdict::Deadlocked);
    assert!(outcome.reason.contains("waits for"), "{}", outcome.reason);
}
