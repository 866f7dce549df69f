//! Two studies or runs side by side: differences of means, paired by point and seed.
//!
//! Runs with the same seed see the same arrivals, destinations and sizes (each purpose has its own random stream),
//! so the difference of a pair varies less than either of its runs: common random numbers.
//!
//! # Algorithm
//! 1. Two means differ when Student's interval of the paired differences leaves out zero. It takes three pairs: with two,
//!    one coincidence (percentiles are whole cycles) makes the interval as narrow as one likes.
//! 2. Differences that are all the same have no spread to judge by: however many there are, their interval has no width.
//! 3. When there are but two different ones the interval rests on where the one value happens to stand, not on a
//!    distribution that is nearly normal. Then the exact sign test must agree (two-sided, zeros left out).
//! 4. Two single runs have an interval from batch means, when there is one of the metric.
//!
//! Deviations: the interval of paired differences is Law and Kelton's; rules 2 and 3 are not in the book, which has no ties.
//!
//! References: [`LAW_KELTON`](crate::references::LAW_KELTON) section 11.2

use super::directory::{Finished, finished};
use super::{Record, StudyError, record};
use crate::measure::precision::{CONFIDENCE, Interval, replications};
use crate::metrics::{paths::look_up, shown};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// Fewest pairs for a verdict.
const FEWEST_PAIRS: usize = 3;
/// Differences closer than this part of the values are the same: both come from one division each.
const ROUNDING: f64 = 1e-12;

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
    /// Whether they differ.
    pub verdict: Verdict,
}

/// Whether two means differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The interval of the difference leaves out zero.
    Differs,
    /// It does not.
    Open,
    /// Every pair has equal values.
    Equal,
    /// There are fewer than three pairs, and no batches.
    TooFewPairs,
    /// The values of every pair differ by the same.
    NoSpread,
    /// There are but two different differences, and too few of them for a sign test.
    Ties,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Differs => "yes",
            Self::Open => "no",
            Self::Equal => "equal",
            Self::TooFewPairs => "too few pairs",
            Self::NoSpread => "no spread",
            Self::Ties => "ties",
        })
    }
}

impl Difference {
    /// Second less first.
    pub fn difference(&self) -> f64 {
        self.second - self.first
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
            if let Some(Finished::Run { summary, .. }) = finished(path, key)? {
                let point = design.points[key.point].values.clone();
                runs.insert((point, key.seed), summary.values);
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
            let interval = shown::column(metric)?.interval?;
            look_up(summary, &format!("{interval}.half_width"))
        };
        Some((width(first)?.powi(2) + width(second)?.powi(2)).sqrt())
    };
    let batches = from_batches().map(|half_width| Interval {
        mean: interval.mean,
        half_width: Some(half_width),
    });
    let verdict = match batches {
        Some(interval) => leaves_out_zero(interval),
        None => judge(pairs, &differences, interval),
    };
    Some(Difference {
        point: point.to_vec(),
        metric: metric.to_owned(),
        first: pairs.iter().map(|pair| pair.0).sum::<f64>() / count,
        second: pairs.iter().map(|pair| pair.1).sum::<f64>() / count,
        half_width: match verdict {
            Verdict::Equal | Verdict::NoSpread => None,
            _ => batches.unwrap_or(interval).half_width,
        },
        pairs: pairs.len(),
        verdict,
    })
}

/// What the differences of pairs say; `interval` is theirs.
fn judge(pairs: &[(f64, f64)], differences: &[f64], interval: Interval) -> Verdict {
    let largest = pairs.iter().flat_map(|pair| [pair.0.abs(), pair.1.abs()]);
    let same = largest.fold(0.0, f64::max) * ROUNDING;
    let mut sorted = differences.to_vec();
    sorted.sort_by(f64::total_cmp);
    let different = sorted.chunk_by(|a, b| b - a <= same).count();
    let is_zero = |difference: &f64| difference.abs() <= same;
    if differences.iter().all(is_zero) {
        Verdict::Equal
    } else if pairs.len() < FEWEST_PAIRS {
        Verdict::TooFewPairs
    } else if different == 1 {
        Verdict::NoSpread
    } else if different == 2 && leaves_out_zero(interval) == Verdict::Differs {
        let up = differences.iter().filter(|d| **d > same).count();
        let down = differences.iter().filter(|d| **d < -same).count();
        if sign_test(up, down) <= 1.0 - CONFIDENCE {
            Verdict::Differs
        } else {
            Verdict::Ties
        }
    } else {
        leaves_out_zero(interval)
    }
}

