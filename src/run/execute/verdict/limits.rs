//! Limits of flows that together ask a channel for more than it carries.
//!
//! # Algorithm
//! Each of the flows gets nearly what it may send, so none is told to be held back by itself. What all of them may send over a
//! channel is set against what it carries, and against the loops of the lanes that their classes take
//! ([`credit_loops`](crate::scenario::credit_loops)), for all classes and for those groups of them that have lanes of their own. Where it is more, the classes
//! with flows over that channel are held back. Where packets choose their ways those of a flow take one lane of its host's channel (D27), and
//! each of these is looked at by itself.
//!
//! Where they ask for no more in the mean of the measurement, but do at its end, only a longer measurement tells.
//!
//! Cost: O(flows * way + channels) for each group whose loops matter.

use super::super::Run;
use super::held::{Held, is_free};
use super::window::Window;
use crate::ids::ChannelId;
use crate::measure::FlowCounts;
use crate::plan::{BufferSharing, ClassPlan, FlowPlan};
use crate::routing::adaptive::first_lane;
use crate::routing::loads::credit_loop::CreditLoop;
use crate::scenario::Resolved;
use crate::scenario::credit_loops::{Loops, carried, groups};
use std::collections::{BTreeMap, BTreeSet};

/// Part of what a channel carries from which on limits of flows ask it for too much: rates that fill it are rounded.
const ASKED_TOO_MUCH: f64 = 1.001;

/// A channel and what limits ask of it.
struct AskedMost {
    channel: ChannelId,
    /// Of what it carries.
    part: f64,
    /// What keeps it from carrying more, if its own rate does not.
    credit_loop: Option<CreditLoop>,
    /// Flows with limits of these classes count.
    classes: BTreeSet<usize>,
}

/// Lane of its host's channel that the packets of a flow take where packets choose their ways.
fn injection_lane(resolved: &Resolved, id: usize) -> Option<u8> {
    let (plan, flow) = (&resolved.plan, &resolved.plan.flows[id]);
    let adaptive = resolved.routes.adaptive()?;
    if plan.classes[usize::from(flow.class)].management
        || plan.switch.sharing == BufferSharing::PortPool
    {
        return None;
    }
    let width = adaptive.routing.width();
    let first = first_lane(width, plan.switch.lanes, flow.level);
    Some(first + (id % usize::from(width)) as u8)
}

