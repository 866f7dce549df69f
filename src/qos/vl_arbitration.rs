//! InfiniBand VL arbitration: two weighted round-robin tables under a limit of high priority.
//!
//! # Rules
//! 1. VL15, when eligible, goes before both tables.
//! 2. A table is a circular list of (lane, weight). The current entry is served while its lane is eligible
//!    and it has weight left; otherwise the next entry with an eligible lane and a weight above 0 becomes
//!    current with its full weight.
//! 3. A packet of `b` bytes takes `b` from the weight (weights are in 64-byte units) and may overdraw it;
//!    at or below zero the table moves on to the next entry. Other units: [`Unit`].
//! 4. The high table goes first while the limit counter is above 0 or the low table has nothing eligible.
//!    High packets take their bytes from the counter (they may overdraw it); a low packet reloads it.
//!    Limit 0 lets one high packet pass between two low ones, 255 removes the limit.
//! 5. State moves on accepted grants only: [`VlArbiter::select`] changes nothing,
//!    [`VlArbiter::commit`] applies its choice. An arbiter that is not asked does nothing.
//!
//! A lane that is in neither table is never served. References: [`IBA`](crate::references::IBA) section
//! 7.6.9 (VL arbitration); rule 4's reload by *every* low packet is the standard's, the article code of
//! seed 003 reloads only after a forced one.

use serde::{Deserialize, Serialize};

/// Bytes per unit of weight.
pub const WEIGHT_UNIT: i32 = 64;
/// Bytes per unit of the limit of high priority.
pub const LIMIT_UNIT: i32 = 4096;

/// How much high-priority traffic may pass before a waiting low-priority packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HighPriorityLimit {
    /// InfiniBand's `LimitOfHighPriority`: units of 4096 bytes, or the tables' own; 0 = one packet.
    Units(u8),
    /// A number of packets (seed 000, S-19); 0 counts as 1.
    Packets(u32),
    /// No limit: low-priority traffic may starve (InfiniBand's 255).
    Unlimited,
}

impl Default for HighPriorityLimit {
    fn default() -> Self {
        Self::Units(0)
    }
}

/// What weights and limit count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// InfiniBand: weights in blocks of 64 bytes, the limit in units of 4096 bytes.
    #[default]
    Blocks64,
    /// Flits.
    Flits,
    /// Packets, whatever their size.
    Packets,
}

/// Who chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Rules {
    /// The rules of this file.
    #[default]
    InfiniBand,
    /// Those of [`legacy_arbitration`](super::legacy_arbitration).
    Legacy,
}

/// Where a switch asks the tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Places {
    /// At its outputs, at the channels behind output lanes, or with input-first matching at its inputs.
    #[default]
    One,
    /// At its inputs and at the channels behind output lanes, each with an arbiter of its own.
    InputsAndChannels,
}

/// Which grants an input accepts first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Accept {
    /// By round robin over outputs.
    #[default]
    InTurn,
    /// Those for lanes of the high table.
    HighFirst,
}

/// The two tables of an output port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VlArbitrationTables {
    /// High-priority entries: (lane, weight), at most 64.
    pub high: Vec<(u8, u8)>,
    /// Low-priority entries.
    pub low: Vec<(u8, u8)>,
    /// Limit of high priority.
    pub limit: HighPriorityLimit,
    /// Unit of weights and limit.
    pub unit: Unit,
    /// Who chooses.
    pub rules: Rules,
    /// Where switches ask them.
    pub places: Places,
    /// Which grants inputs accept first.
    pub accept: Accept,
}

impl VlArbitrationTables {
    /// What a packet takes of a weight: bytes, flits or 1.
    #[inline]
    pub fn size(&self, flits: u16, flit_bytes: u32) -> u64 {
        match self.unit {
            Unit::Blocks64 => u64::from(flits) * u64::from(flit_bytes),
            Unit::Flits => u64::from(flits),
            Unit::Packets => 1,
        }
    }

    /// A weight in what packets take of it.
    #[inline]
    pub fn weight(&self, weight: u8) -> i64 {
        i64::from(weight) * self.one() as i64
    }

    /// A weight of 1 in what packets take of it.
    #[inline]
    pub fn one(&self) -> u64 {
        match self.unit {
            Unit::Blocks64 => WEIGHT_UNIT as u64,
            Unit::Flits | Unit::Packets => 1,
        }
    }

    /// A limit of so many units in what packets take of it.
    pub fn limit_units(&self, units: u8) -> u64 {
        match self.unit {
            Unit::Blocks64 => u64::from(units) * LIMIT_UNIT as u64,
            Unit::Flits | Unit::Packets => units.into(),
        }
    }

    /// What a high packet that takes `size` of a weight takes of the limit.
    pub(super) fn limit_of(&self, size: u64) -> i64 {
        match self.limit {
            HighPriorityLimit::Packets(_) => 1,
            HighPriorityLimit::Units(_) | HighPriorityLimit::Unlimited => size as i64,
        }
    }

