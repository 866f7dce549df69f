//! Random connected irregular networks.
//!
//! Guarantees: connected; at most one link between two switches; at most `degree` links per switch; the
//! same seed gives the same graph. With the generator `Saturated` no further link could be added.
//! Fails with: [`TopologyError::Parameter`] when the degree is too small to connect the switches, the links
//! are too few or too many, a generator lacks or does not know a parameter, or the network is too large.
//! Cost: O(links * log links) expected time, O(links + hosts) memory.
//!
//! How links are drawn stands at [`Generator`]. Hosts take ports `1..=hosts_per_switch`; then the links, in
//! the generator's order, take the next free port at each end; a switch has as many ports as it uses, with
//! `CPython` `hosts_per_switch + degree`. Switch `S17` is switch 17, host `H17` host
//! 17; hosts are numbered switch by switch.
//!
//! References: [`LASH`] (`Recursive` meets their numbers of layers; the paper does not say how
//! its networks were made)

mod mersenne_twister;
pub mod random_links;

use super::parameters::{HOSTS_PER_SWITCH, one};
use super::wiring::{Wiring, numbered};
use crate::references::LASH;
use crate::registry::{Entry, Parameter};
use crate::topology::graph::limits::{at_least, node_count, parameter_error, port_count};
use crate::topology::graph::{Graph, Shape};
use crate::topology::{BuildContext, BuildTopology, Topology, TopologyError};
use random_links::{Wanted, links};
use serde::Deserialize;

pub use random_links::Generator;

/// What a scenario can say about it.
pub const ENTRY: Entry<BuildTopology> = Entry {
    name: "Irregular",
    aliases: &[],
    summary: "random connected network, of bounded degree or a number of links",
    parameters: &[
        Parameter {
            name: "switches",
            kind: "integer >= 1",
            default: None,
            summary: "number of switches",
        },
        Parameter {
            name: "generator",
            kind: "Saturated | Uniform | Recursive | CPython",
            default: Some("Saturated"),
            summary: "how links are drawn: Saturated = a random tree, then random pairs until `degree` allows no \
                      more; Uniform = a uniform tree and uniform pairs, `links` in all; Recursive = switch i to a \
                      random j < i, pairs likewise, `links` in all; CPython = Saturated as a Python script \
                      draws it",
        },
        Parameter {
            name: "degree",
            kind: "integer >= 1",
            default: Some("unbounded with `links`"),
            summary: "most links to other switches per switch; must be given for Saturated and CPython",
        },
        Parameter {
            name: "links",
            kind: "integer >= switches - 1",
            default: Some("None"),
            summary: "links between switches, for Uniform and Recursive",
        },
        HOSTS_PER_SWITCH,
        Parameter {
            name: "seed",
            kind: "integer or None",
            default: Some("None"),
            summary: "seed of the network; None = that of the scenario",
        },
    ],
    guarantees: &[
        "connected, simple, at most `degree` links between switches per switch",
        "Saturated: no further link could be added within these bounds",
        "the same seed gives the same network",
    ],
    references: &[LASH],
    build: |arguments| Ok(Box::new(arguments.parse::<Irregular>()?)),
};

/// Parameters of a random irregular network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Irregular {
    /// Number of switches.
    pub switches: u32,
    /// How links are drawn.
    #[serde(default)]
    pub generator: Generator,
    /// Most links to other switches per switch.
    #[serde(default)]
    pub degree: Option<u32>,
    /// Links between switches.
    #[serde(default)]
    pub links: Option<u32>,
    /// Hosts on every switch.
    #[serde(default = "one")]
    pub hosts_per_switch: u32,
    /// Seed of the network; `None` = that of the scenario.
    #[serde(default)]
    pub seed: Option<u64>,
}

