//! DAFA: application-fair rates that the elements of a fabric find among themselves, message by message.
//!
//! The flow level asks solvers for rates; this is how a fabric would find the same rates without one, and what that costs in
//! time and messages. Nothing is carried: messages are as fast as [`Times`] says, whatever else is on the links.
//!
//! # Algorithm (4.13, 4.14 of the source)
//! Every switch and host is an element, and works for the links that leave it ([`LinkWorker`]). One of them leads.
//! 1. DAFA*, [`star`]: the rounds of PAFA, each a *collection* (who was held last goes to all links, the least share comes back)
//!    and a *distribution* (the level goes to all links, the set of those it holds comes back). Either is a PIF: the leader
//!    tells its neighbours; who is told first by one takes it for its parent, works, and tells all others; who has heard from
//!    all its neighbours answers its parent with what it and its children have found. The collection in which no link
//!    has anybody left ends it: it is in no round.
//! 2. DAFA, [`Simulation`]: flows of an application begin and end. Each is announced along its route, link by link, and the
//!    announcement returns; when all of an application have, and its nodes have met (a barrier), one of them triggers the
//!    leader. That begins anew under the next number, and elements that hear of a number above theirs begin with it, from
//!    the weights that were announced by then; what has a lower number is ignored. At the end the levels go to all elements.
//!
//! # Time
//! Over elements whose farthest is h hops from the leader, I rounds take `T = 2 I h (T_d + T_c)`, `T_d` for a hop down and `T_c` for a hop up,
//! and the last collection half a round more ([`Times::formula`]; up to `T_d` more for each PIF where elements as far from the leader
//! as others are their neighbours).
//!
//! # Deviations
//! Levels are told, where the source tells by how much they rise: nothing is rounded on the way, and rates are those of `Afa` to the last
//! unit. Triggers go the shortest way to the leader. All elements are told the levels hop by hop, without an answer.
//!
//! Cost: O(links of the fabric) messages for a PIF, O(applications * links of the network) memory.
//!
//! References: [`ZDORNOV_BIRK`](crate::references::ZDORNOV_BIRK) §4.3.3, §6.5
//!
//! [`LinkWorker`]: super::link_worker::LinkWorker

mod element;
pub mod elements;
mod messages;
mod simulation;
#[cfg(test)]
mod tests;

pub use elements::Elements;
pub use simulation::{Calculation, Simulation, star};

/// How long messages take \[ns\].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// A hop away from the leader, `T_d`; and of announcements and triggers.
    pub down: u64,
    /// A hop towards the leader, `T_c`.
    pub up: u64,
    /// The barrier of an application.
    pub barrier: u64,
}

impl Times {
    /// Those of the source, whose barriers are counted elsewhere.
    pub const PUBLISHED: Self = Self {
        down: 200,
        up: 400,
        barrier: 0,
    };

    /// Time of so many rounds over elements at most `height` hops from the leader \[ns\].
    pub fn formula(self, rounds: u64, height: u64) -> u64 {
        2 * rounds * height * (self.down + self.up)
    }
}
