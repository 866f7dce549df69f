//! One number for everything a run delivered: equal digests mean equal simulations.
//!
//! The digest is the sum, modulo 2^128, of a mixed word per delivered packet, so the order of delivery, the
//! threads and the shards do not matter, and shards merge by addition.
//!
//! # Algorithm
//! The fields of a delivery are three 128-bit words. The state starts at a constant; each word is xored in,
//! then the state is multiplied by an odd constant and folded down by an xor-shift, both bijections of
//! 128-bit words. Deliveries that differ in one word only therefore never collide before the sum, and a last
//! round spreads every bit over the whole word.
//!
//! Cost: four 128-bit multiplications per packet, no memory.

use super::delivery::Delivery;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Fractional digits of pi: nothing up the sleeve.
const START: u128 = 0x243f_6a88_85a3_08d3_1319_8a2e_0370_7344;
/// Odd; fractional digits of e.
const MULTIPLIER: u128 = 0xb7e1_5162_8aed_2a6a_bf71_5880_9cf4_f3c7;

/// Order-independent digest of delivered packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Digest(u128);

impl Digest {
    /// Adds one delivered packet.
    #[inline]
    pub fn add(&mut self, delivery: &Delivery) {
        self.0 = self.0.wrapping_add(mix(delivery));
    }

    /// Adds the packets of another shard.
    pub fn merge(&mut self, other: Self) {
        self.0 = self.0.wrapping_add(other.0);
    }
}

impl fmt::Display for Digest {
    /// 32 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

#[inline]
fn mix(delivery: &Delivery) -> u128 {
    let ends = u64::from(delivery.source.0) << 32 | u64::from(delivery.destination.0);
    let kind = u64::from(delivery.class) << 32
        | u64::from(delivery.size) << 16
        | u64::from(delivery.is_marked);
    let words = [
        pair(ends, kind),
        pair(delivery.created, delivery.injected),
        pair(delivery.delivered, delivery.sequence),
    ];
    let absorbed = words.iter().fold(START, |state, word| round(state ^ word));
    round(absorbed)
}

#[inline]
fn pair(high: u64, low: u64) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

#[inline]
fn round(state: u128) -> u128 {
    let product = state.wrapping_mul(MULTIPLIER);
    product ^ (product >> 67)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::HostId;

    const BASE: Delivery = Delivery {
        source: HostId(3),
        destination: HostId(9),
        class: 1,
        sequence: 40,
        size: 8,
        created: 100,
        injected: 110,
        delivered: 150,
        hops: 2,
        is_marked: false,
        flow: None,
    };

    fn of(deliveries: &[Delivery]) -> Digest {
        let mut digest = Digest::default();
        for delivery in deliveries {
            digest.add(delivery);
        }
        digest
    }

    #[test]
    fn order_and_split_do_not_matter() {
        let other = Delivery {
            sequence: 41,
            ..BASE
        };
        assert_eq!(of(&[BASE, other]), of(&[other, BASE]));
        let mut merged = of(&[BASE]);
        merged.merge(of(&[other]));
        assert_eq!(merged, of(&[BASE, other]));
        assert_eq!(of(&[]).to_string(), "0".repeat(32));
    }

    #[test]
    fn every_field_changes_about_half_of_the_bits() {
        let variants = [
            Delivery {
                source: HostId(2),
                ..BASE
            },
            Delivery {
                destination: HostId(8),
                ..BASE
            },
            Delivery { class: 0, ..BASE },
            Delivery {
                sequence: 41,
                ..BASE
            },
            Delivery { size: 9, ..BASE },
            Delivery {
                created: 101,
                ..BASE
            },
            Delivery {
                injected: 111,
                ..BASE
            },
            Delivery {
                delivered: 151,
                ..BASE
            },
            Delivery {
                is_marked: true,
                ..BASE
            },
        ];
        for variant in variants {
            let changed = (mix(&BASE) ^ mix(&variant)).count_ones();
            assert!((36..=92).contains(&changed), "{changed} bits: {variant:?}");
        }
    }

    #[test]
    fn swapped_times_of_two_packets_are_seen() {
        // equal sums of every field
        let later = Delivery {
            sequence: 41,
            delivered: 160,
            ..BASE
        };
        let crossed = [
            Delivery {
                delivered: 160,
                ..BASE
            },
            Delivery {
                sequence: 41,
                ..BASE
            },
        ];
        assert_ne!(of(&[BASE, later]), of(&crossed));
    }

    #[test]
    fn a_grid_of_deliveries_has_no_collision() {
        let mut seen = std::collections::BTreeSet::new();
        for source in 0..20 {
            for sequence in 0..50 {
                for delivered in 0..20 {
                    let delivery = Delivery {
                        source: HostId(source),
                        sequence,
                        delivered,
                        ..BASE
                    };
                    // also within the low half alone
                    assert!(seen.insert(mix(&delivery) as u64));
                }
            }
        }
    }
}
