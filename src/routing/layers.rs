//! Layered routing: puts every (source, destination) pair into a layer with acyclic dependencies.
//!
//! Guarantees: the dependencies of each layer are acyclic; with units of one source, any paths that are
//! shortest and any order, at most [`upper_bound`] layers.
//! Cost: time O(units * layers * search), where a search is that of `layer_graph.rs`; dependencies are
//! collected in parallel, first-fit itself is sequential; memory O(layers * dependencies + pairs), with balancing
//! twelve bytes per dependency of every unit.
//!
//! # Algorithm
//! 1. Pairs are grouped into units, taken in the given order.
//! 2. A unit goes into the first layer that stays acyclic; if there is none a new layer is opened, as long as
//!    there may be one more; else its pairs stay without a layer.
//! 3. Optionally units move from full to empty layers while that makes the difference of their fills smaller
//!    and both stay acyclic.
//!
//! References: [`LASH`](crate::references::LASH); [`REINEMO`](crate::references::REINEMO) §3.3

use super::channel_bits::Vertices;
use super::layer_graph::{Dependency, LayerGraph};
use crate::rng::{Purpose, below, stream};
use rayon::prelude::*;
use serde::Deserialize;
use std::cmp::Reverse;

/// Layer of a pair without one.
pub const NO_LAYER: u8 = u8::MAX;

/// Units whose dependencies are collected at a time: enough for all cores, little memory.
const BATCH: usize = 1024;

/// Which pairs are put into a layer together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum Granularity {
    /// All paths from one source (the paper's DAG).
    Source,
    /// All paths to one destination.
    Destination,
    /// One path.
    #[default]
    Pair,
    /// The paths between two switches in both directions (as OpenSM).
    Both,
    /// All paths from one source; a source that fits into no layer is split into single paths.
    Hybrid,
}

/// In which order units are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum Order {
    /// By number; single pairs by destination, then source.
    #[default]
    Index,
    /// As `Index`, over switches numbered breadth first, so that neighbours follow each other.
    Adjacent,
    /// Drawn from the seed.
    Random,
    /// Most hops first.
    Longest,
    /// Fewest hops first.
    Shortest,
}

/// How layers are filled.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// What is placed at a time.
    pub granularity: Granularity,
    /// Order of the units; `Adjacent` is up to the caller, who numbers the switches.
    pub order: Order,
    /// Whether step 3 is done.
    pub balance: bool,
    /// Most layers, at most 254.
    pub most: usize,
    /// Seed of a random order.
    pub seed: u64,
}

/// The paths to be placed, between ends numbered `0..ends()`.
pub trait Paths: Sync {
    /// Number of ends.
    fn ends(&self) -> usize;
    /// The switches that each channel leads from and to, `None` for those of hosts; `[channel]`.
    fn channels(&self) -> Vec<Option<(u32, u32)>>;
    /// Appends the channels of the path from one end to another; nothing when there is none.
    fn path(&self, source: usize, destination: usize, channels: &mut Vec<u32>);
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layers {
    /// Layer of `[source][destination]`; [`NO_LAYER`] for pairs that found none and from an end to itself.
    pub layer: Vec<u8>,
    /// Pairs in each layer.
    pub fill: Vec<u64>,
}

/// Layers that always suffice with units of one source and shortest paths: half the switches, rounded up.
pub const fn upper_bound(switches: usize) -> usize {
    switches.div_ceil(2)
}

/// Pairs placed together.
#[derive(Clone, Copy, Debug)]
enum Unit {
    From(u32),
    To(u32),
    Pair(u32, u32),
    Both(u32, u32),
}

impl Unit {
    /// Its ordered pairs, given the number of ends.
    fn pairs(self, ends: usize) -> Vec<(usize, usize)> {
        let others = |end: u32| (0..ends).filter(move |&other| other != end as usize);
        match self {
            Self::From(s) => others(s).map(|d| (s as usize, d)).collect(),
            Self::To(d) => others(d).map(|s| (s, d as usize)).collect(),
            Self::Pair(s, d) => vec![(s as usize, d as usize)],
            Self::Both(a, b) => vec![(a as usize, b as usize), (b as usize, a as usize)],
        }
    }

