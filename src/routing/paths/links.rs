//! Links between switches as one flat list, for algorithms that index state by directed link.
//!
//! Cost: memory O(channels).

use crate::ids::SwitchId;
use crate::topology::{Endpoint, Graph};

/// No link.
pub(in crate::routing) const NO_LINK: u32 = u32::MAX;

/// One direction of a link between two switches, which are named by their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::routing) struct Link {
    /// Sending switch.
    pub(in crate::routing) from: u32,
    /// Receiving switch.
    pub(in crate::routing) to: u32,
    /// Port of the sending switch, from 1.
    pub(in crate::routing) port: u16,
    /// Port of the receiving switch, from 1.
    pub(in crate::routing) peer_port: u16,
    /// The other direction.
    pub(in crate::routing) reverse: u32,
}

/// All links, by sending switch, each switch's in port order; parallel links repeat.
#[derive(Clone, Debug)]
pub(in crate::routing) struct Links {
    /// Every directed link.
    pub(in crate::routing) all: Vec<Link>,
    /// First link of every place, and the end.
    first: Vec<u32>,
    /// First entry of every place in `by_port`.
    first_port: Vec<u32>,
    /// Link of (place, port), [`NO_LINK`] where the port leads to no switch.
    by_port: Vec<u32>,
}

impl Links {
    /// The links of `graph`; the place of a switch is its position in `order`, which holds every switch.
    pub(in crate::routing) fn new(graph: &Graph, order: &[SwitchId]) -> Self {
        let mut place = vec![0u32; order.len()];
        for (&switch, number) in order.iter().zip(0..) {
            place[switch.index()] = number;
        }
        let mut links = Self {
            all: Vec::with_capacity(graph.channels().len()),
            first: vec![0],
            first_port: Vec::with_capacity(order.len()),
            by_port: Vec::new(),
        };
        for (&switch, from) in order.iter().zip(0..) {
            let start = links.by_port.len();
            links.first_port.push(start as u32);
            links
                .by_port
                .resize(start + graph.ports(switch).len() + 1, NO_LINK);
            for (port, channel, neighbor) in graph.neighbors(switch) {
                let Endpoint::Switch(_, peer_port) = graph.channel(channel).to else {
                    continue;
                };
                links.by_port[start + usize::from(port)] = links.all.len() as u32;
                links.all.push(Link {
                    from,
                    to: place[neighbor.index()],
                    port,
                    peer_port,
                    reverse: NO_LINK,
                });
            }
            links.first.push(links.all.len() as u32);
        }
        for number in 0..links.all.len() {
            let link = links.all[number];
            links.all[number].reverse = links.at_port(link.to as usize, link.peer_port);
        }
        links
    }

    /// Number of switches.
    pub(in crate::routing) fn places(&self) -> usize {
        self.first.len() - 1
    }

    /// Numbers of the links out of a switch.
    #[inline]
    pub(in crate::routing) fn range(&self, place: usize) -> std::ops::Range<usize> {
        self.first[place] as usize..self.first[place + 1] as usize
    }

    /// Links out of a switch.
    #[inline]
    pub(in crate::routing) fn of(&self, place: usize) -> &[Link] {
        &self.all[self.range(place)]
    }

    /// Link at a port, [`NO_LINK`] when it leads to a host, to the switch itself or nowhere.
    #[inline]
    pub(in crate::routing) fn at_port(&self, place: usize, port: u16) -> u32 {
        let end = self
            .first_port
            .get(place + 1)
            .map_or(self.by_port.len(), |&first| first as usize);
        let entry = self.first_port[place] as usize + usize::from(port);
        if entry < end {
            self.by_port[entry]
        } else {
            NO_LINK
        }
    }

    /// Hops from every switch to `start`, [`UNREACHED`](super::UNREACHED) where there is no path.
    pub(in crate::routing) fn distances(&self, start: usize) -> Vec<u16> {
        let mut distance = vec![super::UNREACHED; self.places()];
        let mut queue = Vec::with_capacity(self.places());
        distance[start] = 0;
        queue.push(start);
        let mut head = 0;
        while let Some(&from) = queue.get(head) {
            head += 1;
            for link in self.of(from) {
                let to = link.to as usize;
                if distance[to] == super::UNREACHED {
                    distance[to] = distance[from] + 1;
                    queue.push(to);
                }
            }
        }
        distance
    }
}
