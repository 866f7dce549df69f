//! Self-similar arrivals: Pareto ON/OFF sources feed a counter, and slots take at most one packet of it each.
//!
//! # Rules
//! 1. A slot takes `per_slot` times the mean interval between packets, in 32.32 fixed point, and at least one cycle: by default
//!    packets of a burst follow at double the mean rate. Sources and counter are those of `aggregate`.
//! 2. `Normalised`: ON periods bring `burst` packets on average, and the mean silence is the one with which a slot has
//!    `per_slot` packets on average. By default ON periods are those of `Legacy`.
//! 3. `Legacy`: the constants of the source, c = 1 for ON and sources / `per_slot` - 1 for OFF periods. They forget that the
//!    shortest burst has 2 packets, that the shortest silence is longer, too, and that a period has two slots more: with
//!    the defaults 0.572 packets per slot, so 1.14 times `load` is offered. The counter starts at 0.
//! 4. The first slot starts at a random point of a slot before cycle 0 or in it.
//!
//! The Hurst parameter is (3 - shape) / 2 in the limit of long intervals; below some 3000 slots it looks higher, far above
//! them lower in any one run: one source alone tends to a stable Levy motion, whose largest bursts are met too rarely.
//!
//! Guarantees: in a packet's own cycle nothing else is made; the rate is exact over all sources from cycle 0 on
//! (`Normalised`), however slowly that of one source converges.
//!
//! Cost: per burst two powers, per packet an addition; silent slots cost nothing.
//!
//! References: [`SEM_JACOBSEN`], [`WILLINGER_TAQQU`], [`TAQQU_PROOF`]

use super::aggregate::{Aggregate, Counter};
use super::constant_rate::fraction_of;
use super::pareto::Lengths;
use super::{LOAD, ONE_CYCLE, fixed_point, interval};
use crate::references::{SEM_JACOBSEN, TAQQU_PROOF, WILLINGER_TAQQU};
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::rng::Stream;
use crate::traffic::{
    BuildProcess, Gap, OfferedProcess, Process, ProcessContext, ProcessPart, ProcessState, invalid,
};
use serde::Deserialize;
use std::sync::Arc;

/// Most ON/OFF sources of one source of packets: each burst looks at all of them.
const MOST_SOURCES: u32 = 10_000;

/// Bursts are shorter in the mean \[packets\].
const LONGEST_BURST: f64 = 1e9;
/// Most packets per slot where the counter starts in its stationary state: it is drawn from 1 / (1 - `per_slot`) bursts, for each
/// source of packets.
const MOST_PER_SLOT: f64 = 0.9999;

/// Silences from here on last longer than any run, and cycles after them would not fit 64 bits \[cycles\].
const LONGEST_SILENCE: u64 = 1 << 62;

/// Registers `SelfSimilar`.
pub(super) const ENTRY: Entry<BuildProcess> = Entry {
    name: "SelfSimilar",
    aliases: &["ParetoOnOff"],
    summary: "bursts of all lengths from Pareto ON/OFF sources (long-range dependent)",
    parameters: &[
        LOAD,
        Parameter {
            name: "shape",
            kind: "number in (1, 2)",
            default: Some("1.5"),
            summary: "index of the tails of bursts and silences; the Hurst parameter is (3 - shape) / 2",
        },
        Parameter {
            name: "sources",
            kind: "integer in 1..=10000",
            default: Some("10"),
            summary: "ON/OFF sources behind one counter",
        },
        Parameter {
            name: "per_slot",
            kind: "number in (0, 1), at most 0.9999 in mode Normalised [packets]",
            default: Some("0.5"),
            summary: "mean number of packets per slot: within bursts packets follow at 1 / per_slot times the mean rate",
        },
        Parameter {
            name: "burst",
            kind: "number > 1 [packets]",
            default: Some("1 + zeta(shape)"),
            summary: "mean number of packets that a source has ready when it goes ON; not in mode Legacy",
        },
        Parameter {
            name: "mode",
            kind: "Normalised | Legacy",
            default: Some("Normalised"),
            summary: "silences that give `load`, or the constants of the thesis, which offer 1.14 times as much",
        },
    ],
    guarantees: &[
        "stationary from cycle 0 on (Normalised)",
        "no bias of the rate by rounding to cycles",
    ],
    references: &[SEM_JACOBSEN, WILLINGER_TAQQU, TAQQU_PROOF],
    build,
};

/// Whose constants bursts and silences have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum Mode {
    /// Those that give the mean.
    #[default]
    Normalised,
    /// Those of the source's program.
    Legacy,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "SelfSimilar")]
struct Parameters {
    load: f64,
    #[serde(default = "default_shape")]
    shape: f64,
    #[serde(default = "default_sources")]
    sources: u32,
    #[serde(default = "default_per_slot")]
    per_slot: f64,
    #[serde(default)]
    burst: Option<f64>,
    #[serde(default)]
    mode: Mode,
}

/// A default.
pub fn default_shape() -> f64 {
    1.5
}

/// A default.
pub fn default_sources() -> u32 {
    10
}

/// A default.
pub fn default_per_slot() -> f64 {
    0.5
}

/// `ProcessState::phase` is the part of a cycle in which the last slot with a packet began, 32.32 fixed point; at first
/// where the first slot begins.
#[derive(Debug)]
struct SelfSimilar {
    aggregate: Aggregate,
    /// Length of a slot, 32.32 fixed point, at least one cycle.
    slot: u64,
}

impl Process for SelfSimilar {
    fn start(&self, rng: &mut Stream) -> ProcessState {
        let phase = fraction_of(self.slot, rng);
        let state = self.aggregate.start(rng);
        ProcessState {
            phase,
            calls: 0,
            part: Some(Box::new(ProcessPart::Aggregate(state))),
        }
    }

