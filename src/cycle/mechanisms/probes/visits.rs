//! Visits of agents in band (D48).

use super::Probes;
use super::network::Leads;
use crate::cycle::state::{Calendar, Outbox, Place, Worklists};
use crate::fabric::rows::{PacketRow, PortRow, Seen};
use crate::fabric::{Group, PacketRecord};
use bevy_ecs::change_detection::DetectChangesMut;
use bevy_ecs::prelude::{Local, Query, Res, ResMut};

/// What happens at switches in a cycle: visits of packets that passed a crossbar, and all of control networks.
pub(super) fn system(
    place: Local<'_, Place>,
    calendar: Res<'_, Calendar>,
    lists: Res<'_, Worklists>,
    mut probes: ResMut<'_, Probes>,
    mut outbox: ResMut<'_, Outbox>,
    records: Query<'_, '_, &Group<PacketRecord>>,
) {
    let now = calendar.now();
    let probes = probes.bypass_change_detection();
    if probes.next_out_of_band() <= now {
        let outbox = outbox.bypass_change_detection();
        let leads = Leads {
            tables: &place.shared.forwarding,
            own_routes: place.shared.own_routes.as_ref(),
        };
        probes.run_networks(now, leads, outbox);
    }
    if lists.grants.is_empty() || !probes.visits_in_band() {
        return;
    }
    let records = records.contiguous_iter().into_iter().flatten().next();
    let records: Seen<'_, PacketRow, PacketRecord> =
        Seen::new(Group::rows(records.unwrap_or_default()));
    for grant in lists.grants.iter().filter(|grant| grant.accepted) {
        probes.pass(now, grant.out, &records[grant.packet]);
    }
}

impl Probes {
    /// Whether packets visit agents.
    pub(super) fn visits_in_band(&self) -> bool {
        let mut classes = self.given.times.iter().enumerate();
        self.carries()
            || classes.any(|(number, times)| times.is_none() && self.visits_agents(number))
    }

    /// Whether a class of control packets has agents.
    pub(super) fn has_agents(&self, class: u16) -> bool {
        let number = self.number(class);
        number.is_some_and(|number| self.visits_agents(number))
    }

    /// Likewise, by its number.
    pub(super) fn visits_agents(&self, number: usize) -> bool {
        !self.agents[self.common(number)].is_empty()
    }

    /// A packet takes the channel of a port.
    #[inline]
    pub(super) fn pass(&mut self, now: u64, port: PortRow, record: &PacketRecord) {
        let Some(number) = self.number(record.class) else {
            return;
        };
        let content = self.contents.of(record.answer);
        if !content.visits {
            return;
        }
        if let Some(algorithm) = &self.given.algorithms[number] {
            let common = usize::from(self.given.common[number]);
            let agent = &mut self.agents[common][port.0 as usize];
            algorithm.visit(agent, now, &mut content.payload);
            self.visits += 1;
        }
    }
}
