//! Takes delivered packets out of the fabric and records them.
//!
//! Stage: `Stage::Consume` (ejection)
//! Reads: packets whose tail is at its host in this cycle
//! Writes: records, packet pool
//! Cost: O(packets delivered)
//!
//! # Rules
//! 1. Delivery cycle = arrival of the tail (or its consumption by a slow sink); network latency = delivery -
//!    start on the first channel, packet latency = delivery - creation (model rule 11).
//!
//! # Deviations
//! The credits of a host at link rate were arranged when its last switch sent the packet.

use super::view::View;

/// Runs the stage.
#[inline]
pub fn run<const W: usize>(view: &mut View<'_, W>) {
    let mut consumed = std::mem::take(&mut view.work.consumed);
    for row in consumed.drain(..) {
        let packet = &view.packets[row as usize];
        let record = &view.records[row as usize];
        view.work.records.delivered(view.now, packet, record);
        view.work.release_packet(row);
    }
    view.work.consumed = consumed;
}
