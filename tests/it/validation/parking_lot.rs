//! Figure 1.1 of Zdornov and Birk 2009 (seed 001, M1): tree saturation in the parking lot.

use super::{assert_close, note, run, scenario};
use virtlane::run::Outcome;

/// Flits of a packet.
const PACKET: u32 = 16;
/// Packets of a flow and cycles of a unit. So many that the buffers below are less than 1 % of a flow's time.
const FLOW: u64 = 1000;
const UNIT: f64 = (FLOW * PACKET as u64) as f64;

/// Buffers of the inputs [packets].
const BUFFERS: [u32; 4] = [2, 4, 8, 16];

fn buffer(packets: u32) -> String {
    format!("fabric.switch.lane_capacity={} flits", packets * PACKET)
}

#[test]
fn far_flows_get_a_sixth_and_near_flows_a_third() {
    for packets in BUFFERS {
        let resolved = scenario("topologies/parking_lot.ron", &[&buffer(packets)]);
        let outcome = run(&resolved);
        let rates: Vec<_> = outcome.records.hosts[..6]
            .iter()
            .map(|host| host.accepted_flits as f64 / outcome.cycles.measure as f64)
            .collect();
        note(&format!("buffers of {packets} packets: rates {rates:.5?}"));
        let sixth = 1.0 / 6.0;
        let expected = [sixth, sixth, sixth, sixth, 2.0 * sixth, 2.0 * sixth];
        for (rate, expected) in rates.into_iter().zip(expected) {
            assert_close(rate, expected, 0.001 * expected);
        }
    }
}

/// Six flows of [`FLOW`] packets, each made at a constant share of the link's rate.
fn flows(packets: u32, load: f64) -> Outcome {
    let length = (UNIT / load) as u64;
    let mut changes = vec![
        buffer(packets),
        format!("phases.measure={length} cycles"),
        "phases.drain=200000 cycles".to_owned(),
    ];
    for class in 0..3 {
        changes.push(format!("traffic.{class}.packets={FLOW}"));
        changes.push(format!(
            "traffic.{class}.process=ConstantRate(load: {load})"
        ));
    }
    let changes: Vec<&str> = changes.iter().map(String::as_str).collect();
    run(&scenario("validation/parking_lot_completion.ron", &changes))
}

/// Near flows end after 3 units, far ones after 5. A buffer of b packets fills at 1/2 - 1/3 of the link rate, so
/// the shared link runs at full rate for 6 b packet times and is 2 b packets ahead from then on: 5 - 2 b / N.
#[test]
fn equal_flows_end_after_three_and_five_units() {
    for packets in BUFFERS {
        let outcome = flows(packets, 1.0);
        let classes = &outcome.records.classes;
        let ends: Vec<_> = classes
            .iter()
            .map(|class| class.last_delivery as f64 / UNIT)
            .collect();
        note(&format!(
            "buffers of {packets} packets: flows end after {ends:.4?} units"
        ));
        let far = 5.0 - 2.0 * f64::from(packets) / FLOW as f64;
        assert_close(ends[2], 3.0, 0.003);
        assert_close(ends[1], far, 0.005);
        assert_close(ends[0], far, 0.005);
        // the published 5 is that of buffers without length
        assert_close(ends[0], 5.0, 0.05);
        let delivered: u64 = classes.iter().map(|class| class.tagged_delivered).sum();
        assert_eq!(delivered, 6 * FLOW);
    }
}

/// Seed 001, M1, third clause: with a quarter of the rate for every flow, periodically injected, no link is asked for
/// more than it has, nothing waits for long, and all flows end after 4 units, the bound of the fullest link.
#[test]
fn flows_at_a_quarter_of_the_rate_end_after_four_units() {
    for packets in BUFFERS {
        let outcome = flows(packets, 0.25);
        for class in &outcome.records.classes {
            assert_eq!(class.tagged_delivered, 2 * FLOW);
            assert_close(class.last_delivery as f64 / UNIT, 4.0, 0.04);
            // at most the packets of the other three flows of a link go first
            let longest = class.packet.summary().max.expect("packets arrive");
            assert!(longest <= u64::from(8 * PACKET), "{longest}");
        }
    }
}

/// Cycles in which the rates below repeat: each far flow sends a packet, each near one two.
const PERIOD: u64 = 6 * PACKET as u64;

/// Seed 001, C5: `sw2` to `d2` is a root, `sw1` to `sw2` a victim in its tree, `sw2` to `d1` neither. Looks are a period and
/// a cycle apart, so every cycle of the period is seen as often.
///
/// In 2 cycles of a period `sw1` to `sw2` is no victim: packets for `d1` and `d2` leave its buffer side by side, so its credits
/// come back faster than the link takes them, and those for one more packet are there before the link is free. A buffer of
/// 2 packets holds none that waits for `d2` in 4 cycles: the last one has left, and the next one is on the link.
#[test]
fn the_link_to_d2_is_a_root_and_the_shared_link_its_victim() {
    for packets in BUFFERS {
        let every = format!("observe.congestion={} cycles", PERIOD + 1);
        let resolved = scenario("topologies/parking_lot.ron", &[&buffer(packets), &every]);
        let graph = &resolved.layout.graph;
        let looks = run(&resolved).congestion.expect("it was asked for");
        let times = looks.len() as u64 / PERIOD;
        let (mut whole, mut alone) = (0, 0);
        for look in &looks[..(times * PERIOD) as usize] {
            let names = look.trees.iter().map(|tree| {
                let channel = graph.channel(tree.channel);
                let [from, to] = [channel.from, channel.to].map(|end| graph.endpoint_name(end));
                (from, to, tree.size, tree.depth)
            });
            let found: Vec<_> = names.collect();
            let found: Vec<_> = (found.iter())
                .map(|(from, to, size, depth)| (from.as_str(), to.as_str(), *size, *depth))
                .collect();
            match (&found[..], look.victims, look.outside) {
                ([("S1 port 4", "d2", 2, 2)], 1, 0) => whole += 1,
                ([("S1 port 4", "d2", 1, 1)], 1, 1) => alone += 1,
                ([("S1 port 4", "d2", 1, 1), ("S0 port 5", "S1 port 5", 1, 1)], 0, 0) => {}
                _ => panic!("buffers of {packets} packets: {look:?}"),
            }
        }
        let expected = if packets == 2 { [90, 4] } else { [94, 0] };
        assert_eq!([whole, alone], expected.map(|cycles| cycles * times));
        note(&format!(
            "buffers of {packets} packets: the shared link is in the tree of d2's in {} of {PERIOD} cycles",
            whole / times
        ));
    }
}

/// The same fabric below the rate of its links: a packet of each flow may wait, which is less than half of a buffer.
#[test]
fn without_congestion_there_are_no_trees() {
    let changes = [
        "observe.congestion=97 cycles",
        "fabric.switch.lane_capacity=256 flits",
        "traffic.0.process=ConstantRate(load: 0.2)",
        "traffic.1.process=ConstantRate(load: 0.2)",
        "traffic.2.process=ConstantRate(load: 0.2)",
    ];
    let outcome = run(&scenario("topologies/parking_lot.ron", &changes));
    let looks = outcome.congestion.expect("it was asked for");
    assert!(!looks.is_empty());
    for look in looks {
        assert_eq!((look.victims, look.trees.len()), (0, 0), "{look:?}");
    }
}
