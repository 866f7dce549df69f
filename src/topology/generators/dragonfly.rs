//! Dragonflies: groups of switches, complete inside, linked to all other groups.
//!
//! Guarantees: `floor(a h / (g - 1))` links between every two groups; diameter 3; numbering as in
//! [`DragonflyShape`].
//! Fails with: [`TopologyError::Parameter`] when `p`, `a` or `g` is 0, there are more groups than
//! `a h + 1`, or a switch gets too many ports.
//! Cost: O(links log links + hosts) time and memory.
//!
//! # Algorithm
//!
//! 1. All switches of a group are linked to each other.
//! 2. Port `j` of the `h` global ports of router `s` is global link number `q = s h + j` of its group. The
//!    links are dealt out in rounds of `g - 1`, one to every other group; a last, incomplete round is left
//!    out. In a round, link number `c` of group `i` leads, by arrangement, to group
//!    - `Relative`: `(i + c + 1) mod g`, where it is link number `g - 2 - c`;
//!    - `Absolute`: `c`, or `c + 1` from group `i` on, where it is link number `i`, or `i - 1` likewise;
//!    - `Palmtree`: `(i - c - 1) mod g`, where it is link number `g - 2 - c`.
//! 3. Hosts take the first ports, then the local links and then the global ones, each sorted by their two
//!    switches, the next free one at both ends.
//!
//! A dragonfly is balanced with `a = 2p = 2h`, and as large as can be with `g = a h + 1`. Switch `G3R1` is
//! router 1 of group 3.
//!
//! References: [`KIM_DRAGONFLY`], [`CAMARERO`] (arrangements of global links)

use super::wiring::Wiring;
use crate::references::{CAMARERO, KIM_DRAGONFLY};
use crate::registry::{Entry, Parameter};
use crate::topology::graph::limits::{at_least, node_count, parameter_error, port_count};
use crate::topology::graph::{DragonflyShape, Graph, Shape};
use crate::topology::{BuildContext, BuildTopology, Topology, TopologyError};
use serde::Deserialize;

/// What a scenario can say about it.
pub const ENTRY: Entry<BuildTopology> = Entry {
    name: "Dragonfly",
    aliases: &[],
    summary: "dragonfly: complete groups, all groups linked",
    parameters: &[
        Parameter {
            name: "p",
            kind: "integer >= 1",
            default: None,
            summary: "hosts on a switch",
        },
        Parameter {
            name: "a",
            kind: "integer >= 1",
            default: None,
            summary: "switches of a group",
        },
        Parameter {
            name: "h",
            kind: "integer >= 0",
            default: None,
            summary: "global links of a switch",
        },
        Parameter {
            name: "g",
            kind: "integer, 1..=a * h + 1",
            default: Some("a * h + 1"),
            summary: "number of groups",
        },
        Parameter {
            name: "arrangement",
            kind: "Relative | Absolute | Palmtree",
            default: Some("Relative"),
            summary: "which group each global link leads to",
        },
    ],
    guarantees: &[
        "floor(a h / (g - 1)) links between every two groups, diameter 3",
        "ports: hosts, local links, global links, each by ascending neighbour",
    ],
    references: &[KIM_DRAGONFLY, CAMARERO],
    build: |arguments| Ok(Box::new(arguments.parse::<Dragonfly>()?)),
};

/// Which group each global link of a group leads to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum Arrangement {
    /// Link `c` to the group `c + 1` further on.
    #[default]
    Relative,
    /// Link `c` to group `c`, leaving out the own one.
    Absolute,
    /// Link `c` to the group `c + 1` further back.
    Palmtree,
}

impl Arrangement {
    /// Group that link `c` of group `i` of `g` leads to.
    fn target(self, g: u32, i: u32, c: u32) -> u32 {
        match self {
            Self::Relative => (i + c + 1) % g,
            Self::Absolute => c + u32::from(c >= i),
            Self::Palmtree => (i + g - c - 1) % g,
        }
    }

    /// Number, in the group it leads to, of link `c` of group `i` of `g`.
    fn number_there(self, g: u32, i: u32, c: u32) -> u32 {
        match self {
            Self::Relative | Self::Palmtree => g - 2 - c,
            Self::Absolute => i - u32::from(i > self.target(g, i, c)),
        }
    }
}

/// Parameters of a dragonfly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dragonfly {
    /// Hosts on a switch.
    pub p: u32,
    /// Switches of a group.
    pub a: u32,
    /// Global links of a switch.
    pub h: u32,
    /// Number of groups; `None` = `a * h + 1`.
    #[serde(default)]
    pub g: Option<u32>,
    /// Which group each global link leads to.
    #[serde(default)]
    pub arrangement: Arrangement,
}

impl Dragonfly {
    /// The structure, when the parameters make sense.
    fn shape(self) -> Result<DragonflyShape, TopologyError> {
        let (a, h) = (u64::from(self.a), u64::from(self.h));
        at_least("p", self.p, 1)?;
        at_least("a", self.a, 1)?;
        port_count("a", a - 1)?;
        port_count("h", a - 1 + h)?;
        // at most 254 * 254, so no overflow from here on
        let most = self.a * self.h + 1;
        let groups = self.g.unwrap_or(most);
        at_least("g", groups, 1)?;
        if groups > most {
            let reason = format!("{groups} is too large, expected at most a * h + 1 = {most}");
            return Err(parameter_error("g", reason));
        }
        let switches = node_count("g", "switches", Some(u64::from(groups) * a))?;
        let ports = a - 1 + h + u64::from(self.p);
        port_count("p", ports)?;
        let hosts = u64::from(switches) * u64::from(self.p);
        node_count("p", "hosts", Some(hosts))?;
        Ok(DragonflyShape {
            hosts_per_switch: self.p,
            switches_per_group: self.a,
            global_ports: self.h,
            groups,
        })
    }

