//! Counts, degrees, distances and connectivity of a graph.
//!
//! Distances are in hops: channels between switches. Hosts on the same switch are 0 hops apart.
//! Cost: that of the search in `search.rs`.

pub mod bisection;
mod search;

use super::graph::Graph;
use crate::ids::SwitchId;
pub use search::Component;

use search::Network;
use std::collections::{BTreeMap, VecDeque};

/// What there is to know about a graph without routing it.
#[derive(Clone, Debug, PartialEq)]
pub struct Survey {
    /// Number of switches.
    pub switches: usize,
    /// Number of hosts.
    pub hosts: usize,
    /// Links between switches.
    pub switch_links: usize,
    /// Links between a host and a switch.
    pub host_links: usize,
    /// Those of them that lead from a switch to itself.
    pub self_links: usize,
    /// Switches by number of links to other switches.
    pub degrees: BTreeMap<usize, usize>,
    /// Switches by number of hosts.
    pub hosts_on_switch: BTreeMap<usize, usize>,
    /// Connected parts, by lowest switch; one when the graph is connected.
    pub components: Vec<Component>,
    /// Largest distance between two switches that have hosts and can reach each other \[hops\].
    pub diameter: u32,
    /// Ordered pairs of different hosts by their distance \[hops\].
    pub pairs_at_distance: Vec<u64>,
    /// Ordered pairs of different hosts that cannot reach each other.
    pub unreachable_pairs: u64,
}

impl Survey {
    /// Surveys a graph.
    pub fn new(graph: &Graph) -> Self {
        let network = Network::new(graph);
        let switch_links = network.links;
        let pairs_at_distance = network.pairs_at_distance();
        let hosts = graph.hosts().len() as u64;
        let reachable: u64 = pairs_at_distance.iter().sum();
        Self {
            switches: graph.switches().len(),
            hosts: graph.hosts().len(),
            switch_links,
            host_links: graph.link_count() - switch_links,
            self_links: network.self_links,
            degrees: histogram(graph.switch_ids().map(|switch| {
                let neighbors = graph.neighbors(switch);
                neighbors.filter(|(.., to)| *to != switch).count()
            })),
            hosts_on_switch: histogram(network.hosts.iter().map(|&hosts| hosts as usize)),
            components: network.components(),
            diameter: pairs_at_distance.len().saturating_sub(1) as u32,
            unreachable_pairs: (hosts * hosts).saturating_sub(hosts + reachable),
            pairs_at_distance,
        }
    }

    /// Channels between switches.
    pub const fn switch_channels(&self) -> usize {
        2 * self.switch_links
    }

    /// Mean distance of two different hosts that can reach each other \[hops\]; `None` without such a pair.
    pub fn mean_distance(&self) -> Option<f64> {
        let pairs: u64 = self.pairs_at_distance.iter().sum();
        let weighted = self.pairs_at_distance.iter().zip(0u64..);
        let hops: u64 = weighted.map(|(pairs, distance)| pairs * distance).sum();
        (pairs > 0).then(|| hops as f64 / pairs as f64)
    }
}

/// Distance of every switch from `from` \[hops\]; `None` where there is no path.
pub fn switch_distances(graph: &Graph, from: SwitchId) -> Vec<Option<u32>> {
    let mut distances = vec![None; graph.switches().len()];
    distances[from.index()] = Some(0);
    let mut queue = VecDeque::from([(from, 0)]);
    while let Some((switch, distance)) = queue.pop_front() {
        for (.., neighbor) in graph.neighbors(switch) {
            let known = &mut distances[neighbor.index()];
            if known.is_none() {
                *known = Some(distance + 1);
                queue.push_back((neighbor, distance + 1));
            }
        }
    }
    distances
}

