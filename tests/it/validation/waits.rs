//! Flows that wait for others (D63 of the model): times by hand, against messages (D21), and what does not go with them.

use std::fmt::Write as _;
use tempfile::TempDir;
use virtlane::cycle::Wanted;
use virtlane::cycle::mechanisms::packet_records::PacketRecords;
use virtlane::report::RunResult;
use virtlane::rng::{Purpose, Stream, below, stream};
use virtlane::run::{Options, Simulation};
use virtlane::scenario::{Document, Parts, Resolved};

/// A class of a 3-ary 2-torus with hosts 0 to 8, over links of several speeds: 2 cycles per flit at hosts.
fn text(host: &str, class: &str) -> String {
    format!(
        r#"Scenario(
            seed: 1,
            fabric: (
                topology: Torus(radix: [3, 3]), flit: "64 B",
                link: (rate: "10 Gbit/s", latency: "3 cycles", except: [(on: Dimension(1), rate: "5 Gbit/s")]),
                host_link: (rate: "5 Gbit/s", latency: "1 cycles"),
                switch: (lanes: 2, lane_capacity: "20 flits", routing_delay: "1 cycles"),
                host: ({host}),
            ),
            routing: DimensionOrder(),
            traffic: [(name: "data", {class}, size: "8 flits")],
            phases: (warmup: "0 cycles", measure: "30000 cycles"),
        )"#
    )
}

/// The scenario in a folder with a trace, which messages are read from as the run goes on.
fn resolve(text: &str, trace: &str) -> Result<(Resolved, TempDir), String> {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = format!("time [cycles],source,destination,bytes,after\n{trace}");
    std::fs::write(folder.path().join("trace.csv"), trace).expect("it can be written");
    let document = Document::parse("waits.ron", text, folder.path());
    let resolved = document.and_then(|document| document.resolve(&Parts::registered()));
    let resolved = resolved.map_err(|error| error.to_string())?;
    Ok((resolved, folder))
}

const TRACE: &str = "Trace(file: \"trace.csv\")";

/// An entry of flows, one for each message, with more of its keys.
fn entry(more: &str) -> String {
    format!("flows: [(pairs: Messages(source: {TRACE}){more})]")
}

/// Start cycles of such flows.
fn starts(more: &str, trace: &str) -> Vec<Option<u64>> {
    let text = text("scheduler: RoundRobin", &entry(more));
    let (resolved, _folder) = resolve(&text, trace).expect("a scenario");
    let flows = RunResult::new(&resolved, super::run(&resolved), String::new()).flow_results;
    flows.iter().map(|flow| flow.counts.sent.start).collect()
}

/// A packet of 8 flits takes 16 cycles on the channel of its host. To a neighbour over the faster link it requests there
/// 1 + 1 + 7 cycles after its start (D1), goes on to the switch of its destination in 3, to the host 1 cycle later in
/// 1, and its tail is 14 behind: it is delivered after 28.
#[test]
fn flows_start_when_what_they_wait_for_is_complete() {
    // A and B take turns: A in 0 and 32, B in 16, which is sent from 32 on. Flow 3 has its time, and goes in 48; so the
    // last packet of A starts in 50, and A is received from 79 on.
    let trace = "0,0,1,1536,\n\
                 0,0,2,512,\n\
                 0,0,3,64,1+25\n\
                 40,0,3,64,1\n\
                 100,0,3,64,1\n\
                 0,1,4,64,0+7\n\
                 0,1,4,64,0 5+3\n";
    // flow 5 has one flit: sent 2 cycles after its start
    let expected = [0, 0, 32 + 25, 40, 100, 79 + 7, 86 + 2 + 3].map(Some);
    assert_eq!(starts("", trace), expected);
    // copies are applications of their own: each waits for its like, of which the second starts 16 cycles later
    let copied = starts(", copies: 2", "0,0,1,512,\n0,1,2,64,0\n0,0,2,64,0\n");
    assert_eq!(copied, [0, 0, 28 + 1, 16 + 28 + 1, 16, 32].map(Some));
}

/// What is never sent is never complete.
#[test]
fn who_waits_for_ever_does_not_start() {
    let never = starts(", limit: Rate(0.0)", "0,0,1,64,\n0,1,2,64,0\n");
    assert_eq!(never, [Some(0), None]);
}

/// A trace in which every message waits until the one before it of its host is sent, so that no two of a host are under
/// way to its channel at once, and often for something received.
fn trace(rng: &mut Stream, messages: usize) -> String {
    let mut text = String::new();
    let mut ends: Vec<(u32, u32)> = Vec::new();
    let mut time = 0;
    for _ in 0..messages {
        let source = below(rng, 9);
        let destination = (source + 1 + below(rng, 8)) % 9;
        time += u64::from(below(rng, 4) * below(rng, 30));
        let delay = |rng: &mut Stream| [0, 0, 5, 40][below(rng, 4) as usize];
        let mut after: Vec<String> = Vec::new();
        let mine = ends.iter().rposition(|&(from, _)| from == source);
        after.extend(mine.map(|number| format!("{number}+{}", delay(rng))));
        let to_it = ends.iter().enumerate().filter(|(_, ends)| ends.1 == source);
        for (number, _) in to_it {
            if below(rng, 3) == 0 && after.len() < 4 {
                after.push(format!("{number}+{}", delay(rng)));
            }
        }
        let (bytes, after) = (below(rng, 2500), after.join(" "));
        let _ = writeln!(text, "{time},{source},{destination},{bytes},{after}");
        ends.push((source, destination));
    }
    text
}

