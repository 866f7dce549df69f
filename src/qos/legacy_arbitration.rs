//! The arbiter of an in-house simulator of 2004: two weighted tables with an idle cycle wherever one is reloaded.
//!
//! # Rules
//! 1. Every entry has a count, at first its weight. A table is *asked* for the first entry from its pointer to its end that has
//!    an eligible lane and a count above 0: the pointer moves there. If there is none the pointer goes to the first entry,
//!    every count of the table to its weight, and the table has nothing this time, whatever waits.
//! 2. While the limit counter is above 0 the high table is asked, then, if it has nothing, the low one.
//! 3. At 0 or below the low table is asked. The counter is reloaded either way; if the low table has nothing, the high one
//!    is asked, and if that has nothing either the counter loses one unit.
//! 4. When no table had something the cycle is lost (a *bubble*): the link idles.
//! 5. A packet that goes takes its size from the count of its entry; a high one takes it from the counter as well, unless the
//!    limit is 255. Low ones do not reload it, except by rule 3.
//!
//! Pointers, counts and counter move whenever the arbiter is asked ([`LegacyArbiter::consult`]); sizes are taken on accepted
//! grants ([`LegacyArbiter::charge`]).
//!
//! Consequences: a lone lane of weight w has w / (w + 1) of the link in packets of one unit; low lanes get the bubbles of the
//! high table, also without a limit; a limit of 0 lets the low table go first.
//!
//! Cost: O(entries) per call.
//!
//! # Deviations
//! The source's code arbitrates single flits; here a packet is one choice and takes its size at once. With packets of one
//! flit and the unit [`Unit::Flits`](super::vl_arbitration::Unit) both are the same.
//!
//! References: [`SEM_JACOBSEN`](crate::references::SEM_JACOBSEN) appendix C (`HalfLink`)

use super::VlArbitrationTables;
use super::vl_arbitration::{HighPriorityLimit, Priority, VlChoice};
use serde::{Deserialize, Serialize};

/// State of one output's arbiter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LegacyArbiter {
    high: Table,
    low: Table,
    /// Limit counter, in its unit.
    left: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Table {
    pointer: usize,
    /// What each entry may still send.
    counts: Vec<i64>,
}

impl Table {
    fn new(tables: &VlArbitrationTables, priority: Priority) -> Self {
        let entries = tables.table(priority).iter();
        Self {
            pointer: 0,
            counts: entries.map(|&(_, weight)| tables.weight(weight)).collect(),
        }
    }

    /// Rule 1.
    fn ask(
        &mut self,
        tables: &VlArbitrationTables,
        priority: Priority,
        eligible: u32,
    ) -> Option<VlChoice> {
        let entries = tables.table(priority);
        let can_go =
            |&entry: &usize| self.counts[entry] > 0 && eligible >> entries[entry].0 & 1 != 0;
        let Some(entry) = (self.pointer..entries.len()).find(can_go) else {
            self.pointer = 0;
            for (count, entry) in self.counts.iter_mut().zip(entries) {
                *count = tables.weight(entry.1);
            }
            return None;
        };
        self.pointer = entry;
        Some(VlChoice::of(entries[entry].0, priority, entry as u8))
    }
}

impl LegacyArbiter {
    /// An arbiter at the start of both tables, the limit counter full.
    pub fn new(tables: &VlArbitrationTables) -> Self {
        Self {
            high: Table::new(tables, Priority::High),
            low: Table::new(tables, Priority::Low),
            left: limit(tables),
        }
    }

    /// The lane that goes among the set bits of `eligible`; `None` is a bubble.
    pub fn consult(&mut self, tables: &VlArbitrationTables, eligible: u32) -> Option<VlChoice> {
        let spent = self.left <= 0;
        if spent {
            self.left = limit(tables);
        } else if let Some(choice) = self.high.ask(tables, Priority::High, eligible) {
            return Some(choice);
        }
        let low = self.low.ask(tables, Priority::Low, eligible);
        if low.is_some() || !spent {
            return low;
        }
        let high = self.high.ask(tables, Priority::High, eligible);
        if high.is_none() && is_limited(tables) {
            self.left -= tables.limit_of(tables.one());
        }
        high
    }

    /// Rule 5: the choice was granted to a packet of this size, in the unit of the weights.
    pub fn charge(&mut self, tables: &VlArbitrationTables, choice: VlChoice, size: u64) {
        let Some((priority, entry)) = choice.origin() else {
            return;
        };
        let table = match priority {
            Priority::High => &mut self.high,
            Priority::Low => &mut self.low,
        };
        table.counts[usize::from(entry)] -= size as i64;
        if priority == Priority::High && is_limited(tables) {
            self.left -= tables.limit_of(size);
        }
    }
}

/// What the limit counter is reloaded to.
fn limit(tables: &VlArbitrationTables) -> i64 {
    match tables.limit {
        HighPriorityLimit::Units(0) => 0,
        _ => tables.limit_reload(),
    }
}

