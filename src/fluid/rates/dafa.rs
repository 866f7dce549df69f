//! DAFA* and DAFA, AFA by messages among the elements of the fabric: see [`dafa`](crate::fluid::dafa).
//!
//! Guarantees: the rates and rounds of [`afa`].
//! Fails with: [`TooLargeError`] where applications times links are too many.
//! Cost: that of the messages, O(rounds * links), and O(applications * links) memory.
//!
//! # Algorithm
//! The elements are the switches and hosts at the ends of the links; the first one leads. DAFA* knows all flows from the
//! beginning; for DAFA all applications begin at once: flows are announced, applications trigger, and the last calculation
//! counts.
//!
//! # Deviations
//! Parts of a fabric that have no link in between get one for messages. Of a network that does not say who stands at the ends
//! of its links, each link has an element of its own, all in a row.
//!
//! References: [`ZDORNOV_BIRK`] §4.3.3

use super::{Allocation, Solver, TooLargeError, afa};
use crate::fluid::check;
use crate::fluid::dafa::{Calculation, Elements, Simulation, Times, star};
use crate::fluid::network::Network;
use crate::references::ZDORNOV_BIRK;
use crate::registry::Entry;

const GUARANTEES: &[&str] = &[
    "the rates of Afa",
    "time and memory grow with applications times links",
];

/// Registers `DafaStar`.
pub(super) const STAR: Entry<Solver> = Entry {
    name: "DafaStar",
    aliases: &["DAFA*", "Dafa*"],
    summary: "the rates of Afa, by messages among switches and hosts that know all flows",
    parameters: &[],
    guarantees: GUARANTEES,
    references: &[ZDORNOV_BIRK],
    build: Solver {
        solve: |network, _| {
            let elements = elements(network)?;
            let (levels, calculation) = star(network, &elements, LEADER, Times::PUBLISHED);
            Ok(allocation(network, &levels, &calculation))
        },
        check: check::application_max_min,
    },
};

/// Registers `Dafa`.
pub(super) const ENTRY: Entry<Solver> = Entry {
    name: "Dafa",
    aliases: &["DAFA"],
    summary: "the rates of Afa, by messages among switches and hosts, to whom applications announce their flows",
    parameters: &[],
    guarantees: GUARANTEES,
    references: &[ZDORNOV_BIRK],
    build: Solver {
        solve: |network, _| {
            let elements = elements(network)?;
            let mut simulation = Simulation::new(network, &elements, LEADER, Times::PUBLISHED);
            let applications = network.applications() as u32;
            (0..applications).for_each(|application| simulation.change(0, application, true));
            simulation.run();
            let none = vec![0; applications as usize];
            let found = Some(simulation.levels(LEADER)).filter(|levels| !levels.is_empty());
            let last = simulation.calculations().last().copied();
            let levels = found.unwrap_or(&none);
            Ok(allocation(network, levels, &last.unwrap_or_default()))
        },
        check: check::application_max_min,
    },
};

/// The element that leads.
const LEADER: u32 = 0;

/// Largest product of applications and links: 16 bytes each.
const MOST: usize = 1 << 27;

fn allocation(network: &Network, levels: &[u128], calculation: &Calculation) -> Allocation {
    afa::allocation(network, levels, calculation.rounds as usize)
}

/// The elements of a network, connected.
fn elements(network: &Network) -> Result<Elements, TooLargeError> {
    let (applications, links) = (network.applications(), network.capacities().len());
    if applications.saturating_mul(links) > MOST {
        return Err(TooLargeError {
            applications,
            links,
            most: MOST,
        });
    }
    let in_a_row: Vec<[u32; 2]> = (0..links as u32).map(|link| [link, link + 1]).collect();
    let ends = if network.ends().is_empty() {
        &in_a_row
    } else {
        network.ends()
    };
    let count = ends
        .iter()
        .flatten()
        .max()
        .map_or(1, |&last| last as usize + 1);
    let mut neighbours = vec![Vec::new(); count];
    for &[from, to] in ends.iter().filter(|[from, to]| from != to) {
        neighbours[from as usize].push(to);
        neighbours[to as usize].push(from);
    }
    let owners: Vec<u32> = ends.iter().map(|&[from, _]| from).collect();
    let apart = Elements::new(neighbours.clone(), owners.clone());
    let mut reached = vec![false; count];
    for element in 0..count as u32 {
        if reached[element as usize] {
            continue;
        }
        let distances = apart.distances(element);
        for (reached, _) in reached
            .iter_mut()
            .zip(distances)
            .filter(|(_, hops)| hops.is_some())
        {
            *reached = true;
        }
        if element != LEADER {
            neighbours[LEADER as usize].push(element);
            neighbours[element as usize].push(LEADER);
        }
    }
    Ok(Elements::new(neighbours, owners))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fluid::network::{Builder, UNIT};

    /// Two links without a way between their ends, and one without a flow.
    #[test]
    fn parts_without_a_link_in_between_hear_of_each_other() {
        let mut builder = Builder::new(vec![UNIT; 3]);
        builder.between([[0, 1], [2, 3], [5, 5]]);
        builder.flow(1, 0, [0]);
        builder.flow(3, 1, [0]);
        builder.flow(2, 2, [1]);
        let network = builder.build();
        for entry in [STAR, ENTRY] {
            let found = (entry.build.solve)(&network, 1).unwrap();
            assert_eq!(
                found.rates,
                [UNIT / 4, UNIT / 4 * 3, UNIT],
                "{}",
                entry.name
            );
            assert_eq!(found.rounds, 2, "{}", entry.name);
        }
    }
}
