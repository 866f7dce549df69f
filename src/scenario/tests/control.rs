//! Classes with control: the classes of their answers, and what is refused.

use super::{document, refusals, resolve_registered as resolve};
use crate::control::Algorithm;
use crate::ids::SlId;
use crate::plan::Broadcast;
use crate::scenario::{Parts, print};

/// Two classes with control and one without in between.
const CONTROLLED: &str = r#"
Scenario(
    fabric: (
        topology: Mesh(radix: [4]),
        link: (rate: "100 Gbit/s", latency: "2 cycles"),
        switch: (lanes: 4, lane_capacity: "32 flits", marking: InfiniBand(threshold: 15)),
    ),
    qos: (management_lane: true),
    routing: MinHop(),
    traffic: [
        (name: "bulk", hosts: Range(1, 3), flows: [(pairs: Permutations(count: 1))], size: "16 flits", sl: 1,
         control: Cca(timer: "153.6 us", table: Linear(most: 127, shift: 0)), answers: (size: "2 flits", sl: Management)),
        (name: "other", pattern: Uniform, process: Bernoulli(load: 0.1), size: "4 flits"),
        (name: "calls", flows: [(pairs: RandomPairs(count: 5), bytes: "80 flits")], size: "8 flits", sl: 2,
         control: RequestReply(outstanding: 4)),
        (name: "far", flows: [(pairs: RandomPairs(count: 2))], size: "8 flits", control: Window(window: 3),
         answers: (transport: OutOfBand(serialisation: "32 ns", processing: "60 ns", routing: "100 ns", propagation: "15 ns"))),
    ],
    phases: (warmup: "100 cycles", measure: "1000 cycles"),
    observe: (packets: All, classes: ["bulk", "calls answers"]),
)
"#;

#[test]
fn answers_are_classes_behind_all_others() {
    let plan = resolve(CONTROLLED).plan;
    let names: Vec<_> = plan
        .classes
        .iter()
        .map(|class| class.name.as_str())
        .collect();
    let expected = [
        "bulk",
        "other",
        "calls",
        "far",
        "bulk answers",
        "calls answers",
        "far answers",
    ];
    assert_eq!(names, expected);
    let answers = plan.classes.iter().map(|class| class.answers);
    assert_eq!(
        answers.collect::<Vec<_>>(),
        [None, None, None, None, Some(0), Some(2), Some(3)]
    );
    let control = |class: usize| plan.classes[class].control.as_ref();
    let (bulk, calls) = (control(0).unwrap(), control(2).unwrap());
    assert_eq!((bulk.answers, calls.answers), (4, 5));
    let far = control(3).unwrap();
    assert!(far.is_apart() && !bulk.is_apart() && !calls.is_apart());
    let cycle = 64.0 * 8.0 / 100.0; // \[ns\]
    let times = far.transport.map(|times| {
        [
            times.serialisation,
            times.processing,
            times.routing,
            times.propagation,
        ]
    });
    let expected = [32.0_f64, 60.0, 100.0, 15.0].map(|time| (time / cycle).round() as u32);
    assert_eq!((times, expected), (Some(expected), [6, 12, 20, 3]));
    assert!(matches!(bulk.algorithm, Algorithm::InfiniBand(_)));
    assert!(matches!(calls.algorithm, Algorithm::RequestReply(_)));
    assert!([1, 4, 5].into_iter().all(|class| control(class).is_none()));
    let [bulk, calls] = [4, 5].map(|class: usize| &plan.classes[class]);
    assert!(bulk.management && !calls.management);
    assert_eq!(calls.service_levels, [SlId(2)]);
    assert_eq!((bulk.size.largest(), calls.size.largest()), (2, 1));
    assert_eq!(bulk.hosts, plan.classes[0].hosts);
    for class in [bulk, calls] {
        assert!(class.hosts.iter().all(|&host| !class.pattern.sends(host)));
        assert!(class.flows.is_none() && !class.is_backlogged());
    }
    assert_eq!(
        plan.observe.classes,
        [true, false, false, false, false, true, false]
    );
}

