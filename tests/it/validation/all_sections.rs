//! What somebody who knows the field says of random runs over all sections of the scenario language: networks, routing engines,
//! options of switches and hosts, long and short links, loads, jobs, windows of every length, against the verdict.
//!
//! What is known without the simulator's opinion: conservation, what a channel can carry, what was delivered of a job, what routes
//! and patterns ask of the channel that is full first (`bounds` has this against runs), the proof of the routes.
//! `VIRTLANE_CASES=n` changes the number of scenarios, `VIRTLANE_FIRST_CASE=n` the first seed.

use super::run;
use crate::runs::document;
use rayon::prelude::*;
use std::collections::BTreeMap;
use virtlane::rng::{Purpose, Stream, below, stream};
use virtlane::run::Outcome;
use virtlane::run::outcome::Verdict;
use virtlane::scenario::bounds::Bounds;
use virtlane::scenario::{Parts, Resolved};

const SCENARIOS: u64 = 120;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Flows with sizes, with time enough or in a measurement of so many cycles.
    Job(Option<u64>),
    /// A load at this part of its bound, measured for so many cycles.
    Load(f64, u64),
    /// Next to nothing.
    Idle,
}

struct Case {
    kind: Kind,
    text: String,
}

/// Networks with engines whose routes are proved, and one that has a cycle.
const FABRICS: [(&str, &str); 14] = [
    ("Torus(radix: [4, 4])", "DimensionOrder()"),
    ("Torus(radix: [3, 3, 2])", "Lash()"),
    ("Mesh(radix: [3, 3])", "DimensionOrder()"),
    ("Mesh(radix: [4, 4])", "XyYx()"),
    ("Hypercube(dimensions: 3)", "UpDown()"),
    ("KAryNTree(k: 2, n: 3)", "FatTree()"),
    ("KAryNTree(k: 4, n: 2)", "AdaptiveAscent()"),
    ("KAryNFly(k: 2, n: 3)", "DestinationTag()"),
    (
        "LeafSpine(leaves: 3, spines: 2, hosts_per_leaf: 3)",
        "MinHop()",
    ),
    ("Star(leaves: 4, hosts_per_leaf: 2)", "UpDown()"),
    ("Complete(switches: 4, hosts_per_switch: 2)", "MinHop()"),
    ("Ring(switches: 5)", "Dfsssp()"),
    ("Petersen(hosts_per_switch: 1)", "UpDown()"),
    ("Ring(switches: 6)", "MinHop()"),
];

const SWITCHES: [&str; 15] = [
    "",
    "queues: Voq",
    "queues: Voq, input_speedup: Unlimited",
    "queues: Voq, matching: InputFirst, iterations: 2",
    "output_buffer: \"16 flits\"",
    "output_lane_buffer: \"64 flits\"",
    "forwarding: StoreAndForward",
    "forwarding: Wormhole",
    "sharing: PortPool",
    "output_arbitration: OldestFirst",
    "output_arbitration: FirstComeFirstServed, reserve: true",
    "output_arbitration: Random, claims: Auto",
    "routing_delay: \"3 cycles\", allocation_delay: \"2 cycles\"",
    "crossbar_delay: \"4 cycles\"",
    "marking: Ecn(k_min: \"8 flits\", k_max: \"64 flits\")",
];

const PATTERNS: [&str; 6] = [
    "Uniform",
    "HotSpot(targets: [0], fraction: 0.3)",
    "RandomPermutation()",
    "Complement()",
    "Shift(by: 1)",
    "AllTo(host: 0)",
];

const FLOWS: [&str; 5] = [
    "Permutations(count: 1)",
    "Incast(to: 0)",
    "RandomPairs(count: 12)",
    "PerHost(count: 2)",
    "AllToAll()",
];

fn pick<T: Copy>(rng: &mut Stream, values: &[T]) -> T {
    values[below(rng, values.len() as u32) as usize]
}

