//! What a flow may send.

use serde::{Deserialize, Serialize};

/// A unit of rates: 2^32 of them are a flit per cycle.
pub const ONE_FLIT_PER_CYCLE: u64 = 1 << 32;

/// Parts that what rates may take of a link is counted in.
pub const WHOLE_LINK: u32 = 1 << 20;

/// What a flow may send (D30 of the model).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Limit {
    /// As much as its host's channel takes.
    #[default]
    None,
    /// So much \[2^-32 flits per cycle\], at most [`ONE_FLIT_PER_CYCLE`].
    Rate(u64),
    /// InfiniBand's inter-packet delay: after a packet, `entry` times its time over 2^`shift`.
    Delay {
        /// Entry of the congestion control table, below 2^14.
        entry: u16,
        /// Shift, at most 3.
        shift: u8,
    },
}
