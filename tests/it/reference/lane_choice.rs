//! Which lane goes next: round robin with VL15 first (lane pointers of D6, D8, D11, D18) and InfiniBand's VL arbitration.
//!
//! VL arbitration follows rules 1-5 in the header of `qos::vl_arbitration`, written anew: a table is a
//! ring of entries, the current one has some of its weight left. Tables with the rules of D54, and the units of both rules,
//! are in `legacy_tables`.

use super::legacy_tables::{LegacyTables, Size, Units};
use virtlane::plan::{InputSpeedup, Matching, SwitchOptions};
use virtlane::qos::VlArbitrationTables;
use virtlane::qos::vl_arbitration::{Accept, Places, Rules};

/// Chooses among lanes; one per output, channel behind output lanes, input (input-first) or host.
#[derive(Clone, Debug)]
pub(super) struct LaneChooser {
    /// Number of data lanes; VL15, when it exists, is the lane of this number.
    data_lanes: usize,
    policy: Policy,
}

#[derive(Clone, Debug)]
enum Policy {
    RoundRobin { next: usize },
    Tables(TwoTables),
    Legacy(LegacyTables),
}

/// A chosen lane, not yet granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LaneChoice {
    pub(super) lane: usize,
    /// Whether it came from the high table, and the entry there; `None` for VL15 and round robin.
    pub(super) entry: Option<(bool, usize)>,
}

impl LaneChoice {
    /// From an entry of the high table, or of the low one.
    pub(super) fn of_entry(lane: usize, is_high: bool, entry: usize) -> Self {
        Self {
            lane,
            entry: Some((is_high, entry)),
        }
    }
}

impl LaneChooser {
    /// By the VL tables of the options, round robin without.
    pub(super) fn new(options: &SwitchOptions) -> Self {
        let mut chooser = Self::round_robin(options);
        if let Some(tables) = &options.vl_arbitration {
            chooser.policy = match tables.rules {
                Rules::InfiniBand => Policy::Tables(TwoTables::new(tables)),
                Rules::Legacy => Policy::Legacy(LegacyTables::new(tables, options)),
            };
            if tables.places == Places::InputsAndChannels {
                assert_eq!(options.matching, Matching::InputFirst, "D70");
                assert!(options.output_lane_buffer > 0, "D70");
            }
            if tables.accept == Accept::HighFirst {
                assert_eq!(options.matching, Matching::OutputFirst, "D71");
                assert_ne!(options.input_speedup, InputSpeedup::Unlimited, "D71");
            }
        }
        chooser
    }

    /// Round robin also when there are tables: they act elsewhere (D18).
    pub(super) fn round_robin(options: &SwitchOptions) -> Self {
        Self {
            data_lanes: usize::from(options.lanes),
            policy: Policy::RoundRobin { next: 0 },
        }
    }

    /// The lane to serve among the eligible ones, once in a cycle and round in which it may be served. That changes nothing
    /// (rule 8) but for D54's tables: they are consulted, if some lane is eligible, and move by it.
    pub(super) fn choose(&mut self, eligible: &[bool]) -> Option<LaneChoice> {
        if !eligible.contains(&true) {
            return None;
        }
        if eligible.get(self.data_lanes) == Some(&true) {
            return Some(LaneChoice {
                lane: self.data_lanes,
                entry: None,
            });
        }
        match &mut self.policy {
            Policy::RoundRobin { next } => (0..self.data_lanes)
                .map(|step| (*next + step) % self.data_lanes)
                .find(|&lane| eligible[lane])
                .map(|lane| LaneChoice { lane, entry: None }),
            Policy::Tables(tables) => tables.choose(eligible),
            Policy::Legacy(tables) => tables.consult(eligible),
        }
    }

    /// The choice was granted and accepted for a packet of that size, or for a flit that goes by itself (D65).
    pub(super) fn accepted(&mut self, choice: LaneChoice, size: Size) {
        if choice.lane == self.data_lanes {
            return;
        }
        match &mut self.policy {
            Policy::RoundRobin { next } => *next = (choice.lane + 1) % self.data_lanes,
            Policy::Tables(tables) => tables.accepted(choice, tables.units.of(size)),
            Policy::Legacy(tables) => {
                let entry = choice.entry.expect("lanes come from a table");
                tables.charge(entry, size);
            }
        }
    }
}

/// The high and the low table with the limit counter.
#[derive(Clone, Debug)]
struct TwoTables {
    high: Table,
    low: Table,
    units: Units,
    /// What the high table may still send before a waiting low packet, in the units of the limit.
    counter: i64,
}

impl TwoTables {
    fn new(tables: &VlArbitrationTables) -> Self {
        let units = Units::new(tables);
        let mut made = Self {
            high: Table::new(&tables.high, units.one()),
            low: Table::new(&tables.low, units.one()),
            units,
            counter: 0,
        };
        made.reload();
        made
    }

    /// Rule 4: the full counter; a limit of 0 lets one packet pass.
    fn reload(&mut self) {
        let limit = self.units.limit();
        self.counter = limit.map_or(i64::MAX, |limit| limit.max(1));
    }

    /// Rule 4: high first while the counter is above 0 or low has nothing eligible.
    fn choose(&self, eligible: &[bool]) -> Option<LaneChoice> {
        let high = self.high.choose(eligible);
        let low = self.low.choose(eligible);
        let high_goes = high.is_some() && (self.counter > 0 || low.is_none());
        let (table, entry) = if high_goes {
            (&self.high, high?)
        } else {
            (&self.low, low?)
        };
        Some(LaneChoice {
            lane: usize::from(table.entries[entry].0),
            entry: Some((high_goes, entry)),
        })
    }

