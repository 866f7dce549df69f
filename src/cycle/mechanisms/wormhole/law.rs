//! Terms of the conservation laws: packets on their way to hosts, and the slots of single flits.

use super::{Flits, Held, Present};
use crate::cycle::ledger::{Channels, Ledger};
use crate::cycle::look::Columns;
use crate::fabric::rows::{LaneRow, PacketRow, QueueRow};

/// A packet that holds the lane to a host has left its queue; a flit has a slot from its passing on.
pub(super) fn enter<const W: usize>(
    view: &dyn Columns,
    channels: Channels<'_>,
    ledger: &mut Ledger,
) {
    let shared = view.shared();
    let mut claim = |lane: LaneRow, flits: u32| {
        let incoming = channels[shared.numbering.port(lane)].reverse();
        ledger.claim(shared, incoming, lane, flits);
    };
    for (queue, present) in view.column::<QueueRow, Present>().enumerate() {
        claim(shared.switch.classifier.lane(queue), present.flits);
    }
    if let Some(flits) = view.resource::<Flits>() {
        for lane in flits.lanes() {
            claim(lane, 1);
        }
    }
    for (_, held) in view.column::<LaneRow, Held>().enumerate() {
        if held.left > 0 && held.packet != PacketRow::NONE {
            ledger.holds(held.packet);
        }
    }
}
