//! Two studies or runs side by side: differences of means, paired by point and seed.
//!
//! Runs with the same seed see the same arrivals, destinations and sizes (each purpose has its own random stream),
//! so the difference of a pair varies less than either of its runs: common random numbers.
//!
//! References: [`LAW_KELTON`](crate::references::LAW_KELTON) section 11.2

use super::directory::{Finished, finished};
use super::{Record, StudyError, record};
use crate::measure::precision::{CONFIDENCE, replications};
use crate::report::summary::look_up;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// The summaries of a study by point, in words, and seed.
#[derive(Clone, Debug)]
pub struct Results {
    /// Names of the axes; empty for a single run.
    pub axes: Vec<String>,
    /// Points in the order of the study.
    points: Vec<Vec<String>>,
    runs: BTreeMap<(Vec<String>, u64), Value>,
}

/// One metric at one point of both.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The point, a value per axis.
    pub point: Vec<String>,
    /// Path of the metric.
    pub metric: String,
    /// Mean of the first.
    pub first: f64,
    /// Mean of the second.
    pub second: f64,
    /// Half-width of the interval of the difference; `None` when it cannot be told.
    pub half_width: Option<f64>,
    /// Seeds that both have.
    pub pairs: usize,
}

impl Difference {
    /// Second less first.
    pub fn difference(&self) -> f64 {
        self.second - self.first
    }

    /// Whether the interval leaves out zero; `None` when there is none.
    pub fn is_significant(&self) -> Option<bool> {
        self.half_width
            .map(|half_width| self.difference().abs() > half_width)
    }
}

impl Results {
    /// Reads a study or run directory.
    ///
    /// # Errors
    /// When it is neither, or cannot be read.
    pub fn read(path: &Path) -> Result<Self, StudyError> {
        if path.join(record::FILE).exists() {
            return Self::study(path);
        }
        let file = path.join("summary.json");
        let text = std::fs::read_to_string(&file).map_err(|_| {
            StudyError::foreign(
                path,
                "is neither a run nor a study: it has no summary.json and no study.ron",
            )
        })?;
        let summary: Value =
            serde_json::from_str(&text).map_err(|cause| StudyError::foreign(file, cause))?;
        let seed = summary["run"]["seed"].as_u64().unwrap_or(0);
        Ok(Self {
            axes: Vec::new(),
            points: vec![Vec::new()],
            runs: BTreeMap::from([((Vec::new(), seed), summary)]),
        })
    }

    fn study(path: &Path) -> Result<Self, StudyError> {
        let design = Record::read(path)?.design;
        let mut runs = BTreeMap::new();
        for key in &design.runs {
            // runs without a result have nothing to compare
            if let Some(Finished::Run { summary, .. }) = finished(path, key)?
                && let Ok(summary) = serde_json::to_value(summary)
            {
                let point = design.points[key.point].values.clone();
                runs.insert((point, key.seed), summary);
            }
        }
        Ok(Self {
            axes: design.axes.into_iter().map(|axis| axis.path).collect(),
            points: design
                .points
                .into_iter()
                .map(|point| point.values)
                .collect(),
            runs,
        })
    }

    /// Seeds and values of a metric at a point, of runs that both have.
    fn pairs(&self, other: &Self, point: &[String], metric: &str) -> Vec<(f64, f64)> {
        let own = self.runs.iter().filter(|((of, _), _)| of == point);
        let pair = own.filter_map(|(key, first)| {
            let second = other.runs.get(key)?;
            Some((look_up(first, metric)?, look_up(second, metric)?))
        });
        pair.collect()
    }
}

