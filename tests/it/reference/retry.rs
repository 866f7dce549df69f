//! Link-level retry (D74): what one channel repeats, transmission by transmission.

use virtlane::ids::ChannelId;
use virtlane::plan::Plan;
use virtlane::rng::{Purpose, Stream, stream, unit_interval};
use virtlane::topology::Graph;

/// Repeats after which a transmission is good, whatever the channel still carries without an error.
const MOST_REPEATS: u64 = 16;

/// Errors of one channel.
#[derive(Debug)]
pub(crate) struct Retry {
    /// p.
    bit_error_rate: f64,
    bits_per_flit: u64,
    cycles_per_flit: u64,
    /// From the end of a transmission with an error to the beginning of the next one: the latencies of both channels,
    /// and d \[cycles\].
    turn: u64,
    stream: Stream,
    /// g: bits that the channel still carries without an error.
    good: u64,
}

impl Retry {
    /// Before the first transmission of a channel under this plan; `None`: channels make no errors.
    pub(crate) fn new(plan: &Plan, graph: &Graph, channel: ChannelId) -> Option<Self> {
        let terms = plan.link_retry?;
        assert!(0.0 < terms.bit_error_rate && terms.bit_error_rate < 1.0);
        let timing = graph.channel(channel).timing;
        let opposite = graph.channel(channel.reverse()).timing;
        let mut retry = Self {
            bit_error_rate: terms.bit_error_rate,
            bits_per_flit: 8 * u64::from(plan.flit_bytes),
            cycles_per_flit: timing.cycles_per_flit.into(),
            turn: u64::from(timing.latency) + u64::from(opposite.latency) + u64::from(terms.delay),
            stream: stream(plan.seed, Purpose::BitErrors, u64::from(channel.0)),
            good: 0,
        };
        retry.draw();
        Some(retry)
    }

    /// A transmission of so many flits: how often it is repeated, and what all of it is late by \[cycles\].
    pub(crate) fn transmit(&mut self, flits: u16) -> (u64, u64) {
        let flits = u64::from(flits);
        let bits = flits * self.bits_per_flit;
        let mut repeats = 0;
        while repeats < MOST_REPEATS && self.good < bits {
            self.draw();
            repeats += 1;
        }
        if repeats < MOST_REPEATS {
            self.good -= bits;
        }
        let every = flits * self.cycles_per_flit + self.turn;
        (repeats, repeats * every)
    }

    fn draw(&mut self) {
        let drawn = libm::log(unit_interval(&mut self.stream));
        // the cast rounds down, and what is too large becomes the largest number
        self.good = (drawn / libm::log1p(-self.bit_error_rate)) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A channel with flits of 64 bytes at a pace of 2, and 10 cycles between transmissions.
    fn channel(bit_error_rate: f64, good: u64) -> Retry {
        Retry {
            bit_error_rate,
            bits_per_flit: 512,
            cycles_per_flit: 2,
            turn: 10,
            stream: stream(1, Purpose::BitErrors, 0),
            good,
        }
    }

    /// What is too little for a transmission is not left for the next one.
    #[test]
    fn good_bits_are_taken_or_forgotten() {
        let mut retry = channel(1e-18, 1600);
        assert_eq!(retry.transmit(2), (0, 0));
        assert_eq!(retry.good, 576);
        assert_eq!(retry.transmit(3), (1, 16));
        assert!(retry.good > 1 << 40, "about 1e18");
    }

    #[test]
    fn the_transmission_after_the_most_repeats_is_good() {
        let mut retry = channel(0.999, 512);
        assert_eq!(retry.transmit(1), (0, 0));
        for _ in 0..3 {
            assert_eq!(retry.transmit(1), (16, 16 * 12));
        }
    }
}
