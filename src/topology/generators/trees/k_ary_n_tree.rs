//! k-ary n-trees: `n` levels of switches with `k` ports down and `k` up, full bisection bandwidth.
//!
//! Guarantees: k^n hosts, `n * k^(n-1)` switches, `(n-1) * k^n` links between switches; the numbering of
//! switches, ports and hosts is that of [`TreeShape`].
//! Fails with: [`TopologyError::Parameter`] when `k` is outside `2..=127`, `n` is 0 or the tree is too large.
//! Cost: O(hosts * n) time and memory.
//!
//! Switch `L2W17` is word 17 of level 2 (level 0 = roots), host `H17` is host 17. A tree of one level is a
//! single switch with `k` hosts.
//!
//! References: [`PETRINI_VANNESCHI`]

use crate::ids::SwitchId;
use crate::references::PETRINI_VANNESCHI;
use crate::registry::{Entry, Parameter};
use crate::topology::graph::limits::{at_least, node_count, port_count};
use crate::topology::graph::{Endpoint, Graph, Shape, TreeShape};
use crate::topology::{BuildContext, BuildTopology, GraphBuilder, Topology, TopologyError};
use serde::Deserialize;

/// What a scenario can say about it.
pub const ENTRY: Entry<BuildTopology> = Entry {
    name: "KAryNTree",
    aliases: &[],
    summary: "k-ary n-tree: the fat tree of equal switches",
    parameters: &[
        Parameter {
            name: "k",
            kind: "integer, 2..=127",
            default: None,
            summary: "ports down, and ports up, of a switch; hosts on a leaf switch",
        },
        Parameter {
            name: "n",
            kind: "integer >= 1",
            default: None,
            summary: "levels of switches",
        },
    ],
    guarantees: &["k^n hosts, n * k^(n-1) switches, (n-1) * k^n links between switches"],
    references: &[PETRINI_VANNESCHI],
    build: |arguments| Ok(Box::new(arguments.parse::<KAryNTree>()?)),
};

/// Parameters of a k-ary n-tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KAryNTree {
    /// Ports down, and ports up, of a switch.
    pub k: u32,
    /// Levels of switches.
    pub n: u32,
}

impl KAryNTree {
    /// The structure, when the parameters make sense.
    pub(super) fn shape(self) -> Result<TreeShape, TopologyError> {
        at_least("k", self.k, 2)?;
        at_least("n", self.n, 1)?;
        port_count("k", 2 * u64::from(self.k))?;
        let hosts = u64::from(self.k).checked_pow(self.n);
        node_count("n", "hosts", hosts)?;
        let per_level = u64::from(self.k).pow(self.n - 1);
        node_count("n", "switches", Some(u64::from(self.n) * per_level))?;
        Ok(TreeShape {
            arity: self.k,
            levels: self.n,
        })
    }
}

impl Topology for KAryNTree {
    fn build(&self, context: &BuildContext<'_>) -> Result<Graph, TopologyError> {
        let shape = self.shape()?;
        let mut builder = wire(&shape, |_| 0, context)?;
        builder.set_shape(Shape::Tree(shape));
        builder.build()
    }
}

