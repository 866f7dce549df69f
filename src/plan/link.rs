//! Options of links.

use super::{Forwarding, Plan};
use crate::ids::ChannelId;
use crate::topology::Graph;

/// Link-level retry (D74): channels make errors in bits, and their ends repeat what came with one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkRetry {
    /// Probability of an error in a bit, between 0 and 1.
    pub bit_error_rate: f64,
    /// What both ends need for a repeat, beside the latencies of both channels \[cycles\].
    pub delay: u32,
}

impl LinkRetry {
    /// Most repeats of one packet; the transmission after them is good.
    pub const MOST: u32 = 16;

    /// Probability of an error in a transmission of so many bits.
    pub fn failure(&self, bits: u64) -> f64 {
        -libm::expm1(bits as f64 * libm::log1p(-self.bit_error_rate))
    }

    /// Mean repeats of a transmission of so many bits: f / (1 - f), f the probability of an error.
    pub fn mean_repeats(&self, bits: u64) -> f64 {
        libm::expm1(-(bits as f64) * libm::log1p(-self.bit_error_rate))
    }
}

impl Plan {
    /// Flits of a transmission (D74): those of a packet, or one where flits pass singly.
    pub fn transmission(&self, packet: u16) -> u16 {
        match self.switch.forwarding {
            Forwarding::Wormhole => 1,
            _ => packet,
        }
    }

    /// How long a channel is kept by a flit of packets of so many flits, mean, with what is repeated \[cycles\].
    pub fn time_of_flit(&self, graph: &Graph, channel: ChannelId, packet: u16) -> f64 {
        let timing = graph.channel(channel).timing;
        let pace = f64::from(timing.cycles_per_flit);
        let Some(retry) = self.link_retry else {
            return pace;
        };
        let flits = self.transmission(packet);
        let bits = 8 * u64::from(self.flit_bytes) * u64::from(flits);
        let back = graph.channel(channel.reverse()).timing.latency;
        let trip = f64::from(timing.latency) + f64::from(back) + f64::from(retry.delay);
        pace + retry.mean_repeats(bits) * (pace + trip / f64::from(flits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 - (1 - p)^b, also where p is far below the precision of 1 - p.
    #[test]
    fn the_probability_of_an_error_grows_with_the_bits() {
        let of = |bit_error_rate, bits| {
            let retry = LinkRetry {
                bit_error_rate,
                delay: 0,
            };
            retry.failure(bits)
        };
        assert!((of(0.5, 2) - 0.75).abs() < 1e-15);
        assert!((of(1e-3, 1000) - (1.0 - 0.999f64.powi(1000))).abs() < 1e-12);
        assert!((of(1e-18, 8192) / 8192e-18 - 1.0).abs() < 1e-12);
    }
}