#[test]
fn the_printed_scenario_is_the_same_plan() {
    let first = resolve(CONTROLLED);
    let registered = Parts::registered();
    let printed = print::plan(&first, &registered);
    let second = resolve(&printed);
    assert_eq!(print::plan(&second, &registered), printed);
    assert_eq!(format!("{:?}", first.plan), format!("{:?}", second.plan));
    let traffic = printed.split("    traffic: [").nth(1).unwrap();
    insta::assert_snapshot!(traffic.split("    phases: (").next().unwrap());
}

/// A class whose switches and hosts have elements, in place of the last one.
fn with_elements() -> String {
    CONTROLLED
        .replace("Window(window: 3)", "DffaRounds()")
        .replace(
            "propagation: \"15 ns\"",
            "propagation: \"15 ns\", broadcast: (serialisation: \"20 ns\", processing: \"40 ns\")",
        )
}

/// D68: 4 and 8 cycles of 5.12 ns.
#[test]
fn broadcasts_have_times_of_their_own() {
    let resolved = resolve(&with_elements());
    let broadcast = |plan: &crate::plan::Plan| {
        let transport = plan.classes[3].control.as_ref()?.transport?;
        transport.broadcast
    };
    let expected = Broadcast {
        serialisation: 4,
        processing: 8,
    };
    assert_eq!(broadcast(&resolved.plan), Some(expected));
    assert_eq!(broadcast(&resolve(CONTROLLED).plan), None);
    let printed = print::plan(&resolved, &Parts::registered());
    let again = resolve(&printed);
    assert_eq!(format!("{:?}", again.plan), format!("{:?}", resolved.plan));
}

#[test]
fn broadcasts_and_elements_need_each_other() {
    let times = ", broadcast: (serialisation: \"20 ns\", processing: \"40 ns\")";
    let wrong = [
        (times, ""),
        (times, ", broadcast: None"),
        (times, ", broadcast: \"20 ns\""),
        ("serialisation: \"20 ns\", ", ""),
        ("serialisation: \"20 ns\"", "serialisation: \"1 ns\""),
        ("processing: \"40 ns\"", "processing: \"0 cycles\""),
        (
            "processing: \"40 ns\"",
            "processing: \"40 ns\", routing: \"1 ns\"",
        ),
        ("DffaRounds()", "Window(window: 3)"),
        ("DffaRounds()", "Dffa()"),
        ("RequestReply(outstanding: 4)", "DffaRounds()"),
        ("DffaRounds()", "DffaRounds(hold: 1)"),
    ];
    insta::assert_snapshot!(refusals("control.ron", &with_elements(), &wrong));
}

/// D57: a bound comes back from the printed plan, on VL15 or with lanes of its own it is proved.
#[test]
fn a_queue_of_answers_may_be_bounded() {
    let of = |text: &str| {
        let bounded = CONTROLLED.replace("sl: Management)", text);
        let resolved = resolve(&bounded);
        assert!(resolved.proof.acyclic && resolved.proof.held.is_some());
        resolved
    };
    for (text, queue) in [("sl: Management, queue: 1)", 1), ("sl: 3, queue: 40)", 40)] {
        let resolved = of(text);
        let bounds: Vec<_> = (resolved.plan.bounded())
            .map(|(class, control, queue)| (class, control.answers, queue))
            .collect();
        assert_eq!(bounds, [(0, 4, queue)]);
        let printed = print::plan(&resolved, &Parts::registered());
        assert!(printed.contains(&format!("queue: {queue},")), "{printed}");
        let again = resolve(&printed);
        assert_eq!(format!("{:?}", again.plan), format!("{:?}", resolved.plan));
    }
    assert!(resolve(CONTROLLED).proof.held.is_none());
}

