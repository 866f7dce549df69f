//! Every pair of options: refused where the table of pairs says so, else run with the laws checked, with equal digests for several
//! shards, and for a run that goes on from its state in the middle.

use crate::drawn::is_drawn;
use crate::runs;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use virtlane::measure::digest::Digest;
use virtlane::scenario::pairs::Feature::{self, *};
use virtlane::scenario::pairs::PAIRS;
use virtlane::scenario::{Document, Parts, Resolved};

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
    phases: (warmup: "50 cycles", measure: "350 cycles"),
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
        OpenVoq => (
            &["routing=MinimalAdaptive()", "fabric.switch.queues=Voq"],
            &[Adaptive, Open, Voq],
        ),
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
        Delays => (
            &[
                class!(third: "flows: [(pairs: Permutations(count: 1))], control: InfiniBand(timer: \"40 cycles\", table: Linear(most: 15, shift: 2))"),
            ],
            &[],
        ),
        SharedSender => (
            &[
                class!(third: "flows: [(pairs: Permutations(count: 1))], control: InfiniBand(timer: \"40 cycles\", table: Linear(most: 15, shift: 2), per: ServiceLevel)"),
            ],
            &[Delays],
        ),
        RateScheduler => (&["fabric.host.scheduler=Paced"], &[]),
        Looks => (
            &[
                class!(third: "flows: [(pairs: Permutations(count: 1))], control: Inc(interval: \"50 cycles\", few: 4)"),
            ],
            &[Delays],
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

Every pair of the options named here that is in no row, and of these with some twenty others (forwarding, arbitration, marks, links that
repeat, delays, flows, control, records), runs in the tests: with the laws checked, equal digests in one shard and in three, and when it
goes on from a saved state. What is sent where packets are dropped must be nothing that would have to be sent again: no messages, windows,
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

/// Options of which no row of the table says anything, with what else is on then.
const OTHERS: &[(&str, &[&str], &[Feature])] = &[
    (
        "stored and forwarded",
        &["fabric.switch.forwarding=StoreAndForward"],
        &[],
    ),
    (
        "first come first served",
        &["fabric.switch.output_arbitration=FirstComeFirstServed"],
        &[],
    ),
    (
        "oldest first",
        &["fabric.switch.output_arbitration=OldestFirst"],
        &[],
    ),
    (
        "marks by requests",
        &["fabric.switch.marking=(threshold: \"8 flits\")"],
        &[],
    ),
    (
        "RoCE's marks",
        &["fabric.switch.marking=Ecn(k_min: \"4 flits\", k_max: \"16 flits\", p_max: 0.5)"],
        &[],
    ),
    (
        "dropping what is held",
        &["fabric.switch.drop=(sl: [0], rule: Held)"],
        &[],
    ),
    (
        "links that repeat",
        &["fabric.link.retry=(bit_error_rate: 0.0001, delay: \"20 cycles\")"],
        &[],
    ),
    (
        "delays",
        &[
            "fabric.switch.allocation_delay=\"2 cycles\"",
            "fabric.switch.crossbar_delay=\"1 cycles\"",
            "fabric.switch.credit_latency=\"5 cycles\"",
        ],
        &[],
    ),
    (
        "slow links of hosts",
        &["fabric.host_link=(rate: \"50 Gbit/s\", latency: \"3 cycles\")"],
        &[],
    ),
    ("layers", &["routing=Lash()"], &[]),
    (
        "any lane",
        &["routing=UpDown(lanes: Any)"],
        &[Adaptive, Open],
    ),
    (
        "flows in turn",
        &["fabric.host.scheduler=WeightedRoundRobin(Flits)"],
        &[],
    ),
    ("bounded flow queues", &["fabric.host.flow_queue=2"], &[]),
    ("packets observed", &["observe.packets=All"], &[]),
    ("queues observed", &["observe.queues=true"], &[]),
    (
        "several levels",
        &[
            "traffic.1=(name: \"flows\", hosts: All, size: \"256 B\", sl: [1, 3, 0], flows: [(pairs: AllToAll())])",
        ],
        &[],
    ),
    (
        "messages of several levels",
        &[
            "traffic.2=(name: \"third\", hosts: All, size: \"256 B\", sl: [2, 3], messages: Trace(file: \"trace.csv\"))",
        ],
        &[Messages],
    ),
    (
        "packets of VL15",
        &[
            "qos.management_lane=true",
            "traffic.2=(name: \"third\", hosts: All, size: \"256 B\", sl: Management, pattern: Uniform, process: Bernoulli(load: 0.1))",
        ],
        &[Vl15],
    ),
    (
        "flows with a process",
        &[class!(flows: "flows: [(pairs: Permutations(count: 1), process: Bernoulli(load: 0.2))]")],
        &[],
    ),
    (
        "windows and limits",
        &[
            class!(flows: "flows: [(pairs: Permutations(count: 1), window: 3, acknowledgement: \"20 cycles\", limit: Rate(0.2))]"),
        ],
        &[],
    ),
    (
        "phases",
        &[
            class!(flows: "flows: [(pairs: Permutations(count: 1), bytes: \"1 KiB\", phase: (\"job\", 0)), (pairs: AllToAll(), bytes: \"1 KiB\", start: \"10 cycles\", phase: (\"job\", 1))]"),
        ],
        &[],
    ),
    (
        "DCQCN",
        &[class!(third: "flows: [(pairs: Permutations(count: 1))], control: Dcqcn()")],
        &[],
    ),
    (
        "requests and replies",
        &[
            class!(third: "flows: [(pairs: Permutations(count: 1))], control: RequestReply(outstanding: 2)"),
        ],
        &[],
    ),
    (
        "SAA",
        &[class!(third: "flows: [(pairs: Permutations(count: 1))], control: Saa()")],
        &[],
    ),
    (
        "mixed sizes",
        &[
            "traffic.0=(name: \"plain\", hosts: All, pattern: Uniform, process: Bernoulli(load: 0.3), size: Mixed([(\"64 B\", 3), (\"512 B\", 1)]))",
        ],
        &[],
    ),
];

/// What is refused for the fabric, not for an option.
const APART: [[&str; 2]; 1] = [["SetUp", "slow links of hosts"]];

/// An option: what it is called, what switches it on, and what is on then.
struct Switched {
    name: String,
    settings: &'static [&'static str],
    on: Vec<Feature>,
}

