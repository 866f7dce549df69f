//! The table of a study: one row per point, means over its runs with confidence intervals.
//!
//! Intervals come from independent replications (Student's t over seeds); a point with one run takes them from
//! the batches inside the run where there are any. The column `interval` says which. Only runs that went to their
//! end count: complete, steady, undecided and saturated ones, and those of a search that were cut short. The rows of a search have the
//! judgement of their load instead of the verdicts of its runs, each of which sees less than all together.

use super::Design;
use super::directory::Finished;
use super::level::Judged;
use crate::measure::precision::{CONFIDENCE, replications};
use crate::metrics::{self, paths::look_up, shown};
use crate::report::columns::{self, Column, Kind};
use serde_json::Value;

/// Verdicts from the worst to the best: a row shows the worst of its runs.
pub(super) const WORST_FIRST: [&str; 8] = [
    "failed",
    "deadlocked",
    "interrupted",
    "incomplete",
    "saturated",
    "undecided",
    "steady",
    "complete",
];

/// A run as the table needs it.
#[derive(Clone, Debug)]
struct Row {
    word: &'static str,
    reason: String,
    /// An invariant broke.
    is_broken: bool,
    /// The summary; `None` for a run that does not count.
    summary: Option<Value>,
}

/// The table of a study in the making.
#[derive(Clone, Debug)]
pub struct Table<'a> {
    pub(super) design: &'a Design,
    /// `[run]`
    rows: Vec<Option<Row>>,
    /// What a search says about each point.
    judged: Option<&'a [Judged]>,
}

/// A mean with its interval.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cell {
    pub(super) mean: Option<f64>,
    pub(super) half_width: Option<f64>,
}

impl<'a> Table<'a> {
    /// The table without any run.
    pub fn new(design: &'a Design) -> Self {
        Self {
            design,
            rows: vec![None; design.runs.len()],
            judged: None,
        }
    }

    /// The table of runs that are all finished.
    pub fn of(design: &'a Design, finished: &[Finished]) -> Self {
        let mut table = Self::new(design);
        for (run, finished) in finished.iter().enumerate() {
            table.enter(run, finished);
        }
        table
    }

    /// With the judgements of the points.
    #[must_use]
    pub fn judged(self, judged: &'a [Judged]) -> Self {
        let judged = Some(judged);
        Self { judged, ..self }
    }

    /// Enters a finished run.
    pub fn enter(&mut self, run: usize, finished: &Finished) {
        let summary = match finished {
            Finished::Run { summary, .. } if finished.is_measured() => Some(summary.values.clone()),
            _ => None,
        };
        self.rows[run] = Some(Row {
            word: finished.word(),
            reason: finished.reason().to_owned(),
            is_broken: finished.is_broken(),
            summary,
        });
    }

    /// Runs that ended with this word.
    pub fn count(&self, word: &str) -> usize {
        let rows = self.rows.iter().flatten();
        rows.filter(|row| row.word == word).count()
    }

    /// Whether an invariant broke in some run.
    pub fn is_broken(&self) -> bool {
        self.rows.iter().flatten().any(|row| row.is_broken)
    }

    /// Runs that are entered.
    pub fn entered(&self) -> usize {
        self.rows.iter().flatten().count()
    }

    /// Runs of a point, with their seeds.
    fn runs_of(&self, point: usize) -> impl Iterator<Item = (u64, Option<&Row>)> {
        let range = self.design.runs_of(point);
        let keys = &self.design.runs[range.clone()];
        keys.iter()
            .map(|key| key.seed)
            .zip(self.rows[range].iter().map(Option::as_ref))
    }

    pub(super) fn summaries(&self, point: usize) -> Vec<&Value> {
        let rows = self.runs_of(point).filter_map(|(_, row)| row);
        rows.filter_map(|row| row.summary.as_ref()).collect()
    }

