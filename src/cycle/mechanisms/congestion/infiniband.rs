//! InfiniBand's marking (D37): roots mark, victims where they may.

use crate::cycle::snapshot::Persistent;
use crate::fabric::components::Peer;
use crate::plan::{Plan, Victims};
use bevy_ecs::component::Component;
use serde::{Deserialize, Serialize};

/// An output lane.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Fill {
    /// Flits of the packets that wait for it.
    pub(super) flits: u32,
    /// Eligible packets until the next one that InfiniBand's marking marks.
    pub(super) skip: u16,
    /// Whether InfiniBand's marking takes it as congested.
    pub(super) is_congested: bool,
}

impl Persistent for Fill {}

/// An output.
#[derive(Component, Clone, Debug, Default, Serialize, Deserialize)]
pub struct Pace {
    /// End of the last packet on its channel, of the last flit where these go one by one.
    end: u64,
    /// Time that it has lost lately \[cycles; eighths of one where flits go one by one (D78)\].
    pub(super) idle: u64,
}

impl Pace {
    /// A flit has taken the channel for `step` cycles up to `end`, where flits go one by one; `largest`: of all packets \[flits\].
    pub(in crate::cycle) fn pass(&mut self, end: u64, step: u16, largest: u16) {
        let step = u64::from(step);
        let most = 8 * u64::from(largest) * step;
        let lost = 8 * (end - step - self.end);
        self.idle = (self.idle + lost).min(most).saturating_sub(step);
        self.end = end;
    }
}

impl Persistent for Pace {}

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
    pub(super) fn advance(&self, pace: &mut Pace, end: u64, flits: u16, step: u16) {
        let time = u64::from(flits) * u64::from(step);
        let most = u64::from(self.largest) * u64::from(step);
        let lost = end - time - pace.end;
        pace.idle = (pace.idle + lost).min(most).saturating_sub(time / 8);
        pace.end = end;
    }

    /// A packet was granted for an output lane: whether it is congested after it.
    pub(super) fn look(&self, fill: &mut Fill) {
        if self.full.is_some_and(|full| fill.flits >= full) {
            fill.is_congested = true;
        } else if fill.flits <= self.over {
            fill.is_congested = false;
        }
    }

    /// Whether a packet of data that was granted for an output lane is marked.
    pub(super) fn marks(&self, fill: &mut Fill, is_root: bool, peer: Peer, flits: u16) -> bool {
        let may = match self.victims {
            _ if is_root => true,
            Victims::None => false,
            Victims::Hosts => matches!(peer, Peer::Host | Peer::Sink),
            Victims::All => true,
        };
        if !fill.is_congested || !may || flits < self.packet {
            return false;
        }
        if fill.skip > 0 {
            fill.skip -= 1;
            return false;
        }
        fill.skip = self.rate;
        true
    }
}
