//! What the table of a study for people says of jobs: when they were complete, and how the loads beside them went.

use super::table::{Table, WORST_FIRST, rounded};
use crate::metrics::paths::look_up;
use crate::metrics::shown;
use crate::units::time;
use serde_json::Value;

/// Jobs that have columns.
const MOST_JOBS: usize = 3;

/// The columns, where every run has jobs; else none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct JobColumns {
    /// Classes with a job, in order.
    jobs: Vec<String>,
    /// Whether some class has none and a verdict.
    has_beside: bool,
}

impl JobColumns {
    /// Those of all runs.
    pub(super) fn of(summaries: &[&Value]) -> Self {
        let mut all: Vec<String> = Vec::new();
        for summary in summaries {
            let own = jobs(summary);
            if own.is_empty() {
                return Self::default();
            }
            for class in own {
                if !all.contains(&class) {
                    all.push(class);
                }
            }
        }
        all.truncate(MOST_JOBS);
        Self {
            has_beside: summaries.iter().any(|summary| !beside(summary).is_empty()),
            jobs: all,
        }
    }

    /// Heading of what is told beside the verdict.
    pub(super) fn beside_heading(&self) -> Option<String> {
        self.has_beside.then(|| "beside".to_owned())
    }

    /// The worst that is told of every class without a job.
    pub(super) fn beside(&self, summaries: &[&Value]) -> Option<String> {
        let mut worst: Vec<(String, usize)> = Vec::new();
        for (class, rank) in summaries.iter().flat_map(|summary| beside(summary)) {
            match worst.iter_mut().find(|(name, _)| *name == class) {
                Some((_, known)) => *known = rank.min(*known),
                None => worst.push((class, rank)),
            }
        }
        let words = worst.into_iter();
        let words = words.map(|(class, rank)| format!("{class} {}", WORST_FIRST[rank]));
        let words: Vec<String> = words.collect();
        self.has_beside.then(|| words.join(", "))
    }

    /// Headings of completion times.
    pub(super) fn headings(&self) -> Vec<String> {
        let heading = |class: &String| match self.jobs.len() {
            1 => "completion".to_owned(),
            _ => format!("{class} completion"),
        };
        let headings = self.jobs.iter().map(heading);
        let headings = headings.map(|heading| [heading, "+-".to_owned(), "time".to_owned()]);
        headings.flatten().collect()
    }

    /// Completion times in cycles and real time.
    pub(super) fn cells(&self, summaries: &[&Value]) -> Vec<String> {
        let cycle = summaries
            .first()
            .and_then(|summary| look_up(summary, "scenario.cycle_ns"));
        let cells = self.jobs.iter().map(|class| {
            let column = shown::Column {
                path: format!("classes.{class}.completion"),
                unit: "cycles",
                interval: None,
            };
            let cell = Table::cell(summaries, &column);
            let real = cell.mean.zip(cycle).map(|(cycles, ns)| time(cycles * ns));
            [
                rounded(cell.mean, 0),
                rounded(cell.half_width, 0),
                real.unwrap_or_else(|| "-".to_owned()),
            ]
        });
        cells.flatten().collect()
    }

    /// What stands below the table.
    pub(super) fn legend(&self) -> &'static str {
        if self.jobs.is_empty() {
            ""
        } else {
            "(completion: cycles from the first start, of messages from cycle 0, to the last delivery, when all are delivered)\n"
        }
    }
}

/// Classes with a job.
fn jobs(summary: &Value) -> Vec<String> {
    let jobs = summary["jobs"].as_array().map_or(&[][..], Vec::as_slice);
    let whole = jobs.iter().filter(|job| job["application"].is_null());
    let names = whole.filter_map(|job| job["class"].as_str());
    names.map(str::to_owned).collect()
}

/// Classes without a job that have a verdict, with its place among all, the worst first.
fn beside(summary: &Value) -> Vec<(String, usize)> {
    let jobs = jobs(summary);
    let classes = summary["classes"].as_array().map_or(&[][..], Vec::as_slice);
    let told = classes.iter().filter_map(|class| {
        let (name, verdict) = (class["name"].as_str()?, class["verdict"].as_str()?);
        let rank = WORST_FIRST.iter().position(|word| *word == verdict)?;
        (!jobs.iter().any(|job| job == name)).then(|| (name.to_owned(), rank))
    });
    told.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn summary(completion: u64, background: &str) -> Value {
        json!({
            "scenario": { "cycle_ns": 5.12 },
            "jobs": [{ "class": "in", "application": null, "completion": completion }],
            "classes": [
                { "name": "in", "verdict": "complete", "completion": completion },
                { "name": "u", "verdict": background },
            ],
        })
    }

    #[test]
    fn completion_is_told_in_cycles_and_time_and_the_worst_of_what_runs_beside() {
        let runs = [summary(1000, "steady"), summary(1200, "saturated")];
        let runs: Vec<&Value> = runs.iter().collect();
        let columns = JobColumns::of(&runs);
        assert_eq!(columns.headings(), ["completion", "+-", "time"]);
        let cells = columns.cells(&runs);
        assert_eq!((&cells[0][..], &cells[2][..]), ("1100", "5.63 us"));
        assert_eq!(columns.beside(&runs).as_deref(), Some("u saturated"));
        let load = json!({ "jobs": [], "classes": [] });
        let mixed = JobColumns::of(&[runs[0], &load]);
        assert_eq!(mixed, JobColumns::default());
    }

    /// A run with these jobs, each complete, and nothing else.
    fn complete(jobs: &[(&str, Option<u32>)]) -> Value {
        let whole = jobs.iter().filter(|job| job.1.is_none());
        let classes = whole.map(|job| json!({ "name": job.0, "verdict": "complete" }));
        let jobs = jobs.iter();
        let jobs = jobs.map(|job| json!({ "class": job.0, "application": job.1 }));
        json!({ "jobs": jobs.collect::<Value>(), "classes": classes.collect::<Value>() })
    }

    #[test]
    fn the_first_jobs_have_columns_and_applications_none() {
        let of = |jobs: &[(&str, Option<u32>)]| {
            let run = complete(jobs);
            JobColumns::of(&[&run, &run])
        };
        let two = of(&[("a", None), ("a", Some(0)), ("a", Some(1)), ("b", None)]);
        let headings = ["a completion", "+-", "time", "b completion", "+-", "time"];
        assert_eq!(two.headings(), headings);
        assert_eq!(two.beside_heading(), None);
        let four = of(&["a", "b", "c", "d"].map(|class| (class, None)));
        assert_eq!(four.headings().len(), 3 * MOST_JOBS);
        assert_eq!(four.headings()[6], "c completion");
        assert_eq!(of(&[("a", Some(0)), ("a", Some(1))]), JobColumns::default());
    }
}
