//! Parameters that several topologies have, with one wording and one check.

use crate::registry::Parameter;
use crate::topology::TopologyError;
use crate::topology::graph::limits::{at_least, node_count, port_count};

/// Hosts of a direct network.
pub(super) const HOSTS_PER_SWITCH: Parameter = Parameter {
    name: "hosts_per_switch",
    kind: "integer >= 1",
    default: Some("1"),
    summary: "hosts on every switch",
};

/// Sizes of a grid.
pub(super) const RADIX: Parameter = Parameter {
    name: "radix",
    kind: "list of integers >= 1",
    default: None,
    summary: "switches along each dimension, such as [10, 10, 10]",
};

/// Default of [`HOSTS_PER_SWITCH`] and of numbers of parallel links.
pub(super) const fn one() -> u32 {
    1
}

/// Checks a direct network: `hosts` on each of `switches` switches, which have `link_ports` further ports
/// by `blamed`; gives the ports of a switch.
pub(super) fn direct_network(
    switches: u32,
    hosts: u32,
    link_ports: u64,
    blamed: &'static str,
) -> Result<u16, TopologyError> {
    at_least("hosts_per_switch", hosts, 1)?;
    port_count(blamed, link_ports)?;
    let ports = port_count("hosts_per_switch", link_ports + u64::from(hosts))?;
    let all = u64::from(switches) * u64::from(hosts);
    node_count("hosts_per_switch", "hosts", Some(all))?;
    Ok(ports)
}

/// The product of sizes; `None` when it does not fit 64 bits.
pub(super) fn product(sizes: &[u32]) -> Option<u64> {
    sizes
        .iter()
        .try_fold(1u64, |product, &size| product.checked_mul(u64::from(size)))
}
