//! Counters of mechanisms: integers that become one number over all shards and stand in the records of the run by name.

use bevy_ecs::world::World;

/// How the numbers of all shards become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Their sum.
    Sum,
    /// The least of them; `u64::MAX` of none.
    Least,
    /// The largest of them; 0 of none.
    Most,
}

/// A counter.
#[derive(Clone, Copy, Debug)]
pub struct Count {
    /// Its name.
    pub name: &'static str,
    /// How those of all shards become one.
    pub by: Reduction,
    /// Its value in a shard; gets the first cycle that is not simulated.
    pub value: fn(&World, u64) -> u64,
}
