//! Explicit networks: every link and host listed, in the scenario or in a file.
//!
//! Guarantees: exactly the switches, links and hosts listed; parallel links repeat.
//! Fails with: [`TopologyError::File`] with the line, or [`TopologyError::Parameter`] with the number of the
//! entry, when one makes no sense.
//! Cost: O(links + hosts) time and memory.
//!
//! The grammar of the file stands in `edge_list_text.rs`, its line `topology` is checked in `form.rs`; an entry in the scenario has the same words:
//! `links: [(0, 1), (1, 2, "40 Gbit/s", "100 ns")]`, `hosts: [0, 0, ("login", 3)]`.
//!
//! Ports that are not given are the lowest free ones, first for the hosts, then for the links, both in
//! order. A switch has as many ports as its highest one in use. `hosts_per_switch` adds hosts on every
//! switch, switch by switch, before the listed ones.

mod form;

use super::edge_list_text::{
    Attachment, HostStatement, LinkStatement, Statements, Words, host, link, parse,
};
use super::fabric_file::{LineError, read};
use crate::ids::SwitchId;
use crate::registry::{Entry, Parameter};
use crate::topology::graph::limits::{MAX_PORTS, node_count, parameter_error};
use crate::topology::graph::link_rate::OwnTiming;
use crate::topology::graph::{ChannelTiming, Endpoint, Graph};
use crate::topology::{BuildContext, BuildTopology, GraphBuilder, Topology, TopologyError};
use crate::units::BitRate;
use serde::Deserialize;
use std::collections::{BTreeSet, HashSet};
use std::path::Path;

/// What a scenario can say about it.
pub const ENTRY: Entry<BuildTopology> = Entry {
    name: "EdgeList",
    aliases: &[],
    summary: "explicit network: every link and host listed",
    parameters: &[
        Parameter {
            name: "switches",
            kind: "integer >= 1",
            default: Some("largest number used + 1"),
            summary: "number of switches",
        },
        Parameter {
            name: "links",
            kind: "list of (switch, switch, rate, latency)",
            default: Some("[]"),
            summary: "links; rate and latency may be missing; after \"/\" those of the way back",
        },
        Parameter {
            name: "hosts",
            kind: "list of switch or (name, switch, rate, latency)",
            default: Some("[]"),
            summary: "hosts, each on a switch",
        },
        Parameter {
            name: "hosts_per_switch",
            kind: "integer",
            default: Some("0"),
            summary: "hosts on every switch, beside those listed",
        },
        Parameter {
            name: "file",
            kind: "path, relative to the scenario",
            default: Some("None"),
            summary: "edge list with links and hosts, instead of listing them here; its line `topology Torus(radix: [4, 4])` says \
                      which regular fabric it is",
        },
    ],
    guarantees: &["exactly the switches, links and hosts listed"],
    references: &[],
    build: |arguments| Ok(Box::new(arguments.parse::<EdgeList>()?)),
};

/// Parameters of an explicit network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EdgeList {
    /// Number of switches; `None` = largest number used + 1.
    switches: Option<u32>,
    links: Vec<Words>,
    hosts: Vec<Words>,
    /// Hosts on every switch, beside those listed.
    hosts_per_switch: u32,
    /// Edge list with links and hosts, instead of listing them here.
    file: Option<String>,
}

impl Topology for EdgeList {
    fn build(&self, context: &BuildContext<'_>) -> Result<Graph, TopologyError> {
        self.assemble(self.statements(context.base)?, context)
    }

    fn own_rates(&self, base: &Path) -> Result<Vec<BitRate>, TopologyError> {
        Ok(self.statements(base)?.rates())
    }
}

impl EdgeList {
    /// A list of which the statements come from another form of file.
    pub(super) fn of_file(file: &str, hosts_per_switch: u32) -> Self {
        Self {
            file: Some(file.to_owned()),
            hosts_per_switch,
            ..Self::default()
        }
    }

    /// The graph of all statements.
    pub(super) fn assemble(
        &self,
        mut statements: Statements,
        context: &BuildContext<'_>,
    ) -> Result<Graph, TopologyError> {
        let switches = self.switch_count(&statements)?;
        let mut hosts = Vec::new();
        for switch in 0..switches {
            let end = Attachment { switch, port: None };
            let own = HostStatement {
                place: 0,
                name: None,
                end,
                timing: [OwnTiming::default(); 2],
            };
            hosts.extend(std::iter::repeat_n(own, self.hosts_per_switch as usize));
        }
        hosts.append(&mut statements.hosts);
        statements.hosts = hosts;
        let assembly = Assembly {
            list: self,
            statements: &statements,
            switches,
        };
        let graph = assembly.build(context)?;
        let Some((line, text)) = &statements.form else {
            return Ok(graph);
        };
        let fail =
            |reason: String| self.error("file", *line, format!("`topology {text}`: {reason}"));
        form::recognised(graph, text, context).map_err(fail)
    }

