//! The table of traffic classes of a run.

use super::numbers::{NONE, count, cycle_length, cycles, share, whole};
use crate::measure::LatencySummary;
use crate::report::summary::{ClassSummary, ServiceLevels, Summary};
use maud::{Markup, html};

/// The table of messages, when some class sends any.
pub(super) fn messages(summary: &Summary) -> Markup {
    let sending = summary.classes.iter();
    let sending: Vec<_> = sending
        .filter_map(|class| Some((class, class.messages.as_ref()?)))
        .collect();
    html! {
        @if !sending.is_empty() {
            div class="scroll" {
                table {
                    caption { "Messages; latency from the first packet made to the last packet delivered; " (cycle_length(summary.scenario.cycle_ns)) }
                    thead {
                        tr {
                            th class="group" {} th class="group" colspan="3" { "messages" }
                            th class="group" colspan="5" { "latency" }
                        }
                        tr {
                            th class="text" { "class" } th { "in all" } th { "delivered" } th { "last" }
                            th { "mean" } th { "p50" } th { "p95" } th { "p99" } th { "max" }
                        }
                        tr {
                            th class="unit" colspan="3" {} th class="unit" { "cycle" } th class="unit" colspan="5" { "cycles" }
                        }
                    }
                    tbody {
                        @for (class, messages) in sending {
                            tr {
                                td class="text" { (class.name) }
                                td { (count(messages.count)) } td { (count(messages.delivered)) }
                                td { (whole(messages.last_delivery)) }
                                (latency(&messages.latency))
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Makes it.
pub(super) fn table(summary: &Summary) -> Markup {
    html! {
        div class="scroll" {
            table {
                caption { "Traffic classes; SL: service level; p99: what 99 % of the packets do not exceed; " (cycle_length(summary.scenario.cycle_ns)) }
                thead {
                    tr {
                        th class="group" colspan="2" {} th class="group" colspan="2" { "load" } th class="group" { "lost" }
                        th class="group" colspan="5" { "network latency" } th class="group" colspan="5" { "packet latency" }
                        th class="group" { "jitter" }
                    }
                    tr {
                        th class="text" { "class" } th { "SL" } th { "offered" } th { "accepted" }
                        th { "rejected" }
                        @for _ in 0..2 { th { "mean" } th { "p50" } th { "p95" } th { "p99" } th { "max" } }
                        th { "mean" }
                    }
                    tr {
                        th class="unit" colspan="2" {} th class="unit" colspan="2" { "fraction of link rate" }
                        th class="unit" { "packets" }
                        @for _ in 0..2 { th class="unit" colspan="5" { "cycles" } }
                        th class="unit" { "cycles" }
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
            td { (count(class.rejected)) }
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