    fn gap(&self, state: &mut ProcessState, rng: &mut Stream) -> Gap {
        let Some(ProcessPart::Aggregate(aggregate)) = state.part.as_deref_mut() else {
            unreachable!("made by `start`")
        };
        let is_first = state.calls == 0;
        state.calls += 1;
        let Some(idle) = self.aggregate.skip(aggregate, rng) else {
            return Gap::Never;
        };
        let slots = u128::from(idle) + u128::from(!is_first);
        let time = u128::from(state.phase) + slots * u128::from(self.slot);
        state.phase = (time % u128::from(ONE_CYCLE)) as u64;
        match u64::try_from(time / u128::from(ONE_CYCLE)) {
            Ok(cycles @ 0..LONGEST_SILENCE) => Gap::After(cycles),
            _ => Gap::Never,
        }
    }
}

/// What says how ON/OFF sources fill slots.
#[derive(Clone, Copy, Debug)]
pub struct Law {
    /// Index of the tails.
    pub shape: f64,
    /// ON/OFF sources.
    pub sources: u32,
    /// Mean number of packets per slot.
    pub per_slot: f64,
    /// Mean burst \[packets\]; `None` = that of the source.
    pub burst: Option<f64>,
    /// Whose constants.
    pub mode: Mode,
}

/// Whether a slot may have so many packets on average.
fn check_per_slot(per_slot: f64, mode: Mode) -> Result<(), ArgumentError> {
    if !(per_slot > 0.0 && per_slot < 1.0) {
        return Err(invalid(format!(
            "`per_slot` is {per_slot}; a slot has at most one packet, so the mean is above 0 and below 1"
        )));
    }
    if mode == Mode::Normalised && per_slot > MOST_PER_SLOT {
        return Err(invalid(format!(
            "`per_slot` is {per_slot}; above {MOST_PER_SLOT} what a counter starts with is made of more than {:.0} bursts, too many to \
             draw; use a lower one, or mode Legacy, whose counters start at 0",
            1.0 / (1.0 - MOST_PER_SLOT)
        )));
    }
    Ok(())
}

/// The sources of these parameters.
///
/// # Errors
/// What is out of range, and the range.
pub fn aggregate(law: &Law) -> Result<Aggregate, ArgumentError> {
    let &Law {
        shape,
        sources,
        per_slot,
        burst,
        mode,
    } = law;
    if !(shape > 1.0 && shape < 2.0) {
        return Err(invalid(format!(
            "`shape` is {shape}; it must be above 1 (finite mean) and below 2 (infinite variance)"
        )));
    }
    if !(1..=MOST_SOURCES).contains(&sources) {
        return Err(invalid(format!(
            "`sources` is {sources}; expected 1 to {MOST_SOURCES}"
        )));
    }
    check_per_slot(per_slot, mode)?;
    let share = f64::from(sources) / per_slot;
    let usual = Lengths::new(shape, 1.0);
    if mode == Mode::Legacy {
        if burst.is_some() {
            return Err(invalid(
                "`burst` is given; mode Legacy has a constant of its own, use mode Normalised",
            ));
        }
        let silences = Lengths::new(shape, share - 1.0);
        return Ok(Aggregate::new(sources, usual, silences, Counter::Empty));
    }
    let bursts = match burst {
        None => usual,
        Some(mean) => Some(mean)
            .filter(|&mean| mean < LONGEST_BURST)
            .and_then(|mean| Lengths::with_mean(shape, mean))
            .ok_or_else(|| {
                invalid(format!(
                    "`burst` is {mean}; it must be above 1 packet and below 10^9"
                ))
            })?,
    };
    let mean = bursts.mean();
    let silences = Lengths::with_mean(shape, mean * (share - 1.0) - 2.0).ok_or_else(|| {
        // silences of one slot and more
        let most = f64::from(sources) * mean / (mean + 3.0);
        invalid(format!(
            "`per_slot` is {per_slot}; with `sources: {sources}` and bursts of {mean:.3} packets it is below {most:.3} and not \
             close to 0: change one of them"
        ))
    })?;
    Ok(Aggregate::new(
        sources,
        bursts,
        silences,
        Counter::Stationary,
    ))
}

fn build(
    arguments: Arguments<'_>,
    context: ProcessContext,
) -> Result<OfferedProcess, ArgumentError> {
    let parameters: Parameters = arguments.parse()?;
    let (load, per_slot) = (parameters.load, parameters.per_slot);
    let mean = interval("load", load, context)?;
    let aggregate = aggregate(&Law {
        shape: parameters.shape,
        sources: parameters.sources,
        per_slot,
        burst: parameters.burst,
        mode: parameters.mode,
    })?;
    let slot = mean * per_slot;
    if slot < 1.0 {
        return Err(invalid(format!(
            "`load` is {load}: slots would take {slot:.3} cycles, and at least one is needed; use a lower load, larger packets or \
             a larger `per_slot`"
        )));
    }
    let load = match parameters.mode {
        Mode::Normalised => load,
        Mode::Legacy => load * aggregate.mean() / per_slot,
    };
    if load > 1.0 || aggregate.mean() >= 1.0 {
        return Err(invalid(format!(
            "`load` is {}: in mode Legacy sources offer {:.3} packets per slot, not {per_slot}, which makes a load of {load:.3}; use \
             a lower one, or mode Normalised",
            parameters.load,
            aggregate.mean()
        )));
    }
    Ok(OfferedProcess {
        process: Arc::new(SelfSimilar {
            aggregate,
            slot: fixed_point(slot),
        }),
        load,
    })
}
