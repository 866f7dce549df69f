//! Which switch, host, port and link of a fabric is which of a model.

use super::names;
use crate::ids::{ChannelId, HostId, LinkId, SwitchId};
use crate::topology::graph::builder::GraphBuilder;
use crate::topology::graph::{Endpoint, Graph};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The numbers of a fabric beside those of a model that has all of it and maybe more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbering {
    /// Switch of the model, `[switch]`.
    switches: Vec<SwitchId>,
    /// Host of the model, `[host]`.
    hosts: Vec<HostId>,
    /// Link of the model and whether its ends are the other way round, `[link]`.
    links: Vec<(LinkId, bool)>,
    /// Switch of the fabric, `[switch of the model]`.
    own_switches: Vec<Option<SwitchId>>,
    /// Host of the fabric, `[host of the model]`.
    own_hosts: Vec<Option<HostId>>,
    /// Links of the model that the fabric has not.
    missing: Vec<LinkId>,
}

impl Numbering {
    fn new(
        model: &Graph,
        switches: Vec<SwitchId>,
        hosts: Vec<HostId>,
        links: Vec<(LinkId, bool)>,
    ) -> Self {
        let mut own_switches = vec![None; model.switches().len()];
        for (own, switch) in switches.iter().enumerate() {
            own_switches[switch.index()] = Some(SwitchId::from(own));
        }
        let mut own_hosts = vec![None; model.hosts().len()];
        for (own, host) in hosts.iter().enumerate() {
            own_hosts[host.index()] = Some(HostId::from(own));
        }
        let mut is_here = vec![false; model.link_count()];
        for (link, _) in &links {
            is_here[link.index()] = true;
        }
        let all = (0..model.link_count()).map(LinkId::from);
        Self {
            missing: all.filter(|link| !is_here[link.index()]).collect(),
            switches,
            hosts,
            links,
            own_switches,
            own_hosts,
        }
    }

    /// That of what is left of a graph, whose nodes keep their names and order, links their ends.
    pub(super) fn by_name(whole: &Graph, rest: &Graph) -> Self {
        let kept = |all: &mut dyn Iterator<Item = &str>, left: &[&str]| -> Vec<usize> {
            let mut places = Vec::with_capacity(left.len());
            for (place, name) in all.enumerate() {
                if left.get(places.len()) == Some(&name) {
                    places.push(place);
                }
            }
            places
        };
        let names: Vec<&str> = rest.switches().iter().map(|node| &*node.name).collect();
        let switches = kept(&mut whole.switches().iter().map(|node| &*node.name), &names);
        let names: Vec<&str> = rest.hosts().iter().map(|node| &*node.name).collect();
        let hosts = kept(&mut whole.hosts().iter().map(|node| &*node.name), &names);
        let switches: Vec<SwitchId> = switches.into_iter().map(SwitchId::from).collect();
        let hosts: Vec<HostId> = hosts.into_iter().map(HostId::from).collect();
        let link = |link: LinkId| {
            let end = rest.link_ends(link)[0];
            let channel = match end {
                Endpoint::Switch(switch, port) => {
                    whole.port_channel(switches[switch.index()], port)
                }
                Endpoint::Host(host) => Some(whole.host_channel(hosts[host.index()])),
            };
            let channel = channel.unwrap_or_default();
            (channel.link(), channel != channel.link().channels()[0])
        };
        let links = (0..rest.link_count()).map(LinkId::from).map(link).collect();
        Self::new(whole, switches, hosts, links)
    }

    /// That of what is left of a fabric of this numbering.
    pub(super) fn without(&self, model: &Graph, whole: &Graph, rest: &Graph) -> Self {
        let kept = Self::by_name(whole, rest);
        let switches = kept
            .switches
            .iter()
            .map(|switch| self.switches[switch.index()]);
        let hosts = kept.hosts.iter().map(|host| self.hosts[host.index()]);
        let links = kept.links.iter().map(|&(link, turned)| {
            let (link, before) = self.links[link.index()];
            (link, turned != before)
        });
        Self::new(model, switches.collect(), hosts.collect(), links.collect())
    }

    /// Links of the model that the fabric has not.
    pub fn missing(&self) -> &[LinkId] {
        &self.missing
    }

    /// Whether all switches and hosts of the model are there.
    pub fn has_all_nodes(&self) -> bool {
        self.switches.len() == self.own_switches.len() && self.hosts.len() == self.own_hosts.len()
    }

    /// Switches of the model that the fabric has not.
    pub fn missing_switches(&self) -> usize {
        self.own_switches.len() - self.switches.len()
    }

    /// Switch of the model.
    pub fn switch(&self, own: SwitchId) -> SwitchId {
        self.switches[own.index()]
    }

    /// Host of the model.
    pub fn host(&self, own: HostId) -> HostId {
        self.hosts[own.index()]
    }

    /// Switch of the fabric; `None` when it is missing.
    pub fn own_switch(&self, switch: SwitchId) -> Option<SwitchId> {
        self.own_switches[switch.index()]
    }

    /// Host of the fabric; `None` when it is missing.
    pub fn own_host(&self, host: HostId) -> Option<HostId> {
        self.own_hosts[host.index()]
    }

    /// Channel of the model.
    pub fn channel(&self, own: ChannelId) -> ChannelId {
        let (link, is_turned) = self.links[own.link().index()];
        let channel = link.channels()[0];
        let is_back = own != own.link().channels()[0];
        if is_back == is_turned {
            channel
        } else {
            channel.reverse()
        }
    }