/// All of them.
fn all() -> Vec<Switched> {
    let features = Feature::ALL.iter().map(|&feature| {
        let (settings, others) = settings(feature);
        let on = others.iter().copied().chain([feature]).collect();
        let name = format!("{feature:?}");
        Switched { name, settings, on }
    });
    let others = OTHERS.iter().map(|&(name, settings, on)| Switched {
        name: name.to_owned(),
        settings,
        on: on.to_vec(),
    });
    features.chain(others).collect()
}

/// The settings of both, unless they are different values of one key.
fn together(pair: [&Switched; 2]) -> Option<Vec<&'static str>> {
    let mut by_key = BTreeMap::new();
    let settings = || pair.iter().flat_map(|one| one.settings.iter().copied());
    for setting in settings() {
        let (key, value) = setting.split_once('=').expect("a key and its value");
        if *by_key.entry(key).or_insert(value) != value {
            return None;
        }
    }
    Some(settings().collect::<BTreeSet<_>>().into_iter().collect())
}

/// Whether a row of the table has two of what is on.
fn is_refused(pair: [&Switched; 2]) -> bool {
    let is_on = |feature: Feature| pair.iter().any(|one| one.on.contains(&feature));
    PAIRS
        .iter()
        .any(|row| is_on(row.first) && is_on(row.second))
}

#[test]
fn every_pair_goes_together_unless_the_table_says_that_it_does_not() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (file, class) in [("trace.csv", "third"), ("flows.csv", "flows")] {
        std::fs::write(folder.path().join(file), trace(class)).expect("writable");
    }
    let all = all();
    let pairs = all.iter().enumerate();
    let pairs =
        pairs.flat_map(|(number, first)| all[number..].iter().map(move |second| [first, second]));
    let (mut wrong, mut accepted, mut refused) = (String::new(), 0, 0);
    for (number, pair) in pairs.enumerate() {
        let names = pair.map(|one| one.name.as_str());
        let Some(changes) = together(pair).filter(|_| !APART.contains(&names)) else {
            continue;
        };
        match judge(folder.path(), is_refused(pair), &changes, is_drawn(number)) {
            Ok(true) => accepted += 1,
            Ok(false) => refused += 1,
            Err(reason) => {
                let [first, second] = names;
                writeln!(wrong, "{first} and {second}: {reason}").expect("a text");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(
        accepted > 1000 && refused > 50,
        "{accepted} were accepted, {refused} refused"
    );
}

/// Whether a pair is accepted, as it should unless it is refused, and ran, if it is to; the reason if not so.
fn judge(base: &Path, is_refused: bool, changes: &[&str], is_to_run: bool) -> Result<bool, String> {
    let mut document = Document::parse("pairs.ron", BASE, base).expect("it is a scenario");
    for change in changes {
        document.set(change).map_err(|error| error.to_string())?;
    }
    let resolved = match (document.resolve(&Parts::registered()), is_refused) {
        (Ok(resolved), false) => resolved,
        (Err(error), true) if error.to_string().contains("not go with") => return Ok(false),
        (Err(error), _) => return Err(format!("refused: {error}")),
        (Ok(_), true) => return Err(String::from("accepted")),
    };
    if !is_to_run {
        return Ok(true);
    }
    let whole = [[1, 1], [2, 3]].map(|cut| runs::run(&resolved, cut).records.digest);
    let [one, other] = whole;
    let [through, resumed] = [false, true].map(|resumes| in_two(&resolved, resumes));
    let is_same = one == other && through == resumed;
    let digests = || format!("digests {one:?}, {other:?}, {through:?}, {resumed:?}");
    is_same.then_some(true).ok_or_else(digests)
}

/// Digest of all deliveries; `resumes`: another simulation goes on with the state of the middle.
fn in_two(resolved: &Resolved, resumes: bool) -> Digest {
    let (middle, end) = (210, 400);
    let mut simulation = runs::simulation(resolved, [1, 2]);
    simulation.run_until(middle).expect("readable messages");
    if resumes {
        let state = simulation.save().expect("a state");
        simulation = runs::simulation(resolved, [2, 2]);
        simulation
            .restore(middle, &state, false)
            .expect("the same network");
    }
    simulation.run_until(end).expect("readable messages");
    runs::digest(&simulation)
}
