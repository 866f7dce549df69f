//! Rounds of switches and hosts: 16 bits, compared as serial numbers (RFC 1982).

use serde::{Deserialize, Serialize};

/// An element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// Its round.
    pub now: u16,
    /// Last one that it has sent on.
    pub(super) sent: Option<u16>,
    pub(super) is_host: bool,
}

/// Whether a round is later than another.
pub(super) const fn is_later(round: u16, than: u16) -> bool {
    round.wrapping_sub(than) as i16 > 0
}

impl Round {
    /// A flow that starts or ends has been announced, by a probe with this round.
    pub(super) fn advance(&mut self, round: u16) {
        let next = self.now.wrapping_add(1);
        self.now = if is_later(round, next) { round } else { next };
    }
}
