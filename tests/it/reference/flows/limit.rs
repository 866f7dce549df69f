//! From which cycle on a limit lets the next packet go (D30).

use virtlane::plan::Limit;

/// What limits count from: the last packet that went, and its debt.
#[derive(Debug, Default)]
pub(super) struct Limited {
    /// t0 and n of D30: cycle and flits of the last packet that went.
    last: Option<(u64, u64)>,
    /// D of D30 \[2^-32 flits\].
    debt: u128,
}

/// Who goes when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    /// The limit now.
    pub(super) limit: Limit,
    /// Start cycle; `None`: there is none yet (D50).
    pub(super) begin: Option<u64>,
    /// Cycles per flit of the host's channel.
    pub(super) pace: u64,
}

impl Limited {
    /// e of D30; `None` = never.
    pub(super) fn eligible(&self, terms: Terms) -> Option<u64> {
        if terms.limit == Limit::Rate(0) {
            return None;
        }
        let Some((start, flits)) = self.last else {
            return terms.begin;
        };
        let time = flits * terms.pace;
        Some(match terms.limit {
            Limit::None => start,
            Limit::Delay { entry, shift } => start + time + (time >> shift) * u64::from(entry),
            Limit::Rate(rate) => start + cycles(self.debt, rate.into()),
        })
    }

    /// A packet of so many flits goes now: it starts, or enters (D46).
    pub(super) fn go(&mut self, terms: Terms, flits: u16, now: u64) {
        let eligible = self.eligible(terms);
        assert!(eligible.is_some(), "it may not go");
        assert!(
            self.last.is_none_or(|last| last.0 < now),
            "twice in a cycle"
        );
        let carry = match (terms.limit, self.last) {
            (Limit::Rate(rate), Some((start, _))) if eligible == Some(now) => {
                carry(now - start, rate.into(), self.debt)
            }
            _ => 0,
        };
        self.debt = debt(flits, carry);
        self.last = Some((now, flits.into()));
    }

    /// Cycle in which the last packet went.
    pub(super) fn last(&self) -> Option<u64> {
        self.last.map(|(cycle, _)| cycle)
    }
}

/// Whole cycles in which a rate pays a debt.
pub(super) fn cycles(debt: u128, rate: u128) -> u64 {
    let cycles = debt.div_ceil(rate);
    cycles.try_into().expect("a rate that is not too small")
}

/// What was paid beyond the debt.
pub(super) fn carry(cycles: u64, rate: u128, debt: u128) -> u128 {
    u128::from(cycles) * rate - debt
}

/// The debt of a packet after what was paid in advance.
pub(super) fn debt(flits: u16, carry: u128) -> u128 {
    (u128::from(flits) << 32).saturating_sub(carry)
}
