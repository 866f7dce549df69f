//! What heads request that request several lanes, and what stands at an input lane where a packet stands in the queue of every output
//! that it may take (D84).
//!
//! A queue has its head alone; who comes next is found here, in the order in which packets came.
//!
//! Part of `Slot::Route` (`add`) and `Slot::Cross` (`next`, `remove`).
//! Cost: O(candidates) to add; O(what stands at the lane) to find who comes next, and to remove

use crate::fabric::rows::{LaneRow, PacketRow};
use serde::{Deserialize, Serialize};

/// A request of a head that requests several lanes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Request {
    /// Output lane.
    pub lane: LaneRow,
    /// Belongs to the escape network.
    pub escape: bool,
    /// Where packets go flit by flit, whether it takes the lane only if the buffer behind it is empty.
    pub needs_empty: bool,
}

/// What a packet requests once it is head of the queue of that output.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Stand {
    /// The packet; all that it may request stands together.
    pub packet: PacketRow,
    /// Lane that it may take.
    pub request: Request,
}

/// All that stands at an input lane, packets in the order in which they came.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Standing(Vec<Stand>);

impl Standing {
    /// What stands.
    pub fn all(&self) -> &[Stand] {
        &self.0
    }

    /// A packet that has come may take this, too.
    pub(in crate::cycle) fn add(&mut self, packet: PacketRow, request: Request) {
        self.0.push(Stand { packet, request });
    }

    /// What a packet may take.
    pub(in crate::cycle) fn of(&self, packet: PacketRow) -> impl Iterator<Item = Request> {
        let first = self.0.iter().position(|stand| stand.packet == packet);
        let own = self.0[first.unwrap_or(self.0.len())..].iter();
        let own = own.take_while(move |stand| stand.packet == packet);
        own.map(|stand| stand.request)
    }

    /// The first packet but this one that may take a lane that `is_of` an output.
    pub(in crate::cycle) fn next(
        &self,
        but: PacketRow,
        is_of: impl Fn(LaneRow) -> bool,
    ) -> Option<PacketRow> {
        let others = self.0.iter().filter(|stand| stand.packet != but);
        let mut of_output = others.filter(|stand| is_of(stand.request.lane));
        of_output.next().map(|stand| stand.packet)
    }

    /// A packet stands here no more.
    pub(in crate::cycle) fn remove(&mut self, packet: PacketRow) {
        self.0.retain(|stand| stand.packet != packet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_stand_in_the_order_in_which_they_came() {
        let mut standing = Standing::default();
        let request = |lane| Request {
            lane: LaneRow(lane),
            escape: false,
            needs_empty: false,
        };
        for (packet, lane) in [(5, 1), (5, 2), (3, 2), (9, 1)] {
            standing.add(PacketRow(packet), request(lane));
        }
        let lanes = |of: &Standing, packet| -> Vec<u32> {
            of.of(PacketRow(packet))
                .map(|request| request.lane.0)
                .collect()
        };
        assert_eq!(lanes(&standing, 5), [1, 2]);
        assert_eq!(lanes(&standing, 4), [0; 0]);
        let next = |of: &Standing, but, lane| of.next(PacketRow(but), |of| of == LaneRow(lane));
        assert_eq!(next(&standing, 5, 1), Some(PacketRow(9)));
        assert_eq!(next(&standing, 3, 2), Some(PacketRow(5)));
        assert_eq!(next(&standing, 9, 3), None);
        standing.remove(PacketRow(5));
        assert_eq!(lanes(&standing, 5), [0; 0]);
        assert_eq!(standing.all().len(), 2);
        assert_eq!(next(&standing, 9, 2), Some(PacketRow(3)));
    }
}
