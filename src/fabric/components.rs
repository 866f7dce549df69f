//! Components: the state of switches, ports, lanes, queues and packets.
//!
//! Times are absolute cycles. Who writes what: `deliver` and `route` append to queues and raise requests,
//! `cross` takes packets out and moves pointers, `inject` drives host outputs. A switch's state is written
//! by stages that work on this switch; the one exception is a credit ramp written into the sender's
//! [`OutLane`] at grant time, which carries the cycle from which it counts (always later than now).

use super::mask::{LaneMask, Mask, QueueMask};
use super::rows::{FarEnd, PacketRow, PortRow, QueueRow, Seen, SwitchRow, TurnRow};
use bevy_ecs::component::Component;
use serde::{Deserialize, Serialize};

/// No number: end of a list, no switch.
pub const NONE: u32 = u32::MAX;

/// A switch with bit masks over its inputs or their lanes, see [`Numbering`](super::numbering::Numbering).
#[derive(Component, Clone, Debug, Serialize, Deserialize)]
pub struct Switch<const W: usize> {
    /// Bits of the inputs that can send one more packet.
    pub free: Mask<W>,
    /// Its first port.
    pub first_port: PortRow,
    /// Row of this switch in the forwarding table: its global id.
    pub global: u32,
}

/// What is at the far end of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Peer {
    /// A port of this shard that belongs to a switch.
    Switch,
    /// A port of this shard that belongs to a host.
    Host,
    /// The same, of a host that always has room, so that credits are not counted: it consumes at link rate and has a buffer
    /// deep enough for the credit round trip.
    Sink,
    /// An entry of the shard's border table: the far end is in another shard.
    Border,
}

/// Sending side of a port (or of a host).
#[derive(Component, Clone, Debug, Serialize, Deserialize)]
pub struct OutPort {
    /// First cycle in which the output can be granted again.
    pub free_at: u64,
    /// Far end, of the kind that `peer` says.
    pub to: FarEnd,
    /// Channel latency and, without output lanes, crossbar delay \[cycles\].
    pub latency: u32,
    /// Owning switch; of a host's port without meaning.
    pub owner: SwitchRow,
    /// First entry of the lane profile of this output.
    pub profile: u32,
    /// First of its pointers over the lanes of each input of the switch.
    pub turns: TurnRow,
    /// Cycles per flit.
    pub step: u16,
    /// Output lanes with a standing request.
    pub request_lanes: LaneMask,
    /// Lane round robin: the lane that is asked first.
    pub lane_pointer: u8,
    /// Input round robin: the input that is asked first.
    pub input_pointer: u8,
    /// Number of this port within its switch.
    pub index: u8,
    /// Kind of the far end.
    pub peer: Peer,
    /// A wake-up at `free_at` is in the calendar.
    pub wake_scheduled: bool,
    /// On this cycle's visit list.
    pub visited: bool,
}

impl OutPort {
    /// Whether the receiver always has room: credits are not counted.
    #[inline(always)]
    pub fn is_boundless(&self) -> bool {
        self.peer == Peer::Sink
    }
}

/// Receiving side of a port (or of a host). One cache line.
#[derive(Component, Clone, Debug, Serialize, Deserialize)]
#[repr(align(64))]
pub struct InPort {
    /// First cycle in which the port can send again (one packet at a time).
    pub free_at: u64,
    /// Cycle of the last grant of the running allocation (scratch of `arbitrate`).
    pub granted_in: u64,
    /// That grant (scratch of `arbitrate`).
    pub grant: u32,
    /// Sender, of the kind that `peer` says.
    pub from: FarEnd,
    /// Cycles from a slot's release until its credit counts at the sender.
    pub credit_latency: u32,
    /// Queue of the packet that leaves until `free_at` (one packet at a time); of the one that keeps the port from flit to
    /// flit, if one does (D65).
    pub leaving_queue: QueueRow,
    /// Owning switch; of a host's port without meaning.
    pub owner: SwitchRow,
    /// Offset this input adds to an output's lane profile.
    pub profile_offset: u32,
    /// Start of the row of the forwarding table that packets of this input are looked up in.
    pub table_start: u32,
    /// Marks of the non-empty queues, see [`Classifier`](super::classifier::Classifier).
    pub occupied: QueueMask,
    /// Packets leaving now (input speed-up above 1).
    pub leaving: u16,
    /// Accept round robin: the output asked first.
    pub accept_pointer: u16,
    /// Number of this port within its switch.
    pub index: u8,
    /// Kind of the sender.
    pub peer: Peer,
    /// A wake-up at `free_at` is in the calendar.
    pub wake_scheduled: bool,
}

/// A host. Its channels are a port of their own.
#[derive(Component, Clone, Copy, Debug)]
pub struct Host {
    /// Global id.
    pub id: u32,
}