    /// Channels of the fabric, `[channel of the model]`.
    pub fn own_channels(&self) -> Vec<Option<ChannelId>> {
        let mut own = vec![None; 2 * (self.links.len() + self.missing.len())];
        for link in (0..self.links.len()).map(LinkId::from) {
            for channel in link.channels() {
                own[self.channel(channel).index()] = Some(channel);
            }
        }
        own
    }

    /// The model without the missing links, in the model's numbering, with its shape. Only for engines that ask which
    /// links are there.
    ///
    /// # Panics
    /// When a host is missing.
    pub fn rest_of(&self, model: &Graph) -> Graph {
        if self.missing.is_empty() {
            return model.clone();
        }
        let mut builder = GraphBuilder::new();
        for node in model.switches() {
            builder.add_switch(node.name.clone(), node.guid, node.port_count);
        }
        for node in model.hosts() {
            builder.add_host(node.name.clone(), node.guid);
        }
        let mut missing = self.missing.iter().peekable();
        for link in (0..model.link_count()).map(LinkId::from) {
            if missing.next_if_eq(&&link).is_some() {
                continue;
            }
            let [a, b] = model.link_ends(link);
            let timing = link.channels().map(|channel| model.channel(channel).timing);
            let connected = builder.connect_with(a, b, timing);
            connected.expect("ports are as free as in the whole model");
        }
        builder.set_shape(model.shape().clone());
        builder.build().expect("all hosts are there")
    }
}

/// Gives a model the names and timing of a fabric; `own` has the fabric's switch of each of the model's. `None` when
/// a link of the fabric is none of the model's.
pub(super) fn fit(mut model: Graph, graph: &Graph, own: &[u32]) -> Option<(Graph, Numbering)> {
    let mut switches = vec![SwitchId(0); own.len()];
    for (place, &switch) in own.iter().enumerate() {
        switches[switch as usize] = SwitchId::from(place);
        let node = &graph.switches()[switch as usize];
        model.switches[place].name.clone_from(&node.name);
        model.switches[place].guid = node.guid;
        model.switches[place].lid = node.lid;
    }
    let hosts = hosts(&model, graph, own)?;
    for (own, host) in hosts.iter().enumerate() {
        model.hosts[host.index()].clone_from(&graph.hosts()[own]);
    }
    let links = links(&model, graph, &switches, &hosts)?;
    let numbering = Numbering::new(&model, switches, hosts, links);
    let own = numbering.own_channels();
    for (channel, own) in model.channels.iter_mut().zip(own) {
        if let Some(own) = own {
            channel.timing = graph.channel(own).timing;
        }
    }
    Some((model, numbering))
}

/// Host of the model of each host, those of a switch in the order of their names.
fn hosts(model: &Graph, graph: &Graph, own: &[u32]) -> Option<Vec<HostId>> {
    let nodes = graph.hosts().iter();
    let by_name = names::in_order(nodes.map(|node| (&*node.name, node.guid)));
    let mut waiting = vec![Vec::new(); graph.switches().len()];
    for &host in by_name.iter().rev() {
        let (switch, _) = graph.attachment(HostId(host))?;
        waiting[switch.index()].push(host);
    }
    let mut hosts = vec![None; graph.hosts().len()];
    for host in model.host_ids() {
        let (switch, _) = model.attachment(host)?;
        let next = waiting[own[switch.index()] as usize].pop()?;
        hosts[next as usize] = Some(host);
    }
    hosts.into_iter().collect()
}

/// Link of the model of each link, parallel ones in the order of their ports.
fn links(
    model: &Graph,
    graph: &Graph,
    switches: &[SwitchId],
    hosts: &[HostId],
) -> Option<Vec<(LinkId, bool)>> {
    // by lower and higher node in the model: links with the port at the lower one
    let mut waiting: BTreeMap<[Endpoint; 2], Vec<(u16, LinkId, bool)>> = BTreeMap::new();
    for link in (0..graph.link_count()).map(LinkId::from) {
        let ends = graph.link_ends(link).map(|end| match end {
            Endpoint::Switch(switch, port) => Endpoint::Switch(switches[switch.index()], port),
            Endpoint::Host(host) => Endpoint::Host(hosts[host.index()]),
        });
        let (nodes, port, is_turned) = sorted(ends);
        waiting
            .entry(nodes)
            .or_default()
            .push((port, link, is_turned));
    }
    for links in waiting.values_mut() {
        links.sort_unstable_by_key(|&(port, ..)| Reverse(port));
    }
    let mut found = vec![None; graph.link_count()];
    let mut models: Vec<([Endpoint; 2], u16, LinkId, bool)> = (0..model.link_count())
        .map(|link| {
            let link = LinkId::from(link);
            let (nodes, port, is_turned) = sorted(model.link_ends(link));
            (nodes, port, link, is_turned)
        })
        .collect();
    models.sort_unstable_by_key(|&(nodes, port, ..)| (nodes, port));
    for (nodes, _, link, is_turned) in models {
        // else it is missing
        if let Some((_, own, turned)) = waiting.get_mut(&nodes).and_then(Vec::pop) {
            found[own.index()] = Some((link, is_turned != turned));
        }
    }
    found.into_iter().collect()
}

/// The nodes of a link, the lower one first, the port there, and whether it is the second end.
fn sorted(ends: [Endpoint; 2]) -> ([Endpoint; 2], u16, bool) {
    let port = |end: Endpoint| match end {
        Endpoint::Switch(_, port) => port,
        Endpoint::Host(_) => 1,
    };
    let node = |end: Endpoint| match end {
        Endpoint::Switch(switch, _) => Endpoint::Switch(switch, 0),
        Endpoint::Host(_) => end,
    };
    let is_turned = ends[1] < ends[0];
    let [low, high] = if is_turned { [ends[1], ends[0]] } else { ends };
    ([node(low), node(high)], port(low), is_turned)
}