    /// Values of a metric in the runs of a point; `None` when a run is missing, failed or has no such value.
    pub fn values(&self, point: usize, metric: &str) -> Option<Vec<f64>> {
        let value = |row: Option<&Row>| {
            let of_verdict = metrics::of_verdict(metric, row?.word);
            of_verdict.or_else(|| look_up(row?.summary.as_ref()?, metric))
        };
        self.runs_of(point).map(|(_, row)| value(row)).collect()
    }

    /// The columns: those of each class only where a run has several, those of messages where it sends any, and what
    /// mechanisms count where they do.
    fn metrics(&self) -> Vec<shown::Column> {
        let mut metrics = shown::columns_of_run();
        let (mut names, mut sending): (Vec<&str>, Vec<&str>) = Default::default();
        let summaries: Vec<&Value> = self
            .rows
            .iter()
            .flatten()
            .filter_map(|row| row.summary.as_ref())
            .collect();
        metrics.extend(shown::columns_of_counted(&summaries));
        metrics.extend(shown::columns_of_sizes(&summaries));
        for summary in &summaries {
            let classes = summary["classes"].as_array().map_or(&[][..], Vec::as_slice);
            for class in classes {
                let name = class["name"].as_str().unwrap_or_default();
                if classes.len() > 1 && !names.contains(&name) {
                    names.push(name);
                }
                if class.get("messages").is_some() && !sending.contains(&name) {
                    sending.push(name);
                }
            }
        }
        let some = |name| shown::columns_of_some_class(name, &summaries);
        let some: Vec<_> = names.iter().copied().flat_map(some).collect();
        metrics.extend(names.into_iter().flat_map(shown::columns_of_class));
        metrics.extend(some);
        metrics.extend(sending.into_iter().flat_map(shown::columns_of_messages));
        metrics
    }

    /// Mean and interval of one metric at one point.
    pub(super) fn cell(summaries: &[&Value], metric: &shown::Column) -> Cell {
        let values: Vec<f64> = summaries
            .iter()
            .filter_map(|summary| look_up(summary, &metric.path))
            .collect();
        let Some(found) = replications(&values, CONFIDENCE) else {
            return Cell::default();
        };
        let inside = match (summaries, metric.interval) {
            ([only], Some(path)) => look_up(only, &format!("{path}.half_width")),
            _ => None,
        };
        Cell {
            mean: Some(found.mean),
            half_width: found.half_width.or(inside),
        }
    }

