//! Where packets can go next: the rows of forwarding tables as nodes, allowed channels between them as steps.
//!
//! Two forms: one node per switch (forwarding by destination), or one node per input channel plus one per
//! switch for what its hosts send (forwarding by input port and destination), which lets an engine prohibit
//! turns. Packets never leave over the link they came by.
//!
//! Cost: memory O(steps): channels in the first form, sum of squared degrees in the second.

use super::UNREACHED;
use crate::ids::{ChannelId, SwitchId};
use crate::routing::{LARGEST_TABLE, RoutingError};
use crate::topology::Graph;

/// A way out of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::routing) struct Step {
    /// Port, from 1.
    pub(in crate::routing) port: u16,
    /// Pace of the channel \[cycles per flit\], at most 65535.
    pub(in crate::routing) pace: u16,
    /// Channel behind the port.
    pub(in crate::routing) channel: u32,
    /// Node at the other end.
    pub(in crate::routing) to: u32,
}

/// Nodes and steps of a fabric.
#[derive(Clone, Debug)]
pub(in crate::routing) struct Steps {
    first: Vec<u32>,
    all: Vec<Step>,
    first_back: Vec<u32>,
    back: Vec<u32>,
    /// Switch of each node; node `s` is what the hosts of switch `s` send.
    pub(in crate::routing) switch: Vec<SwitchId>,
    /// Node of each channel between switches, as in [`Tables::input_row`](crate::routing::Tables::input_row); empty
    /// in the first form.
    pub(in crate::routing) input_row: Vec<u32>,
    /// First node of each switch in `nodes_at`.
    first_node: Vec<u32>,
    nodes_at: Vec<u32>,
}

impl Steps {
    /// One node per switch; channels between switches that `keep` accepts.
    pub(in crate::routing) fn by_destination(
        graph: &Graph,
        keep: impl Fn(ChannelId) -> bool,
    ) -> Self {
        let mut steps = Self::nodes(graph.switch_ids().collect(), Vec::new());
        for switch in graph.switch_ids() {
            let exits = graph.neighbors(switch).filter(|&(_, c, _)| keep(c));
            steps.all.extend(exits.map(|(port, channel, to)| Step {
                port,
                pace: pace(graph, channel),
                channel: channel.0,
                to: to.0,
            }));
            steps.first.push(steps.all.len() as u32);
        }
        steps.turn_back(graph);
        steps
    }

    /// One node per switch and per channel between switches; a packet from channel `a` may take `b` when
    /// `allowed(a, b)`.
    ///
    /// # Errors
    /// [`RoutingError::Unsupported`] of `engine` for tables of more than [`LARGEST_TABLE`] entries, before any
    /// memory is taken for them.
    pub(in crate::routing) fn by_input(
        graph: &Graph,
        engine: &'static str,
        allowed: impl Fn(ChannelId, ChannelId) -> bool,
    ) -> Result<Self, RoutingError> {
        require_rows(graph, engine)?;
        let mut switch: Vec<SwitchId> = graph.switch_ids().collect();
        let mut input_row = Vec::with_capacity(graph.channels().len());
        let mut inputs = Vec::new();
        for channel in graph.channel_ids() {
            let ends = graph.channel(channel);
            match (ends.from.switch(), ends.to.switch()) {
                (Some(_), Some(to)) => {
                    input_row.push(switch.len() as u32);
                    switch.push(to);
                    inputs.push(channel);
                }
                (None, Some(to)) => input_row.push(to.0),
                _ => input_row.push(0),
            }
        }
        let count = graph.switches().len();
        let mut steps = Self::nodes(switch, input_row);
        for node in 0..steps.switch.len() {
            let input = node.checked_sub(count).map(|i| inputs[i]);
            for (port, channel, _) in graph.neighbors(steps.switch[node]) {
                let open = |input: ChannelId| input.reverse() != channel && allowed(input, channel);
                if input.is_none_or(open) {
                    let to = steps.input_row[channel.index()];
                    steps.all.push(Step {
                        port,
                        pace: pace(graph, channel),
                        channel: channel.0,
                        to,
                    });
                }
            }
            steps.first.push(steps.all.len() as u32);
        }
        steps.turn_back(graph);
        Ok(steps)
    }

