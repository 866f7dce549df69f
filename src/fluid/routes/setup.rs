//! Set-up of flows on k-ary n-trees and enriched trees by counters of flows at every link.
//!
//! # Algorithm
//! Flows are set up one after the other in a random order; each adds its weight to every link that it takes.
//! 1. Up from the leaf switch of the source, by the link with the least counter, until the destination is below.
//! 2. At every level from there down to the one above the leaves: sideways, while hops are left and a horizontal link in
//!    the direction of the level has a counter *strictly* below that of the link down; parallel links count each for
//!    itself. The first hop fixes the direction. Then down.
//!
//! Cost: O(ports of a switch) per link of a route, O(channels) memory.
//!
//! # Deviations
//! The source sets flows up by packets that may meet; here they do not. It leaves open who goes first and who wins ties
//! on the way up: [`Ties`].
//!
//! References: [`ZDORNOV_BIRK`](crate::references::ZDORNOV_BIRK) §3.1, §3.2

use super::{Ends, FlowRoutes, Policy, PolicyError, Ways};
use crate::ids::{ChannelId, SwitchId};
use crate::registry::Parameter;
use crate::rng::{Purpose, Stream, below, stream};
use crate::topology::graph::EnrichedTreeShape;
use crate::topology::{Graph, Shape};
use serde::Deserialize;

/// Which of the links with the least counter a flow takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) enum Ties {
    /// Each is equally likely.
    #[default]
    Random,
    /// The one with the lowest port.
    Lowest,
    /// Up: that of destination-digit routing, where it is one of them; else as `Random`.
    Digit,
}

impl Ties {
    /// For `describe`.
    pub(super) const PARAMETER: Parameter = Parameter {
        name: "ties",
        kind: "Random | Lowest | Digit",
        default: Some("Random"),
        summary: "which of the links with the fewest flows: any, that of the lowest port, or that of FatTree routing on \
                  the way up",
    };
}

/// Most horizontal hops of a level; `None` = to the end of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub(super) struct Hops(Option<u32>);

impl Default for Hops {
    /// The source's choice.
    fn default() -> Self {
        Self(Some(8))
    }
}

impl Hops {
    /// For `describe`.
    pub(super) const PARAMETER: Parameter = Parameter {
        name: "hops",
        kind: "None | integer >= 0",
        default: Some("8"),
        summary: "most horizontal links at each level; None = to the end of the chain",
    };
}

/// How a flow may go sideways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sideways {
    hops: u32,
    is_free: bool,
    needs_links: bool,
}

impl Sideways {
    /// Not at all, on trees of either kind.
    pub(super) const NEVER: Self = Self {
        hops: 0,
        is_free: false,
        needs_links: false,
    };

    /// Towards the farther end of the chain.
    pub(super) fn forced(Hops(hops): Hops) -> Self {
        Self {
            hops: hops.unwrap_or(u32::MAX),
            is_free: false,
            needs_links: true,
        }
    }

    /// The first hop to either side.
    pub(super) fn free(hops: Hops) -> Self {
        Self {
            is_free: true,
            ..Self::forced(hops)
        }
    }
}

/// A policy that sets flows up by counters.
#[derive(Clone, Debug)]
pub(super) struct ByCounters {
    /// Its name, for messages.
    pub(super) name: &'static str,
    pub(super) sideways: Sideways,
    pub(super) ties: Ties,
}

impl Policy for ByCounters {
    fn routes(
        &self,
        ways: &Ways<'_>,
        flows: &[Ends],
        seed: u64,
    ) -> Result<FlowRoutes, PolicyError> {
        let mut setup = Setup::new(ways.graph, self.name, self.sideways, self.ties, seed)?;
        Ok(setup.all(flows))
    }
}

/// Parameters of policies that go sideways.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SidewaysParameters {
    pub(super) hops: Hops,
    pub(super) ties: Ties,
}

/// Side of a chain.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Next,
    Before,
}

/// The set-up of flows, with the counters so far.
#[derive(Debug)]
pub(super) struct Setup<'a> {
    graph: &'a Graph,
    shape: EnrichedTreeShape,
    sideways: Sideways,
    ties: Ties,
    /// Weight of the flows, `[channel]`.
    counters: Vec<u64>,
    rng: Stream,
    order: Stream,
}

impl<'a> Setup<'a> {
    /// Before the first flow; `name` is the policy for messages.
    ///
    /// # Errors
    /// When the fabric is no complete tree of the kind that is needed.
    pub(super) fn new(
        graph: &'a Graph,
        name: &str,
        sideways: Sideways,
        ties: Ties,
        seed: u64,
    ) -> Result<Self, PolicyError> {
        let shape = match graph.shape() {
            Shape::EnrichedTree(shape) => shape.clone(),
            Shape::Tree(tree) if !sideways.needs_links => EnrichedTreeShape {
                tree: tree.clone(),
                width: 0,
            },
            _ => {
                let needed = if sideways.needs_links {
                    "an enriched tree (topology EnrichedTree) without faults; policy `Ascent` is for trees without horizontal links"
                } else {
                    "a k-ary n-tree or an enriched tree, without faults; policy `Static` is for any fabric"
                };
                return Err(PolicyError(format!("{name} needs {needed}")));
            }
        };
        let links = shape.links();
        if graph.link_count() as u64 != links {
            return Err(PolicyError(format!(
                "{name} needs a complete tree of {links} links, and this has {}; policy `Static` goes around failures",
                graph.link_count()
            )));
        }
        Ok(Self {
            graph,
            shape,
            sideways,
            ties,
            counters: vec![0; graph.channels().len()],
            rng: stream(seed, Purpose::FluidRoutes, 1),
            order: stream(seed, Purpose::FluidRoutes, 0),
        })
    }

