//! Forks of runs with flows (D64 of the model), against runs that were not forked.

use super::{Start, read, resolve, run, settings};
use virtlane::cycle::Wanted;
use virtlane::cycle::mechanisms::packet_records::PacketRecords;
use virtlane::measure::Delivery;
use virtlane::run::{Options, RunError, Simulation};
use virtlane::scenario::Resolved;

/// Flows that draw nothing: of a size, with limits, windows and under control.
const FLOWS: &str = r#"Scenario(
    title: "forked flows", seed: 5,
    fabric: (topology: Torus(radix: [4, 4]), flit: "64 B", link: (rate: "10 Gbit/s", latency: "2 cycles"),
             switch: (lanes: 6, lane_capacity: "16 flits", routing_delay: "1 cycles", marking: InfiniBand(threshold: 15))),
    routing: DimensionOrder(),
    traffic: [
        (name: "bulk", flows: [
            (pairs: AllToAll(), bytes: "40 flits", start: "30 cycles", window: 2),
            (pairs: Incast(to: 5), limit: Rate(0.05), weight: 3, changes: [("700 cycles", Rate(0.4))]),
         ], size: "8 flits", sl: 0),
        (name: "short", flows: [(pairs: List(pairs: [(0, 1)]), limit: Rate(0.1), stop: "300 cycles")], size: "8 flits", sl: 2),
        (name: "told", flows: [(pairs: Incast(to: 9))], size: "8 flits", sl: 1,
         control: InfiniBand(timer: "200 cycles", table: Linear(most: 40, shift: 2), limit: 20, increase: 5),
         answers: (size: "1 flits", sl: 1)),
    ],
    phases: (warmup: "1000 cycles", measure: "1000 cycles"),
)"#;

/// The cycle of the forks.
const AT: u64 = 517;

/// All deliveries of a run, from cycle [`AT`] on under another plan if there is one.
fn deliveries(first: &Resolved, other: Option<&Resolved>, shards: usize) -> Vec<Delivery> {
    let wanted = Wanted {
        deliveries: true,
        order: false,
    };
    let options = Options {
        shards,
        wanted,
        ..Options::default()
    };
    let start = |resolved: &Resolved| {
        let graph = &resolved.layout.graph;
        let simulation = Simulation::new(&resolved.plan, graph, &resolved.routes, options);
        simulation.expect("it starts")
    };
    let mut simulation = start(first);
    if let Some(other) = other {
        simulation.run_until(AT).expect("there are no messages");
        let state = simulation.save().expect("it can be saved");
        simulation = start(other);
        simulation.restore(AT, &state, true).expect("it fits");
    }
    simulation.run_until(2000).expect("there are no messages");
    let records = simulation.each::<PacketRecords>();
    let all = records.flat_map(|records| records.deliveries().to_vec());
    let mut all: Vec<Delivery> = all.collect();
    all.sort_unstable_by_key(|packet| (packet.delivered, packet.destination));
    all
}

fn flows(changes: &[&str]) -> Resolved {
    resolve(FLOWS, changes)
}

/// Nothing is drawn, so nothing starts anew: with the same plan the run goes on as if nobody had forked it.
#[test]
fn a_fork_with_the_same_plan_goes_on() {
    for scheduler in [
        "Fifo",
        "RoundRobin",
        "WeightedRoundRobin(Packets)",
        "ShortestRemaining",
    ] {
        let set = format!("fabric.host.scheduler={scheduler}");
        let resolved = flows(&[&set]);
        let whole = deliveries(&resolved, None, 1);
        assert!(whole.len() > 1500, "{}", whole.len());
        for shards in [1, 3] {
            let forked = deliveries(&resolved, Some(&resolved), shards);
            assert!(forked == whole, "{scheduler}, {shards} shards");
        }
    }
}

/// Another limit is a change of limit in the cycle of the fork; changes that are still to come are those of the other plan.
#[test]
fn a_fork_brings_limits_as_a_change_of_them_does() {
    let first = flows(&[]);
    for (other, same) in [
        // the change of cycle 700 is gone
        (
            "traffic.bulk.flows.1=(pairs: Incast(to: 5), limit: Rate(0.2), weight: 3)",
            "changes=[(\"517 cycles\", Rate(0.2))]",
        ),
        // the change of cycle 400 is over, that of 900 is to come
        (
            "traffic.bulk.flows.1=(pairs: Incast(to: 5), limit: Rate(0.2), weight: 3, changes: [(\"400 cycles\", Rate(0.1)), \
             (\"900 cycles\", None)])",
            "changes=[(\"517 cycles\", Rate(0.1)), (\"900 cycles\", None)]",
        ),
    ] {
        let forked = deliveries(&first, Some(&flows(&[other])), 2);
        let same = flows(&[&format!("traffic.bulk.flows.1.{same}")]);
        assert!(forked == deliveries(&same, None, 1), "{other}");
        assert!(forked != deliveries(&first, None, 1), "{other}");
    }
}

