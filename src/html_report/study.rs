//! All runs together: curves and the table of points.

use super::numbers::{NONE, interval, real_time, share};
use super::signs::of_point;
use super::{criteria, failures, figure};
use crate::figures::{FigureError, of_study};
use crate::report::summary::Summary;
use crate::results::{Across, Curves, Point, Results};
use maud::{Markup, html};

/// Makes it.
pub(super) fn section(results: &Results, curves: &Curves<'_>) -> Result<Markup, FigureError> {
    let figures = of_study(curves)?;
    Ok(html! {
        section {
            h2 id="all" { "All runs together" }
            div class="figures" { @for drawn in &figures { (figure(drawn)) } }
            (points(curves))
            (criteria::table(curves))
            (failures::section(results))
        }
    })
}

/// One row per point.
fn points(curves: &Curves<'_>) -> Markup {
    let (heading, unit) = match &curves.across {
        Across::Offered => ("offered load", "fraction of link rate"),
        Across::Setting { path, unit } => (path.as_str(), unit.as_str()),
    };
    let jobs = curves.jobs();
    let has_labels = curves.curves.iter().any(|curve| !curve.label.is_empty());
    html! {
        div class="scroll" {
            table {
                caption {
                    "Every point" @if curves.has_replications() {
                        ": mean over its runs \u{b1} half of the 95 % confidence interval"
                    }
                }
                thead {
                    tr {
                        @if has_labels { th class="text" { "curve" } }
                        th { (heading) } th { "runs" } th class="text" { "verdict" }
                        @if !jobs.is_empty() { th class="text" { "beside it" } }
                        @for class in &jobs {
                            th { "completion" @if jobs.len() > 1 { ", " (class) } } th { "time" }
                        }
                        th { "accepted load" } th { "mean packet latency" } th { "p99" }
                        th { "mean network latency" } th { "busiest channel" }
                    }
                    tr {
                        @if has_labels { th class="unit" {} }
                        th class="unit" { (unit) } th class="unit" { "number" } th class="unit" {}
                        @if !jobs.is_empty() { th class="unit" {} }
                        @for _ in &jobs { th class="unit" { "cycles" } th class="unit" {} }
                        th class="unit" { "fraction of link rate" } th class="unit" { "cycles" } th class="unit" { "cycles" }
                        th class="unit" { "cycles" } th class="unit" { "fraction of time" }
                    }
                }
                tbody {
                    @for curve in &curves.curves {
                        @for point in &curve.points {
                            tr {
                                @if has_labels { td class="text" { (curve.label) } }
                                (row(point, &curves.across, &jobs))
                            }
                        }
                    }
                }
            }
        }
    }
}

/// How many runs the means are of, and of how many where some gave none.
fn runs(point: &Point<'_>) -> String {
    let (counted, all) = (point.counted(), point.runs.len() + point.failed);
    if counted == all {
        all.to_string()
    } else {
        format!("{counted} of {all}")
    }
}

/// What is told of loads beside jobs.
fn beside(point: &Point<'_>) -> String {
    let told = point.beside().into_iter();
    let told = told.map(|(class, verdict)| format!("{class}: {}", verdict.word()));
    told.collect::<Vec<_>>().join(", ")
}

/// The mean completion of a job in units of the world.
fn time(point: &Point<'_>, class: &str) -> String {
    let cycle = point.runs.first().map(|run| run.summary.scenario.cycle_ns);
    let mean = point.completion(class).map(|interval| interval.mean);
    mean.zip(cycle)
        .map_or_else(|| NONE.into(), |(cycles, ns)| real_time(cycles, ns))
}

fn row(point: &Point<'_>, across: &Across, jobs: &[&str]) -> Markup {
    let x = match across {
        Across::Offered => share(point.x),
        Across::Setting { .. } => point.x.to_string(),
    };
    let (sign, word) = of_point(point);
    let mean =
        |number: fn(&Summary) -> Option<f64>, decimals| interval(point.mean(number), decimals);
    html! {
        td { (x) }
        td { (runs(point)) }
        td class="text" { (sign) " " (word) }
        @if !jobs.is_empty() { td class="text" { (beside(point)) } }
        @for class in jobs {
            td { (interval(point.completion(class), 0)) }
            td { (time(point, class)) }
        }
        td { (mean(|s| Some(s.load.accepted), 4)) }
        td { (mean(|s| s.latency.packet.mean, 1)) }
        td { (mean(|s| s.latency.packet.p99.map(|p99| p99 as f64), 0)) }
        td { (mean(|s| s.latency.network.mean, 1)) }
        td { (mean(|s| Some(s.channels.utilisation.max), 3)) }
    }
}
