//! Wires networks by the common port rule: hosts first, then every link on the next free port.

use crate::ids::SwitchId;
use crate::topology::graph::limits::{MAX_PORTS, parameter_error};
use crate::topology::graph::{Endpoint, Graph, Shape};
use crate::topology::{BuildContext, GraphBuilder, TopologyError};

/// A network whose ports follow from the order of its links.
pub(super) struct Wiring<'a> {
    /// Names of the switches.
    pub(super) switches: Vec<String>,
    /// Hosts on every switch, on ports `1..=hosts_per_switch`.
    pub(super) hosts_per_switch: u32,
    /// Links between switches, in order: each takes the next free port at both ends.
    pub(super) links: &'a [(u32, u32)],
    /// Ports that every switch has at least, in use or not.
    pub(super) least_ports: u32,
    /// Parameter to blame when a switch gets too many ports.
    pub(super) blamed: &'static str,
    /// Regular structure.
    pub(super) shape: Shape,
}

impl Wiring<'_> {
    /// The graph; switches have as many ports as they use, and at least `least_ports`.
    pub(super) fn build(self, context: &BuildContext<'_>) -> Result<Graph, TopologyError> {
        let mut ports = vec![self.hosts_per_switch; self.switches.len()];
        for &(a, b) in self.links {
            ports[a as usize] += 1;
            ports[b as usize] += 1;
        }
        for ports in &mut ports {
            *ports = (*ports).max(self.least_ports);
        }
        let most = ports.iter().copied().max().unwrap_or(0);
        if most > u32::from(MAX_PORTS) {
            let reason =
                format!("this makes a switch of {most} ports, expected at most {MAX_PORTS}");
            return Err(parameter_error(self.blamed, reason));
        }
        let mut builder = GraphBuilder::new();
        for (name, ports) in self.switches.into_iter().zip(&ports) {
            builder.add_switch(name, 0, *ports as u16);
        }
        let first_port = |_| 1;
        let switches = ports.len() as u32;
        attach_hosts(
            &mut builder,
            context,
            switches,
            self.hosts_per_switch,
            first_port,
        )?;
        let mut next = vec![self.hosts_per_switch as u16; ports.len()];
        let mut take = |switch: u32| {
            next[switch as usize] += 1;
            Endpoint::Switch(SwitchId(switch), next[switch as usize])
        };
        for &(a, b) in self.links {
            let ends = (take(a), take(b));
            builder.connect(ends.0, ends.1, context.switch_link)?;
        }
        builder.set_shape(self.shape);
        builder.build()
    }
}

/// Attaches `per_switch` hosts `H0, H1, ...` to each of the first `switches` switches, on consecutive
/// ports from `first_port(switch)`.
pub(super) fn attach_hosts(
    builder: &mut GraphBuilder,
    context: &BuildContext<'_>,
    switches: u32,
    per_switch: u32,
    first_port: impl Fn(u32) -> u16,
) -> Result<(), TopologyError> {
    for host in 0..switches * per_switch {
        let id = builder.add_host(format!("H{host}"), 0);
        let switch = host / per_switch;
        let port = first_port(switch) + (host % per_switch) as u16;
        let end = Endpoint::Switch(SwitchId(switch), port);
        builder.connect(Endpoint::Host(id), end, context.host_link)?;
    }
    Ok(())
}

/// `S0`, `S1`, ...
pub(super) fn numbered(switches: u32) -> Vec<String> {
    (0..switches).map(|switch| format!("S{switch}")).collect()
}
