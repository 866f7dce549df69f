//! Moves paths to higher layers until the channel dependencies of no layer have a cycle (DFSSSP).
//!
//! Guarantees: the result is a function of the paths and their order.
//! Cost: time O(paths * length * ports) plus, per cycle, O(channels + paths moved * length); memory four bytes
//! per (path, dependency), paths of the hosts of one switch to the same destination counting as one.
//!
//! # Algorithm
//! 1. All paths are in layer 0. Every dependency keeps the list of paths that cause it.
//! 2. A layer is searched depth-first, from channels in the order of an unbalanced search tree read from the
//!    top (node, smaller keys, larger keys), dependencies in the order they were added. An open channel met
//!    again closes a cycle.
//! 3. The weakest dependency of the cycle, the one of the fewest (source, destination) pairs, the first on ties
//!    from where the cycle was closed, is removed: its paths move to the next layer, in order. The channels of
//!    the cycle become unknown and the search goes on where the cycle was closed.
//! 4. A layer without cycle is final; the next is searched, until one has no paths.
//!
//! Paths from the hosts of one switch to one destination cause the same dependencies and move together, so that
//! they are handled as one with a weight.
//!
//! References: [`DFSSSP`](crate::references::DFSSSP), OpenSM `osm_ucast_dfsssp.c`

use crate::routing::paths::links::{Links, NO_LINK};
use std::cmp::Ordering;

/// Forwarding to put in layers.
pub(in crate::routing) struct Paths<'a> {
    pub(in crate::routing) links: &'a Links,
    /// Output ports of `[place][column]`.
    pub(in crate::routing) ports: &'a [u8],
    /// Entries of a row.
    pub(in crate::routing) columns: usize,
    /// Columns in the order their paths are added.
    pub(in crate::routing) destinations: &'a [usize],
    /// (place, senders there) in the order their paths are added.
    pub(in crate::routing) sources: &'a [(usize, u32)],
}

/// How closely OpenSM is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::routing) enum Exactness {
    /// As said above: no layer has a cycle.
    Sound,
    /// With two oddities of OpenSM. A dependency left without pairs still closes cycles, and has to be removed to
    /// break them. And a channel that became unknown in step 3 remembers the one it was reached from: when it
    /// becomes a start itself, the search goes back there once it is done with it, and takes channels that were
    /// done, whose counts are gone, for open ones.
    OpenSm,
}

/// The layers of all paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::routing) struct Layers {
    /// Layer of `[place][column]`.
    pub(in crate::routing) layer: Vec<u8>,
    /// Number of layers, at least 1.
    pub(in crate::routing) count: usize,
}

/// Most layers that are tried: what a byte can hold.
const MOST_LAYERS: usize = 255;

/// Computes the layers; `key` orders channels.
///
/// When [`MOST_LAYERS`] do not suffice the count is higher by one, and the layers are of no use.
pub(in crate::routing) fn assign<K: Ord>(
    paths: &Paths<'_>,
    exact: Exactness,
    key: impl Fn(usize) -> K,
) -> Layers {
    let mut layer = vec![0; paths.ports.len()];
    let mut current = Dependencies::new(paths.links.all.len());
    for &column in paths.destinations {
        for &(place, weight) in paths.sources {
            current.add(paths, &key, (place, column), weight);
        }
    }
    let weight = weights(paths);
    let mut number = 0;
    while !current.nodes.is_empty() && number < MOST_LAYERS {
        let mut above = Dependencies::new(paths.links.all.len());
        let mut search = Search::new(&current, exact);
        while let Some(moved) = search.break_next_cycle(&mut current) {
            for path in moved {
                let (place, column) =
                    (path as usize / paths.columns, path as usize % paths.columns);
                if usize::from(layer[path as usize]) == number {
                    layer[path as usize] = number as u8 + 1;
                    current.remove(paths, (place, column), weight[place]);
                    above.add(paths, &key, (place, column), weight[place]);
                }
            }
        }
        current = above;
        number += 1;
    }
    let count = number.max(1) + usize::from(!current.nodes.is_empty());
    Layers { layer, count }
}

