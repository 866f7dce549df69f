//! A sink that takes single flits: a slow one (D12, D78), or that of a host with bounded answers (D57).

use crate::reference::link::Link;
use crate::reference::packet::{Flit, Packet, PacketId};
use crate::reference::rooms::Rooms;
use crate::reference::sink::flits_of_lane;

/// Takes one flit at a time, lanes in turn.
#[derive(Debug)]
pub(in crate::reference) struct FlitSink {
    /// Cycles per flit.
    pace: u64,
    /// Next lane; VL15 is the last one.
    pointer: usize,
    /// First cycle in which it can take a flit again.
    free_at: u64,
    /// The flit that it takes in this cycle, until it is consumed.
    pub(in crate::reference) taken: Option<Flit>,
    /// Packet of the last flit taken, by lane.
    pub(in crate::reference) begun: Vec<Option<PacketId>>,
}

impl FlitSink {
    pub(in crate::reference) fn new(pace: u64, lanes: usize) -> Self {
        Self {
            pace,
            pointer: 0,
            free_at: 0,
            taken: None,
            begun: vec![None; lanes],
        }
    }

    /// Takes a flit of the buffer in this cycle, whose arrivals are there, but the first one of a packet only with room for its
    /// answer; returns whether all that are there are held.
    pub(in crate::reference) fn take(
        &mut self,
        link: &Link,
        rooms: &mut Rooms,
        packets: &[Packet],
        now: u64,
    ) -> bool {
        assert_eq!(self.taken, None);
        if now < self.free_at {
            return false;
        }
        let lanes = self.begun.len();
        let mut is_held = false;
        for lane in (0..lanes).map(|step| (self.pointer + step) % lanes) {
            let Some(flit) = flits_of_lane(link, lane).next() else {
                continue;
            };
            let packet = &packets[flit.packet];
            if flit.index == 0 && !rooms.has_room(packet) {
                is_held = true;
                continue;
            }
            if flit.index == 0 {
                rooms.take(packet);
                self.begun[lane] = Some(flit.packet);
            }
            assert_eq!(self.begun[lane], Some(flit.packet), "packets interleaved");
            self.pointer = (lane + 1) % lanes;
            self.free_at = now + self.pace;
            self.taken = Some(flit);
            return false;
        }
        is_held
    }
}