/// Wires a tree whose switches have `extra_ports(level)` further, unconnected ports behind those of the
/// tree.
pub(super) fn wire(
    shape: &TreeShape,
    extra_ports: impl Fn(u32) -> u32,
    context: &BuildContext<'_>,
) -> Result<GraphBuilder, TopologyError> {
    let (k, per_level) = (shape.arity, shape.switches_per_level());
    let mut builder = GraphBuilder::new();
    for level in 0..shape.levels {
        let ports = if level == 0 { k } else { 2 * k } + extra_ports(level);
        for word in 0..per_level {
            builder.add_switch(format!("L{level}W{word}"), 0, ports as u16);
        }
    }
    for level in 0..shape.levels - 1 {
        // weight of digit `w_level`: it is the most significant one at level 0
        let weight = k.pow(shape.levels - 2 - level);
        for word in 0..per_level {
            let own_digit = word / weight % k;
            for digit in 0..k {
                let child = word - own_digit * weight + digit * weight;
                builder.connect(
                    Endpoint::Switch(SwitchId(level * per_level + word), digit as u16 + 1),
                    Endpoint::Switch(
                        SwitchId((level + 1) * per_level + child),
                        (k + 1 + own_digit) as u16,
                    ),
                    context.switch_link,
                )?;
            }
        }
    }
    let first_leaf = (shape.levels - 1) * per_level;
    for host in 0..per_level * k {
        let id = builder.add_host(format!("H{host}"), 0);
        let leaf = SwitchId(first_leaf + host / k);
        builder.connect(
            Endpoint::Host(id),
            Endpoint::Switch(leaf, (host % k) as u16 + 1),
            context.host_link,
        )?;
    }
    Ok(builder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::HostId;
    use crate::topology::survey::switch_distances;
    use crate::topology::tests::context;

    fn tree(k: u32, n: u32) -> Graph {
        KAryNTree { k, n }.build(&context()).unwrap()
    }

    #[test]
    fn the_10_ary_3_tree_has_the_known_counts() {
        let graph = tree(10, 3);
        assert_eq!(graph.switches().len(), 300);
        assert_eq!(graph.hosts().len(), 1000);
        assert_eq!(graph.link_count(), 2000 + 1000);
    }

    /// Digit `w_i` of a word of `n - 1` base-k digits, by the definition.
    fn digits(mut word: u32, k: u32, n: u32) -> Vec<u32> {
        let mut digits: Vec<u32> = (1..n)
            .map(|_| {
                let digit = word % k;
                word /= k;
                digit
            })
            .collect();
        digits.reverse();
        digits
    }

    #[test]
    fn every_level_is_wired_by_the_definition() {
        for (k, n) in [(2, 1), (2, 4), (3, 3), (4, 2), (5, 3)] {
            let graph = tree(k, n);
            let Shape::Tree(shape) = graph.shape() else {
                panic!("not a tree");
            };
            for switch in graph.switch_ids() {
                let level = shape.level(switch);
                let own = digits(shape.word(switch), k, n);
                let up = if level == 0 { 0 } else { k as usize };
                assert_eq!(graph.connected_ports(switch).count(), k as usize + up);
                for (port, _, other) in graph.neighbors(switch) {
                    let theirs = digits(shape.word(other), k, n);
                    let (free, digit) = if u32::from(port) <= k {
                        assert_eq!(shape.level(other), level + 1);
                        (level, u32::from(port) - 1)
                    } else {
                        assert_eq!(shape.level(other), level - 1);
                        (level - 1, u32::from(port) - k - 1)
                    };
                    for (i, (a, b)) in own.iter().zip(&theirs).enumerate() {
                        assert_eq!(*b, if i == free as usize { digit } else { *a });
                    }
                }
            }
            for host in graph.host_ids() {
                let leaf = (n - 1) * shape.switches_per_level() + host.0 / k;
                let place = (SwitchId(leaf), (host.0 % k) as u16 + 1);
                assert_eq!(graph.attachment(host), Some(place));
            }
        }
    }

    /// Seed 001, T1: counts, ports and shortest distances of the trees of the source's tables. Two leaves whose words
    /// agree in the first `d` digits are 2 (n - 1 - d) hops apart.
    #[test]
    fn trees_of_the_source_have_their_counts_and_distances() {
        for k in [4u32, 8, 12, 16] {
            for n in [2, 3, 4] {
                let (graph, per_level) = (tree(k, n), k.pow(n - 1));
                assert_eq!(graph.hosts().len() as u32, k.pow(n));
                assert_eq!(graph.switches().len() as u32, n * per_level);
                for switch in graph.switch_ids() {
                    let is_root = switch.0 < per_level;
                    let ports = if is_root { k } else { 2 * k };
                    assert_eq!(graph.connected_ports(switch).count() as u32, ports);
                }
                let first_leaf = (n - 1) * per_level;
                // all leaves of small trees, some of large ones
                for leaf in (0..per_level).step_by(per_level as usize / 50 + 1) {
                    let hops = switch_distances(&graph, SwitchId(first_leaf + leaf));
                    for other in 0..per_level {
                        let agree = |d: &u32| leaf / k.pow(n - 1 - d) == other / k.pow(n - 1 - d);
                        let digits = (0..n).rev().find(agree).unwrap();
                        let found = hops[(first_leaf + other) as usize];
                        assert_eq!(found, Some(2 * (n - 1 - digits)), "{k} {n}: {leaf} {other}");
                    }
                }
            }
        }
    }

    /// Seed 001, T6: hops to the farthest switch or host of the 16-ary 3-tree.
    #[test]
    fn the_16_ary_3_tree_is_four_hops_deep_from_its_roots() {
        let graph = tree(16, 3);
        let farthest = |from: SwitchId| {
            let hops = switch_distances(&graph, from);
            let with_hosts = (0..).zip(&hops).map(|(switch, hops)| {
                let has_hosts = graph.attached_hosts(SwitchId(switch)).next().is_some();
                hops.unwrap() + u32::from(has_hosts)
            });
            with_hosts.max().unwrap()
        };
        for (level, hops) in [(0, 4), (1, 4), (2, 5)] {
            for word in [0, 1, 100, 255] {
                assert_eq!(farthest(SwitchId(level * 256 + word)), hops);
            }
        }
    }

    #[test]
    fn names_are_level_and_word() {
        let graph = tree(2, 3);
        assert_eq!(graph.switches()[9].name, "L2W1");
        assert_eq!(graph.hosts()[HostId(3).index()].name, "H3");
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let message = |k, n| {
            let error = KAryNTree { k, n }.build(&context()).unwrap_err();
            error.to_string()
        };
        assert_eq!(message(1, 3), "`k`: 1 is too small, expected at least 2");
        assert_eq!(message(2, 0), "`n`: 0 is too small, expected at least 1");
        assert_eq!(
            message(128, 1),
            "`k`: this makes switches of 256 ports, expected at most 254"
        );
        assert_eq!(
            message(100, 4),
            "`n`: this makes 100000000 hosts, expected at most 1000000"
        );
        assert_eq!(
            message(2, u32::MAX),
            "`n`: this makes more than 2^64 hosts, expected at most 1000000"
        );
    }
}
