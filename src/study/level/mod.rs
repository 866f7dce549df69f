//! Judges a load: whether a fabric sustains it, by what its runs have delivered.
//!
//! # Algorithm
//! 1. A load is sustained when, over independent seeds, accepted load falls short of offered load by at most the
//!    tolerance and the source queues grow by at most the same part of the packets created. Of both, the larger
//!    counts, and its confidence interval must lie on one side of the tolerance.
//! 2. Nor may a few hosts fall short, as sources or as destinations: what a fabric sustains is the whole pattern, and
//!    one channel with too many flows takes from few hosts only. Half of the runs say which 1, 2, 4, ... hosts miss
//!    most flits, the other half how much these miss, and the other way round: no host is taken for its bad luck. A
//!    load is not sustained when both halves are certain of more than the tolerance, or when every one of at least
//!    four runs shows five times as much. It is not called sustained while both together show more, and more than all
//!    hosts together by a standard error.
//! 3. Fewer than four runs leave no halves worth the name. They can tell a load that is sustained only if the hosts that
//!    look worst in these very runs do not miss more than the tolerance, and one that is not only if every run misses
//!    twice as much.
//! 4. While the packets inside the fabric certainly grow by more than half from the first half of the measurement to the
//!    second, the fabric fills, and no load is called sustained.
//! 5. What is neither is undecided: too close to tell in as many runs of this length.
//!
//! # Deviations
//! The criterion is that of Dally and Towles, tested over replications; they judge the curve by eye. They take the
//! least part delivered of all flows, here it is that of all hosts: a flow between two of a thousand hosts has too few
//! packets.
//!
//! References: [`DALLY_TOWLES`](crate::references::DALLY_TOWLES) section 23.1

mod sample;

pub use sample::{Sample, growth_inside};

use super::shortfall::{End, Worst};
use crate::measure::precision::{CONFIDENCE, Interval, replications, student_t};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Runs that it takes to trust intervals of halves: in fewer, a packet that is on its way at the end of each may do.
const ENOUGH: usize = 8;
/// Runs that it takes to judge by halves at all.
const HALVES: usize = 4;
/// Times the tolerance that hosts miss in every run when [`HALVES`] runs are enough to say so.
const GROSS: f64 = 5.0;
/// Times the tolerance that every run misses when fewer than [`HALVES`] runs are enough to say so.
const CLEAR: f64 = 2.0;
/// Standard errors off the mean of what hosts miss, to be safe from taking their noise for an estimate.
const ERRORS: f64 = 2.0;
/// Growth of the packets in the fabric from one half of the measurement to the other, part of the first, that a fabric
/// on its way to a steady state may show.
const INSIDE: f64 = 0.5;

/// A load that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// The load as set \[fraction of link rate\].
    pub load: f64,
    /// One per seed.
    pub samples: Vec<Sample>,
}

/// Whether a load is sustained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Judgement {
    /// It certainly is.
    #[serde(rename = "sustained")]
    Sustained,
    /// It certainly is not.
    #[serde(rename = "not sustained")]
    NotSustained,
    /// Too close to tell.
    #[serde(rename = "undecided")]
    Undecided,
}

/// A judgement and its reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// Whether the load is sustained.
    pub judgement: Judgement,
    /// Why, in a few words.
    pub reason: String,
    /// Part of the flits that is missing by estimate: of all hosts, or of those that certainly miss more.
    pub missing: f64,
}

