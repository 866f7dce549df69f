//! Wires meshes and tori: what the two topologies share.

pub mod concentrated_mesh;
pub mod mesh;
pub mod ring;
pub mod torus;

use super::parameters::{direct_network, product};
use crate::ids::SwitchId;
use crate::topology::graph::limits::{at_least, node_count, parameter_error};
use crate::topology::graph::{Endpoint, Graph, GridShape, Shape};
use crate::topology::{BuildContext, GraphBuilder, TopologyError};
use serde::Deserialize;

/// Which ports of a switch its hosts take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum HostPorts {
    /// Those after the ports of all dimensions.
    #[default]
    Last,
    /// The lowest ones that no link takes; only switches at the border of a mesh have such ports.
    LowestFree,
}

/// Checks the parameters and gives the structure, whose dimensions all wrap or none.
///
/// A dimension of radix 1 never wraps: it has no links.
///
/// `blamed` is the parameter that gives `radix`.
pub(in crate::topology) fn shape(
    blamed: &'static str,
    radix: &[u32],
    hosts_per_switch: u32,
    wrap: bool,
) -> Result<GridShape, TopologyError> {
    if radix.is_empty() {
        let reason = "no dimension, expected at least one such as `[8, 8]`";
        return Err(parameter_error(blamed, reason));
    }
    for &k in radix {
        at_least(blamed, k, 1)?;
    }
    let directions = 2 * radix.len() as u64;
    let switches = node_count(blamed, "switches", product(radix))?;
    direct_network(switches, hosts_per_switch, directions, blamed)?;
    Ok(GridShape {
        radix: radix.to_vec(),
        wrap: radix.iter().map(|&k| wrap && k > 1).collect(),
        hosts_per_switch,
    })
}

/// Builds the graph of a checked structure.
pub(in crate::topology) fn build(
    shape: GridShape,
    host_ports: HostPorts,
    context: &BuildContext<'_>,
) -> Result<Graph, TopologyError> {
    let mut builder = GraphBuilder::new();
    let switch_count: u32 = shape.radix.iter().product();
    let first_host_port = 2 * shape.radix.len() as u16 + 1;
    let ports = first_host_port - 1 + shape.hosts_per_switch as u16;
    for switch in (0..switch_count).map(SwitchId) {
        builder.add_switch(switch_name(&shape, switch), 0, ports);
    }
    for switch in 0..switch_count {
        let mut stride = 1;
        for (dimension, (&radix, &wrap)) in shape.radix.iter().zip(&shape.wrap).enumerate() {
            let coordinate = switch / stride % radix;
            let next = if coordinate + 1 < radix {
                Some(switch + stride)
            } else {
                wrap.then(|| switch - coordinate * stride)
            };
            if let Some(next) = next {
                let plus = 2 * dimension as u16 + 1;
                builder.connect(
                    Endpoint::Switch(SwitchId(switch), plus),
                    Endpoint::Switch(SwitchId(next), plus + 1),
                    context.switch_link,
                )?;
            }
            stride *= radix;
        }
    }
    for host in 0..switch_count * shape.hosts_per_switch {
        let id = builder.add_host(format!("H{host}"), 0);
        let switch = SwitchId(host / shape.hosts_per_switch);
        let port = match host_ports {
            HostPorts::Last => first_host_port + (host % shape.hosts_per_switch) as u16,
            HostPorts::LowestFree => builder.free_port(switch).unwrap_or(ports),
        };
        builder.connect(
            Endpoint::Host(id),
            Endpoint::Switch(switch, port),
            context.host_link,
        )?;
    }
    builder.set_shape(Shape::Grid(shape));
    builder.build()
}

/// `S` and the coordinates, dimension 0 first: `S3.0.7`.
fn switch_name(shape: &GridShape, switch: SwitchId) -> String {
    let coordinates: Vec<String> = (0..shape.radix.len())
        .map(|dimension| shape.coordinate(switch, dimension).to_string())
        .collect();
    format!("S{}", coordinates.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::context;

    /// Checks every port of every switch against the definition at [`GridShape`].
    fn assert_wired(radix: &[u32], hosts: u32, wrap: bool) {
        let graph = build(
            shape("radix", radix, hosts, wrap).unwrap(),
            HostPorts::Last,
            &context(),
        )
        .unwrap();
        let Shape::Grid(shape) = graph.shape() else {
            panic!("not a grid");
        };
        for switch in graph.switch_ids() {
            for (dimension, &k) in radix.iter().enumerate() {
                let here = shape.coordinate(switch, dimension);
                let stride: u32 = radix[..dimension].iter().product();
                let base = switch.0 - here * stride;
                for (port, step) in [(1, 1), (2, k - 1)] {
                    let outside = if port == 1 { here + 1 == k } else { here == 0 };
                    let expected = (k > 1 && (wrap || !outside))
                        .then(|| SwitchId(base + (here + step) % k * stride));
                    let port = 2 * dimension as u16 + port;
                    let channel = graph.port_channel(switch, port);
                    let actual = channel.and_then(|channel| graph.channel(channel).to.switch());
                    assert_eq!(actual, expected, "{radix:?} {wrap} {switch} port {port}");
                }
            }
            for j in 0..hosts {
                let id = crate::ids::HostId(switch.0 * hosts + j);
                let port = 2 * radix.len() as u16 + 1 + j as u16;
                assert_eq!(graph.attachment(id), Some((switch, port)));
            }
        }
    }

    #[test]
    fn every_port_leads_where_the_definition_says() {
        for wrap in [false, true] {
            for radix in [&[1][..], &[2], &[5], &[4, 3], &[2, 1, 3], &[2, 2, 2, 2]] {
                assert_wired(radix, 1, wrap);
                assert_wired(radix, 3, wrap);
            }
        }
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let message =
            |radix: &[u32], hosts| shape("radix", radix, hosts, true).unwrap_err().to_string();
        assert_eq!(
            message(&[], 1),
            "`radix`: no dimension, expected at least one such as `[8, 8]`"
        );
        assert_eq!(
            message(&[3, 0], 1),
            "`radix`: 0 is too small, expected at least 1"
        );
        assert_eq!(
            message(&[3], 0),
            "`hosts_per_switch`: 0 is too small, expected at least 1"
        );
        assert_eq!(
            message(&[3, 3], 251),
            "`hosts_per_switch`: this makes switches of 255 ports, expected at most 254"
        );
        assert_eq!(
            message(&[1; 128], 1),
            "`radix`: this makes switches of 256 ports, expected at most 254"
        );
        assert_eq!(
            message(&[u32::MAX; 3], 1),
            "`radix`: this makes more than 2^64 switches, expected at most 1000000"
        );
        assert_eq!(
            message(&[1_000_000], 2),
            "`hosts_per_switch`: this makes 2000000 hosts, expected at most 1000000"
        );
    }
}
