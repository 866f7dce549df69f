//! Follows forwarding tables towards one destination at a time, for all switches at once.
//!
//! Forwarding depends on row and destination only, so the ways to one destination form a tree of rows: one
//! pass over the rows (one per switch, unless the input matters) replaces one pass per path.
//!
//! Cost: O(rows) per destination.

use super::{Tables, UNREACHABLE};
use crate::ids::{ChannelId, HostId, SwitchId};
use crate::topology::Graph;
use std::ops::Range;

/// No row, no channel, no way.
pub(super) const NONE: u32 = u32::MAX;

/// Destinations handled together, so that table rows are read in runs.
pub(super) const BLOCK: usize = 64;

/// Where channels lead to in the tables.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    /// Row that packets of a channel are looked up in, [`NONE`] when it leads to a host; `[channel]`.
    pub(super) target: Vec<u32>,
    /// Switch of each row.
    pub(super) switch: Vec<SwitchId>,
}

impl Rows {
    /// The rows of `tables`, which fit `graph`.
    pub(super) fn new(graph: &Graph, tables: &Tables) -> Self {
        Self {
            target: graph
                .channel_ids()
                .map(|channel| tables.row_behind(graph, channel))
                .collect(),
            switch: tables.row_switches(graph),
        }
    }

    /// Row of packets that `host` sends, [`NONE`] when it is not attached to a switch.
    pub(super) fn of_host(&self, graph: &Graph, host: HostId) -> u32 {
        self.target[graph.host_channel(host).index()]
    }

    /// Hosts of a list by the row of what they send.
    pub(super) fn senders(&self, graph: &Graph, hosts: &[HostId]) -> Vec<u32> {
        let mut count = vec![0; self.switch.len()];
        for &host in hosts {
            if let Some(count) = count.get_mut(self.of_host(graph, host) as usize) {
                *count += 1;
            }
        }
        count
    }

    /// Injection channels of a list of hosts by the row they lead to.
    pub(super) fn injections(&self, graph: &Graph, hosts: &[HostId]) -> Vec<Vec<ChannelId>> {
        let mut injections = vec![Vec::new(); self.switch.len()];
        for &host in hosts {
            if let Some(row) = injections.get_mut(self.of_host(graph, host) as usize) {
                row.push(graph.host_channel(host));
            }
        }
        injections
    }
}

/// The blocks of all destinations, in order.
pub(super) fn blocks(hosts: usize) -> Vec<Range<usize>> {
    (0..hosts)
        .step_by(BLOCK)
        .map(|start| start..hosts.min(start + BLOCK))
        .collect()
}

/// Columns `hosts` of a table `[row][host]`, one vector each.
pub(super) fn columns(table: &[u8], host_count: usize, hosts: &Range<usize>) -> Vec<Vec<u8>> {
    let rows = table.len() / host_count.max(1);
    let mut columns = vec![Vec::with_capacity(rows); hosts.len()];
    for row in table.chunks(host_count.max(1)) {
        for (column, &entry) in columns.iter_mut().zip(&row[hosts.clone()]) {
            column.push(entry);
        }
    }
    columns
}

/// The ways from all rows to one destination.
#[derive(Clone, Debug, Default)]
pub(super) struct Ways {
    /// Output channel of each row, [`NONE`] without one.
    pub(super) exit: Vec<u32>,
    /// Next row, [`NONE`] when the exit leads to a host or nowhere.
    pub(super) parent: Vec<u32>,
    /// Hops between switches to the destination, [`NONE`] for a row whose way does not arrive.
    pub(super) hops: Vec<u32>,
    /// Rows, every one before its parent; those on loops are left out.
    pub(super) order: Vec<u32>,
    children: Vec<u32>,
}

impl Ways {
    /// Follows `ports`, the output port of every row, towards `destination`.
    pub(super) fn follow(&mut self, graph: &Graph, rows: &Rows, ports: &[u8], destination: HostId) {
        let count = ports.len();
        self.exit.clear();
        self.parent.clear();
        self.order.clear();
        self.children.clear();
        self.children.resize(count, 0);
        for (&switch, &port) in rows.switch.iter().zip(ports) {
            let channel = match port {
                UNREACHABLE => None,
                port => graph.port_channel(switch, u16::from(port)),
            };
            let parent = channel.map_or(NONE, |channel| rows.target[channel.index()]);
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
        let rows = 0..self.parent.len() as u32;
        self.order
            .extend(rows.filter(|&row| self.children[row as usize] == 0));
        let mut head = 0;
        while let Some(&row) = self.order.get(head) {
            head += 1;
            let parent = self.parent[row as usize];
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
        for &row in self.order.iter().rev() {
            let row = row as usize;
            let parent = self.parent[row];
            if self.exit[row] == last {
                self.hops[row] = 0;
            } else if parent != NONE && self.hops[parent as usize] != NONE {
                self.hops[row] = self.hops[parent as usize] + 1;
            }
        }
    }
}

/// Where a way from row `start` that does not arrive ends, in words.
pub(super) fn explain(
    graph: &Graph,
    tables: &Tables,
    rows: &Rows,
    start: usize,
    to: HostId,
) -> String {
    let name = |switch: SwitchId| &graph.switches()[switch.index()].name;
    let (mut row, mut switch) = (start, rows.switch[start]);
    for _ in 0..=rows.switch.len() {
        let Some(port) = tables.next_port(row, to) else {
            return format!("{} has no entry", name(switch));
        };
        let Some(channel) = graph.port_channel(switch, port) else {
            return format!("{} port {port} has no link", name(switch));
        };
        match graph.channel(channel).to.switch() {
            Some(next) => (row, switch) = (tables.row(channel, next), next),
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
