//! Typed indices: a switch is never mistaken for a host.
//!
//! Every id is a dense `u32` (or `u8`) counted from 0 in the order in which the graph builder made the
//! thing, so it indexes plain vectors through [`SwitchId::index`] and its siblings.

use serde::{Deserialize, Serialize};

macro_rules! identifier {
    ($(#[$doc:meta])* $name:ident, $repr:ty) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub $repr);

        impl $name {
            /// The id as an index into a vector that holds one entry per thing of this kind.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl From<usize> for $name {
            /// Makes the id of the `index`-th thing.
            ///
            /// # Panics
            /// When `index` does not fit the id's representation: counts are checked where graphs are built.
            fn from(index: usize) -> Self {
                Self(<$repr>::try_from(index).expect("count checked by the graph builder"))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

identifier!(
    /// A switch.
    SwitchId,
    u32
);
identifier!(
    /// A host: one end port with its channel adapter.
    HostId,
    u32
);
identifier!(
    /// A link (cable): the channels `2 * link` and `2 * link + 1` are its two directions.
    LinkId,
    u32
);
identifier!(
    /// One direction of a link.
    ChannelId,
    u32
);
identifier!(
    /// A virtual lane of a channel; the management lane VL15 is the last lane when it exists.
    VlId,
    u8
);
identifier!(
    /// An InfiniBand service level, `0..=15`.
    SlId,
    u8
);

/// Most data lanes of a channel.
pub const MOST_LANES: u8 = 32;
/// Most data lanes of an InfiniBand channel: VL0 to VL14.
pub const INFINIBAND_LANES: u8 = 15;

impl LinkId {
    /// The two channels of this link: first-to-second end, then back.
    pub const fn channels(self) -> [ChannelId; 2] {
        [ChannelId(self.0 * 2), ChannelId(self.0 * 2 + 1)]
    }
}

impl ChannelId {
    /// The opposite direction of the same link.
    #[must_use]
    pub const fn reverse(self) -> Self {
        Self(self.0 ^ 1)
    }

    /// The link this channel is a direction of.
    pub const fn link(self) -> LinkId {
        LinkId(self.0 / 2)
    }
}
