//! Follows forwarding tables towards one destination at a time, for all switches at once.
//!
//! Forwarding depends on the destination only, so the ways to one destination form a tree: one pass over the
//! switches replaces one pass per path.
//!
//! Cost: O(switches) per destination.

use super::{Tables, UNREACHABLE};
use crate::ids::{HostId, SwitchId};
use crate::topology::Graph;
use std::ops::Range;

/// No switch, no channel, no way.
pub(super) const NONE: u32 = u32::MAX;

/// Destinations handled together, so that table rows are read in runs.
pub(super) const BLOCK: usize = 64;

/// The switch every channel leads to, [`NONE`] when it leads to a host; `[channel]`.
pub(super) fn targets(graph: &Graph) -> Vec<u32> {
    let channels = graph.channels().iter();
    channels
        .map(|channel| channel.to.switch().map_or(NONE, |switch| switch.0))
        .collect()
}

/// The blocks of all destinations, in order.
pub(super) fn blocks(hosts: usize) -> Vec<Range<usize>> {
    (0..hosts)
        .step_by(BLOCK)
        .map(|start| start..hosts.min(start + BLOCK))
        .collect()
}

/// Columns `hosts` of a table `[switch][host]`, turned into rows.
pub(super) fn columns(table: &[u8], host_count: usize, hosts: &Range<usize>) -> Vec<Vec<u8>> {
    let switches = table.len() / host_count.max(1);
    let mut columns = vec![Vec::with_capacity(switches); hosts.len()];
    for row in table.chunks(host_count.max(1)) {
        for (column, &entry) in columns.iter_mut().zip(&row[hosts.clone()]) {
            column.push(entry);
        }
    }
    columns
}

/// The ways from all switches to one destination.
#[derive(Clone, Debug, Default)]
pub(super) struct Ways {
    /// Output channel of each switch, [`NONE`] without one.
    pub(super) exit: Vec<u32>,
    /// Next switch, [`NONE`] when the exit leads to a host or nowhere.
    pub(super) parent: Vec<u32>,
    /// Hops between switches to the destination, [`NONE`] for a switch whose way does not arrive.
    pub(super) hops: Vec<u32>,
    /// Switches, every one before its parent; those on loops are left out.
    pub(super) order: Vec<u32>,
    children: Vec<u32>,
}

impl Ways {
    /// Follows `ports`, the output port of every switch, towards `destination`.
    pub(super) fn follow(
        &mut self,
        graph: &Graph,
        targets: &[u32],
        ports: &[u8],
        destination: HostId,
    ) {
        let count = ports.len();
        self.exit.clear();
        self.parent.clear();
        self.order.clear();
        self.children.clear();
        self.children.resize(count, 0);
        for (switch, &port) in ports.iter().enumerate() {
            let channel = match port {
                UNREACHABLE => None,
                port => graph.port_channel(SwitchId(switch as u32), u16::from(port)),
            };
            let parent = channel.map_or(NONE, |channel| targets[channel.index()]);
            self.exit.push(channel.map_or(NONE, |channel| channel.0));
            self.parent.push(parent);
            if parent != NONE {
                self.children[parent as usize] += 1;
            }
        }
        self.sort();
        self.count_hops(graph, destination);
    }

    fn sort(&mut self) {
        let switches = 0..self.parent.len() as u32;
        self.order
            .extend(switches.filter(|&switch| self.children[switch as usize] == 0));
        let mut head = 0;
        while let Some(&switch) = self.order.get(head) {
            head += 1;
            let parent = self.parent[switch as usize];
            if parent != NONE {
                self.children[parent as usize] -= 1;
                if self.children[parent as usize] == 0 {
                    self.order.push(parent);
                }
            }
        }
    }

    fn count_hops(&mut self, graph: &Graph, destination: HostId) {
        // the channel back from the destination is the reverse of its injection channel
        let last = graph.host_channel(destination).reverse().0;
        self.hops.clear();
        self.hops.resize(self.parent.len(), NONE);
        for &switch in self.order.iter().rev() {
            let switch = switch as usize;
            let parent = self.parent[switch];
            if self.exit[switch] == last {
                self.hops[switch] = 0;
            } else if parent != NONE && self.hops[parent as usize] != NONE {
                self.hops[switch] = self.hops[parent as usize] + 1;
            }
        }
    }
}

/// Hosts of a list per switch.
pub(super) fn hosts_per_switch(graph: &Graph, hosts: &[HostId]) -> Vec<u32> {
    let mut count = vec![0; graph.switches().len()];
    for &host in hosts {
        if let Some((switch, _)) = graph.attachment(host) {
            count[switch.index()] += 1;
        }
    }
    count
}

/// Where a way from `start` that does not arrive ends, in words.
pub(super) fn explain(graph: &Graph, tables: &Tables, start: SwitchId, to: HostId) -> String {
    let name = |switch: SwitchId| &graph.switches()[switch.index()].name;
    let mut switch = start;
    for _ in 0..=graph.switches().len() {
        let Some(port) = tables.next_port(switch, to) else {
            return format!("{} has no entry", name(switch));
        };
        let Some(channel) = graph.port_channel(switch, port) else {
            return format!("{} port {port} has no link", name(switch));
        };
        match graph.channel(channel).to.switch() {
            Some(next) => switch = next,
            None => {
                return format!(
                    "{} port {port} leads to {}",
                    name(switch),
                    graph.endpoint_name(graph.channel(channel).to)
                );
            }
        }
    }
    format!("it loops through {}", name(switch))
}
