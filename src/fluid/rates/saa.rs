//! SAA, single application assignment: weight over the largest weight of a link on the own route.
//!
//! Guarantees: feasible; where weights are sizes and all flows start together, all are sent as early as is possible.
//! Capacity may be left over on links of flows that are held elsewhere.
//! Cost: O(links of all routes).
//!
//! References: [`ZDORNOV_BIRK`] §4.1.1, theorem 4.1.1

use super::{Allocation, Solver};
use crate::fluid::check;
use crate::fluid::network::Network;
use crate::references::ZDORNOV_BIRK;
use crate::registry::Entry;

/// Registers `Saa`.
pub(super) const ENTRY: Entry<Solver> = Entry {
    name: "Saa",
    aliases: &["SAA"],
    summary: "single application assignment: every flow its weight over the largest weight of a link of its route",
    parameters: &[],
    guarantees: &["the last of flows that start together ends as early as is possible"],
    references: &[ZDORNOV_BIRK],
    build: Solver {
        solve: |network, _| {
            Ok(Allocation {
                rates: rates(network),
                rounds: 1,
            })
        },
        check: check::guaranteed,
    },
};

/// The rates.
pub(super) fn rates(network: &Network) -> Vec<u128> {
    let flows = network.flows().iter().enumerate();
    flows
        .map(|(number, flow)| network.least_share(number) * u128::from(flow.weight))
        .collect()
}
