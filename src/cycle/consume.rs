//! Takes delivered packets out of the fabric and records them.
//!
//! Stage: `Slot::Consume` (ejection)
//! Reads: packets whose tail is at its host in this cycle
//! Writes: records, packet pool, messages
//! Cost: O(packets delivered)
//!
//! # Rules
//! 1. Delivery cycle = arrival of the tail (or its consumption by a slow sink); network latency = delivery -
//!    start on the first channel, packet latency = delivery - creation (model rule 11).
//! 2. A message is complete with its last packet; what waits for it goes on from the next cycle on (D21).
//!
//! # Deviations
//! The credits of a host at link rate were arranged when its last switch sent the packet.

use super::generate::replay::MessageKey;
use super::view::View;

/// Runs the stage.
#[inline]
pub fn run<const W: usize>(view: &mut View<'_, W>) {
    let mut consumed = std::mem::take(&mut view.work.consumed);
    for row in consumed.drain(..) {
        let packet = &view.packets[row as usize];
        let record = &view.records[row as usize];
        view.work.records.delivered(view.now, packet, record);
        if let Some(replay) = &mut view.work.replay
            && replay.sends(record.class)
        {
            let name = MessageKey {
                source: record.source,
                class: record.class,
                first: record.sequence,
            };
            let complete = replay.delivered(name, record.created, packet.destination, view.now);
            if let Some(created) = complete {
                view.work.records.message(view.now, record.class, created);
            }
        }
        view.work.release_packet(row);
    }
    view.work.consumed = consumed;
}
