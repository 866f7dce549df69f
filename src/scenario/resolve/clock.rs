//! The length of a cycle, and links in cycles.

use super::super::schema::{Link, Scenario};
use super::super::syntax::Mistake;
use super::delay;
use crate::topology::ChannelTiming;
use crate::units::{BitRate, Clock};

/// Slowest link \[cycles per flit\].
const SLOWEST: u64 = 256;

/// The smallest reference rate of which every link's rate is a whole fraction, so that a flit takes whole
/// cycles everywhere. With one rate everywhere it is that rate.
pub(super) fn choose(scenario: &Scenario, own: &[BitRate]) -> Result<Clock, Mistake> {
    let fabric = &scenario.fabric;
    let mut rates = vec![fabric.link.rate.value, fabric.host_link.rate.value];
    rates.extend(fabric.except.iter().map(|except| except.link.rate.value));
    rates.extend(own);
    rates.sort_unstable();
    rates.dedup();
    let slowest = rates[0].0;
    let common = rates
        .iter()
        .try_fold(1, |common, rate| least_common_multiple(common, rate.0));
    let reference = common.filter(|reference| reference / slowest <= SLOWEST);
    let Some(reference_rate) = reference else {
        let rates: Vec<_> = rates.iter().map(|rate| format!("`{rate}`")).collect();
        return Err(fabric.link.rate.mistake(format!(
            "links of {} have no common multiple within {SLOWEST} times the slowest: a flit must take \
             whole cycles on every link",
            rates.join(", ")
        )));
    };
    Ok(Clock {
        flit_bytes: fabric.flit_bytes,
        reference_rate,
    })
}

fn least_common_multiple(a: u64, b: u64) -> Option<u64> {
    let (mut large, mut small) = (a, b);
    while small != 0 {
        (large, small) = (small, large % small);
    }
    (a / large.max(1)).checked_mul(b)
}

/// A link in cycles.
pub(super) fn timing(link: &Link, clock: Clock) -> Result<ChannelTiming, Mistake> {
    Ok(ChannelTiming {
        cycles_per_flit: (clock.reference_rate / link.rate.value.0) as u32,
        latency: delay(&link.latency, clock, 1)?,
    })
}

/// Speed of sinks \[cycles per flit\].
pub(super) fn sink(scenario: &Scenario, clock: Clock) -> Result<Option<u32>, Mistake> {
    let Some(sink) = &scenario.fabric.sink_rate else {
        return Ok(None);
    };
    let (rate, reference) = (sink.value.0, clock.reference_rate);
    if reference.is_multiple_of(rate)
        && let Ok(cycles) = u16::try_from(reference / rate)
    {
        return Ok(Some(cycles.into()));
    }
    let below = BitRate(reference / (reference / rate + 1));
    Err(sink.mistake(format!(
        "`{}` is not a whole fraction of the reference rate `{}`: a flit must take 1 to 65535 whole \
         cycles; the next rate below is about `{below}`",
        sink.value,
        BitRate(reference),
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_multiples() {
        assert_eq!(least_common_multiple(10, 4), Some(20));
        assert_eq!(least_common_multiple(1, 7), Some(7));
        assert_eq!(least_common_multiple(u64::MAX, u64::MAX - 1), None);
    }
}
