//! The simulation: shards that run windows of cycles in parallel, and what is done between two cycles.

use super::acts::{
    Acts, Feed, GlobalAct, LastingAct, Looks, Opening, OwnSwitches, Rounds, SavedActs,
};
use super::build::Blueprint;
use super::outcome::RunError;
use super::shard::Shard;
use super::shards::Shards;
use crate::cycle::{CycleBuilder, Wanted};
use crate::fabric::partition::partition;
use crate::fabric::placement::Placement;
use crate::plan::Plan;
use crate::routing::Routes;
use crate::topology::Graph;
use serde::{Deserialize, Serialize};
use std::ops::{Deref, DerefMut};

/// How to run; nothing here changes a result.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Worker threads, at least 1.
    pub threads: usize,
    /// Shards, at least 1.
    pub shards: usize,
    /// What is recorded of single packets beside what the plan says.
    pub wanted: Wanted,
    /// Time every stage.
    pub profile: bool,
    /// Ask for rows ahead; `None` = in large fabrics.
    pub prefetch: Option<bool>,
    /// Systems of the caller that look on, for the slots they name.
    pub guests: &'static [Guest],
}

/// Adds systems to the cycle of a shard.
pub type Guest = fn(&mut CycleBuilder);

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: 1,
            shards: 1,
            wanted: Wanted::default(),
            profile: false,
            prefetch: None,
            guests: &[],
        }
    }
}

/// A fabric in motion.
pub struct Simulation {
    shards: Shards,
    acts: Acts,
    pool: Option<rayon::ThreadPool>,
}

/// The state of a simulation between two cycles.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    /// Each shard's, as [`Shard::save`] gives it.
    pub shards: Vec<Vec<u8>>,
    /// What its acts remember.
    pub acts: SavedActs,
}

/// Longest window of a single shard: how often the driver looks at progress.
const LONGEST_WINDOW: u64 = 1 << 16;

impl Simulation {
    /// Builds the shards.
    ///
    /// # Errors
    /// When the worker threads cannot be started.
    pub fn new(
        plan: &Plan,
        graph: &Graph,
        routes: &Routes,
        options: Options,
    ) -> Result<Self, rayon::ThreadPoolBuildError> {
        let placement = Placement::new(graph, partition(graph, options.shards));
        let window = placement.window(graph, plan).min(LONGEST_WINDOW);
        let blueprint = Blueprint::new(plan, graph, routes, &placement, options);
        let build = |shard: usize| blueprint.shard(shard);
        let shards: Vec<_> = (0..placement.shard_count).map(build).collect();
        let threads = options.threads.min(placement.shard_count);
        let pool = (threads > 1)
            .then(|| rayon::ThreadPoolBuilder::new().num_threads(threads).build())
            .transpose()?;
        let mut simulation = Self {
            shards: Shards::new(shards, graph, &placement, window),
            acts: Acts::default(),
            pool,
        };
        if let Some(feed) = Feed::new(plan, graph.hosts().len()) {
            simulation.register(feed);
        }
        if let Some(opening) = Opening::new(plan) {
            simulation.register(opening);
        }
        if let Some(rounds) = Rounds::new(plan, graph, routes) {
            simulation.register(rounds);
        }
        for looks in Looks::all(&simulation.shards) {
            simulation.register(looks);
        }
        if let Some(looks) = OwnSwitches::new(plan, graph, routes) {
            simulation.register(looks);
        }
        Ok(simulation)
    }

    /// Adds an act after those that it has. A run that goes on from a saved state needs the same acts.
    ///
    /// # Panics
    /// When another one has its name.
    pub fn register(&mut self, act: impl LastingAct + 'static) {
        self.acts.register(Box::new(act));
    }

    /// What its acts have counted since cycle 0, by name.
    pub fn act_counts(&self) -> impl Iterator<Item = (String, u64)> {
        self.acts.counts()
    }

    /// Runs up to cycle `end` (exclusive), and does what is due before `end`.
    ///
    /// # Errors
    /// Those of its acts: messages that cannot be read.
    pub fn run_until(&mut self, end: u64) -> Result<(), RunError> {
        self.run_with(end, &mut [])
    }

    /// The same with acts of the caller, which come after its own and are saved by the caller.
    ///
    /// # Errors
    /// Those of the acts.
    pub fn run_with(&mut self, end: u64, acts: &mut [&mut dyn GlobalAct]) -> Result<(), RunError> {
        loop {
            let next = self.acts.act(&mut self.shards, acts)?;
            if self.shards.now() >= end {
                return Ok(());
            }
            let (until, shards) = (next.min(end), &mut self.shards);
            match &self.pool {
                Some(pool) => pool.install(|| shards.advance(until, run_joined)),
                None => shards.advance(until, run_in_turn),
            }
        }
    }

    /// Its state, for [`Self::restore`].
    ///
    /// # Errors
    /// When it has no form as bytes, which no state has shown.
    pub fn save(&mut self) -> Result<State, String> {
        Ok(State {
            shards: self.shards.save()?,
            acts: self.acts.save()?,
        })
    }

    /// Goes on at cycle `now` from the state of a simulation with as many shards and the same acts; a fork keeps its
    /// sources.
    ///
    /// # Errors
    /// What does not fit.
    pub fn restore(&mut self, now: u64, state: &State, fork: bool) -> Result<(), String> {
        self.acts.restore(&state.acts)?;
        self.shards.restore(now, &state.shards, fork)
    }

    /// Whether its acts will change nothing any more.
    pub fn acts_are_over(&self) -> bool {
        self.acts.are_over(self.now())
    }

    /// Whether nothing will ever happen again.
    pub fn is_idle(&self) -> bool {
        self.acts_are_over() && self.shards.are_idle() && !self.acts.will_move(&self.shards)
    }
}

impl Deref for Simulation {
    type Target = Shards;

    fn deref(&self) -> &Shards {
        &self.shards
    }
}

impl DerefMut for Simulation {
    fn deref_mut(&mut self) -> &mut Shards {
        &mut self.shards
    }
}

/// Runs one window of one shard after the other.
fn run_in_turn(shards: &mut [Box<dyn Shard>], from: u64, to: u64) {
    for shard in shards {
        run_one(shard.as_mut(), from, to);
    }
}

/// Runs one window of all shards as a tree of joins, inside a thread pool.
fn run_joined(shards: &mut [Box<dyn Shard>], from: u64, to: u64) {
    match shards {
        [] => {}
        [shard] => run_one(shard.as_mut(), from, to),
        several => {
            let (left, right) = several.split_at_mut(several.len() / 2);
            rayon::join(
                || run_joined(left, from, to),
                || run_joined(right, from, to),
            );
        }
    }
}

fn run_one(shard: &mut dyn Shard, from: u64, to: u64) {
    let _span =
        tracing::info_span!(target: crate::cycle::profile::TRACE, "window", from, to).entered();
    shard.run_window(from, to);
}
