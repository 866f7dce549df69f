//! Random forwarding rows, layers and lanes, some of them broken, and what is asked about them.

use super::fabric::{fabric, one_in, rows, shuffle};
use super::lanes::Lanes;
use crate::ids::{ChannelId, HostId, SlId, SwitchId};
use crate::rng::{Purpose, Stream, below, stream};
use crate::routing::entries::Entries;
use crate::routing::{Guarantees, Tables, UNREACHABLE, VerifyOptions};
use crate::topology::{Endpoint, Graph};
use std::collections::VecDeque;

/// A fabric, its tables, what they say, and what is asked about them.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) graph: Graph,
    pub(super) plain: Plain,
    pub(super) tables: Tables,
    pub(super) levels: Vec<SlId>,
    pub(super) lanes: u8,
    pub(super) pool_shared: bool,
    pub(super) senders: Option<Vec<HostId>>,
    receivers: Option<Vec<HostId>>,
    pub(super) allow_unreachable: bool,
}

/// What tables say, spelt out.
#[derive(Clone, Debug)]
pub(super) struct Plain {
    /// Row in which packets of `[channel]` are looked up, 0 for channels to hosts.
    pub(super) row: Vec<usize>,
    /// Switch of each row.
    switch: Vec<SwitchId>,
    /// Port of `[row][host]`.
    pub(super) port: Vec<Vec<u8>>,
    /// Layer of `[switch][host]`.
    path_layer: Vec<Vec<u8>>,
    /// Layer of `[row][host]`.
    hop_layer: Vec<Vec<u8>>,
    lanes: Lanes,
}

impl Case {
    pub(super) fn random(seed: u64) -> Self {
        let rng = &mut stream(seed, Purpose::Routing, 0);
        let graph = fabric(rng);
        let lanes = [1, 2, 3, 4, 8, 15, 20, 32][below(rng, 8) as usize];
        let plain = Plain::random(rng, &graph, lanes);
        let mut tables = plain.tables(&graph);
        tables.guarantees.minimal = one_in(rng, 2);
        tables.guarantees.deadlock_free = one_in(rng, 2);
        let mut levels: Vec<SlId> = (0..plain.lanes.levels).map(SlId).collect();
        shuffle(rng, &mut levels);
        levels.truncate(1 + below(rng, levels.len() as u32) as usize);
        let mut some = || {
            let hosts: Vec<_> = graph.host_ids().filter(|_| !one_in(rng, 3)).collect();
            one_in(rng, 4).then_some(hosts)
        };
        let (senders, receivers) = (some(), some());
        Self {
            plain,
            tables,
            levels,
            lanes,
            pool_shared: one_in(rng, 6),
            senders,
            receivers,
            allow_unreachable: false,
            graph,
        }
    }

    pub(super) fn options(&self) -> VerifyOptions<'_> {
        VerifyOptions {
            service_levels: &self.levels,
            lanes: self.lanes,
            pool_shared: self.pool_shared,
            senders: self.senders.as_deref(),
            receivers: self.receivers.as_deref(),
            allow_unreachable: self.allow_unreachable,
        }
    }

    pub(super) fn promise(&mut self, minimal: bool, deadlock_free: bool) {
        self.tables.guarantees.minimal = minimal;
        self.tables.guarantees.deadlock_free = deadlock_free;
    }

    /// Whether all lanes of a channel count as one.
    pub(super) fn merged(&self) -> bool {
        self.pool_shared || self.lanes == 1
    }

    /// Whether every host sends to every other.
    pub(super) fn sends_everywhere(&self) -> bool {
        self.senders.is_none() && self.receivers.is_none()
    }

    pub(super) fn senders(&self) -> impl Iterator<Item = HostId> {
        self.in_list(self.senders.as_deref())
    }

    pub(super) fn receivers(&self) -> impl Iterator<Item = HostId> {
        self.in_list(self.receivers.as_deref())
    }

    fn in_list(&self, list: Option<&[HostId]>) -> impl Iterator<Item = HostId> {
        let hosts = self.graph.host_ids();
        hosts.filter(move |host| list.is_none_or(|list| list.contains(host)))
    }

    /// Lane of a packet of a host at `source` on `output` of a switch that it reached over `input`.
    pub(super) fn lane(
        &self,
        source: SwitchId,
        input: ChannelId,
        output: ChannelId,
        level: u8,
        destination: HostId,
    ) -> u8 {
        let to = destination.index();
        let hop = self.plain.hop_layer[self.plain.row[input.index()]][to];
        let layer = self.plain.path_layer[source.index()][to] + hop;
        self.plain.lanes.lane(input, output, level, layer)
    }

    /// Makes the tables ask for what is not there; words of the message.
    pub(super) fn spoil(&mut self) -> &'static str {
        let kind = self.graph.channels().len() + self.levels.len() + usize::from(self.lanes);
        match kind % 6 {
            0 => {
                let hosts = self.tables.host_count;
                self.tables
                    .next
                    .change(|next| next.truncate(next.len() - hosts));
                "they are not made for"
            }
            1 => {
                self.lanes = self.plain.lanes.largest();
                self.levels = vec![self.plain.lanes.level_of_largest()];
                "uses lane"
            }
            2 => {
                self.levels.push(SlId(self.plain.lanes.levels));
                "is used, the lane map has"
            }
            3 => {
                let hosts = self.graph.hosts().len();
                let mut layers = vec![0; self.plain.port.len() * hosts];
                layers[self.plain.port.len() * hosts - 1] = self.plain.lanes.layers;
                self.tables.hop_layer = Entries::new(&layers, hosts);
                "is used, the lane map has"
            }
            4 => {
                self.tables.lanes.by_output[0] = u32::MAX / 2;
                "does not cover every channel"
            }
            _ => {
                self.tables.guarantees.lanes_needed = 0;
                "are declared"
            }
        }
    }
}

