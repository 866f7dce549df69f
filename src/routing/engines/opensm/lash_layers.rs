//! Spreads pairs of switches over layers whose dependencies have no cycle, first fit.
//!
//! Cost: per pair and layer tried one search of that layer's dependencies; memory O(layers * dependencies).
//!
//! # Algorithm
//! 1. Channels are ordered pairs of neighbouring switches; parallel links are one channel.
//! 2. Pairs `(i, d)`, `i < d`, in GUID order. The path from `i` to `d` and the one from `d` to `i` go to the same
//!    layer: the first that stays free of cycles with the dependencies of both. Only cycles through new
//!    dependencies are possible, so that a search from the first channel of each path finds them.
//! 3. When no layer fits a new one is opened: one pair alone cannot form a cycle.
//!
//! References: [`LASH`](crate::references::LASH), OpenSM `osm_ucast_lash.c`

use super::subnet::Subnet;

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
    let mut layering = Layering {
        layers: vec![0; count * count],
        pairs: Vec::new(),
    };
    let mut layers: Vec<Dependencies> = Vec::new();
    for from in 0..count {
        for to in from + 1..count {
            let (Some(there), Some(back)) =
                (channels.path(next, from, to), channels.path(next, to, from))
            else {
                continue;
            };
            let paths = [&there[..], &back[..]];
            let fits = layers
                .iter_mut()
                .position(|layer| layer.try_add(&channels, paths));
            let layer = fits.unwrap_or_else(|| {
                let mut layer = Dependencies::new(&channels);
                layer.change(&channels, paths, true);
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
    /// First dependency out of each channel, and the end.
    first_dependency: Vec<usize>,
}

impl Channels {
    fn new(subnet: &Subnet) -> Self {
        let mut channels = Self {
            first: vec![0],
            to: Vec::new(),
            first_dependency: vec![0],
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
        let mut total = 0;
        for &to in &channels.to {
            let to = to as usize;
            total += channels.first[to + 1] - channels.first[to];
            channels.first_dependency.push(total);
        }
        channels
    }

    fn path(&self, next: &Next, from: usize, to: usize) -> Option<Vec<usize>> {
        let mut path = Vec::new();
        let mut at = from;
        while at != to {
            let over = next.get(at, to)?;
            let own = self.first[at]..self.first[at + 1];
            path.push(own.start + self.to[own].iter().position(|&other| other == over)?);
            at = over as usize;
        }
        Some(path)
    }

    /// Number of the dependency of `second` on `first`.
    fn dependency(&self, first: usize, second: usize) -> usize {
        self.first_dependency[first] + second - self.first[self.to[first] as usize]
    }
}

/// The dependencies of one layer.
struct Dependencies {
    /// Paths that cause each one.
    uses: Vec<u32>,
    /// State of each channel in the current search: below `2 * search` unknown, that open, one more closed.
    state: Vec<u32>,
    search: u32,
}

impl Dependencies {
    fn new(channels: &Channels) -> Self {
        Self {
            uses: vec![0; channels.first_dependency[channels.to.len()]],
            state: vec![0; channels.to.len()],
            search: 0,
        }
    }

    fn change(&mut self, channels: &Channels, paths: [&[usize]; 2], add: bool) {
        for pair in paths.iter().flat_map(|path| path.windows(2)) {
            let uses = &mut self.uses[channels.dependency(pair[0], pair[1])];
            *uses = if add { *uses + 1 } else { *uses - 1 };
        }
    }

    /// Adds the paths unless they close a cycle; tells whether it did.
    fn try_add(&mut self, channels: &Channels, paths: [&[usize]; 2]) -> bool {
        self.change(channels, paths, true);
        self.search += 1;
        let cyclic = paths.iter().any(|path| self.is_cyclic(channels, path[0]));
        if cyclic {
            self.change(channels, paths, false);
        }
        !cyclic
    }

    /// Step 2: whether a cycle can be reached from `start`.
    fn is_cyclic(&mut self, channels: &Channels, start: usize) -> bool {
        let open = 2 * self.search;
        if self.state[start] > open {
            return false;
        }
        self.state[start] = open;
        let mut stack = vec![(start, 0)];
        while let Some((channel, successor)) = stack.last_mut() {
            let switch = channels.to[*channel] as usize;
            let next = channels.first[switch] + *successor;
            if next == channels.first[switch + 1] {
                self.state[*channel] = open + 1;
                stack.pop();
                continue;
            }
            *successor += 1;
            if self.uses[channels.dependency(*channel, next)] == 0 {
                continue;
            }
            if self.state[next] == open {
                return true;
            }
            if self.state[next] < open {
                self.state[next] = open;
                stack.push((next, 0));
            }
        }
        false
    }
}
