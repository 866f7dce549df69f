//! Limits of flows that together ask a channel for more than it carries.
//!
//! # Algorithm
//! Each of the flows gets nearly what it may send, so none is told to be held back by itself. What all of them may send over a
//! channel is set against what it carries, the sink behind it included, and against the loops of the lanes that their classes take
//! ([`credit_loops`](crate::scenario::credit_loops)), for all classes and for those groups of them that have lanes of their own. Where it is more, the classes
//! with flows over that channel are held back. Packets of a flow take one lane of each channel under forwarding tables, and at the
//! ends of their ways where they choose these (D20, D27): such lanes are looked at by themselves, too.
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
use crate::routing::Tables;
use crate::routing::adaptive::first_lane;
use crate::routing::loads::credit_loop::CreditLoop;
use crate::scenario::Resolved;
use crate::scenario::credit_loops::{Loops, carried, groups};
use crate::scenario::flow_lane::injection_lane;
use std::collections::{BTreeMap, BTreeSet};

/// Part of what a channel carries from which on limits of flows ask it for too much: rates that fill it are rounded.
const ASKED_TOO_MUCH: f64 = 1.001;

/// A channel, or a lane of it, and what limits ask of it.
struct AskedMost {
    channel: ChannelId,
    /// The lane, where one is looked at by itself.
    lane: Option<u8>,
    /// Of what it carries.
    part: f64,
    /// What keeps it from carrying more, if its own rate does not.
    credit_loop: Option<CreditLoop>,
    /// The sink behind it takes less than it carries.
    is_sink: bool,
    /// Flows with limits of these classes count.
    classes: BTreeSet<usize>,
}

/// Channels at the ends of the way of a flow, with the lane of all its packets there, where packets choose their ways: one by the
/// flow's id at its source, the first of its group where it goes.
fn lanes_at_ends(resolved: &Resolved, id: usize) -> Vec<(ChannelId, u8)> {
    let (plan, graph) = (&resolved.plan, &resolved.layout.graph);
    let Some(adaptive) = resolved.routes.adaptive() else {
        return Vec::new();
    };
    let flow = &plan.flows[id];
    let width = adaptive.routing.width();
    let first = first_lane(width, plan.switch.lanes, flow.level);
    let own = injection_lane(graph, &resolved.routes, plan, id);
    let mut lanes = vec![(graph.host_channel(flow.source), own)];
    if adaptive.routing.any_lane().is_none() {
        lanes.push((graph.host_channel(flow.destination).reverse(), first));
    }
    lanes
}

/// The same of all channels of its way where forwarding tables tell them; of its host's channel alone where routes are set up.
fn lanes_by_tables(resolved: &Resolved, tables: &Tables, id: usize) -> Vec<(ChannelId, u8)> {
    let (plan, graph) = (&resolved.plan, &resolved.layout.graph);
    let (flow, map) = (&plan.flows[id], &tables.lanes);
    let first = graph.host_channel(flow.source);
    let begin = (first, injection_lane(graph, &resolved.routes, plan, id));
    if let Some(routes) = &plan.routes_of_flows {
        let hops = routes.of(id).windows(2);
        let hops = hops.map(|hop| (hop[1], map.lane(hop[0], hop[1], flow.level, 0).0));
        return [begin].into_iter().chain(hops).collect();
    }
    if plan.sets_up() {
        return vec![begin];
    }
    let path = tables.path(graph, flow.source, flow.destination, flow.level);
    let path = path.into_iter().flatten();
    path.map(|(channel, lane)| (channel, lane.0)).collect()
}

/// Channels of the way of a flow with the lane that all its packets take there, as far as each of these has a buffer of its own.
fn lanes_of(resolved: &Resolved, id: usize) -> Vec<(ChannelId, u8)> {
    let plan = &resolved.plan;
    let is_management = plan.classes[usize::from(plan.flows[id].class)].management;
    if is_management || plan.switch.sharing == BufferSharing::PortPool {
        return Vec::new();
    }
    match resolved.routes.tables() {
        Some(tables) => lanes_by_tables(resolved, tables, id),
        None => lanes_at_ends(resolved, id),
    }
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
        let goes_over = |id: usize| match most.lane {
            Some(lane) => lanes_of(self.resolved, id).contains(&(most.channel, lane)),
            None => self.way(id).contains(&most.channel),
        };
        let is_over = |id: usize| most.classes.contains(&of_flow(id)) && goes_over(id);
        let over = limited.iter().filter(|(id, _)| is_over(*id));
        let over: Vec<usize> = over.map(|(id, _)| of_flow(*id)).collect();
        let limits = match over.len() {
            1 => "the limit of 1 flow asks".to_owned(),
            several => format!("the limits of {several} flows ask"),
        };
        let (name, part) = (window.channel_name(most.channel), most.part);
        let carried = if most.is_sink {
            String::from("what the sink behind it takes")
        } else {
            carried(most.credit_loop.as_ref())
        };
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
            group.len() < classes.len() && Loops::of(self.resolved, group).may_hold()
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
        let plans: Vec<&ClassPlan> = classes.iter().map(|class| &plan.classes[*class]).collect();
        let loops = Loops::of(self.resolved, &plans);
        let one_lane = loops.of_each_lane();
        let mut asked = vec![0.0; window.graph.channels().len()];
        let mut by_lane: BTreeMap<(ChannelId, u8), f64> = BTreeMap::new();
        for &(id, flits) in limited.iter().filter(|(id, _)| is_meant(*id)) {
            // the ways of all flows are not kept: there may be many
            for channel in self.way(id) {
                asked[channel.index()] += flits;
            }
            if one_lane.is_some() {
                for place in lanes_of(self.resolved, id) {
                    *by_lane.entry(place).or_default() += flits;
                }
            }
        }
        let channels = window.graph.channel_ids();
        let channels = channels.filter(|channel| asked[channel.index()] > 0.0);
        let all = channels.map(|channel| {
            let flits = asked[channel.index()];
            self.asked_for(window, (channel, None), flits, &loops)
        });
        let of_lanes = by_lane.iter().filter_map(|(&(channel, lane), flits)| {
            let place = (channel, Some(lane));
            Some(self.asked_for(window, place, *flits, one_lane.as_ref()?))
        });
        let most = all.chain(of_lanes);
        let most = most.max_by(|a, b| a.part.total_cmp(&b.part))?;
        Some(AskedMost { classes, ..most })
    }

    /// What so many flits ask of a channel or a lane of it with such a loop, whoever sends them.
    fn asked_for(
        &self,
        window: &Window<'_>,
        (channel, lane): (ChannelId, Option<u8>),
        flits: f64,
        loops: &Loops<'_>,
    ) -> AskedMost {
        let is_last = window.graph.channel(channel).to.host().is_some();
        let sink = self.resolved.plan.host.sink_cycles_per_flit;
        let sink = sink.filter(|_| is_last).map_or(0.0, f64::from);
        let (pace, credits) = (window.time_of_flit(channel), loops.at(channel));
        let (time, slower) = (pace.max(sink), 1.0 / credits.rate());
        AskedMost {
            channel,
            lane,
            part: flits * time.max(slower) / window.cycles() as f64,
            credit_loop: (slower > time).then_some(credits),
            is_sink: sink > pace && slower <= time,
            classes: BTreeSet::new(),
        }
    }
}
