//! The table of traffic classes of a run.

use super::numbers::{NONE, count, cycle_length, cycles, found, whole};
use crate::measure::LatencySummary;
use crate::metrics::paths::at;
use crate::metrics::shown::{Group, groups_of_classes};
use crate::report::summary::{ClassSummary, ServiceLevels, Summary};
use maud::{Markup, html};
use serde_json::Value;

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
    let groups = groups_of_classes();
    let wide = |group: &Group| Some(group.columns.len()).filter(|&columns| columns > 1);
    html! {
        div class="scroll" {
            table {
                caption { "Traffic classes; SL: service level; p99: what 99 % of the packets do not exceed; " (cycle_length(summary.scenario.cycle_ns)) }
                thead {
                    tr {
                        th class="group" colspan="2" {}
                        @for group in &groups { th class="group" colspan=[wide(group)] { (group.title) } }
                    }
                    tr {
                        th class="text" { "class" } th { "SL" }
                        @for (heading, _) in groups.iter().flat_map(|group| &group.columns) { th { (heading) } }
                    }
                    tr {
                        th class="unit" colspan="2" {}
                        @for group in &groups { th class="unit" colspan=[wide(group)] { (group.unit) } }
                    }
                }
                tbody {
                    @for (number, class) in summary.classes.iter().enumerate() {
                        (row(class, &summary.values["classes"][number], &groups))
                    }
                }
            }
        }
    }
}

fn row(class: &ClassSummary, values: &Value, groups: &[Group]) -> Markup {
    html! {
        tr {
            td class="text" { (class.name) } td { (levels(&class.sl)) }
            @for group in groups {
                @for (_, path) in &group.columns { td { (found(at(values, path), group.unit)) } }
            }
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
