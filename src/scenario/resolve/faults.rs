//! Failed switches and links against the graph.

use super::super::schema::{FailedLink, Failures, Faults};
use super::super::syntax::{At, Mistake};
use super::classes::switch;
use crate::ids::{LinkId, SwitchId};
use crate::topology::Graph;
use crate::topology::faults::{self, Failed, Failing, FaultKind, FaultPlan};
use std::collections::BTreeSet;

/// The graph without what failed, and what that is.
pub(super) fn apply(written: &Faults, graph: Graph, seed: u64) -> Result<(Graph, Failed), Mistake> {
    let switches = failing(&written.switches.value, |list| {
        list.iter().map(|member| switch(member, &graph)).collect()
    })?;
    let links = failing(&written.links.value, |list| links(list, &graph))?;
    let plan = FaultPlan {
        switches,
        links,
        keep_connected: written.keep_connected,
        seed: written.seed.unwrap_or(seed),
    };
    let degraded = faults::apply(&graph, &plan).map_err(|error| match error.kind {
        FaultKind::Switches => written.switches.mistake(error.reason),
        FaultKind::Links => written.links.mistake(error.reason),
    })?;
    if degraded.graph.hosts().is_empty() {
        let lost = degraded.failed.hosts.len();
        let at_fault = if degraded.failed.switches.is_empty() {
            written.links.mistake(no_host(lost))
        } else {
            written.switches.mistake(no_host(lost))
        };
        return Err(at_fault);
    }
    Ok((degraded.graph, degraded.failed))
}

fn no_host(lost: usize) -> String {
    format!(
        "no host is left, all {lost} disappear with their switches or links: expected fewer faults"
    )
}

fn failing<T, U>(
    failures: &Failures<T>,
    find: impl FnOnce(&[T]) -> Result<Vec<U>, Mistake>,
) -> Result<Failing<U>, Mistake> {
    Ok(match failures {
        Failures::None => Failing::Count(0),
        Failures::Count(count) => Failing::Count(*count),
        Failures::Fraction(fraction) => Failing::Fraction(*fraction),
        Failures::List(list) => Failing::List(find(list)?),
    })
}

/// The links of a list, each named once.
fn links(list: &[At<FailedLink>], graph: &Graph) -> Result<Vec<LinkId>, Mistake> {
    let mut taken = BTreeSet::new();
    let mut links = Vec::with_capacity(list.len());
    for entry in list {
        let link = match &entry.value {
            FailedLink::Between(a, b) => {
                let (a, b) = (switch(a, graph)?, switch(b, graph)?);
                let between = between(graph, a, b);
                let free = between.iter().find(|link| !taken.contains(*link)).copied();
                free.ok_or_else(|| {
                    let [a, b] = [a, b].map(|switch| &graph.switches()[switch.index()].name);
                    let count = match between.len() {
                        0 => "there is none".to_owned(),
                        1 => "there is 1, listed before".to_owned(),
                        count => format!("there are {count}, listed before"),
                    };
                    entry.mistake(format!("no link left between `{a}` and `{b}`: {count}"))
                })?
            }
            FailedLink::Port(member, port) => {
                let switch = switch(member, graph)?;
                let channel = graph.port_channel(switch, *port);
                channel.map(crate::ids::ChannelId::link).ok_or_else(|| {
                    let ports: Vec<_> = graph
                        .connected_ports(switch)
                        .map(|(port, _)| port.to_string())
                        .collect();
                    let name = &graph.switches()[switch.index()].name;
                    let ports = ports.join(", ");
                    entry.mistake(format!(
                        "port {port} of `{name}` has no link: expected one of {ports}"
                    ))
                })?
            }
        };
        taken.insert(link);
        links.push(link);
    }
    Ok(links)
}

/// Links between two switches, by the port at the first.
fn between(graph: &Graph, a: SwitchId, b: SwitchId) -> Vec<LinkId> {
    graph
        .neighbors(a)
        .filter(|(.., neighbor)| *neighbor == b)
        .map(|(_, channel, _)| channel.link())
        .collect()
}
