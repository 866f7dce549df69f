//! Rates are those of links, whatever classes the flows on them are of (D73): one file in `virtlane run` and in `virtlane flow`, and
//! one class against several.

use crate::program::virtlane;
use std::fs;
use std::path::Path;

/// Control packets beside the network, with times of broadcasts for `DffaRounds`.
fn beside(control: &str) -> String {
    let broadcast = match control.strip_prefix("DffaRounds") {
        Some(_) => ", broadcast: (serialisation: \"26 ns\", processing: \"52 ns\")",
        None => "",
    };
    format!(
        "(transport: OutOfBand(serialisation: \"32 ns\", processing: \"60 ns\", routing: \"100 ns\", propagation: \"15 ns\"{broadcast}))"
    )
}

/// A fabric, and its flows: ends and weights. What they share are several hops, slow links and slow sinks.
struct Case {
    fabric: &'static str,
    flows: &'static [(u32, u32, u16)],
}

const TRUNK: &str = "topology: EdgeList(switches: 2, links: [(0, 1)], hosts: [(\"a\", 0), (\"v\", 0), (\"p\", 1), (\"q\", 1), (\"x\", 1), (\"y\", 1)])";
const CHAIN: &str = "topology: EdgeList(switches: 4, links: [(0, 1), (1, 2), (2, 3)], hosts: [0, 0, 1, 1, 2, 2, 3, 3])";

const CASES: [Case; 4] = [
    // a and v share the trunk, a, p and q the link to x
    Case {
        fabric: TRUNK,
        flows: &[(0, 4, 1), (2, 4, 1), (3, 4, 1), (1, 5, 1)],
    },
    // one long flow against short ones, two of them heavier
    Case {
        fabric: CHAIN,
        flows: &[(0, 6, 1), (1, 2, 2), (3, 4, 3), (5, 7, 1), (2, 6, 1)],
    },
    // two flows out of one host
    Case {
        fabric: CHAIN,
        flows: &[(0, 4, 3), (0, 2, 1), (1, 4, 1), (3, 5, 2)],
    },
    // over levels of a tree
    Case {
        fabric: "topology: KAryNTree(k: 2, n: 3)",
        flows: &[
            (0, 7, 1),
            (1, 7, 1),
            (2, 7, 2),
            (3, 4, 1),
            (5, 4, 1),
            (6, 1, 1),
        ],
    },
];

/// The flows dealt out to so many classes in turn.
fn scenario(case: &Case, classes: usize, (control, solver): (&str, &str)) -> String {
    let beside = beside(control);
    let class = |number: usize| {
        let flows = case.flows.iter().skip(number).step_by(classes);
        let flows = flows.map(|(from, to, weight)| {
            format!("(pairs: List(pairs: [({from}, {to})]), weight: {weight})")
        });
        let flows: Vec<String> = flows.collect();
        let mut hosts: Vec<u32> = case
            .flows
            .iter()
            .skip(number)
            .step_by(classes)
            .map(|flow| flow.0)
            .collect();
        hosts.sort_unstable();
        hosts.dedup();
        format!(
            "(name: \"class {number}\", hosts: List({hosts:?}), flows: [{}], size: \"16 flits\", control: {control}, answers: {beside})",
            flows.join(", ")
        )
    };
    let all: Vec<String> = (0..classes).map(class).collect();
    format!(
        "Scenario(title: \"classes\", seed: 2,
            fabric: ({}, flit: \"64 B\", link: (rate: \"20 Gbit/s\", latency: \"2 cycles\"),
                switch: (lane_capacity: \"256 flits\", queues: Voq, input_speedup: Unlimited, output_arbitration: FirstComeFirstServed),
                host: (scheduler: Paced)),
            routing: MinHop(), allow_deadlock: true,
            fluid: (solver: {solver}),
            traffic: [{}],
            phases: (warmup: \"20000 cycles\", measure: \"{MEASURED} cycles\", drain: \"0 cycles\"),
        )",
        case.fabric,
        all.join(", ")
    )
}

const MEASURED: u32 = 16_000;

/// What paced packets of 16 flits can miss of a rate in the measurement: one at each edge, and a cycle of each that is rounded.
const TOLERANCE: f64 = 2.0 * 16.0 / MEASURED as f64 + 0.0005;

/// A column of a table, by the ends of the flow.
fn by_ends(csv: &str, name: &str) -> Vec<((u32, u32), f64)> {
    let mut lines = csv.lines();
    let heading: Vec<&str> = lines.next().expect("a heading").split(',').collect();
    let place = |name: &str| {
        let place = heading.iter().position(|column| *column == name);
        place.unwrap_or_else(|| panic!("no {name} in {heading:?}"))
    };
    let places = ["source", "destination", name].map(place);
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let [from, to, value] = places.map(|place| cells[place]);
        let ends = (from.parse().expect("a host"), to.parse().expect("a host"));
        (ends, value.parse().expect("a number"))
    };
    let mut all: Vec<_> = lines.map(row).collect();
    all.sort_unstable_by_key(|row| row.0);
    all
}

