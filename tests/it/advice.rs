//! What a refusal advises is followed to the letter, for every engine on every kind of fabric: it must work.

use std::collections::BTreeSet;
use std::path::Path;
use virtlane::routing::ENGINES;
use virtlane::scenario::{Document, Parts};

/// Kinds of fabrics, small.
const FABRICS: [&str; 16] = [
    "Torus(radix: [5, 5])",
    "Torus(radix: [3, 4, 5])",
    "Mesh(radix: [4, 4])",
    "Hypercube(dimensions: 4)",
    "HyperX(sizes: [3, 4])",
    "Ring(switches: 7)",
    "Dragonfly(p: 2, a: 4, h: 2)",
    "Dragonfly(p: 1, a: 2, h: 1, g: 2)",
    "KAryNTree(k: 2, n: 3)",
    "EnrichedTree(k: 2, n: 3, width: 1)",
    "LeafSpine(leaves: 4, spines: 2, hosts_per_leaf: 2)",
    "KAryNFly(k: 2, n: 3)",
    "Kautz(degree: 2, k: 3)",
    "Petersen()",
    "Complete(switches: 6)",
    "Irregular(switches: 20, degree: 4, seed: 3)",
];

/// Changes that make proofs harder, or more lanes needed.
const CHANGES: [&[&str]; 5] = [
    &[],
    &["fabric.switch.lanes=3"],
    &["fabric.switch.sharing=PortPool", "fabric.switch.lanes=8"],
    &[
        "fabric.switch.forwarding=Wormhole",
        "fabric.switch.input_turns=Packets",
        "fabric.switch.lanes=4",
    ],
    &["traffic.0.sl=[0, 1]", "fabric.switch.lanes=2"],
];

fn document(fabric: &str, engine: &str, changes: &[&str]) -> Document {
    let text = format!(
        r#"Scenario(
            title: "advice", seed: 1,
            fabric: (topology: {fabric}, flit: "64 B", link: (rate: "10 Gbit/s", latency: "1 cycles"),
                     switch: (lanes: 1, lane_capacity: "32 flits")),
            routing: {engine},
            traffic: [(name: "all", pattern: Uniform, process: Bernoulli(load: 0.1), size: "256 B", sl: 0)],
            phases: (warmup: "100 cycles", measure: "1000 cycles"),
        )"#
    );
    let mut document = Document::parse("advice.ron", &text, Path::new("")).expect("RON");
    for change in changes {
        document.set(change).expect("a key");
    }
    document
}

/// The first line of what is wrong; `None` when nothing is.
fn wrong(document: &Document) -> Option<String> {
    let error = document.resolve(&Parts::registered()).err()?.to_string();
    Some(error.lines().next().unwrap_or_default().to_owned())
}

/// What a message says to do, as changes of the scenario: each by itself.
fn advised(message: &str) -> Vec<Vec<String>> {
    let mut ways = Vec::new();
    if let Some(rest) = message.split("raise `fabric.switch.lanes` to ").nth(1) {
        let lanes: String = rest.chars().take_while(char::is_ascii_digit).collect();
        ways.push(vec![format!("fabric.switch.lanes={lanes}")]);
    }
    let mut pieces = message.split('`').skip(1).step_by(2).peekable();
    while let Some(piece) = pieces.next() {
        let is_engine = piece
            .strip_suffix("()")
            .is_some_and(|name| ENGINES.find(name).is_some());
        if is_engine {
            let mut way = vec![format!("routing={piece}")];
            let lanes = pieces
                .peek()
                .and_then(|next| next.strip_prefix("fabric.switch.lanes: "));
            way.extend(lanes.map(|lanes| format!("fabric.switch.lanes={lanes}")));
            ways.push(way);
        } else if piece == "sharing: PerLane" {
            ways.push(vec![
                "fabric.switch.sharing=PerLane".into(),
                "fabric.switch.input_turns=Flits".into(),
            ]);
        } else if piece == "allow_deadlock: true" {
            ways.push(vec!["allow_deadlock=true".into()]);
        }
    }
    ways
}

/// Follows every piece of advice, and what is advised then, to the end.
fn follow(document: &Document, what: &str, steps: u32, seen: &mut BTreeSet<&'static str>) {
    let Some(message) = wrong(document) else {
        return;
    };
    assert!(steps > 0, "{what}: advice without an end: {message}");
    let kinds = [
        "raise `fabric",
        "set `routing`",
        "sharing: PerLane` with",
        "; use `",
    ];
    seen.extend(kinds.iter().filter(|kind| message.contains(**kind)));
    for way in advised(&message) {
        let mut changed = document.clone();
        for change in &way {
            changed
                .set(change)
                .unwrap_or_else(|error| panic!("{what}: {message}: {error}"));
        }
        let what = format!("{what}: {message}\n  then {way:?}");
        // what was tried before it was advised works at once
        let steps = if message.contains("; use `") {
            steps - 1
        } else {
            0
        };
        follow(&changed, &what, steps, seen);
    }
}

#[test]
fn what_is_advised_works() {
    let mut seen = BTreeSet::new();
    for fabric in FABRICS {
        for engine in ENGINES.names().filter(|name| *name != "TableImport") {
            for changes in CHANGES {
                let what = format!("{engine} on {fabric} with {changes:?}");
                follow(
                    &document(fabric, &format!("{engine}()"), changes),
                    &what,
                    3,
                    &mut seen,
                );
            }
        }
    }
    assert_eq!(seen.len(), 4, "{seen:?}");
}

#[test]
fn parameters_that_forbid_lanes_are_named_and_not_the_lanes() {
    let message = wrong(&document(
        "Torus(radix: [5, 5])",
        "Lash(layers: 1)",
        &["fabric.switch.lanes=8"],
    ));
    let message = message.expect("one layer does not do");
    assert!(
        message.contains("lanes, its `layers` allow 1: raise its `layers`"),
        "{message}"
    );
    assert!(!message.contains("`fabric.switch.lanes`"), "{message}");
}

#[test]
fn valiant_on_a_dragonfly_is_told_what_helps() {
    for lanes in ["2", "8"] {
        let lanes_set = format!("fabric.switch.lanes={lanes}");
        let message = wrong(&document(
            "Dragonfly(p: 2, a: 4, h: 2)",
            "Valiant()",
            &[&lanes_set],
        ));
        let message = message.expect("it may deadlock");
        assert!(
            message.contains(
                "Valiant uses 2 lanes for each service level, so more of them change nothing"
            ),
            "{message}"
        );
        assert!(!message.contains("or more lanes"), "{message}");
        let ugal = if lanes == "2" {
            "`Ugal()` with `fabric.switch.lanes: 3`"
        } else {
            "`Ugal()` (3 lanes)"
        };
        assert!(message.contains(ugal), "{message}");
    }
}