    /// Routes of all flows, in their order.
    pub(super) fn all(&mut self, flows: &[Ends]) -> FlowRoutes {
        let mut order: Vec<u32> = (0..flows.len() as u32).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, below(&mut self.order, last as u32 + 1) as usize);
        }
        let mut routes = FlowRoutes::new();
        for &flow in &order {
            self.set_up(&flows[flow as usize], &mut routes.channels);
            routes.end();
        }
        routes.reordered(&order)
    }

    /// Adds the channels of one flow.
    fn set_up(&mut self, flow: &Ends, route: &mut Vec<u32>) {
        let first = route.len();
        let (k, levels) = (self.shape.tree.arity, self.shape.tree.levels);
        let destination = flow.destination.0;
        route.push(self.graph.host_channel(flow.source).0);
        let per_level = self.shape.tree.switches_per_level();
        let mut level = levels - 1;
        let mut at = SwitchId(level * per_level + flow.source.0 / k);
        // what digits from `level` on are counted in, of words and of hosts
        let below_level = |level: u32| k.pow(levels - 1 - level);
        while self.shape.tree.word(at) / below_level(level)
            != destination / (below_level(level) * k)
        {
            let digit = destination / below_level(level) % k;
            let channel = self.up(at, digit);
            route.push(channel.0);
            at = self.behind(channel);
            level -= 1;
        }
        loop {
            let digit = destination / below_level(level) % k;
            if level + 1 < levels {
                at = self.across(at, level, digit + 1, route);
            }
            let down = self.channel(at, digit + 1);
            route.push(down.0);
            if level + 1 == levels {
                break;
            }
            at = self.behind(down);
            level += 1;
        }
        for &channel in &route[first..] {
            self.counters[channel as usize] += u64::from(flow.weight);
        }
    }

    /// The way up from a switch; `digit` is that of destination-digit routing.
    fn up(&mut self, at: SwitchId, digit: u32) -> ChannelId {
        let k = self.shape.tree.arity;
        let default = self.channel(at, k + 1 + digit);
        let ports = k + 1..=2 * k;
        let (least, best) = self.least(at, ports);
        let is_least = self.counters[default.index()] == least;
        if self.ties == Ties::Digit && is_least {
            default
        } else {
            best
        }
    }

    /// Sideways from a switch whose way down is `down`; the switch where that ends.
    fn across(&mut self, from: SwitchId, level: u32, down: u32, route: &mut Vec<u32>) -> SwitchId {
        let length = self.shape.chain_length(level);
        let forced = if self.shape.place(from) < length / 2 {
            Side::Next
        } else {
            Side::Before
        };
        let mut side = (!self.sideways.is_free).then_some(forced);
        let mut at = from;
        for _ in 0..self.sideways.hops {
            let place = self.shape.place(at);
            let can_go = |to: Side| match to {
                Side::Next => place + 1 < length,
                Side::Before => place > 0,
            };
            let (first, width) = (self.shape.first_horizontal_port(level), self.shape.width);
            let leads_to = |port: u32| {
                if port < first + width {
                    Side::Next
                } else {
                    Side::Before
                }
            };
            let is_allowed = |to: Side| side.is_none_or(|side| side == to) && can_go(to);
            let mut ports = first..first + 2 * width;
            if !ports.any(|port| is_allowed(leads_to(port))) {
                break;
            }
            let ports = (first..first + 2 * width).filter(|&port| is_allowed(leads_to(port)));
            let ports: Vec<u32> = ports.collect();
            let (least, channel) = self.least(at, ports.iter().copied());
            if least >= self.counters[self.channel(at, down).index()] {
                break;
            }
            let next = self.behind(channel);
            side = Some(if next > at { Side::Next } else { Side::Before });
            at = next;
            route.push(channel.0);
        }
        at
    }

    /// The least counter of some ports, of which there is one, and a channel that has it.
    fn least(
        &mut self,
        at: SwitchId,
        ports: impl Iterator<Item = u32> + Clone,
    ) -> (u64, ChannelId) {
        let (mut least, mut count) = (u64::MAX, 0);
        let mut best = ChannelId(0);
        for port in ports.clone() {
            let channel = self.channel(at, port);
            let counter = self.counters[channel.index()];
            if counter < least {
                (least, count, best) = (counter, 0, channel);
            }
            count += u32::from(counter == least);
        }
        if count > 1 && self.ties != Ties::Lowest {
            let drawn = below(&mut self.rng, count) as usize;
            let channels = ports.map(|port| self.channel(at, port));
            let mut tied = channels.filter(|channel| self.counters[channel.index()] == least);
            best = tied.nth(drawn).unwrap_or(best);
        }
        (least, best)
    }

    /// The channel of a port that has a link, as all of a complete tree have.
    fn channel(&self, switch: SwitchId, port: u32) -> ChannelId {
        let channel = self.graph.port_channel(switch, port as u16);
        channel.expect("the tree is complete")
    }

    /// The switch that a channel between switches leads to.
    fn behind(&self, channel: ChannelId) -> SwitchId {
        let to = self.graph.channel(channel).to.switch();
        to.expect("the channel is between switches")
    }
}