    pub(super) fn limit_reload(&self) -> i64 {
        match self.limit {
            HighPriorityLimit::Units(u8::MAX) | HighPriorityLimit::Unlimited => i64::MAX,
            HighPriorityLimit::Units(units) => (self.limit_units(units) as i64).max(1),
            HighPriorityLimit::Packets(packets) => i64::from(packets.max(1)),
        }
    }

    /// Lanes whose grants inputs accept first, where they do not accept in turn.
    pub fn accepted_first(&self) -> Option<impl Iterator<Item = u32> + '_> {
        let entries = self.high.iter().filter(|(_, weight)| *weight > 0);
        let lanes = entries.map(|&(lane, _)| u32::from(lane));
        (self.accept == Accept::HighFirst).then_some(lanes)
    }

    pub(super) fn table(&self, priority: Priority) -> &[(u8, u8)] {
        match priority {
            Priority::High => &self.high,
            Priority::Low => &self.low,
        }
    }
}

/// One of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Priority {
    High,
    Low,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Cursor {
    entry: u8,
    /// Weight left of the current entry \[bytes, flits or packets\]; at most 0 only before the first grant.
    left: i64,
}

impl Cursor {
    /// The entry, which begins or ends with this grant, gives what the packet takes.
    #[inline(never)]
    fn turn(&mut self, tables: &VlArbitrationTables, (priority, entry): (Priority, u8), size: i64) {
        let table = tables.table(priority);
        let weight = |entry: u8| tables.weight(table[usize::from(entry)].1);
        if self.entry != entry || self.left <= 0 {
            *self = Self {
                entry,
                left: weight(entry),
            };
        }
        self.left -= size;
        if self.left <= 0 {
            let next = ((usize::from(entry) + 1) % table.len()) as u8;
            *self = Self {
                entry: next,
                left: weight(next),
            };
        }
    }
}

/// State of one output's arbiter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VlArbiter {
    high: Cursor,
    low: Cursor,
    /// What the high table may still send before a waiting low packet \[bytes, flits or packets\].
    allowance: i64,
}

/// A lane chosen by [`VlArbiter::select`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VlChoice {
    /// The lane.
    pub lane: u8,
    /// Table and entry it came from; `None` for VL15.
    origin: Option<(Priority, u8)>,
}

impl VlChoice {
    pub(super) fn of(lane: u8, priority: Priority, entry: u8) -> Self {
        let origin = Some((priority, entry));
        Self { lane, origin }
    }

    pub(super) fn origin(self) -> Option<(Priority, u8)> {
        self.origin
    }
}

impl VlArbiter {
    /// An arbiter at the start of both tables.
    pub fn new(tables: &VlArbitrationTables) -> Self {
        let start = |table: &[(u8, u8)]| Cursor {
            entry: 0,
            left: table
                .first()
                .map_or(0, |&(_, weight)| tables.weight(weight)),
        };
        Self {
            high: start(&tables.high),
            low: start(&tables.low),
            allowance: tables.limit_reload(),
        }
    }

    /// The lane to serve among the set bits of `eligible`; `management` is the mask of VL15.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once per packet-hop")]
    pub fn select(
        &self,
        tables: &VlArbitrationTables,
        eligible: u32,
        management: u32,
    ) -> Option<VlChoice> {
        if eligible & management != 0 {
            return Some(VlChoice {
                lane: management.trailing_zeros() as u8,
                origin: None,
            });
        }
        let high = pick(&tables.high, self.high, eligible);
        if let Some(entry) = high
            && self.allowance > 0
        {
            return Some(VlChoice {
                lane: tables.high[entry].0,
                origin: Some((Priority::High, entry as u8)),
            });
        }
        let low = pick(&tables.low, self.low, eligible).map(|entry| (Priority::Low, entry));
        let (priority, entry) = low.or(high.map(|entry| (Priority::High, entry)))?;
        Some(VlChoice {
            lane: tables.table(priority)[entry].0,
            origin: Some((priority, entry as u8)),
        })
    }

    /// Applies an accepted grant of a packet of this [size](VlArbitrationTables::size), less than 2^48.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once per packet-hop")]
    pub fn commit(&mut self, tables: &VlArbitrationTables, choice: VlChoice, size: u64) {
        let Some((priority, entry)) = choice.origin else {
            return;
        };
        let cursor = match priority {
            Priority::High => &mut self.high,
            Priority::Low => &mut self.low,
        };
        let size = size as i64;
        if cursor.entry == entry && cursor.left > size {
            cursor.left -= size;
        } else {
            cursor.turn(tables, (priority, entry), size);
        }
        match priority {
            Priority::Low => self.allowance = tables.limit_reload(),
            Priority::High => match tables.limit {
                HighPriorityLimit::Units(u8::MAX) | HighPriorityLimit::Unlimited => {}
                HighPriorityLimit::Units(_) => {
                    self.allowance = self.allowance.saturating_sub(size);
                }
                HighPriorityLimit::Packets(_) => self.allowance = self.allowance.saturating_sub(1),
            },
        }
    }
}

