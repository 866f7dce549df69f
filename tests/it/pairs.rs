//! Every pair of options: refused where the table of pairs says so, else run with the laws checked, with equal digests for any shards.

use crate::runs;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use virtlane::scenario::pairs::Feature::{self, *};
use virtlane::scenario::pairs::PAIRS;
use virtlane::scenario::{Document, Parts};

const BASE: &str = r#"Scenario(
    title: "pairs", seed: 5,
    fabric: (
        topology: KAryNTree(k: 2, n: 2), flit: "64 B",
        link: (rate: "100 Gbit/s", latency: "3 cycles"),
        switch: (lanes: 4, lane_capacity: "16 flits"),
    ),
    routing: MinHop(),
    traffic: [
        (name: "plain", hosts: All, pattern: Uniform, process: Bernoulli(load: 0.3), size: "256 B"),
        (name: "flows", hosts: All, flows: [(pairs: Permutations(count: 1), bytes: "1 KiB")], size: "256 B", sl: 1),
        (name: "third", hosts: All, pattern: Uniform, process: Bernoulli(load: 0.1), size: "256 B", sl: 2),
    ],
    phases: (warmup: "100 cycles", measure: "600 cycles"),
)"#;

/// A class in the place of the third one, or of that with flows.
macro_rules! class {
    (third: $rest:literal) => {
        concat!(
            "traffic.2=(name: \"third\", hosts: All, size: \"256 B\", sl: 2, ",
            $rest,
            ")"
        )
    };
    (flows: $rest:literal) => {
        concat!(
            "traffic.1=(name: \"flows\", hosts: All, size: \"256 B\", sl: 1, ",
            $rest,
            ")"
        )
    };
}

/// What switches an option on, and what else is on then.
#[expect(clippy::too_many_lines, reason = "one entry for each option")]
fn settings(feature: Feature) -> (&'static [&'static str], &'static [Feature]) {
    match feature {
        Voq => (&["fabric.switch.queues=Voq"], &[]),
        PortPool => (&["fabric.switch.sharing=PortPool"], &[]),
        Speedup => (&["fabric.switch.input_speedup=2"], &[]),
        Unlimited => (&["fabric.switch.input_speedup=Unlimited"], &[]),
        OutputBuffer => (&["fabric.switch.output_buffer=\"8 flits\""], &[]),
        OutputLanes => (&["fabric.switch.output_lane_buffer=\"8 flits\""], &[]),
        InputFirst => (&["fabric.switch.matching=InputFirst"], &[]),
        Rounds => (&["fabric.switch.iterations=2"], &[]),
        Random => (&["fabric.switch.output_arbitration=Random"], &[]),
        Reserve => (&["fabric.switch.reserve=true"], &[]),
        Wormhole => (&["fabric.switch.forwarding=Wormhole"], &[]),
        KeptInputs => (
            &[
                "fabric.switch.forwarding=Wormhole",
                "fabric.switch.input_turns=Packets",
            ],
            &[Wormhole],
        ),
        Claims => (&["fabric.switch.claims=Every(\"64 cycles\")"], &[]),
        VlTables => (
            &["qos.vl_arbitration=(high: [(0, 1), (1, 1), (2, 1), (3, 1)], low: [])"],
            &[],
        ),
        LegacyTables => (
            &[
                "qos.vl_arbitration=(high: [(0, 1), (1, 1), (2, 1), (3, 1)], low: [], rules: Legacy)",
            ],
            &[VlTables],
        ),
        HighFirst => (
            &[
                "qos.vl_arbitration=(high: [(0, 1), (1, 1)], low: [(2, 1), (3, 1)], accept: HighFirst)",
            ],
            &[VlTables],
        ),
        Vl15 => (&["qos.management_lane=true"], &[]),
        MarksByPace => (&["fabric.switch.marking=InfiniBand()"], &[]),
        DropByFill => (
            &["fabric.switch.drop=(sl: [0], rule: Threshold(\"16 flits\"))"],
            &[],
        ),
        Adaptive => (&["routing=AdaptiveAscent()"], &[]),
        Open => (&["routing=MinimalAdaptive()"], &[Adaptive]),
        Admission => (
            &[
                class!(flows: "flows: [(pairs: Permutations(count: 1), bytes: \"1 KiB\")], requests: (peak: 0.1)"),
                "admission=(control: AdmitAll())",
            ],
            &[],
        ),
        SlowSink => (&["fabric.host.sink_rate=\"50 Gbit/s\""], &[]),
        BoundedAnswers => (
            &[
                class!(third: "flows: [(pairs: Permutations(count: 1))], control: Window(window: 2), answers: (queue: 2, sl: 3)"),
                // in a pool requests and answers share their room
                "allow_deadlock=true",
            ],
            &[],
        ),
        OutOfBand => (
            &[
                class!(third: "flows: [(pairs: Permutations(count: 1))], control: Window(window: 2), answers: (transport: OutOfBand(serialisation: \"1 cycles\", processing: \"0 cycles\", routing: \"0 cycles\", propagation: \"1 cycles\"))"),
            ],
            &[],
        ),
        Looks => (
            &[
                class!(third: "flows: [(pairs: Permutations(count: 1))], control: Inc(interval: \"50 cycles\", few: 4)"),
            ],
            &[],
        ),
        Reservation => (
            &[
                class!(third: "flows: [(pairs: Permutations(count: 1), bytes: \"1 KiB\")], requests: (peak: 0.1), control: Reservation()"),
            ],
            &[],
        ),
        SetUp => (
            &[
                class!(third: "flows: [(pairs: Permutations(count: 1), bytes: \"1 KiB\")], control: SetUp()"),
            ],
            &[],
        ),
        Messages => (
            &[class!(third: "messages: Trace(file: \"trace.csv\")")],
            &[],
        ),
        BoundedSources => (&["fabric.host.source_queue=4"], &[]),
        Waits => (
            &[class!(flows: "flows: [(pairs: Messages(source: Trace(file: \"flows.csv\")))]")],
            &[],
        ),
        Carry => (&["fluid.carry=Routes"], &[]),
        Trees => (&["observe.congestion=\"100 cycles\""], &[]),
    }
}

