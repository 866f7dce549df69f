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
//!    four runs shows five times as much. It is not called sustained while both together show more.
//! 3. Fewer than four runs leave no halves worth the name. They can tell a load that is sustained only if the hosts that
//!    look worst in these very runs do not miss more than the tolerance, and one that is not only if every run misses
//!    twice as much.
//! 4. Nor may the packets inside the fabric become more: from the first half of the measurement to the second by half
//!    at most.
//! 5. What is neither is undecided: too close to tell in as many runs of this length.
//!
//! # Deviations
//! The criterion is that of Dally and Towles, tested over replications; they judge the curve by eye. They take the
//! least part delivered of all flows, here it is that of all hosts: a flow between two of a thousand hosts has too few
//! packets.
//!
//! References: [`DALLY_TOWLES`](crate::references::DALLY_TOWLES) section 23.1

use super::shortfall::{End, HostFlits, Worst};
use crate::measure::precision::{CONFIDENCE, Interval, replications};
use crate::report::result::{CycleCounts, TimelineRow};
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
/// Growth of the packets in the fabric from one half of the measurement to the other, part of the first, that a fabric
/// on its way to a steady state may show.
const INSIDE: f64 = 0.5;

/// Rows of the timeline that it takes to tell a half of the measurement from the other.
const FEWEST_ROWS: usize = 4;

/// What one run says about a load.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// Offered load \[fraction of link rate\].
    pub offered: f64,
    /// Accepted load \[fraction of link rate\].
    pub accepted: f64,
    /// Growth of the source queues, part of the packets created.
    pub growth: f64,
    /// Growth of the packets in the fabric between the halves of the measurement, part of those in the first.
    pub growth_inside: f64,
    /// Of every host.
    pub hosts: Vec<HostFlits>,
    /// Whether it deadlocked.
    pub is_deadlocked: bool,
    /// Whether its measurement was cut short because it was certainly overloaded.
    pub is_cut: bool,
}

