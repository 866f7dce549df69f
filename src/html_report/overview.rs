//! The head of the page: title, verdict, the facts a reader asks for first.

use super::numbers::{
    NONE, count, cycle_length, cycles, measured, plural, real_rate, real_time, share, whole,
};
use super::signs::sign;
use super::verdict::judge;
use crate::measure::LatencySummary;
use crate::metrics::shown;
use crate::report::summary::{JobSummary, SlowestFlow, Summary};
use crate::results::{Curves, Results};
use maud::{Markup, html};

/// Jobs that have a box.
const MOST_JOBS: usize = 4;

/// Makes it.
pub(super) fn section(results: &Results, curves: &Curves<'_>, title: &str) -> Markup {
    let judgement = judge(results, curves);
    html! {
        header {
            h1 { (title) }
            div class=(format!("verdict {}", judgement.verdict)) {
                b { (sign(judgement.verdict)) " " (judgement.heading) }
                @match &judgement.reasons[..] {
                    [only] => { p { (only) } }
                    several => { ul { @for reason in several { li { (reason) } } } }
                }
            }
            (facts(results))
            p class="small" {
                "Simulated with Virtlane " (versions(results)) ", every packet exact to the cycle. "
                "Words are explained " a href="#words" { "below" } "."
            }
        }
    }
}

fn versions(results: &Results) -> String {
    let mut versions: Vec<&str> = results
        .runs
        .iter()
        .map(|run| run.manifest.version.as_str())
        .collect();
    versions.sort_unstable();
    versions.dedup();
    versions.join(" and ")
}

/// Small boxes. What differs between runs is left out.
fn facts(results: &Results) -> Markup {
    let first = &results.runs[0];
    let same = |value: fn(&Summary) -> String| {
        let mut values = results.runs.iter().map(|run| value(&run.summary));
        let first = values.next().unwrap_or_default();
        values.all(|value| value == first).then_some(first)
    };
    let fabric = same(|s| plural(s.fabric.hosts, "host", "hosts"));
    let size = same(|s| {
        let switches = plural(s.fabric.switches, "switch", "switches");
        format!(
            "{switches}, {}, diameter {}",
            plural(s.fabric.channels, "channel", "channels"),
            s.fabric.diameter
        )
    });
    let engine = same(|s| s.routing.engine.clone());
    let proof = same(|s| {
        let paths = if s.routing.minimal {
            "shortest paths"
        } else {
            "paths with detours"
        };
        let proof = if s.routing.deadlock_free {
            "proved free of deadlock"
        } else {
            "NOT proved free of deadlock"
        };
        let unreachable = match s.routing.unreachable_pairs {
            0 => String::new(),
            pairs => format!(
                ", {} of hosts without a way",
                plural(pairs as usize, "pair", "pairs")
            ),
        };
        format!(
            "{paths}, {}, {proof}{unreachable}",
            plural(s.routing.layers as usize, "layer", "layers")
        )
    });
    let cycle = same(|s| cycle_length(s.scenario.cycle_ns));
    let reason = first.cycle_time().and_then(|time| time.split_once(": "));
    let cycle_time = cycle.map(|cycle| match reason {
        Some((_, reason)) => format!("{cycle}: {reason}"),
        None => cycle,
    });
    let window = same(|s| plural(s.run.cycles.measure as usize, "cycle", "cycles"));
    html! {
        dl class="facts" {
            (fact("Fabric", fabric, size))
            (fact("Routing", engine, proof))
            (fact("Measured", window, cycle_time))
            @if results.runs.len() == 1 {
                (single(&first.summary))
            } @else {
                (fact("Runs", Some(count(results.runs.len() as u64)), Some(seeds(results))))
            }
        }
    }
}

fn seeds(results: &Results) -> String {
    let mut seeds: Vec<u64> = results.runs.iter().map(|run| run.manifest.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    match seeds.len() {
        few @ ..=8 => {
            let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
            format!(
                "{} {}",
                if few == 1 { "seed" } else { "seeds" },
                seeds.join(", ")
            )
        }
        many => format!("{many} seeds"),
    }
}

/// How long the jobs took, one box each.
fn completions(summary: &Summary) -> Markup {
    let whole = summary.jobs.iter().filter(|job| job.application.is_none());
    html! {
        @for job in whole.take(MOST_JOBS) { (completion(job, summary)) }
    }
}

fn completion(job: &JobSummary, summary: &Summary) -> Markup {
    let time = job.completion.map_or_else(
        || NONE.into(),
        |cycles| real_time(cycles as f64, summary.scenario.cycle_ns),
    );
    let last = job.last_delivery.map_or_else(String::new, |last| {
        format!(", the last in cycle {}", count(last))
    });
    let slowest = job.slowest.as_ref().map_or_else(String::new, |slowest| {
        let SlowestFlow { flow, from, to, .. } = slowest;
        format!("; slowest: flow {flow}, {from} to {to}")
    });
    let (complete, all) = (count(job.complete), count(job.count));
    let note = format!("{complete} of {all} {} complete{last}{slowest}", job.of);
    let title = match summary.jobs.len() {
        1 => "Completion time".to_owned(),
        _ => format!("Completion time, {}", job.class),
    };
    fact(&title, Some(time), Some(note))
}

fn single(summary: &Summary) -> Markup {
    let (load, scenario) = (&summary.load, &summary.scenario);
    let (network, packet) = (&summary.latency.network, &summary.latency.packet);
    let rate = |load| real_rate(load, scenario.reference_rate);
    let mean = |latency: &LatencySummary| match latency.mean {
        None => NONE.into(),
        mean => format!("{} cycles", cycles(mean)),
    };
    let note = |latency: &LatencySummary| {
        let Some(mean) = latency.mean else {
            return "no measured packet was delivered".into();
        };
        format!(
            "{}; p50 {}, p99 {}, max {}",
            real_time(mean, scenario.cycle_ns),
            whole(latency.p50),
            whole(latency.p99),
            whole(latency.max)
        )
    };
    html! {
        (completions(summary))
        (fact(
            "Accepted load",
            Some(share(load.accepted)),
            Some(format!(
                "{} of {} offered ({}), at links of {}",
                rate(load.accepted), share(load.offered), rate(load.offered), rate(1.0)
            )),
        ))
        (fact("Mean packet latency", Some(mean(packet)), Some(note(packet))))
        (fact("Mean network latency", Some(mean(network)), Some(note(network))))
        (fact(
            "Busiest channel",
            Some(share(summary.channels.utilisation.max)),
            Some(format!("of the time; mean {}", share(summary.channels.utilisation.mean))),
        ))
        @for found in shown::fact_boxes(&summary.values) {
            (fact(
                found.title,
                Some(measured(found.value, found.decimals, found.unit)),
                Some(found.note.into()),
            ))
        }
    }
}

fn fact(name: &str, value: Option<String>, note: Option<String>) -> Markup {
    html! {
        div {
            dt { (name) }
            dd {
                (value.unwrap_or_else(|| "several".into()))
                @if let Some(note) = note { span { (note) } }
            }
        }
    }
}
