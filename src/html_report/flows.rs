//! The table of the flows of a run.

use super::numbers::{NONE, count, cycle_length, found};
use crate::chart::axis::number;
use crate::metrics::paths::at;
use crate::report::summary::Summary;
use maud::{Markup, html};
use serde_json::Value;

/// What is told of completion times and slowdowns: path, heading, and digits behind the point of either.
const STATISTICS: [(&str, &str, [usize; 2]); 5] = [
    ("mean", "mean", [1, 2]),
    ("p50", "p50", [0, 2]),
    ("p99", "p99", [0, 2]),
    ("p999", "p99.9", [0, 2]),
    ("max", "max", [0, 2]),
];

/// Both.
const GROUPS: [&str; 2] = ["completion", "slowdown"];

/// Makes it, when some flow has a size: a row for each size class, and one for all where there are several.
pub(super) fn table(summary: &Summary) -> Markup {
    let classes = at(&summary.values, "flows.sizes").and_then(Value::as_object);
    let flows = &summary.values["flows"];
    html! {
        @if let Some(classes) = classes {
            div class="scroll" {
                table {
                    caption {
                        "Flows with a size, by powers of two; completion: start to last delivery; slowdown: completion over \
                         that of the flow alone in the empty fabric; p99: what 99 % of the complete flows do not exceed; "
                        (cycle_length(summary.scenario.cycle_ns))
                    }
                    thead {
                        tr {
                            th class="group" {} th class="group" colspan="2" { "flows" }
                            th class="group" colspan="5" { "completion" } th class="group" colspan="5" { "slowdown" }
                        }
                        tr {
                            th class="text" { "size" } th { "in all" } th { "complete" }
                            @for _ in GROUPS { @for (_, heading, _) in STATISTICS { th { (heading) } } }
                        }
                        tr {
                            th class="unit" { "flits" } th class="unit" colspan="2" {}
                            th class="unit" colspan="5" { "cycles" } th class="unit" colspan="5" { "1 = alone" }
                        }
                    }
                    tbody {
                        @for (least, class) in classes { (row(&sizes(least), class, class["count"].as_u64())) }
                        @if classes.len() > 1 { (row("all", flows, total(classes.values()))) }
                    }
                }
            }
        }
    }
}

fn total<'a>(mut classes: impl Iterator<Item = &'a Value>) -> Option<u64> {
    classes.try_fold(0, |sum, class| Some(sum + class["count"].as_u64()?))
}

/// `64 to 127`, `1`.
fn sizes(least: &str) -> String {
    match least.parse::<u64>() {
        Ok(least) if least > 1 => format!("{} to {}", count(least), count(2 * least - 1)),
        _ => least.to_owned(),
    }
}

fn told(value: &Value, decimals: usize) -> String {
    let value = value.as_f64();
    value.map_or_else(|| NONE.into(), |value| number(value, decimals))
}

fn row(name: &str, values: &Value, flows: Option<u64>) -> Markup {
    html! {
        tr {
            td class="text" { (name) }
            td { (flows.map_or_else(String::new, count)) }
            td { (found(values.get("complete"), "flows")) }
            @for (group, name) in GROUPS.iter().enumerate() {
                @for (path, _, decimals) in STATISTICS { td { (told(&values[*name][path], decimals[group])) } }
            }
        }
    }
}
