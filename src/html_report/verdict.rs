//! What came out, in a sentence.

use super::numbers::{place, plural, share};
use crate::report::Verdict;
use crate::results::{Across, Curve, Curves, Point, Results};
use crate::study::found::Finding;
use crate::study::level;
use crate::study::saturation::Behaviour;

/// Curves that are told one by one.
const MOST_CURVES: usize = 8;

/// A word, a sign beside it, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Judgement {
    pub(super) verdict: Verdict,
    pub(super) heading: String,
    pub(super) reasons: Vec<String>,
}

/// The sign of a verdict, which does not depend on colour.
pub(super) fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Complete | Verdict::Steady => "\u{2714}",
        Verdict::Undecided => "?",
        Verdict::Saturated => "\u{25b2}",
        Verdict::Incomplete => "\u{25d0}",
        Verdict::Deadlocked => "\u{2716}",
        Verdict::Interrupted => "\u{2026}",
    }
}

/// The verdict with a capital letter.
pub(super) fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Complete => "Complete",
        Verdict::Steady => "Steady",
        Verdict::Undecided => "Undecided",
        Verdict::Saturated => "Saturated",
        Verdict::Incomplete => "Incomplete",
        Verdict::Deadlocked => "Deadlocked",
        Verdict::Interrupted => "Interrupted",
    }
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
    let failures = results.failed.len();
    let runs = results.runs.len() + failures;
    let number = |verdict| results.count(verdict);
    let worst_first = Verdict::ALL.into_iter().rev();
    let worst = worst_first.into_iter().find(|verdict| number(*verdict) > 0);
    let verdict = worst.filter(|verdict| !verdict.keeps_up());
    let best = match worst.unwrap_or(Verdict::Steady) {
        Verdict::Steady if number(Verdict::Complete) > 0 => "Steady or complete",
        verdict => word(verdict),
    };
    let heading = match verdict {
        None if failures == 0 => format!("{best}: all {runs} runs"),
        None => format!("{best}: {} of {runs} runs", runs - failures),
        Some(verdict) => format!("{}: {} of {runs} runs", word(verdict), number(verdict)),
    };
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
    if let Some(failed) = results.failed.first() {
        let failures = plural(failures, "run", "runs");
        reasons.push(format!(
            "{failures} could not be simulated; the first: {}",
            failed.reason
        ));
    }
    Judgement {
        verdict: worst.unwrap_or(Verdict::Steady),
        heading,
        reasons,
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
    let label = match finding.label() {
        label if label.is_empty() => label,
        label => format!("{label}: "),
    };
    let beyond = finding.beyond();
    let beyond = beyond.map_or(String::new(), |beyond| format!("; {beyond}"));
    format!("{label}{}{beyond}", finding.point())
}

/// Sign and word of a point: the judgement of a search, or the worst verdict of its runs.
pub(super) fn of_point(point: &Point<'_>) -> (&'static str, &'static str) {
    match point.judgement {
        Some(level::Judgement::Sustained) => (sign(Verdict::Steady), "Sustained"),
        Some(level::Judgement::NotSustained) => (sign(Verdict::Saturated), "Not sustained"),
        Some(level::Judgement::Undecided) => ("?", "Undecided"),
        None => (sign(point.verdict), word(point.verdict)),
    }
}

fn of_curves(curves: &Curves<'_>) -> Vec<String> {
    let shown = curves.curves.iter().take(MOST_CURVES);
    let mut reasons: Vec<String> = shown
        .map(|curve| match curve.label.as_str() {
            "" => along(curve, &curves.across),
            label => format!("{label}: {}", along(curve, &curves.across)),
        })
        .collect();
    if let Some(more @ 1..) = curves.curves.len().checked_sub(MOST_CURVES) {
        reasons.push(format!("and {more} more curves, see the table"));
    }
    reasons
}

/// Where a curve stops being steady, or complete.
fn along(curve: &Curve<'_>, across: &Across) -> String {
    let what = match across {
        Across::Offered => "offered load",
        Across::Setting { path, .. } => path,
    };
    let place = |x: f64| place(across, x);
    let first_not = curve
        .points
        .iter()
        .position(|point| !point.verdict.keeps_up());
    let all = &curve.points[..first_not.unwrap_or(curve.points.len())];
    let steady = match all {
        [_, ..] if all.iter().all(|point| point.verdict == Verdict::Complete) => "complete",
        _ => "steady",
    };
    let accepted = |point: &Point<'_>| point.mean(|summary| Some(summary.load.accepted));
    let most = curve
        .points
        .iter()
        .filter_map(accepted)
        .map(|interval| interval.mean)
        .fold(0.0, f64::max);
    let most = share(most);
    let last = curve.points.last().map_or(0.0, |point| point.x);
    match first_not {
        None if curve.points.len() == 1 => {
            format!("{steady} at {}, accepted load {most}", place(last))
        }
        None => format!("{steady} up to {}, the highest that was run", place(last)),
        Some(0) if curve.points.len() == 1 => {
            format!("not steady at {}, accepted load {most}", place(last))
        }
        Some(0) => format!("not steady at any {what} that was run; accepted load at most {most}"),
        Some(first) => format!(
            "{steady} up to {}, no longer at {}; accepted load at most {most}",
            place(curve.points[first - 1].x),
            place(curve.points[first].x)
        ),
    }
}
