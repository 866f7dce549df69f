//! The table of jobs of a run: what its classes had to deliver in all, and when that was.

use super::numbers::{NONE, count, cycle_length, real_time, whole};
use super::signs::{sign, word};
use crate::report::summary::{JobSummary, SlowestFlow, Summary};
use maud::{Markup, html};

/// Jobs that have a row.
const MOST: usize = 32;

/// Makes it, when some class sends messages or flows with a size; with what is told of the other classes below.
pub(super) fn table(summary: &Summary) -> Markup {
    let cycle_ns = summary.scenario.cycle_ns;
    html! {
        @if !summary.jobs.is_empty() {
            div class="scroll" {
                table {
                    caption {
                        "Jobs: messages, or flows with a size; completion from the first start (messages: cycle 0) to the last \
                         delivery; "
                        (cycle_length(cycle_ns))
                        @if summary.jobs.len() > MOST { "; the first " (MOST) " of " (summary.jobs.len()) }
                    }
                    thead {
                        tr {
                            th class="text" { "job" } th class="text" { "of" } th { "in all" } th { "complete" } th { "lost" }
                            th { "start" } th { "end" } th { "completion" } th { "time" } th class="text" { "slowest flow" }
                        }
                        tr {
                            th class="unit" colspan="5" {} th class="unit" colspan="2" { "cycle" } th class="unit" { "cycles" }
                            th class="unit" colspan="2" {}
                        }
                    }
                    tbody { @for job in summary.jobs.iter().take(MOST) { (row(job, cycle_ns)) } }
                }
            }
            (loads(summary))
        }
    }
}

fn row(job: &JobSummary, cycle_ns: f64) -> Markup {
    let time = |cycles: u64| real_time(cycles as f64, cycle_ns);
    let slowest = job.slowest.as_ref().map(|slowest| {
        let SlowestFlow {
            flow,
            from,
            to,
            completion,
        } = slowest;
        let (cycles, time) = (count(*completion), time(*completion));
        format!("flow {flow}, {from} to {to}: {cycles} cycles ({time})")
    });
    html! {
        tr {
            td class="text" { (job.name()) } td class="text" { (job.of) }
            td { (count(job.count)) } td { (count(job.complete)) } td { (whole(job.lost)) }
            td { (whole(job.first_start)) } td { (whole(job.last_delivery)) } td { (whole(job.completion)) }
            td { (job.completion.map_or_else(|| NONE.into(), time)) }
            td class="text" { (slowest.unwrap_or_else(|| NONE.into())) }
        }
    }
}

/// What is told of classes that have no job.
fn loads(summary: &Summary) -> Markup {
    let classes = summary.classes.iter();
    let told = classes.filter_map(|class| Some((&class.name, class.verdict?)));
    let loads: Vec<_> = told
        .filter(|(name, _)| summary.jobs.iter().all(|job| job.class != **name))
        .collect();
    html! {
        @for (name, verdict) in loads {
            p { "Beside it: " (name) " " b { (sign(verdict)) " " (word(verdict)) } }
        }
    }
}
