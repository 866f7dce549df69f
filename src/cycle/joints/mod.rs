//! The places inside a hop where a mechanism may act: what stages ask, and who answers is not theirs to know.
//!
//! A joint of the fabric is a trait that its mechanism implements for the [view](super::View) of every rule set, so a stage that imports the joint
//! calls the mechanism itself: nothing is looked up, and what a rule set leaves out is not compiled. Every method says when it is called;
//! without the mechanism it is not, or says what a plain fabric has.
//!
//! | joint | asked by | answered by |
//! |---|---|---|
//! | [`Way`] | `Route`, `Deliver`, `Arbitrate`, `Cross` | adaptive routing |
//! | [`LaneChoice`] | `Arbitrate`, `Cross`, `Transmit`, `Inject` | VL arbitration by tables |
//! | [`Behind`] | `Arbitrate`, `Cross` and what wakes outputs | output lanes |
//! | [`Sending`] | `Cross`, `Transmit`, `Inject` | link-level retry |
//! | [`Sinking`] | `Route` | sinks |
//!
//! A joint of hosts is a trait of the state that a mechanism has in the shard; [`Joints`] names all of them, and stages are generic over it.
//!
//! | joint | asked by | answered by |
//! |---|---|---|
//! | [`Supply`], [`Replies`] | `Inject` | flows, control |
//! | [`Messages`] | `Generate`, `Inject`, `Consume` | messages |
//! | [`Bounds`] | `Generate`, `Inject` | bounded source queues |
//! | [`Contents`] | the end of `Consume` | probes |
//!
//! Cost: none of its own.

mod hosts;

pub use hosts::{Bounds, Contents, Joints, Messages, Replies, Supply, Taken};

use super::state::{Adaptation, Grant};
use crate::fabric::mask::LaneMask;
use crate::fabric::rows::{LaneRow, PacketRow, PortRow, QueueRow};
use crate::qos::vl_arbitration::VlChoice;

/// Output and lanes of a head; without adaptive routing tables or a route of its own say them, and a head requests one.
pub trait Way {
    /// The packets that have come in a cycle choose, where packets are sorted by their choice (D75), or stand wherever they may go (D84).
    fn sort(&mut self, adaptation: &Adaptation, arrived: &[(LaneRow, PacketRow)]);

    /// After the arrivals of a cycle: the new heads choose, queues in the order of their rows.
    fn choose(&mut self, adaptation: &Adaptation);

    /// The head of a queue requests, where packets stand in several queues (D84); nothing if it does already, or one is leaving the queue.
    fn rise(&mut self, queue: QueueRow);

    /// A packet that has come to a lane in this cycle is dropped, and stands nowhere (D84).
    fn retire(&mut self, lane: LaneRow, packet: PacketRow);

    /// The input of a head that requests several outputs is free: they are looked at again.
    fn offer(&mut self, queue: QueueRow);

    /// A head is granted a lane, or dropped: it no longer waits for that, and no longer requests anything else; `bit`: its requests'.
    fn withdraw(&mut self, queue: QueueRow, lane: LaneRow, bit: u16);

    /// What an input prefers about a grant of a lane to the head of a queue, less first; all are alike where heads request one output.
    fn preference(&self, queue: QueueRow, lane: LaneRow) -> (bool, u32);

    /// Whether the head of a queue takes a lane only if the buffer behind that is empty (D76).
    fn needs_empty(&self, queue: QueueRow, lane: LaneRow) -> bool;

    /// Whether the buffer behind a lane is empty, as far as credits tell; that of a host always.
    fn is_empty_behind(&self, lane: LaneRow) -> bool;

    /// The last flit of a packet passes over a lane that it has held, or its header is dropped: it is in nobody's way there any more.
    fn release(&mut self, lane: LaneRow, flits: u16);
}

/// Which lane has its turn by weights; without tables lanes take turns by round robin, and none of these is called but [`Self::kind`].
pub trait LaneChoice {
    /// The lane that the arbiter of output `port` serves among `eligible` ones, of which there are some. Under the legacy rules
    /// it moves, and `None` is a bubble after which it is asked again in the next cycle; else nothing changes.
    fn consult(&mut self, port: PortRow, eligible: LaneMask) -> Option<VlChoice>;

    /// [`Self::consult`] for the lanes of input `port`.
    fn consult_input(&mut self, port: PortRow, eligible: LaneMask) -> Option<VlChoice>;

    /// The lane that was chosen at an output has used its weight.
    fn commit(&mut self, port: PortRow, choice: VlChoice, flits: u16);

    /// The lane of a crossbar grant has used its weight, at the output, or at the input if VL arbitration acts there.
    fn commit_grant(&mut self, grant: &Grant, flits: u16);

    /// Which of the grants of an input it accepts first (D71), by their output lanes: those of the lowest kind; one kind without
    /// such an order.
    fn kind(&self, lane: LaneRow) -> u16;
}

/// What lies behind the crossbar; without output lanes the channel, which has room by the credits of the next hop.
pub trait Behind {
    /// Largest packet that a lane of an output takes now: by its credits, and by what waits behind the crossbar.
    fn room(&self, lane: LaneRow) -> u32;

    /// First cycle, maybe past, in which a lane takes a packet, as far as known ramps tell.
    fn room_at(&self, lane: LaneRow, flits: u16) -> Option<u64>;

    /// A packet that stalls half-way is granted: it holds input and output until the channel takes it, and no wake-up is due before.
    fn hold(&mut self, grant: &Grant) -> u64;

    /// A packet that was granted now passes the crossbar into its output lane.
    fn enter(&mut self, grant: &Grant, packet: PacketRow, flits: u16, until: u64);

    /// Channels that are due take what waits for them.
    fn transmit(&mut self);
}

/// What comes late over a channel; without errors nothing does.
pub trait Sending {
    /// A packet of so many flits, or a flit, starts on the channel of a port: what it is late by \[cycles\].
    fn late(&mut self, out: PortRow, flits: u16) -> u64;

    /// A packet is granted to an output without output lanes, which what is repeated keeps for longer; what it is late by \[cycles\].
    fn repeat(&mut self, out: PortRow, flits: u16) -> u64;
}

/// Hosts that take packets at a rate of their own; without sinks packets are delivered as they arrive, and this is not called.
pub trait Sinking {
    /// A packet at a host may start draining from now on.
    fn arrive_at_sink(&mut self, lane: LaneRow, packet: PacketRow);
}