/// The entry rule 2 serves next, `None` when no entry's lane is eligible.
#[inline]
fn pick(table: &[(u8, u8)], cursor: Cursor, eligible: u32) -> Option<usize> {
    let mut place = usize::from(cursor.entry);
    for _ in 0..table.len() {
        let (lane, weight) = table[place];
        if weight > 0 && eligible >> lane & 1 != 0 {
            return Some(place);
        }
        place += 1;
        if place == table.len() {
            place = 0;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shares of each lane when all are always eligible and packets have 64 bytes.
    fn shares(tables: &VlArbitrationTables, packets: u32, bytes: u64) -> Vec<f64> {
        let mut arbiter = VlArbiter::new(tables);
        let mut counts = [0u32; 16];
        for _ in 0..packets {
            let choice = arbiter.select(tables, 0x7fff, 0).unwrap();
            arbiter.commit(tables, choice, bytes);
            counts[usize::from(choice.lane)] += 1;
        }
        counts
            .iter()
            .map(|&count| f64::from(count) / f64::from(packets))
            .collect()
    }

    /// Seed 003, C1: high lanes of weights 4 and 6 share 4:6.
    #[test]
    fn rule_2_and_3_shares_follow_the_weights() {
        let tables = VlArbitrationTables {
            high: vec![(0, 4), (1, 6)],
            low: vec![],
            limit: HighPriorityLimit::Unlimited,
            ..Default::default()
        };
        let shares = shares(&tables, 10_000, 64);
        assert!(
            (shares[0] - 0.4).abs() < 1e-3 && (shares[1] - 0.6).abs() < 1e-3,
            "{shares:?}"
        );
    }

    /// Seed 003, C2: a limit of 32 packets gives the high table 32/33; the low table splits 8:10:1.
    #[test]
    fn rule_4_limit_of_high_priority() {
        let tables = |limit| VlArbitrationTables {
            high: vec![(0, 4), (1, 6)],
            low: vec![(2, 8), (3, 10), (4, 1)],
            limit,
            ..Default::default()
        };
        let by_packets = shares(&tables(HighPriorityLimit::Packets(32)), 330_000, 64);
        assert!(
            (by_packets[0] + by_packets[1] - 32.0 / 33.0).abs() < 1e-4,
            "{by_packets:?}"
        );
        assert!(
            (by_packets[2] / by_packets[4] - 8.0).abs() < 0.05,
            "{by_packets:?}"
        );
        // 1 unit = 4096 bytes = 64 packets of 64 bytes
        let by_units = shares(&tables(HighPriorityLimit::Units(1)), 65_000, 64);
        assert!(
            (by_units[0] + by_units[1] - 64.0 / 65.0).abs() < 1e-4,
            "{by_units:?}"
        );
        let alternating = shares(&tables(HighPriorityLimit::Units(0)), 10_000, 64);
        assert!(
            (alternating[0] + alternating[1] - 0.5).abs() < 1e-3,
            "{alternating:?}"
        );
        let unlimited = shares(&tables(HighPriorityLimit::Unlimited), 10_000, 64);
        assert!(
            (unlimited[0] + unlimited[1] - 1.0).abs() < 1e-9,
            "{unlimited:?}"
        );
    }

    /// The largest packets, of 65,535 flits of 64 KiB and of 4 GiB - 1: equal weights share evenly, and the limit of high
    /// priority lets one packet pass.
    #[test]
    fn packets_of_any_size_are_counted_in_full() {
        for flit in [1 << 15, 1 << 16, u64::from(u32::MAX)] {
            let bytes = 65_535 * flit;
            let tables = |high, low| VlArbitrationTables {
                high,
                low,
                limit: HighPriorityLimit::Units(254),
                ..Default::default()
            };
            for tables in [
                tables(vec![(0, 1), (1, 1)], vec![]),
                tables(vec![], vec![(0, 255), (1, 255)]),
                tables(vec![(0, 255)], vec![(1, 255)]),
            ] {
                let shares = shares(&tables, 1000, bytes);
                assert_eq!(shares[..2], [0.5, 0.5], "{bytes} bytes, {tables:?}");
            }
        }
    }

    #[test]
    fn rule_1_management_first_and_rule_5_select_is_pure() {
        let tables = VlArbitrationTables {
            high: vec![(0, 1)],
            low: vec![(1, 1)],
            limit: HighPriorityLimit::Units(0),
            ..Default::default()
        };
        let arbiter = VlArbiter::new(&tables);
        assert_eq!(arbiter.select(&tables, 0x8003, 0x8000).unwrap().lane, 15);
        assert_eq!(
            arbiter.select(&tables, 3, 0x8000),
            arbiter.select(&tables, 3, 0x8000)
        );
        assert_eq!(arbiter.select(&tables, 4, 0x8000), None);
    }
}
