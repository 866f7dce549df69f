//! Links with a rate or latency of their own: conversion to the cycles of the reference link.

use crate::topology::ChannelTiming;
use crate::units::{BitRate, Clock, Time};

/// Two rates closer than this fraction are the same. Rates that are no whole number of bit/s (FDR:
/// 600/11 Gbit/s) are rounded to one, an error far below it; distinct rates differ far more.
const TOLERANCE: f64 = 1e-9;

/// Slowest link \[cycles per flit\]: all InfiniBand rates at once, 1x SDR to 12x XDR, need 7,200.
pub const SLOWEST: u32 = 10_000;

/// Rate and latency that a link says it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnTiming {
    /// Rate; `None` = that of the scenario.
    pub rate: Option<BitRate>,
    /// Propagation; `None` = that of the scenario.
    pub latency: Option<Time>,
}

impl OwnTiming {
    /// The timing of a channel; `default` fills what the link does not say.
    ///
    /// A real time shorter than a cycle counts as one cycle, the shortest there is.
    ///
    /// # Errors
    /// When the rate is not a whole fraction of the reference rate, or the latency is 0 or too long.
    pub(in crate::topology) fn resolve(
        self,
        default: ChannelTiming,
        clock: Clock,
    ) -> Result<ChannelTiming, String> {
        let cycles_per_flit = match self.rate {
            Some(rate) => cycles_per_flit(rate, clock)?,
            None => default.cycles_per_flit,
        };
        let latency = match self.latency {
            Some(Time::Cycles(0) | Time::Picoseconds(0)) => {
                return Err("latency 0, expected at least 1 cycle".to_owned());
            }
            Some(time) => u32::try_from(time.cycles(clock).max(1)).map_err(|_| {
                format!("latency {time} is too long, expected at most 2^32 - 1 cycles")
            })?,
            None => default.latency,
        };
        Ok(ChannelTiming {
            cycles_per_flit,
            latency,
        })
    }
}

/// Cycles that one flit takes on a link of `rate`.
///
/// # Errors
/// When the reference rate is not a whole multiple of `rate`; the message suggests one that is.
pub fn cycles_per_flit(rate: BitRate, clock: Clock) -> Result<u32, String> {
    let reference = BitRate(clock.reference_rate);
    whole_multiple(reference, rate).ok_or_else(|| {
        let suggestion = reference_rate(&[rate, reference]).map_or_else(String::new, |rate| {
            format!(", expected a reference rate such as {rate}")
        });
        format!(
            "link rate {rate} is not a whole fraction of the reference rate {reference}{suggestion}"
        )
    })
}

/// The smallest rate of which each of `rates` is a whole fraction: the reference rate of a fabric whose
/// links have these rates. `None` when `rates` is empty or there is none within [`SLOWEST`] times the slowest.
///
/// Several rates may give it with different rounding; the roundest one is taken.
pub fn reference_rate(rates: &[BitRate]) -> Option<BitRate> {
    let fastest = rates.iter().max()?;
    let multiples = |reference: BitRate| -> Option<Vec<u32>> {
        let all = rates.iter().map(|&rate| whole_multiple(reference, rate));
        all.map(|times| times.filter(|&times| times <= SLOWEST))
            .collect()
    };
    let (reference, times) = (1..=u64::from(SLOWEST))
        .map_while(|factor| fastest.0.checked_mul(factor))
        .map(BitRate)
        .find_map(|reference| Some((reference, multiples(reference)?)))?;
    let products = rates.iter().zip(&times);
    let exact = products.filter_map(|(rate, &times)| rate.0.checked_mul(times.into()));
    let zeros = |rate: &u64| {
        (0..19)
            .take_while(|&n| rate.is_multiple_of(10u64.pow(n + 1)))
            .count()
    };
    let roundest = exact.max_by_key(|rate| (zeros(rate), *rate)).map(BitRate);
    Some(
        roundest
            .filter(|&rate| multiples(rate).is_some())
            .unwrap_or(reference),
    )
}

