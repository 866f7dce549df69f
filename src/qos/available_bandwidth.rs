//! What lanes and classes get of a saturated link: shares of the two arbitration tables, shares by offered load.
//!
//! # Algorithm
//! On a link on which every lane always has a packet the tables go round: each entry sends its weight, the high table what
//! its limit lets pass, then the low table one packet. With packets of p bytes
//! - an entry of weight w sends max(1, ceil(64 w / p)) packets in its turn, since the last one may overdraw the weight;
//! - a limit of L = 4096 u bytes lets ceil(L / p) high packets pass, which is L and an overshoot of
//!   (p - L mod p) mod p bytes; a limit of 0 lets one pass.
//!
//! [`Form::Printed`] has the source's equations instead: shares in proportion to the weights, and L + p mod L bytes
//! of the high table. They are the same where p divides all weights and L.
//!
//! With other units than InfiniBand's, weights, L and p are in that unit.
//!
//! Lanes without packets leave their part to others, so nobody gets less while VL15 is silent.
//!
//! Cost: O(entries).
//!
//! References: [`SEM_JACOBSEN`](crate::references::SEM_JACOBSEN) (5.5) to (5.11), [`REINEMO`](crate::references::REINEMO)
//! (5.4); [`IBA`](crate::references::IBA) section 7.6.9

use super::VlArbitrationTables;
use super::vl_arbitration::HighPriorityLimit;

/// Lanes that a table can name.
const LANES: usize = 256;

/// Which form of the equations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// What the arbiter does, packet by packet.
    Exact,
    /// As they are printed.
    Printed,
}

/// Shares of the two tables and of every lane \[fraction of the link\].
#[derive(Clone, Debug, PartialEq)]
pub struct Shares {
    /// All entries of the high table.
    pub high: f64,
    /// All entries of the low table.
    pub low: f64,
    of_lane: Vec<f64>,
}

impl Shares {
    /// Shares of a link on which every lane of the tables always has a packet of this
    /// [size](VlArbitrationTables::size), at least 1.
    ///
    /// # Examples
    /// ```
    /// use virtlane::qos::VlArbitrationTables;
    /// use virtlane::qos::available_bandwidth::{Form, Shares};
    /// use virtlane::qos::vl_arbitration::HighPriorityLimit;
    ///
    /// let tables = VlArbitrationTables {
    ///     high: vec![(0, 4), (1, 6)],
    ///     low: vec![(2, 8), (3, 10), (4, 1)],
    ///     limit: HighPriorityLimit::Packets(32),
    ///     ..Default::default()
    /// };
    /// let shares = Shares::new(&tables, 64, Form::Exact);
    /// assert!((shares.high - 32.0 / 33.0).abs() < 1e-12);
    /// assert!((shares.of_lane(1) - 0.6 * 32.0 / 33.0).abs() < 1e-12);
    /// assert!((shares.of_lane(4) - 1.0 / 19.0 / 33.0).abs() < 1e-12);
    /// ```
    pub fn new(tables: &VlArbitrationTables, packet: u64, form: Form) -> Self {
        let packet = packet.max(1);
        let turn = |&(_, weight): &(u8, u8)| of_turn(tables.weight(weight) as u64, packet, form);
        let sum = |table: &Vec<(u8, u8)>| -> f64 { table.iter().map(turn).sum() };
        let (high_sum, low_sum) = (sum(&tables.high), sum(&tables.low));
        let low = match (high_sum > 0.0, low_sum > 0.0) {
            (true, true) => low_part(tables, packet, form),
            (false, true) => 1.0,
            _ => 0.0,
        };
        let high = if high_sum > 0.0 { 1.0 - low } else { 0.0 };
        let mut of_lane = vec![0.0; LANES];
        for (table, part, sum) in [(&tables.high, high, high_sum), (&tables.low, low, low_sum)] {
            for entry in table.iter().filter(|entry| entry.1 > 0) {
                of_lane[usize::from(entry.0)] += part * turn(entry) / sum;
            }
        }
        Self { high, low, of_lane }
    }

    /// Share of a lane.
    pub fn of_lane(&self, lane: u8) -> f64 {
        self.of_lane[usize::from(lane)]
    }
}

/// What an entry of this weight sends in its turn.
fn of_turn(weight: u64, packet: u64, form: Form) -> f64 {
    match form {
        Form::Exact => (weight.div_ceil(packet) * packet) as f64,
        Form::Printed => weight as f64,
    }
}

