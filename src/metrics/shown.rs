//! Where metrics are shown beside `summary.json`: tables of studies, `classes.csv`, the table of a run and its page.
//!
//! Each of these is an iteration over the entries, in their order: what an entry says of the place is all there is.

use super::paths::{at, look_up};
use super::{Entry, FLITS, Metric, NAME, Numbers, Of, OneClass, STATISTIC, STATISTICS};
use super::{all, entries, find};
use crate::measure::RunResult;
use serde_json::Value;
use std::collections::BTreeSet;

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

/// A column of `classes.csv`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassColumn {
    /// Name, with its unit in brackets.
    pub name: String,
    /// Whether its numbers are whole.
    pub is_whole: bool,
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

/// A line at the end of the table of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its name.
    pub name: &'static str,
    /// What it says.
    pub text: String,
}

/// A box at the head of the page of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct FactBox {
    /// What it is.
    pub title: &'static str,
    /// The number.
    pub value: Option<f64>,
    /// Its unit.
    pub unit: &'static str,
    /// Digits behind the point.
    pub decimals: usize,
    /// What stands below.
    pub note: &'static str,
}

impl Metric {
    /// The columns for a traffic class or size class, which is not looked at when this is of the whole run.
    fn columns_for(&self, class: &str) -> impl Iterator<Item = Column> {
        self.columns.iter().map(move |statistic| Column {
            path: (self.path.replace(STATISTIC, statistic)).replace(self.placeholder(), class),
            unit: self.short_unit(),
            interval: self.interval.filter(|_| matches!(*statistic, "" | "mean")),
        })
    }

