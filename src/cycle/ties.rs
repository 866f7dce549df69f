//! What a mechanism ties to the shard beside columns and systems: functions that the shard asks without knowing whose
//! they are.

use super::counts::Count;
use super::ledger::Term;
use bevy_ecs::world::World;

/// First cycle from one on in which a mechanism has something to do; `u64::MAX` = never. The cycle is then not jumped
/// over.
pub type Alarm = fn(&World, u64) -> u64;

/// Packets that a mechanism keeps before they enter the fabric.
pub type Queued = fn(&World) -> u64;

/// Takes a notice from another shard: a row here, and the cycle from which it counts.
pub type Receiver = fn(&mut World, u32, u64);

/// All of them, in the order in which mechanisms are built.
#[derive(Default)]
pub struct Ties {
    /// Terms of the conservation laws.
    pub terms: Vec<Term>,
    /// Counters.
    pub counts: Vec<Count>,
    /// What keeps a cycle from being jumped over.
    pub alarms: Vec<Alarm>,
    /// What waits outside the fabric beside source queues.
    pub queues: Vec<Queued>,
    /// Receivers of notices, by their number in [`Mail::Notice`](super::state::Mail::Notice).
    pub receivers: Vec<Receiver>,
}

impl Ties {
    /// First cycle from `from` on in which a mechanism has something to do.
    #[inline]
    pub fn next(&self, world: &World, from: u64) -> u64 {
        let cycles = self.alarms.iter().map(|alarm| alarm(world, from));
        cycles.min().unwrap_or(u64::MAX)
    }

    /// Packets that wait outside the fabric and in no source queue.
    pub fn queued(&self, world: &World) -> u64 {
        self.queues.iter().map(|queue| queue(world)).sum()
    }
}
