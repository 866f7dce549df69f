//! Signs and words of verdicts, the same all over the page.

use crate::report::Verdict;
use crate::results::Point;
use crate::study::level;

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

/// Sign and word of a point: the judgement of a search, or what is worst of its runs.
pub(super) fn of_point(point: &Point<'_>) -> (&'static str, &'static str) {
    if point.failed > 0 && point.judgement.is_none() {
        return (sign(Verdict::Deadlocked), "Failed");
    }
    match point.judgement {
        Some(level::Judgement::Sustained) => (sign(Verdict::Steady), "Sustained"),
        Some(level::Judgement::NotSustained) => (sign(Verdict::Saturated), "Not sustained"),
        Some(level::Judgement::Undecided) => ("?", "Undecided"),
        None => (sign(point.verdict), word(point.verdict)),
    }
}
