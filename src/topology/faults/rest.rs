//! Builds the graph that remains.

use super::{CanFail, Degraded, Failed, FaultError, FaultKind, Faults};
use crate::ids::{HostId, LinkId, SwitchId};
use crate::topology::TopologyError;
use crate::topology::graph::builder::GraphBuilder;
use crate::topology::graph::{Endpoint, Graph};
use crate::topology::structure::Structure;
use std::sync::Arc;

impl Faults<'_> {
    /// Adds the switches that are up, names the others; `[switch]`.
    fn add_switches(
        &self,
        builder: &mut GraphBuilder,
        down: &mut Vec<String>,
    ) -> Vec<Option<SwitchId>> {
        let nodes = self.graph.switch_ids().zip(self.graph.switches());
        let ids = nodes.map(|(switch, node)| {
            if !self.is_switch_up[switch.index()] {
                down.push(node.name.clone());
                return None;
            }
            let id = builder.add_switch(node.name.clone(), node.guid, node.port_count);
            builder.set_switch_lid(id, node.lid);
            Some(id)
        });
        ids.collect()
    }

    /// Adds the hosts whose link is up, names the others; `[host]`.
    fn add_hosts(&self, builder: &mut GraphBuilder, lost: &mut Vec<String>) -> Vec<Option<HostId>> {
        let nodes = self.graph.host_ids().zip(self.graph.hosts());
        let ids = nodes.map(|(host, node)| {
            if !self.is_link_up[self.graph.host_channel(host).link().index()] {
                lost.push(node.name.clone());
                return None;
            }
            let id = builder.add_host(node.name.clone(), node.guid);
            builder.set_host_lid(id, node.lid);
            Some(id)
        });
        ids.collect()
    }

    /// The graph of what is up; `with_switches` are the links that were up before links failed.
    pub(super) fn rebuild(&self, with_switches: &[bool]) -> Result<Degraded, FaultError> {
        let graph = self.graph;
        let mut builder = GraphBuilder::new();
        for note in graph.notes() {
            builder.note(note.clone());
        }
        let (mut switches, mut hosts) = (Vec::new(), Vec::new());
        let switch_of = self.add_switches(&mut builder, &mut switches);
        let host_of = self.add_hosts(&mut builder, &mut hosts);
        let moved = |end: Endpoint| match end {
            Endpoint::Switch(switch, port) => {
                switch_of[switch.index()].map(|switch| Endpoint::Switch(switch, port))
            }
            Endpoint::Host(host) => host_of[host.index()].map(Endpoint::Host),
        };
        let mut links = Vec::new();
        let impossible = |error: TopologyError| FaultError {
            kind: FaultKind::Switches,
            reason: format!("too much fails: {error}"),
        };
        for link in (0..graph.link_count()).map(LinkId::from) {
            if !self.is_link_up[link.index()] {
                if with_switches[link.index()] {
                    links.push(link.name(graph));
                }
                continue;
            }
            let timing = link.channels().map(|channel| graph.channel(channel).timing);
            if let [Some(a), Some(b)] = graph.link_ends(link).map(moved) {
                builder.connect_with(a, b, timing).map_err(impossible)?;
            }
        }
        let is_whole = switches.is_empty() && links.is_empty();
        let mut rest = builder.build().map_err(impossible)?;
        remember(&mut rest, graph, is_whole);
        Ok(Degraded {
            graph: rest,
            failed: Failed {
                switches,
                links,
                hosts,
            },
        })
    }
}

/// Tells what is left of a graph what it was; it is still that when it is whole.
fn remember(rest: &mut Graph, graph: &Graph, is_whole: bool) {
    if is_whole {
        rest.shape = graph.shape.clone();
        rest.form.clone_from(&graph.form);
        rest.structures.clone_from(&graph.structures);
        return;
    }
    let built = Structure::of_rest(graph, rest).into_iter();
    let found = graph.structures.iter();
    let found = found.map(|structure| structure.without(graph, rest));
    rest.structures = built.chain(found).map(Arc::new).collect();
}