/// How many times `rate` goes into `reference`, when that is a whole number.
pub fn whole_multiple(reference: BitRate, rate: BitRate) -> Option<u32> {
    let times = (reference.0 as f64 / rate.0 as f64).round();
    if !(1.0..=f64::from(u32::MAX)).contains(&times) {
        return None;
    }
    let error = (times * rate.0 as f64 - reference.0 as f64).abs();
    (error <= TOLERANCE * reference.0 as f64).then_some(times as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    const G: u64 = 1_000_000_000;
    const FDR: BitRate = BitRate(54_545_454_545);

    fn clock(gigabit: u64) -> Clock {
        Clock {
            flit_bytes: 64,
            reference_rate: gigabit * G,
        }
    }

    #[test]
    fn a_reference_rate_is_a_multiple_of_all() {
        let of = |rates: &[u64]| {
            let rates: Vec<BitRate> = rates.iter().map(|rate| BitRate(rate * G)).collect();
            reference_rate(&rates).map(|rate| rate.0 / G)
        };
        assert_eq!(of(&[32, 16]), Some(32));
        assert_eq!(of(&[32, 40]), Some(160));
        assert_eq!(of(&[]), None);
        assert_eq!(reference_rate(&[FDR]), Some(FDR));
        let mixed = reference_rate(&[FDR, BitRate(100 * G)]);
        assert_eq!(mixed, Some(BitRate(600 * G)));
        assert_eq!(cycles_per_flit(FDR, clock(600)), Ok(11));
        assert_eq!(reference_rate(&[BitRate(u64::MAX), BitRate(3)]), None);
        // twice FDR is rounded otherwise, and the multiples of neither are round
        let twice = BitRate(109_090_909_090);
        assert_eq!(
            reference_rate(&[FDR, twice, BitRate(100 * G), BitRate(400 * G)]),
            Some(BitRate(1200 * G))
        );
        let all = [2, 8, 32, 40, 100, 400, 2400].map(|rate| BitRate(rate * G));
        let all: Vec<BitRate> = all.into_iter().chain([FDR]).collect();
        assert_eq!(reference_rate(&all), Some(BitRate(2400 * G)));
    }

    #[test]
    fn a_rate_that_does_not_divide_is_refused() {
        assert_eq!(
            cycles_per_flit(BitRate(40 * G), clock(32)),
            Err(
                "link rate 40 Gbit/s is not a whole fraction of the reference rate 32 Gbit/s, \
                 expected a reference rate such as 160 Gbit/s"
                    .to_owned()
            )
        );
        assert_eq!(cycles_per_flit(BitRate(16 * G), clock(32)), Ok(2));
        assert!(cycles_per_flit(BitRate(64 * G), clock(32)).is_err());
        // 2 % from a half
        assert!(cycles_per_flit(BitRate(16_320_000_000), clock(32)).is_err());
    }

    #[test]
    fn what_a_link_does_not_say_is_the_default() {
        let default = ChannelTiming {
            cycles_per_flit: 3,
            latency: 7,
        };
        let resolve = |rate, latency| OwnTiming { rate, latency }.resolve(default, clock(32));
        assert_eq!(resolve(None, None), Ok(default));
        // a cycle is 16 ns
        let timing = resolve(Some(BitRate(8 * G)), Some(Time::Picoseconds(160_000)));
        let expected = ChannelTiming {
            cycles_per_flit: 4,
            latency: 10,
        };
        assert_eq!(timing, Ok(expected));
        let short = resolve(None, Some(Time::Picoseconds(1)));
        assert_eq!(short.map(|timing| timing.latency), Ok(1));
        assert_eq!(
            resolve(None, Some(Time::Cycles(0))),
            Err("latency 0, expected at least 1 cycle".to_owned())
        );
        assert_eq!(
            resolve(None, Some(Time::Cycles(1 << 32))),
            Err(
                "latency 4294967296 cycles is too long, expected at most 2^32 - 1 cycles"
                    .to_owned()
            )
        );
    }
}