impl Irregular {
    /// What to draw, when the parameters make sense.
    fn wanted(self, seed: u64) -> Result<Wanted, TopologyError> {
        at_least("switches", self.switches, 1)?;
        at_least("hosts_per_switch", self.hosts_per_switch, 1)?;
        node_count("switches", "switches", Some(u64::from(self.switches)))?;
        let hosts = u64::from(self.switches) * u64::from(self.hosts_per_switch);
        node_count("hosts_per_switch", "hosts", Some(hosts))?;
        let generator = self.generator;
        let is_counted = matches!(generator, Generator::Uniform | Generator::Recursive);
        let links = match self.links {
            None if is_counted => {
                let reason = format!("is missing, expected a number of links for `{generator:?}`");
                return Err(parameter_error("links", reason));
            }
            Some(_) if !is_counted => {
                let reason = format!(
                    "`{generator:?}` ends when `degree` allows no more links, expected `Uniform` or `Recursive`"
                );
                return Err(parameter_error("links", reason));
            }
            links => u64::from(links.unwrap_or(0)),
        };
        if is_counted {
            self.check_links(links)?;
        }
        let Some(degree) = self.degree.or(is_counted.then_some(u32::MAX)) else {
            let reason = format!("is missing, expected most links of a switch for `{generator:?}`");
            return Err(parameter_error("degree", reason));
        };
        at_least("degree", degree, 1)?;
        if self.switches > 2 && degree == 1 {
            let reason =
                "1 link per switch cannot connect more than 2 switches, expected at least 2";
            return Err(parameter_error("degree", reason));
        }
        if self.degree.is_some() {
            port_count("degree", u64::from(degree))?;
            let ports = u64::from(degree) + u64::from(self.hosts_per_switch);
            port_count("hosts_per_switch", ports)?;
        } else {
            port_count("hosts_per_switch", u64::from(self.hosts_per_switch))?;
        }
        Ok(Wanted {
            generator,
            switches: self.switches,
            degree,
            links,
            seed: self.seed.unwrap_or(seed),
        })
    }

    /// Whether so many links can connect the switches, at most one between two.
    fn check_links(self, links: u64) -> Result<(), TopologyError> {
        let switches = u64::from(self.switches);
        let (least, most) = (switches - 1, switches * (switches - 1) / 2);
        if (least..=most).contains(&links) {
            return Ok(());
        }
        let reason = format!(
            "{links} for {switches} switches, expected {least} (a tree) to {most} (all pairs)"
        );
        Err(parameter_error("links", reason))
    }
}

impl Topology for Irregular {
    fn build(&self, context: &BuildContext<'_>) -> Result<Graph, TopologyError> {
        let links = links(self.wanted(context.seed)?)?;
        let wiring = Wiring {
            switches: numbered(self.switches),
            hosts_per_switch: self.hosts_per_switch,
            links: &links,
            least_ports: match (self.generator, self.degree) {
                (Generator::CPython, Some(degree)) => self.hosts_per_switch + degree,
                _ => 0,
            },
            blamed: if self.degree.is_some() {
                "degree"
            } else {
                "links"
            },
            shape: Shape::Irregular,
        };
        wiring.build(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::SwitchId;
    use crate::topology::survey::Survey;
    use crate::topology::tests::context;
    use std::collections::BTreeSet;

    fn saturated(switches: u32, degree: u32, hosts: u32, seed: Option<u64>) -> Irregular {
        Irregular {
            switches,
            generator: Generator::Saturated,
            degree: Some(degree),
            links: None,
            hosts_per_switch: hosts,
            seed,
        }
    }

    /// Checks what every network has, and gives its number of links.
    fn assert_proper(network: Irregular) -> usize {
        let graph = network.build(&context()).unwrap();
        let hosts = network.hosts_per_switch as usize * network.switches as usize;
        assert_eq!(graph.hosts().len(), hosts);
        let survey = Survey::new(&graph);
        assert_eq!(survey.components.len(), 1);
        for switch in graph.switch_ids() {
            let neighbors: Vec<_> = graph.neighbors(switch).map(|(.., s)| s).collect();
            let distinct: BTreeSet<_> = neighbors.iter().copied().collect();
            assert_eq!(distinct.len(), neighbors.len());
            assert!(neighbors.len() <= network.degree.unwrap_or(u32::MAX) as usize);
            assert!(!distinct.contains(&switch));
        }
        survey.switch_links
    }

    #[test]
    fn saturated_networks_have_no_room_left() {
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
                let network = saturated(switches, degree, 2, Some(seed));
                assert_proper(network);
                let graph = network.build(&context()).unwrap();
                let mut open: Vec<SwitchId> = Vec::new();
                for switch in graph.switch_ids() {
                    let peers: BTreeSet<_> = graph.neighbors(switch).map(|(.., s)| s).collect();
                    if peers.len() < degree as usize {
                        assert!(open.iter().all(|other| peers.contains(other)));
                        open.push(switch);
                    }
                }
            }
        }
    }

