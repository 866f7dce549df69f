//! k-ary n-flies: `n` stages of `k^(n-1)` switches with `k` inputs and `k` outputs, `k^n` hosts.
//!
//! Guarantees: one way from every host to every other, over one switch of each stage; numbering as in [`FlyShape`].
//! Fails with: [`TopologyError::Parameter`] when `k` or `n` is too small or the network too large.
//! Cost: O(links + hosts) time and memory.
//!
//! A host sends into the first stage and receives from the last one. It has one cable, so switch `w` of both stages is
//! one switch here, an end: packets from its hosts take its outputs to the next stage, packets from the stage before
//! its hosts. The two share neither inputs nor outputs, so that is the same as two switches, when every packet keeps to
//! its stage: `DestinationTag` does. Links are full duplex; against the stages they carry nothing then. Other engines
//! use them both ways, which is no butterfly any more. With `n: 2` an end is also linked to itself.
//!
//! References: [`DALLY_TOWLES`] chapter 4

use super::wiring::attach_hosts;
use crate::ids::SwitchId;
use crate::references::DALLY_TOWLES;
use crate::registry::{Entry, Parameter};
use crate::topology::graph::limits::{at_least, node_count, port_count};
use crate::topology::graph::{Endpoint, FlyShape, Graph, Shape};
use crate::topology::{BuildContext, BuildTopology, GraphBuilder, Topology, TopologyError};
use serde::Deserialize;

/// What a scenario can say about it.
pub const ENTRY: Entry<BuildTopology> = Entry {
    name: "KAryNFly",
    aliases: &["Butterfly", "Fly"],
    summary: "k-ary n-fly (butterfly): n stages of k x k switches, one way between two hosts",
    parameters: &[
        Parameter {
            name: "k",
            kind: "integer >= 2",
            default: None,
            summary: "inputs, and outputs, of a switch",
        },
        Parameter {
            name: "n",
            kind: "integer >= 1",
            default: None,
            summary: "stages",
        },
    ],
    guarantees: &[
        "k^n hosts",
        "switch w of the first and of the last stage is one switch; route it by `DestinationTag`",
    ],
    references: &[DALLY_TOWLES],
    build: |arguments| Ok(Box::new(arguments.parse::<KAryNFly>()?)),
};

/// Parameters of a k-ary n-fly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KAryNFly {
    /// Inputs, and outputs, of a switch.
    pub k: u32,
    /// Stages.
    pub n: u32,
}

impl KAryNFly {
    fn shape(self) -> Result<FlyShape, TopologyError> {
        at_least("k", self.k, 2)?;
        at_least("n", self.n, 1)?;
        let ports = if self.n == 1 { 1 } else { 3 };
        port_count("k", ports * u64::from(self.k))?;
        let hosts = u64::from(self.k).checked_pow(self.n);
        node_count("n", "hosts", hosts)?;
        let shape = FlyShape {
            arity: self.k,
            stages: self.n,
        };
        let switches = u64::from(self.n.max(2) - 1) * u64::from(shape.switches_per_stage());
        node_count("n", "switches", Some(switches))?;
        Ok(shape)
    }
}

impl Topology for KAryNFly {
    fn build(&self, context: &BuildContext<'_>) -> Result<Graph, TopologyError> {
        let shape = self.shape()?;
        let (k, per_stage) = (shape.arity, shape.switches_per_stage());
        let mut builder = GraphBuilder::new();
        let end_ports = if shape.stages == 1 { k } else { 3 * k };
        for word in 0..per_stage {
            builder.add_switch(format!("end{word}"), 0, end_ports as u16);
        }
        for stage in 1..shape.stages.saturating_sub(1) {
            for word in 0..per_stage {
                builder.add_switch(format!("stage{stage}.{word}"), 0, 2 * k as u16);
            }
        }
        attach_hosts(&mut builder, context, per_stage, k, |_| 1)?;
        for stage in 0..shape.stages - 1 {
            for word in 0..per_stage {
                for output in 0..k {
                    let (next, input) = shape.behind(stage, word, output);
                    let is_last = stage + 2 == shape.stages;
                    let first_input = if is_last { 2 * k + 1 } else { 1 };
                    let from = SwitchId(shape.switch(stage, word));
                    let to = SwitchId(shape.switch(stage + 1, next));
                    builder.connect(
                        Endpoint::Switch(from, (k + 1 + output) as u16),
                        Endpoint::Switch(to, (first_input + input) as u16),
                        context.switch_link,
                    )?;
                }
            }
        }
        builder.set_shape(Shape::Fly(shape));
        builder.build()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::context;

    fn fly(k: u32, n: u32) -> Result<Graph, TopologyError> {
        KAryNFly { k, n }.build(&context())
    }

    #[test]
    fn counts_are_those_of_the_closed_form() {
        for (k, n) in [(2, 1), (2, 2), (4, 2), (2, 3), (3, 3), (2, 6), (4, 3)] {
            let graph = fly(k, n).unwrap();
            let hosts = k.pow(n) as usize;
            assert_eq!(graph.hosts().len(), hosts);
            // n stages of k^(n-1), of which two are one
            let stages = if n == 1 { 1 } else { n as usize - 1 };
            assert_eq!(graph.switches().len(), stages * hosts / k as usize);
            assert_eq!(graph.link_count(), hosts + (n as usize - 1) * hosts);
        }
    }

    /// Every digit of the destination sets one output: from any switch of the first stage to any of the last.
    #[test]
    fn outputs_by_the_digits_of_a_host_lead_to_it() {
        for (k, n) in [(2, 2), (2, 4), (3, 3), (4, 2)] {
            let graph = fly(k, n).unwrap();
            let Shape::Fly(shape) = graph.shape() else {
                panic!("not a fly");
            };
            for start in 0..shape.switches_per_stage() {
                for host in graph.host_ids() {
                    let mut at = SwitchId(start);
                    for stage in 0..n - 1 {
                        let port = (k + 1 + shape.output(stage, host.0)) as u16;
                        let channel = graph.port_channel(at, port).unwrap();
                        at = graph.channel(channel).to.switch().unwrap();
                    }
                    let port = 1 + shape.output(n - 1, host.0) as u16;
                    assert_eq!(graph.attachment(host), Some((at, port)), "{k} {n} {start}");
                }
            }
        }
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let message = |k, n| fly(k, n).unwrap_err().to_string();
        assert_eq!(message(1, 3), "`k`: 1 is too small, expected at least 2");
        assert_eq!(message(2, 0), "`n`: 0 is too small, expected at least 1");
        assert_eq!(
            message(100, 2),
            "`k`: this makes switches of 300 ports, expected at most 254"
        );
        assert_eq!(
            message(2, 30),
            "`n`: this makes 1073741824 hosts, expected at most 1000000"
        );
    }
}
