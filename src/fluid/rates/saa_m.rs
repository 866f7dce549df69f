//! SAA-M: SAA, and then flows claim what is left of their links, one after the other.
//!
//! Guarantees: feasible; no flow has less than with SAA; every flow has a link with nothing left.
//! Cost: O(links of all routes).
//!
//! # Algorithm
//! 1. Every flow has what SAA gives it.
//! 2. In a random order, each takes the least that is left on a link of its route. What is left never grows, so that
//!    each has a link without any from then on.
//!
//! # Deviations
//! The source lets flows claim by messages that may fail and are tried again after a random time, and names no order:
//! which flow gets what is left is not determined. Here no claim fails, and all orders of flows are equally likely.
//!
//! References: [`ZDORNOV_BIRK`] §4.1.3

use super::{Allocation, Solver, saa};
use crate::fluid::check;
use crate::fluid::network::Network;
use crate::references::ZDORNOV_BIRK;
use crate::registry::Entry;
use crate::rng::{Purpose, below, stream};

/// Registers `SaaM`.
pub(super) const ENTRY: Entry<Solver> = Entry {
    name: "SaaM",
    aliases: &["SAA-M"],
    summary: "SAA, and then all that is left, claimed flow by flow in a random order",
    parameters: &[],
    guarantees: &[
        "no flow has less than with Saa",
        "no flow could have more while all others keep what they have",
    ],
    references: &[ZDORNOV_BIRK],
    build: Solver {
        solve: |network, seed| {
            Ok(Allocation {
                rates: claimed(network, seed),
                rounds: 1,
            })
        },
        check: check::maximal,
    },
};

fn claimed(network: &Network, seed: u64) -> Vec<u128> {
    let mut rates = saa::rates(network);
    let left = network.left(&rates).into_iter();
    let mut left: Vec<u128> = left.map(Option::unwrap_or_default).collect();
    let mut order: Vec<usize> = (0..rates.len()).collect();
    let mut rng = stream(seed, Purpose::FluidRates, 0);
    for last in (1..order.len()).rev() {
        order.swap(last, below(&mut rng, last as u32 + 1) as usize);
    }
    for flow in order {
        let links = || network.route(flow).iter().map(|&link| link as usize);
        let claim = links().map(|link| left[link]).min().unwrap_or(0);
        rates[flow] += claim;
        links().for_each(|link| left[link] -= claim);
    }
    rates
}
