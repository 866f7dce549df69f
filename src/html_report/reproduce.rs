//! Plans, and how to run them again.

use super::numbers::plural;
use crate::results::{Detailed, Results, Run};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, html};

/// Makes it.
pub(super) fn section(results: &Results, detailed: &[Detailed<'_>]) -> Markup {
    let has_others = results.runs.len() > detailed.len();
    html! {
        section {
            h2 id="repeat" { "How to repeat it" }
            p {
                "A plan is a complete scenario: every default is filled in. The same plan gives the same digest on every "
                "machine, with any number of threads; equal digests mean that every packet was delivered at the same time."
            }
            @if has_others {
                p {
                    "Plans of the " (plural(detailed.len(), "run", "runs")) " in detail follow; for another one: "
                    code { "virtlane report DIRECTORY" } "."
                }
            }
            @for (number, shown) in detailed.iter().enumerate() { (repeat(shown.run, number == 0, detailed.len() > 1)) }
            @if results.runs.len() > 1 { (all_runs(results)) }
        }
    }
}

fn repeat(run: &Run, is_open: bool, has_heading: bool) -> Markup {
    let plan = run.plan();
    let manifest = &run.manifest;
    let link = format!(
        "data:application/octet-stream;base64,{}",
        STANDARD.encode(&plan)
    );
    html! {
        @if has_heading { h3 { (run.path.display()) } }
        p {
            "Save the plan as " code { "plan.ron" } " ("
            a download="plan.ron" href=(link) class="noprint" { "save it from this page" }
            span class="noprint" { "; " } "files that it names are looked for beside it), then run it with Virtlane "
            (manifest.version) ":"
        }
        pre { "virtlane run plan.ron --threads " (manifest.threads) " --shards " (manifest.shards) }
        table {
            tr { td { "seed" } td class="text" { code { (manifest.seed) } } }
            tr { td { "digest" } td class="text" { code { (manifest.digest) } } }
        }
        details open[is_open] {
            summary { "The full plan" }
            pre { (plan) }
        }
    }
}

/// Directory, seed and digest of every run.
fn all_runs(results: &Results) -> Markup {
    html! {
        details {
            summary { "All " (results.runs.len()) " runs: seed and digest" }
            div class="scroll" {
                table {
                    thead { tr { th class="text" { "directory" } th { "seed" } th class="text" { "digest" } } }
                    tbody {
                        @for run in &results.runs {
                            tr {
                                td class="text" { (run.path.display()) }
                                td { (run.manifest.seed) }
                                td class="text" { code { (run.manifest.digest) } }
                            }
                        }
                    }
                }
            }
        }
    }
}
