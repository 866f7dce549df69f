//! What the scenario claims, and what was found.

use super::numbers::{self, NONE, plural};
use crate::chart::bars::three_digits;
use crate::results::Claim;
use maud::{Markup, html};

/// Makes it; nothing without claims.
pub(super) fn section(claims: &[Claim]) -> Markup {
    if claims.is_empty() {
        return html! {};
    }
    let count = |verdict: &str| {
        let chosen = claims.iter().filter(|claim| claim.verdict == verdict);
        chosen.count()
    };
    html! {
        section {
            h2 id="claims" { "Expected results" }
            p {
                (plural(claims.len(), "claim", "claims")) ": " (count("reproduced")) " reproduced, "
                (count("ordering only")) " by order only, " (count("differs")) " different from the source, "
                (count("fails")) " failed."
            }
            div class="scroll" {
                table {
                    thead { tr {
                        th { "Verdict" } th class="text" { "Claim" } th { "Published" } th { "Found" } th { "Expected" }
                        th class="text" { "Source" }
                    } }
                    tbody { @for claim in claims { (row(claim)) } }
                }
            }
        }
    }
}

fn row(claim: &Claim) -> Markup {
    let number = |value: Option<f64>| match value {
        None => NONE.into(),
        Some(count) if count >= 1.0 && count.fract() == 0.0 => numbers::count(count as u64),
        Some(value) => three_digits(value),
    };
    html! {
        tr {
            td { (sign(&claim.verdict)) " " (claim.verdict) }
            td class="text wrap" {
                (claim.claim)
                @if claim.verdict != "reproduced" && !claim.deviation.is_empty() { br; small { (claim.deviation) } }
            }
            td { (number(claim.published)) }
            td {
                @match (claim.seeds.as_str(), claim.estimate) {
                    ("Lower", Some(middle)) => { (number(Some(middle))) " (from " (number(claim.found)) ")" }
                    ("Upper", Some(middle)) => { (number(Some(middle))) " (to " (number(claim.found)) ")" }
                    _ => { (number(claim.found)) }
                }
            }
            td { (relation(&claim.relation)) }
            td class="text" { (claim.source) }
        }
    }
}

/// `≥ 1.35`, `= 1 ± 10 %` of the form that files have.
fn relation(text: &str) -> String {
    [(">=", "\u{2265}"), ("<=", "\u{2264}"), ("+-", "\u{b1}")]
        .iter()
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// The sign of a verdict, which does not depend on colour.
fn sign(verdict: &str) -> &'static str {
    match verdict {
        "reproduced" => "\u{2714}",
        "ordering only" => "\u{2265}",
        "differs" => "\u{2260}",
        _ => "\u{2716}",
    }
}
