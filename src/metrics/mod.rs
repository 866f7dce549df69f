//! The values of a run that have a name: tables of entries, from which come `summary.json`, `classes.csv`, the columns of
//! studies, the lists of the command line, what claims and comparisons may name, and what is [shown] of a value elsewhere.
//!
//! An entry is a path, a unit, one sentence and a function of the result. A mechanism has a file with a table of its
//! own here; the line in `TABLES` is all that others know of it.

pub mod fluid;
pub mod loads;
pub mod paths;
pub mod routes;
pub mod shown;

mod admission;
mod applications;
mod by_hops;
mod classes;
mod congestion;
mod control;
mod flows;
mod jobs;
mod loss;
mod max_min;
mod occupancy;
mod pattern;
mod retry;
mod run;
mod work;

pub use run::mean_hops;

use crate::measure::percentiles::Latencies;
use crate::measure::result::ClassInfo;
use crate::measure::{ClassRecords, FlowResult, RunResult};
use crate::registry::nearest;
use paths::set;
use routes::RouteValues;
use serde::Serialize;
use serde_json::{Map, Value};

/// Every table, in the order of the file. New ones: one file, one `mod` line, one line here.
static TABLES: [&[Entry]; 19] = [
    jobs::ENTRIES,
    run::ENTRIES,
    routes::ENTRIES,
    fluid::ENTRIES,
    classes::ENTRIES,
    by_hops::ENTRIES,
    occupancy::ENTRIES,
    congestion::ENTRIES,
    admission::ENTRIES,
    admission::criteria::ENTRIES,
    control::ENTRIES,
    flows::ENTRIES,
    applications::ENTRIES,
    loss::ENTRIES,
    retry::ENTRIES,
    max_min::ENTRIES,
    flows::groups::ENTRIES,
    flows::sizes::ENTRIES,
    work::ENTRIES,
];

/// A counter of the run, by its name; none where the mechanism is not there.
fn count(run: &RunResult, name: &str) -> Option<u64> {
    run.records.counts.get(name).copied()
}

/// What is given of a latency.
pub static STATISTICS: &[&str] = &["count", "mean", "std", "min", "p50", "p95", "p99", "max"];

/// What ends the path of a metric that has [`STATISTICS`].
const STATISTIC: &str = "STATISTIC";

/// What stands for a traffic class in a path.
const NAME: &str = "NAME";

/// What stands for the smallest size of a class of flows in a path: a power of two.
const FLITS: &str = "FLITS";

/// What stands for a number of inter-switch channels in a path.
const HOPS: &str = "HOPS";

/// What stands for a service level in a path.
const SL: &str = "SL";

/// Where the size classes of flows stand.
const SIZES: &str = "flows.sizes.FLITS.";

/// Unit of loads.
const FRACTION: &str = "flits per host per cycle = fraction of link rate";

/// The column of a value without statistics.
const ITSELF: &[&str] = &[""];

