//! Terms of the conservation laws: packets in output lanes and what they took.

use super::buffers::WaitingLane;
use crate::cycle::ledger::{Channels, Ledger};
use crate::cycle::look::Columns;
use crate::fabric::rows::{LaneRow, PacketRow};

/// Credits of the next hop, and of a packet larger than the buffer the slots in which its rest waits.
pub(super) fn enter(view: &dyn Columns, channels: Channels<'_>, ledger: &mut Ledger) {
    let shared = view.shared();
    let buffer = shared.switch.output_lane_buffer;
    for (lane, waiting) in view.column::<LaneRow, WaitingLane>().enumerate() {
        let (mut packet, mut flits) = (waiting.head, 0);
        while packet != PacketRow::NONE {
            ledger.holds(packet);
            let size = u32::from(view.packets()[packet].size);
            flits += size;
            if size > buffer {
                let inside = shared.switch.classifier.lane(waiting.queue);
                let incoming = channels[shared.numbering.port(inside)].reverse();
                ledger.claim(shared, incoming, inside, size - buffer);
            }
            packet = view.packets()[packet].next;
        }
        let out = shared.numbering.port(lane);
        ledger.claim(shared, channels[out], lane, flits);
        if flits != waiting.flits {
            let known = waiting.flits;
            ledger.breaks(format!(
                "an output lane counts {known} flits, its packets have {flits}"
            ));
        }
    }
}
