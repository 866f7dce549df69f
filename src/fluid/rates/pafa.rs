//! PAFA, AFA in parallel: a leader, and a worker for every link.
//!
//! Guarantees: the rates and rounds of [`afa`], for any number of threads.
//! Fails with: [`TooLargeError`] where applications times links with flows are too many.
//! Cost: time and memory O(applications * links), shared by the threads of the current pool; two map-reduces in a round.
//!
//! # Algorithm (4.13 of the source)
//! 1. Collection: the leader tells all links who was held last; each takes them off, and answers with the share that those
//!    have who still rise. The least answer is the new level.
//! 2. Distribution: the leader tells that level; every link with just this share answers with the set of those who rise
//!    there. All of them are held at it.
//!
//! # Deviations
//! As [`afa_lists`] it tells levels, where the source tells by how much they rise: no difference is rounded.
//!
//! References: [`ZDORNOV_BIRK`] §4.3.3

use super::{Allocation, Solver, TooLargeError, afa, afa_lists};
use crate::fluid::check;
use crate::fluid::link_worker::{AppBits, LinkWorker};
use crate::fluid::network::Network;
use crate::references::ZDORNOV_BIRK;
use crate::registry::Entry;
use rayon::prelude::*;

/// Registers `Pafa`.
pub(super) const ENTRY: Entry<Solver> = Entry {
    name: "Pafa",
    aliases: &["PAFA"],
    summary: "the rates of Afa, by a worker for every link, on all threads",
    parameters: &[],
    guarantees: &[
        "the rates of Afa, for any number of threads",
        "time and memory grow with applications times links",
    ],
    references: &[ZDORNOV_BIRK],
    build: Solver {
        solve,
        check: check::application_max_min,
    },
};

fn solve(network: &Network, _: u64) -> Result<Allocation, TooLargeError> {
    let applications = network.applications();
    let used = afa_lists::used_links(network)?;
    let workers = used.into_par_iter().map(|link| worker(network, link));
    let mut workers: Vec<LinkWorker> = workers.collect();
    let mut levels = vec![0; applications];
    let mut held = AppBits::new(applications);
    let (mut level, mut rounds) = (0, 0);
    loop {
        let shares = workers.par_iter_mut();
        let shares = shares.filter_map(|worker| worker.collect(&held, level));
        let Some(least) = shares.min() else {
            break;
        };
        (level, rounds) = (least, rounds + 1);
        let sets = workers.par_iter().filter_map(|worker| worker.hold(level));
        let none = || AppBits::new(applications);
        held = sets
            .fold(none, union)
            .reduce(none, |all, own| union(all, &own));
        for application in held.iter() {
            levels[application] = level;
        }
    }
    Ok(afa::allocation(network, &levels, rounds))
}

fn union(mut all: AppBits, own: &AppBits) -> AppBits {
    all.insert_all(own);
    all
}

/// The worker of a link, before the first round.
fn worker(network: &Network, link: usize) -> LinkWorker {
    let mut worker = LinkWorker::new(network.capacities()[link], network.applications());
    for &flow in network.users(link) {
        let flow = network.flows()[flow as usize];
        worker.add(flow.application as usize, flow.weight);
    }
    worker.reset();
    worker
}
