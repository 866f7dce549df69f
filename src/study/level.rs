//! Judges a load: whether a fabric sustains it, by what its runs have delivered.
//!
//! # Algorithm
//! 1. A load is sustained when, over independent seeds, accepted load falls short of offered load by at most the
//!    tolerance and the source queues grow by at most the same part of the packets created. Of both, the larger
//!    counts, and its confidence interval must lie on one side of the tolerance.
//! 2. Nor may a few hosts fall short: what a fabric sustains is the whole pattern, and one channel with too many flows
//!    takes from few hosts only. Half of the runs say which 1, 2, 4, ... hosts miss most flits, the other half how
//!    much these miss, and the other way round: no host is taken for its bad luck. A load is not sustained when both
//!    halves are certain of more than the tolerance, and is tried again while both suspect it.
//!
//! # Deviations
//! The criterion is that of Dally and Towles, tested over replications; they judge the curve by eye. They take the
//! least part delivered of all flows, here it is that of all sources: a flow between two of a thousand hosts has too
//! few packets.
//!
//! References: [`DALLY_TOWLES`](crate::references::DALLY_TOWLES) section 23.1

use crate::measure::precision::{CONFIDENCE, Interval, replications};
use serde::Deserialize;
use std::cmp::Reverse;

/// Runs that it takes to say that hosts fall short: in fewer, a packet that is on its way at the end of each may do.
const ENOUGH: usize = 8;

/// What one run says about a load.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Offered load \[fraction of link rate\].
    pub offered: f64,
    /// Accepted load \[fraction of link rate\].
    pub accepted: f64,
    /// Growth of the source queues, part of the packets created.
    pub growth: f64,
    /// Of every host.
    pub hosts: Vec<HostFlits>,
    /// Whether it deadlocked.
    pub is_deadlocked: bool,
}

/// What became of the flits of a sending host within the window; a row of `hosts.csv`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct HostFlits {
    /// Created there.
    #[serde(rename = "created [flits]")]
    pub created: u64,
    /// Delivered from there.
    #[serde(rename = "accepted [flits]")]
    pub accepted: u64,
}

/// A load that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// The load as set \[fraction of link rate\].
    pub load: f64,
    /// One per seed.
    pub samples: Vec<Sample>,
}

impl HostFlits {
    /// Created but not delivered \[flits\]; negative when more was delivered.
    fn missing(self) -> i64 {
        self.created.cast_signed() - self.accepted.cast_signed()
    }
}

impl Level {
    /// Whether the load is sustained; `None` while the runs do not say.
    pub fn judge(&self, tolerance: f64) -> Option<bool> {
        if self.is_deadlocked() {
            return Some(false);
        }
        let all = self.shortfall()?;
        let half_width = all.half_width?;
        let hosts = self.worst_hosts();
        let certain = |hosts: &Interval| is_beyond(hosts, tolerance);
        let suspect = |hosts: &Interval| hosts.mean > tolerance;
        if is_beyond(&all, tolerance)
            || self.samples.len() >= ENOUGH && hosts.iter().any(|halves| halves.iter().all(certain))
        {
            Some(false)
        } else if all.mean + half_width <= tolerance
            && !hosts.iter().any(|halves| halves.iter().all(suspect))
        {
            Some(true)
        } else {
            None
        }
    }

    /// The same when there are no more runs: what is more likely.
    pub fn decide(&self, tolerance: f64) -> bool {
        let is_likely = |found: Interval| found.mean <= tolerance;
        self.judge(tolerance)
            .unwrap_or_else(|| self.shortfall().is_some_and(is_likely))
    }

    /// Whether a run of this load deadlocked.
    pub fn is_deadlocked(&self) -> bool {
        self.samples.iter().any(|sample| sample.is_deadlocked)
    }

    /// Accepted load \[fraction of link rate\].
    pub fn accepted(&self) -> Option<Interval> {
        let values: Vec<f64> = self.samples.iter().map(|sample| sample.accepted).collect();
        replications(&values, CONFIDENCE)
    }

    /// What is missing of the offered load, or stays in the source queues.
    fn shortfall(&self) -> Option<Interval> {
        let missing = |sample: &Sample| {
            let short = if sample.offered > 0.0 {
                1.0 - sample.accepted / sample.offered
            } else {
                0.0
            };
            short.max(sample.growth)
        };
        let values: Vec<f64> = self.samples.iter().map(missing).collect();
        replications(&values, CONFIDENCE)
    }

