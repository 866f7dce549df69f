//! Layered routing: puts every (source, destination) pair into a layer with acyclic dependencies.
//!
//! Where destinations have several targets (addresses, or hosts), each with its paths, a pair is one of source and target.
//!
//! Guarantees: the dependencies of each layer are acyclic; with units of one source, any paths that are
//! shortest and any order, at most [`upper_bound`] layers.
//! Cost: time O(units * layers * search), where a search is that of `graph/mod.rs`; dependencies are collected in parallel,
//! first-fit itself is sequential; memory O(layers * dependencies + pairs), with balancing 12 bytes per dependency of every unit.
//!
//! # Algorithm
//! 1. Pairs are grouped into units, taken in the given order.
//! 2. A unit goes into the first layer that stays acyclic; if there is none a new layer is opened, as long as there
//!    may be one more; else its pairs stay without a layer.
//! 3. Optionally units move from full to empty layers while that makes the difference of their fills smaller
//!    and both stay acyclic.
//!
//! References: [`LASH`](crate::references::LASH); [`REINEMO`](crate::references::REINEMO) §3.3

use super::channel_bits::Vertices;
use super::graph::{Dependency, LayerGraph};
use super::units::{Targets, Unit};
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
    /// Layers there are from the start, empty or not.
    pub least: usize,
    /// Seed of a random order.
    pub seed: u64,
}

/// The paths to be placed, from ends numbered `0..ends()` to targets.
pub trait Paths: Sync {
    /// Number of ends.
    fn ends(&self) -> usize;
    /// The end that each target belongs to, `[target]`; unless an engine says otherwise every end is one target.
    fn targets(&self) -> Vec<u32> {
        (0..self.ends() as u32).collect()
    }
    /// The switches that each channel leads from and to, `None` for those of hosts; `[channel]`.
    fn channels(&self) -> Vec<Option<(u32, u32)>>;
    /// Appends the channels of the path from an end to a target of another end; nothing when there is none.
    fn path(&self, source: usize, target: usize, channels: &mut Vec<u32>);
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layers {
    /// Layer of `[source][target]`; [`NO_LAYER`] for pairs that found none and from an end to itself.
    pub layer: Vec<u8>,
    /// Pairs in each layer.
    pub fill: Vec<u64>,
    /// What it took.
    pub work: Work,
}

/// The cost of filling layers, the same on every machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Units for which a layer was sought in step 2, the pairs of a split one included.
    pub units: u64,
    /// Channels that searches for cycles came to.
    pub searched: u64,
}

/// Layers that always suffice with units of one source and shortest paths: half the switches, rounded up.
pub const fn upper_bound(switches: usize) -> usize {
    switches.div_ceil(2)
}

/// Puts all pairs of `paths` into layers.
pub fn assign(paths: &impl Paths, options: &Options) -> Layers {
    let targets = Targets::new(paths.ends(), paths.targets());
    let vertices = Vertices::new(&paths.channels());
    let mut filling = Filling {
        paths,
        targets: &targets,
        vertices: &vertices,
        options,
        layers: vec![LayerGraph::new(&vertices); options.least],
        placed: vec![Vec::new(); options.least],
        result: Layers {
            layer: vec![NO_LAYER; targets.ends() * targets.count()],
            fill: vec![0; options.least],
            work: Work::default(),
        },
    };
    for batch in units(paths, &targets, options).chunks(BATCH) {
        let dependencies: Vec<Vec<Dependency>> = batch
            .par_iter()
            .with_min_len(16)
            .map(|&unit| dependencies(paths, &targets, &vertices, unit))
            .collect();
        for (&unit, dependencies) in batch.iter().zip(dependencies) {
            filling.place(unit, dependencies);
        }
    }
    if options.balance {
        filling.balance();
    }
    filling.result.work.searched += filling.layers.iter().map(LayerGraph::searched).sum::<u64>();
    filling.result
}

/// All units in order.
fn units(paths: &impl Paths, targets: &Targets, options: &Options) -> Vec<Unit> {
    let ends = targets.ends() as u32;
    let all = 0..targets.count() as u32;
    let most = targets.of.iter().map(|of| of.len() as u32).max();
    let mut units: Vec<Unit> = match options.granularity {
        Granularity::Source | Granularity::Hybrid => (0..ends).map(Unit::From).collect(),
        Granularity::Destination => all.map(Unit::To).collect(),
        Granularity::Pair => {
            let to = |t: u32| {
                let own = targets.end[t as usize];
                let sources = (0..ends).filter(move |&s| s != own);
                sources.map(move |s| Unit::Pair(s, t))
            };
            all.flat_map(to).collect()
        }
        Granularity::Both => {
            let numbers = 0..most.unwrap_or(0);
            let between = numbers.flat_map(|number| {
                (0..ends).flat_map(move |d| (0..d).map(move |s| Unit::Both(s, d, number)))
            });
            between.filter(|unit| unit.size(targets) > 0).collect()
        }
    };
    let hops = |unit: &Unit| -> usize {
        let mut channels = Vec::new();
        for (s, t) in unit.pairs(targets) {
            paths.path(s, t, &mut channels);
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
fn dependencies(
    paths: &impl Paths,
    targets: &Targets,
    vertices: &Vertices,
    unit: Unit,
) -> Vec<Dependency> {
    let mut all: Vec<(u32, u32)> = Vec::new();
    let mut channels = Vec::new();
    for (source, target) in unit.pairs(targets) {
        channels.clear();
        paths.path(source, target, &mut channels);
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
    targets: &'a Targets,
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
        self.result.work.units += 1;
        let mut fitting = self.layers.iter_mut();
        if let Some(layer) = fitting.position(|layer| layer.try_add(&dependencies)) {
            return self.record(unit, dependencies, layer);
        }
        if self.options.granularity == Granularity::Hybrid
            && !self.layers.is_empty()
            && let Unit::From(source) = unit
        {
            for (_, target) in unit.pairs(self.targets) {
                let pair = Unit::Pair(source, target as u32);
                let dependencies =
                    self::dependencies(self.paths, self.targets, self.vertices, pair);
                self.place(pair, dependencies);
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
        for (source, target) in unit.pairs(self.targets) {
            let entry = &mut self.result.layer[source * self.targets.count() + target];
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
            let size = unit.size(self.targets) as u64;
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
