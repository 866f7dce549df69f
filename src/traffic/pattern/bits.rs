//! Patterns that permute the bits of the host number: `BitReverse`, `BitRotation`, `Butterfly`, `Shuffle`.
//!
//! With N = 2^b hosts and source bits `s_{b-1} .. s_0`, destination bit i is
//! `s_{b-1-i}` (reverse), `s_{(i+1) mod b}` (rotation), `s_{(i-1) mod b}` (shuffle); butterfly swaps
//! the most and the least significant bit. Fixed points do not send without `self_traffic`.
//!
//! Needs: a power of two of hosts.
//! Cost: one table look-up per packet; memory O(hosts).
//!
//! References: [`DALLY_TOWLES`],
//! [`DUATO_YALAMANCHILI_NI`] (butterfly)

use super::members::{AMONG, FixedDestinations, Members, Plain, SELF_TRAFFIC};
use crate::references::{DALLY_TOWLES, DUATO_YALAMANCHILI_NI};
use crate::registry::{ArgumentError, Arguments, Entry};
use crate::traffic::{BuildPattern, Pattern, PatternContext, invalid};
use std::sync::Arc;

const GUARANTEES: &[&str] =
    &["a permutation of the hosts; fixed points do not send without `self_traffic`"];

/// Registers `BitReverse`.
pub(super) const BIT_REVERSE: Entry<BuildPattern> = Entry {
    name: "BitReverse",
    aliases: &["BitReversal"],
    summary: "to the host whose number has the bits of the source in reverse order",
    parameters: &[SELF_TRAFFIC, AMONG],
    guarantees: GUARANTEES,
    references: &[DALLY_TOWLES],
    build: |arguments, context| build("BitReverse", arguments, context, reverse),
};

/// Registers `BitRotation`.
pub(super) const BIT_ROTATION: Entry<BuildPattern> = Entry {
    name: "BitRotation",
    aliases: &[],
    summary: "to the host whose number is the source's rotated right by one bit",
    parameters: &[SELF_TRAFFIC, AMONG],
    guarantees: GUARANTEES,
    references: &[DALLY_TOWLES],
    build: |arguments, context| build("BitRotation", arguments, context, rotate_right),
};

/// Registers `Butterfly`.
pub(super) const BUTTERFLY: Entry<BuildPattern> = Entry {
    name: "Butterfly",
    aliases: &[],
    summary: "to the host whose number has the first and the last bit of the source swapped",
    parameters: &[SELF_TRAFFIC, AMONG],
    guarantees: GUARANTEES,
    references: &[DUATO_YALAMANCHILI_NI],
    build: |arguments, context| build("Butterfly", arguments, context, butterfly),
};

/// Registers `Shuffle`.
pub(super) const SHUFFLE: Entry<BuildPattern> = Entry {
    name: "Shuffle",
    aliases: &["PerfectShuffle"],
    summary: "to the host whose number is the source's rotated left by one bit",
    parameters: &[SELF_TRAFFIC, AMONG],
    guarantees: GUARANTEES,
    references: &[DALLY_TOWLES],
    build: |arguments, context| build("Shuffle", arguments, context, rotate_left),
};

/// A function of the host number and the number of bits, at least 1.
type BitPermutation = fn(u32, u32) -> u32;

fn reverse(source: u32, bits: u32) -> u32 {
    source.reverse_bits() >> (u32::BITS - bits)
}

fn rotate_right(source: u32, bits: u32) -> u32 {
    (source >> 1) | ((source & 1) << (bits - 1))
}

fn rotate_left(source: u32, bits: u32) -> u32 {
    let mask = (1 << bits) - 1;
    ((source << 1) & mask) | (source >> (bits - 1))
}

fn butterfly(source: u32, bits: u32) -> u32 {
    let ends = 1 | (1 << (bits - 1));
    match source & ends {
        0 => source,
        both if both == ends => source,
        _ => source ^ ends,
    }
}

fn build(
    name: &'static str,
    arguments: Arguments<'_>,
    context: &PatternContext<'_>,
    permutation: BitPermutation,
) -> Result<Arc<dyn Pattern>, ArgumentError> {
    let Plain {
        self_traffic,
        among,
    } = arguments.parse()?;
    let members = Members::numbered(among, context);
    let count = members.len();
    if count < 2 || !count.is_power_of_two() {
        return Err(invalid(format!(
            "`{name}` permutes the bits of host numbers and needs 2, 4, 8, 16, .. hosts; here are {count}"
        )));
    }
    let bits = count.trailing_zeros();
    FixedDestinations::from_map(name, &members, context, self_traffic, |i| {
        permutation(i, bits)
    })
}
