//! The line `topology` of an edge list: the fabric is a regular one, so that engines may compute instead of searching.
//!
//! Guarantees: a graph gets a shape only when its switches, hosts, ports and links are those of the topology named;
//! names and timing may differ. Cost: that of building the topology.

use crate::registry::Arguments;
use crate::topology::graph::{Endpoint, Graph, Shape};
use crate::topology::{BuildContext, TOPOLOGIES};

/// `graph` with the shape of the topology that `text` names.
///
/// # Errors
/// A sentence that says where they differ, or why there is no such topology.
pub(super) fn recognised(
    mut graph: Graph,
    text: &str,
    context: &BuildContext<'_>,
) -> Result<Graph, String> {
    let (name, arguments) = text.split_at(text.find('(').unwrap_or(text.len()));
    let entry = TOPOLOGIES.lookup(name.trim())?;
    if entry.name == super::ENTRY.name {
        return Err(String::from(
            "an edge list is no regular topology; leave the line out",
        ));
    }
    let topology = (entry.build)(Arguments { text: arguments }).map_err(|error| error.message)?;
    let model = topology.build(context).map_err(|error| error.to_string())?;
    if *model.shape() == Shape::Irregular {
        return Err(format!(
            "`{}` has no structure that engines use; leave the line out",
            entry.name
        ));
    }
    compare(&graph, &model)?;
    graph.shape = model.shape;
    graph.form = Some(text.to_owned());
    Ok(graph)
}

fn compare(graph: &Graph, model: &Graph) -> Result<(), String> {
    for (what, here, there) in [
        ("switches", graph.switches().len(), model.switches().len()),
        ("hosts", graph.hosts().len(), model.hosts().len()),
    ] {
        if here != there {
            return Err(format!("it has {there} {what}, the file {here}"));
        }
    }
    for switch in model.switch_ids() {
        let ports = graph.ports(switch).len().max(model.ports(switch).len()) as u16;
        for port in 1..=ports {
            let end = |graph: &Graph| {
                let channel = graph.port_channel(switch, port)?;
                Some(graph.channel(channel).to)
            };
            let (here, there) = (end(graph), end(model));
            if here != there {
                let name = |end: Option<Endpoint>| match end {
                    Some(Endpoint::Switch(switch, port)) => {
                        format!("port {port} of switch {switch}")
                    }
                    Some(Endpoint::Host(host)) => format!("host {host}"),
                    None => String::from("nothing"),
                };
                return Err(format!(
                    "port {port} of switch {switch} leads to {} there, to {} here; mend the links or leave the line out",
                    name(there),
                    name(here)
                ));
            }
        }
    }
    Ok(())
}
