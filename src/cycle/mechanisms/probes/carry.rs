//! Packets of data that carry a payload and visit agents (D69).
//!
//! Stage: the end of `Slot::Inject`; only where a class carries
//! Reads: packets that started, what senders have laid
//! Writes: contents, the rows of contents in the records of packets, agents of hosts' channels
//! Cost: O(packets of such classes that start)

use super::Probes;
use crate::cycle::mechanism::{ShardBuilder, Site};
use crate::cycle::mechanisms::control::senders::Senders;
use crate::cycle::slot::Slot;
use crate::cycle::state::parcel::{Content, Kind};
use crate::cycle::state::{Calendar, Place, Worklists};
use crate::cycle::view::column;
use crate::fabric::components::NONE;
use crate::fabric::rows::{PacketRow, Rows};
use crate::fabric::{Group, PacketRecord};
use bevy_ecs::change_detection::{ContiguousMut, DetectChangesMut};
use bevy_ecs::prelude::{Local, Query, Res, ResMut};

/// Number of the class of control packets of each class that carries, by class; nothing where none does.
pub(super) fn carriers(site: &Site<'_>) -> Vec<Option<u16>> {
    let classes = &site.plan.classes;
    let first = site.plan.first_answers() as u16;
    let carriers = classes[..usize::from(first)].iter().map(|class| {
        let control = class.control.as_ref()?;
        (control.algorithm.carries()).then_some(control.answers - first)
    });
    let carriers: Vec<Option<u16>> = carriers.collect();
    if carriers.iter().all(Option::is_none) {
        return Vec::new();
    }
    carriers
}

/// The system, where a class carries.
pub(super) fn add<const W: usize>(shard: &mut ShardBuilder<'_, W>, probes: &Probes) {
    if probes.carries() {
        shard.last_system(Slot::Inject, "carry", system);
    }
}

fn system(
    place: Local<'_, Place>,
    calendar: Res<'_, Calendar>,
    lists: Res<'_, Worklists>,
    senders: Res<'_, Senders>,
    mut probes: ResMut<'_, Probes>,
    mut records: Query<'_, '_, &mut Group<PacketRecord>>,
) {
    if lists.sent.is_empty() {
        return;
    }
    let probes = probes.bypass_change_detection();
    let mut records: Rows<'_, PacketRow, _> = Rows::new(column!(records));
    for &row in &lists.sent {
        let record = &mut records[row];
        if !probes.carried_by(record) {
            continue;
        }
        let end = place.shared.flow_ends[record.flow as usize];
        record.answer = probes.contents.put(Content {
            kind: Kind::Data,
            visits: true,
            payload: senders.laid(end.row),
        });
        if let Some(way) = probes.given.ways[end.row as usize] {
            probes.pass(calendar.now(), place.port(way.host), record);
        }
    }
}

impl Probes {
    /// Whether packets of data carry something.
    pub(super) fn carries(&self) -> bool {
        !self.given.carriers.is_empty()
    }

    /// Whether a packet does.
    #[inline]
    pub(super) fn carried_by(&self, record: &PacketRecord) -> bool {
        let carrier = self.given.carriers.get(usize::from(record.class));
        record.flow != NONE && carrier.is_some_and(Option::is_some)
    }
}
