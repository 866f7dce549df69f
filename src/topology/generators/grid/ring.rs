//! Rings: a torus of one dimension.
//!
//! Guarantees: the numbering is that of [`GridShape`](crate::topology::graph::GridShape) with one dimension that wraps:
//! port 1 leads to the next switch, port 2 to the one before, hosts follow. Diameter `floor(n / 2)`.
//! Fails with: [`TopologyError::Parameter`] when there are fewer than 3 switches, `hosts_per_switch` is 0 or
//! the ring is too large.
//! Cost: O(switches + hosts) time and memory.
//!
//! Links are full duplex, so packets may go either way round; up to two switches use
//! [`Mesh`](super::mesh), or [`Torus`](super::torus) for two links between the two.
//!
//! References: [`DALLY_TOWLES`] chapter 5

use super::{HostPorts, build, shape};
use crate::references::DALLY_TOWLES;
use crate::registry::{Entry, Parameter};
use crate::topology::generators::parameters::{HOSTS_PER_SWITCH, one};
use crate::topology::graph::limits::at_least;
use crate::topology::{BuildContext, BuildTopology, Graph, Topology, TopologyError};
use serde::Deserialize;

/// What a scenario can say about it.
pub const ENTRY: Entry<BuildTopology> = Entry {
    name: "Ring",
    aliases: &[],
    summary: "ring of switches, links in both directions",
    parameters: &[
        Parameter {
            name: "switches",
            kind: "integer >= 3",
            default: None,
            summary: "number of switches",
        },
        HOSTS_PER_SWITCH,
    ],
    guarantees: &["port 1 leads to the next switch, port 2 to the one before, hosts follow"],
    references: &[DALLY_TOWLES],
    build: |arguments| Ok(Box::new(arguments.parse::<Ring>()?)),
};

/// Parameters of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ring {
    /// Number of switches, at least 3.
    pub switches: u32,
    /// Hosts on every switch.
    #[serde(default = "one")]
    pub hosts_per_switch: u32,
}

impl Topology for Ring {
    fn build(&self, context: &BuildContext<'_>) -> Result<Graph, TopologyError> {
        at_least("switches", self.switches, 3)?;
        let shape = shape("switches", &[self.switches], self.hosts_per_switch, true)?;
        build(shape, HostPorts::Last, context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::survey::Survey;
    use crate::topology::tests::context;

    #[test]
    fn distances_are_those_of_the_ring() {
        for n in 3..10u32 {
            let ring = Ring {
                switches: n,
                hosts_per_switch: 1,
            };
            let survey = Survey::new(&ring.build(&context()).unwrap());
            assert_eq!((survey.switch_links, survey.diameter), (n as usize, n / 2));
            // sum of distances from one switch: floor(n^2 / 4)
            let mean = f64::from(n * n / 4) / f64::from(n - 1);
            assert!((survey.mean_distance().unwrap() - mean).abs() < 1e-12);
        }
    }

    #[test]
    fn two_switches_are_no_ring() {
        let ring = Ring {
            switches: 2,
            hosts_per_switch: 1,
        };
        assert_eq!(
            ring.build(&context()).unwrap_err().to_string(),
            "`switches`: 2 is too small, expected at least 3"
        );
    }
}
