//! AFA in the form for hardware: a set of applications and a weight of each at every link.
//!
//! Guarantees: the rates and rounds of [`afa`].
//! Fails with: [`TooLargeError`] where applications times links with flows are too many.
//! Cost: time and memory O(applications * links).
//!
//! # Algorithm (4.12 of the source)
//! 1. A link knows the weight of every application there, their sum, and the set of those that still rise.
//! 2. The least share of a link, what is left over the sum, is the new level of all that rise.
//! 3. Links with just this share are full; all their applications are held, and leave all sets.
//!
//! # Deviations
//! The source raises the level by the least increase and takes it off all links. Here the level is computed from what
//! those that are held leave, which is the same, and rounds once.
//!
//! References: [`ZDORNOV_BIRK`] §4.3.2, theorem 4.3.2

use super::app_set::AppSet;
use super::{Allocation, Solver, TooLargeError, afa};
use crate::fluid::check;
use crate::fluid::network::Network;
use crate::references::ZDORNOV_BIRK;
use crate::registry::Entry;

/// Registers `AfaLists`.
pub(super) const ENTRY: Entry<Solver> = Entry {
    name: "AfaLists",
    aliases: &[],
    summary: "the rates of Afa, by sets of applications at every link, as hardware would do it",
    parameters: &[],
    guarantees: &[
        "the rates of Afa",
        "time and memory grow with applications times links",
    ],
    references: &[ZDORNOV_BIRK],
    build: Solver {
        solve,
        check: check::application_max_min,
    },
};

/// Largest product of applications and links: 28 bytes each.
const MOST: usize = 1 << 27;

/// What a link knows.
struct Link {
    left: u128,
    rising: u128,
    /// `[application]`.
    weights: Vec<u128>,
    applications: AppSet,
}

fn solve(network: &Network, _: u64) -> Result<Allocation, TooLargeError> {
    let applications = network.applications();
    let mut links = links(network)?;
    let mut levels = vec![0; applications];
    let mut held = AppSet::new(applications);
    let mut rounds = 0;
    loop {
        let shares = links.iter().map(|link| link.left.checked_div(link.rising));
        let Some(level) = shares.flatten().min() else {
            break;
        };
        rounds += 1;
        held.clear();
        for link in &links {
            if link.left.checked_div(link.rising) == Some(level) {
                link.applications.iter().for_each(|a| held.insert(a));
            }
        }
        for application in held.iter() {
            levels[application as usize] = level;
        }
        for link in &mut links {
            for application in held.iter() {
                link.remove(application, level);
            }
        }
    }
    Ok(afa::allocation(network, &levels, rounds))
}

impl Link {
    /// An application is held at a level.
    fn remove(&mut self, application: u32, level: u128) {
        if self.applications.contains(application) {
            let weight = self.weights[application as usize];
            self.left -= weight * level;
            self.rising -= weight;
            self.applications.remove(application);
        }
    }
}

/// The links that have flows.
fn links(network: &Network) -> Result<Vec<Link>, TooLargeError> {
    let applications = network.applications();
    let all = 0..network.capacities().len();
    let used: Vec<usize> = all
        .filter(|&link| !network.users(link).is_empty())
        .collect();
    if applications.saturating_mul(used.len()) > MOST {
        return Err(TooLargeError {
            applications,
            links: used.len(),
            most: MOST,
        });
    }
    let links = used.into_iter().map(|number| {
        let mut link = Link {
            left: network.capacities()[number],
            rising: network.total(number),
            weights: vec![0; applications],
            applications: AppSet::new(applications),
        };
        for &flow in network.users(number) {
            let flow = network.flows()[flow as usize];
            link.weights[flow.application as usize] += u128::from(flow.weight);
            link.applications.insert(flow.application);
        }
        link
    });
    Ok(links.collect())
}
