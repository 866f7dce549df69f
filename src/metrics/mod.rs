//! The values of a run that have a name: tables of entries, from which come `summary.json`, the columns of studies, the
//! lists of the command line, and what claims and comparisons may name.
//!
//! An entry is a path, a unit, one sentence and a function of the result. A mechanism has a file with a table of its
//! own here; the line in `TABLES` is all that others know of it.

pub mod loads;
pub mod paths;
pub mod routes;

mod classes;
mod occupancy;
mod run;
mod work;

pub use run::mean_hops;

use crate::measure::result::ClassInfo;
use crate::measure::{ClassRecords, RunResult};
use crate::registry::nearest;
use paths::set;
use routes::RouteValues;
use serde::Serialize;
use serde_json::{Map, Value};

/// Every table, in the order of the file. New ones: one file, one `mod` line, one line here.
static TABLES: [&[Entry]; 5] = [
    run::ENTRIES,
    routes::ENTRIES,
    classes::ENTRIES,
    occupancy::ENTRIES,
    work::ENTRIES,
];

/// What is given of a latency.
pub static STATISTICS: &[&str] = &["count", "mean", "std", "min", "p50", "p95", "p99", "max"];

/// What ends the path of a metric that has [`STATISTICS`].
const STATISTIC: &str = "STATISTIC";

/// What stands for a traffic class in a path.
const NAME: &str = "NAME";

/// Unit of loads.
const FRACTION: &str = "flits per host per cycle = fraction of link rate";

/// The column of a value without statistics.
const ITSELF: &[&str] = &[""];

