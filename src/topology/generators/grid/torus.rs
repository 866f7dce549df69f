//! Tori (k-ary n-cubes) of any dimension and mixed radix.
//!
//! Guarantees: the numbering of switches, ports and hosts is that of
//! [`GridShape`](crate::topology::graph::GridShape); dimension `d` of radix > 1 has one link per switch.
//! Fails with: [`TopologyError::Parameter`] when a radix or `hosts_per_switch` is 0 or the torus is too large.
//! Cost: O(switches * dimensions + hosts) time and memory.
//!
//! A dimension of radix 1 has no links. A dimension of radix 2 has *two parallel links* between its two
//! switches, because the step +1 and the step -1 are different ports that both exist; with one link use
//! [`Mesh`](super::mesh). Switch `S3.0.7` has the coordinates 3, 0 and 7, dimension 0 first.
//!
//! References: [`DALLY_TOWLES`] chapter 5

use super::{HostPorts, build, shape};
use crate::references::DALLY_TOWLES;
use crate::registry::Entry;
use crate::topology::generators::parameters::{HOSTS_PER_SWITCH, RADIX, one};
use crate::topology::{BuildContext, BuildTopology, Graph, Topology, TopologyError};
use serde::Deserialize;

/// What a scenario can say about it.
pub const ENTRY: Entry<BuildTopology> = Entry {
    name: "Torus",
    aliases: &[],
    summary: "torus (k-ary n-cube) of any dimension and mixed radix",
    parameters: &[RADIX, HOSTS_PER_SWITCH],
    guarantees: &["port 2d+1 leads to +1 and port 2d+2 to -1 in dimension d, hosts follow"],
    references: &[DALLY_TOWLES],
    build: |arguments| Ok(Box::new(arguments.parse::<Torus>()?)),
};

/// Parameters of a torus.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Torus {
    /// Switches along each dimension.
    pub radix: Vec<u32>,
    /// Hosts on every switch.
    #[serde(default = "one")]
    pub hosts_per_switch: u32,
}

impl Topology for Torus {
    fn build(&self, context: &BuildContext<'_>) -> Result<Graph, TopologyError> {
        let shape = shape("radix", &self.radix, self.hosts_per_switch, true)?;
        build(shape, HostPorts::Last, context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::context;

    #[test]
    fn counts_are_as_known() {
        let torus = |radix: &[u32]| {
            let radix = radix.to_vec();
            let hosts_per_switch = 1;
            let torus = Torus {
                radix,
                hosts_per_switch,
            };
            torus.build(&context()).unwrap()
        };
        let cube = torus(&[10, 10, 10]);
        assert_eq!(cube.switches().len(), 1000);
        assert_eq!(cube.link_count(), 3000 + 1000);
        assert_eq!(cube.switches()[123].name, "S3.2.1");
        // radix 2: two parallel links; radix 1: none
        assert_eq!(torus(&[2]).link_count(), 2 + 2);
        assert_eq!(torus(&[1, 3]).link_count(), 3 + 3);
    }
}