/// Starts of a flow's packets.
fn starts(deliveries: &[Delivery], flow: u32) -> Vec<u64> {
    let mine = deliveries.iter().filter(|packet| packet.flow == Some(flow));
    mine.map(|packet| packet.injected).collect()
}

#[test]
fn a_fork_brings_stops_windows_and_weights() {
    let first = flows(&[]);
    let entry = "traffic.short.flows.0=(pairs: List(pairs: [(0, 1)]), limit: Rate(0.1), stop: ";
    let id = first.plan.flows.iter().position(|flow| flow.stop.is_some());
    let id = id.expect("one stops") as u32;
    // it had stopped, and goes on up to the new stop
    let later = flows(&[&format!("{entry}\"900 cycles\")")]);
    let found = starts(&deliveries(&first, Some(&later), 1), id);
    assert!(found.iter().all(|&at| at < 300 || (AT..900).contains(&at)));
    let count = |from, until| found.iter().filter(|&&at| from <= at && at < until).count();
    assert!(count(0, 300) > 2 && count(AT, 900) > 2, "{found:?}");
    // or stops for good, from the fork on
    let never = flows(&[&format!("{entry}None)")]);
    let found = starts(&deliveries(&never, Some(&first), 1), id);
    assert!(found.iter().any(|&at| at > 300) && found.iter().all(|&at| at < AT));
    // windows and weights count: the runs part after the fork and not before
    for change in [
        "traffic.bulk.flows.0.window=1",
        "traffic.bulk.flows.1.weight=60",
    ] {
        let set = "fabric.host.scheduler=WeightedRoundRobin(Flits)";
        let (first, other) = (flows(&[set]), flows(&[set, change]));
        let (plain, forked) = (
            deliveries(&first, None, 1),
            deliveries(&first, Some(&other), 1),
        );
        let before = |all: &[Delivery]| {
            let mut early: Vec<Delivery> = all.to_vec();
            early.retain(|packet| packet.delivered < AT);
            early.sort_unstable_by_key(|packet| (packet.injected, packet.source));
            let keys = early.iter().map(|packet| (packet.injected, packet.flow));
            keys.collect::<Vec<_>>()
        };
        assert_eq!(before(&plain), before(&forked), "{change}");
        assert!(plain != forked, "{change}");
    }
}

/// Two flows alone on their ways, with processes and sizes that are drawn: one that has started, one that starts after the
/// fork.
const DRAWN: &str = r#"Scenario(
    title: "drawn", seed: 5,
    fabric: (topology: Mesh(radix: [4]), flit: "64 B", link: (rate: "10 Gbit/s", latency: "2 cycles"),
             switch: (lanes: 1, lane_capacity: "16 flits", routing_delay: "1 cycles")),
    routing: DimensionOrder(),
    traffic: [(name: "drawn", flows: [
        (pairs: List(pairs: [(2, 3)]), process: Poisson(load: 0.2)),
        (pairs: List(pairs: [(0, 1)]), process: Poisson(load: 0.2), start: "800 cycles"),
        (pairs: List(pairs: [(1, 0)]), limit: Rate(0.2)),
    ], size: Mixed([("8 flits", 1), ("2 flits", 1), ("3 flits", 1)]))],
    phases: (warmup: "1000 cycles", measure: "1000 cycles"),
)"#;

/// The streams of the other plan start anew: a flow that starts later does what it does in a run of that plan alone, one
/// that has started does so with its gaps counted from the fork, and the sizes of one without a process are those
/// of its first draws.
#[test]
fn a_fork_draws_with_the_streams_of_its_plan() {
    let (first, other) = (resolve(DRAWN, &[]), resolve(DRAWN, &["seed=6"]));
    let alone = deliveries(&other, None, 1);
    let forked = deliveries(&first, Some(&other), 2);
    let made = |all: &[Delivery], flow: u32, from: u64| {
        let mine = all.iter().filter(|packet| packet.flow == Some(flow));
        let mine = mine.filter(|packet| packet.created >= from);
        let cells = mine.map(|packet| (packet.created - from, packet.size));
        cells.collect::<Vec<(u64, u16)>>()
    };
    let late = made(&alone, 1, 0);
    assert!(late.len() > 20 && made(&forked, 1, 0) == late);
    let (running, anew) = (made(&forked, 0, AT), made(&alone, 0, 0));
    assert!(running.len() > 20 && anew.starts_with(&running[..20]));
    let sizes = |made: Vec<(u64, u16)>| made.into_iter().map(|(_, size)| size).collect::<Vec<_>>();
    let (running, anew) = (sizes(made(&forked, 2, AT)), sizes(made(&alone, 2, 0)));
    assert!(running.len() > 20 && anew.starts_with(&running[..20]));
}