/// The page that shows the table.
const PAGE: &str = "docs/pairs.md";

/// Its head.
const HEAD: &str = "\
# What does not go together

Options that are not named here go together, with everything else: every pair runs in the tests, with the laws checked and equal
digests for any shards. What is sent where packets are dropped must be nothing that would have to be sent again: no messages, windows,
control, phases. The rules are those of [the model](model.md). This page is written by the tests
(`VIRTLANE_WRITE=1 cargo test the_page_shows_the_table`).

| option | not with | why |
|---|---|---|
";

#[test]
fn the_page_shows_the_table() {
    let mut page = String::from(HEAD);
    for row in PAIRS {
        let [first, second] = [row.first, row.second].map(Feature::words);
        writeln!(page, "| {first} | {second} | {} |", row.why).expect("a text");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    if std::env::var_os("VIRTLANE_WRITE").is_some() {
        std::fs::write(&path, &page).expect("writable");
    }
    let shown = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        shown == page,
        "{PAGE} is not the table: VIRTLANE_WRITE=1 cargo test the_page_shows_the_table"
    );
}

/// Messages that wait for each other, of the class of that name.
fn trace(class: &str) -> String {
    let mut text = String::from("time [cycles],source,destination,bytes,class,after\n");
    for (number, [source, destination]) in [[0, 1], [1, 2], [2, 3], [3, 0]].iter().enumerate() {
        let after = number
            .checked_sub(1)
            .map_or(String::new(), |before| before.to_string());
        writeln!(text, "0,{source},{destination},1000,{class},{after}").expect("a text");
    }
    text
}

/// The settings of both, unless they are different values of one key.
fn together(pair: [Feature; 2]) -> Option<Vec<&'static str>> {
    let mut by_key = BTreeMap::new();
    for &setting in pair.iter().flat_map(|&feature| settings(feature).0) {
        let (key, value) = setting.split_once('=').expect("a key and its value");
        if *by_key.entry(key).or_insert(value) != value {
            return None;
        }
    }
    let all = pair.iter().flat_map(|&feature| settings(feature).0);
    Some(all.copied().collect::<BTreeSet<_>>().into_iter().collect())
}

/// Whether a row of the table has two of what is on.
fn is_refused(pair: [Feature; 2]) -> bool {
    let on: BTreeSet<Feature> = pair
        .iter()
        .flat_map(|&one| settings(one).1.iter().copied().chain([one]))
        .collect();
    PAIRS
        .iter()
        .any(|row| on.contains(&row.first) && on.contains(&row.second))
}

#[test]
fn every_pair_goes_together_unless_the_table_says_that_it_does_not() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (file, class) in [("trace.csv", "third"), ("flows.csv", "flows")] {
        std::fs::write(folder.path().join(file), trace(class)).expect("writable");
    }
    let (mut wrong, mut ran, mut refused) = (String::new(), 0, 0);
    for (number, &first) in Feature::ALL.iter().enumerate() {
        for &second in &Feature::ALL[number..] {
            let Some(changes) = together([first, second]) else {
                continue;
            };
            let told = judge(folder.path(), [first, second], &changes);
            match told {
                Ok(true) => ran += 1,
                Ok(false) => refused += 1,
                Err(reason) => {
                    writeln!(wrong, "{first:?} and {second:?}: {reason}").expect("a text");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(
        ran > 300 && refused > 40,
        "{ran} ran, {refused} were refused"
    );
}

/// Whether a pair ran; the reason if it does something else than the table says.
fn judge(base: &Path, pair: [Feature; 2], changes: &[&str]) -> Result<bool, String> {
    let mut document = Document::parse("pairs.ron", BASE, base).expect("it is a scenario");
    for change in changes {
        document.set(change).map_err(|error| error.to_string())?;
    }
    let is_refused = is_refused(pair);
    let resolved = match (document.resolve(&Parts::registered()), is_refused) {
        (Ok(resolved), false) => resolved,
        (Err(error), true) if error.to_string().contains("not go with") => return Ok(false),
        (Err(error), _) => return Err(format!("refused: {error}")),
        (Ok(_), true) => return Err(String::from("accepted")),
    };
    let digests = [[1, 1], [2, 3]].map(|cut| runs::run(&resolved, cut).records.digest);
    let [one, other] = digests;
    (one == other)
        .then_some(true)
        .ok_or_else(|| format!("digests {one:?} and {other:?}"))
}