/// Senders of every place.
fn weights(paths: &Paths<'_>) -> Vec<u32> {
    let mut weight = vec![0; paths.links.places()];
    for &(place, senders) in paths.sources {
        weight[place] = senders;
    }
    weight
}

/// The links of a path, in order.
fn links_of<'a>(paths: &'a Paths<'a>, path: (usize, usize)) -> impl Iterator<Item = u32> + 'a {
    let (mut place, column) = path;
    // a table that loops ends after every switch was seen
    (0..paths.links.places()).map_while(move |_| {
        let port = paths.ports[place * paths.columns + column];
        let link = paths.links.at_port(place, u16::from(port));
        if link == NO_LINK {
            return None;
        }
        place = paths.links.all[link as usize].to as usize;
        Some(link)
    })
}

/// A channel waits for the next.
struct Dependency {
    /// Node waited for.
    to: u32,
    /// Pairs that cause it.
    pairs: u32,
    /// Paths that caused it, moved ones included.
    paths: Vec<u32>,
}

/// A channel in use.
struct Node {
    link: u32,
    /// In the order they were added.
    out: Vec<Dependency>,
    smaller: u32,
    larger: u32,
}

/// The channel dependencies of one layer.
struct Dependencies {
    /// In the order they were added; the first is the top of the search tree.
    nodes: Vec<Node>,
    /// Node of each link.
    node_of: Vec<u32>,
}

/// No node.
const NONE: u32 = u32::MAX;

impl Dependencies {
    fn new(links: usize) -> Self {
        Self {
            nodes: Vec::new(),
            node_of: vec![NONE; links],
        }
    }

    /// Step 1, for one path.
    fn add<K: Ord>(
        &mut self,
        paths: &Paths<'_>,
        key: &impl Fn(usize) -> K,
        path: (usize, usize),
        weight: u32,
    ) {
        let id = (path.0 * paths.columns + path.1) as u32;
        let mut last = NONE;
        for link in links_of(paths, path) {
            let node = self.node(link, key);
            if last != NONE {
                let out = &mut self.nodes[last as usize].out;
                match out.iter_mut().find(|dependency| dependency.to == node) {
                    Some(dependency) => {
                        dependency.pairs += weight;
                        dependency.paths.push(id);
                    }
                    None => out.push(Dependency {
                        to: node,
                        pairs: weight,
                        paths: vec![id],
                    }),
                }
            }
            last = node;
        }
    }

    /// The node of a link, new where there is none.
    fn node<K: Ord>(&mut self, link: u32, key: &impl Fn(usize) -> K) -> u32 {
        if self.node_of[link as usize] != NONE {
            return self.node_of[link as usize];
        }
        let new = self.nodes.len() as u32;
        self.node_of[link as usize] = new;
        let mut at = if new == 0 { NONE } else { 0 };
        while at != NONE {
            let node = &mut self.nodes[at as usize];
            let branch = match key(link as usize).cmp(&key(node.link as usize)) {
                Ordering::Less => &mut node.smaller,
                _ => &mut node.larger,
            };
            if *branch == NONE {
                *branch = new;
                break;
            }
            at = *branch;
        }
        self.nodes.push(Node {
            link,
            out: Vec::new(),
            smaller: NONE,
            larger: NONE,
        });
        new
    }

    /// Takes back a path that moves to the next layer.
    fn remove(&mut self, paths: &Paths<'_>, path: (usize, usize), weight: u32) {
        let mut last = NONE;
        for link in links_of(paths, path) {
            let node = self.node_of[link as usize];
            if last != NONE {
                let out = &mut self.nodes[last as usize].out;
                let caused = out.iter_mut().find(|dependency| dependency.to == node);
                if let Some(dependency) = caused {
                    dependency.pairs = dependency.pairs.wrapping_sub(weight);
                }
            }
            last = node;
        }
    }

