//! Random connected irregular networks.
//!
//! Guarantees: connected; at most one link between two switches; at most `degree` links per switch; no
//! further link could be added; the same seed gives the same graph.
//! Fails with: [`TopologyError::Parameter`] when the degree is too small to connect the switches or the
//! network is too large.
//! Cost: O(links * log links) expected time, O(links + hosts) memory.
//!
//! # Algorithm
//!
//! 1. Put the switches in random order; link each to a random earlier one that has a link free (a random
//!    spanning tree).
//! 2. Link random pairs of switches that have links free and are not neighbours yet, until there is none.
//! 3. Hosts take ports `1..=hosts_per_switch`; then the links, sorted by their two switches, take the next
//!    free port at each end.
//!
//! Switch `S17` is switch 17, host `H17` host 17; hosts are numbered switch by switch.

use super::builder::GraphBuilder;
use super::graph::{Endpoint, Graph};
use super::limits::{at_least, node_count, parameter_error, port_count};
use super::{BuildContext, BuildTopology, Topology, TopologyError};
use crate::ids::SwitchId;
use crate::registry::{Entry, Parameter};
use crate::rng::{Purpose, Stream, below, stream};
use serde::Deserialize;
use std::collections::BTreeSet;

/// Random pairs tried in a row without success before the remaining pairs are listed instead. With many
/// switches left most pairs are free, so the list is made when few are left; the value changes graphs.
const PATIENCE: u32 = 1000;

/// What a scenario can say about it.
pub const ENTRY: Entry<BuildTopology> = Entry {
    name: "Irregular",
    aliases: &[],
    summary: "random connected network of bounded degree",
    parameters: &[
        Parameter {
            name: "switches",
            kind: "integer >= 1",
            default: None,
            summary: "number of switches",
        },
        Parameter {
            name: "degree",
            kind: "integer >= 1",
            default: None,
            summary: "most links to other switches per switch",
        },
        Parameter {
            name: "hosts_per_switch",
            kind: "integer >= 1",
            default: Some("1"),
            summary: "hosts on every switch",
        },
        Parameter {
            name: "seed",
            kind: "integer or None",
            default: Some("None"),
            summary: "seed of the network; None = that of the scenario",
        },
    ],
    guarantees: &[
        "connected, simple, at most `degree` links between switches per switch",
        "no further link could be added within these bounds",
        "the same seed gives the same network",
    ],
    references: &[],
    build: |arguments| Ok(Box::new(arguments.parse::<Irregular>()?)),
};

/// Parameters of a random irregular network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Irregular {
    /// Number of switches.
    pub switches: u32,
    /// Most links to other switches per switch.
    pub degree: u32,
    /// Hosts on every switch.
    #[serde(default = "one")]
    pub hosts_per_switch: u32,
    /// Seed of the network; `None` = that of the scenario.
    #[serde(default)]
    pub seed: Option<u64>,
}

const fn one() -> u32 {
    1
}

impl Irregular {
    fn check(self) -> Result<(), TopologyError> {
        at_least("switches", self.switches, 1)?;
        at_least("degree", self.degree, 1)?;
        at_least("hosts_per_switch", self.hosts_per_switch, 1)?;
        if self.switches > 2 && self.degree == 1 {
            let reason =
                "1 link per switch cannot connect more than 2 switches, expected at least 2";
            return Err(parameter_error("degree", reason));
        }
        port_count("degree", u64::from(self.degree))?;
        let ports = u64::from(self.degree) + u64::from(self.hosts_per_switch);
        port_count("hosts_per_switch", ports)?;
        node_count("switches", "switches", Some(u64::from(self.switches)))?;
        let hosts = u64::from(self.switches) * u64::from(self.hosts_per_switch);
        node_count("hosts_per_switch", "hosts", Some(hosts))?;
        Ok(())
    }
}

impl Topology for Irregular {
    fn build(&self, context: &BuildContext<'_>) -> Result<Graph, TopologyError> {
        self.check()?;
        let seed = self.seed.unwrap_or(context.seed);
        let mut draft = Draft::new(self.switches, self.degree);
        let mut rng = stream(seed, Purpose::Topology, 0);
        draft.connect_all(&mut rng);
        draft.fill(&mut rng);

        let mut builder = GraphBuilder::new();
        let hosts = self.hosts_per_switch as u16;
        for (switch, degree) in draft.degrees().into_iter().enumerate() {
            builder.add_switch(format!("S{switch}"), 0, hosts + degree);
        }
        for host in 0..self.switches * self.hosts_per_switch {
            let id = builder.add_host(format!("H{host}"), 0);
            let switch = SwitchId(host / self.hosts_per_switch);
            let port = (host % self.hosts_per_switch) as u16 + 1;
            builder.connect(
                Endpoint::Host(id),
                Endpoint::Switch(switch, port),
                context.host_link,
            )?;
        }
        let mut next_port = vec![hosts; self.switches as usize];
        let mut take_port = |switch: u32| {
            next_port[switch as usize] += 1;
            Endpoint::Switch(SwitchId(switch), next_port[switch as usize])
        };
        for &(a, b) in &draft.links {
            let ends = [take_port(a), take_port(b)];
            builder.connect(ends[0], ends[1], context.switch_link)?;
        }
        builder.build()
    }
}

