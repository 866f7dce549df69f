//! What hosts miss, as senders and as receivers: chosen in one half of the runs of a load, measured in the other.
//!
//! # Guarantees
//! No host is taken for its bad luck: what a set of hosts misses is told by runs that had no part in choosing it.

use super::level::Sample;
use crate::measure::precision::{Interval, replications};
use serde::Deserialize;
use std::cmp::Reverse;
use std::fmt;

/// Level of the interval of a half. Several sizes and both ends are looked at, after every round of runs.
const LEVEL: f64 = 0.98;

/// What became of the flits of a host within the window; a row of `hosts.csv`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct HostFlits {
    /// Created there.
    #[serde(rename = "created [flits]")]
    pub created: u64,
    /// Delivered from there.
    #[serde(rename = "accepted [flits]")]
    pub accepted: u64,
    /// Created anywhere for it.
    #[serde(rename = "destined [flits]")]
    pub destined: u64,
    /// Delivered there.
    #[serde(rename = "received [flits]")]
    pub received: u64,
}

/// What hosts are judged as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By what they send.
    Source,
    /// By what they receive.
    Destination,
}

impl End {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Source, Self::Destination];

    /// Flits that are due, and those that were delivered.
    fn account(self, host: HostFlits) -> (u64, u64) {
        match self {
            Self::Source => (host.created, host.accepted),
            Self::Destination => (host.destined, host.received),
        }
    }

    /// Flits that are due but were not delivered; negative when more was.
    fn missing(self, host: HostFlits) -> i64 {
        let (due, delivered) = self.account(host);
        due.cast_signed() - delivered.cast_signed()
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Source => "source",
            Self::Destination => "destination",
        })
    }
}

/// What a number of hosts that were chosen for it miss.
#[derive(Clone, Debug, PartialEq)]
pub struct Worst {
    /// As what.
    pub end: End,
    /// How many.
    pub hosts: usize,
    /// The worst of all runs together.
    pub first: usize,
    /// Part of the flits due in every run, by the choice of the other half; `[half][run]`.
    pub halves: [Vec<f64>; 2],
    /// The same by the choice of all runs, the measured one included: too much by the luck of the choice.
    pub chosen_by_all: f64,
}

impl Worst {
    /// The worst 1, 2, 4, ... hosts as `end`, up to half of them.
    pub fn of(samples: &[Sample], end: End) -> Vec<Self> {
        let half =
            |parity: usize| -> Vec<&Sample> { samples.iter().skip(parity).step_by(2).collect() };
        let halves = [half(0), half(1)];
        if halves[1].is_empty() {
            return Vec::new();
        }
        let all: Vec<&Sample> = samples.iter().collect();
        let orders = [&halves[1], &halves[0]].map(|samples| worst_first(samples, end));
        let order = worst_first(&all, end);
        let values = |samples: &[&Sample], chosen: &[usize]| -> Vec<f64> {
            let samples = samples.iter();
            samples.map(|sample| part([*sample], chosen, end)).collect()
        };
        let sizes = 0..order.len().checked_ilog2().unwrap_or(0);
        let worst = sizes.map(|power| 1 << power).map(|hosts| Self {
            end,
            hosts,
            first: order[0],
            halves: [0, 1].map(|at| values(&halves[at], first(&orders[at], hosts))),
            chosen_by_all: part(all.iter().copied(), first(&order, hosts), end),
        });
        worst.collect()
    }

    /// Mean and interval of each half.
    pub fn intervals(&self) -> Option<[Interval; 2]> {
        let [even, odd] = &self.halves;
        Some([replications(even, LEVEL)?, replications(odd, LEVEL)?])
    }

    /// Mean of both halves.
    pub fn mean(&self) -> f64 {
        let values = self.values();
        values.clone().sum::<f64>() / values.count().max(1) as f64
    }

    /// Standard error of the mean; 0 where one value says nothing about it.
    pub fn error(&self) -> f64 {
        let count = self.values().count() as f64;
        if count < 2.0 {
            return 0.0;
        }
        let mean = self.mean();
        let squares: f64 = self.values().map(|value| (value - mean).powi(2)).sum();
        (squares / (count - 1.0) / count).sqrt()
    }

    /// Of every run.
    pub fn values(&self) -> impl Iterator<Item = f64> + Clone {
        self.halves.iter().flatten().copied()
    }
}

impl fmt::Display for Worst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            end, hosts, first, ..
        } = self;
        match hosts {
            1 => write!(f, "{end} {first}"),
            _ => write!(f, "{hosts} {end}s, the worst is host {first}"),
        }
    }
}

fn first(order: &[usize], hosts: usize) -> &[usize] {
    &order[..hosts.min(order.len())]
}

/// Numbers of the hosts, those first that miss most flits in these runs.
fn worst_first(samples: &[&Sample], end: End) -> Vec<usize> {
    let hosts = samples.iter().map(|sample| sample.hosts.len()).max();
    let missing = |host: usize| -> i64 {
        let of_runs = samples.iter().map(|sample| of(&sample.hosts, host));
        of_runs.map(|host| end.missing(host)).sum()
    };
    let mut order: Vec<usize> = (0..hosts.unwrap_or(0)).collect();
    order.sort_by_cached_key(|&host| Reverse(missing(host)));
    order
}

/// Fabrics drawn from the seed may differ in their number of hosts.
fn of(hosts: &[HostFlits], host: usize) -> HostFlits {
    hosts.get(host).copied().unwrap_or_default()
}

/// Part of the flits due that was not delivered; negative when more was.
fn part<'a>(samples: impl IntoIterator<Item = &'a Sample>, chosen: &[usize], end: End) -> f64 {
    let (mut due, mut missing) = (0, 0);
    for sample in samples {
        for &host in chosen {
            let host = of(&sample.hosts, host);
            due += end.account(host).0;
            missing += end.missing(host);
        }
    }
    missing as f64 / due.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(accepted: [u64; 3]) -> Sample {
        let host = |accepted| HostFlits {
            created: 10,
            accepted,
            destined: 20,
            received: 20,
        };
        Sample {
            hosts: accepted.map(host).to_vec(),
            ..Sample::default()
        }
    }

    #[test]
    fn one_half_of_the_runs_chooses_hosts_that_the_other_measures() {
        let samples = [
            run([4, 9, 8]),
            run([9, 7, 7]),
            run([6, 9, 8]),
            run([9, 9, 8]),
        ];
        // the even runs choose the first host, the odd ones the last
        let worst = Worst::of(&samples, End::Source);
        assert_eq!(worst.len(), 1);
        let [even, odd] = worst[0].intervals().unwrap();
        assert!((even.mean - 0.2).abs() < 1e-12 && (odd.mean - 0.1).abs() < 1e-12);
        assert!((worst[0].mean() - 0.15).abs() < 1e-12);
        // all together choose the first
        assert_eq!(worst[0].first, 0);
        assert!((worst[0].chosen_by_all - 0.3).abs() < 1e-12);
        let received = Worst::of(&samples, End::Destination);
        assert!(received[0].mean().abs() < 1e-12);
    }

    #[test]
    fn one_run_has_no_halves() {
        assert_eq!(Worst::of(&[run([1, 2, 3])], End::Source), []);
    }
}
