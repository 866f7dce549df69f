//! What is counted, on cases worked out by hand: the edges of the window, jitter, flit-hops.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use virtlane::ids::{ChannelId, HostId};
use virtlane::measure::{Delivery, FlowLatencies, JitterRecord, Records};
use virtlane::run::{Outcome, Settings, execute};
use virtlane::scenario::{Document, Parts, Resolved};

/// Three switches in a row, a host at the first and one at the last that gets a packet of four flits every ten cycles
/// from cycle 0 on; a third host, at the first switch.
const ROW: &str = r#"Scenario(
    title: "row", seed: 1,
    fabric: (topology: EdgeList(links: [(0, 1), (1, 2)], hosts: [0, 2, 0]), flit: "64 B",
             link: (rate: "10 Gbit/s", latency: "1 cycles"),
             switch: (lanes: 1, lane_capacity: "32 flits", routing_delay: "1 cycles")),
    routing: UpDown(),
    traffic: [(name: "far", pattern: Pairs([(0, 1)]), process: ConstantRate(load: 0.4, phase: Zero),
               size: "256 B", sl: 0)],
    phases: (warmup: "100 cycles", measure: "100 cycles", drain: Auto),
)"#;

fn run(changes: &[String]) -> (Resolved, Outcome) {
    let mut document = Document::parse("row.ron", ROW, Path::new("")).expect("a scenario");
    for change in changes {
        document.set(change).expect("the key exists");
    }
    let resolved = document.resolve(&Parts::registered());
    let resolved = resolved.unwrap_or_else(|error| panic!("{error}"));
    let settings = Settings {
        threads: Some(1),
        shards: Some(1),
        ..Settings::default()
    };
    let outcome = execute(&resolved, settings, &mut |_| {}, &AtomicBool::new(false));
    (resolved, outcome.expect("it runs"))
}

/// A window of `measure` cycles from `warmup` on holds the cycles `warmup..warmup + measure`, the first one included and
/// the one after the last not. The packet made at t starts at t; a switch is a channel of 1 cycle and a delay of 1 away,
/// so the switches grant it at t + 2, t + 4 and t + 6, and its fourth flit is consumed at t + 7 + 3. Channels count it flit by
/// flit.
#[test]
fn a_window_holds_its_first_cycle_and_not_the_one_after_its_last() {
    for (warmup, measure) in [(0, 1), (0, 11), (100, 1), (100, 10), (100, 200)]
        .into_iter()
        .chain((101..112).flat_map(|warmup| [(warmup, 1), (warmup, 10), (warmup, 17)]))
    {
        let (resolved, outcome) = run(&[
            format!("phases.warmup={warmup} cycles"),
            format!("phases.measure={measure} cycles"),
        ]);
        let window = warmup..warmup + measure;
        // packets of which something that happens `later` cycles after creation lies in the window
        let packets = |later: u64| {
            let times = (0..40).map(|packet| 10 * packet + later);
            times.filter(|time| window.contains(time)).count() as u64
        };
        let class = &outcome.records.classes[0];
        assert_eq!(class.created_packets, packets(0), "{window:?}: created");
        assert_eq!(class.injected_packets, packets(0), "{window:?}: injected");
        assert_eq!(
            class.delivered_packets,
            packets(10),
            "{window:?}: delivered"
        );
        assert_eq!(
            class.delivered_flits,
            (7..=10).map(packets).sum::<u64>(),
            "{window:?}: accepted flits"
        );
        assert_eq!(class.tagged_created, packets(0), "{window:?}: tagged");
        assert_eq!(
            class.tagged_delivered,
            packets(0),
            "{window:?}: after the drain"
        );
        let latency = class.network.summary();
        assert_eq!(latency.count, packets(0));
        assert!(latency.min.is_none_or(|least| least == 10) && latency.max == latency.min);
        let graph = &resolved.layout.graph;
        let mut channel = graph.host_channel(HostId(0));
        for later in [0, 2, 4, 6] {
            let sent = outcome.records.channels.flits(channel);
            assert_eq!(
                sent,
                (later..later + 4).map(packets).sum::<u64>(),
                "{window:?}: channel after {later}"
            );
            if let Some(switch) = graph.channel(channel).to.switch() {
                channel = next_channel(&resolved, switch);
            }
        }
    }
}

/// The channel by which a switch sends to host 1.
fn next_channel(resolved: &Resolved, switch: virtlane::ids::SwitchId) -> ChannelId {
    let tables = resolved.routes.tables().expect("tables");
    let port = tables.next_port(switch.index(), HostId(1)).expect("a way");
    let graph = &resolved.layout.graph;
    graph.port_channel(switch, port).expect("connected")
}

/// Jitter of a delivery: how much its network latency (first channel to delivery) differs from that of the tagged
/// delivery before it, of the same source; nothing for the first one. Waiting in the source queue does not count, nor
/// does the order of creation.
#[test]
fn jitter_is_the_change_of_network_latency_within_a_flow() {
    let mut records = Records::new(1, 3, 0, 1);
    let mut flows = FlowLatencies::new(3, [true]);
    // (source, created, injected, delivered, tagged) in order of delivery; network latencies 10, 4 | 13, 9 | 9, 5
    for (source, created, injected, delivered, is_tagged) in [
        (0, 0, 0, 10, true),
        (1, 0, 11, 15, true),
        (0, 1, 7, 20, true),
        (0, 2, 3, 100, false),
        (0, 3, 102, 111, true),
        (1, 50, 105, 114, true),
        (0, 4, 120, 125, true),
    ] {
        let delivery = Delivery {
            source: HostId(source),
            destination: HostId(2),
            class: 0,
            sequence: created,
            size: 1,
            created,
            injected,
            delivered,
            hops: 0,
            is_marked: false,
            flow: None,
        };
        records.deliver(&delivery, true, is_tagged, &mut flows);
    }
    // source 0: 10, 13, 9, 5; source 1: 4, 9
    let expected = JitterRecord {
        count: 4,
        sum: 3 + 4 + 4 + 5,
        max: 5,
    };
    assert_eq!(records.classes[0].jitter, expected);
}

/// Flit-hops: the sum over packets of flits times switches passed. Five packets of four flits over three switches and
/// seven of two flits over one.
#[test]
fn flit_hops_are_flits_times_switches_passed() {
    let near = "(name: \"near\", pattern: Pairs([(0, 2)]), process: ConstantRate(load: 0.1), size: \"128 B\", sl: 0, packets: 7)";
    let text = ROW.replace("sl: 0)],", &format!("sl: 0, packets: 5),\n{near}],"));
    let mut document = Document::parse("row.ron", &text, Path::new("")).expect("a scenario");
    for change in ["phases.warmup=0 cycles", "phases.measure=1000 cycles"] {
        document.set(change).expect("the key exists");
    }
    let resolved = document.resolve(&Parts::registered());
    let resolved = resolved.unwrap_or_else(|error| panic!("{error}"));
    let outcome = execute(
        &resolved,
        Settings::default(),
        &mut |_| {},
        &AtomicBool::new(false),
    );
    let records = outcome.expect("it runs").records;
    assert_eq!(records.packet_hops, 5 * 3 + 7);
    assert_eq!(records.flit_hops, 5 * 4 * 3 + 7 * 2);
    // by channels between switches, one fewer than switches
    assert_eq!(records.classes[0].hops, [0, 0, 5]);
    assert_eq!(records.classes[1].hops, [7]);
}
