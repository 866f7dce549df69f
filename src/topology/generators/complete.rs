//! Complete graphs: every two switches are linked.
//!
//! Guarantees: `n (n - 1) / 2` links; the numbering is that of [`HyperXShape`](crate::topology::graph::HyperXShape)
//! with one dimension: hosts, then the other switches ascending. Diameter 1.
//! Fails with: [`TopologyError::Parameter`] when a parameter is 0 or a switch gets too many ports.
//! Cost: O(switches^2 + hosts) time and memory.
//!
//! References: [`AHN_HYPERX`] (the `HyperX` of one dimension)

use super::hyper_x::HyperX;
use super::parameters::{HOSTS_PER_SWITCH, one};
use crate::references::AHN_HYPERX;
use crate::registry::{Entry, Parameter};
use crate::topology::graph::limits::{at_least, parameter_error};
use crate::topology::{BuildContext, BuildTopology, Graph, Topology, TopologyError};
use serde::Deserialize;

/// What a scenario can say about it.
pub const ENTRY: Entry<BuildTopology> = Entry {
    name: "Complete",
    aliases: &["FullMesh"],
    summary: "complete graph: every two switches are linked",
    parameters: &[
        Parameter {
            name: "switches",
            kind: "integer, 1..=254",
            default: None,
            summary: "number of switches",
        },
        HOSTS_PER_SWITCH,
    ],
    guarantees: &["n (n - 1) / 2 links between switches, diameter 1"],
    references: &[AHN_HYPERX],
    build: |arguments| Ok(Box::new(arguments.parse::<Complete>()?)),
};

/// Parameters of a complete graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Complete {
    /// Number of switches.
    pub switches: u32,
    /// Hosts on every switch.
    #[serde(default = "one")]
    pub hosts_per_switch: u32,
}

impl Topology for Complete {
    fn build(&self, context: &BuildContext<'_>) -> Result<Graph, TopologyError> {
        at_least("switches", self.switches, 1)?;
        let whole = HyperX {
            sizes: vec![self.switches],
            multiplicity: Vec::new(),
            hosts_per_switch: self.hosts_per_switch,
        };
        whole.build(context).map_err(|error| match error {
            TopologyError::Parameter {
                parameter: "sizes",
                reason,
            } => parameter_error("switches", reason),
            error => error,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::survey::Survey;
    use crate::topology::tests::context;

    #[test]
    fn everyone_is_a_neighbor() {
        let complete = |switches, hosts_per_switch| Complete {
            switches,
            hosts_per_switch,
        };
        for n in 2..8 {
            let survey = Survey::new(&complete(n, 2).build(&context()).unwrap());
            assert_eq!(survey.switch_links as u32, n * (n - 1) / 2);
            assert_eq!(survey.diameter, 1);
        }
        assert_eq!(
            complete(300, 1).build(&context()).unwrap_err().to_string(),
            "`switches`: this makes switches of 299 ports, expected at most 254"
        );
    }
}