    /// What the file or the scenario lists.
    fn statements(&self, base: &Path) -> Result<Statements, TopologyError> {
        if let Some(file) = &self.file {
            if !(self.links.is_empty() && self.hosts.is_empty()) {
                let reason = "given together with `links` or `hosts`, expected one or the other";
                return Err(parameter_error("file", reason));
            }
            return parse(&read(base, file)?).map_err(|error| error.in_file(file));
        }
        let mut statements = Statements::default();
        for (i, words) in self.links.iter().enumerate() {
            let words: Vec<&str> = words.0.iter().map(String::as_str).collect();
            let link = link(i + 1, &words).map_err(|reason| self.error("links", i + 1, reason))?;
            statements.links.push(link);
        }
        for (i, words) in self.hosts.iter().enumerate() {
            let words: Vec<&str> = words.0.iter().map(String::as_str).collect();
            let host = host(i + 1, &words).map_err(|reason| self.error("hosts", i + 1, reason))?;
            statements.hosts.push(host);
        }
        Ok(statements)
    }

    /// An error on a line of the file, or in an entry of a parameter.
    fn error(
        &self,
        parameter: &'static str,
        place: usize,
        reason: impl Into<String>,
    ) -> TopologyError {
        match &self.file {
            Some(file) if place > 0 => LineError::new(place, reason).in_file(file),
            None if place > 0 => {
                parameter_error(parameter, format!("entry {place}: {}", reason.into()))
            }
            _ => parameter_error("hosts_per_switch", reason),
        }
    }

    /// Number of switches, when every statement keeps to it and the hosts are not too many.
    fn switch_count(&self, statements: &Statements) -> Result<u32, TopologyError> {
        let of_links = statements.links.iter().flat_map(|link| {
            let ends = link.ends.map(|end| ("links", link.place, end.switch));
            ends.into_iter()
        });
        let of_hosts = statements.hosts.iter();
        let of_hosts = of_hosts.map(|host| ("hosts", host.place, host.end.switch));
        let of_names = statements.names.iter();
        let of_names = of_names.map(|(&switch, &(line, _))| ("file", line, switch));
        let used: Vec<_> = of_links.chain(of_hosts).chain(of_names).collect();
        let needed = used.iter().map(|(.., switch)| u64::from(*switch) + 1).max();
        let given = match (self.switches, statements.switches) {
            (Some(here), Some(there)) if here != there => {
                let reason = format!("{here} here and {there} in the file, expected the same");
                return Err(parameter_error("switches", reason));
            }
            (here, there) => here.or(there),
        };
        let count = given.map_or(needed.unwrap_or(0), u64::from);
        if let Some((parameter, place, switch)) =
            used.iter().find(|(.., switch)| u64::from(*switch) >= count)
        {
            let reason = format!("switch {switch} does not exist, there are {count} (from 0)");
            return Err(self.error(parameter, *place, reason));
        }
        let hosts = (u64::from(self.hosts_per_switch) * count)
            .saturating_add(statements.hosts.len() as u64);
        for (parameter, things, count) in [
            ("switches", "switches", count),
            ("hosts_per_switch", "hosts", hosts),
        ] {
            node_count(parameter, things, Some(count))?;
        }
        Ok(count as u32)
    }
}

/// Puts the graph together.
struct Assembly<'a> {
    list: &'a EdgeList,
    statements: &'a Statements,
    switches: u32,
}