impl Plain {
    fn random(rng: &mut Stream, graph: &Graph, lanes: u8) -> Self {
        let (row, switch) = rows(rng, graph);
        let hosts = graph.hosts().len();
        let mut path_layers = 1 + below(rng, 3) as u8;
        let mut hop_layers = 1 + below(rng, 2) as u8;
        if one_in(rng, 3) {
            (path_layers, hop_layers) = (1, 1);
        }
        let layers = path_layers + hop_layers - 1;
        let levels = 1 + below(rng, 4) as u8;
        let mut plain = Self {
            port: vec![vec![UNREACHABLE; hosts]; switch.len()],
            path_layer: vec![vec![0; hosts]; graph.switches().len()],
            hop_layer: vec![vec![0; hosts]; switch.len()],
            lanes: Lanes::random(rng, graph, (levels, layers), lanes),
            row,
            switch,
        };
        plain.layers(rng, graph, path_layers, hop_layers);
        let is_minimal = one_in(rng, 2);
        for destination in graph.host_ids() {
            if !plain.copy_ways(rng, graph, destination) {
                plain.ways(rng, graph, destination, is_minimal);
            }
        }
        if one_in(rng, 3) {
            plain.spoil(rng, graph);
        }
        plain
    }

    /// Layers of every source, destination and row; equal for hosts of a switch in half of the fabrics.
    fn layers(&mut self, rng: &mut Stream, graph: &Graph, path_layers: u8, hop_layers: u8) {
        let is_by_switch = one_in(rng, 2);
        for host in graph.host_ids() {
            let known = graph.host_ids().take(host.index());
            let home = |host| graph.attachment(host).map(|(switch, _)| switch);
            let mut twins = known.filter(|&other| home(other) == home(host));
            let twin = twins.next().filter(|_| is_by_switch);
            let (to, twin) = (host.index(), twin.map(HostId::index));
            for row in &mut self.path_layer {
                row[to] = twin.map_or_else(|| below(rng, path_layers.into()) as u8, |t| row[t]);
            }
            for row in &mut self.hop_layer {
                row[to] = twin.map_or_else(|| below(rng, hop_layers.into()) as u8, |t| row[t]);
            }
        }
    }