    /// Local links, then global ones, each sorted.
    fn links(self, shape: &DragonflyShape) -> Vec<(u32, u32)> {
        let (a, g) = (self.a, shape.groups);
        let mut links = Vec::new();
        for group in 0..g {
            for router in 0..a {
                let local = router + 1..a;
                links.extend(local.map(|other| (group * a + router, group * a + other)));
            }
        }
        let first_global = links.len();
        for round in 0..shape.links_between_groups() {
            for group in 0..g {
                for c in 0..g - 1 {
                    let target = self.arrangement.target(g, group, c);
                    if target < group {
                        continue; // made from the other side
                    }
                    let there = self.arrangement.number_there(g, group, c);
                    let router = |number: u32| (round * (g - 1) + number) / self.h;
                    links.push((group * a + router(c), target * a + router(there)));
                }
            }
        }
        links[first_global..].sort_unstable();
        links
    }
}

impl Topology for Dragonfly {
    fn build(&self, context: &BuildContext<'_>) -> Result<Graph, TopologyError> {
        let shape = self.shape()?;
        let switches = (0..shape.groups * self.a).map(crate::ids::SwitchId);
        let name = |switch| format!("G{}R{}", shape.group(switch), shape.router(switch));
        let wiring = Wiring {
            switches: switches.map(name).collect(),
            hosts_per_switch: self.p,
            links: &self.links(&shape),
            least_ports: 0,
            blamed: "h",
            shape: Shape::Dragonfly(shape),
        };
        wiring.build(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::survey::Survey;
    use crate::topology::tests::context;

    fn dragonfly(p: u32, a: u32, h: u32, g: Option<u32>, arrangement: Arrangement) -> Dragonfly {
        Dragonfly {
            p,
            a,
            h,
            g,
            arrangement,
        }
    }

    const ALL: [Arrangement; 3] = [
        Arrangement::Relative,
        Arrangement::Absolute,
        Arrangement::Palmtree,
    ];

    #[test]
    fn every_two_groups_have_as_many_links() {
        for arrangement in ALL {
            for (a, h, g) in [
                (4, 2, 9),
                (4, 2, 3),
                (3, 1, 3),
                (4, 2, 4),
                (2, 3, 2),
                (1, 4, 5),
            ] {
                let network = dragonfly(2, a, h, Some(g), arrangement);
                let graph = network.build(&context()).unwrap();
                let Shape::Dragonfly(shape) = graph.shape() else {
                    panic!("not a dragonfly");
                };
                let mut between = vec![0; (g * g) as usize];
                for switch in graph.switch_ids() {
                    let mut global = 0;
                    let mut last = None;
                    for (_, _, peer) in graph.neighbors(switch) {
                        let (own, other) = (shape.group(switch), shape.group(peer));
                        between[(own * g + other) as usize] += 1;
                        global += u32::from(own != other);
                        // local ones first, each kind by ascending neighbour
                        let key = Some((own != other, peer));
                        assert!(last <= key);
                        last = key;
                    }
                    assert!(global <= h);
                }
                for (pair, &links) in between.iter().enumerate() {
                    let is_own = pair as u32 / g == pair as u32 % g;
                    let own = a * (a - 1);
                    let wanted = if is_own { own } else { a * h / (g - 1) };
                    assert_eq!(links, wanted, "{arrangement:?} {a} {h} {g}");
                }
            }
        }
    }

    #[test]
    fn the_largest_one_has_diameter_3() {
        for arrangement in ALL {
            let graph = dragonfly(2, 4, 2, None, arrangement).build(&context());
            let survey = Survey::new(&graph.unwrap());
            assert_eq!((survey.switches, survey.hosts), (36, 72));
            assert_eq!((survey.switch_links, survey.diameter), (54 + 36, 3));
        }
    }

    /// Global links of 9 groups of 4 switches with 2 global ports, as published beside the tables of
    /// layers for this network.
    #[test]
    fn relative_links_are_the_known_ones() {
        let known = "0-7 0-11 1-14 1-18 2-21 2-25 3-28 3-32 4-11 4-15 5-18 5-22 6-25 6-29 7-32 8-15 8-19 9-22 \
                     9-26 10-29 10-33 12-19 12-23 13-26 13-30 14-33 16-23 16-27 17-30 17-34 20-27 20-31 \
                     21-34 24-31 24-35 28-35";
        let network = dragonfly(2, 4, 2, None, Arrangement::Relative);
        let links = network.links(&network.shape().unwrap());
        let global: Vec<String> = links[54..]
            .iter()
            .map(|(a, b)| format!("{a}-{b}"))
            .collect();
        assert_eq!(global.join(" "), known);
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let message = |p, a, h, g| {
            let network = dragonfly(p, a, h, g, Arrangement::Relative);
            network.build(&context()).unwrap_err().to_string()
        };
        assert_eq!(
            message(1, 4, 2, Some(10)),
            "`g`: 10 is too large, expected at most a * h + 1 = 9"
        );
        assert_eq!(
            message(0, 4, 2, None),
            "`p`: 0 is too small, expected at least 1"
        );
        assert_eq!(
            message(200, 50, 10, None),
            "`p`: this makes switches of 259 ports, expected at most 254"
        );
        assert_eq!(
            message(1, u32::MAX, u32::MAX, None),
            "`a`: this makes switches of 4294967294 ports, expected at most 254"
        );
        assert_eq!(
            message(1, 120, 120, None),
            "`g`: this makes 1728120 switches, expected at most 1000000"
        );
    }
}
