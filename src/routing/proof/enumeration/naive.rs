//! Follows every packet of every (source, destination, service level) hop by hop.

use super::random::Case;
use crate::ids::{ChannelId, HostId, SwitchId};
use crate::routing::UNREACHABLE;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// (channel, lane) of a channel between switches.
pub(super) type Vertex = (u32, u8);

/// Why a packet does not arrive.
#[derive(Clone, Debug)]
pub(super) enum Wrong {
    /// A switch has no entry.
    NoEntry(usize),
    /// A switch names a port without a link.
    NoLink(usize, u8),
    /// A switch sends it to a host that is not the destination.
    OtherHost(usize, u8, usize),
    /// It comes by these switches for ever.
    Loop(BTreeSet<usize>),
}

/// A path that is longer than a shortest one.
#[derive(Clone, Debug)]
pub(super) struct Detour {
    pub(super) destination: usize,
    row: usize,
    pub(super) from: SwitchId,
    pub(super) hops: u32,
    pub(super) shortest: u32,
}

/// What all packets do.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) vertices: BTreeSet<Vertex>,
    pub(super) dependencies: BTreeSet<(Vertex, Vertex)>,
    pub(super) pairs_by_hops: Vec<u64>,
    /// Paths over each channel.
    pub(super) loads: Vec<u64>,
    /// First by destination, then by row: (destination, row, switch, why).
    pub(super) wrong: Option<(usize, usize, usize, Wrong)>,
    /// First by destination, then by row.
    pub(super) detour: Option<Detour>,
    /// Pairs whose way ends for want of an entry, where that is allowed: (destination, row, source).
    pub(super) unreachable: BTreeSet<(usize, usize, usize)>,
}

pub(super) fn follow(case: &Case) -> Found {
    let mut found = Found {
        loads: vec![0; case.graph.channels().len()],
        ..Found::default()
    };
    for destination in case.receivers() {
        let shortest = distances(case, destination);
        for source in case.senders().filter(|&source| source != destination) {
            pair(case, source, destination, &shortest, &mut found);
        }
    }
    found
}

fn pair(case: &Case, source: HostId, destination: HostId, shortest: &[u32], found: &mut Found) {
    let injection = case.graph.host_channel(source);
    let start = case.graph.channel(injection).to.switch().unwrap();
    let (row, to) = (case.plain.row[injection.index()], destination.index());
    let channels = match path(case, injection, destination) {
        Ok(channels) => channels,
        Err(Wrong::NoEntry(_)) if case.allow_unreachable => {
            found.unreachable.insert((to, row, source.index()));
            return;
        }
        Err(wrong) => {
            let known = found.wrong.as_ref().map(|wrong| (wrong.0, wrong.1));
            if known.is_none_or(|known| (to, row) < known) {
                found.wrong = Some((to, row, start.index(), wrong));
            }
            return;
        }
    };
    for channel in &channels {
        found.loads[channel.index()] += 1;
    }
    // from the injection to the ejection channel
    let hops = channels.len() - 2;
    let least = shortest[start.index()];
    let known = found.detour.as_ref().map(|d| (d.destination, d.row));
    if hops as u32 > least && known.is_none_or(|known| (to, row) < known) {
        found.detour = Some(Detour {
            destination: to,
            row,
            from: start,
            hops: hops as u32,
            shortest: least,
        });
    }
    let longest = found.pairs_by_hops.len().max(hops + 1);
    found.pairs_by_hops.resize(longest, 0);
    found.pairs_by_hops[hops] += 1;
    for &level in &case.levels {
        let mut before = None;
        for hop in channels[..=hops].windows(2) {
            let lane = case.lane(start, hop[0], hop[1], level.0, destination);
            let vertex = (hop[1].0, if case.merged() { 0 } else { lane });
            found.vertices.insert(vertex);
            found
                .dependencies
                .extend(before.map(|before| (before, vertex)));
            before = Some(vertex);
        }
    }
}

/// Channels from the injection channel to the ejection channel.
fn path(case: &Case, injection: ChannelId, to: HostId) -> Result<Vec<ChannelId>, Wrong> {
    let mut channels = vec![injection];
    let rows = case.plain.port.len();
    let mut passed = BTreeSet::new();
    loop {
        let input = channels[channels.len() - 1];
        let switch = case.graph.channel(input).to.switch().unwrap();
        // after as many hops as there are rows every further one is on a loop
        if channels.len() > rows + 1 {
            passed.insert(switch.index());
        }
        if channels.len() > 2 * rows + 2 {
            return Err(Wrong::Loop(passed));
        }
        let port = case.plain.port[case.plain.row[input.index()]][to.index()];
        if port == UNREACHABLE {
            return Err(Wrong::NoEntry(switch.index()));
        }
        let Some(output) = case.graph.port_channel(switch, u16::from(port)) else {
            return Err(Wrong::NoLink(switch.index(), port));
        };
        channels.push(output);
        match case.graph.channel(output).to.host() {
            Some(host) if host == to => return Ok(channels),
            Some(host) => return Err(Wrong::OtherHost(switch.index(), port, host.index())),
            None => {}
        }
    }
}

/// Fewest hops from every switch to that of a host, by relaxing until nothing changes.
fn distances(case: &Case, destination: HostId) -> Vec<u32> {
    let (home, _) = case.graph.attachment(destination).unwrap();
    let mut distance = vec![u32::MAX; case.graph.switches().len()];
    distance[home.index()] = 0;
    loop {
        let before = distance.clone();
        for channel in case.graph.channels() {
            if let (Some(from), Some(to)) = (channel.from.switch(), channel.to.switch()) {
                let over = distance[to.index()].saturating_add(1);
                distance[from.index()] = distance[from.index()].min(over);
            }
        }
        if distance == before {
            return distance;
        }
    }
}

impl Found {
    /// Channels between switches in use.
    pub(super) fn channels(&self) -> usize {
        let channels: BTreeSet<u32> = self.vertices.iter().map(|vertex| vertex.0).collect();
        channels.len()
    }

    /// Length of a shortest cycle: from every vertex breadth first until it is met again.
    pub(super) fn girth(&self) -> Option<usize> {
        let mut next: BTreeMap<Vertex, Vec<Vertex>> = BTreeMap::new();
        for &(from, to) in &self.dependencies {
            next.entry(from).or_default().push(to);
        }
        let around = |start: Vertex| {
            let mut met = BTreeSet::new();
            let mut queue = VecDeque::from([(start, 0)]);
            while let Some((vertex, steps)) = queue.pop_front() {
                for &after in next.get(&vertex).into_iter().flatten() {
                    if after == start {
                        return Some(steps + 1);
                    }
                    if met.insert(after) {
                        queue.push_back((after, steps + 1));
                    }
                }
            }
            None
        };
        next.keys().filter_map(|&start| around(start)).min()
    }
}
