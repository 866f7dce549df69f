//! Errors in the bits of channels, and what link-level retry makes of them: how late packets come.
//!
//! # Rules (D74)
//! 1. A transmission has an error when the bits that its channel still carries without one are fewer than its own; then it is
//!    sent again, one round trip after its end. Bits without an error are drawn anew after every error.
//! 2. After [`LinkRetry::MOST`] repeats a transmission is good.
//!
//! Cost: one subtraction per transmission; a draw and a logarithm per error

use super::rows::{PortRow, Seen};
use crate::plan::{LinkRetry, Plan};
use crate::rng::{Purpose, Stream, stream, unit_interval};
use bevy_ecs::component::Component;
use serde::{Deserialize, Serialize};

/// Errors of all channels.
#[derive(Clone, Copy, Debug)]
pub struct Errors {
    /// Bits of a flit.
    bits: u64,
    /// ln(1 - p), p the probability of an error in a bit.
    log: f64,
}

impl Errors {
    /// Those of a plan that has any.
    pub fn new(plan: &Plan) -> Option<Self> {
        let retry = plan.link_retry?;
        Some(Self {
            bits: 8 * u64::from(plan.flit_bytes),
            log: libm::log1p(-retry.bit_error_rate),
        })
    }

    /// Bits before the next one with an error.
    fn draw(&self, stream: &mut Stream) -> u64 {
        (libm::log(unit_interval(stream)) / self.log) as u64
    }
}

/// The errors of a channel, and how late its packets are.
#[derive(Component, Clone, Debug, Serialize, Deserialize)]
pub struct Retry {
    stream: Stream,
    /// Bits that come without an error from now on.
    good: u64,
    /// What the last packet is late by \[cycles\].
    late: u64,
    /// Transmissions that were repeated.
    repeats: u64,
    /// Their flits.
    flits: u64,
    /// From the end of a transmission with an error to the next one \[cycles\].
    #[serde(skip)]
    trip: u64,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            stream: stream(0, Purpose::BitErrors, 0),
            good: 0,
            late: 0,
            repeats: 0,
            flits: 0,
            trip: 0,
        }
    }
}

impl Retry {
    /// A channel with its stream, and the time from the end of a transmission with an error to the next one \[cycles\].
    pub fn new(errors: &Errors, mut stream: Stream, trip: u64) -> Self {
        Self {
            good: errors.draw(&mut stream),
            stream,
            trip,
            ..Self::default()
        }
    }

    /// A packet of so many flits starts; what it is late by (rule 1) \[cycles\].
    #[inline]
    pub fn send(&mut self, errors: &Errors, flits: u16, step: u16) -> u64 {
        let bits = u64::from(flits) * errors.bits;
        self.late = 0;
        match self.good.checked_sub(bits) {
            Some(good) => self.good = good,
            None => self.repeat(errors, bits, (flits, step)),
        }
        self.late
    }

    /// The first transmission has an error.
    #[cold]
    #[inline(never)]
    fn repeat(&mut self, errors: &Errors, bits: u64, (flits, step): (u16, u16)) {
        let mut repeats = 0;
        while repeats < LinkRetry::MOST {
            match self.good.checked_sub(bits) {
                Some(good) => {
                    self.good = good;
                    break;
                }
                None => self.good = errors.draw(&mut self.stream),
            }
            repeats += 1;
        }
        self.repeats += u64::from(repeats);
        self.flits += u64::from(repeats) * u64::from(flits);
        self.late = u64::from(repeats) * (u64::from(flits) * u64::from(step) + self.trip);
    }

    /// Another run takes over: what is drawn is its own.
    pub fn redraw(&mut self, other: Self) {
        (self.stream, self.good) = (other.stream, other.good);
    }

    /// Takes over what is not saved.
    pub fn keep_fixed(&mut self, built: &Self) {
        self.trip = built.trip;
    }

    /// Transmissions that were repeated, each time, and their flits.
    pub fn repeated(&self) -> [u64; 2] {
        [self.repeats, self.flits]
    }

    /// What its last packet is late by; nothing where channels make no errors \[cycles\].
    #[inline]
    pub fn late(all: Seen<'_, PortRow, Self>, port: PortRow) -> u64 {
        all.get(port).map_or(0, |retry| retry.late)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(bits: u64, rate: f64) -> Errors {
        Errors {
            bits,
            log: libm::log1p(-rate),
        }
    }

    /// Rule 1 by hand: bits run out, one round trip and transmission later the next draw holds.
    #[test]
    fn a_packet_is_late_by_its_repeats() {
        let errors = errors(512, 1e-4);
        let mut retry = Retry::new(&errors, stream(1, Purpose::BitErrors, 3), 21);
        let mut draws = stream(1, Purpose::BitErrors, 3);
        retry.good = 3 * 512;
        errors.draw(&mut draws);
        assert_eq!((retry.send(&errors, 2, 3), retry.good), (0, 512));
        assert_eq!((retry.send(&errors, 1, 3), retry.good), (0, 0));
        let next = errors.draw(&mut draws);
        assert!(next >= 2 * 512, "the second transmission is good");
        let late = retry.send(&errors, 2, 3);
        assert_eq!((late, retry.good), (2 * 3 + 21, next - 2 * 512));
        assert_eq!((retry.repeats, retry.flits, retry.late), (1, 2, late));
        assert_eq!((retry.send(&errors, 1, 3), retry.late), (0, 0));
    }

    /// Rule 2: where hardly anything comes through, a packet does all the same.
    #[test]
    fn repeats_end() {
        let errors = errors(1 << 20, 0.5);
        let mut retry = Retry::new(&errors, stream(1, Purpose::BitErrors, 3), 1);
        assert_eq!(retry.send(&errors, 1, 1), 16 * 2);
        assert_eq!((retry.repeats, retry.flits), (16, 16));
    }

    /// Of transmissions of b bits a part 1 - (1 - p)^b has an error; within 4 standard deviations.
    #[test]
    fn errors_are_as_frequent_as_asked_for() {
        let (bits, rate) = (512 * 20, 2e-5);
        let errors = errors(512, rate);
        let mut retry = Retry::new(&errors, stream(7, Purpose::BitErrors, 0), 0);
        let packets = 100_000;
        for _ in 0..packets {
            retry.send(&errors, 20, 1);
        }
        let failure = 1.0 - (1.0 - rate).powi(bits);
        let all = (packets + retry.repeats) as f64;
        let deviation = (all * failure * (1.0 - failure)).sqrt();
        let off = retry.repeats as f64 - all * failure;
        assert!(off.abs() < 4.0 * deviation, "{} of {all}", retry.repeats);
    }
}