    /// What stands for a class in the path, if anything does.
    fn placeholder(&self) -> &'static str {
        if matches!(self.of, Of::Sizes(_)) {
            FLITS
        } else {
            NAME
        }
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

/// Columns of what a mechanism counts: where these are in none of `summaries`, there is nothing to show.
pub fn columns_of_counted(summaries: &[&Value]) -> Vec<Column> {
    let of = |metric: &&Metric| matches!(metric.of, Of::Counted(_));
    let columns = all().filter(of).flat_map(|metric| metric.columns_for(""));
    columns.filter(|column| is_in(summaries, column)).collect()
}

/// Whether one of them has the value.
fn is_in(summaries: &[&Value], column: &Column) -> bool {
    let mut found = summaries.iter();
    found.any(|summary| look_up(summary, &column.path).is_some())
}

/// Columns of the size classes of flows that some of `summaries` have, the smallest first.
pub fn columns_of_sizes(summaries: &[&Value]) -> Vec<Column> {
    let classes = summaries.iter();
    let classes = classes.filter_map(|summary| at(summary, "flows.sizes")?.as_object());
    let sizes: BTreeSet<u64> = classes
        .flat_map(|classes| classes.keys())
        .filter_map(|size| size.parse().ok())
        .collect();
    let metrics = || all().filter(|metric| matches!(metric.of, Of::Sizes(_)));
    let columns = |size: u64| {
        let columns =
            metrics().flat_map(|metric| metric.columns_for(&size.to_string()).collect::<Vec<_>>());
        columns.collect::<Vec<_>>()
    };
    sizes.into_iter().flat_map(columns).collect()
}

/// Columns of a class, without those of its messages.
pub fn columns_of_class(class: &str) -> impl Iterator<Item = Column> {
    let metrics = all().filter(|metric| matches!(metric.of, Of::Class(_)));
    metrics.flat_map(move |metric| metric.columns_for(class))
}

/// Columns of what only some classes have, where one of `summaries` has it.
pub fn columns_of_some_class(class: &str, summaries: &[&Value]) -> Vec<Column> {
    let of = |metric: &&Metric| matches!(metric.of, Of::SomeClass(_));
    let columns = all()
        .filter(of)
        .flat_map(|metric| metric.columns_for(class));
    columns.filter(|column| is_in(summaries, column)).collect()
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

/// What has columns in `classes.csv` of a run: those of messages where a class sends any.
fn in_csv(run: &RunResult) -> impl Iterator<Item = (&'static Metric, &'static str, Numbers)> {
    let has_messages = run.classes.iter().any(|class| class.messages.is_some());
    let metrics = entries().filter_map(|entry| match entry {
        Entry::Metric(metric) | Entry::Column(metric) => Some(metric),
        Entry::Fact(..) => None,
    });
    metrics
        .filter(move |metric| has_messages || !matches!(metric.of, Of::Messages(_)))
        .filter_map(|metric| metric.csv.map(|(name, numbers)| (metric, name, numbers)))
}

/// Columns of `classes.csv` behind those that tell the class.
pub fn class_columns(run: &RunResult) -> Vec<ClassColumn> {
    let mut columns = Vec::new();
    for (metric, name, numbers) in in_csv(run) {
        let mut column = |name: String, unit: &str, is_whole| {
            let unit = match unit {
                "" => String::new(),
                unit => format!(" [{unit}]"),
            };
            let name = name + &unit;
            columns.push(ClassColumn { name, is_whole });
        };
        let Numbers::Statistics(counted) = numbers else {
            column(name.into(), metric.short_unit(), numbers == Numbers::Whole);
            continue;
        };
        for statistic in STATISTICS {
            let name = format!("{name}_{statistic}");
            match *statistic {
                "count" => column(name, counted, true),
                "mean" | "std" => column(name, metric.short_unit(), false),
                _ => column(name, metric.short_unit(), true),
            }
        }
    }
    columns
}

/// What stands in [`class_columns`], by class; `null` without a value.
pub fn class_rows(run: &RunResult) -> impl Iterator<Item = Vec<Value>> {
    OneClass::all(run).map(move |class| {
        let mut row = Vec::new();
        for (metric, _, numbers) in in_csv(run) {
            let value = metric.of_class(&class).unwrap_or_default();
            match numbers {
                Numbers::Statistics(_) => {
                    row.extend(STATISTICS.iter().map(|&key| value[key].clone()));
                }
                Numbers::Whole | Numbers::Real => row.push(value),
            }
        }
        row
    })
}

/// Lines at the end of the table of a run, from its summary.
pub fn lines(summary: &Value) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for metric in all() {
        let Some((name, words)) = metric.line else {
            continue;
        };
        let Some(text) = look_up(summary, metric.path).map(words) else {
            continue;
        };
        match lines.last_mut().filter(|line| line.name == name) {
            Some(line) => line.text += &text,
            None => lines.push(Line { name, text }),
        }
    }
    lines
}

/// Boxes at the head of the page of a run, from its summary; none of what is left out there.
pub fn fact_boxes(summary: &Value) -> impl Iterator<Item = FactBox> {
    all().filter_map(|metric| {
        let (title, decimals, note) = metric.fact_box?;
        Some(FactBox {
            title,
            value: at(summary, metric.path)?.as_f64(),
            unit: metric.short_unit(),
            decimals,
            note,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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

    #[test]
    fn columns_of_flows_are_those_of_the_flows_there_are() {
        let none = json!({ "load": { "accepted": 0.5 } });
        let rates = json!({ "flows": { "rate": { "mean": 0.25 } } });
        let large = json!({ "flows": { "complete": 1, "sizes": { "1024": {} } } });
        let small = json!({ "flows": { "complete": 2, "sizes": { "512": {} } } });
        let paths = |columns: Vec<Column>| -> Vec<String> {
            columns.into_iter().map(|column| column.path).collect()
        };
        assert!(columns_of_counted(&[&none]).is_empty());
        assert_eq!(
            paths(columns_of_counted(&[&none, &rates])),
            ["flows.rate.mean"]
        );
        assert_eq!(
            paths(columns_of_counted(&[&rates, &small])),
            ["flows.complete", "flows.rate.mean"]
        );
        assert!(columns_of_sizes(&[&none, &rates]).is_empty());
        assert_eq!(
            paths(columns_of_sizes(&[&large, &small])),
            [512, 1024]
                .iter()
                .flat_map(|size| {
                    [
                        "completion.p50",
                        "completion.p99",
                        "slowdown.p50",
                        "slowdown.p99",
                    ]
                    .map(|value| format!("flows.sizes.{size}.{value}"))
                })
                .collect::<Vec<_>>()
        );
        let slowdown = column("flows.sizes.512.slowdown.p99").unwrap();
        assert_eq!(slowdown.path, "flows.sizes.512.slowdown.p99");
    }

    #[test]
    fn what_is_counted_is_shown_where_it_is_there() {
        let without = json!({ "channels": { "utilisation": { "mean": 0.25, "max": 0.5 } } });
        let mut with = without.clone();
        with["queues"] = json!({ "mean": 2.54, "most": 7 });
        let channels = ("channels", "utilisation 0.250 mean, 0.500 highest");
        let queues = ("queues", "2.5 packets at switch inputs, mean");
        for (summary, expected) in [(&without, vec![channels]), (&with, vec![queues, channels])] {
            let lines = lines(summary);
            let lines = lines.iter().map(|line| (line.name, line.text.as_str()));
            assert!(lines.eq(expected), "{summary}");
        }
        assert_eq!(fact_boxes(&without).count(), 0);
        let found: Vec<_> = fact_boxes(&with).collect();
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].title, found[0].value),
            ("Queued packets", Some(2.54))
        );
        let none = json!({ "hops": { "mean": null } });
        assert_eq!(
            fact_boxes(&none).next().map(|found| found.value),
            Some(None)
        );
    }
}
