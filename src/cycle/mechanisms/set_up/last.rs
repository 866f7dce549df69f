//! Packets of data that take the routes of their flows down: the last ones, where `release: LastPacket` says so (D67).
//!
//! Stage: the end of `Slot::Inject`; only where a class has that
//! Reads: packets that started, how much their flows have started
//! Writes: the word of their records that says so
//! Cost: O(packets that start)

use crate::cycle::mechanisms::flows::Flows;
use crate::cycle::state::{Place, Worklists};
use crate::cycle::view::column;
use crate::fabric::components::NONE;
use crate::fabric::rows::{PacketRow, Rows};
use crate::fabric::{Group, PacketRecord};
use bevy_ecs::change_detection::ContiguousMut;
use bevy_ecs::prelude::{Local, Query, Res};

/// Word of a packet that takes the route of its flow down.
pub(super) const TAKES_DOWN: u32 = 1;

/// The system.
pub(super) fn system(
    place: Local<'_, Place>,
    lists: Res<'_, Worklists>,
    flows: Res<'_, Flows>,
    mut records: Query<'_, '_, &mut Group<PacketRecord>>,
) {
    let routes = place.shared.own_routes.as_ref();
    let Some(set_up) = routes.and_then(|routes| routes.set_up()) else {
        return;
    };
    if lists.sent.is_empty() {
        return;
    }
    let mut records: Rows<'_, PacketRow, PacketRecord> = Rows::new(column!(records));
    for &row in &lists.sent {
        let record = &mut records[row];
        if record.flow == NONE || !set_up.ends_with_packet(record.class) {
            continue;
        }
        let end = place.shared.flow_ends[record.flow as usize];
        if flows.rows()[end.row as usize].started_flits() == set_up.size(record.flow) {
            record.answer = TAKES_DOWN;
        }
    }
}