    /// What goes takes so much of its weight.
    fn accepted(&mut self, choice: LaneChoice, size: i64) {
        let (is_high, entry) = choice.entry.expect("data lanes come from a table");
        if !is_high {
            self.low.take(entry, size);
            self.reload();
            return;
        }
        self.high.take(entry, size);
        if self.units.limit().is_some() {
            self.counter -= self.units.of_limit(size);
        }
    }
}

/// One table: a ring of (lane, weight).
#[derive(Clone, Debug)]
struct Table {
    entries: Vec<(u8, u8)>,
    current: usize,
    /// What a weight of 1 is.
    one: i64,
    /// What is left of the current entry's weight.
    left: i64,
}

impl Table {
    fn new(entries: &[(u8, u8)], one: i64) -> Self {
        let mut table = Self {
            entries: entries.to_vec(),
            current: 0,
            one,
            left: 0,
        };
        if !entries.is_empty() {
            table.make_current(0);
        }
        table
    }

    fn make_current(&mut self, entry: usize) {
        self.current = entry;
        self.left = i64::from(self.entries[entry].1) * self.one;
    }

    /// Rule 2: the current entry while eligible with weight left, otherwise the next that can be served.
    fn choose(&self, eligible: &[bool]) -> Option<usize> {
        let is_eligible = |entry: usize| {
            let lane = usize::from(self.entries[entry].0);
            eligible.get(lane) == Some(&true)
        };
        let count = self.entries.len();
        if count > 0 && is_eligible(self.current) && self.left > 0 {
            return Some(self.current);
        }
        (1..=count)
            .map(|step| (self.current + step) % count)
            .find(|&entry| is_eligible(entry) && self.entries[entry].1 > 0)
    }

    /// Rules 2 and 3: a packet of the entry goes.
    fn take(&mut self, entry: usize, size: i64) {
        if entry != self.current {
            self.make_current(entry);
        }
        self.left -= size;
        if self.left <= 0 {
            self.make_current((entry + 1) % self.entries.len());
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use virtlane::qos::VlArbiter;
    use virtlane::qos::vl_arbitration::{HighPriorityLimit, Unit};
    use virtlane::rng::{Purpose, Stream, below, stream};

    /// Short tables with small weights, over four lanes.
    pub(in crate::reference) fn drawn(rng: &mut Stream) -> VlArbitrationTables {
        let mut table = |longest| {
            let length = below(rng, longest);
            let entry = |_| (below(rng, 4) as u8, below(rng, 5) as u8);
            (0..length).map(entry).collect::<Vec<_>>()
        };
        let (high, low) = (table(5), table(5));
        let limit = match below(rng, 5) {
            0 => HighPriorityLimit::Unlimited,
            1 => HighPriorityLimit::Packets(below(rng, 4)),
            _ => HighPriorityLimit::Units(below(rng, 3) as u8),
        };
        VlArbitrationTables {
            high,
            low,
            limit,
            ..VlArbitrationTables::default()
        }
    }

    /// Both readings of the same rules give the same lanes, whatever the unit, and whatever is eligible and accepted.
    #[test]
    fn agrees_with_the_library() {
        for seed in 0..200 {
            let mut rng = stream(seed, Purpose::Routing, 1);
            let tables = VlArbitrationTables {
                unit: [Unit::Blocks64, Unit::Flits, Unit::Packets][seed as usize % 3],
                ..drawn(&mut rng)
            };
            let options = SwitchOptions {
                lanes: 4,
                management_lane: true,
                vl_arbitration: Some(tables.clone()),
                ..SwitchOptions::default()
            };
            let (mut ours, mut theirs) = (LaneChooser::new(&options), VlArbiter::new(&tables));
            for _ in 0..500 {
                let mask = below(&mut rng, 32);
                let eligible: Vec<bool> = (0..5).map(|lane| mask >> lane & 1 != 0).collect();
                let (a, b) = (ours.choose(&eligible), theirs.select(&tables, mask, 16));
                assert_eq!(
                    a.map(|choice| choice.lane),
                    b.map(|choice| usize::from(choice.lane)),
                    "seed {seed} {tables:?}"
                );
                if let (Some(a), Some(b)) = (a, b)
                    && below(&mut rng, 3) > 0
                {
                    let flits = 1 + below(&mut rng, 12) as u16;
                    ours.accepted(a, Size::new(flits, 32));
                    theirs.commit(&tables, b, tables.size(flits, 32));
                }
            }
        }
    }

    #[test]
    fn round_robin_moves_one_past_the_grant_and_vl15_moves_nothing() {
        let options = SwitchOptions {
            lanes: 3,
            management_lane: true,
            ..SwitchOptions::default()
        };
        let mut chooser = LaneChooser::new(&options);
        let mut serve = |eligible: [bool; 4]| {
            let choice = chooser.choose(&eligible).unwrap();
            chooser.accepted(choice, Size::new(1, 64));
            choice.lane
        };
        assert_eq!(serve([false, true, true, false]), 1);
        assert_eq!(serve([true, true, true, true]), 3);
        assert_eq!(serve([true, true, true, false]), 2);
        assert_eq!(serve([true, true, true, false]), 0);
    }
}
