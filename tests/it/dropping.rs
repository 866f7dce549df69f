//! Switches that drop by a threshold keep their outputs busy, and are fair (D58).

use crate::program::virtlane;
use std::fs;

/// Three senders at full rate into one output, each a class. The load of a class is part of the link of its one sender, that of
/// the run part of all three.
fn scenario(rule: &str, options: &str) -> String {
    let class = |number: u32| {
        format!(
            r#"(name: "c{number}", size: "4 flits", flows: [(pairs: List(pairs: [({number}, 3)]))]),"#
        )
    };
    let shares = (0..3).map(|number| {
        format!(
            r#"(metric: "classes.c{number}.accepted", relation: AtLeast, value: 0.33),
               (metric: "classes.c{number}.accepted", relation: AtMost, value: 0.3367),"#
        )
    });
    let shares: String = shares.collect();
    format!(
        r#"Scenario(
    title: "three into one", seed: 1,
    fabric: (topology: Complete(switches: 1, hosts_per_switch: 4), flit: "64 B",
             link: (rate: "100 Gbit/s", latency: "3 cycles"),
             switch: (lanes: 1, drop: (sl: [0], rule: {rule}), {options})),
    routing: MinHop(),
    traffic: [{}{}{}],
    phases: (warmup: "1000 cycles", measure: "20000 cycles", drain: "0 cycles"),
    expect: [
        {shares}
        (metric: "load.accepted", relation: AtLeast, value: 0.3332),
        (metric: "channels.utilisation.max", relation: AtLeast, value: 0.999),
    ],
)"#,
        class(0),
        class(1),
        class(2)
    )
}

fn holds(text: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("drop.ron"), text).expect("a writable folder");
    let run = ["run", "drop.ron", "--check", "--out", "drop"];
    let (code, output, errors) = virtlane(folder.path(), &run);
    assert_eq!(code, Some(0), "{text}\n{output}\n{errors}");
}

#[test]
fn the_output_is_busy_and_each_sender_has_a_third() {
    for flits in [1, 4, 8, 16, 48, 64] {
        let rule = format!("Threshold(\"{flits} flits\")");
        for options in [
            "lane_capacity: \"64 flits\"",
            "lane_capacity: \"64 flits\", queues: Voq, input_speedup: Unlimited",
            "lane_capacity: \"64 flits\", sharing: PortPool",
            "lane_capacity: \"64 flits\", output_lane_buffer: \"16 flits\"",
        ] {
            holds(&scenario(&rule, options));
        }
    }
}

/// Two packets of 8 flits fill a lane. Whether one is dropped or goes on, its last flit has come 100 + 80 cycles after its start,
/// and the credit for it 100 later: no sender starts more than two packets in 280 cycles, 0.5715 of its link.
#[test]
fn a_dropped_packet_gives_its_slots_back_as_it_arrives() {
    let class = |number: u32| {
        format!(
            r#"(name: "c{number}", size: "8 flits", flows: [(pairs: List(pairs: [({number}, 4)]))]),"#
        )
    };
    let shares = (0..4).map(|number| {
        format!(r#"(metric: "classes.c{number}.offered", relation: AtMost, value: 0.5715),"#)
    });
    let (classes, shares): (String, String) = ((0..4).map(class).collect(), shares.collect());
    holds(&format!(
        r#"Scenario(
    title: "slow links of hosts", seed: 1,
    fabric: (topology: Complete(switches: 2, hosts_per_switch: 5), flit: "64 B",
             link: (rate: "100 Gbit/s", latency: "1 cycles"), host_link: (rate: "10 Gbit/s", latency: "100 cycles"),
             switch: (lanes: 1, lane_capacity: "16 flits", drop: (sl: [0], rule: Threshold("4 flits")))),
    routing: MinHop(),
    traffic: [{classes}],
    phases: (warmup: "1000 cycles", measure: "28000 cycles", drain: "0 cycles"),
    expect: [
        {shares}
        (metric: "channels.utilisation.max", relation: AtLeast, value: 0.5),
    ],
)"#
    ));
}
