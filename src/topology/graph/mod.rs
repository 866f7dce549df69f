//! The graph: every switch, host, port and channel of a fabric, read-only once built.
//!
//! Links are full duplex: link `l` is channel `2l` (from its first to its second end) and channel
//! `2l + 1` (back). Switch ports are numbered from 1 as in InfiniBand; a host has exactly one port,
//! numbered 1. A channel adapter with two cables is two hosts.
//!
//! Cost: memory O(switches + hosts + ports + channels).

pub mod builder;
pub mod identities;
pub mod limits;
pub(super) mod link_kind;
pub mod link_rate;
pub mod shape;
pub mod tree_ways;

use super::structure::Structure;
use crate::ids::{ChannelId, HostId, LinkId, SwitchId};
use std::sync::Arc;

pub use shape::{
    ConcentratedMeshShape, DragonflyShape, EnrichedTreeShape, FlyShape, GridShape, HyperXShape,
    HypercubeShape, Shape, TreeShape, XgftShape,
};
pub use tree_ways::{Side, TreeWays};

/// Where a channel starts or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Endpoint {
    /// Port (numbered from 1) of a switch.
    Switch(SwitchId, u16),
    /// The only port of a host.
    Host(HostId),
}

impl Endpoint {
    /// The switch of this end, when it is one.
    pub const fn switch(self) -> Option<SwitchId> {
        match self {
            Self::Switch(switch, _) => Some(switch),
            Self::Host(_) => None,
        }
    }

    /// The host of this end, when it is one.
    pub const fn host(self) -> Option<HostId> {
        match self {
            Self::Host(host) => Some(host),
            Self::Switch(..) => None,
        }
    }
}

/// Speed and length of one channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelTiming {
    /// Time one flit takes on the channel \[cycles per flit\], at least 1.
    pub cycles_per_flit: u32,
    /// Propagation \[cycles\], at least 1.
    pub latency: u32,
}

impl Default for ChannelTiming {
    /// The reference link: one flit per cycle, one cycle of propagation.
    fn default() -> Self {
        Self {
            cycles_per_flit: 1,
            latency: 1,
        }
    }
}

/// One direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Sending end.
    pub from: Endpoint,
    /// Receiving end.
    pub to: Endpoint,
    /// Speed and length.
    pub timing: ChannelTiming,
}

/// A switch as built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchNode {
    /// Name shown to people.
    pub name: String,
    /// InfiniBand node GUID, 0 when the topology has none.
    pub guid: u64,
    /// LID of the management port, 0 when the topology has none.
    pub lid: u32,
    /// Number of ports, connected or not.
    pub port_count: u16,
}

/// A host as built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostNode {
    /// Name shown to people.
    pub name: String,
    /// InfiniBand port GUID, 0 when the topology has none.
    pub guid: u64,
    /// LID, 0 when the topology has none.
    pub lid: u32,
}

/// A built fabric graph. Made by [`GraphBuilder`](builder::GraphBuilder) only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    pub(super) switches: Vec<SwitchNode>,
    pub(super) hosts: Vec<HostNode>,
    pub(super) channels: Vec<Channel>,
    /// First row of each switch in `port_channel`; one more entry than switches.
    pub(super) first_port: Vec<u32>,
    /// Outgoing channel of each switch port, in (switch, port) order.
    pub(super) port_channel: Vec<Option<ChannelId>>,
    /// Outgoing channel of each host.
    pub(super) host_channel: Vec<ChannelId>,
    pub(super) shape: Shape,
    /// The regular topology this is, as a scenario writes it; `None` when it is none or not told.
    pub(super) form: Option<String>,
    /// Topologies that it is though it was not built as one.
    pub(super) structures: Vec<Arc<Structure>>,
    pub(super) notes: Vec<String>,
}

impl Graph {
    /// All switches, in id order.
    pub fn switches(&self) -> &[SwitchNode] {
        &self.switches
    }

    /// All hosts, in id order.
    pub fn hosts(&self) -> &[HostNode] {
        &self.hosts
    }

    /// All channels, in id order; channel `c` and `c ^ 1` are the two directions of link `c / 2`.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// One channel.
    pub fn channel(&self, channel: ChannelId) -> &Channel {
        &self.channels[channel.index()]
    }

    /// Ids of all switches.
    pub fn switch_ids(&self) -> impl ExactSizeIterator<Item = SwitchId> + use<> {
        (0..self.switches.len()).map(SwitchId::from)
    }

