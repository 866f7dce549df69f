//! Concentrated meshes: several hosts on each switch of a two-dimensional mesh, express channels along its border.
//!
//! Guarantees: `radix[0] * radix[1]` switches of `block[0] * block[1]` hosts; numbering as in
//! [`ConcentratedMeshShape`], hosts row by row over the whole mesh, so that patterns see one grid of hosts.
//! Fails with: [`TopologyError::Parameter`] when there are not two dimensions, one is 0, the mesh is too large, or
//! express channels are asked for and a radix is odd or below 4.
//! Cost: O(switches + hosts) time and memory.
//!
//! Express channels use the ports that lead over the border: along the rows at the border every switch is linked to the
//! one half a row further, along the columns at the border to the one half a column further.
//!
//! References: [`BALFOUR_DALLY`], [`BOOKSIM`] (`cmesh`)

use crate::ids::SwitchId;
use crate::references::{BALFOUR_DALLY, BOOKSIM};
use crate::registry::{Entry, Parameter};
use crate::topology::generators::parameters::{one, product};
use crate::topology::graph::limits::{at_least, node_count, parameter_error, port_count};
use crate::topology::graph::{ChannelTiming, ConcentratedMeshShape, Endpoint, Graph, Shape};
use crate::topology::{BuildContext, BuildTopology, GraphBuilder, Topology, TopologyError};
use serde::Deserialize;

/// What a scenario can say about it.
pub const ENTRY: Entry<BuildTopology> = Entry {
    name: "ConcentratedMesh",
    aliases: &["CMesh"],
    summary: "two-dimensional mesh with a block of hosts on each switch, and express channels along the border",
    parameters: &[
        Parameter {
            name: "radix",
            kind: "[integer >= 1, integer >= 1]; with express channels even and >= 4",
            default: None,
            summary: "switches along both dimensions, such as [4, 4]",
        },
        Parameter {
            name: "block",
            kind: "[integer >= 1, integer >= 1]",
            default: Some("[2, 2]"),
            summary: "hosts of a switch along both dimensions",
        },
        Parameter {
            name: "express",
            kind: "true | false",
            default: Some("true"),
            summary: "whether the border has express channels over half its length",
        },
        Parameter {
            name: "express_length",
            kind: "integer >= 1",
            default: Some("1"),
            summary: "latency of an express channel, in latencies of the others",
        },
    ],
    guarantees: &[
        "ports 1 to 4 lead to +x, -x, +y and -y, at the border over express channels; hosts follow",
        "hosts are numbered row by row over the whole mesh",
    ],
    references: &[BALFOUR_DALLY, BOOKSIM],
    build: |arguments| Ok(Box::new(arguments.parse::<ConcentratedMesh>()?)),
};

/// Parameters of a concentrated mesh.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConcentratedMesh {
    /// Switches along both dimensions.
    pub radix: Vec<u32>,
    /// Hosts of a switch along both dimensions.
    #[serde(default = "two_by_two")]
    pub block: Vec<u32>,
    /// Whether the border has express channels.
    #[serde(default = "yes")]
    pub express: bool,
    /// Latency of an express channel \[latencies of the others\].
    #[serde(default = "one")]
    pub express_length: u32,
}

fn two_by_two() -> Vec<u32> {
    vec![2, 2]
}

const fn yes() -> bool {
    true
}

/// Two sizes of at least 1.
fn pair(parameter: &'static str, sizes: &[u32]) -> Result<[u32; 2], TopologyError> {
    let Ok(pair) = <[u32; 2]>::try_from(sizes) else {
        let reason = format!("{} dimensions, expected 2 such as `[4, 4]`", sizes.len());
        return Err(parameter_error(parameter, reason));
    };
    for size in pair {
        at_least(parameter, size, 1)?;
    }
    Ok(pair)
}

impl ConcentratedMesh {
    /// The structure and the ports of a switch, when the parameters make sense.
    fn shape(&self) -> Result<(ConcentratedMeshShape, u16), TopologyError> {
        let (radix, block) = (pair("radix", &self.radix)?, pair("block", &self.block)?);
        at_least("express_length", self.express_length, 1)?;
        if let Some(size) = radix.into_iter().find(|&k| k < 4 || k % 2 == 1)
            && self.express
        {
            let reason = format!(
                "{size} switches along a border with express channels, expected an even number of at least 4; \
                 or `express: false`"
            );
            return Err(parameter_error("radix", reason));
        }
        let switches = node_count("radix", "switches", product(&radix))?;
        let block_hosts = product(&block).unwrap_or(u64::MAX);
        let ports = port_count("block", block_hosts.saturating_add(4))?;
        node_count(
            "block",
            "hosts",
            block_hosts.checked_mul(u64::from(switches)),
        )?;
        let shape = ConcentratedMeshShape {
            radix,
            block,
            express: self.express,
        };
        Ok((shape, ports))
    }
}