    /// The table as columns, for a file of that name: every point with a finished run.
    pub fn sheet(&self, file: &'static str) -> columns::Table<'_> {
        let metrics = self.metrics();
        let header = self.header(&metrics);
        columns::Table::new(file, header, move |rows| {
            for point in 0..self.design.points.len() {
                if self.runs_of(point).any(|(_, row)| row.is_some()) {
                    rows.row(&self.record(point, &metrics))?;
                }
            }
            Ok(())
        })
    }

    fn header(&self, metrics: &[shown::Column]) -> Vec<Column> {
        let mut header = vec![Column::new("point", Kind::Integer)];
        for (number, axis) in self.design.axes.iter().enumerate() {
            let name = match &axis.unit {
                Some(unit) => format!("{} [{unit}]", axis.path),
                None => axis.path.clone(),
            };
            header.push(Column::new(name, self.axis_kind(number)));
        }
        let counts = [
            (self.judge(), Kind::Text),
            ("replications", Kind::Integer),
            ("failed", Kind::Integer),
            ("missing", Kind::Integer),
            ("reason", Kind::Text),
            ("interval", Kind::Text),
            ("confidence", Kind::Float),
        ];
        header.extend(counts.map(|(name, kind)| Column::new(name, kind)));
        let cut = self.judged.map(|_| Column::new("cut short", Kind::Integer));
        header.extend(cut);
        for shown::Column { path, unit, .. } in metrics {
            header.push(Column::new(format!("{path} [{unit}]"), Kind::Float));
            let half_width = format!("{path}.half_width [{unit}]");
            header.push(Column::new(half_width, Kind::Float));
        }
        header
    }

    /// What all values of an axis are.
    fn axis_kind(&self, axis: usize) -> Kind {
        let all = |is: fn(&str) -> bool| {
            let mut points = self.design.points.iter();
            points.all(|point| is(&point.cells[axis]))
        };
        if all(|cell| cell.parse::<i64>().is_ok()) {
            Kind::Integer
        } else if all(|cell| cell.parse::<f64>().is_ok()) {
            Kind::Float
        } else if all(|cell| cell.parse::<bool>().is_ok()) {
            Kind::Boolean
        } else {
            Kind::Text
        }
    }

    fn record(&self, point: usize, metrics: &[shown::Column]) -> Vec<columns::Cell<'_>> {
        let summaries = self.summaries(point);
        let runs: Vec<_> = self.runs_of(point).collect();
        let done: Vec<&Row> = runs.iter().filter_map(|(_, row)| *row).collect();
        let mut record: Vec<columns::Cell<'_>> = vec![(point + 1).into()];
        // as they were written
        let cells = self.design.points[point].cells.iter();
        record.extend(cells.map(|cell| cell.as_str().into()));
        let inside = summaries
            .first()
            .and_then(|only| look_up(only, "confidence.level"));
        let (interval, level) = match summaries.len() {
            0 => ("none", None),
            1 => ("batch means", inside),
            _ => ("replications", Some(CONFIDENCE)),
        };
        record.extend([
            self.verdict(&[point]).into(),
            summaries.len().into(),
            (done.len() - summaries.len()).into(),
            (runs.len() - done.len()).into(),
            self.reason(point, &runs).into(),
            interval.into(),
            level.into(),
        ]);
        let cut = self.judged.map(|_| cut_short(&summaries).into());
        record.extend(cut);
        for metric in metrics {
            let cell = Self::cell(&summaries, metric);
            record.extend([cell.mean.into(), cell.half_width.into()]);
        }
        record
    }

    /// Who judges a point: all runs together, or the worst of them.
    pub(super) fn judge(&self) -> &'static str {
        self.judged.map_or("verdict", |_| "judgement")
    }

    /// Why a load is judged so, and why runs do not count.
    fn reason(&self, point: usize, runs: &[(u64, Option<&Row>)]) -> String {
        let judged = self.judged.map(|judged| judged[point].reason.clone());
        let reasons = judged.into_iter().chain(Some(reasons(runs)));
        let reasons: Vec<String> = reasons.filter(|reason| !reason.is_empty()).collect();
        reasons.join("; ")
    }

    /// The judgement of a point, or the worst verdict of the runs of points.
    pub(super) fn verdict(&self, points: &[usize]) -> &'static str {
        if let Some(judged) = self.judged {
            return judged[points[0]].judgement.word();
        }
        let has = |word: &&&str| {
            let runs = points.iter().flat_map(|point| self.runs_of(*point));
            let mut rows = runs.filter_map(|(_, row)| row);
            rows.any(|row| row.word == **word)
        };
        WORST_FIRST.iter().find(has).copied().unwrap_or("")
    }
}

/// Runs that were cut short.
pub(super) fn cut_short(summaries: &[&Value]) -> usize {
    let is_cut = |summary: &&&Value| summary["run"]["cut_short"] == true;
    summaries.iter().filter(is_cut).count()
}

/// Why runs do not count.
fn reasons(runs: &[(u64, Option<&Row>)]) -> String {
    let failed = runs.iter().filter_map(|(seed, row)| Some((seed, (*row)?)));
    let words = failed
        .filter(|(_, row)| row.summary.is_none())
        .map(|(seed, row)| {
            let first = row.reason.lines().next().unwrap_or_default();
            format!("seed {seed}: {first}")
        });
    words.collect::<Vec<_>>().join("; ")
}

/// A value with so many digits behind the point.
pub(super) fn rounded(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".into(), |value| format!("{value:.digits$}"))
}
