//! The length of a cycle, and links in cycles.

use super::super::schema::{Link, Scenario};
use super::super::syntax::Mistake;
use super::delay;
use crate::topology::ChannelTiming;
use crate::topology::graph::link_rate::{self, SLOWEST, cycles_per_flit, whole_multiple};
use crate::units::{BitRate, Clock};

/// The smallest reference rate of which every link's rate is a whole fraction, so that a flit takes whole
/// cycles everywhere. With one rate everywhere it is that rate.
pub(super) fn choose(scenario: &Scenario, own: &[BitRate]) -> Result<Clock, Mistake> {
    let fabric = &scenario.fabric;
    let mut rates = vec![fabric.link.rate.value, fabric.host_link.rate.value];
    rates.extend(fabric.except.iter().map(|except| except.link.rate.value));
    rates.extend(own);
    rates.sort_unstable();
    rates.dedup();
    let reference = link_rate::reference_rate(&rates);
    let Some(BitRate(reference_rate)) = reference else {
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

/// A link in cycles.
pub(super) fn timing(link: &Link, clock: Clock) -> Result<ChannelTiming, Mistake> {
    Ok(ChannelTiming {
        cycles_per_flit: cycles_per_flit(link.rate.value, clock)
            .map_err(|reason| link.rate.mistake(reason))?,
        latency: delay(&link.latency, clock, 1)?,
    })
}

/// Speed of sinks \[cycles per flit\].
pub(super) fn sink(scenario: &Scenario, clock: Clock) -> Result<Option<u32>, Mistake> {
    let Some(sink) = &scenario.fabric.sink_rate else {
        return Ok(None);
    };
    let (rate, reference) = (sink.value.0, clock.reference_rate);
    let cycles = whole_multiple(BitRate(reference), sink.value);
    if let Some(Ok(cycles)) = cycles.map(u16::try_from) {
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
