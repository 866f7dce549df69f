//! Who takes part: switches and hosts, who is next to whom, and whose the links of a network are.

use crate::topology::{Endpoint, Graph};
use std::collections::VecDeque;

/// The elements of a fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elements {
    /// Neighbours of every element, each once, in order.
    neighbours: Vec<Vec<u32>>,
    /// Element that works for a link, `[link]`.
    owners: Vec<u32>,
}

impl Elements {
    /// Elements with these neighbours, by whom a link of a network is worked for.
    pub fn new(mut neighbours: Vec<Vec<u32>>, owners: Vec<u32>) -> Self {
        for list in &mut neighbours {
            list.sort_unstable();
            list.dedup();
        }
        Self { neighbours, owners }
    }

    /// The switches by their ids, then the hosts; links of the network are the channels by their ids, each worked for where
    /// it begins. Parallel links make one neighbour.
    pub fn of(graph: &Graph) -> Self {
        let count = graph.switches().len() + graph.hosts().len();
        let mut neighbours = vec![Vec::new(); count];
        let mut owners = Vec::with_capacity(graph.channels().len());
        for channel in graph.channels() {
            let [from, to] = [channel.from, channel.to].map(|end| element(graph, end));
            neighbours[from as usize].push(to);
            owners.push(from);
        }
        Self::new(neighbours, owners)
    }

    /// One more link of the network.
    pub fn add_link(&mut self, owner: u32) {
        self.owners.push(owner);
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.neighbours.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.neighbours.is_empty()
    }

    /// Elements next to one.
    pub fn neighbours(&self, element: u32) -> &[u32] {
        &self.neighbours[element as usize]
    }

    /// Who works for a link.
    pub fn owner(&self, link: u32) -> u32 {
        self.owners[link as usize]
    }

    /// Pairs of neighbours.
    pub fn pairs(&self) -> u64 {
        self.neighbours
            .iter()
            .map(|list| list.len() as u64)
            .sum::<u64>()
            / 2
    }

    /// Hops from an element to all, `None` to those that it does not reach. Cost: O(pairs).
    pub fn distances(&self, from: u32) -> Vec<Option<u32>> {
        self.search(from)
            .into_iter()
            .map(|found| found.map(|(hops, _)| hops))
            .collect()
    }

    /// Hops from an element to the farthest that it reaches.
    pub fn height(&self, from: u32) -> u32 {
        self.distances(from)
            .into_iter()
            .flatten()
            .max()
            .unwrap_or(0)
    }

    /// The same elements, only those next to each other that are so in a tree of shortest ways from one.
    #[must_use]
    pub fn tree(&self, from: u32) -> Self {
        let mut neighbours = vec![Vec::new(); self.len()];
        for (element, found) in (0u32..).zip(self.search(from)) {
            if let Some((_, parent)) = found
                && element != from
            {
                neighbours[element as usize].push(parent);
                neighbours[parent as usize].push(element);
            }
        }
        Self::new(neighbours, self.owners.clone())
    }

    /// Hops and the element before, breadth first.
    fn search(&self, from: u32) -> Vec<Option<(u32, u32)>> {
        let mut found = vec![None; self.len()];
        found[from as usize] = Some((0, from));
        let mut queue = VecDeque::from([(from, 0)]);
        while let Some((element, hops)) = queue.pop_front() {
            for &next in self.neighbours(element) {
                if found[next as usize].is_none() {
                    found[next as usize] = Some((hops + 1, element));
                    queue.push_back((next, hops + 1));
                }
            }
        }
        found
    }
}

/// The element of a switch or a host.
pub fn element(graph: &Graph, end: Endpoint) -> u32 {
    match end {
        Endpoint::Switch(switch, _) => switch.0,
        Endpoint::Host(host) => graph.switches().len() as u32 + host.0,
    }
}
