//! Spreads pairs of switches over layers whose dependencies have no cycle, first fit.
//!
//! Cost: per pair and layer tried a look at the order of that layer's dependencies, or a search among those between the two
//! ends of a new one; memory O(layers * dependencies).
//!
//! # Algorithm
//! 1. Channels are ordered pairs of neighbouring switches; parallel links are one channel.
//! 2. Pairs `(i, d)`, `i < d`, in GUID order. The path from `i` to `d` and the one from `d` to `i` go to the same
//!    layer: the first that stays free of cycles with the dependencies of both.
//! 3. When no layer fits a new one is opened: one pair alone cannot form a cycle.
//!
//! References: [`LASH`](crate::references::LASH), OpenSM `osm_ucast_lash.c`

use super::subnet::Subnet;
use crate::routing::layers::{Dependency, LayerGraph, Vertices};

/// The next switch on the way from one switch to another.
#[derive(Clone, Debug)]
pub(super) struct Next {
    count: usize,
    next: Vec<u32>,
}

impl Next {
    /// Nothing is decided yet.
    pub(super) fn new(count: usize) -> Self {
        Self {
            count,
            next: vec![u32::MAX; count * count],
        }
    }

    /// From `from` to `to` over `over`, unless that is decided.
    pub(super) fn decide(&mut self, from: usize, to: usize, over: usize) {
        let next = &mut self.next[from * self.count + to];
        if *next == u32::MAX {
            *next = over as u32;
        }
    }

    /// The next switch from `from` to `to`.
    pub(super) fn get(&self, from: usize, to: usize) -> Option<u32> {
        let next = self.next[from * self.count + to];
        (next != u32::MAX).then_some(next)
    }
}

/// Layers of all pairs.
#[derive(Clone, Debug)]
pub(super) struct Layering {
    /// Layer of `[place][destination place]`.
    pub(super) layers: Vec<u16>,
    /// Ordered pairs of each layer.
    pub(super) pairs: Vec<u64>,
}

/// Assigns all pairs of connected switches.
pub(super) fn assign(subnet: &Subnet, next: &Next) -> Layering {
    let count = subnet.len();
    let channels = Channels::new(subnet);
    let vertices = channels.vertices();
    let mut layering = Layering {
        layers: vec![0; count * count],
        pairs: Vec::new(),
    };
    let mut layers: Vec<LayerGraph<'_>> = Vec::new();
    let mut dependencies = Vec::new();
    for from in 0..count {
        for to in from + 1..count {
            let (Some(there), Some(back)) =
                (channels.path(next, from, to), channels.path(next, to, from))
            else {
                continue;
            };
            dependencies.clear();
            let pairs = [there, back];
            let pairs = pairs.iter().flat_map(|path| path.windows(2));
            dependencies.extend(
                pairs.map(|pair| -> Dependency { (vertices.of(pair[0]), vertices.of(pair[1]), 1) }),
            );
            let mut all = layers.iter_mut();
            let layer = all.position(|layer| layer.try_add(&dependencies));
            let layer = layer.unwrap_or_else(|| {
                let mut layer = LayerGraph::new(&vertices);
                layer.try_add(&dependencies);
                layers.push(layer);
                layering.pairs.push(0);
                layers.len() - 1
            });
            layering.pairs[layer] += 2;
            layering.layers[from * count + to] = layer as u16;
            layering.layers[to * count + from] = layer as u16;
        }
    }
    layering
}

/// Step 1: the channels, numbered by sending switch.
struct Channels {
    /// First channel of each switch, and the end.
    first: Vec<usize>,
    /// Receiving switch.
    to: Vec<u32>,
}

impl Channels {
    fn new(subnet: &Subnet) -> Self {
        let mut channels = Self {
            first: vec![0],
            to: Vec::new(),
        };
        for place in 0..subnet.len() {
            let start = channels.to.len();
            for link in subnet.links.of(place) {
                if !channels.to[start..].contains(&link.to) {
                    channels.to.push(link.to);
                }
            }
            channels.first.push(channels.to.len());
        }
        channels
    }

    fn path(&self, next: &Next, from: usize, to: usize) -> Option<Vec<u32>> {
        let mut path = Vec::new();
        let mut at = from;
        while at != to {
            let over = next.get(at, to)?;
            let own = self.first[at]..self.first[at + 1];
            let place = self.to[own.clone()]
                .iter()
                .position(|&other| other == over)?;
            path.push((own.start + place) as u32);
            at = over as usize;
        }
        Some(path)
    }

    /// The channels as vertices of a graph of dependencies.
    fn vertices(&self) -> Vertices {
        let switches = self.first.windows(2).enumerate();
        let ends = switches.flat_map(|(from, channels)| {
            let to = self.to[channels[0]..channels[1]].iter();
            to.map(move |&to| Some((from as u32, to)))
        });
        Vertices::new(&ends.collect::<Vec<_>>())
    }
}
