//! Makes the answers that are due, and what classes apart send.

use super::answers::{Answers, Way};
use crate::cycle::mechanisms::probes::Probes;
use crate::cycle::records::Records;
use crate::cycle::state::worklists::Created;
use crate::cycle::state::{Calendar, Place, Worklists};
use crate::cycle::view::column;
use crate::fabric::OutPort;
use crate::fabric::rows::{PortRow, Rows};
use crate::ids::HostId;
use bevy_ecs::change_detection::{ContiguousMut, DetectChangesMut};
use bevy_ecs::prelude::{Local, Query, Res, ResMut};
use std::cmp::Reverse;

/// Makes the answers of this cycle.
pub(super) fn system(
    place: Local<'_, Place>,
    calendar: Res<'_, Calendar>,
    mut answers: ResMut<'_, Answers>,
    mut probes: Option<ResMut<'_, Probes>>,
    mut lists: ResMut<'_, Worklists>,
    mut records: ResMut<'_, Records>,
    mut outs: Query<'_, '_, &mut OutPort>,
) {
    let now = calendar.now();
    let next = probes.as_ref().map_or(u64::MAX, |probes| probes.next_due());
    if answers.next().min(next) > now {
        return;
    }
    let making = Making {
        now,
        place: &place,
        lists: lists.bypass_change_detection(),
        records: records.bypass_change_detection(),
        outs: Rows::new(column!(outs)),
    };
    run(
        answers.bypass_change_detection(),
        making,
        probes.as_deref_mut(),
    );
}

/// What answers that are made are told to.
pub(super) struct Making<'a> {
    pub(super) now: u64,
    pub(super) place: &'a Place,
    pub(super) lists: &'a mut Worklists,
    pub(super) records: &'a mut Records,
    pub(super) outs: Rows<'a, PortRow, OutPort>,
}

/// Runs the stage.
#[inline(never)]
pub(super) fn run(answers: &mut Answers, mut making: Making<'_>, probes: Option<&mut Probes>) {
    let (now, place) = (making.now, making.place);
    let mut enter = |way: &Way, sequence: u32| {
        let ends = [HostId(way.source), HostId(way.destination)];
        making.records.created(now, way.class, ends, way.size);
        if making.lists.facts.created {
            making.lists.created.push(Created {
                host: way.host,
                class: way.class,
                size: way.size,
                destination: way.destination,
                sequence,
            });
        }
        let out = place.port(way.host);
        let port = &mut making.outs[out];
        port.request_lanes.insert(way.lane.into());
        if !port.visited {
            port.visited = true;
            making.lists.host_visits.push(out);
        }
    };
    while answers.next() <= now {
        let Some(Reverse((at, _, _, _, tail, value))) = answers.due.pop() else {
            break;
        };
        let Some(way) = answers.way(tail) else {
            continue;
        };
        for _ in 0..way.packets {
            let sequence = answers.queue(place.shared.numbering, &way, at, value);
            enter(&way, sequence);
        }
    }
    if let Some(probes) = probes {
        probes.make((now, place), answers, enter);
    }
}
