//! The table of a study for people: loads and latencies only.

use super::table::{Cell, Table, cut_short};
use crate::metrics::shown;
use crate::report::table::align;
use serde_json::Value;

impl Table<'_> {
    /// The table for people: loads and latencies only.
    pub fn human(&self) -> String {
        let mut heading = vec!["point".to_owned()];
        let last = |path: &str| path.rsplit('.').next().unwrap_or(path).to_owned();
        heading.extend(self.design.axes.iter().map(|axis| last(&axis.path)));
        let fixed = [
            self.judge(),
            "runs",
            "offered",
            "accepted",
            "+-",
            "packet latency",
            "+-",
            "p99",
        ];
        heading.extend(fixed.map(String::from));
        let mut rows = vec![heading];
        for point in 0..self.design.points.len() {
            let summaries = self.summaries(point);
            let cell = |path: &str| {
                let column = shown::column(path);
                column.map_or(Cell::default(), |column| Self::cell(&summaries, &column))
            };
            let (accepted, latency) = (cell("load.accepted"), cell("latency.packet.mean"));
            let mut row = vec![(point + 1).to_string()];
            row.extend(self.design.points[point].cells.iter().cloned());
            row.extend([
                self.verdict(point).to_owned(),
                runs_and_cut(&summaries),
                rounded(cell("load.offered").mean, 4),
                rounded(accepted.mean, 4),
                rounded(accepted.half_width, 4),
                rounded(latency.mean, 1),
                rounded(latency.half_width, 1),
                rounded(cell("latency.packet.p99").mean, 0),
            ]);
            rows.push(row);
        }
        let has_cut = rows.iter().flatten().any(|cell| cell.ends_with('*'));
        let cut = if has_cut {
            "(*: runs cut short, certainly overloaded: what they accept is that of their beginning)\n"
        } else {
            ""
        };
        align(&rows)
            + "(loads: fraction of link rate; latencies: cycles; +-: half-width of the 95 % interval)\n"
            + cut
    }
}

/// How many runs there are, with a star when any was cut short.
fn runs_and_cut(summaries: &[&Value]) -> String {
    let star = if cut_short(summaries) > 0 { "*" } else { "" };
    format!("{}{star}", summaries.len())
}

fn rounded(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".into(), |value| format!("{value:.digits$}"))
}
