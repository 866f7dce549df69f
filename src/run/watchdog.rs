//! Notices when nothing moves any more although packets are in the fabric.

use crate::cycle::records::Totals;
use serde::{Deserialize, Serialize};

/// Progress of a run so far.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Watchdog {
    limit: u64,
    last: (u64, u64, u64, u64),
    moved_at: u64,
}

impl Watchdog {
    /// A watchdog that barks after `limit` cycles without progress.
    pub fn new(limit: u64) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    /// Whether the fabric has stood still for too long at cycle `now`, with packets in it.
    pub fn barks(&mut self, now: u64, packet_hops: u64, totals: &Totals) -> bool {
        let progress = (
            packet_hops,
            totals.injected,
            totals.delivered,
            totals.dropped,
        );
        if progress != self.last || totals.in_fabric() == 0 {
            self.last = progress;
            self.moved_at = now;
        }
        now - self.moved_at >= self.limit
    }
}