/// Source, destination, number, cycles of start and delivery of a packet.
type Packet = (u32, u32, u64, u64, u64);

/// All packets of a run that is saved at a cycle and goes on from there.
fn packets(resolved: &Resolved, shards: usize, stop: u64) -> Vec<Packet> {
    let wanted = Wanted {
        deliveries: true,
        order: true,
    };
    let options = Options {
        shards,
        wanted,
        ..Options::default()
    };
    let graph = &resolved.layout.graph;
    let start = || Simulation::new(&resolved.plan, graph, &resolved.routes, options);
    let mut first = start().expect("it starts");
    first.run_until(stop).expect("the trace can be read");
    let state = first.save().expect("it can be saved");
    let mut simulation = start().expect("it starts");
    simulation.restore(stop, &state, false).expect("it fits");
    simulation.run_until(30_000).expect("the trace can be read");
    assert!(simulation.is_idle(), "everything has been sent");
    let records = simulation.each::<PacketRecords>();
    let all = records.flat_map(|records| records.deliveries().to_vec());
    let packet = |packet: virtlane::measure::Delivery| {
        let (from, to) = (packet.source.0, packet.destination.0);
        (from, to, packet.sequence, packet.injected, packet.delivered)
    };
    let mut all: Vec<Packet> = all.map(packet).collect();
    all.sort_unstable();
    all
}

/// D21 has the same releases, and nobody goes side by side: every packet starts and arrives as it does of messages.
#[test]
fn one_after_the_other_flows_are_messages() {
    for seed in 0..12u64 {
        let trace = trace(&mut stream(seed, Purpose::Topology, 63), 150);
        let messages = text("", &format!("messages: {TRACE}"));
        let (messages, _folder) = resolve(&messages, &trace).expect("a scenario");
        let expected = packets(&messages, 1, 1);
        assert!(expected.len() > 300, "{}", expected.len());
        let (flows, _folder) = resolve(&text("", &entry("")), &trace).expect("a scenario");
        let found = packets(&flows, 1 + (seed % 4) as usize, 200 + seed * 150);
        assert!(found == expected, "seed {seed}");
    }
}

#[test]
fn what_does_not_go_with_flows_that_wait_is_refused() {
    let slots = "slots: (ticks: ConstantRate(load: 0.1), count: 4)";
    for (more, class, said) in [
        (
            ", phase: (\"a\", 0)",
            "",
            "`phase` does not go with flows that wait for others",
        ),
        (
            ", stop: \"99 cycles\"",
            "",
            "`stop` does not go with flows that wait for others",
        ),
        (
            ", changes: [(\"9 cycles\", Rate(0.1))]",
            "",
            "`changes` does not go with flows that",
        ),
        (
            ", process: Poisson(load: 0.1)",
            "",
            "`process` does not go with flows that wait for",
        ),
        (
            "",
            slots,
            "`slots` of the class does not go with flows that wait for others",
        ),
        (
            "",
            "requests: (peak: 0.1)",
            "`requests` of the class does not go with flows that",
        ),
    ] {
        let text = text("", &format!("{}, {class}", entry(more)));
        let admission =
            "admission: (control: LinkByLink(utilisation: 0.5, shares: [(0, 1)])), phases:";
        let text = if class.starts_with("requests") {
            text.replace("phases:", admission)
        } else {
            text.replace(", ,", ",")
        };
        let error = resolve(&text, "0,0,1,64,\n0,1,2,64,0\n").expect_err("it is refused");
        assert!(error.contains(said), "{error}");
    }
    // without a dependency they go
    let alone = text("", &entry(", stop: \"99 cycles\""));
    assert!(resolve(&alone, "0,0,1,64,\n").is_ok());
}

/// The shipped trace: at the full rate what messages take, at half of it the closed form of the file.
#[test]
fn an_all_reduce_as_flows_takes_what_its_closed_form_says() {
    for (limit, last) in [("None", 2041), ("Rate(0.5)", 3481)] {
        let change = format!("traffic.ring.flows.0.limit={limit}");
        let resolved = super::scenario("flows/ring_all_reduce.ron", &[&change]);
        let flows = RunResult::new(&resolved, super::run(&resolved), String::new()).flow_results;
        let ends = flows.iter().map(|flow| flow.counts.arrived.last_delivery);
        assert_eq!(ends.max(), Some(Some(last)), "{limit}");
    }
}