/// Rates of the flows by packets and at flow level.
fn both(folder: &Path, text: &str) -> [Vec<((u32, u32), f64)>; 2] {
    fs::write(folder.join("it.ron"), text).expect("it can be written");
    [("run", "received"), ("flow", "rate")].map(|(command, column)| {
        let told = virtlane(
            folder,
            &[command, "it.ron", "--quiet", "--out", command, "--force"],
        );
        assert_eq!(told.0, Some(0), "{command}: {}\n{text}", told.2);
        assert!(!told.2.contains("not alone"), "{}", told.2);
        let table = fs::read_to_string(folder.join(command).join("flows.csv"));
        let column = format!("{column} [fraction of link rate]");
        by_ends(&table.expect("a table"), &column)
    })
}

fn agree(control: (&str, &str)) {
    let folder = tempfile::tempdir().expect("a folder");
    for (number, case) in CASES.iter().enumerate() {
        let mut of_one_class = Vec::new();
        for classes in 1..=3 {
            let text = scenario(case, classes, control);
            let [run, flow] = both(folder.path(), &text);
            for (found, expected) in run.iter().zip(&flow) {
                assert_eq!(found.0, expected.0);
                assert!(
                    (found.1 - expected.1).abs() < TOLERANCE,
                    "{control:?}, case {number}, {classes} classes, {:?}: {} and {}",
                    found.0,
                    found.1,
                    expected.1
                );
            }
            if classes == 1 {
                of_one_class = flow;
            } else {
                assert_eq!(flow, of_one_class, "{control:?}, case {number}");
            }
        }
    }
}

#[test]
fn saa_gives_classes_what_it_gives_one() {
    agree(("Saa(period: \"1 us\")", "Saa()"));
    agree(("Saa(piggy_back: true)", "Saa()"));
}

#[test]
fn dffa_gives_classes_what_it_gives_one() {
    agree(("Dffa(begin: \"20 us\")", "Ffa()"));
    agree(("DffaRounds()", "Ffa()"));
    agree(("DffaRounds(hold: true)", "Ffa()"));
}

/// What is reserved is left out in both; slow sinks are links in both.
#[test]
fn links_are_those_of_the_flow_level() {
    for (control, solver) in [
        ("Saa(period: \"1 us\")", "Saa()"),
        ("Dffa(begin: \"20 us\")", "Ffa()"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        for (change, v) in [
            ("fluid: (reserved: 0.25, ", 0.75),
            ("fluid: (", 1.0),
            ("fluid: (reserved: 0.5, ", 0.5),
        ] {
            let text = scenario(&CASES[0], 2, (control, solver)).replace("fluid: (", change);
            let text = text.replace("host: (", "host: (sink_rate: \"10 Gbit/s\", ");
            let [run, flow] = both(folder.path(), &text);
            for (found, expected) in run.iter().zip(&flow) {
                assert!(
                    (found.1 - expected.1).abs() < TOLERANCE,
                    "{found:?} {expected:?}"
                );
            }
            // three flows into a sink that takes half a flit per cycle
            let into = flow
                .iter()
                .find(|row| row.0 == (2, 4))
                .expect("it is there")
                .1;
            assert!((into - v / 6.0).abs() < 1e-6, "{into}");
        }
    }
}

/// What `virtlane check` says, and what it warns of.
fn check(text: &str) -> (String, String) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("it.ron"), text).expect("it can be written");
    let told = virtlane(folder.path(), &["check", "it.ron"]);
    assert_eq!(told.0, Some(0), "{}", told.2);
    (told.1, told.2)
}

/// Two classes with Saa, and something else.
fn beside_others(other: &str, reserved: f64) -> String {
    let text = scenario(&CASES[0], 2, ("Saa(period: \"1 us\")", "Saa()"));
    let end = "],\n            phases:";
    let text = text.replace(end, &format!(", {other}{end}"));
    text.replace("fluid: (", &format!("fluid: (reserved: {reserved}, "))
}

