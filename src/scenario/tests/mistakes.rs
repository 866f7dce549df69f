//! Wrong values: every message names place, key path, value, what is allowed, and the nearest match.

use super::{FULL, document, parts};
use crate::scenario::Document;
use crate::scenario::syntax::parser::parse;
use proptest::prelude::*;
use std::fmt::Write;
use std::path::Path;

/// (what to replace, by what).
const WRONG: &[(&str, &str)] = &[
    (
        "latency: \"100 ns\"),",
        "latency: \"100 ns\", retry: (bit_error_rate: 1)),",
    ),
    (
        "latency: \"100 ns\"),",
        "latency: \"100 ns\", retry: (bit_error_rate: 1e-3)),",
    ),
    (
        "latency: \"100 ns\"),",
        "latency: \"100 ns\", retry: (errors: 1e-9)),",
    ),
    (
        "latency: \"100 ns\"),",
        "latency: \"100 ns\", retry: (bit_error_rate: 1e-9, delay: \"1 s\")),",
    ),
    ("unit: Packets", "unit: Bytes"),
    ("unit: Packets", "rules: Legacy"),
    ("unit: Packets", "places: Inputs"),
    ("unit: Packets", "places: InputsAndChannels"),
    ("accept: HighFirst", "accept: LowFirst"),
    ("input_speedup: 2", "input_speedup: Unlimited"),
    ("hosts: 3, rate", "hosts: \"three\", rate"),
    ("flows: true, percentiles", "flows: false, percentiles"),
    ("percentiles: true", "percentiles: All"),
    ("hops: true", "hops: 3"),
    ("hosts: 3, rate", "hosts: -3, rate"),
    ("hosts: 3, rate", "hosts: 3, hosts: 4, rate"),
    ("Some(\"20 Gbit/s\")", "Some(\"20 Gbit\")"),
    ("topology: Line(switches: 4", "topology: Line(4"),
    (
        "topology: Line(switches: 4, hosts: 3, rate: Some(\"20 Gbit/s\"))",
        "topology: Line",
    ),
    (
        "topology: Line(switches: 4",
        "topology: KaryTree(switches: 4",
    ),
    ("topology: Line(switches: 4", "topology: Line(switch: 4"),
    (
        "topology: Line(switches: 4",
        "topology: Line(switches: \"four\"",
    ),
    ("topology: Line(switches: 4", "topology: Line(switches: 0"),
    ("hosts: 3, rate: Some(\"20 Gbit/s\")", "hosts: 0"),
    ("Some(\"20 Gbit/s\")", "\"7 bit/s\""),
    ("topology: Line", "topolgy: Line"),
    ("seed: 0x2A", "seed: -1"),
    ("seed: 0x2A", "seed: 1, seed: 2"),
    ("flit: \"64 B\"", "flit: \"64 flits\""),
    ("latency: \"100 ns\"", "latency: \"100 parsec\""),
    ("latency: \"100 ns\"", "latency: \"1 ns\""),
    ("latency: \"100 ns\"", "latency: 100"),
    ("rate: \"10 Gbit/s\", ", ""),
    ("lanes: 4", "lanes: 33"),
    ("lanes: 4", "lanes: 16"),
    ("lanes: 4", "lanes: 3"),
    ("lane_capacity: \"4 KiB\"", "lane_capacity: \"4 flits\""),
    ("queues: Voq", "queues: VOQ"),
    ("sharing: PerLane", "sharing: PortPool"),
    ("input_speedup: 2", "input_speedup: 0"),
    ("input_speedup: 2", "input_speedup: 70000"),
    ("matching: OutputFirst", "matching: InputFirst"),
    ("iterations: 2", "iterations: 0"),
    ("claims: Off", "claims: Never"),
    ("claims: Off", "claims: Every(16)"),
    ("claims: Off", "claims: Every(\"16 cycles\")"),
    (
        "output_arbitration: OldestFirst",
        "output_arbitration: Random",
    ),
    (
        "credit_latency: Some(\"3 cycles\")",
        "credit_latency: \"0 cycles\"",
    ),
    (
        "credit_latency: Some(\"3 cycles\")",
        "credit_latency: Automatic",
    ),
    ("threshold: \"8 flits\"", "threshold: \"0 flits\""),
    ("sink_rate: \"5 Gbit/s\"", "sink_rate: \"3 Gbit/s\""),
    ("(0, 4)", "(0, 300)"),
    ("(3, 1)", "(3, 0)"),
    ("Packets(32)", "256"),
    ("management_lane: true", "management_lane: yes"),
    ("routing: shortest()", "routing: Shortets"),
    ("name: \"mix\"", "name: \"bulk\""),
    ("Range(2, 5)", "Range(2, 12)"),
    ("EveryNth(4, 1)", "EveryNth(4, 12)"),
    ("\"H1.0\"", "\"H1.5\""),
    ("[0, \"S3\"]", "[0, 4]"),
    ("Range(2, 5)", "Some(2, 5)"),
    ("pattern: Next, ", "pattern: 5, "),
    ("load: 0.6", "load: 1.5"),
    ("load: 0.6", "laod: 0.6"),
    ("load: 0.6", ""),
    ("size: \"512 B\"", "size: \"8 MiB\""),
    ("(\"2 KiB\", 1)", "(\"0 flits\", 1)"),
    ("[(\"64 B\", 3), (\"2 KiB\", 1)]", "[]"),
    ("sl: [0, 1]", "sl: 16"),
    ("sl: [0, 1]", "sl: 4"),
    ("sl: [0, 1]", "sl: [1, 0, 1]"),
    ("List([4, \"H1.0\", 0])", "List([4, \"H1.0\", 3])"),
    ("Switches([0, \"S3\"])", "Switches([3, \"S3\"])"),
    ("sl: [0, 1]", "sl: []"),
    ("packets: 1000", "packets: 0"),
    ("measure: \"10000 cycles\"", "measure: \"0 cycles\""),
    ("phases: (", "phase: ("),
    ("traffic.bulk.process", "traffic.bluk.process"),
    ("[Fifo, Voq]", "[Fifo, Lifo]"),
    ("\"load.accepted\"", "\"load.acepted\""),
    ("relation: Equals", "relation: Equal"),
    ("allow_deadlock: false,", "allow_deadlock: false"),
    ("\"here\"", "\"here"),
    ("0x2A", "12abc"),
    ("Every(10)", "Every(0)"),
    ("Every(10)", "Fraction(2)"),
    ("Every(10)", "Most"),
    ("[\"bulk\", \"some\"]", "[\"bulk\", \"same\"]"),
    ("flows: true", "flow: true"),
];

