//! When to look for packets that can never move again (section 6 of the model).
//!
//! A look costs as much as the fabric has packets, and what has stopped for ever stays: looks come at distances that grow
//! with the run, sooner in a fabric that stands still. When they come follows from counters of the simulation at fixed
//! cycles alone.

use crate::cycle::records::Totals;
use serde::{Deserialize, Serialize};

/// Looks so far.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Watchdog {
    /// Cycles between two times at which it decides, multiples of this.
    every: u64,
    /// What had moved at the last of them: grants, starts, deliveries, drops.
    seen: Option<[u64; 4]>,
    /// Whether nothing has moved between the last two, with packets in the fabric.
    is_still: bool,
    /// Next look, whatever moves.
    next: u64,
    /// Next look while nothing moves, and cycles to the one after it.
    still: (u64, u64),
}

impl Watchdog {
    /// Decides every so many cycles.
    pub fn new(every: u64) -> Self {
        Self {
            every,
            ..Self::default()
        }
    }

    /// The cycle after `now` at which it decides.
    pub fn next(&self, now: u64) -> u64 {
        (now / self.every + 1).saturating_mul(self.every)
    }

    /// Whether nothing had moved when it decided last.
    pub fn is_still(&self) -> bool {
        self.is_still
    }

    /// Whether a look is due at cycle `now`.
    pub fn is_due(&mut self, now: u64, packet_hops: u64, totals: &Totals) -> bool {
        if !now.is_multiple_of(self.every) {
            return false;
        }
        let moved = [
            packet_hops,
            totals.injected,
            totals.delivered,
            totals.dropped,
        ];
        let has_packets = totals.in_fabric() > 0;
        self.is_still = has_packets && self.seen == Some(moved);
        self.seen = Some(moved);
        if !self.is_still {
            self.still = (0, self.every);
        }
        let is_due = has_packets && (now >= self.next || self.is_still && now >= self.still.0);
        if is_due {
            self.next = now.saturating_add(self.every.max(now / 4));
            let (_, wait) = self.still;
            self.still = (now.saturating_add(wait), wait.saturating_mul(2));
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cycles up to `end` in which a look is due in a fabric that moves until `stops`.
    fn looks(every: u64, stops: u64, end: u64) -> Vec<u64> {
        let mut watchdog = Watchdog::new(every);
        let totals = Totals {
            injected: 1,
            ..Totals::default()
        };
        let mut now = 0;
        let mut due = Vec::new();
        while now < end {
            now = watchdog.next(now);
            if watchdog.is_due(now, now.min(stops), &totals) {
                due.push(now);
            }
        }
        due
    }

    #[test]
    fn looks_grow_apart_and_come_sooner_when_nothing_moves() {
        assert_eq!(
            looks(10, u64::MAX, 100),
            [10, 20, 30, 40, 50, 70, 90],
            "by a quarter from the fourth on"
        );
        // nothing has moved between 110 and 120: after 10, 20, 40 cycles, and when a look is due in any case
        assert_eq!(looks(10, 105, 200)[7..], [120, 130, 150, 190]);
        // long before a look is due in any case
        assert_eq!(looks(10, 205, 300)[9..], [190, 220, 230, 250, 290]);
        assert_eq!(looks(7, u64::MAX, 1_000_000).len(), 49);
    }

    #[test]
    fn an_empty_fabric_is_not_looked_at() {
        let mut watchdog = Watchdog::new(10);
        assert!(!watchdog.is_due(10, 0, &Totals::default()));
        assert!(!watchdog.is_due(20, 0, &Totals::default()) && !watchdog.is_still());
    }
}
