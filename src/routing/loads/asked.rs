//! Channels that traffic goes over, as far as routes and patterns tell.
//!
//! Guarantees: a channel that is left out carries nothing.

use super::bound::Router;
use super::cuts;
use super::demand::Demand;
use super::demand_loads::amounts;
use super::drawn;
use crate::routing::adaptive::AdaptiveRouting;
use crate::topology::Graph;

/// Whether a channel is asked for something, `[channel]`. Where ways depend on the traffic all channels between switches count
/// as soon as anything goes from one switch to another. Cost: that of the expected loads.
pub fn channels(graph: &Graph, router: Router<'_>, demand: &Demand) -> Vec<bool> {
    let is_some = |amounts: Vec<u128>| amounts.into_iter().map(|amount| amount > 0).collect();
    let routing = match router {
        Router::Tables(tables) => return is_some(amounts(graph, tables, demand)),
        Router::Function(routing) => Some(routing),
        Router::Unknown => None,
    };
    let mut asked: Vec<bool> = is_some(demand.at_hosts(graph));
    let between = demand.between(graph);
    let of_draws = |routing: &dyn AdaptiveRouting| {
        let legs = routing.legs().filter(|_| cuts::are_looked_for(graph))?;
        drawn::amounts(graph, legs, &between)
    };
    let drawn = routing.and_then(of_draws);
    let is_crossing = !between.pools.is_empty() || !between.flows.is_empty();
    for (id, channel) in graph.channel_ids().zip(graph.channels()) {
        if channel.from.switch().is_some() && channel.to.switch().is_some() {
            asked[id.index()] = match &drawn {
                Some(amounts) => amounts[id.index()] > 0.0,
                None => is_crossing,
            };
        }
    }
    asked
}