impl Topology for ConcentratedMesh {
    fn build(&self, context: &BuildContext<'_>) -> Result<Graph, TopologyError> {
        let (shape, ports) = self.shape()?;
        let [columns, rows] = shape.radix;
        let mut builder = GraphBuilder::new();
        for y in 0..rows {
            for x in 0..columns {
                builder.add_switch(format!("S{x}.{y}"), 0, ports);
            }
        }
        let link = context.switch_link;
        let latency = link.latency.checked_mul(self.express_length);
        let express = ChannelTiming {
            latency: latency.ok_or_else(|| {
                let reason = format!("{} is too large", self.express_length);
                parameter_error("express_length", reason + ", expected less")
            })?,
            ..link
        };
        for switch in 0..columns * rows {
            for dimension in 0..2 {
                let (plus, minus) = (2 * dimension as u16 + 1, 2 * dimension as u16 + 2);
                let at = shape.coordinate(SwitchId(switch), dimension);
                let stride = [1, columns][dimension];
                if at + 1 < shape.radix[dimension] {
                    let ends = [(switch, plus), (switch + stride, minus)];
                    connect(&mut builder, ends, link)?;
                }
                let half = shape.radix[dimension] / 2;
                let port = shape.express_port(SwitchId(switch), dimension);
                if let Some(port) = port.filter(|_| at < half) {
                    let ends = [(switch, port), (switch + half * stride, port)];
                    connect(&mut builder, ends, express)?;
                }
            }
        }
        for host in 0..columns * rows * shape.block[0] * shape.block[1] {
            let id = builder.add_host(format!("H{host}"), 0);
            let (switch, place) = shape.home(host);
            let end = Endpoint::Switch(switch, 5 + place as u16);
            builder.connect(Endpoint::Host(id), end, context.host_link)?;
        }
        builder.set_shape(Shape::ConcentratedMesh(shape));
        builder.build()
    }
}

fn connect(
    builder: &mut GraphBuilder,
    ends: [(u32, u16); 2],
    timing: ChannelTiming,
) -> Result<(), TopologyError> {
    let [a, b] = ends.map(|(switch, port)| Endpoint::Switch(SwitchId(switch), port));
    builder.connect(a, b, timing).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::{built, context};

    #[test]
    fn counts_are_those_of_the_closed_form() {
        for (k, express) in [(4, true), (4, false), (8, true), (6, true)] {
            let text = format!("CMesh(radix: [{k}, {k}], express: {express}, express_length: 2)");
            let graph = built(&text, &context());
            assert_eq!(graph.switches().len(), (k * k) as usize);
            assert_eq!(graph.hosts().len(), (4 * k * k) as usize);
            let extra = if express { 2 * k } else { 0 };
            let links = 4 * k * k + 2 * k * (k - 1) + extra;
            assert_eq!(graph.link_count(), links as usize);
            // half the switches on either side of the middle column: twice as many links with express channels
            let left = |end: Endpoint| end.switch().map(|switch| switch.0 % k < k / 2);
            let cut = graph.channels().iter().filter(|channel| {
                let ends = (left(channel.from), left(channel.to));
                ends == (Some(true), Some(false))
            });
            let across = if express { 2 * k } else { k };
            assert_eq!(cut.count(), across as usize);
            let slow = graph
                .channels()
                .iter()
                .filter(|channel| channel.timing.latency == 2);
            assert_eq!(slow.count(), 2 * extra as usize);
        }
    }

    #[test]
    fn hosts_are_numbered_row_by_row() {
        let graph = built("CMesh(radix: [4, 4], block: [2, 2])", &context());
        let home = |host| graph.attachment(crate::ids::HostId(host)).unwrap();
        assert_eq!([home(0), home(1)], [(SwitchId(0), 5), (SwitchId(0), 6)]);
        assert_eq!([home(8), home(9)], [(SwitchId(0), 7), (SwitchId(0), 8)]);
        assert_eq!([home(2), home(7)], [(SwitchId(1), 5), (SwitchId(3), 6)]);
        assert_eq!(home(63), (SwitchId(15), 8));
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let message = |radix: &[u32], block: &[u32]| {
            let mesh = ConcentratedMesh {
                radix: radix.to_vec(),
                block: block.to_vec(),
                express: true,
                express_length: 1,
            };
            mesh.build(&context()).unwrap_err().to_string()
        };
        assert_eq!(
            message(&[4], &[2, 2]),
            "`radix`: 1 dimensions, expected 2 such as `[4, 4]`"
        );
        assert_eq!(
            message(&[4, 5], &[2, 2]),
            "`radix`: 5 switches along a border with express channels, expected an even number of at least 4; or \
             `express: false`"
        );
        assert_eq!(
            message(&[4, 4], &[0, 2]),
            "`block`: 0 is too small, expected at least 1"
        );
        assert_eq!(
            message(&[4, 4], &[16, 16]),
            "`block`: this makes switches of 260 ports, expected at most 254"
        );
    }
}