/// Where packets choose among lanes, requests and answers need groups of their own.
#[test]
fn with_adaptive_routing_answers_need_a_group_of_their_own() {
    let resolve = |lanes: u8, levels: [&str; 2], allow: bool| {
        let text = format!(
            r#"Scenario(
                fabric: (topology: Torus(radix: [4, 4]), link: (rate: "100 Gbit/s", latency: "2 cycles"),
                         switch: (lanes: {lanes}, lane_capacity: "32 flits")),
                qos: (management_lane: true), routing: Goal(),
                traffic: [(name: "calls", flows: [(pairs: RandomPairs(count: 5))], size: "8 flits", sl: {}, control: RequestReply(),
                           answers: (sl: {}, queue: 3))],
                phases: (warmup: "100 cycles", measure: "1000 cycles"),
                allow_deadlock: {allow},
            )"#,
            levels[0], levels[1]
        );
        let document = crate::scenario::Document::parse("adaptive.ron", &text, "".as_ref());
        let resolved = document.and_then(|document| document.resolve(&Parts::registered()));
        resolved.map_err(|error| error.to_string())
    };
    assert!(resolve(6, ["0", "1"], false).unwrap().proof.acyclic);
    // VL15 is in nobody's way, and by tables of its own
    let beside = resolve(3, ["0", "Management"], false).unwrap();
    assert!(beside.proof.acyclic && beside.plan.management_tables.is_some());
    // one group for both levels, or levels that share a group
    for (lanes, levels) in [(3, ["0", "1"]), (6, ["0", "0"]), (6, ["0", "2"])] {
        let refused = resolve(lanes, levels, false).unwrap_err();
        assert!(
            refused.contains("`calls answers` in lanes 0 to 2"),
            "{refused}"
        );
        assert!(!resolve(lanes, levels, true).unwrap().proof.acyclic);
    }
}

/// Service levels and sizes of answers count like those of other classes.
#[test]
fn answers_need_levels_and_room_like_other_packets() {
    let text = CONTROLLED.replace(
        "answers: (size: \"2 flits\", sl: Management)",
        "answers: (size: \"20 flits\", sl: 3)",
    );
    let plan = resolve(&text).plan;
    assert_eq!((plan.service_level_count(), plan.largest_packet()), (4, 20));
    assert_eq!(resolve(CONTROLLED).plan.service_level_count(), 3);
}