    /// Number of its pairs.
    fn size(self, ends: usize) -> usize {
        match self {
            Self::From(_) | Self::To(_) => ends - 1,
            Self::Pair(..) => 1,
            Self::Both(..) => 2,
        }
    }
}

/// Puts all pairs of `paths` into layers.
pub fn assign(paths: &impl Paths, options: &Options) -> Layers {
    let ends = paths.ends();
    let vertices = Vertices::new(&paths.channels());
    let mut filling = Filling {
        paths,
        vertices: &vertices,
        options,
        layers: Vec::new(),
        placed: Vec::new(),
        result: Layers {
            layer: vec![NO_LAYER; ends * ends],
            fill: Vec::new(),
        },
    };
    for batch in units(paths, options).chunks(BATCH) {
        let dependencies: Vec<Vec<Dependency>> = batch
            .par_iter()
            .with_min_len(16)
            .map(|&unit| dependencies(paths, &vertices, unit))
            .collect();
        for (&unit, dependencies) in batch.iter().zip(dependencies) {
            filling.place(unit, dependencies);
        }
    }
    if options.balance {
        filling.balance();
    }
    filling.result
}

/// All units in order.
fn units(paths: &impl Paths, options: &Options) -> Vec<Unit> {
    let ends = paths.ends() as u32;
    let pairs =
        || (0..ends).flat_map(move |d| (0..ends).filter(move |&s| s != d).map(move |s| (s, d)));
    let mut units: Vec<Unit> = match options.granularity {
        Granularity::Source | Granularity::Hybrid => (0..ends).map(Unit::From).collect(),
        Granularity::Destination => (0..ends).map(Unit::To).collect(),
        Granularity::Pair => pairs().map(|(s, d)| Unit::Pair(s, d)).collect(),
        Granularity::Both => pairs()
            .filter(|(s, d)| s < d)
            .map(|(s, d)| Unit::Both(s, d))
            .collect(),
    };
    let hops = |unit: &Unit| -> usize {
        let mut channels = Vec::new();
        for (s, d) in unit.pairs(ends as usize) {
            paths.path(s, d, &mut channels);
        }
        channels.len()
    };
    match options.order {
        Order::Index | Order::Adjacent => {}
        Order::Longest => units.sort_by_cached_key(|unit| Reverse(hops(unit))),
        Order::Shortest => units.sort_by_cached_key(hops),
        Order::Random => {
            let mut rng = stream(options.seed, Purpose::Routing, 0);
            for i in (1..units.len()).rev() {
                units.swap(i, below(&mut rng, i as u32 + 1) as usize);
            }
        }
    }
    units
}

/// The dependencies of a unit, each once with the number of its paths.
fn dependencies(paths: &impl Paths, vertices: &Vertices, unit: Unit) -> Vec<Dependency> {
    let mut all: Vec<(u32, u32)> = Vec::new();
    let mut channels = Vec::new();
    for (source, destination) in unit.pairs(paths.ends()) {
        channels.clear();
        paths.path(source, destination, &mut channels);
        let turns = channels.windows(2);
        all.extend(turns.map(|pair| (vertices.of(pair[0]), vertices.of(pair[1]))));
    }
    all.sort_unstable();
    let same = all.chunk_by(|a, b| a == b);
    same.map(|group| (group[0].0, group[0].1, group.len() as u32))
        .collect()
}

struct Filling<'a, P> {
    paths: &'a P,
    vertices: &'a Vertices,
    options: &'a Options,
    layers: Vec<LayerGraph<'a>>,
    /// Units with their dependencies by layer, for step 3; without it there are none.
    placed: Vec<Vec<(Unit, Vec<Dependency>)>>,
    result: Layers,
}

impl<P: Paths> Filling<'_, P> {
    /// Step 2.
    fn place(&mut self, unit: Unit, dependencies: Vec<Dependency>) {
        let mut fitting = self.layers.iter_mut();
        if let Some(layer) = fitting.position(|layer| layer.try_add(&dependencies)) {
            return self.record(unit, dependencies, layer);
        }
        if self.options.granularity == Granularity::Hybrid
            && !self.layers.is_empty()
            && let Unit::From(source) = unit
        {
            for (_, destination) in unit.pairs(self.paths.ends()) {
                let pair = Unit::Pair(source, destination as u32);
                self.place(pair, self::dependencies(self.paths, self.vertices, pair));
            }
            return;
        }
        if self.layers.len() < self.options.most.min(usize::from(NO_LAYER)) {
            let mut layer = LayerGraph::new(self.vertices);
            // one unit alone is acyclic when its paths are shortest; if not, its pairs stay without a layer
            if layer.try_add(&dependencies) {
                self.layers.push(layer);
                self.result.fill.push(0);
                self.placed.push(Vec::new());
                self.record(unit, dependencies, self.layers.len() - 1);
            }
        }
    }

    fn record(&mut self, unit: Unit, dependencies: Vec<Dependency>, layer: usize) {
        if self.options.balance {
            self.placed[layer].push((unit, dependencies));
        }
        self.set(unit, layer);
    }

    fn set(&mut self, unit: Unit, layer: usize) {
        let ends = self.paths.ends();
        for (source, destination) in unit.pairs(ends) {
            let entry = &mut self.result.layer[source * ends + destination];
            if *entry != NO_LAYER {
                self.result.fill[usize::from(*entry)] -= 1;
            }
            *entry = layer as u8;
            self.result.fill[layer] += 1;
        }
    }

    /// Step 3: the sum of squares of the fills falls with every move, so it ends.
    fn balance(&mut self) {
        loop {
            let mut order: Vec<usize> = (0..self.layers.len()).collect();
            order.sort_by_key(|&layer| (self.result.fill[layer], layer));
            let mut moved = false;
            for &from in order.iter().rev() {
                for &to in &order {
                    moved |= to != from && self.level(from, to);
                }
            }
            if !moved {
                return;
            }
        }
    }

    /// Moves units between two layers; tells whether there was one to move.
    fn level(&mut self, from: usize, to: usize) -> bool {
        let before = self.placed[from].len();
        let mut i = 0;
        while let Some((unit, dependencies)) = self.placed[from].get(i) {
            let size = unit.size(self.paths.ends()) as u64;
            if self.result.fill[from] <= self.result.fill[to] + size {
                break;
            }
            if self.layers[to].try_add(dependencies) {
                self.layers[from].remove(dependencies);
                let (unit, dependencies) = self.placed[from].swap_remove(i);
                self.record(unit, dependencies, to);
            } else {
                i += 1;
            }
        }
        self.placed[from].len() < before
    }
}
