//! Whether set-ups and packets of tables can wait for each other in a circle (D67, *Proof*): by channels, whatever counters, lanes,
//! and parameters of classes.

use super::tree::{Place, Side};
use std::collections::{BTreeMap, BTreeSet};
use virtlane::ids::{ChannelId, HostId};
use virtlane::routing::Tables;
use virtlane::topology::Graph;

/// Whether they can.
pub(crate) fn can_wait_in_a_circle(graph: &Graph, tables: &Tables) -> bool {
    let places = graph.switch_ids().map(|switch| Place::of(graph, switch));
    let places: Vec<Place> = places.collect();
    let mut after: BTreeMap<ChannelId, BTreeSet<ChannelId>> = BTreeMap::new();
    for destination in graph.host_ids() {
        let sources = graph.host_ids().filter(|&host| host != destination);
        let mut open: Vec<ChannelId> = sources.map(|host| graph.host_channel(host)).collect();
        let mut seen: BTreeSet<ChannelId> = open.iter().copied().collect();
        while let Some(from) = open.pop() {
            for next in steps(graph, tables, &places, (from, destination)) {
                after.entry(from).or_default().insert(next);
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
    }
    // take away what waits for nothing until nothing is left
    loop {
        let known: BTreeSet<ChannelId> = after.keys().copied().collect();
        let before = after.len();
        after.retain(|_, next| next.iter().any(|channel| known.contains(channel)));
        if after.len() == before {
            return before > 0;
        }
    }
}

/// Channels that a packet may take next.
fn steps(
    graph: &Graph,
    tables: &Tables,
    places: &[Place],
    (from, destination): (ChannelId, HostId),
) -> Vec<ChannelId> {
    let Some(at) = graph.channel(from).to.switch() else {
        return Vec::new();
    };
    let place = &places[at.index()];
    let row = tables.row(from, at);
    let port = tables.next_port(row, destination).expect("a route");
    let is_entry = |channel: &Option<ChannelId>| *channel == Some(from.reverse());
    let input = graph.ports(at).iter().position(is_entry).expect("a port");
    let came_from = place.sides[input].expect("connected");
    let sides = if !place.below.contains(&destination) {
        vec![Side::Up]
    } else if place.is_leaf {
        Vec::new()
    } else if came_from.is_horizontal() {
        vec![came_from.opposite()]
    } else {
        vec![Side::Next, Side::Before]
    };
    let mut outputs = vec![usize::from(port) - 1];
    for (output, side) in place.sides.iter().enumerate() {
        if side.is_some_and(|side| sides.contains(&side)) {
            outputs.push(output);
        }
    }
    let ports = graph.ports(at);
    outputs.iter().filter_map(|&output| ports[output]).collect()
}