fn verdict(text: &str) -> String {
    let resolved = Document::parse("full.ron", text, Path::new(""))
        .and_then(|document| document.resolve(&parts()));
    match resolved {
        Ok(_) => "accepted".into(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn wrong_values_are_named() {
    let mut list = String::new();
    for (right, wrong) in WRONG {
        assert!(FULL.contains(right), "{right}");
        let text = FULL.replacen(right, wrong, 1);
        writeln!(list, "{wrong}\n    {}", verdict(&text)).unwrap();
    }
    insta::assert_snapshot!(list);
}

#[test]
fn wrong_assignments_are_named() {
    let assignments = [
        "seed",
        "=5",
        "seed.more=5",
        "fabric..lanes=5",
        "fabric.swich.lanes=2",
        "fabric.switch.lane=2",
        "fabric.switch.lanes=two",
        "traffic.9.process.load=0.5",
        "traffic.bluk.process.load=0.5",
        "traffic.bulk.process.load=1.5",
        "traffic.bulk.process.laod=0.5",
        "traffic.bulk.size=512",
        "fabric.topology=Line(switches: 0)",
        "fabric.topology=Lime(switches: 1)",
        "fabric.link.rate=fast",
    ];
    let mut list = String::new();
    for assignment in assignments {
        let mut document = document(FULL);
        let set = document.set(assignment);
        let result = set.and_then(|()| document.resolve(&parts()).map(drop));
        let message = result.map_or_else(|error| error.to_string(), |()| "accepted".into());
        writeln!(list, "{message}").unwrap();
    }
    insta::assert_snapshot!(list);
}

/// The tree reads what RON reads, and nothing else.
#[test]
fn the_syntax_is_that_of_ron() {
    let texts = [
        "()",
        "( )",
        "(1,)",
        "(1, 2)",
        "[1, 2,]",
        "[,]",
        "{}",
        "{1: 2, \"a\": [3],}",
        "A",
        "A()",
        "A (1)",
        "A(b: 1,)",
        "(b: 1 c: 2)",
        "Some(1)",
        "None",
        "true",
        "-1",
        "+1",
        "1.5",
        ".5",
        "5.",
        "1e5",
        "1e-5",
        "1_000",
        "0xFF",
        "0b101",
        "0o17",
        "1u8",
        "1.0f32",
        "inf",
        "-inf",
        "NaN",
        "\"a\"",
        "\"a\\n\\\"\\\\\\t\\u{41}\\x41\"",
        "\"\\q\"",
        "r\"a\"",
        "r#\"a\"b\"#",
        "r##\"a\"#\"##",
        "'a'",
        "'\\n'",
        "''",
        "b\"a\"",
        "b'a'",
        "r#abc",
        "// x\n1",
        "/* x /* y */ */ 1",
        "/* x",
        "1 2",
        "(1",
        "[1",
        "{1: 2",
        "\"a",
        "--1",
        "0x",
        "",
        ")",
        "a-b",
        "(a: )",
        "(: 1)",
        "#![enable(implicit_some)]\n1",
        "#![enable(implicit_some)\n1",
        "\"\\\n   a\"",
    ];
    let mut differences = Vec::new();
    for text in texts {
        let ron = ron::from_str::<Box<ron::value::RawValue>>(text).is_ok();
        let tree = parse(text, 0).is_ok();
        if ron != tree {
            differences.push((text, ron, tree));
        }
        if let Ok(node) = parse(text, 0) {
            let printed = node.to_text();
            assert_eq!(parse(&printed, 0).map(|node| node.to_text()), Ok(printed));
        }
    }
    assert_eq!(differences, []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// No text makes the reader panic: cut, doubled, changed anywhere.
    #[test]
    fn no_text_panics(cut in 0..FULL.len(), at in 0..FULL.len(), length in 0usize..40, insert in "\\PC{0,6}|[(){}\\[\\]:,\"#'\\\\.\\-0-9a-zA-Z/*\n]{0,4}") {
        verdict(FULL.get(..cut).unwrap_or_default());
        let end = (at + length).min(FULL.len());
        if let (Some(before), Some(after)) = (FULL.get(..at), FULL.get(end..)) {
            verdict(&format!("{before}{insert}{after}"));
        }
        verdict(&insert);
    }

    #[test]
    fn no_assignment_panics(path in "(fabric|traffic|seed|qos|[a-z.\\[\\]0-9]{0,8})(\\.(switch|0|bulk|process|lanes|[a-z0-9]{0,4})){0,3}", value in "\\PC{0,12}") {
        let mut document = document(FULL);
        if document.assign(&path, &value).is_ok() {
            let _ = document.resolve(&parts());
        }
    }
}