#[allow(clippy::too_many_lines, reason = "one draw after the other")]
fn case(seed: u64) -> Case {
    let rng = &mut stream(seed, Purpose::Pattern, 8);
    let (topology, routing) = pick(rng, &FABRICS);
    let latency = pick(rng, &[1_u32, 3, 20, 60, 2000]);
    let host = pick(
        rng,
        &[
            "",
            ", host_link: (rate: \"40 Gbit/s\", latency: \"2 cycles\")",
        ],
    );
    let size = pick(rng, &[1_u32, 4, 16]);
    let switch = pick(rng, &SWITCHES);
    let process = pick(rng, &["Bernoulli", "Poisson", "ConstantRate", "OnOff"]);
    let kind = match below(rng, 10) {
        0..=2 => Kind::Job(None),
        3 => Kind::Job(Some(u64::from(1 + below(rng, 20_000)))),
        4..=6 => Kind::Load(pick(rng, &[0.1, 0.25]), pick(rng, &[6000, 20_000])),
        7 => Kind::Load(pick(rng, &[1.5, 2.0]), 8000),
        8 => Kind::Load(pick(rng, &[0.1, 0.25]), u64::from(1 + below(rng, 600))),
        _ => Kind::Idle,
    };
    let control = pick(
        rng,
        &[
            "",
            "",
            ", control: Window(window: 2), answers: (sl: 1)",
            ", control: Dcqcn(), answers: (sl: 1)",
        ],
    );
    let (traffic, phases) = match kind {
        Kind::Job(length) => {
            let flows = format!(
                "flows: [(pairs: {}, bytes: \"{} flits\")]{control}",
                pick(rng, &FLOWS),
                1 + below(rng, 300)
            );
            let measure = match length {
                None => String::from("Flows(at_most: \"50000000 cycles\")"),
                Some(cycles) => format!("\"{cycles} cycles\""),
            };
            (flows, format!("warmup: \"0 cycles\", measure: {measure}"))
        }
        Kind::Load(_, cycles) => {
            let burst = if process == "OnOff" { ", burst: 2" } else { "" };
            let load = format!(
                "pattern: {}, process: {process}(load: LOAD{burst})",
                pick(rng, &PATTERNS)
            );
            (
                load,
                format!("warmup: \"4000 cycles\", measure: \"{cycles} cycles\""),
            )
        }
        Kind::Idle => (
            String::from("pattern: Uniform, process: Bernoulli(load: 1e-8)"),
            String::from("warmup: \"100 cycles\", measure: \"9000 cycles\""),
        ),
    };
    let drain = pick(
        rng,
        &["", ", drain: \"0 cycles\"", ", drain: \"300 cycles\""],
    );
    let text = format!(
        "Scenario(title: \"all sections\", seed: {seed},
         fabric: (topology: {topology}, flit: \"64 B\", link: (rate: \"40 Gbit/s\", latency: \"{latency} cycles\"){host},
                  switch: (lanes: 4, lane_capacity: \"{} flits\", {switch})),
         routing: {routing}, allow_deadlock: {},
         traffic: [(name: \"all\", size: \"{size} flits\", {traffic})], phases: ({phases}{drain}))",
        8 * latency + 128,
        topology.starts_with("Ring(switches: 6"),
    );
    Case { kind, text }
}

/// The scenario with a load that is this part of its bound; `None`: the bound is not known, or no load reaches it.
fn at_part(text: &str, part: f64) -> Option<Resolved> {
    let with = |load: f64| {
        let text = text.replace("LOAD", &format!("{load:?}"));
        document(&text, &[]).resolve(&Parts::registered()).ok()
    };
    let tried = with(0.01)?;
    let bounds = Bounds::of(&tried);
    let bound = bounds.classes.first()?.1.load;
    let load = part * bound;
    (load <= 1.0).then(|| with(load))?
}

/// Whether the network that was found to be acyclic, or not, and the counts allow what was said; the verdicts that fit.
fn fitting(kind: Kind, resolved: &Resolved, outcome: &Outcome) -> Result<Vec<Verdict>, String> {
    conservation(resolved, outcome)?;
    if outcome.verdict == Verdict::Deadlocked {
        return if resolved.proof.acyclic {
            Err(String::from("a deadlock of routes that are proved"))
        } else {
            Ok(vec![Verdict::Deadlocked])
        };
    }
    let delivered = outcome.records.classes[0].delivered_packets;
    let measure = outcome.cycles.measure;
    let largest = u64::from(resolved.plan.largest_packet());
    let latencies = resolved.layout.graph.channels().iter();
    let latency = latencies.map(|channel| u64::from(channel.timing.latency + 5));
    // there and back over eight of the slowest
    let round = 16 * latency.max().unwrap_or(0);
    let is_little = delivered < 32 || measure < 20 * largest;
    Ok(match kind {
        Kind::Job(length) => {
            let (complete, all) = jobs(resolved, outcome)?;
            match (complete == all, length) {
                (true, _) => vec![Verdict::Complete],
                (false, None) => return Err(format!("{complete} of {all} with time enough")),
                (false, Some(_)) => vec![Verdict::Steady, Verdict::Undecided, Verdict::Saturated],
            }
        }
        Kind::Load(part, _) if part > 1.0 => vec![Verdict::Saturated],
        Kind::Load(..) if is_little => vec![Verdict::Undecided],
        Kind::Load(..) if delivered < 400 || measure < 4 * round => {
            vec![Verdict::Steady, Verdict::Undecided]
        }
        Kind::Load(..) => vec![Verdict::Steady],
        Kind::Idle => vec![Verdict::Undecided],
    })
}

/// Flows with a size, and those of which all was delivered.
fn jobs(resolved: &Resolved, outcome: &Outcome) -> Result<(usize, usize), String> {
    let mut complete = 0;
    for (number, flow) in resolved.plan.flows.iter().enumerate() {
        let counts = &outcome.flow_counts[number];
        let (sent, arrived) = (counts.sent.created.flits, counts.arrived.delivered.flits);
        if arrived > sent || Some(sent) > flow.flits {
            return Err(format!(
                "flow {number}: {arrived} of {sent} of {:?}",
                flow.flits
            ));
        }
        complete += usize::from(Some(arrived) == flow.flits);
    }
    Ok((complete, resolved.plan.flows.len()))
}

/// Nothing from nothing, and no channel above what it can carry.
fn conservation(resolved: &Resolved, outcome: &Outcome) -> Result<(), String> {
    for class in &outcome.records.classes {
        let ended = class.tagged_delivered + class.lost.tagged;
        if ended > class.tagged_created {
            return Err(format!("{ended} of {} tagged", class.tagged_created));
        }
    }
    let channels = resolved.layout.graph.channels().iter();
    for (channel, id) in channels.zip(resolved.layout.graph.channel_ids()) {
        let pace = u64::from(channel.timing.cycles_per_flit);
        let flits = outcome.records.channels.flits(id);
        // one that has begun when the window does
        if flits.saturating_sub(1) * pace > outcome.cycles.measure {
            return Err(format!("{flits} flits over {id:?}, one in {pace} cycles"));
        }
    }
    Ok(())
}

/// Verdict of a scenario; `None`: there is no such load. What does not fit is told.
fn judge(seed: u64) -> Result<Option<Verdict>, String> {
    let case = case(seed);
    let resolved = match case.kind {
        Kind::Load(part, _) => match at_part(&case.text, part) {
            Some(resolved) => resolved,
            None => return Ok(None),
        },
        _ => match document(&case.text, &[]).resolve(&Parts::registered()) {
            Ok(resolved) => resolved,
            Err(_) => return Ok(None),
        },
    };
    let outcome = run(&resolved);
    let told = |what: &str| {
        let (kind, verdict, reason) = (case.kind, outcome.verdict, &outcome.reason);
        let delivered = outcome.records.classes[0].delivered_packets;
        format!(
            "{seed} {kind:?}: {what}, but {verdict}, {delivered} delivered: {reason}\n{}\n",
            case.text
        )
    };
    let fitting = fitting(case.kind, &resolved, &outcome).map_err(|wrong| told(&wrong))?;
    if fitting.contains(&outcome.verdict) {
        Ok(Some(outcome.verdict))
    } else {
        Err(told(&format!("{fitting:?}")))
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn verdicts_over_all_sections_are_those_of_an_expert() {
    let first = number("VIRTLANE_FIRST_CASE").unwrap_or(0);
    let count = number("VIRTLANE_CASES").unwrap_or(SCENARIOS);
    let judged: Vec<_> = (first..first + count).into_par_iter().map(judge).collect();
    let wrong: Vec<&String> = judged.iter().filter_map(|one| one.as_ref().err()).collect();
    let all: String = wrong.iter().map(|text| text.as_str()).collect();
    assert!(wrong.is_empty(), "{} of {count}:\n{all}", wrong.len());
    let mut given: BTreeMap<String, u64> = BTreeMap::new();
    for verdict in judged.iter().flatten() {
        let name = verdict.map_or(String::from("none"), |verdict| verdict.to_string());
        *given.entry(name).or_default() += 1;
    }
    super::note(&format!("{given:?}"));
    if count >= SCENARIOS {
        for verdict in ["complete", "steady", "undecided", "saturated"] {
            assert!(
                given.get(verdict).is_some_and(|&given| given >= 5),
                "{given:?}"
            );
        }
        let none = given.get("none").copied().unwrap_or(0);
        assert!(none * 4 < count, "too many that cannot be: {given:?}");
    }
}
