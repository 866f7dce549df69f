//! Builds graphs: the only way to make a [`Graph`], so every graph is well-formed.
//!
//! Checks: port numbers in range, no port used twice, every host cabled once and to a switch, timing at
//! least one cycle. Whether the graph is connected is a question of routing, answered there.

use super::{Channel, ChannelTiming, Endpoint, Graph, HostNode, Shape, SwitchNode};
use crate::ids::{ChannelId, HostId, LinkId, SwitchId};
use crate::topology::TopologyError;

/// Collects switches, hosts and links, then checks and freezes them.
#[derive(Debug, Default)]
pub struct GraphBuilder {
    switches: Vec<SwitchNode>,
    hosts: Vec<HostNode>,
    channels: Vec<Channel>,
    /// Outgoing channel per switch and port.
    ports: Vec<Vec<Option<ChannelId>>>,
    host_channel: Vec<Option<ChannelId>>,
    shape: Shape,
    notes: Vec<String>,
}

impl GraphBuilder {
    /// An empty graph.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a switch with `port_count` unconnected ports.
    pub fn add_switch(&mut self, name: impl Into<String>, guid: u64, port_count: u16) -> SwitchId {
        self.switches.push(SwitchNode {
            name: name.into(),
            guid,
            lid: 0,
            port_count,
        });
        self.ports.push(vec![None; usize::from(port_count)]);
        SwitchId::from(self.switches.len() - 1)
    }

    /// Adds a host.
    pub fn add_host(&mut self, name: impl Into<String>, guid: u64) -> HostId {
        self.hosts.push(HostNode {
            name: name.into(),
            guid,
            lid: 0,
        });
        self.host_channel.push(None);
        HostId::from(self.hosts.len() - 1)
    }

    /// Gives the management port of a switch a LID.
    pub fn set_switch_lid(&mut self, switch: SwitchId, lid: u32) {
        self.switches[switch.index()].lid = lid;
    }

    /// Gives a host a LID.
    pub fn set_host_lid(&mut self, host: HostId, lid: u32) {
        self.hosts[host.index()].lid = lid;
    }

    /// Adds a sentence for the user.
    pub fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// Names the regular structure of the graph.
    pub fn set_shape(&mut self, shape: Shape) {
        self.shape = shape;
    }

    /// The lowest unconnected port of a switch.
    pub fn free_port(&self, switch: SwitchId) -> Option<u16> {
        let free = self.ports[switch.index()]
            .iter()
            .position(Option::is_none)?;
        Some(free as u16 + 1)
    }

    /// Adds a link of equal timing in both directions.
    ///
    /// # Errors
    /// As [`Self::connect_with`].
    pub fn connect(
        &mut self,
        a: Endpoint,
        b: Endpoint,
        timing: ChannelTiming,
    ) -> Result<LinkId, TopologyError> {
        self.connect_with(a, b, [timing, timing])
    }

    /// Adds a link; `timing` is that of a to b, then of b to a.
    ///
    /// # Errors
    /// [`TopologyError::Link`] when a port does not exist or is in use, or a timing is below one cycle.
    pub fn connect_with(
        &mut self,
        a: Endpoint,
        b: Endpoint,
        timing: [ChannelTiming; 2],
    ) -> Result<LinkId, TopologyError> {
        if timing
            .iter()
            .any(|t| t.latency == 0 || t.cycles_per_flit == 0)
        {
            return Err(self.link_error(a, b, "latency and cycles per flit must be at least 1"));
        }
        let link = LinkId::from(self.channels.len() / 2);
        let [there, back] = link.channels();
        self.claim(a, b, a, there)?;
        if let Err(error) = self.claim(a, b, b, back) {
            self.release(a);
            return Err(error);
        }
        self.channels.push(Channel {
            from: a,
            to: b,
            timing: timing[0],
        });
        self.channels.push(Channel {
            from: b,
            to: a,
            timing: timing[1],
        });
        Ok(link)
    }

    fn claim(
        &mut self,
        a: Endpoint,
        b: Endpoint,
        end: Endpoint,
        channel: ChannelId,
    ) -> Result<(), TopologyError> {
        let slot = match end {
            Endpoint::Host(host) => self.host_channel.get_mut(host.index()),
            Endpoint::Switch(switch, port) => self
                .ports
                .get_mut(switch.index())
                .and_then(|ports| ports.get_mut(usize::from(port).checked_sub(1)?)),
        };
        match slot {
            None => Err(self.link_error(a, b, &format!("{} does not exist", self.name(end)))),
            Some(Some(_)) => {
                Err(self.link_error(a, b, &format!("{} is already connected", self.name(end))))
            }
            Some(slot) => {
                *slot = Some(channel);
                Ok(())
            }
        }
    }

    fn release(&mut self, end: Endpoint) {
        match end {
            Endpoint::Host(host) => self.host_channel[host.index()] = None,
            Endpoint::Switch(switch, port) => {
                self.ports[switch.index()][usize::from(port) - 1] = None;
            }
        }
    }

    fn name(&self, end: Endpoint) -> String {
        match end {
            Endpoint::Switch(switch, port) => match self.switches.get(switch.index()) {
                Some(node) => format!("{} port {port}", node.name),
                None => format!("switch {switch} port {port}"),
            },
            Endpoint::Host(host) => self
                .hosts
                .get(host.index())
                .map_or_else(|| format!("host {host}"), |node| node.name.clone()),
        }
    }

    fn link_error(&self, a: Endpoint, b: Endpoint, reason: &str) -> TopologyError {
        TopologyError::Link {
            from: self.name(a),
            to: self.name(b),
            reason: reason.to_owned(),
        }
    }

    /// Checks the whole and freezes it.
    ///
    /// # Errors
    /// [`TopologyError::Empty`] without a switch, [`TopologyError::LooseHost`] for a host without a cable
    /// or cabled to another host.
    pub fn build(mut self) -> Result<Graph, TopologyError> {
        if self.switches.is_empty() {
            return Err(TopologyError::Empty);
        }
        let mut host_channel = Vec::with_capacity(self.hosts.len());
        for (node, channel) in self.hosts.iter().zip(&self.host_channel) {
            let channel = channel.ok_or_else(|| TopologyError::LooseHost {
                host: node.name.clone(),
            })?;
            if self.channels[channel.index()].to.switch().is_none() {
                return Err(TopologyError::LooseHost {
                    host: node.name.clone(),
                });
            }
            host_channel.push(channel);
        }
        let mut first_port = vec![0u32];
        for ports in &self.ports {
            first_port.push(first_port[first_port.len() - 1] + ports.len() as u32);
        }
        self.channels.shrink_to_fit();
        Ok(Graph {
            switches: self.switches,
            hosts: self.hosts,
            channels: self.channels,
            first_port,
            port_channel: self.ports.concat(),
            host_channel,
            shape: self.shape,
            form: None,
            structures: Vec::new(),
            notes: self.notes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_used_once() {
        let mut builder = GraphBuilder::new();
        let s = builder.add_switch("S0", 0, 1);
        let (a, b) = (builder.add_host("H0", 0), builder.add_host("H1", 0));
        let timing = ChannelTiming::default();
        builder
            .connect(Endpoint::Host(a), Endpoint::Switch(s, 1), timing)
            .unwrap();
        let error = builder
            .connect(Endpoint::Host(b), Endpoint::Switch(s, 1), timing)
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "link from H1 to S0 port 1: S0 port 1 is already connected"
        );
        assert!(matches!(builder.build(), Err(TopologyError::LooseHost { host }) if host == "H1"));
    }
}
