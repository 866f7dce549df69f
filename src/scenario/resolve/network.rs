//! The network of the flow level: channels, hosts that take less than their link brings, and limits of flows.

use super::fluid_flows::FluidFlow;
use super::quantity::of_links;
use crate::control::WHOLE_LINK;
use crate::fluid::network::{Builder, Network, UNIT};
use crate::fluid::routes::FlowRoutes;
use crate::topology::{Endpoint, Graph};

/// The network of some flows on their routes; `reserved` is the part of every channel that is kept for other traffic, `sink`
/// what a host takes for a flit, where that is not the speed of its link \[cycles\].
///
/// Its elements are the switches by their ids, then the hosts; a link that is no channel is a host's own. Its links are the channels, by their ids, less what is reserved. Where hosts take flits more slowly than channels
/// bring them, each has a link behind its channel, less what is reserved likewise. A flow with a limit has a link of its own.
pub fn network(
    graph: &Graph,
    (reserved, sink): (f64, Option<u32>),
    flows: &[FluidFlow],
    routes: &FlowRoutes,
) -> Network {
    let link = u128::from(of_links(reserved));
    let capacity = |pace: u32| UNIT / u128::from(pace) * link / u128::from(WHOLE_LINK);
    let channels = graph.channels().iter();
    let mut capacities: Vec<u128> = channels
        .map(|channel| capacity(channel.timing.cycles_per_flit))
        .collect();
    let first_sink = capacities.len() as u32;
    if let Some(pace) = sink {
        let sinks = graph.hosts().iter().map(|_| capacity(pace));
        capacities.extend(sinks);
    }
    let switches = graph.switches().len() as u32;
    let element = |end: Endpoint| match end {
        Endpoint::Switch(switch, _) => switch.0,
        Endpoint::Host(host) => switches + host.0,
    };
    let mut network = Builder::new(capacities);
    network.between(
        graph
            .channels()
            .iter()
            .map(|channel| [channel.from, channel.to].map(element)),
    );
    if sink.is_some() {
        network.between(graph.host_ids().map(|host| [switches + host.0; 2]));
    }
    for (number, flow) in flows.iter().enumerate() {
        let sink = sink.map(|_| first_sink + flow.ends.destination.0);
        let limit = flow
            .most
            .map(|most| network.link(((UNIT >> 16) * u128::from(most)) >> 16));
        network.between(limit.map(|_| [switches + flow.ends.source.0; 2]));
        let channels = routes.of(number).iter().copied();
        network.flow(
            flow.weight,
            flow.application,
            channels.chain(sink).chain(limit),
        );
    }
    network.build()
}
