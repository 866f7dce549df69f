//! The shortest paths of LASH by destination tables.
//!
//! Cost: tables O(destination switches * channels + switches * hosts); one path O(hops).

use crate::ids::{HostId, SwitchId};
use crate::routing::UNREACHABLE;
use crate::routing::balance::Destination;
use crate::routing::layers::{Layers, NO_LAYER, Paths};
use crate::routing::paths::{Adjacency, UNREACHED};
use crate::topology::Graph;
use rayon::prelude::*;

/// Tables whose next switch is the nearer one of lowest id; parallel links take destinations in turn.
pub(in crate::routing::engines) fn lowest(
    graph: &Graph,
    adjacency: &Adjacency,
    destinations: &[Destination],
    distances: &[Vec<u16>],
) -> Vec<u8> {
    let hosts = graph.hosts().len();
    let mut next = vec![UNREACHABLE; adjacency.len() * hosts];
    let rows = next.par_chunks_mut(hosts.max(1)).enumerate();
    rows.for_each(|(switch, row)| {
        for (i, destination) in destinations.iter().enumerate() {
            let here = distances[i][switch];
            let nearer = |neighbor: u32| {
                let there = distances[i][neighbor as usize];
                there != UNREACHED && here != UNREACHED && there + 1 == here
            };
            let exits = || {
                let exits = adjacency.exits(switch).iter();
                exits.filter(|exit| nearer(exit.neighbor))
            };
            let lowest = exits().map(|exit| exit.neighbor).min();
            let links: Vec<u16> = exits()
                .filter(|exit| Some(exit.neighbor) == lowest)
                .map(|exit| exit.port)
                .collect();
            for &(port, host) in &destination.hosts {
                if destination.switch.index() == switch {
                    row[host.index()] = port as u8;
                } else if !links.is_empty() {
                    row[host.index()] = links[i % links.len()] as u8;
                }
            }
        }
    });
    next
}

/// Hops from every switch to each destination, `[destination][switch]`.
pub(in crate::routing::engines) fn distances(
    adjacency: &Adjacency,
    destinations: &[Destination],
) -> Vec<Vec<u16>> {
    destinations
        .par_iter()
        .map(|destination| adjacency.distances(&[destination.switch]))
        .collect()
}

/// Next channel of `[switch]`, `u32::MAX` without one.
type Way = Vec<u32>;

/// The way to a host in tables `[switch][host]`.
fn way_to(graph: &Graph, next: &[u8], host: HostId) -> Way {
    let hosts = graph.hosts().len();
    let channel = |switch: SwitchId| {
        let port = u16::from(next[switch.index() * hosts + host.index()]);
        let channel = graph.port_channel(switch, port);
        channel.map_or(u32::MAX, |channel| channel.0)
    };
    graph.switch_ids().map(channel).collect()
}

/// The ways to the first host of each end.
pub(in crate::routing::engines) fn ways_to_switches(
    graph: &Graph,
    next: &[u8],
    ends: &[&Destination],
) -> Vec<Way> {
    let first = |end: &&Destination| end.hosts.first().map(|&(_, host)| host);
    ends.par_iter()
        .map(|end| first(end).map_or(Vec::new(), |host| way_to(graph, next, host)))
        .collect()
}

/// Paths between switches with hosts, over ways to targets.
pub(in crate::routing::engines) struct ShortestPaths<'a> {
    graph: &'a Graph,
    ends: &'a [&'a Destination],
    /// Way to each target.
    pub(in crate::routing::engines) next: Vec<Way>,
    /// End of each target.
    end: Vec<u32>,
}

impl<'a> ShortestPaths<'a> {
    /// The paths over `next`, `[target]`, where target `a * ends + d` is address `a` of end `d`.
    pub(in crate::routing::engines) fn of_addresses(
        graph: &'a Graph,
        ends: &'a [&'a Destination],
        next: Vec<Way>,
    ) -> Self {
        let numbers = (0..ends.len() as u32).cycle();
        let end = numbers.take(next.len()).collect();
        Self {
            graph,
            ends,
            next,
            end,
        }
    }

    /// The paths of tables `[switch][host]`, and the target of each host; hosts of one switch with the same way from
    /// everywhere share a target.
    pub(super) fn of_hosts(
        graph: &'a Graph,
        ends: &'a [&'a Destination],
        next: &[u8],
    ) -> (Self, Vec<u32>) {
        let distinct = |end: &&Destination| {
            let mut ways: Vec<Way> = Vec::new();
            let mut way_of = Vec::with_capacity(end.hosts.len());
            for &(_, host) in &end.hosts {
                let mut way = way_to(graph, next, host);
                // at home every host has a port of its own
                way[end.switch.index()] = u32::MAX;
                let place = ways.iter().position(|known| *known == way);
                way_of.push((host, place.unwrap_or(ways.len())));
                if place.is_none() {
                    ways.push(way);
                }
            }
            (ways, way_of)
        };
        let all: Vec<_> = ends.par_iter().map(distinct).collect();
        let mut target_of = vec![0; graph.hosts().len()];
        let (mut next, mut end) = (Vec::new(), Vec::new());
        for (number, (ways, way_of)) in (0u32..).zip(all) {
            for (host, place) in way_of {
                target_of[host.index()] = (next.len() + place) as u32;
            }
            end.resize(end.len() + ways.len(), number);
            next.extend(ways);
        }
        let paths = Self {
            graph,
            ends,
            next,
            end,
        };
        (paths, target_of)
    }
}

impl Paths for ShortestPaths<'_> {
    fn ends(&self) -> usize {
        self.ends.len()
    }

    fn targets(&self) -> Vec<u32> {
        self.end.clone()
    }

    fn channels(&self) -> Vec<Option<(u32, u32)>> {
        let ends = self.graph.channels().iter();
        ends.map(|channel| Some((channel.from.switch()?.0, channel.to.switch()?.0)))
            .collect()
    }

    fn path(&self, source: usize, target: usize, channels: &mut Vec<u32>) {
        let home = self.ends[self.end[target] as usize].switch;
        let mut switch = self.ends[source].switch;
        while switch != home {
            let channel = self.next[target][switch.index()];
            let ends = self.graph.channels().get(channel as usize);
            let Some(to) = ends.and_then(|channel| channel.to.switch()) else {
                return;
            };
            channels.push(channel);
            switch = to;
        }
    }
}

/// Ends to which some pair has no layer.
pub(super) fn pairs_without_layer<'a>(
    paths: &ShortestPaths<'a>,
    found: &Layers,
) -> Vec<&'a Destination> {
    let mut lacks = vec![false; paths.ends.len()];
    for (source, layers) in (0u32..).zip(found.layer.chunks(paths.end.len().max(1))) {
        for (&layer, &end) in layers.iter().zip(&paths.end) {
            lacks[end as usize] |= layer == NO_LAYER && end != source;
        }
    }
    let escaped = paths.ends.iter().zip(lacks).filter(|(_, lacks)| *lacks);
    escaped.map(|(&end, _)| end).collect()
}
