//! What somebody who knows the field says of small random runs, by counts alone, against the verdict.
//!
//! Every scenario is made of a kind of question with a known answer: conservation and completeness from the counters of the
//! run, the load against a bound known by hand, the length of the window against packets and hosts.

use super::run;
use crate::runs::resolve;
use rayon::prelude::*;
use virtlane::rng::{Purpose, Stream, below, stream};
use virtlane::run::Outcome;
use virtlane::run::outcome::Verdict;
use virtlane::scenario::Resolved;

const SCENARIOS: u64 = 100;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// A job with time enough; beside it this part of what the sink of the background takes.
    Finished(f64),
    /// A job with a bound that comes first.
    CutShort,
    /// A job in a measurement of fixed length.
    Fixed,
    /// An incast at this part of its bound.
    Load(f64),
    /// The same, in a window of so many cycles.
    Tiny(f64, u64),
    /// Next to nothing.
    Idle,
}

struct Case {
    text: String,
    kind: Kind,
}

fn pick<T: Copy>(rng: &mut Stream, values: &[T]) -> T {
    values[below(rng, values.len() as u32) as usize]
}

/// One switch: hosts from the fifth on send to host 1, or to host 0 in the background.
#[allow(clippy::too_many_lines, reason = "one draw after the other")]
fn case(seed: u64) -> Case {
    let rng = &mut stream(seed, Purpose::Pattern, 7);
    let kind = match seed % 10 {
        0 | 1 => Kind::Finished(pick(rng, &[0.0, 0.3, 0.6])),
        2 => Kind::Finished(pick(rng, &[1.3, 2.0])),
        3 => Kind::CutShort,
        4 => Kind::Fixed,
        5 => Kind::Load(pick(rng, &[0.2, 0.5, 0.7])),
        6 => Kind::Load(pick(rng, &[1.2, 1.6, 2.0])),
        7 => Kind::Tiny(
            pick(rng, &[0.2, 0.5]),
            u64::from(pick(rng, &[50_u32, 200, 500])),
        ),
        8 => Kind::Tiny(
            pick(rng, &[0.2, 0.5]),
            u64::from(pick(rng, &[20_u32, 100, 300])),
        ),
        _ => Kind::Idle,
    };
    let senders = 3 + below(rng, 6);
    let size = pick(rng, &[4_u32, 16, 32]);
    let packets = 2 + below(rng, 30);
    let latency = pick(rng, &[1_u32, 20, 400]);
    let queues = pick(rng, &["Fifo", "Voq"]);
    let control = pick(
        rng,
        &[
            "",
            ", control: Window(window: 2), answers: (size: \"1 flits\", sl: 1)",
            ", control: Dcqcn(), answers: (size: \"1 flits\", sl: 1)",
        ],
    );
    let job = format!(
        "(name: \"job\", hosts: Range(0, {}), flows: [(pairs: Incast(to: 1), bytes: \"{} flits\")], size: \"{size} flits\"{control})",
        senders + 1,
        packets * size,
    );
    let load = |part: f64| {
        format!(
            "(name: \"load\", hosts: Range(4, {}), pattern: HotSpot(targets: [0], fraction: 1.0), process: Bernoulli(load: {}), size: \"{size} flits\")",
            senders + 3,
            part / f64::from(senders)
        )
    };
    let (traffic, phases) = match kind {
        Kind::Finished(0.0) => (
            job,
            "warmup: \"0 cycles\", measure: Flows(at_most: \"10000000 cycles\")".to_owned(),
        ),
        Kind::Finished(part) => (
            format!("{job}, {}", load(part)),
            "warmup: \"0 cycles\", measure: Flows(at_most: \"10000000 cycles\")".to_owned(),
        ),
        Kind::CutShort => (
            job,
            format!(
                "warmup: \"0 cycles\", measure: Flows(at_most: \"{} cycles\"), drain: \"0 cycles\"",
                1 + below(rng, 200)
            ),
        ),
        Kind::Fixed => (
            job,
            format!(
                "warmup: \"{} cycles\", measure: \"{} cycles\", drain: \"0 cycles\"",
                below(rng, 200),
                100 + below(rng, 20_000)
            ),
        ),
        Kind::Load(part) => (
            load(part),
            "warmup: \"5000 cycles\", measure: \"60000 cycles\"".to_owned(),
        ),
        Kind::Tiny(part, cycles) => (
            load(part),
            format!("warmup: \"100 cycles\", measure: \"{cycles} cycles\""),
        ),
        Kind::Idle => (
            load(1e-6),
            "warmup: \"0 cycles\", measure: \"20000 cycles\"".to_owned(),
        ),
    };
    let text = format!(
        "Scenario(title: \"expert\", seed: {seed},
         fabric: (topology: EdgeList(switches: 1, hosts_per_switch: 14), flit: \"64 B\",
                  link: (rate: \"100 Gbit/s\", latency: \"{latency} cycles\"),
                  switch: (lanes: 2, lane_capacity: \"4096 flits\", queues: {queues})),
         routing: UpDown(),
         traffic: [{traffic}], phases: ({phases}))"
    );
    Case { text, kind }
}

/// Flows with a size, and those of which all flits were delivered.
fn completeness(resolved: &Resolved, outcome: &Outcome) -> (usize, usize) {
    let flows = resolved.plan.flows.iter().zip(&outcome.flow_counts);
    let sized = || flows.clone().filter(|(flow, _)| flow.flits.is_some());
    let complete = sized().filter(|(flow, counts)| {
        let sent = counts.sent.created.flits;
        let delivered = counts.arrived.delivered.flits;
        assert!(
            delivered <= sent && Some(sent) <= flow.flits,
            "nothing from nothing"
        );
        Some(delivered) == flow.flits
    });
    (complete.count(), sized().count())
}

/// The verdicts that fit, from the best.
fn fitting(case: &Case, resolved: &Resolved, outcome: &Outcome) -> Vec<Verdict> {
    let (complete, all) = completeness(resolved, outcome);
    let delivered: u64 = outcome
        .records
        .classes
        .iter()
        .map(|class| class.delivered_packets)
        .sum();
    match case.kind {
        Kind::Finished(_) => {
            assert_eq!(complete, all, "there is time enough");
            vec![Verdict::Complete]
        }
        _ if all > 0 && complete == all => vec![Verdict::Complete],
        Kind::CutShort => vec![Verdict::Incomplete],
        // the job goes on; its load is what the link takes
        Kind::Fixed => vec![Verdict::Steady, Verdict::Undecided, Verdict::Saturated],
        Kind::Load(part) if part > 1.0 => vec![Verdict::Saturated],
        Kind::Load(_) => vec![Verdict::Steady],
        Kind::Idle => vec![Verdict::Undecided],
        Kind::Tiny(_, cycles) => {
            let packet = u64::from(resolved.plan.largest_packet());
            if delivered < 32 || cycles < 20 * packet {
                vec![Verdict::Undecided]
            } else {
                vec![Verdict::Steady, Verdict::Undecided]
            }
        }
    }
}

/// What an expert says of what runs beside a job.
fn fitting_beside(part: f64, outcome: &Outcome) -> Vec<Verdict> {
    let class = &outcome.records.classes[1];
    if class.delivered_packets < 32 {
        // what is asked of the sink is known
        return vec![Verdict::Undecided];
    }
    match part {
        part if part > 1.0 => vec![Verdict::Saturated, Verdict::Undecided],
        _ => vec![Verdict::Steady, Verdict::Undecided],
    }
}

/// Verdict of a scenario; what does not fit is told.
fn judge(seed: u64) -> Result<Verdict, String> {
    let case = case(seed);
    let resolved = resolve(&case.text, &[]);
    let outcome = run(&resolved);
    let told = |fitting: &[Verdict]| {
        let (kind, verdict, reason) = (case.kind, outcome.verdict, &outcome.reason);
        let classes = &outcome.classes;
        format!(
            "{seed} {kind:?}: {fitting:?}, not {verdict}: {reason}\n{classes:?}\n{}\n",
            case.text
        )
    };
    let fitting = fitting(&case, &resolved, &outcome);
    let (complete, all) = completeness(&resolved, &outcome);
    let words = format!("{complete} of {all} flows with a size complete");
    if !fitting.contains(&outcome.verdict) || outcome.reason.contains(&words) != (all > 0) {
        return Err(told(&fitting));
    }
    let beside = outcome.classes.get(1).cloned().flatten();
    let fits = match (case.kind, beside) {
        (Kind::Finished(part), Some(beside)) => {
            let fitting = fitting_beside(part, &outcome);
            part > 0.0 && fitting.contains(&beside.verdict)
        }
        (Kind::Finished(part), None) => part <= 0.0,
        (_, beside) => beside.is_none(),
    };
    if fits {
        Ok(outcome.verdict)
    } else {
        Err(told(&[]))
    }
}

#[test]
fn verdicts_are_those_of_an_expert() {
    let judged: Vec<Result<Verdict, String>> = (0..SCENARIOS).into_par_iter().map(judge).collect();
    let wrong: Vec<&String> = judged
        .iter()
        .filter_map(|judged| judged.as_ref().err())
        .collect();
    let all: String = wrong.iter().map(|text| text.as_str()).collect();
    assert!(wrong.is_empty(), "{} of {SCENARIOS}:\n{all}", wrong.len());
    // every kind of answer is given
    for verdict in [
        Verdict::Complete,
        Verdict::Incomplete,
        Verdict::Steady,
        Verdict::Undecided,
        Verdict::Saturated,
    ] {
        let given = judged.iter().flatten().filter(|given| **given == verdict);
        let given = given.count();
        assert!(given >= 5, "{verdict}: {given}");
    }
}
