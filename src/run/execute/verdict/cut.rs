//! Full channels that all shortest ways of a flow need, where nobody knows which way a packet takes.
//!
//! # Algorithm
//! A walk from the source's switch over channels that are not full and bring a packet nearer to its destination. When it does not
//! arrive, the full channels that lead out of what it has reached are what the flow waits for.
//!
//! # Deviations
//! An engine that takes longer ways, too, may find one that is not full; a flow that gets less than it may send has not found it.
//!
//! Cost: O(channels) per flow.

use super::window::{FULL_CHANNEL, Window};
use crate::ids::{ChannelId, HostId, SwitchId};
use crate::routing::loads::cuts::distances;
use crate::topology::Graph;
use std::collections::VecDeque;

impl Window<'_> {
    /// Why packets from one host to another cannot go a shortest way round full channels, if they cannot.
    pub(super) fn full_cut(&self, ends: [HostId; 2]) -> Option<String> {
        let full = cut(self.graph, ends, |channel| {
            self.utilisation(channel) >= FULL_CHANNEL
        });
        let least = full.iter().map(|channel| self.utilisation(*channel));
        let least = least.fold(1.0, f64::min);
        let name = self.channel_name(*full.first()?);
        Some(match full.len() - 1 {
            0 => format!("channel {name} carries {least:.3} of what it can"),
            1 => format!(
                "all its shortest ways need channel {name} or another that carry {least:.3} of what they can"
            ),
            more => format!(
                "all its shortest ways need channel {name} or {more} others that carry {least:.3} of what they can or more"
            ),
        })
    }
}

/// The full channels out of the switches that packets from one host to another reach on shortest ways without any; none where
/// they arrive.
fn cut(
    graph: &Graph,
    [from, to]: [HostId; 2],
    is_full: impl Fn(ChannelId) -> bool,
) -> Vec<ChannelId> {
    let switch = |host: HostId| graph.channel(graph.host_channel(host)).to.switch();
    let (Some(start), Some(goal)) = (switch(from), switch(to)) else {
        return Vec::new();
    };
    let hops = distances(graph, goal);
    let leads = |from: SwitchId, to: SwitchId| hops[to.index()] < hops[from.index()];
    let mut is_reached = vec![false; graph.switches().len()];
    is_reached[start.index()] = true;
    let (mut next, mut border) = (VecDeque::from([start]), Vec::new());
    while let Some(at) = next.pop_front() {
        if at == goal {
            return Vec::new();
        }
        for (_, channel, to) in graph.neighbors(at).filter(|way| leads(at, way.2)) {
            if is_full(channel) {
                border.push((channel, to));
            } else if !std::mem::replace(&mut is_reached[to.index()], true) {
                next.push_back(to);
            }
        }
    }
    border.retain(|(_, to)| !is_reached[to.index()]);
    border.into_iter().map(|(channel, _)| channel).collect()
}
