//! Sections `marking`, `infiniband_marking` and `ecn_marking`: which packets get the congestion bit.

use super::values::{Read, amount, one_of, small};
use crate::control::infiniband::presets::Preset;
use crate::plan;
use crate::plan::Victims;
use crate::plan::Victims::{All, Hosts, None as Nobody};
use crate::scenario::resolve::quantity::{buffer, flits};
use crate::scenario::syntax::{At, Item, Mistake};
use crate::units::{Amount, Clock};

section! {
    /// Congestion marking by what stands for an output lane; `InfiniBand(...)` and `Ecn(...)` have sections of their own.
    Marking = "marking" in "fabric.switch.marking" {
        /// Waiting flits for the same output lane from which on a packet is marked
        threshold: At<Amount> = amount, "size, at least 1 flit";
    }
}

section! {
    /// InfiniBand's congestion marking (annex A10), by all that waits for an output lane.
    InfiniBandMarking = "infiniband_marking" in "fabric.switch.marking" {
        /// Parameter set in use that what is not written is taken from
        preset: Preset = one_of(Preset::ALL), "None | CcManager | FirstExperiences | IbCcConfig | OpaFm" or "None";
        /// From 0, no marking, to 15, from one sixteenth of a lane's buffer on
        threshold: Option<u8> = small(0, 15), "0..=15" else "15, or the preset's";
        /// How far what waits has to fall below the threshold until marking ends
        hysteresis: At<Amount> = amount, "size" or "\"0 flits\"";
        /// Smallest packet that is marked; 0 = all
        packet_size: Option<At<Amount>> = amount, "size" else "\"0 flits\", or the preset's";
        /// Packets left out between two that are marked
        marking_rate: Option<u16> = rate, "0..=65535" else "0, or the preset's";
        /// Outputs that mark though others hold them back: None, those to Hosts, or All
        victims: Option<Victims> = victims, "Preset | None | Hosts | All; Preset without one is Hosts" or "Preset";
    }
}

section! {
    /// Marking at random between two fills of an output lane, as RoCE's switches do.
    EcnMarking = "ecn_marking" in "fabric.switch.marking" {
        /// Up to here none is marked
        k_min: At<Amount> = amount, "size";
        /// From here on all are
        k_max: At<Amount> = amount, "size, above k_min";
        /// Probability just below k_max
        p_max: f64 = probability, "0..=1" or "0.01";
    }
}

/// The marking of a switch as written.
#[derive(Clone, Debug, PartialEq)]
pub enum Marks {
    /// By requests.
    Requests(Marking),
    /// InfiniBand's.
    InfiniBand(InfiniBandMarking),
    /// RoCE's.
    Ecn(EcnMarking),
}

fn rate(item: &Item<'_>) -> Read<u16> {
    item.integer(0..=u64::from(u16::MAX))
        .map(|value| value as u16)
}

/// `Preset` is what a preset has.
fn victims(item: &Item<'_>) -> Read<Option<Victims>> {
    if item.is_word("Preset") {
        return Ok(None);
    }
    one_of(&[Nobody, Hosts, All])(item).map(Some)
}

fn probability(item: &Item<'_>) -> Read<f64> {
    match item.number() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err(item.unexpected("a probability from 0 to 1")),
    }
}

impl InfiniBandMarking {
    /// In flits; what is written, else what the preset has.
    fn plan(&self, clock: Clock) -> Result<plan::Marking, Mistake> {
        let set = self.preset.parameters();
        let packet = match (&self.packet_size, set) {
            (Some(size), _) => flits(size, clock, 0, u64::from(u16::MAX))? as u16,
            (None, Some(set)) => Amount::Bytes(set.packet_bytes).flits(clock) as u16,
            (None, None) => 0,
        };
        Ok(plan::Marking::InfiniBand {
            threshold: self
                .threshold
                .or(set.map(|set| set.threshold))
                .unwrap_or(15),
            hysteresis: buffer(&self.hysteresis, clock, 0)?,
            packet,
            rate: self
                .marking_rate
                .or(set.map(|set| set.marking_rate))
                .unwrap_or(0),
            victims: self.victims.or(set.map(|set| set.victims)).unwrap_or(Hosts),
        })
    }
}

impl Marks {
    /// Any of them.
    pub(super) fn read(item: &Item<'_>) -> Read<Self> {
        match item.variant() {
            Some(("InfiniBand", Some(arguments))) => {
                InfiniBandMarking::read(&arguments).map(Self::InfiniBand)
            }
            Some(("Ecn", Some(arguments))) => EcnMarking::read(&arguments).map(Self::Ecn),
            Some((name, _)) => Err(item.mistake(format!(
                "unknown marking `{name}`: expected `(threshold: size)`, `InfiniBand(...)` or `Ecn(...)`"
            ))),
            None => Marking::read(item).map(Self::Requests),
        }
    }

    /// In flits.
    pub(super) fn plan(&self, clock: Clock) -> Result<plan::Marking, Mistake> {
        Ok(match self {
            Self::Requests(marking) => {
                plan::Marking::Requests(buffer(&marking.threshold, clock, 1)?)
            }
            Self::InfiniBand(marking) => marking.plan(clock)?,
            Self::Ecn(marking) => {
                let least = buffer(&marking.k_min, clock, 0)?;
                plan::Marking::Ecn {
                    least,
                    most: buffer(&marking.k_max, clock, u64::from(least) + 1)?,
                    probability: share(marking.p_max),
                }
            }
        })
    }

    /// The marking on one line.
    pub(super) fn print(marking: plan::Marking) -> String {
        match marking {
            plan::Marking::Requests(threshold) => format!("(threshold: \"{threshold} flits\")"),
            plan::Marking::InfiniBand {
                threshold,
                hysteresis,
                packet,
                rate,
                victims,
            } => format!(
                "InfiniBand(threshold: {threshold}, hysteresis: \"{hysteresis} flits\", packet_size: \"{packet} flits\", \
                 marking_rate: {rate}, victims: {victims:?})"
            ),
            plan::Marking::Ecn {
                least,
                most,
                probability,
            } => {
                let p_max = shortest(probability);
                format!("Ecn(k_min: \"{least} flits\", k_max: \"{most} flits\", p_max: {p_max:?})")
            }
        }
    }
}

/// A probability in units of [`plan::ONE_FLIT_PER_CYCLE`].
fn share(probability: f64) -> u64 {
    (probability * plan::ONE_FLIT_PER_CYCLE as f64) as u64
}

/// The decimal with the fewest digits that is read as this probability.
fn shortest(probability: u64) -> f64 {
    let exact = probability as f64 / plan::ONE_FLIT_PER_CYCLE as f64;
    // what is read is rounded down: the middle of what is read as the same
    let middle = (probability as f64 + 0.5) / plan::ONE_FLIT_PER_CYCLE as f64;
    let rounded = (1..18).map(|digits| format!("{middle:.digits$}"));
    let mut read = rounded.filter_map(|text| text.parse().ok());
    read.find(|&one| one <= 1.0 && share(one) == probability)
        .unwrap_or(exact)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_told_as_they_are_written() {
        for written in [0.0, 1.0, 0.2, 0.01, 0.1, 0.5, 1e-3, 0.333_333, 0.99] {
            assert!(
                (shortest(share(written)) - written).abs() < f64::EPSILON,
                "{written}"
            );
        }
        for probability in [1, 12_345, plan::ONE_FLIT_PER_CYCLE - 1] {
            assert_eq!(share(shortest(probability)), probability);
        }
    }
}