/// (what to replace, by what).
const WRONG: &[(&str, &str)] = &[
    // values
    ("control: Cca", "control: Cca2"),
    ("control: Cca(", "control: Dcqcn("),
    ("timer: \"153.6 us\"", "timer: \"1 s\""),
    ("timer: \"153.6 us\"", "timer: 150"),
    ("timer: \"153.6 us\"", "timer: \"1 ns\""),
    ("Linear(most: 127, shift: 0)", "Linear(most: 127, shift: 4)"),
    ("Linear(most: 127, shift: 0)", "Linear(most: 127)"),
    ("outstanding: 4", "outstanding: 0"),
    ("outstanding: 4", "outstanding: -1"),
    ("outstanding: 4", "outstanding: 4, thinks: \"1 us\""),
    ("outstanding: 4", "request: 0"),
    ("outstanding: 4", "reply: \"0 B\""),
    ("outstanding: 4", "reply: \"two\""),
    ("shift: 0)", "shift: 0), per: Port"),
    ("shift: 0)", "shift: 0), trigger: 256"),
    ("RequestReply(outstanding: 4)", "5"),
    // answers
    ("(size: \"2 flits\", sl: Management)", "(size: \"0 flits\")"),
    ("(size: \"2 flits\", sl: Management)", "(size: \"8 MiB\")"),
    (
        "(size: \"2 flits\", sl: Management)",
        "(size: \"40 flits\")",
    ),
    ("(size: \"2 flits\", sl: Management)", "(sl: 16)"),
    ("(size: \"2 flits\", sl: Management)", "(sl: [1, 2])"),
    ("(size: \"2 flits\", sl: Management)", "(level: 2)"),
    ("(size: \"2 flits\", sl: Management)", "\"2 flits\""),
    ("management_lane: true", "management_lane: false"),
    (
        "management_lane: true",
        "vl_arbitration: (low: [(0, 1), (1, 1)]), management_lane: true",
    ),
    ("transport: OutOfBand(", "transport: OutOfBand2("),
    ("OutOfBand(serialisation: \"32 ns\", ", "OutOfBand("),
    ("serialisation: \"32 ns\"", "serialisation: \"0 ns\""),
    ("serialisation: \"32 ns\"", "serialisation: 32"),
    ("routing: \"100 ns\"", "routing: \"1 s\""),
    ("propagation: \"15 ns\"", "propagation: \"0 cycles\""),
    ("propagation: \"15 ns\"", "length: \"15 ns\""),
    ("outstanding: 4)", "outstanding: 4), answers: (queue: 0)"),
    (
        "outstanding: 4)",
        "outstanding: 4), answers: (queue: 1000001)",
    ),
    (
        "outstanding: 4)",
        "outstanding: 4, reply: 3), answers: (queue: 2)",
    ),
    // what does not go with what
    ("answers: (transport:", "answers: (queue: 2, transport:"),
    // answers in the lanes of the requests
    ("outstanding: 4)", "outstanding: 4), answers: (queue: 9)"),
    (
        "answers: (transport:",
        "answers: (size: \"2 flits\", transport:",
    ),
    ("answers: (transport:", "answers: (sl: 1, transport:"),
    (
        "size: \"4 flits\"",
        "size: \"4 flits\", control: RequestReply()",
    ),
    ("size: \"4 flits\"", "size: \"4 flits\", answers: (sl: 1)"),
    ("bytes: \"80 flits\"", "limit: Rate(0.5)"),
    ("bytes: \"80 flits\"", "changes: [(\"5 us\", Rate(0.5))]"),
    ("bytes: \"80 flits\"", "window: 3"),
    ("bytes: \"80 flits\"", "acknowledgement: \"1 us\""),
    ("name: \"other\"", "name: \"calls answers\""),
    (
        "marking: InfiniBand(threshold: 15)),",
        "marking: InfiniBand(threshold: 15)), host: (scheduler: Paced),",
    ),
    ("\"calls answers\"]", "\"other answers\"]"),
];

/// D44: one sender for all flows of a host needs their lanes for itself, and a scheduler that does not share by rates.
#[test]
fn groups_need_lanes_of_their_own() {
    let shared = CONTROLLED.replace("shift: 0)", "shift: 0), per: ServiceLevel");
    assert!(resolve(&shared).plan.classes[0].control.is_some());
    let refused = |text: &str| {
        let document = crate::scenario::Document::parse("control.ron", text, "".as_ref());
        let resolved = document.and_then(|document| document.resolve(&Parts::registered()));
        resolved.map_or_else(|error| error.to_string(), |_| "accepted".into())
    };
    let one_level = shared.replace("sl: 2", "sl: 1");
    let clocks = shared
        .replace(
            "\n    ),\n    qos",
            "\n        host: (scheduler: VirtualClock),\n    ),\n    qos",
        )
        .replace("most: 127", "most: 0");
    let list = [one_level, clocks].map(|text| refused(&text)).join("\n");
    assert!(!list.contains("accepted"), "{list}");
    insta::assert_snapshot!(list);
}

#[test]
fn wrong_values_are_named() {
    insta::assert_snapshot!(refusals("control.ron", CONTROLLED, WRONG));
}

#[test]
fn control_networks_need_tables() {
    let text = CONTROLLED
        .replace(", marking: InfiniBand(threshold: 15)", "")
        .replace("management_lane: true", "")
        .replace("sl: Management", "sl: 1")
        .replace("routing: MinHop()", "routing: DimensionOrder(lanes: Any)");
    let refused = document(&text).resolve(&Parts::registered());
    insta::assert_snapshot!(refused.map(|_| "accepted").unwrap_err().to_string());
}