#[test]
fn who_takes_of_links_without_being_counted_is_named() {
    let background = |limit: &str| {
        format!(
            "(name: \"bg\", hosts: List([1]), flows: [(pairs: List(pairs: [(1, 5)]){limit})], size: \"16 flits\")"
        )
    };
    let limited = background(", limit: Rate(0.2)");
    let (said, warned) = check(&beside_others(&limited, 0.0));
    assert!(
        said.contains("`Saa` gives `class 0` and `class 1` 1.000 of every link together"),
        "{said}"
    );
    // its host's channel and that to host 5 are those of v, in class 1, and the trunk is
    let words = "class `bg` (up to 0.2000 of 3 links). `fluid: (reserved: 0.2000)` leaves that out";
    assert!(warned.contains(words), "{warned}");
    let (said, warned) = check(&beside_others(&limited, 0.2));
    assert!(said.contains("0.800 of every link"), "{said}");
    assert_eq!(warned, "", "it fits");
    let (_, warned) = check(&beside_others(&background(""), 0.2));
    assert!(
        warned.contains("class `bg` (any part of 3 links). limit it"),
        "{warned}"
    );
    let uniform = "(name: \"bg\", hosts: List([0, 2, 5]), pattern: Uniform(), process: Bernoulli(load: 0.1), size: \"16 flits\")";
    let (_, warned) = check(&beside_others(uniform, 0.0));
    assert!(warned.contains("class `bg` (up to 0.1000 of"), "{warned}");
    // another algorithm knows nothing of these
    let other = background(", bytes: \"64 KiB\"").replace("size:", "control: SaaM(), answers: (transport: OutOfBand(serialisation: \"32 ns\", processing: \"60 ns\", routing: \"100 ns\", propagation: \"15 ns\")), size:");
    let (said, warned) = check(&beside_others(&other, 0.0));
    assert!(said.contains("`SaaM` gives `bg`"), "{said}");
    assert!(
        warned.contains("class `bg` (any part of")
            && warned.contains("class `class 1` (any part of"),
        "{warned}"
    );
    // nobody else on these links
    let apart = background("").replace("(1, 5)", "(1, 0)");
    let text = beside_others(&apart, 0.0).replace("[(1, 5)]", "[(2, 3)]");
    assert_eq!(check(&text).1, "", "{text}");
}

/// Control packets in band, which take what `check` says.
#[test]
fn control_packets_in_band_are_named_and_left_out() {
    let text = scenario(&CASES[0], 2, ("Saa(period: \"10 us\")", "Saa()"));
    let text = text.replace(&beside("Saa"), "(size: \"1 flits\")");
    let (_, warned) = check(&text);
    assert!(
        warned.contains("control packets of `class 0` (up to"),
        "{warned}"
    );
    let (_, reserved) = warned.split_once("`fluid: (reserved: ").expect("a cure");
    let reserved = reserved.split(')').next().expect("a number");
    // two flows of class 0 and one of class 1 into one host, that look every 391 cycles
    assert_eq!(reserved, "0.0077");
    let text = text.replace("fluid: (", &format!("fluid: (reserved: {reserved}, "));
    assert_eq!(check(&text).1, "");
    let folder = tempfile::tempdir().expect("a folder");
    let [run, flow] = both(folder.path(), &text);
    for (found, expected) in run.iter().zip(&flow) {
        assert!(
            (found.1 - expected.1).abs() < 2.0 * TOLERANCE,
            "{found:?} {expected:?}"
        );
    }
}

#[test]
fn weights_of_two_kinds_are_refused() {
    let text = scenario(&CASES[0], 2, ("Saa(period: \"1 us\")", "Saa()"));
    let text = text.replacen("Saa(period: \"1 us\")", "Saa(weights: Sizes)", 1);
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("it.ron"), text).expect("it can be written");
    let (code, _, error) = virtlane(folder.path(), &["check", "it.ron"]);
    assert_eq!(code, Some(2), "{error}");
    for words in [
        "traffic[1].control.weights",
        "`Given`, but class `class 0` has `Sizes`",
    ] {
        assert!(error.contains(words), "{words}: {error}");
    }
}

/// What senders do and how control packets go may differ: links are the same.
#[test]
fn parameters_and_networks_may_differ() {
    for (one, other, solver) in [
        ("Saa(period: \"1 us\")", "Saa(piggy_back: true)", "Saa()"),
        (
            "Dffa(begin: \"20 us\")",
            "Dffa(begin: \"30 us\", one_packet: false)",
            "Ffa()",
        ),
        ("DffaRounds()", "DffaRounds(hold: true)", "Ffa()"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        for case in &CASES {
            let text = scenario(case, 2, (one, solver));
            let (first, second) = text.split_once("(name: \"class 1\"").expect("two classes");
            let second = second
                .replace(one, other)
                .replace("serialisation: \"32 ns\"", "serialisation: \"260 ns\"")
                .replace("propagation: \"15 ns\"", "propagation: \"900 ns\"");
            let [run, flow] = both(folder.path(), &format!("{first}(name: \"class 1\"{second}"));
            for (found, expected) in run.iter().zip(&flow) {
                assert!(
                    (found.1 - expected.1).abs() < TOLERANCE,
                    "{one} and {other}: {found:?} {expected:?}"
                );
            }
        }
    }
}
