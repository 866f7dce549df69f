//! Runs that could not be simulated: once per reason, with the values of the axes that have it.

use super::numbers::plural;
use crate::results::Results;
use crate::study::Trouble;
use maud::{Markup, html};

/// Reasons in the verdict.
const MOST_TOLD: usize = 6;

/// Where, and why, for each reason.
fn found(results: &Results) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (number, design) in results.places.designs().enumerate() {
        let failed = results.failed.iter().filter_map(|failed| {
            let place = failed.place.filter(|place| place.study == number)?;
            Some((place.point, failed.reason.clone()))
        });
        let troubles = Trouble::by_reason(failed);
        all.extend(
            troubles
                .into_iter()
                .map(|one| (one.place(design), one.reason)),
        );
    }
    let elsewhere = results
        .failed
        .iter()
        .filter(|failed| failed.place.is_none());
    all.extend(elsewhere.map(|failed| (failed.path.display().to_string(), failed.reason.clone())));
    all
}

/// A sentence for each reason.
pub(super) fn reasons(results: &Results) -> Vec<String> {
    let found = found(results);
    let more = found.len().saturating_sub(MOST_TOLD);
    let shown = found.into_iter().take(MOST_TOLD);
    let mut reasons: Vec<String> = shown
        .map(|(place, reason)| format!("not simulated, {place}: {}", head(&reason)))
        .collect();
    if more > 0 {
        reasons.push(format!("and {more} more reasons, see below"));
    }
    reasons
}

/// The first line, without the part that announces others.
fn head(reason: &str) -> &str {
    let line = reason.lines().next().unwrap_or_default();
    match line.rsplit_once("; ") {
        Some((head, _)) if line.ends_with(':') => head,
        _ => line,
    }
}

/// The table of reasons, and the directories of the runs.
pub(super) fn section(results: &Results) -> Markup {
    html! {
        @if !results.failed.is_empty() {
            h3 { (plural(results.failed.len(), "run", "runs")) " that could not be simulated" }
            div class="scroll" {
                table {
                    @for (place, reason) in found(results) {
                        tr { td class="wrap" { (place) } td class="text wrap lines" { (reason) } }
                    }
                }
            }
            details {
                summary { "Their directories" }
                ul class="small" { @for failed in &results.failed { li { (failed.path.display()) } } }
            }
        }
    }
}