fn is_limited(tables: &VlArbitrationTables) -> bool {
    !matches!(
        tables.limit,
        HighPriorityLimit::Units(u8::MAX) | HighPriorityLimit::Unlimited
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qos::vl_arbitration::{Rules, Unit};

    fn tables(layers: u8, limit: HighPriorityLimit) -> VlArbitrationTables {
        let entries = |weights: &[(u8, u8)]| {
            let of = |&(sl, weight): &(u8, u8)| (0..layers).map(move |l| (sl * layers + l, weight));
            weights.iter().flat_map(of).collect()
        };
        VlArbitrationTables {
            high: entries(&[(0, 4), (1, 6)]),
            low: entries(&[(2, 8), (3, 10), (4, 1)]),
            limit,
            unit: Unit::Flits,
            rules: Rules::Legacy,
            ..VlArbitrationTables::default()
        }
    }

    /// High, low and idle part of a link over many cycles, `eligible` in all of them, packets of one flit.
    fn parts(tables: &VlArbitrationTables, eligible: u32) -> [f64; 3] {
        const CYCLES: u32 = 330_000;
        let mut arbiter = LegacyArbiter::new(tables);
        let mut counts = [0u32; 3];
        for _ in 0..CYCLES {
            let choice = arbiter.consult(tables, eligible);
            let part = match choice.and_then(VlChoice::origin) {
                Some((Priority::High, _)) => 0,
                Some((Priority::Low, _)) => 1,
                None => 2,
            };
            counts[part] += 1;
            if let Some(choice) = choice {
                arbiter.charge(tables, choice, 1);
            }
        }
        counts.map(|count| f64::from(count) / f64::from(CYCLES))
    }

    /// Seed 003, S4: the table of the listing run with all lanes backlogged, printed to three digits.
    #[test]
    fn backlogged_lanes_share_as_in_the_listing() {
        let units = HighPriorityLimit::Units;
        for (layers, limit, expected) in [
            (1, units(32), [0.885, 0.110, 0.004]),
            (3, units(32), [0.940, 0.060, 0.001]),
            (1, units(255), [0.909, 0.086, 0.005]),
            (1, HighPriorityLimit::Unlimited, [0.909, 0.086, 0.005]),
            (1, units(0), [0.046, 0.95, 0.004]),
        ] {
            let found = parts(&tables(layers, limit), u32::MAX);
            for (found, expected) in found.iter().zip(expected) {
                assert!(
                    (found - expected).abs() < 0.001,
                    "{layers}, {limit:?}: {found} {expected}"
                );
            }
        }
    }

    /// Seed 003, C4: a lane alone loses a cycle with every reload.
    #[test]
    fn a_lane_alone_has_w_of_w_and_one() {
        for (lane, weight) in [(0, 4.0), (1, 6.0), (4, 1.0), (3, 10.0)] {
            let tables = tables(1, HighPriorityLimit::Units(255));
            let [high, low, idle] = parts(&tables, 1 << lane);
            assert!(
                (high + low - weight / (weight + 1.0)).abs() < 1e-4,
                "{lane}: {idle}"
            );
        }
    }

    /// The lanes that go, packets of one flit, for the lanes eligible in each cycle.
    fn lanes(tables: &VlArbitrationTables, eligible: &[u32]) -> Vec<Option<u8>> {
        let mut arbiter = LegacyArbiter::new(tables);
        let consult = |&eligible: &u32| {
            let choice = arbiter.consult(tables, eligible)?;
            arbiter.charge(tables, choice, 1);
            Some(choice.lane)
        };
        eligible.iter().map(consult).collect()
    }

    /// Rule 1 by hand: lane 0 has no packet at first and is passed over until the table is reloaded.
    #[test]
    fn the_pointer_does_not_go_back_within_a_round() {
        let mut tables = tables(1, HighPriorityLimit::Unlimited);
        (tables.high, tables.low) = (vec![(0, 2), (1, 2)], Vec::new());
        let found = lanes(&tables, &[0b10, 0b11, 0b11, 0b11, 0b11]);
        assert_eq!(found, [Some(1), Some(1), None, Some(0), Some(0)]);
    }

    /// Rule 3 by hand: limit 2, two high lanes of weight 1, a low one that comes late. The bubble after lane 1 leaves 1 of
    /// the counter, so one high packet goes before the low one.
    #[test]
    fn the_counter_is_reloaded_and_loses_a_unit_in_a_bubble() {
        let mut tables = tables(1, HighPriorityLimit::Units(2));
        (tables.high, tables.low) = (vec![(0, 1), (1, 1)], vec![(2, 1)]);
        let found = lanes(&tables, &[0b011, 0b011, 0b011, 0b111, 0b111]);
        assert_eq!(found, [Some(0), Some(1), None, Some(0), Some(2)]);
    }
}
