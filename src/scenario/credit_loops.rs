//! Credit loops of a scenario: what a class can send over a channel at most, because its credits come back after a round trip.

use super::Resolved;
use super::service::lanes_of;
use crate::ids::{ChannelId, SlId};
use crate::plan::{BufferSharing, ClassPlan, Forwarding};
use crate::routing::Routes;
use crate::routing::adaptive::first_lane;
use crate::routing::loads::bound::{Bound, Place};
use crate::routing::loads::credit_loop::{Channel, CreditLoop};
use std::collections::BTreeSet;

/// The loops of a class.
pub struct Loops<'a> {
    resolved: &'a Resolved,
    /// Lanes that its packets may take on a channel, at most.
    lanes: u32,
    /// Smallest and largest packet \[flits\].
    sizes: [u32; 2],
    /// Smallest pace of a channel \[cycles per flit\].
    least_pace: u32,
}

/// The channel of a kind on which a class can send least.
#[derive(Clone, Debug, PartialEq)]
pub struct OfKind {
    /// Name of the class.
    pub class: String,
    /// Kind of channel.
    pub place: Place,
    /// The channel.
    pub channel: ChannelId,
    /// The loop of all lanes that the class may take.
    pub credit_loop: CreditLoop,
    /// What passes it at most \[fraction of the channel\].
    pub part: f64,
}

impl<'a> Loops<'a> {
    /// Those of a class.
    pub fn of(resolved: &'a Resolved, class: &ClassPlan) -> Self {
        let channels = resolved.layout.graph.channels().iter();
        let paces = channels.map(|channel| channel.timing.cycles_per_flit);
        let sizes = match resolved.plan.switch.forwarding {
            Forwarding::Wormhole => [1; 2],
            _ => [class.size.smallest(), class.size.largest()].map(u32::from),
        };
        Self {
            resolved,
            lanes: lanes(resolved, class),
            sizes,
            least_pace: paces.min().unwrap_or(1),
        }
    }

    /// Whether some channel carries more than its credits let through.
    pub fn matter(&self) -> bool {
        let graph = &self.resolved.layout.graph;
        graph.channel_ids().any(|channel| {
            let pace = graph.channel(channel).timing.cycles_per_flit;
            self.at(channel).rate() * f64::from(pace) < 1.0
        })
    }

    /// The loop of a channel, of all lanes together.
    pub fn at(&self, channel: ChannelId) -> CreditLoop {
        let (graph, switch) = (&self.resolved.layout.graph, &self.resolved.plan.switch);
        let ends = graph.channel(channel);
        let back = graph.channel(channel.reverse()).timing.latency;
        let mut way = Channel {
            capacity: switch.lane_capacity,
            latency: ends.timing.latency.into(),
            delay: 0,
            credit_latency: switch.credit_latency.unwrap_or(back).into(),
            pace: ends.timing.cycles_per_flit,
        };
        if ends.from.switch().is_some() {
            way.latency += u64::from(switch.crossbar_delay);
        }
        if ends.to.switch().is_some() {
            way.delay = u64::from(switch.routing_delay) + u64::from(switch.allocation_delay);
            if switch.forwarding == Forwarding::StoreAndForward {
                // the tail comes first, then every flit goes on as fast as the next channel takes it
                way.delay += u64::from(self.sizes[0] - 1) * u64::from(way.pace);
                way.pace = self.least_pace;
            }
        }
        let one = CreditLoop::new(way, self.sizes);
        CreditLoop {
            flits: one.flits * f64::from(self.lanes),
            ..one
        }
    }
}

/// Lanes that packets of a class may take on a channel, at most; a pool is one.
fn lanes(resolved: &Resolved, class: &ClassPlan) -> u32 {
    let switch = &resolved.plan.switch;
    if class.management || switch.sharing == BufferSharing::PortPool {
        return 1;
    }
    let lanes = match &resolved.routes {
        Routes::Adaptive(adaptive) => {
            let width = adaptive.routing.width();
            let first = |&sl: &SlId| first_lane(width, switch.lanes, sl);
            let groups: BTreeSet<u8> = class.service_levels.iter().map(first).collect();
            groups.len() * usize::from(width)
        }
        Routes::Tables(tables) => {
            let map = &tables.lanes;
            let rows = 0..map.profiles.len() / map.keys().max(1);
            let lanes = rows.flat_map(|row| lanes_of(map, row, &class.service_levels));
            lanes.collect::<BTreeSet<u8>>().len()
        }
    };
    lanes.max(1) as u32
}

/// Every class and kind of channel whose credit loops carry less than the channel does.
pub fn of_kinds(resolved: &Resolved) -> Vec<OfKind> {
    let graph = &resolved.layout.graph;
    let mut found: Vec<OfKind> = Vec::new();
    for class in &resolved.plan.classes {
        let loops = Loops::of(resolved, class);
        let mut least: [Option<OfKind>; 3] = [None, None, None];
        for (id, channel) in graph.channel_ids().zip(graph.channels()) {
            let kind = match (channel.from.host(), channel.to.host()) {
                (Some(_), _) => Place::Sender,
                (None, Some(_)) => Place::Receiver,
                (None, None) => Place::Inner,
            };
            let credit_loop = loops.at(id);
            let part = credit_loop.rate() * f64::from(channel.timing.cycles_per_flit);
            let place = match kind {
                Place::Sender => &mut least[0],
                Place::Receiver => &mut least[1],
                _ => &mut least[2],
            };
            if part < 1.0 && place.as_ref().is_none_or(|least| part < least.part) {
                *place = Some(OfKind {
                    class: class.name.clone(),
                    place: kind,
                    channel: id,
                    credit_loop,
                    part,
                });
            }
        }
        found.extend(least.into_iter().flatten());
    }
    found
}

/// A loop in words.
pub fn words(credit_loop: &CreditLoop) -> String {
    format!(
        "{} flits per credit round trip of {} cycles",
        credit_loop.flits, credit_loop.cycles
    )
}

/// What the channel of a bound carries, in words: all that it can, or what its credits let through.
pub fn carried(bound: &Bound) -> String {
    match &bound.credit_loop {
        None => String::from("what it carries"),
        Some(credit_loop) => format!("what its credits let through, {}", words(credit_loop)),
    }
}