impl Judgement {
    /// The word for tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Sustained => "sustained",
            Self::NotSustained => "not sustained",
            Self::Undecided => "undecided",
        }
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl Level {
    /// Whether the load is sustained.
    pub fn judge(&self, tolerance: f64) -> Judged {
        let (all, inside) = (self.shortfall(), self.growth_inside());
        let hosts = End::ALL.map(|end| Worst::of(&self.samples, end)).concat();
        let found = self
            .overload(all, &hosts, tolerance)
            .map(|reason| (Judgement::NotSustained, reason))
            .or_else(|| {
                let doubt = self.doubt(all, inside, &hosts, tolerance);
                doubt.map(|reason| (Judgement::Undecided, reason))
            });
        let of_all = all.map_or(0.0, |all| all.mean);
        let (judgement, reason) = found.unwrap_or_else(|| {
            let missing = percent(of_all.max(0.0));
            let reason = format!("{missing} missing, no host certainly more");
            (Judgement::Sustained, reason)
        });
        let has_halves = self.samples.len() >= HALVES;
        let worst = hosts.iter().filter(|_| has_halves);
        let of_worst = worst.map(|worst| worst.mean() - ERRORS * worst.error());
        Judged {
            judgement,
            reason,
            missing: of_worst.fold(of_all, f64::max),
        }
    }

    /// Whether `most` runs would not tell either, by the mean and the scatter of these.
    pub fn is_hopeless(&self, tolerance: f64, most: usize) -> bool {
        let Some(all) = self.shortfall() else {
            return false;
        };
        let of_unit = |runs: usize| student_t(CONFIDENCE, runs - 1) / (runs as f64).sqrt();
        all.half_width.is_some_and(|half_width| {
            let narrower = of_unit(most) / of_unit(self.samples.len());
            (all.mean - tolerance).abs() < half_width * narrower
        })
    }

    /// What is certainly too much, if anything is.
    fn overload(&self, all: Option<Interval>, hosts: &[Worst], tolerance: f64) -> Option<String> {
        let runs = self.samples.len();
        if self.is_deadlocked() {
            return Some("a run deadlocked".into());
        }
        let is_clear = |part: f64| runs >= HALVES || part > CLEAR * tolerance;
        if let Some(all) = all
            && is_beyond(&all, tolerance)
            && self.shortfalls().into_iter().all(is_clear)
        {
            return Some(self.in_all(&all));
        }
        let certain = |worst: &&Worst| {
            let is_gross = runs >= HALVES && worst.values().all(|part| part > GROSS * tolerance);
            let is_certain = |halves: [Interval; 2]| {
                let mut halves = halves.iter();
                halves.all(|half| is_beyond(half, tolerance))
            };
            is_gross || runs >= ENOUGH && worst.intervals().is_some_and(is_certain)
        };
        let worst = hosts.iter().find(certain)?;
        let missing = percent(worst.mean());
        Some(format!("{worst}: {missing} of the flits due missing"))
    }

    /// What speaks against calling the load sustained, if anything does.
    fn doubt(
        &self,
        all: Option<Interval>,
        inside: Option<Interval>,
        hosts: &[Worst],
        tolerance: f64,
    ) -> Option<String> {
        let runs = self.samples.len();
        let Some(half_width) = all.and_then(|all| all.half_width) else {
            return Some("one run says nothing about others".into());
        };
        let mean = all.map_or(0.0, |all| all.mean);
        if mean + half_width > tolerance {
            let (mean, half_width) = (percent(mean), percent(half_width));
            return Some(format!("{mean} +- {half_width} missing"));
        }
        // fewer runs leave no halves; and hosts alike miss what all together do, give or take
        let shown = |worst: &Worst| match runs {
            ..HALVES => Some(worst.chosen_by_all),
            _ => Some(worst.mean()).filter(|part| part - mean > worst.error()),
        };
        let is_doubtful = |worst: &&Worst| shown(worst).is_some_and(|part| part > tolerance);
        if let Some(worst) = hosts.iter().find(is_doubtful) {
            let missing = percent(shown(worst).unwrap_or_default());
            return Some(format!(
                "{worst}: {missing} of the flits due missing, not certain"
            ));
        }
        let inside = inside.filter(|inside| is_beyond(inside, INSIDE))?;
        let grown = percent(inside.mean);
        Some(format!(
            "packets in the fabric still grow by {grown}: the runs are too short"
        ))
    }

    /// What all hosts together miss, in words.
    fn in_all(&self, all: &Interval) -> String {
        let count = self.samples.len().max(1) as f64;
        let mean =
            |number: fn(&Sample) -> f64| self.samples.iter().map(number).sum::<f64>() / count;
        let (offered, accepted) = (
            mean(|sample| sample.offered),
            mean(|sample| sample.accepted),
        );
        let short = 1.0 - accepted / offered.max(f64::MIN_POSITIVE);
        if short > all.mean / 2.0 {
            format!("accepted {accepted:.4} of {offered:.4} offered")
        } else {
            format!("source queues grow by {} of the packets", percent(all.mean))
        }
    }

    /// Whether a run of this load deadlocked.
    pub fn is_deadlocked(&self) -> bool {
        self.samples.iter().any(|sample| sample.is_deadlocked)
    }

    /// Accepted load of the runs that went to their end \[fraction of link rate\]; `None` when none did. A run that was
    /// cut short may have filled the fabric first.
    pub fn accepted(&self) -> Option<Interval> {
        let whole = self.samples.iter().filter(|sample| !sample.is_cut);
        let values: Vec<f64> = whole.map(|sample| sample.accepted).collect();
        replications(&values, CONFIDENCE)
    }

    /// What is missing of the offered load, or stays in the source queues.
    fn shortfall(&self) -> Option<Interval> {
        replications(&self.shortfalls(), CONFIDENCE)
    }

    /// The same of every run.
    fn shortfalls(&self) -> Vec<f64> {
        let missing = |sample: &Sample| {
            let short = if sample.offered > 0.0 {
                1.0 - sample.accepted / sample.offered
            } else {
                0.0
            };
            short.max(sample.growth)
        };
        self.samples.iter().map(missing).collect()
    }

    /// Growth of the packets in the fabric.
    fn growth_inside(&self) -> Option<Interval> {
        let growth = self.samples.iter().map(|sample| sample.growth_inside);
        replications(&growth.collect::<Vec<_>>(), CONFIDENCE)
    }
}

fn is_beyond(found: &Interval, tolerance: f64) -> bool {
    found
        .half_width
        .is_some_and(|half_width| found.mean - half_width > tolerance)
}

fn percent(part: f64) -> String {
    format!("{:.1} %", part * 100.0)
}

#[cfg(test)]
mod tests;
