//! Global acts: what is done between two cycles, with all shards in sight (D26).
//!
//! # Rules
//! 1. An act at cycle t comes after every stage of the cycles before t and before every stage of t; windows and jumps over
//!    idle cycles end there.
//! 2. The cycles of an act are fixed by the scenario or by its own state, never by a window, a thread or a shard.
//! 3. Acts of one cycle come in the order in which they were registered, once each. What they change counts in this cycle.
//! 4. What an act remembers is saved and restored under its name.
//!
//! Cost: a look at each act per act; nothing per cycle.

mod admission;
mod barriers;
mod feed;
mod looks;
mod own_switch;

pub(in crate::run) use admission::Rounds;
pub(in crate::run) use barriers::Opening;
pub(in crate::run) use feed::Feed;
pub(in crate::run) use looks::Looks;
pub(in crate::run) use own_switch::OwnSwitches;

use crate::run::outcome::RunError;
use crate::run::shards::Shards;
use serde::{Deserialize, Serialize};

/// Something that is done between two cycles.
pub trait GlobalAct {
    /// The first cycle from `from` on before which it acts; `None` = in none, as far as is known.
    fn next(&self, from: u64) -> Option<u64>;

    /// Acts before cycle `at`.
    ///
    /// # Errors
    /// What ends the run.
    fn act(&mut self, at: u64, shards: &mut Shards) -> Result<(), RunError>;
}

/// An act that belongs to a simulation, and whose state is saved with it.
pub trait LastingAct: GlobalAct + Send {
    /// Name of its state, of no other act in the simulation.
    fn name(&self) -> &'static str;

    /// Whether it will change nothing in cycle `now` or later: a fabric in which nothing can move then stays so.
    fn is_over(&self, now: u64) -> bool;

    /// Whether it will move something in a fabric in which nothing else does.
    fn will_move(&self, _shards: &Shards) -> bool {
        false
    }

    /// What it has counted since cycle 0, by names of its own.
    fn counts(&self) -> Vec<(String, u64)> {
        Vec::new()
    }

    /// Its state.
    ///
    /// # Errors
    /// When it has no form as bytes, which no state has shown.
    fn save(&self) -> Result<Vec<u8>, postcard::Error>;

    /// Goes on from a saved state.
    ///
    /// # Errors
    /// What does not fit.
    fn restore(&mut self, bytes: &[u8]) -> Result<(), String>;
}

/// The acts of a simulation, in the order in which they were registered.
#[derive(Default)]
pub(in crate::run) struct Acts {
    lasting: Vec<Box<dyn LastingAct>>,
    /// First cycle whose acts are still to come.
    from: u64,
}

/// Saved acts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SavedActs {
    /// First cycle whose acts are still to come.
    from: u64,
    /// Name and state of each.
    states: Vec<(String, Vec<u8>)>,
}

impl Acts {
    /// Adds one.
    ///
    /// # Panics
    /// When its name is taken: its state would be another's.
    pub(in crate::run) fn register(&mut self, act: Box<dyn LastingAct>) {
        let name = act.name();
        let is_new = self.lasting.iter().all(|known| known.name() != name);
        assert!(is_new, "two acts have the name `{name}`");
        self.lasting.push(act);
    }

    /// Does what is due before the next cycle of `shards`: first the simulation's acts, then `others`. Returns the cycle
    /// before which the next act is due.
    pub(in crate::run) fn act(
        &mut self,
        shards: &mut Shards,
        others: &mut [&mut dyn GlobalAct],
    ) -> Result<u64, RunError> {
        let now = shards.now();
        if self.from <= now {
            self.from = now + 1;
            for act in &mut self.lasting {
                act_if_due(&mut **act, now, shards)?;
            }
            for act in &mut *others {
                act_if_due(*act, now, shards)?;
            }
        }
        let lasting = self.lasting.iter().map(|act| act.next(now + 1));
        let next = lasting.chain(others.iter().map(|act| act.next(now + 1)));
        Ok(next.flatten().min().unwrap_or(u64::MAX))
    }

    /// Whether none will change anything in cycle `now` or later.
    pub(in crate::run) fn are_over(&self, now: u64) -> bool {
        self.lasting.iter().all(|act| act.is_over(now))
    }

    /// Whether one of them will move something in a fabric in which nothing else does.
    pub(in crate::run) fn will_move(&self, shards: &Shards) -> bool {
        self.lasting.iter().any(|act| act.will_move(shards))
    }

    /// What they have counted since cycle 0, by name.
    pub(in crate::run) fn counts(&self) -> impl Iterator<Item = (String, u64)> {
        self.lasting.iter().flat_map(|act| act.counts())
    }

    /// What they remember.
    pub(in crate::run) fn save(&self) -> Result<SavedActs, String> {
        let mut states = Vec::new();
        for act in &self.lasting {
            let state = act.save().map_err(|cause| cause.to_string())?;
            states.push((act.name().to_owned(), state));
        }
        let from = self.from;
        Ok(SavedActs { from, states })
    }

    /// Goes on from a saved state.
    pub(in crate::run) fn restore(&mut self, saved: &SavedActs) -> Result<(), String> {
        let names = saved.states.iter().map(|(name, _)| name.as_str());
        if !names.eq(self.lasting.iter().map(|act| act.name())) {
            return Err(String::from("it is of other acts"));
        }
        self.from = saved.from;
        for (act, (name, state)) in self.lasting.iter_mut().zip(&saved.states) {
            let restored = act.restore(state);
            restored.map_err(|cause| format!("{name}: {cause}"))?;
        }
        Ok(())
    }
}

fn act_if_due(act: &mut dyn GlobalAct, now: u64, shards: &mut Shards) -> Result<(), RunError> {
    if act.next(now) == Some(now) {
        act.act(now, shards)?;
    }
    Ok(())
}
