//! InfiniBand's marking (D37): roots mark, victims where they may.

use super::fill::{Fill, Pace};
use crate::fabric::components::Peer;
use crate::plan::{Plan, Victims};

/// Its parameters.
#[derive(Debug)]
pub(super) struct InfiniBand {
    /// Fill from which on an output lane is congested \[flits\]; `None` = never.
    full: Option<u32>,
    /// Fill up to which it is not any more \[flits\].
    over: u32,
    /// Smallest packet that is marked \[flits\].
    packet: u16,
    /// Packets left out between two that are marked.
    rate: u16,
    victims: Victims,
    /// Largest packet \[flits\].
    largest: u16,
}

impl InfiniBand {
    pub(super) fn new(
        plan: &Plan,
        (threshold, hysteresis): (u8, u32),
        (packet, rate): (u16, u16),
        victims: Victims,
    ) -> Self {
        let full = plan.switch.infiniband_limit(threshold);
        Self {
            full,
            over: full.map_or(0, |full| (full - 1).saturating_sub(hysteresis)),
            packet,
            rate,
            victims,
            largest: plan.largest_packet(),
        }
    }

    /// A packet has taken the channel of an output until `end`.
    #[inline]
    pub(super) fn advance(&self, pace: &mut Pace, end: u64, flits: u16, step: u16) {
        let time = u64::from(flits) * u64::from(step);
        let most = u64::from(self.largest) * u64::from(step);
        let lost = end - time - pace.end;
        pace.idle = (pace.idle + lost).min(most).saturating_sub(time / 8);
        pace.end = end;
    }

    /// A packet was granted for an output lane: whether it is congested after it.
    #[inline]
    pub(super) fn look(&self, fill: &mut Fill) {
        if self.full.is_some_and(|full| fill.flits >= full) {
            fill.is_congested = true;
        } else if fill.flits <= self.over {
            fill.is_congested = false;
        }
    }

    /// Whether a packet of data that was granted for an output lane takes a turn at being marked.
    #[inline]
    pub(super) fn may_mark(&self, fill: &Fill, is_root: bool, peer: Peer, flits: u16) -> bool {
        let may = match self.victims {
            _ if is_root => true,
            Victims::None => false,
            Victims::Hosts => matches!(peer, Peer::Host | Peer::Sink),
            Victims::All => true,
        };
        fill.is_congested && may && flits >= self.packet
    }

    /// It takes a turn: whether it is marked.
    #[inline]
    pub(super) fn takes_turn(&self, fill: &mut Fill) -> bool {
        if fill.skip > 0 {
            fill.skip -= 1;
            return false;
        }
        fill.skip = self.rate;
        true
    }
}
