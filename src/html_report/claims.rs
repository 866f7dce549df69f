//! What the scenario claims, and what was found.

use super::numbers::NONE;
use crate::chart::bars::three_digits;
use crate::results::Claim;
use maud::{Markup, html};

/// Makes it; nothing without claims.
pub(super) fn section(claims: &[Claim]) -> Markup {
    if claims.is_empty() {
        return html! {};
    }
    let holding = claims
        .iter()
        .filter(|claim| claim.verdict == "holds")
        .count();
    html! {
        section {
            h2 { "Expected results" }
            p { (holding) " of " (claims.len()) " claims of the scenario hold." }
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
    let number = |value: Option<f64>| value.map_or_else(|| NONE.into(), three_digits);
    html! {
        tr {
            td { (sign(&claim.verdict)) " " (claim.verdict) }
            td class="text wrap" {
                (claim.claim)
                @if claim.verdict == "differs" { br; small { (claim.deviation) } }
            }
            td { (number(claim.published)) }
            td { (number(claim.found)) }
            td { (claim.relation) }
            td class="text" { (claim.source) }
        }
    }
}

/// The sign of a verdict, which does not depend on colour.
fn sign(verdict: &str) -> &'static str {
    match verdict {
        "holds" => "\u{2714}",
        "differs" => "\u{2260}",
        _ => "\u{2716}",
    }
}
