//! What a switch of a tree knows of its place (D67), read from the links alone: switches with hosts are leaves, all others are
//! as high as the way to the nearest of these is long.

use virtlane::ids::{HostId, SwitchId};
use virtlane::topology::{Endpoint, Graph};

/// Where a link of a switch leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Up,
    /// Along the chain, to the switch with the next higher id.
    Next,
    /// Along the chain, to the switch with the next lower id.
    Before,
    Down,
}

impl Side {
    /// Whether it is a side of the chain.
    pub(super) fn is_horizontal(self) -> bool {
        matches!(self, Self::Next | Self::Before)
    }

    /// The way on, of what came from this side of the chain.
    pub(super) fn opposite(self) -> Self {
        match self {
            Self::Next => Self::Before,
            Self::Before => Self::Next,
            Self::Up | Self::Down => panic!("not along the chain"),
        }
    }
}

/// The place of a switch.
#[derive(Debug)]
pub(super) struct Place {
    /// Where the links of its ports lead; none where nothing is connected.
    pub(super) sides: Vec<Option<Side>>,
    /// Hosts that are reached by going down.
    pub(super) below: Vec<HostId>,
    pub(super) is_leaf: bool,
    /// The side of the chain with more switches; with as many on both the one with lower ids.
    pub(super) farther: Side,
}

impl Place {
    pub(super) fn of(graph: &Graph, at: SwitchId) -> Self {
        let heights = heights(graph);
        let side = |channel| side(graph, &heights, at, graph.channel(channel).to);
        let ports = graph.ports(at).iter();
        let [before, next] = [Side::Before, Side::Next].map(|to| others(graph, &heights, at, to));
        Self {
            sides: ports.map(|port| port.map(side)).collect(),
            below: below(graph, &heights, at),
            is_leaf: heights[at.index()] == 0,
            farther: if next > before {
                Side::Next
            } else {
                Side::Before
            },
        }
    }
}

/// Height of every switch, leaves 0.
fn heights(graph: &Graph) -> Vec<usize> {
    let has_hosts = |switch: SwitchId| {
        let mut channels = graph.ports(switch).iter().flatten();
        channels.any(|&channel| graph.channel(channel).to.host().is_some())
    };
    let leaf = |switch| has_hosts(switch).then_some(0);
    let mut heights: Vec<Option<usize>> = graph.switch_ids().map(leaf).collect();
    for height in 0..heights.len() {
        for switch in graph.switch_ids() {
            let mut others = graph.neighbors(switch);
            let is_above = others.any(|(_, _, other)| heights[other.index()] == Some(height));
            if heights[switch.index()].is_none() && is_above {
                heights[switch.index()] = Some(height + 1);
            }
        }
    }
    let heights = heights.into_iter();
    heights.map(|height| height.expect("a tree")).collect()
}

fn side(graph: &Graph, heights: &[usize], at: SwitchId, to: Endpoint) -> Side {
    let Some(other) = to.switch() else {
        return Side::Down;
    };
    assert!(graph.switches().len() == heights.len() && other != at);
    match heights[other.index()].cmp(&heights[at.index()]) {
        std::cmp::Ordering::Greater => Side::Up,
        std::cmp::Ordering::Less => Side::Down,
        std::cmp::Ordering::Equal if other > at => Side::Next,
        std::cmp::Ordering::Equal => Side::Before,
    }
}

/// Switches of the chain on one side of a switch.
fn others(graph: &Graph, heights: &[usize], at: SwitchId, to: Side) -> usize {
    let mut neighbors = graph.neighbors(at);
    let found = neighbors.find(|&(_, channel, _)| {
        let end = graph.channel(channel).to;
        side(graph, heights, at, end) == to
    });
    found.map_or(0, |(_, _, other)| 1 + others(graph, heights, other, to))
}

/// Hosts that are reached from a switch by going down.
fn below(graph: &Graph, heights: &[usize], at: SwitchId) -> Vec<HostId> {
    let mut hosts = Vec::new();
    for (_, channel) in graph.connected_ports(at) {
        match graph.channel(channel).to {
            Endpoint::Host(host) => hosts.push(host),
            Endpoint::Switch(other, _) if heights[other.index()] < heights[at.index()] => {
                hosts.extend(below(graph, heights, other));
            }
            Endpoint::Switch(..) => {}
        }
    }
    hosts.sort_unstable();
    hosts.dedup();
    hosts
}
