//! Takes what came from other shards out of their mail: the counterpart of [`post`](super::post), at the begin of a window.
//!
//! Reads: mail
//! Writes: calendar, packet pool, packets
//! Cost: O(packets and credits that came)

use crate::cycle::state::calendar::Ramp;
use crate::cycle::state::{Calendar, CreditMail, PacketMail, PacketPool};
use crate::fabric::rows::{PacketRow, Rows};
use crate::fabric::{Packet, PacketRecord};

/// What the stage works on.
pub struct Receiving<'a> {
    /// The calendar.
    pub calendar: &'a mut Calendar,
    /// The packet pool, which has room for all packets that came.
    pub pool: &'a mut PacketPool,
    /// Its packets.
    pub packets: Rows<'a, PacketRow, Packet>,
    /// Their records.
    pub records: Rows<'a, PacketRow, PacketRecord>,
}

/// Runs the stage for one shard's packets and credits.
pub fn run(
    receiving: &mut Receiving<'_>,
    packets: &mut Vec<PacketMail>,
    credits: &mut Vec<CreditMail>,
) {
    for item in packets.drain(..) {
        let row = receiving.pool.claim();
        receiving.packets[row] = item.packet;
        receiving.records[row] = item.record;
        let slot = receiving.calendar.at(item.at);
        slot.heads.push((item.lane, row));
    }
    for item in credits.drain(..) {
        let slot = receiving.calendar.at(item.at);
        slot.ramps.push(Ramp {
            lane: item.lane,
            flits: item.flits,
            step: item.step,
        });
    }
}
