//! One run in detail.

use super::numbers::{NONE, count, mebibytes, place, seconds, share};
use super::signs::{sign, word};
use super::{classes, figure, flows, jobs};
use crate::figures::{FigureError, of_run};
use crate::report::Summary;
use crate::results::tables::ChannelUse;
use crate::results::{Across, Detailed};
use maud::{Markup, html};

/// Channels named in the table of the busiest.
const NAMED: usize = 10;

/// Makes it. Where there are several runs they are numbered and told by the place of their point.
pub(super) fn section(
    shown: Detailed<'_>,
    several: Option<(usize, &Across)>,
) -> Result<Markup, FigureError> {
    let run = shown.run;
    let figures = of_run(run)?;
    let summary = &run.summary;
    let verdict = summary.run.verdict;
    let work = &summary.work;
    Ok(html! {
        section {
            @match several {
                Some((number, across)) => {
                    h2 id=(format!("run-{number}")) {
                        "Run in detail: "
                        @if !shown.label.is_empty() { (shown.label) ", " }
                        "point at " (place(across, shown.x)) ", seed " (run.manifest.seed)
                    }
                    p {
                        b { (sign(verdict)) " " (word(verdict)) } ": " (run.manifest.reason) ". "
                        span class="small" { (run.path.display()) }
                    }
                }
                None => { h2 id="run-1" { "The run in detail" } }
            }
            (jobs::table(summary))
            (classes::messages(summary))
            (classes::table(summary))
            (flows::table(summary))
            p class="small" {
                "Least and most accepted load of a single sending host: " (share(summary.load.accepted_min_host)) " and "
                (share(summary.load.accepted_max_host)) " of the link rate. Simulated on " (run.manifest.host_name) " in "
                (seconds(work.wall_seconds)) " (" (seconds(work.cpu_seconds)) " of processor time, "
                (mebibytes(work.peak_rss_bytes)) "): " (count(work.flit_hops)) " flit hops, "
                (count(work.flit_hops_per_cpu_second as u64)) " per second of processor time."
            }
            div class="figures" { @for drawn in &figures { (figure(drawn)) } }
            (busiest(&run.channels()?, summary))
        }
    })
}

/// The busiest channels, by both of their ends.
fn busiest(channels: &[ChannelUse], summary: &Summary) -> Markup {
    let mut busiest: Vec<&ChannelUse> = channels.iter().collect();
    busiest.sort_by(|a, b| b.utilisation.total_cmp(&a.utilisation));
    busiest.truncate(NAMED);
    busiest.retain(|channel| channel.utilisation > 0.0);
    html! {
        @if !busiest.is_empty() {
            div class="scroll" {
                table {
                    caption {
                        "The busiest of " (count(channels.len() as u64)) " channels; mean of all "
                        (share(summary.channels.utilisation.mean))
                    }
                    thead { tr {
                        th class="text" { "from" } th { "port" } th class="text" { "to" } th { "port" }
                        th { "fraction of time" }
                    } }
                    tbody {
                        @for channel in busiest {
                            tr {
                                td class="text" { (channel.source()) } td { (channel.source_port().unwrap_or(NONE)) }
                                td class="text" { (channel.target()) } td { (channel.target_port().unwrap_or(NONE)) }
                                td { (share(channel.utilisation)) }
                            }
                        }
                    }
                }
            }
        }
    }
}