/// A part of `summary.json`.
#[derive(Clone, Copy, Debug)]
enum Entry {
    /// A number with a name.
    Metric(Metric),
    /// What the file holds beside: its path, and the value unless it is left out.
    Fact(&'static str, fn(&RunResult) -> Option<Value>),
}

/// One value.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Path in `summary.json`; `NAME` stands for a traffic class, `STATISTIC` for one of [`STATISTICS`].
    pub path: &'static str,
    /// Unit.
    pub unit: &'static str,
    /// What it is.
    pub summary: &'static str,
    of: Of,
    /// What of it stands in tables of studies: [`ITSELF`], or some of its statistics.
    columns: &'static [&'static str],
    /// Path of the interval inside one run, of the mean where it has statistics.
    interval: Option<&'static str>,
    /// Group of columns in the table of classes of a page, and their headings; statistics are their own headings.
    page: Option<(&'static str, &'static [&'static str])>,
}

/// What a metric is a function of. A latency is an object with [`STATISTICS`], what has no value is `null`.
#[derive(Clone, Copy, Debug)]
enum Of {
    /// The whole run.
    Run(fn(&RunResult) -> Value),
    /// The whole run, where a mechanism has counted something; left out elsewhere.
    Counted(fn(&RunResult) -> Option<Value>),
    /// One class.
    Class(fn(&OneClass<'_>) -> Value),
    /// One class that sends messages; the number of them is given.
    Messages(fn(&OneClass<'_>, u64) -> Value),
    /// The verdict in one word; not in `summary.json`.
    Verdict(fn(&str) -> bool),
    /// The routes alone, and the name of a class where the path has one; not in `summary.json`.
    Routes(fn(&RouteValues, &str) -> Option<f64>),
}

/// One class of a run.
struct OneClass<'a> {
    result: &'a RunResult,
    info: &'a ClassInfo,
    records: &'a ClassRecords,
}

/// A column of a table of a study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Path in `summary.json`.
    pub path: String,
    /// Unit.
    pub unit: &'static str,
    /// Path of the interval inside one run.
    pub interval: Option<&'static str>,
}

/// Columns side by side in the table of classes of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// What they have in common.
    pub title: &'static str,
    /// Their unit.
    pub unit: &'static str,
    /// Headings, and paths in the object of a class.
    pub columns: Vec<(&'static str, String)>,
}

const fn metric(path: &'static str, unit: &'static str, summary: &'static str, of: Of) -> Metric {
    Metric {
        path,
        unit,
        summary,
        of,
        columns: &[],
        interval: None,
        page: None,
    }
}

impl Metric {
    /// With a column in tables of studies.
    const fn column(self) -> Self {
        self.columns(ITSELF)
    }

    /// With these columns in tables of studies.
    const fn columns(self, columns: &'static [&'static str]) -> Self {
        Self { columns, ..self }
    }

    /// With an interval inside one run.
    const fn interval(self, path: &'static str) -> Self {
        let interval = Some(path);
        Self { interval, ..self }
    }

    /// With columns in the table of classes of a page.
    const fn page(self, group: &'static str, headings: &'static [&'static str]) -> Self {
        let page = Some((group, headings));
        Self { page, ..self }
    }

    /// As an entry of a table.
    const fn entry(self) -> Entry {
        Entry::Metric(self)
    }

    /// Whether it follows from the routes alone.
    pub fn is_of_routes(&self) -> bool {
        matches!(self.of, Of::Routes(_))
    }

    /// Whether it is a number of `summary.json`.
    pub fn is_in_summary(&self) -> bool {
        matches!(
            self.of,
            Of::Run(_) | Of::Counted(_) | Of::Class(_) | Of::Messages(_)
        )
    }

    /// Whether `path` names this value.
    fn names(&self, path: &str) -> bool {
        let pattern: Vec<_> = self.path.split('.').collect();
        let given: Vec<_> = path.split('.').collect();
        pattern.len() == given.len()
            && pattern
                .iter()
                .zip(&given)
                .all(|(pattern, given)| match *pattern {
                    NAME => !given.is_empty(),
                    STATISTIC => *given == STATISTIC || STATISTICS.contains(given),
                    key => key == *given,
                })
    }

    /// The class that `path` names; empty when this is of no class.
    fn class_in<'a>(&self, path: &'a str) -> &'a str {
        let mut steps = self.path.split('.').zip(path.split('.'));
        let class = steps.find(|(pattern, _)| *pattern == NAME);
        class.map_or("", |(_, class)| class)
    }

    /// Where it stands in the object of the run or of the class.
    fn place(&self) -> &'static str {
        let path = self.path.strip_prefix("classes.NAME.");
        let path = path.unwrap_or(self.path);
        path.strip_suffix(".STATISTIC").unwrap_or(path)
    }

    /// The unit in the words of tables.
    fn short_unit(&self) -> &'static str {
        self.unit.rsplit(" = ").next().unwrap_or(self.unit)
    }

    /// The columns for a class, which is not looked at when this is of the whole run.
    fn columns_for(&self, class: &str) -> impl Iterator<Item = Column> {
        self.columns.iter().map(move |statistic| Column {
            path: self.path.replace(STATISTIC, statistic).replace(NAME, class),
            unit: self.short_unit(),
            interval: self.interval.filter(|_| matches!(*statistic, "" | "mean")),
        })
    }
}

/// Plain data as JSON.
fn json(data: impl Serialize) -> Value {
    serde_json::to_value(data).unwrap_or_default()
}

fn entries() -> impl Iterator<Item = &'static Entry> {
    TABLES.iter().copied().flatten()
}

/// Every metric, in the order of the file.
pub fn all() -> impl Iterator<Item = &'static Metric> {
    entries().filter_map(|entry| match entry {
        Entry::Metric(metric) => Some(metric),
        Entry::Fact(..) => None,
    })
}

/// All values of a run, as `summary.json` has them below its schema.
pub fn values(result: &RunResult) -> Map<String, Value> {
    let mut values = Map::new();
    for entry in entries() {
        match entry {
            Entry::Fact(path, of) => {
                if let Some(value) = of(result) {
                    set(&mut values, path, value);
                }
            }
            Entry::Metric(metric) => {
                let value = match metric.of {
                    Of::Run(of) => Some(of(result)),
                    Of::Counted(of) => of(result),
                    _ => None,
                };
                if let Some(value) = value {
                    set(&mut values, metric.place(), value);
                }
            }
        }
    }
    values
}

