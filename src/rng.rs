//! Random streams: one xoshiro256++ generator per (seed, purpose, entity).
//!
//! No draw depends on the order in which entities are visited, on the thread or on the shard: a stream
//! belongs to one purpose of one entity (a source's arrivals, an output's arbiter), and its start is a
//! bijective mix of seed, purpose and id. Changing one policy therefore leaves the draws of all others
//! as they were (common random numbers).
//!
//! References: [`XOSHIRO`](crate::references::XOSHIRO)

pub use rand_core::{Rng, SeedableRng};
pub use rand_xoshiro::Xoshiro256PlusPlus as Stream;

/// What a stream is used for. The discriminants are part of the result contract: changing one changes
/// every simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Building a random topology; id 0.
    Topology = 1,
    /// Random choices of a routing engine; id 0.
    Routing = 2,
    /// Fixed random choices of a traffic pattern (a permutation, pairs); id = class.
    Pattern = 3,
    /// Gaps between packets of one source; id = class * 2^32 + host.
    Arrivals = 4,
    /// Destinations of one source; id = class * 2^32 + host.
    Destinations = 5,
    /// Service levels and packet sizes of one source; id = class * 2^32 + host.
    Packets = 6,
    /// Random output arbitration; id = channel.
    Arbitration = 7,
    /// Which switches and links fail; id 0 = switches, 1 = links.
    Faults = 8,
    /// Choices of adaptive routing at a switch input; id = channel * 16 + lane.
    Adaptive = 9,
    /// Fixed random choices of a flow generator; id = class * 2^32 + entry.
    Flows = 10,
    /// Gaps between packets of a flow; id = flow.
    FlowArrivals = 11,
    /// Packet sizes of a flow; id = flow.
    FlowPackets = 12,
    /// Marks of a switch output; id = channel.
    Marking = 13,
    /// Gaps between ticks of a slot clock; id = class * 2^32 + host.
    SlotTicks = 14,
    /// Order in which flows choose their ways at flow level, and ties of their choices; id 0.
    FluidRoutes = 15,
    /// Choices of a solver of rates at flow level; id 0.
    FluidRates = 16,
    /// Ties of the choices of set-ups at a switch input; id = channel.
    SetUp = 17,
    /// Errors in the bits of a channel; id = channel.
    BitErrors = 18,
}

/// The stream of `purpose` for entity `id` under the scenario's `seed`.
pub fn stream(seed: u64, purpose: Purpose, id: u64) -> Stream {
    Stream::seed_from_u64(mix(mix(mix(seed) ^ purpose as u64) ^ id))
}

/// The id of a source: one traffic class of one host.
pub fn source_id(class: usize, host: u32) -> u64 {
    ((class as u64) << 32) | u64::from(host)
}

/// The `SplitMix64` finaliser: a bijection of `u64`, so different inputs never give the same seed.
pub const fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A uniform integer in `0..bound`, without bias (Lemire's multiply-and-reject).
///
/// # Panics
/// When `bound` is 0.
#[inline]
pub fn below(rng: &mut Stream, bound: u32) -> u32 {
    assert!(bound > 0, "an empty range has no element");
    loop {
        let wide = u64::from((rng.next_u64() >> 32) as u32) * u64::from(bound);
        let low = wide as u32;
        if low >= bound || low >= bound.wrapping_neg() % bound {
            return (wide >> 32) as u32;
        }
    }
}

/// A uniform float in the half-open interval `(0, 1]`: safe as the argument of a logarithm.
#[inline]
pub fn unit_interval(rng: &mut Stream) -> f64 {
    ((rng.next_u64() >> 11) + 1) as f64 * (1.0 / (1u64 << 53) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_different_purpose_or_id_differ() {
        let first = |purpose, id| stream(1, purpose, id).next_u64();
        assert_ne!(first(Purpose::Arrivals, 0), first(Purpose::Arrivals, 1));
        assert_ne!(first(Purpose::Arrivals, 0), first(Purpose::Destinations, 0));
        assert_eq!(first(Purpose::Arrivals, 7), first(Purpose::Arrivals, 7));
    }

    #[test]
    fn below_is_uniform() {
        let mut rng = stream(3, Purpose::Pattern, 0);
        let mut counts = [0u32; 7];
        for _ in 0..70_000 {
            counts[below(&mut rng, 7) as usize] += 1;
        }
        // chi-square with 6 degrees of freedom: 22.5 is the 0.1 % point
        let chi: f64 = counts
            .iter()
            .map(|&c| (f64::from(c) - 1e4).powi(2) / 1e4)
            .sum();
        assert!(chi < 22.5, "{counts:?}");
    }
}
