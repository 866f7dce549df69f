//! One run in detail.

use super::numbers::{count, mebibytes, seconds, share};
use super::verdict::{sign, word};
use super::{classes, figure};
use crate::figures::{FigureError, of_run};
use crate::results::Detailed;
use maud::{Markup, html};

/// Makes it; `number` counts the runs where there are several.
pub(super) fn section(shown: Detailed<'_>, number: Option<usize>) -> Result<Markup, FigureError> {
    let run = shown.run;
    let figures = of_run(run)?;
    let summary = &run.summary;
    let verdict = summary.run.verdict;
    let work = &summary.work;
    Ok(html! {
        section {
            @match number {
                Some(number) => {
                    h2 id=(format!("run-{number}")) {
                        "Run in detail: "
                        @if !shown.label.is_empty() { (shown.label) ", " }
                        "offered load " (share(summary.load.offered)) ", seed " (run.manifest.seed)
                    }
                    p {
                        b { (sign(verdict)) " " (word(verdict)) } ": " (run.manifest.reason) ". "
                        span class="small" { (run.path.display()) }
                    }
                }
                None => { h2 { "The run in detail" } }
            }
            (classes::table(summary))
            (classes::messages(summary))
            p class="small" {
                "Least and most accepted load of a single sending host: " (share(summary.load.accepted_min_host)) " and "
                (share(summary.load.accepted_max_host)) " of the link rate. Simulated on " (run.manifest.host_name) " in "
                (seconds(work.wall_seconds)) " (" (seconds(work.cpu_seconds)) " of processor time, "
                (mebibytes(work.peak_rss_bytes)) "): " (count(work.flit_hops)) " flit hops, "
                (count(work.flit_hops_per_cpu_second as u64)) " per second of processor time."
            }
            div class="figures" { @for drawn in &figures { (figure(drawn)) } }
        }
    })
}