/// Flows that begin by themselves, each alone with its destination: one before the fork, one after it.
const RESERVED: &str = r#"Scenario(
    title: "reserved", seed: 5,
    fabric: (topology: Complete(switches: 1, hosts_per_switch: 4), flit: "64 B",
             link: (rate: "100 Gbit/s", latency: "3 cycles"), switch: (lane_capacity: "64 flits")),
    routing: MinHop(),
    traffic: [(
        name: "calls", size: "4 flits",
        flows: [
            (pairs: List(pairs: [(0, 2)]), process: Poisson(load: 0.2)),
            (pairs: List(pairs: [(1, 3)]), process: Poisson(load: 0.2), start: "800 cycles"),
        ],
        requests: (peak: 0.3), control: Reservation(utilisation: 0.5),
        answers: (transport: OutOfBand(serialisation: "1 cycles", processing: "0 cycles", routing: "0 cycles",
                                       propagation: "3 cycles")),
    )],
    phases: (warmup: "1000 cycles", measure: "1000 cycles"),
)"#;

/// The process of a flow that has begun by itself starts anew, too; one that has not begun counts from its beginning as it
/// does in a run of the other plan alone.
#[test]
fn a_fork_draws_anew_for_flows_that_have_begun_by_themselves() {
    let (first, other) = (resolve(RESERVED, &[]), resolve(RESERVED, &["seed=6"]));
    let alone = deliveries(&other, None, 1);
    let forked = deliveries(&first, Some(&other), 2);
    let made = |all: &[Delivery], flow: u32, from: u64| {
        let mine = all.iter().filter(|packet| packet.flow == Some(flow));
        let made = mine.map(|packet| packet.created).filter(|&at| at >= from);
        made.collect::<Vec<u64>>()
    };
    let late = made(&alone, 1, 0);
    assert!(late.len() > 20 && late[0] > 800 && made(&forked, 1, 0) == late);
    let (before, running) = (made(&forked, 0, 0), made(&forked, 0, AT));
    assert!(before.len() > running.len() + 5, "it had begun");
    let gaps = |made: &[u64]| {
        made.windows(2)
            .map(|pair| pair[1] - pair[0])
            .collect::<Vec<_>>()
    };
    let (running, anew) = (gaps(&running), gaps(&made(&alone, 0, 0)));
    assert!(running.len() > 20 && anew.starts_with(&running[..20]));
}

#[test]
fn a_fork_with_other_flows_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("state");
    run(&flows(&[]), settings(1, Some(2)), Start::Fresh, 1, &file).expect("it stops");
    let refusal = |changes: &[&str]| {
        let start = Start::Fork(read(&file));
        match run(&flows(changes), settings(1, None), start, u64::MAX, &file) {
            Err(RunError::Checkpoint(cause)) => cause.to_string(),
            other => panic!("{changes:?}: {other:?}"),
        }
    };
    let said: Vec<String> = [
        "traffic.short.flows.0.pairs=List(pairs: [(0, 1), (0, 2)])",
        "traffic.short.flows.0.pairs=List(pairs: [(0, 2)])",
        "traffic.bulk.flows.0.start=31 cycles",
        "traffic.bulk.flows.0.bytes=41 flits",
        "traffic.bulk.flows.0.window=None",
        "traffic.bulk.flows.1.process=Poisson(load: 0.01)",
        "traffic.bulk.size=4 flits",
        "traffic.told.control.increase=4",
        "traffic.told.answers.size=2 flits",
    ]
    .iter()
    .map(|change| refusal(&[change]))
    .collect();
    insta::assert_snapshot!(said.join("\n"));
    // another seed may be another run of the same flows
    let start = Start::Fork(read(&file));
    assert!(
        run(
            &flows(&["seed=6"]),
            settings(1, None),
            start,
            u64::MAX,
            &file
        )
        .is_ok()
    );
}