/// Every metric at every point that both have.
///
/// # Errors
/// When the axes are not the same, or there is no point and seed in common.
pub fn compare(
    first: &Results,
    second: &Results,
    metrics: &[String],
) -> Result<Vec<Difference>, StudyError> {
    if first.axes != second.axes {
        let words = |axes: &[String]| match axes {
            [] => "no axis".to_owned(),
            axes => axes.join(", "),
        };
        let (first, second) = (words(&first.axes), words(&second.axes));
        let message = format!("the studies have different axes: {first} and {second}");
        return Err(StudyError::Design(message));
    }
    let mut found = Vec::new();
    for point in &first.points {
        for metric in metrics {
            let pairs = first.pairs(second, point, metric);
            found.extend(difference(first, second, point, metric, &pairs));
        }
    }
    if found.is_empty() {
        let message = "the studies have no run of the same point and seed in common";
        return Err(StudyError::Design(message.into()));
    }
    Ok(found)
}

fn difference(
    first: &Results,
    second: &Results,
    point: &[String],
    metric: &str,
    pairs: &[(f64, f64)],
) -> Option<Difference> {
    let differences: Vec<f64> = pairs.iter().map(|(first, second)| second - first).collect();
    let interval = replications(&differences, CONFIDENCE)?;
    let count = pairs.len() as f64;
    let from_batches = || {
        let width = |results: &Results| {
            let summary = results
                .runs
                .values()
                .next()
                .filter(|_| results.runs.len() == 1)?;
            look_up(summary, &format!("{}.half_width", inside(metric)?))
        };
        Some((width(first)?.powi(2) + width(second)?.powi(2)).sqrt())
    };
    Some(Difference {
        point: point.to_vec(),
        metric: metric.to_owned(),
        first: pairs.iter().map(|pair| pair.0).sum::<f64>() / count,
        second: pairs.iter().map(|pair| pair.1).sum::<f64>() / count,
        half_width: interval.half_width.or_else(from_batches),
        pairs: pairs.len(),
    })
}

/// Where a summary has the interval of a metric from batches inside the run.
fn inside(metric: &str) -> Option<&'static str> {
    Some(match metric {
        "load.accepted" => "confidence.accepted",
        "latency.network.mean" => "confidence.network_latency",
        "latency.packet.mean" => "confidence.packet_latency",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// One axis with two points, and three seeds; `shift` is what the second study is slower by.
    fn results(shift: f64) -> Results {
        let mut runs = BTreeMap::new();
        for (point, mean) in [("0.1", 50.0), ("0.5", 80.0)] {
            for seed in 1..=3u32 {
                // runs of one seed have much in common, runs of different seeds have not
                let latency = mean + f64::from(seed) * 7.0 + shift + shift * 0.1 * f64::from(seed);
                let summary = json!({"latency": {"packet": {"mean": latency}}});
                runs.insert((vec![point.to_owned()], u64::from(seed)), summary);
            }
        }
        Results {
            axes: vec!["load".into()],
            points: vec![vec!["0.1".into()], vec!["0.5".into()]],
            runs,
        }
    }

    #[test]
    fn pairs_of_a_seed_tell_what_means_cannot() {
        let metrics = ["latency.packet.mean".to_owned()];
        let found = compare(&results(0.0), &results(1.0), &metrics).unwrap();
        assert_eq!(found.len(), 2);
        assert!((found[0].difference() - 1.2).abs() < 1e-9);
        // the differences are 1.1, 1.2, 1.3; the runs themselves spread over 14 cycles
        let half_width = found[0].half_width.unwrap();
        assert!((half_width - 4.302_653 * 0.1 / 3.0_f64.sqrt()).abs() < 1e-6);
        assert_eq!((found[0].is_significant(), found[0].pairs), (Some(true), 3));
        let same = compare(&results(0.0), &results(0.0), &metrics).unwrap();
        assert_eq!(same[1].is_significant(), Some(false));
    }

    #[test]
    fn studies_without_a_common_run_are_refused() {
        let metrics = ["latency.packet.mean".to_owned()];
        let mut other = results(0.0);
        other.axes = vec!["lanes".into()];
        let error = compare(&results(0.0), &other, &metrics).unwrap_err();
        assert!(
            error.to_string().contains("different axes: load and lanes"),
            "{error}"
        );
        let mut none = results(0.0);
        none.runs.clear();
        assert!(compare(&results(0.0), &none, &metrics).is_err());
    }
}