    /// Ids of all hosts.
    pub fn host_ids(&self) -> impl ExactSizeIterator<Item = HostId> + use<> {
        (0..self.hosts.len()).map(HostId::from)
    }

    /// Ids of all channels.
    pub fn channel_ids(&self) -> impl ExactSizeIterator<Item = ChannelId> + use<> {
        (0..self.channels.len()).map(ChannelId::from)
    }

    /// Number of links (cables), host links included.
    pub fn link_count(&self) -> usize {
        self.channels.len() / 2
    }

    /// One end of a link: the sending end of its first channel.
    pub fn link_ends(&self, link: LinkId) -> [Endpoint; 2] {
        let channel = self.channel(link.channels()[0]);
        [channel.from, channel.to]
    }

    /// Outgoing channels of the ports `1..=port_count` of a switch, `None` where nothing is connected.
    pub fn ports(&self, switch: SwitchId) -> &[Option<ChannelId>] {
        let i = switch.index();
        &self.port_channel[self.first_port[i] as usize..self.first_port[i + 1] as usize]
    }

    /// Outgoing channel of `port` (from 1) of `switch`; `None` when unconnected or out of range.
    pub fn port_channel(&self, switch: SwitchId, port: u16) -> Option<ChannelId> {
        *self.ports(switch).get(usize::from(port).checked_sub(1)?)?
    }

    /// Connected ports of a switch as (port, outgoing channel), in port order.
    pub fn connected_ports(&self, switch: SwitchId) -> impl Iterator<Item = (u16, ChannelId)> {
        let ports = self.ports(switch).iter().enumerate();
        ports.filter_map(|(i, channel)| channel.map(|channel| (i as u16 + 1, channel)))
    }

    /// Neighbouring switches as (port, outgoing channel, neighbour), in port order; parallel links repeat.
    pub fn neighbors(&self, switch: SwitchId) -> impl Iterator<Item = (u16, ChannelId, SwitchId)> {
        self.connected_ports(switch).filter_map(|(port, channel)| {
            self.channel(channel)
                .to
                .switch()
                .map(|neighbor| (port, channel, neighbor))
        })
    }

    /// Outgoing (injection) channel of a host.
    pub fn host_channel(&self, host: HostId) -> ChannelId {
        self.host_channel[host.index()]
    }

    /// Switch and port a host is attached to; `None` when the host is cabled to another host.
    pub fn attachment(&self, host: HostId) -> Option<(SwitchId, u16)> {
        match self.channel(self.host_channel(host)).to {
            Endpoint::Switch(switch, port) => Some((switch, port)),
            Endpoint::Host(_) => None,
        }
    }

    /// Hosts attached to a switch as (port, host), in port order.
    pub fn attached_hosts(&self, switch: SwitchId) -> impl Iterator<Item = (u16, HostId)> {
        self.connected_ports(switch)
            .filter_map(|(port, channel)| self.channel(channel).to.host().map(|host| (port, host)))
    }

    /// What is known about the regular structure.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The topology with its arguments, such as `Torus(radix: [4, 4])`, when this has its shape and it is told.
    pub fn form(&self) -> Option<&str> {
        self.form.as_deref()
    }

    /// The same graph, known as the topology that a scenario writes so; without effect when no structure is known.
    #[must_use]
    pub fn formed(mut self, form: &str) -> Self {
        if self.shape != Shape::Irregular && self.form.is_none() {
            self.form = Some(form.to_owned());
        }
        self
    }

    /// The same graph with other timing: `timing` tells that of a channel, or `None` for what it has.
    #[must_use]
    pub fn retimed(mut self, timing: impl Fn(&Self, &Channel) -> Option<ChannelTiming>) -> Self {
        let changed = |channel: &Channel| Channel {
            timing: timing(&self, channel).unwrap_or(channel.timing),
            ..*channel
        };
        self.channels = self.channels.iter().map(changed).collect();
        self
    }

    /// What a reader of a file took otherwise than it stands there, a sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Name of an endpoint for messages: `S3 port 2` or `H17`.
    pub fn endpoint_name(&self, endpoint: Endpoint) -> String {
        match endpoint {
            Endpoint::Switch(switch, port) => {
                format!("{} port {port}", self.switches[switch.index()].name)
            }
            Endpoint::Host(host) => self.hosts[host.index()].name.clone(),
        }
    }
}