    #[test]
    fn counted_networks_have_their_links() {
        for generator in [Generator::Uniform, Generator::Recursive] {
            for (switches, degree, links) in [
                (1, None, 0),
                (2, None, 1),
                (16, None, 15),
                (16, None, 24),
                (16, None, 120),
                (40, Some(4), 60),
                (40, Some(2), 39),
                (128, None, 256),
            ] {
                for seed in 0..5 {
                    let network = Irregular {
                        generator,
                        degree,
                        links: Some(links),
                        ..saturated(switches, 1, 1, Some(seed))
                    };
                    assert_eq!(assert_proper(network), links as usize);
                }
            }
        }
    }

    /// Mean degree of the first switches: a random recursive tree favours them, a uniform one does not.
    #[test]
    fn recursive_networks_have_skewed_degrees() {
        let first = |generator| {
            let degrees = (0..40).map(|seed| {
                let network = Irregular {
                    generator,
                    degree: None,
                    links: Some(64),
                    ..saturated(32, 1, 1, Some(seed))
                };
                let graph = network.build(&context()).unwrap();
                let first = graph.switch_ids().take(4);
                first.map(|s| graph.neighbors(s).count()).sum::<usize>()
            });
            degrees.sum::<usize>() as f64 / 160.0
        };
        // a recursive tree gives switch i about ln(32 / i) children, further links favour it alike
        assert!(first(Generator::Recursive) > 6.0);
        assert!((first(Generator::Uniform) - 4.0).abs() < 0.6);
    }

    #[test]
    fn the_seed_decides() {
        let build = |seed, scenario| {
            let context = BuildContext {
                seed: scenario,
                ..context()
            };
            saturated(32, 4, 4, seed).build(&context).unwrap()
        };
        assert_eq!(build(Some(1), 5), build(Some(1), 6));
        assert_ne!(build(Some(1), 5), build(Some(2), 5));
        assert_eq!(build(None, 1), build(Some(1), 9));
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let message = |network: Irregular| network.build(&context()).unwrap_err().to_string();
        assert_eq!(
            message(saturated(3, 1, 1, None)),
            "`degree`: 1 link per switch cannot connect more than 2 switches, expected at least 2"
        );
        assert_eq!(
            message(saturated(3, 200, 55, None)),
            "`hosts_per_switch`: this makes switches of 255 ports, expected at most 254"
        );
        assert_eq!(
            message(saturated(0, 1, 1, None)),
            "`switches`: 0 is too small, expected at least 1"
        );
        let counted = |switches, degree, links| Irregular {
            generator: Generator::Recursive,
            degree,
            links,
            ..saturated(switches, 1, 1, None)
        };
        assert_eq!(
            message(counted(8, None, None)),
            "`links`: is missing, expected a number of links for `Recursive`"
        );
        assert_eq!(
            message(counted(8, None, Some(6))),
            "`links`: 6 for 8 switches, expected 7 (a tree) to 28 (all pairs)"
        );
        assert_eq!(
            message(counted(8, Some(2), Some(20))),
            "`links`: 20 do not fit within the degree (this seed ends at 8), expected fewer links or a larger degree"
        );
        let missing = Irregular {
            degree: None,
            ..saturated(8, 1, 1, None)
        };
        assert_eq!(
            message(missing),
            "`degree`: is missing, expected most links of a switch for `Saturated`"
        );
    }
}
