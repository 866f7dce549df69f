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
    counted(network).map(|(rates, _)| rates)
}

/// The rates, and how many shares are computed and elements of sets looked at.
fn counted(network: &Network) -> Result<(Allocation, u64), TooLargeError> {
    let applications = network.applications();
    let mut links = links(network)?;
    let mut levels = vec![0; applications];
    let mut held = AppSet::new(applications);
    let mut rounds = 0;
    let mut work = 0;
    loop {
        work += 2 * links.len() as u64;
        let shares = links.iter().map(|link| link.left.checked_div(link.rising));
        let Some(level) = shares.flatten().min() else {
            break;
        };
        rounds += 1;
        held.clear();
        for link in &links {
            if link.left.checked_div(link.rising) == Some(level) {
                for application in link.applications.iter() {
                    held.insert(application);
                    work += 1;
                }
            }
        }
        for application in held.iter() {
            levels[application as usize] = level;
        }
        for link in &mut links {
            for application in held.iter() {
                link.remove(application, level);
                work += 1;
            }
        }
    }
    Ok((afa::allocation(network, &levels, rounds), work))
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

/// The links that have flows, where applications times links are not too many.
pub(super) fn used_links(network: &Network) -> Result<Vec<usize>, TooLargeError> {
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
    Ok(used)
}

/// Those links, before the first round.
fn links(network: &Network) -> Result<Vec<Link>, TooLargeError> {
    let applications = network.applications();
    let links = used_links(network)?.into_iter().map(|number| {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fluid::network::{Builder, UNIT};

    /// Links of as many kinds as applications: one of kind k has a flow of each of the applications 0 to k, and is full at
    /// level k + 1 of the last of them.
    fn network(applications: u32, links: u32) -> Network {
        let kind = |link| u128::from(link % applications);
        let unit = UNIT / u128::from(applications * applications);
        let capacity = |link| unit * (kind(link) + 1) * (kind(link) + 2) / 2;
        let mut builder = Builder::new((0..links).map(capacity).collect());
        for application in 0..applications {
            let own = (0..links).filter(|link| link % applications >= application);
            builder.flow(1, application, own);
        }
        builder.build()
    }

    /// S15: operations, not seconds.
    #[test]
    fn work_grows_with_applications_times_links() {
        let mut each = Vec::new();
        for applications in [8, 16, 32, 64] {
            for links in [128, 256, 512, 1024] {
                let network = network(applications, links);
                let (rates, work) = counted(&network).unwrap();
                assert_eq!(rates.rounds, applications as usize);
                each.push(work as f64 / f64::from(applications * links));
            }
        }
        each.sort_unstable_by(f64::total_cmp);
        let (least, most) = (each[0], each[each.len() - 1]);
        assert!(
            least >= 1.0 && most <= 4.0 && most < 1.15 * least,
            "{each:?}"
        );
    }
}