/// The metric of a path such as `latency.network.p99`.
///
/// # Errors
/// When there is none: what there is, and the nearest.
pub fn find(path: &str) -> Result<&'static Metric, String> {
    all().find(|metric| metric.names(path)).ok_or_else(|| {
        let near = nearest(path, all().map(|metric| metric.path));
        let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        format!("unknown metric `{path}`: `virtlane list metric` shows them all{hint}")
    })
}

/// The metric at `path` of a run that ended with this word, if it follows from the word.
pub fn of_verdict(path: &str, word: &str) -> Option<f64> {
    match find(path).ok()?.of {
        Of::Verdict(of) => Some(f64::from(of(word))),
        _ => None,
    }
}

/// The column of a path, if it has one.
pub fn column(path: &str) -> Option<Column> {
    let metric = find(path).ok()?;
    let mut columns = metric.columns_for(metric.class_in(path));
    columns.find(|column| column.path == path)
}

/// Columns of values of the whole run.
pub fn columns_of_run() -> Vec<Column> {
    let metrics = all().filter(|metric| matches!(metric.of, Of::Run(_)));
    metrics.flat_map(|metric| metric.columns_for("")).collect()
}

/// Columns of a class, without those of its messages.
pub fn columns_of_class(class: &str) -> impl Iterator<Item = Column> {
    let metrics = all().filter(|metric| matches!(metric.of, Of::Class(_)));
    metrics.flat_map(move |metric| metric.columns_for(class))
}

/// Columns of the messages of a class.
pub fn columns_of_messages(class: &str) -> impl Iterator<Item = Column> {
    let metrics = all().filter(|metric| matches!(metric.of, Of::Messages(_)));
    metrics.flat_map(move |metric| metric.columns_for(class))
}

/// The columns of the table of classes of a page.
pub fn groups_of_classes() -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for metric in all().filter(|metric| matches!(metric.of, Of::Class(_))) {
        let Some((title, headings)) = metric.page else {
            continue;
        };
        let path = |heading: &str| {
            if metric.path.ends_with(STATISTIC) {
                format!("{}.{heading}", metric.place())
            } else {
                metric.place().to_owned()
            }
        };
        let columns = headings.iter().map(|heading| (*heading, path(heading)));
        match groups.last_mut().filter(|group| group.title == title) {
            Some(group) => group.columns.extend(columns),
            None => groups.push(Group {
                title,
                unit: metric.short_unit(),
                columns: columns.collect(),
            }),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_with_classes_and_statistics_are_found() {
        assert_eq!(find("load.accepted").unwrap().unit, FRACTION);
        assert!(find("latency.network.p99").is_ok());
        assert!(find("classes.bulk.latency.packet.mean").is_ok());
        assert!(find("latency.network.p98").is_err());
        let message = find("load.acepted").unwrap_err();
        assert!(
            message.ends_with("did you mean `load.accepted`?"),
            "{message}"
        );
    }

    #[test]
    fn columns_have_the_unit_and_the_interval_of_their_value() {
        let accepted = column("load.accepted").unwrap();
        assert_eq!(accepted.unit, "fraction of link rate");
        assert_eq!(accepted.interval, Some("confidence.accepted"));
        assert_eq!(column("latency.packet.p99").unwrap().interval, None);
        assert_eq!(column("latency.packet.count"), None);
        let class = columns_of_class("bulk").map(|column| column.path);
        assert!(class.eq([
            "classes.bulk.offered",
            "classes.bulk.accepted",
            "classes.bulk.rejected",
            "classes.bulk.latency.network.mean",
            "classes.bulk.latency.network.p99",
            "classes.bulk.latency.packet.mean",
            "classes.bulk.latency.packet.p99",
        ]));
    }
}
