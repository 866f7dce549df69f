//! Where every switch, host and port of the fabric lives: shards and rows.
//!
//! Only connected ports get rows; they keep the order of their port numbers, so round robin goes round in port
//! order.

use super::rows::PortRow;
use crate::ids::{ChannelId, HostId, SwitchId};
use crate::plan::Plan;
use crate::topology::{Endpoint, Graph};

/// Where every switch, host and port of the fabric lives.
#[derive(Debug)]
pub struct Placement {
    /// Shard of each switch.
    pub shard_of: Vec<u32>,
    /// Number of shards.
    pub shard_count: usize,
    /// First port of each switch in its shard.
    pub first_port: Vec<PortRow>,
    /// Shard of each host.
    pub host_shard: Vec<u32>,
    /// Port of each host in its shard.
    pub host_port: Vec<PortRow>,
    /// Global ids of the switches of each shard, in row order.
    pub switches: Vec<Vec<SwitchId>>,
    /// Global ids of the hosts of each shard, in row order.
    pub hosts: Vec<Vec<HostId>>,
    /// First port of a host of each shard.
    pub first_host_port: Vec<PortRow>,
    /// Index among the connected ports, `[switch][port - 1]`.
    pub port_index: Vec<Vec<u8>>,
}

impl Placement {
    /// Numbers everything for the given partition.
    ///
    /// # Panics
    /// When a host has no switch: the graph builder makes no such graph.
    pub fn new(graph: &Graph, shard_of: Vec<u32>) -> Self {
        let shard_count = shard_of.iter().max().map_or(1, |&shard| shard as usize + 1);
        let mut placement = Self {
            shard_count,
            first_port: Vec::new(),
            host_shard: Vec::new(),
            host_port: Vec::new(),
            switches: vec![Vec::new(); shard_count],
            hosts: vec![Vec::new(); shard_count],
            first_host_port: vec![PortRow(0); shard_count],
            port_index: Vec::new(),
            shard_of,
        };
        for switch in graph.switch_ids() {
            let shard = placement.shard_of[switch.index()] as usize;
            placement.first_port.push(placement.first_host_port[shard]);
            placement.switches[shard].push(switch);
            let mut index = vec![0; graph.ports(switch).len()];
            for (place, (port, _)) in graph.connected_ports(switch).enumerate() {
                index[usize::from(port) - 1] = place as u8;
            }
            let ports = graph.connected_ports(switch).count() as u32;
            placement.first_host_port[shard] = placement.first_host_port[shard].plus(ports);
            placement.port_index.push(index);
        }
        for host in graph.host_ids() {
            let (switch, _) = graph
                .attachment(host)
                .expect("the graph builder checks attachments");
            let shard = placement.shard_of[switch.index()] as usize;
            placement.host_shard.push(shard as u32);
            let number = placement.hosts[shard].len() as u32;
            let first = placement.first_host_port[shard];
            placement.host_port.push(first.plus(number));
            placement.hosts[shard].push(host);
        }
        placement
    }

    /// Outgoing channels of the switches of a shard, in the order of their port rows.
    pub fn switch_channels<'a>(
        &'a self,
        graph: &'a Graph,
        shard: usize,
    ) -> impl Iterator<Item = ChannelId> + 'a {
        let switches = self.switches[shard].iter();
        switches.flat_map(|&switch| graph.connected_ports(switch).map(|(_, channel)| channel))
    }

    /// Index of a switch port among the connected ones.
    pub fn index_of(&self, switch: SwitchId, port: u16) -> u8 {
        self.port_index[switch.index()][usize::from(port) - 1]
    }

    /// Shard and port of an endpoint.
    pub fn row_of(&self, end: Endpoint) -> (u32, PortRow) {
        match end {
            Endpoint::Switch(switch, port) => {
                let index = u32::from(self.index_of(switch, port));
                let row = self.first_port[switch.index()].plus(index);
                (self.shard_of[switch.index()], row)
            }
            Endpoint::Host(host) => (self.host_shard[host.index()], self.host_port[host.index()]),
        }
    }

    /// Cycles a window may last: the least time from a shard to another, over flits,
    /// credits, acknowledgements and control packets out of band.
    pub fn window(&self, graph: &Graph, plan: &Plan) -> u64 {
        let delays = (plan.flows.iter()).filter_map(|flow| flow.window);
        let mut window = delays.map(|window| window.delay).min().unwrap_or(u64::MAX);
        let controls = plan
            .classes
            .iter()
            .filter_map(|class| class.control.as_ref());
        for transport in controls.filter_map(|control| control.transport) {
            if self.shard_count > 1 {
                window = window.min(transport.hop());
            }
        }
        for channel in graph.channel_ids() {
            let ends = graph.channel(channel);
            if self.row_of(ends.from).0 != self.row_of(ends.to).0 {
                let flits =
                    u64::from(ends.timing.latency) + u64::from(plan.switch.crossbar_latency());
                window = window
                    .min(flits)
                    .min(u64::from(credit_latency(graph, plan, channel)));
            }
        }
        window
    }
}

/// Credit latency of a channel (D15).
pub fn credit_latency(graph: &Graph, plan: &Plan, channel: ChannelId) -> u32 {
    plan.switch
        .credit_latency
        .unwrap_or_else(|| graph.channel(channel.reverse()).timing.latency)
}
