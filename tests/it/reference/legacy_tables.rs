//! Legacy VL arbitration (D54): who is chosen at a consultation, and what that moves; the units of tables of any rules.

use super::lane_choice::LaneChoice;
use virtlane::plan::SwitchOptions;
use virtlane::qos::VlArbitrationTables;
use virtlane::qos::vl_arbitration::{HighPriorityLimit, LIMIT_UNIT, Unit, WEIGHT_UNIT};

/// A packet, or a flit that goes by itself (D65), as the tables see it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    flits: u64,
    bytes: u64,
}

impl Size {
    pub(super) fn new(flits: u16, flit_bytes: u32) -> Self {
        let flits = u64::from(flits);
        Self {
            flits,
            bytes: flits * u64::from(flit_bytes),
        }
    }
}

/// What weights and limit are counted in, of tables of any rules.
#[derive(Clone, Copy, Debug)]
pub(super) struct Units {
    unit: Unit,
    limit: HighPriorityLimit,
}

impl Units {
    pub(super) fn new(tables: &VlArbitrationTables) -> Self {
        Self {
            unit: tables.unit,
            limit: tables.limit,
        }
    }

    /// What a weight of 1 is.
    pub(super) fn one(self) -> i64 {
        match self.unit {
            Unit::Blocks64 => WEIGHT_UNIT.into(),
            Unit::Flits | Unit::Packets => 1,
        }
    }

    /// What a packet takes of a weight; a flit that goes by itself is one packet of a flit (D65).
    pub(super) fn of(self, size: Size) -> i64 {
        match self.unit {
            Unit::Blocks64 => size.bytes as i64,
            Unit::Flits => size.flits as i64,
            Unit::Packets => 1,
        }
    }

    /// L of D54; `None`: it is not counted.
    pub(super) fn limit(self) -> Option<i64> {
        match (self.limit, self.unit) {
            (HighPriorityLimit::Unlimited | HighPriorityLimit::Units(255), _) => None,
            (HighPriorityLimit::Units(units), Unit::Blocks64) => {
                Some(i64::from(units) * i64::from(LIMIT_UNIT))
            }
            (HighPriorityLimit::Units(units), _) => Some(units.into()),
            // none counts as one
            (HighPriorityLimit::Packets(packets), _) => Some(packets.max(1).into()),
        }
    }

    /// What something takes of the limit that takes so much of a weight.
    pub(super) fn of_limit(self, size: i64) -> i64 {
        match self.limit {
            HighPriorityLimit::Packets(_) => 1,
            _ => size,
        }
    }
}

/// One table.
#[derive(Clone, Debug)]
struct Table {
    /// (lane, weight)
    entries: Vec<(usize, i64)>,
    counts: Vec<i64>,
    pointer: usize,
}

impl Table {
    fn new(entries: &[(u8, u8)], one: i64) -> Self {
        let entries = entries.iter();
        let entries = entries.map(|&(lane, weight)| (lane.into(), i64::from(weight) * one));
        let mut table = Self {
            entries: entries.collect(),
            counts: Vec::new(),
            pointer: 0,
        };
        table.reload();
        table
    }

    fn reload(&mut self) {
        self.pointer = 0;
        self.counts = self.entries.iter().map(|entry| entry.1).collect();
    }

    /// The entry that it has for the eligible lanes; with none it is reloaded.
    fn ask(&mut self, eligible: &[bool]) -> Option<usize> {
        let has = |entry: &usize| {
            let lane = self.entries[*entry].0;
            eligible.get(lane) == Some(&true) && self.counts[*entry] > 0
        };
        let found = (self.pointer..self.entries.len()).find(has);
        match found {
            Some(entry) => self.pointer = entry,
            None => self.reload(),
        }
        found
    }
}

/// An arbiter.
#[derive(Clone, Debug)]
pub(super) struct LegacyTables {
    high: Table,
    low: Table,
    units: Units,
    /// The limit counter, where the limit is counted.
    counter: i64,
}

impl LegacyTables {
    pub(super) fn new(tables: &VlArbitrationTables, options: &SwitchOptions) -> Self {
        assert!(
            !options.management_lane && options.allocation.iterations == 1,
            "D54"
        );
        let units = Units::new(tables);
        Self {
            high: Table::new(&tables.high, units.one()),
            low: Table::new(&tables.low, units.one()),
            units,
            counter: units.limit().unwrap_or(0),
        }
    }

    /// A consultation; some lane is eligible.
    pub(super) fn consult(&mut self, eligible: &[bool]) -> Option<LaneChoice> {
        assert!(eligible.contains(&true), "D54: not consulted for nothing");
        let limit = self.units.limit().filter(|_| self.counter <= 0);
        let found = match limit {
            None => {
                let high = self.high.ask(eligible).map(|entry| (true, entry));
                high.or_else(|| self.low.ask(eligible).map(|entry| (false, entry)))
            }
            Some(limit) => {
                self.counter = limit;
                let low = self.low.ask(eligible).map(|entry| (false, entry));
                let found = low.or_else(|| self.high.ask(eligible).map(|entry| (true, entry)));
                if found.is_none() {
                    self.counter -= self.units.of_limit(self.units.one());
                }
                found
            }
        };
        let (is_high, entry) = found?;
        let table = if is_high { &self.high } else { &self.low };
        Some(LaneChoice::of_entry(table.entries[entry].0, is_high, entry))
    }

    /// What was chosen at the last consultation goes.
    pub(super) fn charge(&mut self, (is_high, entry): (bool, usize), size: Size) {
        let size = self.units.of(size);
        let table = if is_high {
            &mut self.high
        } else {
            &mut self.low
        };
        assert_eq!(table.pointer, entry, "charged at its consultation");
        table.counts[entry] -= size;
        if is_high && self.units.limit().is_some() {
            self.counter -= self.units.of_limit(size);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lane_choice::tests::drawn;
    use super::*;
    use virtlane::qos::LegacyArbiter;
    use virtlane::qos::vl_arbitration::Rules;
    use virtlane::rng::{Purpose, below, stream};

    /// Both readings of D54 give the same lanes, whatever is eligible and accepted.
    #[test]
    fn agrees_with_the_library() {
        for seed in 0..200 {
            let mut rng = stream(seed, Purpose::Routing, 2);
            let tables = VlArbitrationTables {
                unit: [Unit::Blocks64, Unit::Flits, Unit::Packets][below(&mut rng, 3) as usize],
                rules: Rules::Legacy,
                ..drawn(&mut rng)
            };
            let options = SwitchOptions {
                lanes: 4,
                vl_arbitration: Some(tables.clone()),
                ..SwitchOptions::default()
            };
            let mut ours = LegacyTables::new(&tables, &options);
            let mut theirs = LegacyArbiter::new(&tables);
            for _ in 0..500 {
                let mask = 1 + below(&mut rng, 15);
                let eligible: Vec<bool> = (0..4).map(|lane| mask >> lane & 1 != 0).collect();
                let (a, b) = (ours.consult(&eligible), theirs.consult(&tables, mask));
                assert_eq!(
                    a.map(|choice| choice.lane),
                    b.map(|choice| usize::from(choice.lane)),
                    "seed {seed} {tables:?}"
                );
                if let (Some(a), Some(b)) = (a, b)
                    && below(&mut rng, 3) > 0
                {
                    let (flits, bytes) = (1 + below(&mut rng, 4) as u16, 64 << below(&mut rng, 3));
                    let entry = a.entry.expect("from a table");
                    ours.charge(entry, Size::new(flits, bytes));
                    theirs.charge(&tables, b, tables.size(flits, bytes));
                }
            }
        }
    }
}
