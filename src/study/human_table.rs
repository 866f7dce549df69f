//! The table of a study for people: loads and latencies only, and before these the completion of jobs where every run has some.

use super::job_columns::JobColumns;
use super::table::{Cell, Table, cut_short, rounded};
use crate::metrics::shown;
use crate::report::table::align;
use crate::scenario::names::{is_seed, unseeded, value};
use serde_json::Value;
use std::collections::BTreeMap;

impl Table<'_> {
    /// The table for people. Points that differ in seeds only are one row.
    pub fn human(&self) -> String {
        let axes = &self.design.axes;
        let shown: Vec<usize> = (0..axes.len())
            .filter(|axis| !is_seed(&axes[*axis].path))
            .collect();
        let points = 0..self.design.points.len();
        let all: Vec<&Value> = points.flat_map(|point| self.summaries(point)).collect();
        let jobs = JobColumns::of(&all);
        let mut rows = vec![self.heading(&shown, &jobs)];
        for points in self.repetitions(&shown) {
            let summaries: Vec<&Value> = points
                .iter()
                .flat_map(|point| self.summaries(*point))
                .collect();
            let cell = |path: &str| {
                let column = shown::column(path);
                column.map_or(Cell::default(), |column| Self::cell(&summaries, &column))
            };
            let (accepted, latency) = (cell("load.accepted"), cell("latency.packet.mean"));
            let mut row = vec![(points[0] + 1).to_string()];
            row.extend(self.named(points[0], &shown));
            row.push(self.verdict(&points).to_owned());
            row.extend(jobs.beside(&summaries));
            row.push(runs_and_cut(&summaries));
            row.extend(jobs.cells(&summaries));
            row.extend([
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
            + jobs.legend()
            + cut
    }

    fn heading(&self, shown: &[usize], jobs: &JobColumns) -> Vec<String> {
        let mut heading = vec!["point".to_owned()];
        let axes = shown.iter().map(|axis| &self.design.axes[*axis]);
        heading.extend(axes.map(|axis| heading_of(&axis.path)));
        heading.push(self.judge().to_owned());
        heading.extend(jobs.beside_heading());
        heading.push("runs".to_owned());
        heading.extend(jobs.headings());
        let fixed = ["offered", "accepted", "+-", "packet latency", "+-", "p99"];
        heading.extend(fixed.map(String::from));
        heading
    }

    /// Values of the shown axes at a point, as a person says them.
    fn named(&self, point: usize, shown: &[usize]) -> Vec<String> {
        let cells = &self.design.points[point].cells;
        let values = shown.iter().map(|axis| value(&unseeded(&cells[*axis])));
        values.collect()
    }

    /// Points that differ in seeds only, those of one row together. Those of searches are judged one by one.
    fn repetitions(&self, shown: &[usize]) -> Vec<Vec<usize>> {
        let mut rows: Vec<Vec<usize>> = Vec::new();
        let mut known: BTreeMap<Vec<String>, usize> = BTreeMap::new();
        for point in 0..self.design.points.len() {
            let cells = &self.design.points[point].cells;
            let mut key: Vec<String> = shown.iter().map(|axis| unseeded(&cells[*axis])).collect();
            key.extend((self.judge() != "verdict").then(|| point.to_string()));
            let row = *known.entry(key).or_insert_with(|| {
                rows.push(Vec::new());
                rows.len() - 1
            });
            rows[row].push(point);
        }
        rows
    }
}

/// The last key of an axis.
fn heading_of(path: &str) -> String {
    path.rsplit('.').next().unwrap_or(path).replace('_', " ")
}

/// How many runs there are, with a star when any was cut short.
fn runs_and_cut(summaries: &[&Value]) -> String {
    let star = if cut_short(summaries) > 0 { "*" } else { "" };
    format!("{}{star}", summaries.len())
}