    /// Ways that arrive, grown from the destination backwards; shortest ones when `is_minimal`.
    fn ways(&mut self, rng: &mut Stream, graph: &Graph, to: HostId, is_minimal: bool) {
        let (home, port) = graph.attachment(to).expect("hosts are cabled to switches");
        let mut direct: Vec<usize> = (0..self.switch.len())
            .filter(|&row| self.switch[row] == home)
            .collect();
        shuffle(rng, &mut direct);
        let first = if is_minimal || one_in(rng, 2) {
            direct.len()
        } else {
            1 + below(rng, direct.len() as u32) as usize
        };
        let later = direct.split_off(first);
        // (row, port) that lead to a row whose way arrives
        let mut open: VecDeque<(usize, u8)> =
            direct.into_iter().map(|row| (row, port as u8)).collect();
        let mut rest = later.into_iter().map(|row| (row, port as u8));
        loop {
            if !is_minimal && !open.is_empty() {
                let last = open.len() - 1;
                open.swap(last, below(rng, last as u32 + 1) as usize);
            }
            let next = if is_minimal {
                open.pop_front()
            } else {
                open.pop_back()
            };
            let Some((row, port)) = next.or_else(|| rest.next()) else {
                break;
            };
            if self.port[row][to.index()] != UNREACHABLE {
                continue;
            }
            self.port[row][to.index()] = port;
            for channel in graph.channel_ids() {
                let Endpoint::Switch(from, port) = graph.channel(channel).from else {
                    continue;
                };
                let leads_here = graph.channel(channel).to.switch().is_some();
                if leads_here && self.row[channel.index()] == row {
                    let rows = (0..self.switch.len()).filter(|&r| self.switch[r] == from);
                    open.extend(rows.map(|row| (row, port as u8)));
                }
            }
        }
    }

    /// The ways to an earlier host of the same switch, with other parallel links sometimes; whether there is one.
    fn copy_ways(&mut self, rng: &mut Stream, graph: &Graph, to: HostId) -> bool {
        let (home, port) = graph.attachment(to).expect("hosts are cabled to switches");
        let before = graph.host_ids().take(to.index());
        let twins = before.filter_map(|host| Some((host, graph.attachment(host)?)));
        let twin = twins.filter(|&(_, (switch, _))| switch == home).last();
        let Some((twin, (_, twin_port))) = twin.filter(|_| !one_in(rng, 3)) else {
            return false;
        };
        let swaps_links = one_in(rng, 2);
        for row in 0..self.switch.len() {
            let known = self.port[row][twin.index()];
            let at_home = self.switch[row] == home && u16::from(known) == twin_port;
            let mut other = if at_home { port as u8 } else { known };
            let link = graph.port_channel(self.switch[row], u16::from(known));
            if let Some(link) = link.filter(|_| swaps_links && !at_home) {
                let behind = |channel: ChannelId| {
                    let next = graph.channel(channel).to.switch();
                    next.map(|_| self.row[channel.index()])
                };
                let ports = graph.connected_ports(self.switch[row]);
                let mut ports = ports.filter(|&(_, channel)| behind(channel) == behind(link));
                let last = ports.by_ref().last();
                other = last.map_or(known, |(port, _)| port as u8);
            }
            self.port[row][to.index()] = other;
        }
        true
    }

    /// Overwrites some entries with anything.
    fn spoil(&mut self, rng: &mut Stream, graph: &Graph) {
        for _ in 0..=below(rng, 4) {
            let row = below(rng, self.port.len() as u32) as usize;
            let host = below(rng, graph.hosts().len() as u32) as usize;
            let ports = graph.ports(self.switch[row]).len() as u32;
            self.port[row][host] = match below(rng, 6) {
                0 => UNREACHABLE,
                _ => below(rng, ports + 2) as u8,
            };
        }
    }

    fn tables(&self, graph: &Graph) -> Tables {
        let layers = |layers: &[Vec<u8>]| {
            let all = layers.concat();
            let is_zero = all.iter().all(|&layer| layer == 0);
            if is_zero {
                Entries::default()
            } else {
                Entries::new(&all, graph.hosts().len())
            }
        };
        let is_plain = self.switch.len() == graph.switches().len()
            && self.switch.iter().copied().eq(graph.switch_ids());
        let input_row = self.row.iter().map(|&row| row as u32);
        Tables {
            engine: "Random".into(),
            next: Entries::new(&self.port.concat(), graph.hosts().len()),
            input_row: input_row.filter(|_| !is_plain).collect(),
            hop_layer: layers(&self.hop_layer),
            path_layer: layers(&self.path_layer),
            lanes: self.lanes.map(graph),
            guarantees: Guarantees {
                lanes_needed: self.lanes.most(),
                ..Guarantees::IN_ORDER
            },
            remarks: Vec::new(),
            host_count: graph.hosts().len(),
            switch_count: graph.switches().len(),
        }
    }
}
