//! Pairs of hosts as the proof of forwarding tables counts them: by hops, and those without a way.

use crate::ids::HostId;
use crate::routing::VerifyError;

/// Pairs without a way that are named.
const NAMED: usize = 4;

/// Pairs that end at some destinations.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs {
    /// Pairs by hops.
    pub(super) histogram: Vec<u64>,
    /// The first that takes more hops than needed.
    pub(super) detour: Option<VerifyError>,
    /// Pairs without a way.
    pub(super) unreachable: u64,
    /// The first of them.
    pub(super) first_unreachable: Vec<(HostId, HostId)>,
}

impl Pairs {
    /// Adds pairs at this many hops.
    pub(super) fn count(&mut self, hops: u32, pairs: u64) {
        let hops = hops as usize;
        self.histogram.resize(self.histogram.len().max(hops + 1), 0);
        self.histogram[hops] += pairs;
    }

    /// Names pairs without a way while names are wanted.
    pub(super) fn name(&mut self, sources: impl Iterator<Item = HostId>, destination: HostId) {
        let more = NAMED.saturating_sub(self.first_unreachable.len());
        let named = sources.take(more).map(|source| (source, destination));
        self.first_unreachable.extend(named);
    }

    /// Adds those of later destinations.
    pub(super) fn add(&mut self, later: &Self) {
        for (hops, &pairs) in (0..).zip(&later.histogram) {
            self.count(hops, pairs);
        }
        if self.detour.is_none() {
            self.detour.clone_from(&later.detour);
        }
        self.unreachable += later.unreachable;
        self.first_unreachable.extend(&later.first_unreachable);
        self.first_unreachable.truncate(NAMED);
    }
}
