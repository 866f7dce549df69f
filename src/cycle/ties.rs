//! What a mechanism ties to the shard beside columns and systems: functions that the shard asks without knowing whose
//! they are.

use super::counts::Count;
use super::ledger::Term;
use super::slot::Slot;
use super::state::parcel::{Content, Parcel};
use crate::fabric::rows::PortRow;
use bevy_ecs::world::World;

/// First cycle from one on in which a mechanism has something to do; `u64::MAX` = never. The cycle is then not jumped
/// over.
pub type Alarm = fn(&World, u64) -> u64;

/// Packets that a mechanism keeps before they enter the fabric.
pub type Queued = fn(&World) -> u64;

/// Takes a notice from another shard: a row here, and the cycle from which it counts.
pub type Receiver = fn(&mut World, u32, u64);

/// Takes what packets from other shards carry, and control packets out of band that come from there.
#[derive(Clone, Copy, Debug)]
pub struct Carrier {
    /// Keeps what a packet carries; returns the word for its record.
    pub keep: fn(&mut World, Content) -> u32,
    /// A parcel comes by the port of a network in a cycle.
    pub join: fn(&mut World, u16, (u64, PortRow), Parcel),
}

/// A mechanism that may have nothing to do for whole windows.
pub struct Sleeper {
    /// Its systems, by name.
    pub systems: &'static [&'static str],
    /// Whether none of them would change anything before something between two windows (an act, mail) wakes it.
    pub sleeps: fn(&World) -> bool,
    /// What keeps a cycle from being jumped over while it is awake.
    pub alarm: Alarm,
}

/// Systems of a mechanism that the pass need not leave to the schedule: it runs the same functions itself, as a
/// `Rider` has them.
pub struct Riding {
    /// Its systems, by slot and name.
    pub systems: &'static [(Slot, &'static str)],
    /// What keeps a cycle from being jumped over.
    pub alarm: Option<Alarm>,
}

impl Riding {
    /// Systems that have nothing to do but in cycles that others have something to do in.
    pub const fn beside(systems: &'static [(Slot, &'static str)]) -> Self {
        Self {
            systems,
            alarm: None,
        }
    }
}

/// A look that a mechanism takes at its shard every so many cycles, before any stage of the cycle: a global act (D26).
#[derive(Clone, Copy, Debug)]
pub struct Regular {
    /// Name of the act, of no other.
    pub name: &'static str,
    /// Cycles from look to look.
    pub period: u64,
    /// Takes it, before a cycle.
    pub look: fn(&mut World, u64),
    /// Whether the next one will move something in a fabric in which nothing else does.
    pub will_move: fn(&World) -> bool,
}

/// All of them, in the order in which mechanisms are built.
#[derive(Default)]
pub struct Ties {
    /// Terms of the conservation laws.
    pub terms: Vec<Term>,
    /// Counters.
    pub counts: Vec<Count>,
    /// What keeps a cycle from being jumped over, of mechanisms that never sleep and do not ride.
    pub alarms: Vec<Alarm>,
    /// Mechanisms that may sleep.
    pub sleepers: Vec<Sleeper>,
    /// Mechanisms that ride in the pass.
    pub riding: Vec<Riding>,
    /// What waits outside the fabric beside source queues.
    pub queues: Vec<Queued>,
    /// Looks from time to time.
    pub looks: Vec<Regular>,
    /// Receivers of notices, by their number in [`Note::Notice`](super::state::Note::Notice).
    pub receivers: Vec<Receiver>,
    /// Who takes what packets carry, and parcels.
    pub carrier: Option<Carrier>,
}

impl Ties {
    /// First cycle from `from` on in which a mechanism has something to do.
    #[inline]
    pub fn next(&self, world: &World, from: u64) -> u64 {
        let sleepers = self.sleepers.iter().map(|sleeper| &sleeper.alarm);
        let riding = self.riding.iter().flat_map(|riding| &riding.alarm);
        let cycles = self.alarms.iter().chain(sleepers).chain(riding);
        let cycles = cycles.map(|alarm| alarm(world, from));
        cycles.min().unwrap_or(u64::MAX)
    }

    /// Systems of mechanisms that may sleep; `None` where one that never does may have something to do in any cycle.
    pub fn may_sleep(&self) -> Option<Vec<&'static str>> {
        let systems = self.sleepers.iter().flat_map(|sleeper| sleeper.systems);
        self.alarms.is_empty().then(|| systems.copied().collect())
    }

    /// Whether all mechanisms that may sleep do.
    #[inline]
    pub fn are_asleep(&self, world: &World) -> bool {
        self.sleepers.iter().all(|sleeper| (sleeper.sleeps)(world))
    }

    /// Packets that wait outside the fabric and in no source queue.
    pub fn queued(&self, world: &World) -> u64 {
        self.queues.iter().map(|queue| queue(world)).sum()
    }
}