    /// What is missing of the flits of the worst 1, 2, 4, ... hosts, up to half of them: those that the odd runs choose
    /// in the even ones, and the other way round.
    fn worst_hosts(&self) -> Vec<[Interval; 2]> {
        let half = |parity: usize| -> Vec<&Sample> {
            self.samples.iter().skip(parity).step_by(2).collect()
        };
        let halves = [half(0), half(1)];
        let orders = [worst_first(&halves[1]), worst_first(&halves[0])];
        let measured = |size: usize, at: usize| {
            let chosen = orders[at].get(..size)?;
            let values: Vec<f64> = halves[at]
                .iter()
                .map(|sample| shortfall(&sample.hosts, chosen))
                .collect();
            replications(&values, CONFIDENCE)
        };
        let sizes = 0..orders[0].len().checked_ilog2().unwrap_or(0);
        sizes
            .map(|power| 1 << power)
            .filter_map(|size| Some([measured(size, 0)?, measured(size, 1)?]))
            .collect()
    }
}

/// Numbers of the hosts, those first that miss most flits in these runs.
fn worst_first(samples: &[&Sample]) -> Vec<usize> {
    let hosts = samples.first().map_or(0, |sample| sample.hosts.len());
    let missing = |host: usize| -> i64 {
        let of_runs = samples.iter().map(|sample| &sample.hosts[..]);
        of_runs.map(|hosts| of(hosts, host).missing()).sum()
    };
    let mut order: Vec<usize> = (0..hosts).collect();
    order.sort_by_cached_key(|&host| Reverse(missing(host)));
    order
}

/// Fabrics drawn from the seed may differ in their number of hosts.
fn of(hosts: &[HostFlits], host: usize) -> HostFlits {
    hosts.get(host).copied().unwrap_or_default()
}

/// Part of the flits created that was not delivered; negative when more was.
fn shortfall(hosts: &[HostFlits], chosen: &[usize]) -> f64 {
    let chosen = chosen.iter().map(|&host| of(hosts, host));
    let created: u64 = chosen.clone().map(|host| host.created).sum();
    let missing: i64 = chosen.map(HostFlits::missing).sum();
    missing as f64 / created.max(1) as f64
}

fn is_beyond(found: &Interval, tolerance: f64) -> bool {
    found
        .half_width
        .is_some_and(|half_width| found.mean - half_width > tolerance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, below, stream};

    const TOLERANCE: f64 = 0.01;

    /// Thirty hosts that create 1000 flits and deliver them but for noise; the first `limited` of them deliver 80 less.
    fn sample(seed: usize, limited: usize) -> Sample {
        let mut rng = stream(seed as u64, Purpose::Arrivals, 0);
        let host = |number: usize| HostFlits {
            created: 1000,
            accepted: 950 + u64::from(below(&mut rng, 101)) - if number < limited { 80 } else { 0 },
        };
        Sample {
            offered: 0.1,
            accepted: 0.1,
            growth: 0.0,
            hosts: (0..30).map(host).collect(),
            is_deadlocked: false,
        }
    }

    fn level(first_seed: usize, limited: usize) -> Level {
        let seeds = first_seed..first_seed + 12;
        Level {
            load: 0.1,
            samples: seeds.map(|seed| sample(seed, limited)).collect(),
        }
    }

    #[test]
    fn hosts_that_fall_short_are_found_though_all_together_do_not() {
        for first in (0..600).step_by(12) {
            for limited in [2, 3, 7] {
                let verdict = level(first, limited).judge(TOLERANCE);
                assert_eq!(verdict, Some(false), "{limited} hosts, seeds from {first}");
            }
        }
    }

    /// A host alone misses up to 5 % of its flits in a run, five times the tolerance.
    #[test]
    fn the_noise_of_single_hosts_is_no_shortfall() {
        let levels = (0..12_000).step_by(12).map(|first| level(first, 0));
        let wrong = levels.filter(|level| !level.decide(TOLERANCE)).count();
        assert!(wrong <= 5, "{wrong} of 1000");
    }

    #[test]
    fn one_half_of_the_runs_chooses_hosts_that_the_other_measures() {
        let run = |accepted: [u64; 3]| Sample {
            hosts: accepted
                .map(|accepted| HostFlits {
                    created: 10,
                    accepted,
                })
                .to_vec(),
            ..sample(0, 0)
        };
        let samples = vec![
            run([4, 9, 8]),
            run([9, 7, 7]),
            run([6, 9, 8]),
            run([9, 9, 8]),
        ];
        let level = Level { load: 0.1, samples };
        // the even runs choose the first host, the odd ones the last
        let [[even, odd]] = level.worst_hosts()[..] else {
            panic!("one size");
        };
        assert!((even.mean - 0.2).abs() < 1e-12 && (odd.mean - 0.1).abs() < 1e-12);
    }

    #[test]
    fn a_single_run_says_nothing_about_hosts_but_decides() {
        let mut level = level(0, 3);
        level.samples.truncate(1);
        assert_eq!(level.judge(TOLERANCE), None);
        assert!(level.decide(TOLERANCE));
        level.samples[0].is_deadlocked = true;
        assert!(!level.decide(TOLERANCE));
    }
}