/// A part of `summary.json`, or a column that is in `classes.csv` only.
#[derive(Clone, Copy, Debug)]
enum Entry {
    /// A number with a name.
    Metric(Metric),
    /// A number of a class that here is a column of `classes.csv` and nothing else.
    Column(Metric),
    /// What the file holds beside: its path, and the value unless it is left out.
    Fact(&'static str, fn(&RunResult) -> Option<Value>),
}

/// One value.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Path in `summary.json`; `NAME` stands for a traffic class, `FLITS` for a power of two, `HOPS` and `SL` for numbers,
    /// `STATISTIC` for one of [`STATISTICS`].
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
    /// Name in `classes.csv`, and its numbers.
    csv: Option<(&'static str, Numbers)>,
    /// Line at the end of the table of a run, and its words there.
    line: Option<(&'static str, fn(f64) -> String)>,
    /// Box at the head of the page of a run: title, digits behind the point, and what stands below the number.
    fact_box: Option<(&'static str, usize, &'static str)>,
}

/// What numbers of a class are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Numbers {
    /// Whole ones.
    Whole,
    /// Any.
    Real,
    /// [`STATISTICS`], of values of which each belongs to one of these: a column each.
    Statistics(&'static str),
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
    /// One class, where there is something to tell; left out elsewhere.
    SomeClass(fn(&OneClass<'_>) -> Option<Value>),
    /// One class that sends messages; the number of them is given.
    Messages(fn(&OneClass<'_>, u64) -> Value),
    /// The network latencies of a class over so many channels, where they were recorded.
    Hops(fn(&Latencies) -> Value),
    /// The flows of a size class; left out without a value.
    Sizes(fn(&[&FlowResult]) -> Option<Value>),
    /// The flows of a class, of a service level, or there of a length of their way; left out without a value.
    Flows(fn(&flows::groups::Group<'_>) -> Option<Value>),
    /// The verdict in one word; not in `summary.json`.
    Verdict(fn(&str) -> bool),
    /// The routes alone, and the class or number that the path names; not in `summary.json`.
    Routes(fn(&RouteValues, &str) -> Option<f64>),
    /// Runs at flow level; not in `summary.json`.
    Fluid,
}

/// One class of a run.
struct OneClass<'a> {
    result: &'a RunResult,
    number: u16,
    info: &'a ClassInfo,
    records: &'a ClassRecords,
}

impl<'a> OneClass<'a> {
    /// All of a run.
    fn all(result: &'a RunResult) -> impl Iterator<Item = Self> {
        let classes = result.classes.iter().zip(&result.records.classes);
        (0..)
            .zip(classes)
            .map(move |(number, (info, records))| Self {
                result,
                number,
                info,
                records,
            })
    }
}

/// A value that only some runs have.
const fn counted(
    path: &'static str,
    unit: &'static str,
    summary: &'static str,
    of: fn(&RunResult) -> Option<Value>,
) -> Metric {
    metric(path, unit, summary, Of::Counted(of))
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
        csv: None,
        line: None,
        fact_box: None,
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

    /// With a column in `classes.csv`, or one for each statistic.
    const fn csv(self, name: &'static str, numbers: Numbers) -> Self {
        let csv = Some((name, numbers));
        Self { csv, ..self }
    }

    /// With these words in the table of a run, in the line of that name. The words of a line follow one another as they
    /// are; where the value is not there, neither are its words.
    const fn line(self, name: &'static str, words: fn(f64) -> String) -> Self {
        let line = Some((name, words));
        Self { line, ..self }
    }

    /// With a box at the head of the page of a run: number and unit, and a note below.
    const fn fact_box(self, title: &'static str, decimals: usize, note: &'static str) -> Self {
        let fact_box = Some((title, decimals, note));
        Self { fact_box, ..self }
    }

    /// As an entry of a table.
    const fn entry(self) -> Entry {
        Entry::Metric(self)
    }

    /// As an entry of a table that is in `classes.csv` only.
    const fn only_csv(self) -> Entry {
        Entry::Column(self)
    }

    /// Whether it follows from the routes alone.
    pub fn is_of_routes(&self) -> bool {
        matches!(self.of, Of::Routes(_))
    }

    /// Whether it is of the flow level.
    pub fn is_fluid(&self) -> bool {
        matches!(self.of, Of::Fluid)
    }

    /// Whether it is a number of `summary.json`.
    pub fn is_in_summary(&self) -> bool {
        matches!(
            self.of,
            Of::Run(_)
                | Of::Counted(_)
                | Of::Class(_)
                | Of::SomeClass(_)
                | Of::Hops(_)
                | Of::Messages(_)
                | Of::Sizes(_)
                | Of::Flows(_)
        )
    }

    /// Whether `path` names this value.
    fn names(&self, path: &str) -> bool {
        pattern::matches(self.path, path)
    }

    /// The traffic class, size class or number that `path` names; empty when this is of none.
    fn class_in<'a>(&self, path: &'a str) -> &'a str {
        let mut steps = self.path.split('.').zip(path.split('.'));
        let class = steps.find(|(pattern, _)| [NAME, FLITS, HOPS, SL].contains(pattern));
        class.map_or("", |(_, class)| class)
    }

    /// Where it stands in the object of the run or of the class.
    fn place(&self) -> &'static str {
        let mut inside = [
            "classes.NAME.by_hops.HOPS.",
            "classes.NAME.",
            "levels.SL.by_hops.HOPS.",
            "levels.SL.",
            SIZES,
        ]
        .into_iter();
        let path = inside.find_map(|prefix| self.path.strip_prefix(prefix));
        let path = path.unwrap_or(self.path);
        path.strip_suffix(".STATISTIC").unwrap_or(path)
    }

    /// The value of a class; none where it sends no messages and this is of messages.
    fn of_class(&self, class: &OneClass<'_>) -> Option<Value> {
        match (self.of, class.info.messages) {
            (Of::Class(of), _) => Some(of(class)),
            (Of::SomeClass(of), _) => of(class),
            (Of::Messages(of), Some(count)) => Some(of(class, count)),
            _ => None,
        }
    }

    /// The unit in the words of tables.
    fn short_unit(&self) -> &'static str {
        self.unit.rsplit(" = ").next().unwrap_or(self.unit)
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
        Entry::Column(_) | Entry::Fact(..) => None,
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
            Entry::Column(_) => {}
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_with_classes_and_statistics_are_found() {
        assert_eq!(find("load.accepted").unwrap().unit, FRACTION);
        assert!(find("latency.network.p99").is_ok());
        assert!(find("classes.bulk.latency.packet.mean").is_ok());
        assert!(find("latency.network.p98").is_err());
        assert!(find("flows.sizes.1024.slowdown.p99").is_ok());
        assert!(find("flows.sizes.1000.slowdown.p99").is_err());
        assert!(find("flows.sizes.01.slowdown.p99").is_err());
        assert!(find("classes.bulk.by_hops.2.iqr").is_ok());
        assert!(find("classes.bulk.by_hops.02.iqr").is_err());
        assert!(find("levels.0.by_hops.2.spread.max").is_ok());
        assert!(find("levels.low.throughput").is_err());
        assert!(find("classes.bulk.flows.throughput").is_ok());
        let message = find("load.acepted").unwrap_err();
        assert!(
            message.ends_with("did you mean `load.accepted`?"),
            "{message}"
        );
    }
}
