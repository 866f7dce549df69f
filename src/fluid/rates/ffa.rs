//! FFA: weighted max-min fair rates of flows.
//!
//! Guarantees: weighted max-min fair, which only these rates are; as many rounds as different normalised rates.
//! Cost: see [`filling`].
//!
//! References: [`ZDORNOV_BIRK`] §4.2.2, [`BERTSEKAS_GALLAGER`] §6.5.2

use super::{Allocation, Solver, filling};
use crate::fluid::check;
use crate::references::{BERTSEKAS_GALLAGER, ZDORNOV_BIRK};
use crate::registry::Entry;

/// Registers `Ffa`.
pub(super) const ENTRY: Entry<Solver> = Entry {
    name: "Ffa",
    aliases: &["FFA", "MaxMin"],
    summary: "flow-fair: weighted max-min fair rates",
    parameters: &[],
    guarantees: &["no flow could have more but from one that has no more per weight"],
    references: &[ZDORNOV_BIRK, BERTSEKAS_GALLAGER],
    build: Solver {
        solve: |network, _| {
            let flows = network.flows().len();
            let own: Vec<u32> = (0..flows as u32).collect();
            let filled = filling::fill(network, &own, flows);
            let rates = network.flows().iter().zip(&filled.levels);
            Ok(Allocation {
                rates: rates
                    .map(|(flow, level)| level * u128::from(flow.weight))
                    .collect(),
                rounds: filled.rounds,
            })
        },
        check: check::max_min,
    },
};
