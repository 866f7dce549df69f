//! When a flow may go: its eligible cycle and its debt (D30 of the model).
//!
//! Rates are integers in 2^-32 flits per cycle. What rounding an eligible cycle up has cost is carried to the next packet,
//! so that packets do not drift.

use crate::plan::Limit;
use serde::{Deserialize, Serialize};

/// Flits in units of 2^-32.
#[inline]
pub fn wide(flits: u16) -> u64 {
    u64::from(flits) << 32
}

/// The last start of a flow, or of a lane's flows.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct LastStart {
    /// Cycle.
    pub at: u64,
    /// Size of the packet \[flits\].
    pub flits: u16,
    /// Debt \[2^-32 flits\].
    pub debt: u64,
}

/// First cycle in which a flow with this limit may go after its last start, on a channel of `pace` cycles per flit;
/// `None` = never.
#[inline]
pub fn eligible(limit: Limit, last: LastStart, pace: u16) -> Option<u64> {
    match limit {
        Limit::None => Some(last.at),
        Limit::Rate(0) => None,
        Limit::Rate(rate) => Some(last.at + last.debt.div_ceil(rate)),
        Limit::Delay { entry, shift } => {
            let time = u64::from(last.flits) * u64::from(pace);
            Some(last.at + time + (time >> shift) * u64::from(entry))
        }
    }
}

/// The debt after a start of `flits` at `now`, which was eligible from `eligible` on at `rate`. A sum of rates can be above
/// a flit per cycle.
#[inline]
pub fn debt(flits: u16, now: u64, eligible: u64, rate: u128, last: LastStart) -> u64 {
    if now != eligible {
        return wide(flits);
    }
    let carried = u128::from(eligible - last.at) * rate - u128::from(last.debt);
    u128::from(wide(flits)).saturating_sub(carried) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// I4 of the document on explicit rates: start k is start 0 + ceil(k * n / R), over 10^6 packets.
    #[test]
    fn packets_of_a_paced_flow_do_not_drift() {
        for (flits, rate) in [
            (1, (1 << 32) / 3 + 1),
            (16, 123_456_789),
            (5, 1 << 31),
            (3, 7 << 20),
        ] {
            let mut last = LastStart {
                at: 100,
                flits,
                debt: wide(flits),
            };
            for number in 1..=1_000_000u128 {
                let at = eligible(Limit::Rate(rate), last, 1).expect("a rate above 0");
                let exact = (number * u128::from(wide(flits))).div_ceil(rate.into());
                assert_eq!(u128::from(at), 100 + exact, "{flits} {rate} {number}");
                let debt = debt(flits, at, at, rate.into(), last);
                last = LastStart { at, flits, debt };
            }
        }
    }

    #[test]
    fn lost_time_is_not_made_up() {
        let last = LastStart {
            at: 0,
            flits: 2,
            debt: wide(2),
        };
        let rate = Limit::Rate((1 << 32) / 3 + 1);
        assert_eq!(eligible(rate, last, 1), Some(6));
        assert_eq!(debt(2, 7, 6, (1 << 32) / 3 + 1, last), wide(2));
        assert_eq!(eligible(Limit::Rate(0), last, 1), None);
        // entry 3 of the table with shift 1: two flits of 4 cycles, then 3 * (8 / 2) cycles
        let delay = Limit::Delay { entry: 3, shift: 1 };
        assert_eq!(eligible(delay, last, 4), Some(8 + 12));
    }
}