/// A network in the making.
struct Draft {
    /// Links a switch may still get.
    free: Vec<u32>,
    /// Links as (lower switch, higher switch).
    links: BTreeSet<(u32, u32)>,
}

impl Draft {
    fn new(switches: u32, degree: u32) -> Self {
        Self {
            free: vec![degree; switches as usize],
            links: BTreeSet::new(),
        }
    }

    /// Links two switches unless they are linked already; tells whether it did.
    fn link(&mut self, a: u32, b: u32) -> bool {
        let is_new = self.links.insert((a.min(b), a.max(b)));
        if is_new {
            self.free[a as usize] -= 1;
            self.free[b as usize] -= 1;
        }
        is_new
    }

    /// Step 1: a random spanning tree.
    fn connect_all(&mut self, rng: &mut Stream) {
        let mut order: Vec<u32> = (0..self.free.len() as u32).collect();
        for i in (1..order.len()).rev() {
            order.swap(i, below(rng, i as u32 + 1) as usize);
        }
        // switches of the tree that may get another link
        let mut open: Vec<u32> = Vec::new();
        for switch in order {
            if !open.is_empty() {
                let i = below(rng, open.len() as u32) as usize;
                let parent = open[i];
                self.link(switch, parent);
                if self.free[parent as usize] == 0 {
                    open.swap_remove(i);
                }
            }
            if self.free[switch as usize] > 0 {
                open.push(switch);
            }
        }
    }

    /// Step 2: random links until every two switches with free links are neighbours.
    fn fill(&mut self, rng: &mut Stream) {
        let mut open: Vec<u32> = (0..self.free.len() as u32)
            .filter(|&switch| self.free[switch as usize] > 0)
            .collect();
        let mut failures = 0;
        while open.len() > 1 && failures < PATIENCE {
            let i = below(rng, open.len() as u32) as usize;
            let j = below(rng, open.len() as u32 - 1) as usize;
            let j = j + usize::from(j >= i);
            if !self.link(open[i], open[j]) {
                failures += 1;
                continue;
            }
            failures = 0;
            for place in [i.max(j), i.min(j)] {
                if self.free[open[place] as usize] == 0 {
                    open.swap_remove(place);
                }
            }
        }
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for (i, &a) in open.iter().enumerate() {
            pairs.extend(open[i + 1..].iter().map(|&b| (a.min(b), a.max(b))));
        }
        pairs.retain(|pair| !self.links.contains(pair));
        while !pairs.is_empty() {
            let (a, b) = pairs.swap_remove(below(rng, pairs.len() as u32) as usize);
            self.link(a, b);
            pairs.retain(|&(a, b)| self.free[a as usize] > 0 && self.free[b as usize] > 0);
        }
    }

    /// Number of links of each switch.
    fn degrees(&self) -> Vec<u16> {
        let mut degrees = vec![0; self.free.len()];
        for &(a, b) in &self.links {
            degrees[a as usize] += 1;
            degrees[b as usize] += 1;
        }
        degrees
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::survey::Survey;
    use crate::topology::tests::context;

    fn irregular(switches: u32, degree: u32, hosts: u32, seed: Option<u64>) -> Irregular {
        Irregular {
            switches,
            degree,
            hosts_per_switch: hosts,
            seed,
        }
    }

    #[test]
    fn networks_are_connected_simple_and_within_the_degree() {
        for (switches, degree) in [
            (1, 3),
            (2, 1),
            (2, 5),
            (5, 2),
            (8, 4),
            (32, 4),
            (300, 6),
            (9, 20),
        ] {
            for seed in 0..5 {
                let graph = irregular(switches, degree, 2, Some(seed));
                let graph = graph.build(&context()).unwrap();
                assert_eq!(graph.hosts().len(), 2 * switches as usize);
                assert_eq!(Survey::new(&graph).components.len(), 1);
                let mut open: Vec<SwitchId> = Vec::new();
                for switch in graph.switch_ids() {
                    let neighbors: Vec<_> = graph.neighbors(switch).map(|(.., s)| s).collect();
                    let distinct: BTreeSet<_> = neighbors.iter().copied().collect();
                    assert_eq!(distinct.len(), neighbors.len());
                    assert!(neighbors.len() <= degree as usize);
                    assert!(!distinct.contains(&switch));
                    if neighbors.len() < degree as usize {
                        assert!(open.iter().all(|other| distinct.contains(other)));
                        open.push(switch);
                    }
                }
            }
        }
    }

    #[test]
    fn the_seed_decides() {
        let build = |seed, scenario| {
            let context = BuildContext {
                seed: scenario,
                ..context()
            };
            irregular(32, 4, 4, seed).build(&context).unwrap()
        };
        assert_eq!(build(Some(1), 5), build(Some(1), 6));
        assert_ne!(build(Some(1), 5), build(Some(2), 5));
        assert_eq!(build(None, 1), build(Some(1), 9));
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let message = |switches, degree, hosts| {
            let error = irregular(switches, degree, hosts, None).build(&context());
            error.unwrap_err().to_string()
        };
        assert_eq!(
            message(3, 1, 1),
            "`degree`: 1 link per switch cannot connect more than 2 switches, expected at least 2"
        );
        assert_eq!(
            message(3, 200, 55),
            "`hosts_per_switch`: this makes switches of 255 ports, expected at most 254"
        );
        assert_eq!(
            message(0, 1, 1),
            "`switches`: 0 is too small, expected at least 1"
        );
    }
}
