//! RoCE's marking (D38): at random between two fills.

use crate::cycle::mechanism::ShardBuilder;
use crate::cycle::snapshot::{Persistent, Resume};
use crate::fabric::OutPort;
use crate::ids::ChannelId;
use crate::rng::{Purpose, Rng, Stream, stream};
use bevy_ecs::component::Component;
use serde::{Deserialize, Serialize};

/// Its parameters.
#[derive(Debug)]
pub(super) struct Ecn {
    /// Up to this fill none is marked \[flits\].
    pub(super) least: u32,
    /// From this fill on all are \[flits\].
    pub(super) most: u32,
    /// Probability just below that \[2^-32\].
    pub(super) probability: u64,
}

/// Draws of an output.
#[derive(Component, Clone, Debug, Serialize, Deserialize)]
pub(super) struct MarkStream(Stream);

impl Persistent for MarkStream {
    fn resume(&mut self, built: Self, how: &Resume<'_>) {
        if how.fork {
            *self = built;
        }
    }
}

impl Default for MarkStream {
    fn default() -> Self {
        Self(stream(0, Purpose::Marking, 0))
    }
}

/// A stream for every output of a switch.
pub(super) fn streams<const W: usize>(shard: &mut ShardBuilder<'_, W>) {
    let site = shard.site();
    let outputs = site.placement.switch_channels(site.graph, site.number);
    let own = |channel: ChannelId| stream(site.plan.seed, Purpose::Marking, channel.0.into());
    let streams: Vec<Stream> = outputs.map(own).collect();
    shard.column_by::<OutPort, MarkStream>(move |row| {
        (streams.get(row)).map_or_else(MarkStream::default, |own| MarkStream(own.clone()))
    });
}

impl Ecn {
    /// Whether a packet of data that was granted for an output lane is marked.
    pub(super) fn marks(&self, fill: u32, stream: &mut MarkStream) -> bool {
        if fill <= self.least || fill >= self.most {
            return fill >= self.most;
        }
        let (part, whole) = (fill - self.least, self.most - self.least);
        let below = u128::from(self.probability) * u128::from(part) / u128::from(whole);
        u128::from(stream.0.next_u64() >> 32) < below
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// D38: one draw for a packet that is granted between both fills, none otherwise.
    #[test]
    fn draws_are_made_between_both_fills_only() {
        let ecn = Ecn {
            least: 4,
            most: 8,
            probability: 1 << 31,
        };
        for (fill, marked) in [
            (3, Some(false)),
            (4, Some(false)),
            (5, None),
            (7, None),
            (8, Some(true)),
            (9, Some(true)),
        ] {
            let (mut own, mut fresh) = (MarkStream::default(), MarkStream::default());
            let marks = ecn.marks(fill, &mut own);
            if marked.is_none() {
                fresh.0.next_u64();
            }
            assert!(marked.is_none_or(|expected| marks == expected), "{fill}");
            assert_eq!(own.0.next_u64(), fresh.0.next_u64(), "{fill}");
        }
    }
}
