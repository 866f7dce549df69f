//! The same for all: weight over the largest weight of a link.
//!
//! Guarantees: feasible; all flows that start together and whose weights are their sizes end together, when the link
//! with the largest weight has sent all: no rates do better.
//! Cost: O(links of all routes).
//!
//! References: [`ZDORNOV_BIRK`] §4.1.1, §4.4.1

use super::{Allocation, Solver};
use crate::fluid::check;
use crate::references::ZDORNOV_BIRK;
use crate::registry::Entry;

/// Registers `Uniform`.
pub(super) const ENTRY: Entry<Solver> = Entry {
    name: "Uniform",
    aliases: &[],
    summary: "every flow its weight over the largest weight of any link",
    parameters: &[],
    guarantees: &["flows that start together end together, as early as is possible"],
    references: &[ZDORNOV_BIRK],
    build: Solver {
        solve: |network, _| {
            let links = 0..network.capacities().len();
            let level = links.filter_map(|link| network.equal_share(link)).min();
            let flows = network.flows().iter();
            let rates = flows.map(|flow| level.unwrap_or(0) * u128::from(flow.weight));
            Ok(Allocation {
                rates: rates.collect(),
                rounds: 1,
            })
        },
        check: check::uniform,
    },
};
