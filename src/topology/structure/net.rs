//! A fabric as a plain graph of switches: hosts are counted, parallel links are a weight, ports are left out.

use super::names;
use crate::ids::SwitchId;
use crate::topology::Graph;

/// Switches by number; those of a fabric are numbered in the order of their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Net {
    /// Hosts of every switch.
    pub(super) hosts: Vec<u32>,
    /// Neighbours and the links to them, `[switch]`, ascending; a switch linked to itself is its own neighbour, each
    /// such link twice.
    pub(super) links: Vec<Vec<(u32, u32)>>,
}

impl Net {
    /// The plain graph of a fabric, its switches in `order`.
    pub(super) fn new(graph: &Graph, order: &[u32]) -> Self {
        let mut place = vec![0; order.len()];
        for (number, &switch) in order.iter().enumerate() {
            place[switch as usize] = number as u32;
        }
        let of = |&switch: &u32| {
            let neighbors = graph.neighbors(SwitchId(switch));
            let mut found: Vec<u32> = neighbors.map(|(.., to)| place[to.index()]).collect();
            found.sort_unstable();
            let runs = found.chunk_by(|a, b| a == b);
            runs.map(|run| (run[0], run.len() as u32)).collect()
        };
        let hosts = |&switch: &u32| graph.attached_hosts(SwitchId(switch)).count() as u32;
        Self {
            hosts: order.iter().map(hosts).collect(),
            links: order.iter().map(of).collect(),
        }
    }

    /// Switches of a fabric in the order of their names.
    pub(super) fn by_name(graph: &Graph) -> Vec<u32> {
        names::in_order(graph.switches().iter().map(|node| (&*node.name, node.guid)))
    }

    /// Number of switches.
    pub(super) fn len(&self) -> usize {
        self.hosts.len()
    }

    /// Links of a switch, parallel ones too.
    pub(super) fn degree(&self, switch: usize) -> u32 {
        self.links[switch].iter().map(|&(_, links)| links).sum()
    }

    /// Links between switches.
    pub(super) fn link_count(&self) -> u64 {
        let all = (0..self.len()).map(|switch| u64::from(self.degree(switch)));
        all.sum::<u64>() / 2
    }

    /// The same with one more link between two different switches.
    pub(super) fn with_link(&self, a: u32, b: u32) -> Self {
        let mut net = self.clone();
        for (from, to) in [(a, b), (b, a)] {
            let links = &mut net.links[from as usize];
            match links.binary_search_by_key(&to, |&(other, _)| other) {
                Ok(place) => links[place].1 += 1,
                Err(place) => links.insert(place, (to, 1)),
            }
        }
        net
    }

    /// Hops from the nearest of some switches; `u32::MAX` where there is no way.
    pub(super) fn distances(&self, from: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut distances = vec![u32::MAX; self.len()];
        let mut queue: Vec<u32> = from.collect();
        for &switch in &queue {
            distances[switch as usize] = 0;
        }
        let mut next = 0;
        while let Some(&switch) = queue.get(next) {
            next += 1;
            let hops = distances[switch as usize] + 1;
            for &(other, _) in &self.links[switch as usize] {
                if distances[other as usize] == u32::MAX {
                    distances[other as usize] = hops;
                    queue.push(other);
                }
            }
        }
        distances
    }
}
