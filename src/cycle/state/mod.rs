//! State of a shard beside the columns of its entities: narrow resources, each with one subject.
//!
//! | resource | subject |
//! |---|---|
//! | [`Place`] | tables and options, where the shard's rows belong; never changes |
//! | [`Calendar`] | the current cycle, and everything that takes time |
//! | [`Worklists`] | what is to be done in this cycle, and its facts |
//! | [`PacketPool`] | packet rows in use |
//! | [`Outbox`] | mail for other shards |
//!
//! Sources, their queues and the counters stand with the stages that own them: [`generate`](super::stages::generate),
//! [`records`](super::records). What only some fabrics have is in the folder of its mechanism, but for data that the core hands on.

mod adaptation;
pub mod calendar;
mod flow_ends;
pub mod mail;
pub mod messages;
mod own_routes;
pub mod parcel;
pub mod pool;
pub mod ring;
pub(in crate::cycle) mod set_up_flows;
pub mod shared;
pub mod wheel;
pub mod worklists;

pub use adaptation::{Adaptation, Management};
pub use calendar::Calendar;
pub use flow_ends::{FlowEnd, flow_ends};
pub use mail::{Border, CreditMail, Mail, Note, Outbox, PacketMail};
pub use own_routes::OwnRoutes;
pub use pool::PacketPool;
pub use shared::{Forwarding, Outputs, Shared, SwitchRules, Traffic};
pub use worklists::{CreditReturn, Departure, Dropped, Fact, Worklists};

use crate::fabric::rows::{BorderRow, HostRow, LaneRow, PacketRow, PortRow, QueueRow, Row};
use crate::qos::vl_arbitration::VlChoice;
use bevy_ecs::resource::Resource;
use bevy_ecs::world::{FromWorld, World};
use std::sync::Arc;

/// What does not change in a shard. A stage keeps a copy of its own, which costs nothing to fetch.
#[derive(Resource, Clone, Debug)]
pub struct Place {
    /// Tables and options, one copy for all shards.
    pub shared: Arc<Shared>,
    /// First port of a host: rows from here on belong to hosts.
    pub first_host_port: PortRow,
    /// Channels that leave the shard.
    pub border: Arc<[Border]>,
    /// Rows are asked for ahead ([`prefetch`](super::prefetch)).
    pub prefetches: bool,
}

impl FromWorld for Place {
    /// A copy of the shard's.
    fn from_world(world: &mut World) -> Self {
        world.resource::<Self>().clone()
    }
}

impl Place {
    /// Whether a port belongs to a host.
    #[inline]
    pub fn is_host(&self, port: PortRow) -> bool {
        port >= self.first_host_port
    }

    /// The host a port belongs to.
    #[inline]
    pub fn host(&self, port: PortRow) -> HostRow {
        HostRow(port.minus(self.first_host_port))
    }

    /// Port of a host.
    #[inline]
    pub fn port(&self, host: HostRow) -> PortRow {
        self.first_host_port.plus(host.0)
    }

    /// A channel that leaves the shard.
    #[inline]
    pub fn border(&self, row: BorderRow) -> Border {
        self.border[row.index()]
    }
}

/// A proposed, then accepted, transfer of one packet.
#[derive(Clone, Copy, Debug)]
pub struct Grant {
    /// Output.
    pub out: PortRow,
    /// Output lane.
    pub lane: LaneRow,
    /// Input queue.
    pub queue: QueueRow,
    /// Input.
    pub input: PortRow,
    /// Request bit of the queue within the switch.
    pub bit: u16,
    /// Whether the input accepted.
    pub accepted: bool,
    /// The output took its turn by inputs.
    pub by_inputs: bool,
    /// What VL arbitration chose.
    pub choice: Option<VlChoice>,
    /// The packet, once it is carried out.
    pub packet: PacketRow,
}
