//! The shortest paths of LASH by destination tables.
//!
//! Cost: tables O(destination switches * channels + switches * hosts); one path O(hops).

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

/// Paths between switches with hosts, over tables; where ends have several addresses, each has a table of its own.
pub(in crate::routing::engines) struct ShortestPaths<'a> {
    graph: &'a Graph,
    /// Way to the first host of each target: next channel of `[target][switch]`, `u32::MAX` without one.
    pub(in crate::routing::engines) next: Vec<Vec<u32>>,
    ends: &'a [&'a Destination],
}

impl<'a> ShortestPaths<'a> {
    /// The paths of `next` between `ends`, of one address each.
    pub(in crate::routing::engines) fn new(
        graph: &'a Graph,
        next: &[u8],
        ends: &'a [&'a Destination],
    ) -> Self {
        let hosts = graph.hosts().len();
        let column = |end: &&Destination| -> Vec<u32> {
            let host = end.hosts.first().map_or(0, |&(_, host)| host.index());
            let channel = |switch| {
                let port = u16::from(next[crate::ids::SwitchId::index(switch) * hosts + host]);
                let channel = graph.port_channel(switch, port);
                channel.map_or(u32::MAX, |channel| channel.0)
            };
            graph.switch_ids().map(channel).collect()
        };
        Self {
            graph,
            next: ends.par_iter().map(column).collect(),
            ends,
        }
    }
}

impl Paths for ShortestPaths<'_> {
    fn ends(&self) -> usize {
        self.ends.len()
    }

    fn addresses(&self) -> usize {
        self.next.len() / self.ends.len().max(1)
    }

    fn channels(&self) -> Vec<Option<(u32, u32)>> {
        let ends = self.graph.channels().iter();
        ends.map(|channel| Some((channel.from.switch()?.0, channel.to.switch()?.0)))
            .collect()
    }

    fn path(&self, source: usize, target: usize, channels: &mut Vec<u32>) {
        let home = self.ends[target % self.ends.len()].switch;
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

/// Destinations to which some pair has no layer.
pub(super) fn pairs_without_layer<'a>(
    found: &Layers,
    ends: &[&'a Destination],
) -> Vec<&'a Destination> {
    let count = ends.len();
    let lacks = |j: usize| (0..count).any(|i| i != j && found.layer[i * count + j] == NO_LAYER);
    (0..count).filter(|&j| lacks(j)).map(|j| ends[j]).collect()
}
