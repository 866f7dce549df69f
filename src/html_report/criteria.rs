//! The table of a study by which admission controls are judged.

use super::numbers::NONE;
use crate::chart::axis::number;
use crate::metrics::paths::at;
use crate::results::{Curve, Curves};
use maud::{Markup, html};
use serde_json::Value;

/// Metric, heading.
const CRITERIA: [(&str, &str); 5] = [
    ("criteria.bandwidth", "flows with all they sent"),
    ("criteria.bounds", "flows within their bounds"),
    ("criteria.separation", "classes in the order asked"),
    ("criteria.throughput", "throughput"),
    ("criteria.unsaturated", "delivered of what was made"),
];

/// Makes it, when some run has such values: a row for each curve, means over all its runs, and the ranks among the curves.
pub(super) fn table(curves: &Curves<'_>) -> Markup {
    let rows: Vec<[Option<f64>; 5]> = curves.curves.iter().map(values).collect();
    html! {
        @if rows.iter().flatten().any(Option::is_some) {
            div class="scroll" {
                table {
                    caption {
                        "What admission is judged by: means over all runs of a curve, in brackets the rank of the curve, 1 the best; \
                         all but the throughput [packets per cycle] are fractions, `virtlane list metric` says of what"
                    }
                    thead {
                        tr {
                            th class="text" { "curve" }
                            @for (_, heading) in CRITERIA { th { (heading) } }
                        }
                    }
                    tbody {
                        @for (curve, row) in curves.curves.iter().zip(&rows) {
                            tr {
                                td class="text" { (curve.label) }
                                @for (criterion, value) in row.iter().enumerate() { td { (ranked(&rows, criterion, *value)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Mean of each criterion over the runs of a curve that have it.
fn values(curve: &Curve<'_>) -> [Option<f64>; 5] {
    CRITERIA.map(|(path, _)| {
        let runs = curve.points.iter().flat_map(|point| &point.runs);
        let found: Vec<f64> = runs
            .filter_map(|run| at(&run.summary.values, path).and_then(Value::as_f64))
            .collect();
        (!found.is_empty()).then(|| found.iter().sum::<f64>() / found.len() as f64)
    })
}

/// A value and its rank among those of all rows; equal ones share a rank.
fn ranked(rows: &[[Option<f64>; 5]], criterion: usize, value: Option<f64>) -> String {
    let Some(value) = value else {
        return NONE.into();
    };
    let better = rows.iter().filter_map(|row| row[criterion]);
    let rank = 1 + better.filter(|&other| other > value).count();
    format!("{} ({rank})", number(value, 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_a_rank() {
        let rows = [0.5, 0.75, 0.75, 0.25].map(|value| [Some(value); 5]);
        let told = rows.map(|row| ranked(&rows, 2, row[2]));
        assert_eq!(
            told,
            ["0.5000 (3)", "0.7500 (1)", "0.7500 (1)", "0.2500 (4)"]
        );
        assert_eq!(ranked(&rows, 0, None), NONE);
    }
}
