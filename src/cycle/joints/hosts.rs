//! Joints of hosts: what they send, and what they are told of it.

use crate::cycle::state::messages::MessageKey;
use crate::cycle::state::parcel::Content;
use crate::fabric::components::NONE;
use crate::fabric::rows::HostRow;
use crate::fabric::source_queue::{SourceQueues, Waiting};
use crate::plan::ClassPlan;
use crate::traffic::Creation;
use bevy_ecs::component::Mutable;
use bevy_ecs::resource::Resource;

/// A packet that starts.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// The packet.
    pub packet: Waiting,
    /// Whether nothing of the lane could go after it.
    pub drained: bool,
    /// Its flow (global id), `NONE` of another packet.
    pub flow: u32,
    /// What it says, if it is an answer.
    pub answer: u32,
    /// Whether it is made in this moment.
    pub is_new: bool,
}

impl Taken {
    /// A packet that has waited in a queue and is none of a flow; `drained`: nothing can go after it.
    #[inline]
    pub fn queued(packet: Waiting, drained: bool) -> Self {
        Self {
            packet,
            drained,
            flow: NONE,
            answer: 0,
            is_new: false,
        }
    }
}

/// The state of mechanisms that the stages of hosts work on, a type for each joint: the stages are compiled for one set of them, and a
/// shard has those that its plan asks for.
pub trait Joints: 'static {
    /// What lanes send beside what waits in source queues.
    type Supply: Supply;
    /// What goes before it.
    type Replies: Replies;
    /// What makes packets in place of a process.
    type Messages: Messages;
    /// What source queues have room for.
    type Bounds: Bounds;
    /// What packets carry.
    type Contents: Contents;
}

/// State of a mechanism that may be in a shard.
pub trait State: Resource<Mutability = Mutable> {}

impl<R: Resource<Mutability = Mutable>> State for R {}

/// What the lanes of hosts send next; without flows it is the first packet of the lane's source queue.
pub trait Supply: State {
    /// Size of the packet that a lane would send next, `None`: there is none; `queue` its source queue.
    fn candidate(&mut self, queues: &SourceQueues, queue: usize, now: u64) -> Option<u16>;

    /// The packet of the last [`Self::candidate`] starts.
    fn take(&mut self, queues: &mut SourceQueues, queue: usize, now: u64) -> Option<Taken>;
}

/// Packets that go before all others of a lane; without answers there are none.
pub trait Replies: State {
    /// Size of the one that goes next in the lane of a source queue \[flits\].
    fn front(&self, queue: usize) -> Option<u16>;

    /// It starts.
    fn pop(&mut self, queue: usize) -> Option<Taken>;
}

/// Messages of classes that send them (D21); without them processes make all packets.
pub trait Messages: State {
    /// First cycle from `from` on in which a packet is to be made; `u64::MAX` = none is known.
    fn next(&self, from: u64) -> u64;

    /// Adds the rows of sources that make a packet in cycle `now`.
    fn collect(&mut self, now: u64, due: &mut Vec<u32>);

    /// The next packet of a row that was collected.
    fn create(&mut self, row: u32, class: &ClassPlan) -> Option<Creation>;

    /// All packets of a cycle are made.
    fn settle(&mut self);

    /// Whether the class sends messages: of others nothing is told.
    fn sends(&self, class: u16) -> bool;

    /// A packet starts on the channel of its host, which it leaves before cycle `free`.
    fn sent(&mut self, packet: MessageKey, free: u64);

    /// A packet that was made in cycle `created` is delivered at `host` in cycle `now`; returns when the first packet of its
    /// message was made if it was the last one to arrive.
    fn delivered(&mut self, packet: MessageKey, created: u64, host: u32, now: u64) -> Option<u64>;
}

/// Bounds of source queues; without them every packet that is made has a place.
pub trait Bounds: State {
    /// Takes a place for a packet that is made, when there is one.
    fn admit(&mut self, host: HostRow, class: u16) -> bool;

    /// A packet has left its queue.
    fn leave(&mut self, host: HostRow, class: u16);
}

/// What packets carry; without classes apart they carry nothing.
pub trait Contents: State {
    /// A packet leaves the shard: takes what it carries; `row` as its record says.
    fn take(&mut self, class: u16, row: u32) -> Option<Content>;
}