/// Sending side of a lane: credits and the requests for it. A hop waits for these rows more than for any other: with one word of
/// requests two of them are a cache line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(align(32))]
pub struct OutLane<const W: usize> {
    /// First cycle in which a credit of the running ramp counts.
    pub ramp_start: u64,
    /// Flits sent since the start of the run, modulo 2^32: only differences count.
    pub sent: u32,
    /// Credits in hand, without the running ramp \[flits\].
    pub credits: u32,
    /// Credits of the running ramp that are not in `credits` \[flits\].
    pub ramp_flits: u16,
    /// Cycles between two credits of the ramp.
    pub ramp_step: u16,
    /// Request round robin within the lane: the bit asked first.
    pub pointer: u16,
    /// Starved: the smallest packet that waits for credits \[flits\]; 0 = none does.
    pub need: u16,
    /// Bits of the heads that want this lane.
    pub requests: Mask<W>,
}

/// A queue of packets at an input.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Queue {
    /// First packet.
    pub head: PacketRow,
    /// Last packet.
    pub tail: PacketRow,
    /// The output the head requests.
    pub out: PortRow,
    /// Cycle in which the head raised its request, modulo 2^32: only differences count.
    pub since: u32,
    /// Size of the requesting head \[flits\].
    pub size: u16,
    /// Output lane the head requests.
    pub out_lane: u8,
    /// The head has raised its request.
    pub requesting: bool,
    /// A packet of this queue is leaving, so the next is not head yet (input speed-up above 1).
    pub leaving: bool,
}

impl Queue {
    /// For how long the request of the head has stood in cycle `now` \[cycles\].
    #[inline(always)]
    pub fn waited(&self, now: u64) -> u32 {
        (now as u32).wrapping_sub(self.since)
    }

    /// Its packets in their order, as `packets` links them.
    pub fn packets<'a>(
        &self,
        packets: Seen<'a, PacketRow, Packet>,
    ) -> impl Iterator<Item = PacketRow> + use<'a> {
        let (head, tail) = (self.head, self.tail);
        let first = (head != PacketRow::NONE).then_some(head);
        std::iter::successors(first, move |&row| (row != tail).then(|| packets[row].next))
    }

    /// An empty queue.
    pub const EMPTY: Self = Self {
        head: PacketRow::NONE,
        tail: PacketRow::NONE,
        out: PortRow::NONE,
        since: 0,
        size: 0,
        out_lane: 0,
        requesting: false,
        leaving: false,
    };
}

/// What every hop needs of a packet.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Packet {
    /// Next packet of the same queue; meaningless in its last packet.
    pub next: PacketRow,
    /// Destination host (global id).
    pub destination: u32,
    /// Size \[flits\].
    pub size: u16,
    /// Key of the lane map: service level * layers + path layer; the last key is VL15.
    pub key: u8,
    /// Switches passed.
    pub hops: u8,
    /// Congestion mark.
    pub fecn: bool,
    /// Adaptive routing with VOQ: the output of the switch that it has chosen, as its number there.
    pub output: u8,
    /// Lane of that output.
    pub lane: u8,
}

/// What only the ends of a packet's life need.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct PacketRecord {
    /// Creation cycle.
    pub created: u64,
    /// Cycle in which its first flit entered the first channel.
    pub injected: u64,
    /// Cycle of its current request (first come first served); in an output lane the first cycle in which the
    /// channel may take it.
    pub requested: u64,
    /// Source host (global id).
    pub source: u32,
    /// Number within its source.
    pub sequence: u32,
    /// Adaptive routing: switch it goes through first. Where flows have routes of their own: place of its output in the
    /// list of all, under way of the one before, or the output that a switch has chosen for it; [`NONE`] of a packet that goes by
    /// the tables.
    pub via: u32,
    /// Adaptive routing: word of the engine.
    pub word: u16,
    /// Traffic class.
    pub class: u16,
    /// Flow (global id), [`NONE`] of other packets.
    pub flow: u32,
    /// What an answer says; of a packet that carries a payload its row; of one of data that takes its route down 1.
    pub answer: u32,
}

impl Packet {
    /// An unused pool entry.
    pub const UNUSED: Self = Self {
        next: PacketRow::NONE,
        destination: 0,
        size: 0,
        key: 0,
        hops: 0,
        fecn: false,
        output: 0,
        lane: 0,
    };

    /// The output that it has chosen, and the lane; `first`: the first port of its switch.
    #[inline(always)]
    pub fn chosen(&self, first: PortRow) -> (PortRow, u8) {
        (first.plus(self.output.into()), self.lane)
    }
}

impl PacketRecord {
    /// An unused pool entry.
    pub const UNUSED: Self = Self {
        created: 0,
        injected: 0,
        requested: 0,
        source: 0,
        sequence: 0,
        via: NONE,
        word: 0,
        class: 0,
        flow: NONE,
        answer: 0,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hop touches these: a field more may cost a cache line more.
    #[test]
    fn rows_are_small() {
        assert_eq!(size_of::<OutPort>(), 40);
        assert_eq!(size_of::<InPort>(), 64);
        assert_eq!(size_of::<OutLane<1>>(), 32);
        assert_eq!(size_of::<Queue>(), 24);
        assert_eq!(size_of::<Packet>(), 16);
        assert_eq!(size_of::<PacketRecord>(), 48);
    }
}
