//! AFA: rates that are max-min fair over applications, all flows of one with the same normalised rate.
//!
//! An application is as fast as its slowest flow; what the others could have more is of no use to it and stays free.
//! Guarantees: max-min fair over applications; at most as many rounds as applications.
//! Cost: see [`filling`].
//!
//! References: [`ZDORNOV_BIRK`] §4.3.1, §4.3.2

use super::{Allocation, Solver, filling};
use crate::fluid::check;
use crate::fluid::network::Network;
use crate::references::ZDORNOV_BIRK;
use crate::registry::Entry;

/// Registers `Afa`.
pub(super) const ENTRY: Entry<Solver> = Entry {
    name: "Afa",
    aliases: &["AFA"],
    summary: "application-fair: max-min fair over applications, all flows of one alike",
    parameters: &[],
    guarantees: &[
        "no application could be faster but from one that is no faster",
        "flows of an application have the same rate per weight; capacity may be left",
    ],
    references: &[ZDORNOV_BIRK],
    build: Solver {
        solve: |network, _| {
            let flows = network.flows().iter();
            let groups: Vec<u32> = flows.map(|flow| flow.application).collect();
            let filled = filling::fill(network, &groups, network.applications());
            Ok(allocation(network, &filled.levels, filled.rounds))
        },
        check: check::application_max_min,
    },
};

/// Rates from the normalised rates of applications.
pub(super) fn allocation(network: &Network, levels: &[u128], rounds: usize) -> Allocation {
    let flows = network.flows().iter();
    let rate = |level: u128, weight: u64| level * u128::from(weight);
    Allocation {
        rates: flows
            .map(|flow| rate(levels[flow.application as usize], flow.weight))
            .collect(),
        rounds,
    }
}