impl Assembly<'_> {
    fn build(&self, context: &BuildContext<'_>) -> Result<Graph, TopologyError> {
        let mut ports = Ports::new(self.switches);
        self.reserve_given_ports(&mut ports)?;
        let (hosts, links) = (&self.statements.hosts, &self.statements.links);
        let mut host_ends = Vec::with_capacity(hosts.len());
        for host in hosts {
            let end = ports.take(host.end);
            host_ends.push(end.map_err(|reason| self.list.error("hosts", host.place, reason))?);
        }
        let mut link_ends = Vec::with_capacity(links.len());
        for link in links {
            let fail = |reason| self.list.error("links", link.place, reason);
            let a = ports.take(link.ends[0]).map_err(fail)?;
            link_ends.push((a, ports.take(link.ends[1]).map_err(fail)?));
        }
        let mut builder = GraphBuilder::new();
        let file = self.list.file.as_deref().unwrap_or_default();
        for (line, note) in &self.statements.notes {
            builder.note(format!("{file}:{line}: {note}"));
        }
        let mut names = HashSet::new();
        for switch in 0..self.switches {
            let given = self.statements.names.get(&switch);
            let (line, name) = given.cloned().unwrap_or((0, format!("S{switch}")));
            self.claim_name(&mut names, "switches", line, &name)?;
            builder.add_switch(name, 0, ports.count(switch));
        }
        for (i, (host, end)) in hosts.iter().zip(host_ends).enumerate() {
            let name = host.name.clone().unwrap_or_else(|| format!("H{i}"));
            self.claim_name(&mut names, "hosts", host.place, &name)?;
            let timing = timing(host.timing, context.host_link, context)
                .map_err(|reason| self.list.error("hosts", host.place, reason))?;
            let id = builder.add_host(name, 0);
            builder.connect_with(Endpoint::Host(id), end, timing)?;
        }
        for (
            LinkStatement {
                place, timing: own, ..
            },
            (a, b),
        ) in links.iter().zip(link_ends)
        {
            let timing = timing(*own, context.switch_link, context)
                .map_err(|reason| self.list.error("links", *place, reason))?;
            builder.connect_with(a, b, timing)?;
        }
        builder.build()
    }

    /// Sets aside the ports that statements name.
    fn reserve_given_ports(&self, ports: &mut Ports) -> Result<(), TopologyError> {
        for host in &self.statements.hosts {
            let reserved = ports.reserve(host.end);
            reserved.map_err(|reason| self.list.error("hosts", host.place, reason))?;
        }
        for link in &self.statements.links {
            for end in link.ends {
                let reserved = ports.reserve(end);
                reserved.map_err(|reason| self.list.error("links", link.place, reason))?;
            }
        }
        Ok(())
    }

    fn claim_name(
        &self,
        names: &mut HashSet<String>,
        parameter: &'static str,
        place: usize,
        name: &str,
    ) -> Result<(), TopologyError> {
        if names.insert(name.to_owned()) {
            return Ok(());
        }
        let reason = format!("name `{name}` is used twice, expected different names");
        Err(self.list.error(parameter, place, reason))
    }
}

/// The timing of both ways.
fn timing(
    own: [OwnTiming; 2],
    default: ChannelTiming,
    context: &BuildContext<'_>,
) -> Result<[ChannelTiming; 2], String> {
    let [there, back] = own.map(|timing| timing.resolve(default, context.clock));
    Ok([there?, back?])
}

/// Which ports of which switch are in use.
struct Ports {
    taken: Vec<BTreeSet<u16>>,
    /// All ports below are in use.
    lowest: Vec<u16>,
}

impl Ports {
    fn new(switches: u32) -> Self {
        Self {
            taken: vec![BTreeSet::new(); switches as usize],
            lowest: vec![1; switches as usize],
        }
    }

    /// Sets aside the port of an end that names one.
    fn reserve(&mut self, end: Attachment) -> Result<(), String> {
        let Attachment { switch, port } = end;
        match port {
            Some(port) if !(1..=MAX_PORTS).contains(&port) => Err(format!(
                "port {port} of switch {switch}, expected 1..={MAX_PORTS}"
            )),
            Some(port) if !self.taken[switch as usize].insert(port) => {
                Err(format!("port {port} of switch {switch} is already in use"))
            }
            None | Some(_) => Ok(()),
        }
    }

    /// The port of an end: the one it names, or the lowest free one.
    fn take(&mut self, end: Attachment) -> Result<Endpoint, String> {
        let i = end.switch as usize;
        let switch = SwitchId(end.switch);
        if let Some(port) = end.port {
            return Ok(Endpoint::Switch(switch, port));
        }
        while !self.taken[i].insert(self.lowest[i]) {
            self.lowest[i] += 1;
        }
        if self.lowest[i] > MAX_PORTS {
            let reason = format!("switch {switch} has no port left, expected at most {MAX_PORTS}");
            return Err(reason);
        }
        Ok(Endpoint::Switch(switch, self.lowest[i]))
    }

    /// Number of ports of a switch.
    fn count(&self, switch: u32) -> u16 {
        let taken = &self.taken[switch as usize];
        taken.last().copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
