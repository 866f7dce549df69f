//! Meshes of any dimension and mixed radix.
//!
//! Guarantees: the numbering of switches, ports and hosts is that of
//! [`GridShape`](crate::topology::graph::GridShape); dimension `d` has `(radix[d] - 1) / radix[d]` links per switch.
//! Fails with: [`TopologyError::Parameter`] when a radix or `hosts_per_switch` is 0 or the mesh is too large.
//! Cost: O(switches * dimensions + hosts) time and memory.
//!
//! Ports that would lead over the border stay unconnected. A hypercube is a mesh of radix 2 everywhere.
//! Switch `S3.0.7` has the coordinates 3, 0 and 7, dimension 0 first.
//!
//! References: [`DALLY_TOWLES`] chapter 5

use super::{HostPorts, build, shape};
use crate::references::DALLY_TOWLES;
use crate::registry::{Entry, Parameter};
use crate::topology::generators::parameters::{HOSTS_PER_SWITCH, RADIX, one};
use crate::topology::{BuildContext, BuildTopology, Graph, Topology, TopologyError};
use serde::Deserialize;

/// What a scenario can say about it.
pub const ENTRY: Entry<BuildTopology> = Entry {
    name: "Mesh",
    aliases: &[],
    summary: "mesh of any dimension; a hypercube with radix 2",
    parameters: &[
        RADIX,
        HOSTS_PER_SWITCH,
        Parameter {
            name: "host_ports",
            kind: "Last | LowestFree",
            default: Some("Last"),
            summary: "ports of hosts: after those of all dimensions, or the lowest without a link",
        },
    ],
    guarantees: &["port 2d+1 leads to +1 and port 2d+2 to -1 in dimension d"],
    references: &[DALLY_TOWLES],
    build: |arguments| Ok(Box::new(arguments.parse::<Mesh>()?)),
};

/// Parameters of a mesh.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mesh {
    /// Switches along each dimension.
    pub radix: Vec<u32>,
    /// Hosts on every switch.
    #[serde(default = "one")]
    pub hosts_per_switch: u32,
    /// Which ports of a switch its hosts take.
    #[serde(default)]
    pub host_ports: HostPorts,
}

impl Topology for Mesh {
    fn build(&self, context: &BuildContext<'_>) -> Result<Graph, TopologyError> {
        let shape = shape("radix", &self.radix, self.hosts_per_switch, false)?;
        build(shape, self.host_ports, context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::context;

    #[test]
    fn counts_are_as_known() {
        let mesh = |radix: &[u32]| {
            let radix = radix.to_vec();
            let hosts_per_switch = 1;
            let mesh = Mesh {
                radix,
                hosts_per_switch,
                host_ports: HostPorts::Last,
            };
            mesh.build(&context()).unwrap()
        };
        let square = mesh(&[8, 8]);
        assert_eq!(square.switches().len(), 64);
        assert_eq!(square.link_count(), 2 * 8 * 7 + 64);
        assert_eq!(square.switches()[10].name, "S2.1");
        // the hypercube of dimension 4: 16 * 4 / 2 links
        assert_eq!(mesh(&[2; 4]).link_count(), 32 + 16);
    }
}
