//! Terms of the conservation laws: packets in output lanes and what they took.

use super::buffers::WaitingLane;
use crate::cycle::ledger::Ledger;
use crate::cycle::look::Columns;
use crate::fabric::components::NONE;
use crate::ids::ChannelId;

/// Credits of the next hop, and of a packet larger than the buffer the slots in which its rest waits.
pub(super) fn enter(view: &dyn Columns, channels: &[ChannelId], ledger: &mut Ledger) {
    let shared = view.shared();
    let (buffer, stride) = (
        shared.switch.output_lane_buffer,
        shared.switch.voq_stride.max(1),
    );
    for (lane, waiting) in (0u32..).zip(view.column::<WaitingLane>()) {
        let (mut packet, mut flits) = (waiting.head, 0);
        while packet != NONE {
            ledger.holds(packet);
            let size = u32::from(view.packets()[packet as usize].size);
            flits += size;
            if size > buffer {
                let inside = waiting.queue / stride;
                let incoming = channels[(inside >> shared.lane_shift) as usize].reverse();
                ledger.claim(shared, incoming, inside, size - buffer);
            }
            packet = view.packets()[packet as usize].next;
        }
        let out = (lane >> shared.lane_shift) as usize;
        ledger.claim(shared, channels[out], lane, flits);
        if flits != waiting.flits {
            let known = waiting.flits;
            ledger.breaks(format!(
                "an output lane counts {known} flits, its packets have {flits}"
            ));
        }
    }
}
