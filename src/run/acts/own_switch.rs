//! Looks of hosts at their own switches: which outputs are blocked, told to the senders of flows (D51).
//!
//! Cost: O(lanes + packets in input queues + flows of the class) per look; nothing without an algorithm that asks for looks.

use super::{GlobalAct, LastingAct};
use crate::control::{Algorithm, Event, Looks};
use crate::cycle::mechanisms::control::Senders;
use crate::fabric::numbering::Numbering;
use crate::ids::HostId;
use crate::plan::Plan;
use crate::routing::Routes;
use crate::run::congestion::Standing;
use crate::run::outcome::RunError;
use crate::run::shards::Shards;
use crate::topology::{Endpoint, Graph};

/// All classes whose algorithm asks for looks.
pub(in crate::run) struct OwnSwitches {
    classes: Vec<Class>,
    /// Switch whose output a channel is, `None` of a host's.
    switches: Vec<Option<u32>>,
    /// Rows of lanes of a channel.
    lanes: usize,
}

/// A class, and what it remembers.
struct Class {
    looks: Looks,
    /// In the order in which they are told.
    flows: Vec<Own>,
    /// Flits granted at its last look, `[output lane]`.
    granted: Vec<u32>,
}

/// A flow with a sender.
struct Own {
    host: HostId,
    /// Number among the flows of the plan.
    flow: u32,
    /// Switch of its host.
    switch: u32,
    /// Output lanes that it, or its group, goes through there.
    lanes: Vec<u32>,
}

impl OwnSwitches {
    /// Those of a plan; `None` when no algorithm asks for looks.
    pub(in crate::run) fn new(plan: &Plan, graph: &Graph, routes: &Routes) -> Option<Self> {
        let lanes = Numbering::new(plan.switch.lane_count()).lanes() as usize;
        let tables = (routes.tables()).filter(|_| plan.switch.output_lane_buffer == 0)?;
        let channels = graph.channels().iter();
        let switches: Vec<_> = channels.map(|channel| switch(channel.from)).collect();
        let mut classes = Vec::new();
        for (number, class) in plan.classes.iter().enumerate() {
            let algorithm = class.control.as_ref().map(|control| &control.algorithm);
            let Some(looks) = algorithm.and_then(Algorithm::looks) else {
                continue;
            };
            let is_shared = algorithm.is_some_and(Algorithm::is_shared);
            let mut flows: Vec<Own> = Vec::new();
            let mut groups = vec![None; graph.hosts().len()];
            for (id, flow) in (0..).zip(&plan.flows) {
                if usize::from(flow.class) != number {
                    continue;
                }
                let level = class.level_of(flow);
                let path = tables.path(graph, flow.source, flow.destination, level);
                let Some(&(channel, lane)) = path.as_ref().and_then(|path| path.get(1)) else {
                    continue;
                };
                let own = (channel.index() * lanes + usize::from(lane.0)) as u32;
                let group = &mut groups[flow.source.index()];
                if let Some(first) = group.filter(|_| is_shared) {
                    let first: usize = first;
                    flows[first].lanes.push(own);
                    continue;
                }
                *group = Some(flows.len());
                flows.push(Own {
                    host: flow.source,
                    flow: id,
                    switch: switches[channel.index()].unwrap_or_default(),
                    lanes: vec![own],
                });
            }
            classes.push(Class {
                looks,
                flows,
                granted: vec![0; graph.channels().len() * lanes],
            });
        }
        (!classes.is_empty()).then_some(Self {
            classes,
            switches,
            lanes,
        })
    }
}

fn switch(end: Endpoint) -> Option<u32> {
    match end {
        Endpoint::Switch(switch, _) => Some(switch.0),
        Endpoint::Host(_) => None,
    }
}

impl GlobalAct for OwnSwitches {
    fn next(&self, from: u64) -> Option<u64> {
        let next = |class: &Class| from.max(1).next_multiple_of(class.looks.every);
        self.classes.iter().map(next).min()
    }

    fn act(&mut self, at: u64, shards: &mut Shards) -> Result<(), RunError> {
        let standing = Standing::new(self.switches.len(), self.lanes, at, shards);
        let switches = self
            .switches
            .iter()
            .flatten()
            .max()
            .map_or(0, |most| most + 1);
        for class in &mut self.classes {
            if !at.is_multiple_of(class.looks.every) {
                continue;
            }
            let few = class.looks.few;
            let mut blocked = vec![0; switches as usize];
            let is_blocked = |lane: usize| {
                let granted = standing.granted[lane].wrapping_sub(class.granted[lane]);
                standing.waiting[lane] > 0 && granted < few
            };
            for (channel, switch) in self.switches.iter().enumerate() {
                let Some(switch) = switch else {
                    continue;
                };
                let lanes = channel * self.lanes..(channel + 1) * self.lanes;
                blocked[*switch as usize] += lanes.filter(|&lane| is_blocked(lane)).count() as u32;
            }
            for own in &class.flows {
                let event = Event::Looked {
                    own: own.lanes.iter().any(|&lane| is_blocked(lane as usize)),
                    blocked: blocked[own.switch as usize],
                };
                let shard = shards.place(own.host).shard;
                Senders::look(shards.world_mut(shard), own.flow, at - 1, event);
            }
            class.granted.clone_from(&standing.granted);
        }
        Ok(())
    }
}

impl LastingAct for OwnSwitches {
    fn name(&self) -> &'static str {
        "looks at own switches"
    }

    /// What looks change is the pace of what can move anyway.
    fn is_over(&self, _: u64) -> bool {
        true
    }

    fn save(&self) -> Result<Vec<u8>, postcard::Error> {
        let granted: Vec<&[u32]> = (self.classes.iter())
            .map(|class| &class.granted[..])
            .collect();
        postcard::to_stdvec(&granted)
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), String> {
        let granted: Vec<Vec<u32>> =
            postcard::from_bytes(bytes).map_err(|cause| cause.to_string())?;
        let lengths = self.classes.iter().map(|class| class.granted.len());
        if !lengths.eq(granted.iter().map(Vec::len)) {
            return Err(String::from("it is of other classes or another fabric"));
        }
        for (class, granted) in self.classes.iter_mut().zip(granted) {
            class.granted = granted;
        }
        Ok(())
    }
}