/// Growth of the packets in the fabric between the halves of the measurement, part of those in the first; 0 where there
/// are too few rows to tell.
pub fn growth_inside(timeline: &[TimelineRow], cycles: CycleCounts) -> f64 {
    let end = cycles.warmup + cycles.measure;
    let is_measured =
        |row: &&TimelineRow| cycles.warmup <= row.start && row.start + row.length <= end;
    let rows = timeline.iter().filter(is_measured);
    let inside: Vec<f64> = rows.map(|row| row.in_flight_packets as f64).collect();
    let half = inside.len() / 2;
    let early: f64 = inside[..half].iter().sum();
    let late: f64 = inside[inside.len() - half..].iter().sum();
    if half < FEWEST_ROWS || early == 0.0 {
        return 0.0;
    }
    late / early - 1.0
}

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
            .overload(all, inside, &hosts, tolerance)
            .map(|reason| (Judgement::NotSustained, reason))
            .or_else(|| {
                let doubt = self.doubt(all, inside, &hosts, tolerance);
                doubt.map(|reason| (Judgement::Undecided, reason))
            });
        let (judgement, reason) = found.unwrap_or_else(|| {
            let missing = percent(all.map_or(0.0, |all| all.mean).max(0.0));
            let reason = format!("{missing} missing, no host certainly more");
            (Judgement::Sustained, reason)
        });
        Judged { judgement, reason }
    }

    /// What is certainly too much, if anything is.
    fn overload(
        &self,
        all: Option<Interval>,
        inside: Option<Interval>,
        hosts: &[Worst],
        tolerance: f64,
    ) -> Option<String> {
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
        if let Some(worst) = hosts.iter().find(certain) {
            let missing = percent(worst.mean());
            return Some(format!("{worst}: {missing} of the flits due missing"));
        }
        let inside = inside.filter(|inside| runs >= ENOUGH && is_beyond(inside, INSIDE))?;
        let grown = percent(inside.mean);
        Some(format!("packets in the fabric grow by {grown}"))
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
        let shown = |worst: &Worst| match runs {
            ..HALVES => worst.chosen_by_all,
            _ => worst.mean(),
        };
        if let Some(worst) = hosts.iter().find(|worst| shown(worst) > tolerance) {
            let missing = percent(shown(worst));
            return Some(format!(
                "{worst}: {missing} of the flits due missing, not certain"
            ));
        }
        let inside = inside.filter(|inside| inside.mean > INSIDE)?;
        let grown = percent(inside.mean);
        Some(format!(
            "packets in the fabric grow by {grown}, not certain"
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
mod tests {
    use super::*;
    use crate::rng::{Purpose, below, stream};

    const TOLERANCE: f64 = 0.01;
    const HOSTS: usize = 30;

    /// Thirty hosts that create 1000 flits, and get as many, but for noise; the first `limited` of them as `end` miss
    /// `missing` more.
    fn sample(seed: usize, end: End, limited: usize, missing: u64) -> Sample {
        let mut rng = stream(seed as u64, Purpose::Arrivals, 0);
        let mut noisy = |is_limited: bool| {
            950 + u64::from(below(&mut rng, 101)) - if is_limited { missing } else { 0 }
        };
        let host = |number: usize| HostFlits {
            created: 1000,
            accepted: noisy(end == End::Source && number < limited),
            destined: 1000,
            received: noisy(end == End::Destination && number < limited),
        };
        Sample {
            offered: 0.1,
            accepted: 0.1,
            hosts: (0..HOSTS).map(host).collect(),
            ..Sample::default()
        }
    }

    fn level(first: usize, runs: usize, end: End, limited: usize, missing: u64) -> Level {
        let seeds = first..first + runs;
        Level {
            load: 0.1,
            samples: seeds
                .map(|seed| sample(seed, end, limited, missing))
                .collect(),
        }
    }

    /// Judgements of a thousand levels as a search makes them: with more runs while it is undecided.
    fn judged(rounds: &[usize], end: End, limited: usize, missing: u64) -> [usize; 3] {
        let mut counts = [0; 3];
        for number in 0..1000 {
            let judgements = rounds.iter().map(|&runs| {
                level(number * 100, runs, end, limited, missing)
                    .judge(TOLERANCE)
                    .judgement
            });
            let mut judgements = judgements.skip_while(|found| *found == Judgement::Undecided);
            counts[judgements.next().unwrap_or(Judgement::Undecided) as usize] += 1;
        }
        counts
    }

    const ROUNDS: [usize; 4] = [2, 4, 8, 12];

    #[test]
    fn hosts_that_fall_short_are_found_though_all_together_do_not() {
        for end in End::ALL {
            for limited in [1, 2, 3, 7] {
                let [sustained, not, undecided] = judged(&ROUNDS, end, limited, 80);
                assert!(
                    sustained <= 10,
                    "{end}, {limited}: {sustained} of 1000 sustained"
                );
                assert!(
                    not >= 950,
                    "{end}, {limited}: {not} not, {undecided} undecided"
                );
            }
        }
    }

    /// With half of the runs as with all: few runs must not tell more than they know.
    #[test]
    fn few_seeds_do_not_overlook_hosts_that_fall_short() {
        for end in End::ALL {
            for limited in [1, 2, 7] {
                let [sustained, ..] = judged(&[2, 3], end, limited, 80);
                assert!(
                    sustained <= 10,
                    "{end}, {limited}: {sustained} of 1000 sustained"
                );
            }
        }
    }

    /// A host alone misses up to 5 % of its flits in a run, five times the tolerance.
    #[test]
    fn the_noise_of_single_hosts_is_no_shortfall() {
        let [_, not, _] = judged(&ROUNDS, End::Source, 0, 0);
        assert!(not <= 5, "{not} of 1000");
        let [_, not, _] = judged(&[2, 3, 6, 9], End::Source, 0, 0);
        assert!(not <= 5, "{not} of 1000 by few seeds");
    }

    #[test]
    fn all_together_are_judged_by_the_interval_and_told_with_the_reason() {
        let level = |accepted: [f64; 4], growth: f64| Level {
            load: 0.8,
            samples: accepted
                .map(|accepted| Sample {
                    offered: 0.8,
                    accepted,
                    growth,
                    ..Sample::default()
                })
                .to_vec(),
        };
        for (accepted, growth, judgement, reason) in [
            (
                [0.49, 0.48, 0.5, 0.49],
                0.3,
                Judgement::NotSustained,
                "accepted 0.4900 of 0.8000 offered",
            ),
            (
                [0.8; 4],
                0.3,
                Judgement::NotSustained,
                "source queues grow by 30.0 % of the packets",
            ),
            (
                [0.8, 0.801, 0.799, 0.8],
                0.0,
                Judgement::Sustained,
                "0.0 % missing, no host certainly more",
            ),
            (
                [0.8, 0.78, 0.8, 0.785],
                0.0,
                Judgement::Undecided,
                "1.1 % +- 2.1 % missing",
            ),
        ] {
            let judged = level(accepted, growth).judge(TOLERANCE);
            assert_eq!(
                (judged.judgement, judged.reason.as_str()),
                (judgement, reason)
            );
        }
    }

    #[test]
    fn a_single_run_says_nothing_but_a_deadlock() {
        let mut level = level(0, 1, End::Source, 3, 80);
        assert_eq!(level.judge(TOLERANCE).judgement, Judgement::Undecided);
        level.samples[0].is_deadlocked = true;
        assert_eq!(level.judge(TOLERANCE).judgement, Judgement::NotSustained);
    }

    #[test]
    fn a_fabric_that_fills_is_not_sustained() {
        let mut level = level(0, 12, End::Source, 0, 0);
        for (number, sample) in level.samples.iter_mut().enumerate() {
            sample.growth_inside = 0.7 + number as f64 * 0.01;
        }
        let judged = level.judge(0.1);
        assert_eq!(judged.judgement, Judgement::NotSustained);
        assert_eq!(judged.reason, "packets in the fabric grow by 75.5 %");
        level.samples.truncate(4);
        assert_eq!(level.judge(0.1).judgement, Judgement::Undecided);
    }

    #[test]
    fn growth_is_told_from_the_halves_of_the_measurement() {
        let row = |number: u64| TimelineRow {
            start: number * 100,
            length: 100,
            in_flight_packets: if number < 5 { 9 } else { number },
            ..TimelineRow::default()
        };
        let rows: Vec<TimelineRow> = (0..20).map(row).collect();
        let cycles = |warmup, measure| CycleCounts {
            warmup,
            measure,
            ..CycleCounts::default()
        };
        // rows 5 to 8 and 10 to 13; the row in the middle is of neither half
        let found = growth_inside(&rows, cycles(450, 950));
        assert!((found - (46.0 / 26.0 - 1.0)).abs() < 1e-12, "{found}");
        assert!(growth_inside(&rows, cycles(450, 700)).abs() < 1e-12);
        assert!(growth_inside(&[], cycles(0, 0)).abs() < 1e-12);
    }
}
