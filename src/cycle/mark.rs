//! Marks packets that leave behind a queue: the FECN bit.
//!
//! Stage: `Slot::Mark` (congestion detection)
//! Reads: this cycle's grants, the requests that still stand
//! Writes: FECN bit of the granted packets
//! Cost: O(requests of the output lanes granted in this cycle); nothing when marking is off
//!
//! # Rules
//! 1. A packet granted in this cycle is marked when the flits of the other packets whose request for the same
//!    (output, lane) stands after all grants of the cycle reach the threshold.
//!
//! # Deviations
//! InfiniBand leaves the byte meaning of the threshold to the vendor; this is one reading of it. Root and
//! victim are not told apart. References: [`IBA`](crate::references::IBA) annex A10.

use super::state::{Grant, Message};
use super::view::View;
use crate::fabric::components::{NONE, Peer};

/// Runs the stage.
pub fn run<const W: usize>(view: &mut View<'_, W>) {
    let Some(threshold) = view.shared.marking_threshold() else {
        return;
    };
    let mut grants = std::mem::take(&mut view.work.grants);
    for grant in grants.iter().filter(|grant| grant.accepted) {
        if waiting_flits(view, grant.out, grant.lane) >= threshold {
            set_mark(view, grant);
        }
    }
    grants.clear();
    view.work.grants = grants;
    view.work.settled = 0;
}

/// Sets the bit, in the message when the packet has left the shard.
fn set_mark<const W: usize>(view: &mut View<'_, W>, grant: &Grant) {
    let out = &view.outs[grant.out as usize];
    if out.peer != Peer::Border {
        view.packets[grant.packet as usize].fecn = true;
        return;
    }
    let mut number = grant.packet;
    if view.shared.output_lane_buffer() != 0 {
        // last of its output lane, or sent in this cycle as the message that `transmit` noted
        let granted = &mut view.packets[grant.packet as usize];
        if granted.next == NONE {
            granted.fecn = true;
            return;
        }
        number = granted.next;
    }
    let shard = view.work.border[out.to as usize].shard as usize;
    if let Message::Head { packet, .. } = &mut view.work.outbox[shard][number as usize] {
        packet.fecn = true;
    }
}

/// Flits of the packets whose request for the lane stands.
fn waiting_flits<const W: usize>(view: &View<'_, W>, out: u32, lane: u32) -> u32 {
    let first_port = view.switches[view.outs[out as usize].owner as usize].first_port;
    let mut flits = 0;
    for (i, &word) in view.lanes[lane as usize].requests.iter().enumerate() {
        let mut rest = word;
        while rest != 0 {
            let bit = i as u16 * 64 + rest.trailing_zeros() as u16;
            rest &= rest - 1;
            flits += u32::from(view.queues[view.queue_of(first_port, bit, out) as usize].size);
        }
    }
    flits
}