fn histogram(values: impl Iterator<Item = usize>) -> BTreeMap<usize, usize> {
    let mut histogram = BTreeMap::new();
    for value in values {
        *histogram.entry(value).or_default() += 1;
    }
    histogram
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::generators::grid::torus::Torus;
    use crate::topology::generators::irregular::{Generator, Irregular};
    use crate::topology::generators::trees::k_ary_n_tree::KAryNTree;
    use crate::topology::tests::{built, context};
    use crate::topology::{Endpoint, GraphBuilder, Topology};

    #[test]
    fn known_networks_have_their_known_distances() {
        let torus = Torus {
            radix: vec![10, 10, 10],
            hosts_per_switch: 1,
        };
        let survey = Survey::new(&torus.build(&context()).unwrap());
        assert_eq!((survey.diameter, survey.switch_links), (15, 3000));
        // 2.5 hops per dimension on average over all pairs, self included
        let mean = survey.mean_distance().unwrap();
        assert!((mean - 7.5 * 1000.0 / 999.0).abs() < 1e-12);
        assert_eq!(survey.degrees, BTreeMap::from([(6, 1000)]));

        let tree = KAryNTree { k: 10, n: 3 };
        let survey = Survey::new(&tree.build(&context()).unwrap());
        assert_eq!(survey.diameter, 4);
        assert_eq!(survey.pairs_at_distance, [9000, 0, 90_000, 0, 900_000]);
        assert_eq!(survey.degrees, BTreeMap::from([(10, 200), (20, 100)]));
        assert_eq!(
            survey.hosts_on_switch,
            BTreeMap::from([(0, 200), (10, 100)])
        );
    }

    #[test]
    fn all_at_once_agrees_with_one_search_at_a_time() {
        let network = Irregular {
            switches: 150,
            generator: Generator::Saturated,
            degree: Some(4),
            links: None,
            hosts_per_switch: 3,
            seed: Some(4),
        };
        let graph = network.build(&context()).unwrap();
        let survey = Survey::new(&graph);
        let mut pairs = vec![0; survey.diameter as usize + 1];
        for switch in graph.switch_ids() {
            for distance in switch_distances(&graph, switch) {
                match distance.unwrap() {
                    0 => pairs[0] += 3 * 2,
                    hops => pairs[hops as usize] += 3 * 3,
                }
            }
        }
        assert_eq!(survey.pairs_at_distance, pairs);
        assert_eq!(survey.unreachable_pairs, 0);
    }

    #[test]
    fn parts_are_listed() {
        let mut builder = GraphBuilder::new();
        for i in 0..3 {
            let switch = builder.add_switch(format!("S{i}"), 0, 4);
            let host = builder.add_host(format!("H{i}"), 0);
            let ends = (Endpoint::Host(host), Endpoint::Switch(switch, 1));
            builder
                .connect(ends.0, ends.1, context().host_link)
                .unwrap();
        }
        let [a, b] = [0, 2].map(|s| Endpoint::Switch(SwitchId(s), 2));
        builder.connect(a, b, context().switch_link).unwrap();
        let graph = builder.build().unwrap();
        let survey = Survey::new(&graph);
        let part = |first, size| Component {
            first: SwitchId(first),
            switches: size,
            hosts: size,
        };
        assert_eq!(survey.components, [part(0, 2), part(1, 1)]);
        assert_eq!(survey.pairs_at_distance, [0, 2]);
        assert_eq!(survey.unreachable_pairs, 4);
        assert_eq!((survey.diameter, survey.switch_channels()), (1, 2));
        assert_eq!(
            switch_distances(&graph, SwitchId(0)),
            [Some(0), None, Some(1)]
        );
    }

    /// Mean path lengths that OpenSM's `MinHop`, a shortest-path routing, has on the same networks.
    #[test]
    fn mean_distances_are_those_of_shortest_path_routing() {
        let mean = |text: &str| {
            let mut context = context();
            context.clock.reference_rate = 160_000_000_000;
            let survey = Survey::new(&built(text, &context));
            assert_eq!(survey.diameter, 2);
            survey.mean_distance().unwrap()
        };
        let irregular = "EdgeList(hosts_per_switch: 4, links: [(0, 2), (0, 5), (0, 7), (1, 4), (1, 5), (1, 6), (1, 7), \
                         (2, 6), (2, 7), (3, 4), (3, 5), (3, 6), (3, 7), (4, 5), (4, 6)])";
        assert!((mean(irregular) - 1.3226).abs() < 5e-5);
        let psmn = "Ibnetdiscover(file: \"assets/fabrics/psmn_x5.ibnetdiscover\")";
        assert!((mean(psmn) - 1.5797).abs() < 5e-5);
        let loginoff = "Ibnetdiscover(file: \"assets/fabrics/loginoff_8sw.ibnetdiscover\")";
        assert!((mean(loginoff) - 1.65).abs() < 5e-3);
    }

    /// Two switches with a cable between them and one from the first to itself.
    #[test]
    fn a_cable_from_a_switch_to_itself_makes_no_neighbor() {
        let text = "EdgeList(hosts_per_switch: 1, links: [(0, 1), (\"0:4\", \"0:5\")])";
        let graph = built(text, &context());
        let survey = Survey::new(&graph);
        assert_eq!((survey.switch_links, survey.self_links), (2, 1));
        assert_eq!(survey.degrees, BTreeMap::from([(1, 2)]));
        assert_eq!(bisection::bisection(&graph).unwrap().links, 1);
        // so many that the divisions are searched, each switch with a cable to itself
        let links: Vec<String> = (0..24)
            .map(|i| format!("({i}, {}), (\"{i}:8\", \"{i}:9\")", (i + 1) % 24))
            .collect();
        let ring = built(
            &format!(
                "EdgeList(hosts_per_switch: 1, links: [{}])",
                links.join(", ")
            ),
            &context(),
        );
        assert_eq!(bisection::bisection(&ring).unwrap().links, 2);
    }

    #[test]
    fn ten_thousand_switches_are_fast() {
        let torus = Torus {
            radix: vec![100, 100],
            hosts_per_switch: 1,
        };
        let survey = Survey::new(&torus.build(&context()).unwrap());
        assert_eq!(survey.diameter, 100);
    }
}
