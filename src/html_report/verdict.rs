//! What came out, in a sentence.

use super::along::along;
use super::failures;
use super::signs::word;
use crate::report::Verdict;
use crate::results::{Curves, Results};
use crate::scenario::names::setting;
use crate::study::found::Finding;
use crate::study::saturation::Behaviour;

/// Curves that are told one by one.
const MOST_CURVES: usize = 12;

/// A word, a sign beside it, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Judgement {
    pub(super) verdict: Verdict,
    pub(super) heading: String,
    pub(super) reasons: Vec<String>,
}

/// Judges everything that was run.
pub(super) fn judge(results: &Results, curves: &Curves<'_>) -> Judgement {
    if let [run] = &results.runs[..]
        && results.failed.is_empty()
    {
        let verdict = run.summary.run.verdict;
        return Judgement {
            verdict,
            heading: word(verdict).into(),
            reasons: vec![run.manifest.reason.clone()],
        };
    }
    if results.searches.len() == results.directories.len() {
        return of_searches(results);
    }
    let worst_first = Verdict::ALL.into_iter().rev();
    let worst = worst_first
        .into_iter()
        .find(|verdict| results.count(*verdict) > 0);
    let verdict = worst.filter(|verdict| !verdict.keeps_up());
    let mut reasons: Vec<String> = findings(results).map(found).collect();
    reasons.extend(of_curves(curves));
    if let Some(bad) = results
        .runs
        .iter()
        .find(|run| Some(run.summary.run.verdict) == verdict)
        && verdict != Some(Verdict::Saturated)
    {
        reasons.push(format!("{}: {}", bad.path.display(), bad.manifest.reason));
    }
    reasons.extend(failures::reasons(results));
    Judgement {
        verdict: worst.unwrap_or(Verdict::Steady),
        heading: heading(results),
        reasons,
    }
}

/// How many runs ended with which verdict, the worst first.
fn heading(results: &Results) -> String {
    let failures = results.failed.len();
    let runs = results.runs.len() + failures;
    let number = |verdict| results.count(verdict);
    let (steady, complete) = (number(Verdict::Steady), number(Verdict::Complete));
    let mut counts: Vec<(&str, usize)> = Verdict::ALL
        .into_iter()
        .rev()
        .filter(|verdict| !verdict.keeps_up())
        .map(|verdict| (word(verdict), number(verdict)))
        .collect();
    let up = match (steady, complete) {
        (_, 0) => word(Verdict::Steady),
        (0, _) => word(Verdict::Complete),
        _ => "Steady or complete",
    };
    counts.push((up, steady + complete));
    counts.push(("Not simulated", failures));
    counts.retain(|(_, count)| *count > 0);
    let mut counts = counts.into_iter();
    match counts.next() {
        Some((word, count)) if count == runs => format!("{word}: all {runs} runs"),
        Some((word, count)) => {
            let others = counts.map(|(word, count)| format!(", {}: {count}", word.to_lowercase()));
            format!(
                "{word}: {count} of {runs} runs{}",
                others.collect::<String>()
            )
        }
        None => "No runs".into(),
    }
}

/// What searches say. Their runs alone do not: a few of a load may be steady though the load is not sustained.
fn of_searches(results: &Results) -> Judgement {
    let is_deadlocked = findings(results).any(|point| point.behaviour == Behaviour::Deadlocked);
    let points = findings(results).count();
    Judgement {
        verdict: if is_deadlocked {
            Verdict::Deadlocked
        } else {
            Verdict::Steady
        },
        heading: match points {
            1 => "Saturation point".into(),
            _ => format!("Saturation points of {points} searches"),
        },
        reasons: findings(results).map(found).collect(),
    }
}

fn findings(results: &Results) -> impl Iterator<Item = &Finding> {
    results.searches.iter().flat_map(|search| &search.points)
}

fn found(finding: &Finding) -> String {
    let values = finding.values.iter();
    let words: Vec<String> = values
        .map(|(path, value)| setting(path, Some(value), None))
        .collect();
    let label = match words.join(", ") {
        label if label.is_empty() => label,
        label => format!("{label}: "),
    };
    let beyond = finding.beyond();
    let beyond = beyond.map_or(String::new(), |beyond| format!("; {beyond}"));
    format!("{label}{}{beyond}", finding.point())
}

fn of_curves(curves: &Curves<'_>) -> Vec<String> {
    let shown = curves.curves.iter().take(MOST_CURVES);
    let jobs = curves.jobs();
    let mut reasons: Vec<String> = shown
        .map(|curve| match curve.label.as_str() {
            "" => along(curve, &curves.across, &jobs),
            label => format!("{label}: {}", along(curve, &curves.across, &jobs)),
        })
        .collect();
    if let Some(more @ 1..) = curves.curves.len().checked_sub(MOST_CURVES) {
        reasons.push(format!("and {more} more curves, see the table"));
    }
    reasons
}
