//! The graph: every switch, host, port and channel of a fabric, read-only once built.
//!
//! Links are full duplex: link `l` is channel `2l` (from its first to its second end) and channel
//! `2l + 1` (back). Switch ports are numbered from 1 as in InfiniBand; a host has exactly one port,
//! numbered 1. A channel adapter with two cables is two hosts.
//!
//! Cost: memory O(switches + hosts + ports + channels).

use crate::ids::{ChannelId, HostId, LinkId, SwitchId};

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
}

/// What a routing engine may know about the regular structure of a graph.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Shape {
    /// No structure is known.
    #[default]
    Irregular,
    /// A mesh or torus.
    Grid(GridShape),
    /// A k-ary n-tree.
    Tree(TreeShape),
}

/// Structure of a mixed-radix mesh or torus.
///
/// Switch id = sum of `coordinate[d] * stride[d]` with `stride[0] = 1` (dimension 0 varies fastest).
/// Ports: `2d + 1` leads to +1 and `2d + 2` to -1 in dimension `d`; host `j` of a switch is on port
/// `2 * dims + 1 + j`; host id = switch * hosts per switch + j.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GridShape {
    /// Number of switches along each dimension, each at least 1.
    pub radix: Vec<u32>,
    /// Whether each dimension closes into a ring.
    pub wrap: Vec<bool>,
    /// Hosts on every switch.
    pub hosts_per_switch: u32,
}

impl GridShape {
    /// The coordinate of `switch` in `dimension`.
    pub fn coordinate(&self, switch: SwitchId, dimension: usize) -> u32 {
        let stride: u32 = self.radix[..dimension].iter().product();
        switch.0 / stride % self.radix[dimension]
    }
}

/// Structure of a k-ary n-tree (Petrini and Vanneschi).
///
/// Level 0 holds the roots, level `levels - 1` the leaves. Switch id = level * k^(n-1) + word, the word
/// read as a base-k number whose *most* significant digit is `w_0`. Level `l` switch `w` is linked to the
/// level `l + 1` switches whose words agree with `w` except in digit `w_l`. Ports: down ports `1..=k`
/// (down port `d + 1` of a level-`l` switch leads to the child with digit `w_l = d`; at a leaf to host
/// `word * k + d`), up ports `k + 1..=2k` (up port `k + 1 + d` leads to the parent with digit
/// `w_{l-1} = d`). Roots have only the `k` down ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeShape {
    /// Down (and up) ports of a switch.
    pub arity: u32,
    /// Levels of switches.
    pub levels: u32,
}

impl TreeShape {
    /// Switches on one level: `arity^(levels - 1)`.
    pub fn switches_per_level(&self) -> u32 {
        self.arity.pow(self.levels - 1)
    }

    /// Level of a switch, 0 = root.
    pub fn level(&self, switch: SwitchId) -> u32 {
        switch.0 / self.switches_per_level()
    }

    /// Word of a switch: its place within its level.
    pub fn word(&self, switch: SwitchId) -> u32 {
        switch.0 % self.switches_per_level()
    }
}

/// A built fabric graph. Made by [`GraphBuilder`](super::builder::GraphBuilder) only.
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