    /// Nodes from the top of the search tree, each before its branches, smaller keys first.
    fn in_tree_order(&self) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut stack = vec![0];
        while let Some(node) = stack.pop() {
            order.push(node);
            let branches = &self.nodes[node as usize];
            let both = [branches.larger, branches.smaller];
            stack.extend(both.into_iter().filter(|&branch| branch != NONE));
        }
        order
    }
}

/// What the search knows of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Unknown,
    Open,
    Done,
}

/// Step 2: a search that goes on after every cycle.
struct Search {
    exact: Exactness,
    /// Nodes to start from, and how many of them are known not to be unknown.
    starts: Vec<u32>,
    started: usize,
    state: Vec<State>,
    /// The node that each open node was reached from.
    before: Vec<u32>,
    /// Where the search is, [`NONE`] when it needs a start.
    current: u32,
}

impl Search {
    fn new(layer: &Dependencies, exact: Exactness) -> Self {
        let nodes = layer.nodes.len();
        Self {
            exact,
            starts: layer.in_tree_order(),
            started: 0,
            state: vec![State::Unknown; nodes],
            before: vec![NONE; nodes],
            current: NONE,
        }
    }

    /// The paths that cause the weakest dependency of the next cycle, which is removed; `None` when there is no
    /// cycle any more.
    fn break_next_cycle(&mut self, layer: &mut Dependencies) -> Option<Vec<u32>> {
        loop {
            if self.current == NONE {
                self.current = self.next_start()?;
            }
            let node = self.current as usize;
            self.state[node] = State::Open;
            let next = self.follow(layer, node, |state| state != State::Done);
            match next.map(|place| layer.nodes[node].out[place].to) {
                Some(next) if self.state[next as usize] == State::Open => {
                    self.current = next;
                    return Some(self.break_cycle(layer, next as usize));
                }
                Some(next) => {
                    self.before[next as usize] = node as u32;
                    self.current = next;
                }
                None => self.leave(layer, node),
            }
        }
    }

    fn next_start(&mut self) -> Option<u32> {
        let left = &self.starts[self.started..];
        let is_unknown = |&node: &u32| self.state[node as usize] == State::Unknown;
        self.started += left.iter().position(is_unknown)?;
        let start = self.starts[self.started];
        if self.exact == Exactness::Sound {
            self.before[start as usize] = NONE;
        }
        Some(start)
    }

    /// Place of the first dependency of `node` on a node in a `wanted` state.
    fn follow(
        &self,
        layer: &Dependencies,
        node: usize,
        wanted: impl Fn(State) -> bool,
    ) -> Option<usize> {
        let all = self.exact == Exactness::OpenSm;
        layer.nodes[node].out.iter().position(|dependency| {
            (all || dependency.pairs > 0) && wanted(self.state[dependency.to as usize])
        })
    }

    fn leave(&mut self, layer: &mut Dependencies, node: usize) {
        self.state[node] = State::Done;
        for dependency in &mut layer.nodes[node].out {
            dependency.pairs = 0;
            dependency.paths = Vec::new();
        }
        self.current = std::mem::replace(&mut self.before[node], NONE);
    }

    /// Step 3, for the cycle through `close`.
    fn break_cycle(&mut self, layer: &mut Dependencies, close: usize) -> Vec<u32> {
        let mut weakest: Option<(usize, usize, u32)> = None;
        let mut node = close;
        while let Some(place) = self.follow(layer, node, |state| state == State::Open) {
            let dependency = &layer.nodes[node].out[place];
            if weakest.is_none_or(|(_, _, pairs)| dependency.pairs < pairs) {
                weakest = Some((node, place, dependency.pairs));
            }
            node = dependency.to as usize;
            if node == close {
                break;
            }
            self.state[node] = State::Unknown;
        }
        self.state[close] = State::Unknown;
        self.started = 0;
        weakest.map_or_else(Vec::new, |(node, place, _)| {
            layer.nodes[node].out.remove(place).paths
        })
    }
}
