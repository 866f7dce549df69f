//! The Petersen graph: ten switches, three links each, diameter 2.
//!
//! Guarantees: 15 links; no two switches are further apart than 2 hops, the mean over different ones is 5/3.
//! Fails with: [`TopologyError::Parameter`] when `hosts_per_switch` is 0 or too large.
//! Cost: O(hosts) time and memory.
//!
//! Links in order: the outer ring `i - (i + 1) mod 5`, the spokes `i - i + 5`, the inner star
//! `5 + i - 5 + (i + 2) mod 5`. Hosts take the first ports, then each link the next free one at both ends.
//!
//! References: [`HOFFMAN_SINGLETON`] (the Moore graph of degree 3 and diameter 2)

use super::parameters::{HOSTS_PER_SWITCH, direct_network, one};
use super::wiring::{Wiring, numbered};
use crate::references::HOFFMAN_SINGLETON;
use crate::registry::Entry;
use crate::topology::graph::{Graph, Shape};
use crate::topology::{BuildContext, BuildTopology, Topology, TopologyError};
use serde::Deserialize;

/// What a scenario can say about it.
pub const ENTRY: Entry<BuildTopology> = Entry {
    name: "Petersen",
    aliases: &[],
    summary: "Petersen graph: 10 switches of degree 3, diameter 2",
    parameters: &[HOSTS_PER_SWITCH],
    guarantees: &["hosts first, then outer ring, spokes and inner star on the next free ports"],
    references: &[HOFFMAN_SINGLETON],
    build: |arguments| Ok(Box::new(arguments.parse::<Petersen>()?)),
};

/// Parameters of the Petersen graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Petersen {
    /// Hosts on every switch.
    #[serde(default = "one")]
    pub hosts_per_switch: u32,
}

impl Topology for Petersen {
    fn build(&self, context: &BuildContext<'_>) -> Result<Graph, TopologyError> {
        direct_network(10, self.hosts_per_switch, 3, "hosts_per_switch")?;
        let ring = (0..5).map(|i| (i, (i + 1) % 5));
        let spokes = (0..5).map(|i| (i, i + 5));
        let star = (0..5).map(|i| (5 + i, 5 + (i + 2) % 5));
        let wiring = Wiring {
            switches: numbered(10),
            hosts_per_switch: self.hosts_per_switch,
            links: &ring.chain(spokes).chain(star).collect::<Vec<_>>(),
            least_ports: 0,
            blamed: "hosts_per_switch",
            shape: Shape::Irregular,
        };
        wiring.build(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::survey::Survey;
    use crate::topology::tests::context;
    use std::collections::BTreeMap;

    #[test]
    fn it_is_the_moore_graph() {
        let petersen = Petersen {
            hosts_per_switch: 1,
        };
        let survey = Survey::new(&petersen.build(&context()).unwrap());
        assert_eq!((survey.switch_links, survey.diameter), (15, 2));
        assert_eq!(survey.degrees, BTreeMap::from([(3, 10)]));
        assert_eq!(survey.pairs_at_distance, [0, 30, 60]);
    }
}
