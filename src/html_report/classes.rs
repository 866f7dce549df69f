//! The table of traffic classes of a run.

use super::numbers::{NONE, count, cycles, share, whole};
use crate::measure::LatencySummary;
use crate::report::summary::{ClassSummary, ServiceLevels, Summary};
use maud::{Markup, html};

/// Makes it.
pub(super) fn table(summary: &Summary) -> Markup {
    html! {
        div class="scroll" {
            table {
                caption { "Traffic classes" }
                thead {
                    tr {
                        th class="text" { "class" } th { "service level" } th { "offered" } th { "accepted" }
                        th { "rejected" } th { "dropped" }
                        @for clock in ["network", "packet"] {
                            th { (clock) " latency: mean" } th { "50 %" } th { "95 %" } th { "99 %" } th { "max" }
                        }
                        th { "jitter" }
                    }
                    tr {
                        th class="unit" {} th class="unit" { "SL" }
                        th class="unit" { "of link rate" } th class="unit" { "of link rate" }
                        th class="unit" { "packets" } th class="unit" { "packets" }
                        @for _ in 0..11 { th class="unit" { "cycles" } }
                    }
                }
                tbody { @for class in &summary.classes { (row(class)) } }
            }
        }
    }
}

fn row(class: &ClassSummary) -> Markup {
    let jitter = cycles(class.jitter.mean);
    html! {
        tr {
            td class="text" { (class.name) } td { (levels(&class.sl)) }
            td { (share(class.offered)) } td { (share(class.accepted)) }
            td { (count(class.rejected)) } td { (count(class.dropped)) }
            (latency(&class.latency.network))
            (latency(&class.latency.packet))
            td { (jitter) }
        }
    }
}

fn latency(latency: &LatencySummary) -> Markup {
    html! {
        td { (cycles(latency.mean)) } td { (whole(latency.p50)) } td { (whole(latency.p95)) }
        td { (whole(latency.p99)) } td { (whole(latency.max)) }
    }
}

fn levels(levels: &ServiceLevels) -> String {
    match levels {
        ServiceLevels::None => NONE.into(),
        ServiceLevels::One(level) => level.to_string(),
        ServiceLevels::Several(levels) => {
            let levels: Vec<String> = levels.iter().map(u8::to_string).collect();
            levels.join(" ")
        }
    }
}