fn leaves_out_zero(interval: Interval) -> Verdict {
    match interval.half_width {
        None => Verdict::TooFewPairs,
        Some(0.0) => Verdict::NoSpread,
        Some(half_width) if interval.mean.abs() > half_width => Verdict::Differs,
        Some(_) => Verdict::Open,
    }
}

/// Probability that as many or more of one sign come up by chance, two-sided.
fn sign_test(up: usize, down: usize) -> f64 {
    let (all, fewer) = (up + down, up.min(down));
    let mut ways = 1.0;
    let mut sum = 0.0;
    for k in 0..=fewer {
        sum += ways;
        ways *= (all - k) as f64 / (k + 1) as f64;
    }
    (2.0 * sum / 2.0_f64.powi(all as i32)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, below, stream};
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
        assert_eq!((found[0].verdict, found[0].pairs), (Verdict::Differs, 3));
        let same = compare(&results(0.0), &results(0.0), &metrics).unwrap();
        assert_eq!(same[1].verdict, Verdict::Equal);
    }

    /// A verdict on whole numbers, as percentiles are.
    fn of(differences: &[i32]) -> Verdict {
        let pairs: Vec<(f64, f64)> = differences
            .iter()
            .map(|difference| (200.0, 200.0 + f64::from(*difference)))
            .collect();
        let differences: Vec<f64> = differences.iter().copied().map(f64::from).collect();
        let interval = replications(&differences, CONFIDENCE).unwrap();
        judge(&pairs, &differences, interval)
    }

    #[test]
    fn few_pairs_and_pairs_without_spread_have_no_verdict() {
        assert_eq!(of(&[-1]), Verdict::TooFewPairs);
        assert_eq!(of(&[-1, -1]), Verdict::TooFewPairs);
        assert_eq!(of(&[-10, -11]), Verdict::TooFewPairs);
        assert_eq!(of(&[-1; 3]), Verdict::NoSpread);
        assert_eq!(of(&[-1; 20]), Verdict::NoSpread);
        assert_eq!(of(&[0, 0]), Verdict::Equal);
        assert_eq!(of(&[-3, -5, -4]), Verdict::Differs);
        assert_eq!(of(&[-3, 5, 1]), Verdict::Open);
    }

    #[test]
    fn ties_need_a_sign_test_that_agrees() {
        // -1.2 +- 0.56, but five of five alike come up once in 16 times
        assert_eq!(of(&[-1, -1, -1, -1, -2]), Verdict::Ties);
        assert_eq!(of(&[-1, -1, -1, -1, -1, -2]), Verdict::Differs);
        assert_eq!(of(&[0, 0, 0, 0, 1]), Verdict::Open);
        for (up, down, expected) in [(6, 0, 2.0 / 64.0), (1, 8, 20.0 / 512.0), (2, 2, 1.0)] {
            assert!(
                (sign_test(up, down) - expected).abs() < 1e-12,
                "{up}, {down}"
            );
        }
    }

    /// Of rounded values without a difference at most one in twenty is told to differ, at any number of pairs.
    #[test]
    fn whole_numbers_without_a_difference_seldom_differ() {
        let mut rng = stream(1, Purpose::Arrivals, 0);
        for count in [2, 3, 4, 5, 6, 8, 12] {
            let mut draw = || (0..6).map(|_| below(&mut rng, 3) as i32).sum::<i32>() / 4;
            let wrong = (0..4000).filter(|_| {
                let differences: Vec<i32> = (0..count).map(|_| draw() - draw()).collect();
                of(&differences) == Verdict::Differs
            });
            // 5 % of 4000 and three standard deviations
            let wrong = wrong.count();
            assert!(wrong <= 242, "{wrong} of 4000 with {count} pairs");
        }
    }

    #[test]
    fn single_runs_are_judged_by_their_batches() {
        let single = |accepted: f64, half_width: f64| {
            let summary = json!({
                "load": {"accepted": accepted},
                "latency": {"packet": {"p99": 90}},
                "confidence": {"accepted": {"half_width": half_width}},
            });
            Results {
                axes: Vec::new(),
                points: vec![Vec::new()],
                runs: BTreeMap::from([((Vec::new(), 1), summary)]),
            }
        };
        let verdict = |half_width: f64, metric: &str| {
            let (first, second) = (single(0.5, half_width), single(0.52, half_width));
            compare(&first, &second, &[metric.to_owned()]).unwrap()[0].verdict
        };
        assert_eq!(verdict(0.01, "load.accepted"), Verdict::Differs);
        assert_eq!(verdict(0.1, "load.accepted"), Verdict::Open);
        assert_eq!(verdict(0.0, "load.accepted"), Verdict::NoSpread);
        assert_eq!(verdict(0.01, "latency.packet.p99"), Verdict::Equal);
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