/// Part of the link that is left to the low table under a limit.
fn low_part(tables: &VlArbitrationTables, packet: u64, form: Form) -> f64 {
    let high = match tables.limit {
        HighPriorityLimit::Unlimited | HighPriorityLimit::Units(u8::MAX) => return 0.0,
        HighPriorityLimit::Units(0) => packet,
        HighPriorityLimit::Units(units) => {
            let limit = tables.limit_units(units);
            match form {
                Form::Exact => limit.div_ceil(packet) * packet,
                Form::Printed => limit + packet % limit,
            }
        }
        HighPriorityLimit::Packets(packets) => u64::from(packets.max(1)) * packet,
    };
    packet as f64 / (packet + high) as f64
}

/// Part of a link that each class gets when it is divided by offered load, `loads` in any unit; nothing without load.
///
/// # Examples
/// ```
/// use virtlane::qos::available_bandwidth::by_offered_load;
///
/// assert_eq!(by_offered_load(&[10.0, 15.0, 20.0, 25.0, 30.0]), [0.10, 0.15, 0.20, 0.25, 0.30]);
/// ```
pub fn by_offered_load(loads: &[f64]) -> Vec<f64> {
    let all: f64 = loads.iter().sum();
    let part = |load: &f64| if all > 0.0 { load / all } else { 0.0 };
    loads.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qos::VlArbiter;

    /// Shares counted over many turns of the arbiter itself.
    fn counted(tables: &VlArbitrationTables, packet: u64) -> [f64; 5] {
        const PACKETS: u32 = 400_000;
        let mut arbiter = VlArbiter::new(tables);
        let mut counts = [0u32; 5];
        for _ in 0..PACKETS {
            let choice = arbiter.select(tables, 0x1f, 0).unwrap();
            arbiter.commit(tables, choice, packet);
            counts[usize::from(choice.lane)] += 1;
        }
        counts.map(|count| f64::from(count) / f64::from(PACKETS))
    }

    fn tables(limit: HighPriorityLimit) -> VlArbitrationTables {
        VlArbitrationTables {
            high: vec![(0, 4), (1, 6)],
            low: vec![(2, 8), (3, 10), (4, 1)],
            limit,
            ..Default::default()
        }
    }

    /// Packets that divide weights and limit, and such that overdraw both.
    #[test]
    fn the_exact_form_is_what_the_arbiter_does() {
        let limits = [
            HighPriorityLimit::Units(0),
            HighPriorityLimit::Units(1),
            HighPriorityLimit::Units(3),
            HighPriorityLimit::Packets(32),
            HighPriorityLimit::Unlimited,
        ];
        for (limit, packet) in limits
            .iter()
            .flat_map(|&l| [64, 72, 1500, 5000].map(|p| (l, p)))
        {
            let tables = tables(limit);
            let shares = Shares::new(&tables, packet, Form::Exact);
            for (lane, counted) in (0..).zip(counted(&tables, packet)) {
                let share = shares.of_lane(lane);
                let error = (share - counted).abs();
                assert!(
                    error < 2e-4,
                    "{limit:?}, {packet} B, lane {lane}: {share} {counted}"
                );
            }
            assert!((shares.high + shares.low - 1.0).abs() < 1e-12);
        }
    }

    /// Seed 003, S8: (5.7) as printed and the exact overshoot for packets of 1500 bytes, limit 4096 bytes: 5596 and 4500.
    #[test]
    fn the_printed_form_bounds_the_overshoot() {
        let tables = tables(HighPriorityLimit::Units(1));
        let low = |packet, form| Shares::new(&tables, packet, form).low;
        let is = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found}");
        is(low(1500, Form::Printed), 1500.0 / (1500.0 + 5596.0));
        is(low(1500, Form::Exact), 1500.0 / (1500.0 + 4500.0));
        // where the packet divides the limit the printed form still adds one
        is(low(64, Form::Printed), 64.0 / (64.0 + 4160.0));
        is(low(64, Form::Exact), 64.0 / (64.0 + 4096.0));
        is(low(0, Form::Exact), 1.0 / 4097.0);
    }

    #[test]
    fn an_empty_table_leaves_the_link_to_the_other() {
        let mut tables = tables(HighPriorityLimit::Units(1));
        tables.high = vec![(0, 0)];
        let shares = Shares::new(&tables, 64, Form::Exact);
        assert!(shares.high == 0.0 && (shares.of_lane(3) - 10.0 / 19.0).abs() < 1e-12);
        tables.low = Vec::new();
        let shares = Shares::new(&tables, 64, Form::Exact);
        assert!(shares.high + shares.low + shares.of_lane(0) == 0.0);
    }

    /// Seed 000, A-03 (5.4): shares of the link by the loads of table 4.1.
    #[test]
    fn shares_by_offered_load_are_the_loads() {
        let shares = by_offered_load(&[10.0, 15.0, 20.0, 25.0, 30.0]);
        assert_eq!(shares, [0.10, 0.15, 0.20, 0.25, 0.30]);
        assert_eq!(by_offered_load(&[0.0, 0.0]), [0.0, 0.0]);
    }
}