    fn nodes(switch: Vec<SwitchId>, input_row: Vec<u32>) -> Self {
        Self {
            first: vec![0],
            all: Vec::new(),
            first_back: Vec::new(),
            back: Vec::new(),
            switch,
            input_row,
            first_node: Vec::new(),
            nodes_at: Vec::new(),
        }
    }

    /// Fills what is looked up against the direction of travel.
    fn turn_back(&mut self, graph: &Graph) {
        let ends = (0..self.len()).flat_map(|node| {
            let steps = self.out(node).iter();
            steps.map(move |step| (step.to as usize, node as u32))
        });
        let (first, back) = group(self.len(), ends);
        (self.first_back, self.back) = (first, back);
        let places = self.switch.iter().enumerate();
        let places = places.map(|(node, switch)| (switch.index(), node as u32));
        (self.first_node, self.nodes_at) = group(graph.switches().len(), places);
    }

    /// Number of nodes.
    pub(in crate::routing) fn len(&self) -> usize {
        self.switch.len()
    }

    /// Ways out of a node.
    #[inline]
    pub(in crate::routing) fn out(&self, node: usize) -> &[Step] {
        &self.all[self.first[node] as usize..self.first[node + 1] as usize]
    }

    /// Hops left from every node to `destination`, [`UNREACHED`] where there is no way.
    pub(in crate::routing) fn hops_to(&self, destination: SwitchId) -> Vec<u16> {
        let mut hops = vec![UNREACHED; self.len()];
        let switch = destination.index();
        let home = self.first_node[switch] as usize..self.first_node[switch + 1] as usize;
        let mut queue = self.nodes_at[home].to_vec();
        for &node in &queue {
            hops[node as usize] = 0;
        }
        let mut head = 0;
        while let Some(&node) = queue.get(head) {
            head += 1;
            let node = node as usize;
            let before = self.first_back[node] as usize..self.first_back[node + 1] as usize;
            for &from in &self.back[before] {
                if hops[from as usize] == UNREACHED {
                    hops[from as usize] = hops[node] + 1;
                    queue.push(from);
                }
            }
        }
        hops
    }
}

/// Checks the size of tables with a row per switch and per channel between switches.
fn require_rows(graph: &Graph, engine: &'static str) -> Result<(), RoutingError> {
    let neighbors = |switch| graph.neighbors(switch).count();
    let channels: usize = graph.switch_ids().map(neighbors).sum();
    let (rows, hosts) = (graph.switches().len() + channels, graph.hosts().len());
    if rows as u64 * hosts as u64 <= LARGEST_TABLE {
        return Ok(());
    }
    let reason = format!(
        "{rows} rows (one per switch and input port) and {hosts} hosts need forwarding tables of more than \
         {LARGEST_TABLE} entries; choose a smaller fabric, or tables by destination such as `UpDown()`"
    );
    Err(RoutingError::unsupported(engine, reason))
}

fn pace(graph: &Graph, channel: ChannelId) -> u16 {
    let cycles = graph.channel(channel).timing.cycles_per_flit;
    u16::try_from(cycles).unwrap_or(u16::MAX)
}

/// Groups values by key `0..count`, each group in the order given: (first value of each group, values).
fn group(count: usize, pairs: impl Iterator<Item = (usize, u32)> + Clone) -> (Vec<u32>, Vec<u32>) {
    let mut first = vec![0u32; count + 1];
    for (key, _) in pairs.clone() {
        first[key + 1] += 1;
    }
    for key in 0..count {
        first[key + 1] += first[key];
    }
    let mut next = first.clone();
    let mut values = vec![0; first[count] as usize];
    for (key, value) in pairs {
        values[next[key] as usize] = value;
        next[key] += 1;
    }
    (first, values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::tests::graphs::grid;

    #[test]
    fn rows_by_input_count_towards_the_size_of_tables() {
        // 10,000 switches, 40,000 channels between them, 90,000 hosts: one row per switch would do
        let graph = grid(&[100, 100], true, 9);
        let error = Steps::by_input(&graph, "Engine", |_, _| true).unwrap_err();
        assert_eq!(
            error.to_string(),
            "Engine cannot route this fabric: 50000 rows (one per switch and input port) and 90000 hosts need \
             forwarding tables of more than 4294967296 entries; choose a smaller fabric, or tables by \
             destination such as `UpDown()`"
        );
    }
}
