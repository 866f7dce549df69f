//! Solvers: what rate every flow of a network gets.
//!
//! All are pure functions of the network and a seed, on integers (see [`network`](super::network)): equal input, equal
//! rates, on any machine. Each comes with the check of what it promises.
//!
//! References: [`ZDORNOV_BIRK`](crate::references::ZDORNOV_BIRK) §4

mod afa;
mod afa_lists;
mod app_set;
mod dafa;
mod ffa;
mod filling;
mod pafa;
mod saa;
mod saa_m;
#[cfg(test)]
pub(super) mod tests;
mod uniform;

use super::check::Unfair;
use super::network::Network;
use crate::registry::Registry;

/// Every solver a scenario can name. New ones: one file, one `mod` line, one line here.
pub static SOLVERS: Registry<Solver> = Registry {
    kind: "solver of rates",
    entries: &[
        afa::ENTRY,
        afa_lists::ENTRY,
        dafa::ENTRY,
        dafa::STAR,
        ffa::ENTRY,
        pafa::ENTRY,
        saa::ENTRY,
        saa_m::ENTRY,
        uniform::ENTRY,
    ],
    unclear: &[],
};

/// A solver and the check of what it promises.
#[derive(Clone, Copy, Debug)]
pub struct Solver {
    /// Gives every flow its rate; the seed is for those that choose.
    pub solve: fn(&Network, u64) -> Result<Allocation, TooLargeError>,
    /// Whether rates are what this solver promises.
    pub check: fn(&Network, &Allocation) -> Result<(), Unfair>,
}

/// Rates of all flows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Rate of every flow \[[`UNIT`](super::network::UNIT)ths of a flit per cycle\].
    pub rates: Vec<u128>,
    /// Rounds of water filling: levels at which flows are held, of which two may be the same but for what shares lose when
    /// they are rounded down; 1 of a solver without rounds.
    pub rounds: usize,
}

/// A network that a solver has no room for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{applications} applications on {links} links are more than its tables hold: at most {most} of both multiplied"
)]
pub struct TooLargeError {
    /// Applications.
    pub applications: usize,
    /// Links with flows.
    pub links: usize,
    /// Largest product.
    pub most: usize,
}