impl Run<'_> {
    /// Flows of which each gets nearly what it may send, and which ask a channel for more than it carries together.
    pub(super) fn asked_by_limits(
        &self,
        window: &Window<'_>,
        counts: &[FlowCounts],
        lone: &[bool],
    ) -> Vec<Held> {
        let plan = &self.resolved.plan;
        let flows = || plan.flows.iter().zip(counts).enumerate();
        let free = || flows().filter(|(_, (flow, counts))| is_free(window, flow, counts));
        let is_lone = |flow: &FlowPlan| lone[flow.source.index()];
        let limited = free().filter_map(|(id, (flow, counts))| {
            let (flits, is_limited) = window.may_send(flow, counts, is_lone(flow))?;
            is_limited.then_some((id, flits))
        });
        let held = self.asked_of(window, &limited.collect::<Vec<_>>(), true);
        if !held.is_empty() {
            return held;
        }
        let at_end = free().filter_map(|(id, (flow, counts))| {
            let (flits, is_limited) = window.may_send_at_end(flow, counts, is_lone(flow))?;
            is_limited.then_some((id, flits))
        });
        self.asked_of(window, &at_end.collect::<Vec<_>>(), false)
    }

    /// Flows with limits, each with the flits that it may send, that ask a channel for more than it carries; where that is not so
    /// in all of the measurement (`is_sure`) a longer one tells.
    fn asked_of(&self, window: &Window<'_>, limited: &[(usize, f64)], is_sure: bool) -> Vec<Held> {
        let plan = &self.resolved.plan;
        let of_flow = |id: usize| usize::from(plan.flows[id].class);
        let all: BTreeSet<usize> = limited.iter().map(|(id, _)| of_flow(*id)).collect();
        if all.is_empty() {
            return Vec::new();
        }
        let most = self.most_asked(window, limited, all);
        let Some(most) = most.filter(|most| most.part > ASKED_TOO_MUCH) else {
            return Vec::new();
        };
        let is_over =
            |id: usize| most.classes.contains(&of_flow(id)) && self.way(id).contains(&most.channel);
        let over = limited.iter().filter(|(id, _)| is_over(*id));
        let over: Vec<usize> = over.map(|(id, _)| of_flow(*id)).collect();
        let limits = match over.len() {
            1 => "the limit of 1 flow asks".to_owned(),
            several => format!("the limits of {several} flows ask"),
        };
        let (name, part) = (window.channel_name(most.channel), most.part);
        let carried = carried(most.credit_loop.as_ref());
        let when = if is_sure { "" } else { "at its end " };
        let words = format!("{when}{limits} channel {name} for {part:.3} of {carried}");
        let of_class = |class| Held {
            class,
            part: 1.0 / part,
            words: words.clone(),
            is_sure,
        };
        let classes: BTreeSet<usize> = over.into_iter().collect();
        classes.into_iter().map(of_class).collect()
    }

    /// The channel that flows with limits, each with the flits that it may send, ask for most of what it carries: all of these
    /// classes, or those that share lanes.
    fn most_asked(
        &self,
        window: &Window<'_>,
        limited: &[(usize, f64)],
        all: BTreeSet<usize>,
    ) -> Option<AskedMost> {
        let plans = &self.resolved.plan.classes;
        let classes: Vec<&ClassPlan> = all.iter().map(|class| &plans[*class]).collect();
        let groups = groups(self.resolved, &classes);
        let number = |class: &&ClassPlan| {
            let mut numbers = all.iter().copied();
            numbers.find(|number| std::ptr::eq(&raw const plans[*number], *class))
        };
        let own = groups.iter().filter(|group| {
            group.len() < classes.len() && Loops::of(self.resolved, group).matter()
        });
        let own = own.map(|group| group.iter().filter_map(number).collect());
        let sets: Vec<BTreeSet<usize>> = own.chain([all.clone()]).collect();
        let asked = sets.into_iter();
        let asked = asked.filter_map(|classes| self.most_of(window, limited, classes));
        asked.max_by(|a, b| a.part.total_cmp(&b.part))
    }

    /// The same of some classes.
    fn most_of(
        &self,
        window: &Window<'_>,
        limited: &[(usize, f64)],
        classes: BTreeSet<usize>,
    ) -> Option<AskedMost> {
        let plan = &self.resolved.plan;
        let is_meant = |id: usize| classes.contains(&usize::from(plan.flows[id].class));
        let mut asked = vec![0.0; window.graph.channels().len()];
        let mut by_lane: BTreeMap<(ChannelId, u8), f64> = BTreeMap::new();
        for &(id, flits) in limited.iter().filter(|(id, _)| is_meant(*id)) {
            // the ways of all flows are not kept: there may be many
            for channel in self.way(id) {
                asked[channel.index()] += flits;
            }
            if let Some(lane) = injection_lane(self.resolved, id) {
                let first = window.graph.host_channel(plan.flows[id].source);
                *by_lane.entry((first, lane)).or_default() += flits;
            }
        }
        let plans: Vec<&ClassPlan> = classes.iter().map(|class| &plan.classes[*class]).collect();
        let loops = Loops::of(self.resolved, &plans);
        let channels = window.graph.channel_ids();
        let channels = channels.filter(|channel| asked[channel.index()] > 0.0);
        let part = |channel: ChannelId, loops: &Loops<'_>, asked: f64| {
            let (time, credits) = (window.time_of_flit(channel), loops.at(channel));
            let slower = 1.0 / credits.rate();
            let part = asked * time.max(slower) / window.cycles() as f64;
            (channel, part, (slower > time).then_some(credits))
        };
        let parts = channels.map(|channel| part(channel, &loops, asked[channel.index()]));
        let lane = loops.of_one_lane();
        let of_lanes = by_lane.iter();
        let of_lanes = of_lanes.map(|((channel, _), asked)| part(*channel, &lane, *asked));
        let all = parts.chain(of_lanes);
        let (channel, part, credit_loop) = all.max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(AskedMost {
            channel,
            part,
            credit_loop,
            classes,
        })
    }
}
