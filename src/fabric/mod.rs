//! The simulated hardware as components.
//!
//! One [`World`](bevy_ecs::world::World) holds one shard. Entity kinds, each in one dense table, spawned
//! in id order and never despawned, so that *row == local id*:
//!
//! | kind | components | rows |
//! |---|---|---|
//! | switch | [`Switch`] | local switches |
//! | port | [`OutPort`], [`InPort`] | connected ports of all local switches, then one port per local host |
//! | host | [`Host`] | local hosts |
//! | eight lanes | [`Group`] of [`OutLane`] | a power of two per port ([`Numbering`](numbering::Numbering)) |
//! | eight queues | [`Group`] of [`Queue`] | as many per lane as its [`Classifier`] says; FIFO: on the entity of their lanes |
//! | eight packets | [`Group`] of [`Packet`], of [`PacketRecord`] | a pool with a free list |
//!
//! References between entities are typed [`rows`]. A lane's capacity is seen from its sender: the credits of
//! a channel live in the [`OutLane`] rows of the sending port, the packets in the [`Queue`] rows of the
//! receiving port. Hosts use the same two: a host's injection channel is an output port with credits,
//! its ejection channel an input port.

#![expect(
    clippy::inline_always,
    reason = "rows, masks and their arithmetic cost nothing in the cycle only where they are inlined"
)]

pub mod bit_errors;
pub mod classifier;
pub mod components;
pub mod credits;
pub mod group;
pub mod mask;
pub mod numbering;
pub mod partition;
pub mod placement;
pub mod prefetch;
pub mod row_set;
pub mod rows;
pub mod source_queue;

pub use classifier::Classifier;
pub use components::{Host, InPort, OutLane, OutPort, Packet, PacketRecord, Peer, Queue, Switch};
pub use group::Group;
