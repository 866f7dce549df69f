//! Flows that always have a packet and get less than they may send, because the fabric holds them back.
//!
//! # Algorithm
//! Looked at are flows without process, slots, size and control, and without a window or with one that had room: nothing but the
//! fabric, their limit and their host's link keeps them from sending.
//!
//! What each may send, and gets, is that of [`shares`](super::shares).
//!
//! A flow is held back when it gets less by what an overload of 10 % leaves behind, two packets and the time of filling the fabric
//! allowed for: there is no chance in it. The cause is a channel of its way, or under adaptive routing the channels that all its
//! shortest ways need ([`cut`](super::cut)), the first of these that is true of one: it carries 0.98 of what it can; its credits
//! come back too late for more than it carries, or headers are routed one by one behind it, within 10 %; the sink behind it takes 0.98 of what it can. Without any of them it
//! is the packets ahead of it that wait, told with the channel of its way that carries most, unless other flows of the same host, or
//! what links repeat, may have taken its turns: of a flow with a limit nothing is said then.
//!
//! Where no flow is held back by so much, the limits together may still ask a channel for more than it carries
//! ([`limits`](super::limits)).
//!
//! Flows with a process that may offer more than their windows let through are told with them ([`windows`](super::windows)).
//!
//! A flow with a limit whose host sends nothing else, on links that repeat nothing, loses its turns to the fabric alone: it is held
//! back by 2 %, too, where one of the first three causes is there.
//!
//! Cost: O(flows), and for those held back, or with a limit, that of their ways.

use super::super::Run;
use super::beside::{Beside, Own};
use super::shares::Shares;
use super::window::{FULL_CHANNEL, Window};
use crate::ids::ChannelId;
use crate::measure::FlowCounts;
use crate::plan::FlowPlan;
use crate::routing::loads::credit_loop::CreditLoop;
use crate::scenario::credit_loops::{Loops, holder, words};
use crate::topology::Endpoint;
use std::cell::OnceCell;

/// Part of what credits let through from which on they are the cause.
const HELD_BY_CREDITS: f64 = 0.9;

/// A flow that is held back.
#[derive(Clone, Debug)]
pub(in crate::run::execute) struct Held {
    /// Its class.
    pub(super) class: usize,
    /// What it gets of what it may send.
    pub(super) part: f64,
    /// Which it is, what it gets, and why.
    pub(super) words: String,
    /// That is certain: else a longer measurement tells.
    pub(super) is_sure: bool,
}

/// The flow that gets least of what it may send, of a class or of all, and how many there are beside it; in words.
pub(super) fn worst(held: &[Held], class: Option<usize>) -> Option<String> {
    let of_class = |held: &&Held| held.is_sure && class.is_none_or(|class| held.class == class);
    let all = || held.iter().filter(of_class);
    let worst = all().min_by(|a, b| a.part.total_cmp(&b.part))?;
    Some(match all().count() - 1 {
        0 => worst.words.clone(),
        1 => format!("{}; 1 more flow is held back", worst.words),
        more => format!("{}; {more} more flows are held back", worst.words),
    })
}

/// A flow, of a class or of all, of which only a longer measurement tells whether it is held back; in words.
pub(super) fn doubtful(held: &[Held], class: Option<usize>) -> Option<String> {
    let of_class = |held: &&Held| class.is_none_or(|class| held.class == class);
    let all = held.iter().filter(of_class).filter(|held| !held.is_sure);
    let by_part = |one: &&Held, other: &&Held| one.part.total_cmp(&other.part);
    all.min_by(by_part).map(|held| held.words.clone())
}

/// Whether nothing but its limit, its host's link and the fabric keeps a flow from sending.
pub(super) fn is_free(window: &Window<'_>, flow: &FlowPlan, counts: &FlowCounts) -> bool {
    let plan = window.plan();
    let class = &plan.classes[usize::from(flow.class)];
    let is_endless = plan.is_backlogged(flow) && flow.flits.is_none();
    is_endless && class.control.is_none() && window.has_room(flow, counts)
}

impl Run<'_> {
    /// The flows that are held back.
    pub(in crate::run::execute) fn held_back(
        &self,
        window: &Window<'_>,
        counts: &[FlowCounts],
    ) -> Vec<Held> {
        let (plan, lone) = (&self.resolved.plan, self.lone());
        let beside = Beside::new(window, counts);
        let flows = plan.flows.iter().zip(counts).enumerate();
        let held = flows.filter_map(|(id, (flow, counts))| {
            if !is_free(window, flow, counts) {
                return None;
            }
            let is_lone = lone[flow.source.index()];
            let shares = window.shares(flow, counts, is_lone)?;
            if !window.is_beyond_window(flow, counts, shares) {
                return None;
            }
            let why = self.why_held(window, (id, &beside), (shares, is_lone))?;
            let [from, to] = [flow.source, flow.destination]
                .map(|host| window.graph.endpoint_name(Endpoint::Host(host)));
            let part = shares.part;
            let gets = match shares.limit {
                Some(limit) => format!("gets {part:.3} of its link where its limit is {limit:.3}"),
                None => format!("always has a packet and gets {part:.3} of its link"),
            };
            let held = Held {
                class: usize::from(flow.class),
                part: shares.gets / shares.may,
                words: format!("flow {id} ({from} to {to}) {gets}: {why}"),
                is_sure: true,
            };
            Some((held, shares.is_far))
        });
        let held: Vec<(Held, bool)> = held.collect();
        let is_far = held.iter().any(|(_, is_far)| *is_far);
        let mut held: Vec<Held> = held.into_iter().map(|(held, _)| held).collect();
        if !is_far {
            let by_limits = self.asked_by_limits(window, counts, &lone);
            if by_limits.iter().any(|held| held.is_sure) {
                return by_limits;
            }
            held.extend(by_limits);
        }
        held.extend(self.full_windows(window, counts));
        held
    }

    /// What holds a flow back.
    fn why_held(
        &self,
        window: &Window<'_>,
        (id, beside): (usize, &Beside<'_>),
        (shares, has_host): (Shares, bool),
    ) -> Option<String> {
        let plan = &self.resolved.plan;
        let flow = &plan.flows[id];
        let is_alone = has_host && plan.link_retry.is_none();
        if !shares.is_far && !is_alone {
            return None;
        }
        let way = self.way(id);
        let own = beside.own(id);
        let carried = |channel: &ChannelId| (*channel, beside.carried(*channel, &own));
        let fullest = way.iter().map(carried).max_by(|a, b| a.1.total_cmp(&b.1));
        let (channel, most) = fullest?;
        let fullest = window.channel_name(channel);
        if most >= FULL_CHANNEL {
            return Some(format!(
                "channel {fullest} carries {most:.3} of what it can"
            ));
        }
        let class = &plan.classes[usize::from(flow.class)];
        let has_tables = self.resolved.tables_of(class).is_some();
        if !has_tables && plan.routes_of_flows.is_none() {
            let ends = [flow.source, flow.destination];
            let full = window.full_cut(ends);
            if full.is_some() {
                return full;
            }
        }
        let credits = self.short_credits((flow, has_host), &way, (beside, &own));
        if credits.is_some() {
            return credits;
        }
        let sink = self.full_sink(flow, (beside, &own));
        if sink.is_some() {
            return sink;
        }
        let is_known = shares.is_far && (shares.limit.is_none() || is_alone);
        let channels = if self.knows_way(flow) {
            "channels"
        } else {
            "channels at the hosts"
        };
        let whose = if plan.flows.len() == 1 && plan.classes.len() == 1 {
            "its own packets wait"
        } else {
            "packets ahead of its own wait"
        };
        is_known.then(|| {
            format!(
                "{whose} on their way, of whose {channels} {fullest} carries most, {most:.3} of what it can"
            )
        })
    }

    /// The sink of a flow that takes what it can.
    fn full_sink(&self, flow: &FlowPlan, (beside, own): (&Beside<'_>, &Own)) -> Option<String> {
        let (window, sink) = (beside.window, self.resolved.plan.host.sink_cycles_per_flit?);
        let received = window.records.hosts[flow.destination.index()].received_flits;
        let last = window.graph.host_channel(flow.destination).reverse();
        let part = beside.rate(last, received, own) * f64::from(sink);
        let name = window.graph.endpoint_name(Endpoint::Host(flow.destination));
        (part >= FULL_CHANNEL).then(|| format!("{name} takes {part:.3} of what it can"))
    }

    /// The channel on the way of a flow whose credits let no more through than what it carries.
    fn short_credits(
        &self,
        (flow, has_host): (&FlowPlan, bool),
        way: &[ChannelId],
        (beside, own): (&Beside<'_>, &Own),
    ) -> Option<String> {
        let class = &self.resolved.plan.classes[usize::from(flow.class)];
        let loops = Loops::of(self.resolved, &[class]);
        let one_lane = loops.of_one_lane();
        way.iter().enumerate().find_map(|(place, &channel)| {
            // all packets of a flow take one lane: nobody else's are on the channel of a host that sends nothing else
            let is_alone = place == 0 && has_host;
            let loops = if is_alone { &one_lane } else { &loops };
            let credits = self.credits(loops, flow, (way, place));
            let graph = &self.resolved.layout.graph;
            let pace = f64::from(graph.channel(channel).timing.cycles_per_flit);
            let (most, part) = (credits.rate() * pace, beside.carried(channel, own));
            (most < 1.0 && part >= HELD_BY_CREDITS * most).then(|| {
                let (name, lets) = (beside.window.channel_name(channel), words(&credits));
                let (who, verb) = holder(&credits);
                format!(
                    "the {who} channel {name}, which carries {part:.3} of what it can, {verb} no more through than {lets}"
                )
            })
        })
    }

    /// By host, whether it sends one flow and nothing else.
    fn lone(&self) -> Vec<bool> {
        let plan = &self.resolved.plan;
        let mut senders = vec![0_u32; self.resolved.layout.graph.hosts().len()];
        for flow in &plan.flows {
            senders[flow.source.index()] += 1;
        }
        let others = plan.classes.iter().filter(|class| class.flows.is_none());
        for host in others.flat_map(|class| &class.hosts) {
            senders[host.index()] += 2;
        }
        senders.into_iter().map(|senders| senders == 1).collect()
    }

    /// Whether the channels between switches that a flow takes are known.
    fn knows_way(&self, flow: &FlowPlan) -> bool {
        let plan = &self.resolved.plan;
        let class = &plan.classes[usize::from(flow.class)];
        let has_tables = self.resolved.tables_of(class).is_some() && !plan.sets_up();
        has_tables || plan.routes_of_flows.is_some()
    }

    /// Tells the channels of the way of a flow, and what a flit takes there.
    pub(in crate::run::execute) fn times_on_ways(&self) -> impl Fn(usize) -> Vec<(ChannelId, f64)> {
        let (plan, graph) = (&self.resolved.plan, &self.resolved.layout.graph);
        let loops: Vec<OnceCell<Loops<'_>>> =
            plan.classes.iter().map(|_| OnceCell::new()).collect();
        move |id| {
            let flow = &plan.flows[id];
            let class = usize::from(flow.class);
            let loops =
                loops[class].get_or_init(|| Loops::of(self.resolved, &[&plan.classes[class]]));
            let way = self.way(id);
            let time = |place: usize| {
                let channel = way[place];
                let credits = self.credits(loops, flow, (&way, place)).rate();
                let pace = plan.time_of_flit(graph, channel, plan.classes[class].size.smallest());
                (channel, pace.max(1.0 / credits))
            };
            (0..way.len()).map(time).collect()
        }
    }

    /// The credit loop of a place on a way; between the ends of one that is not known lie other channels.
    fn credits(
        &self,
        loops: &Loops<'_>,
        flow: &FlowPlan,
        (way, place): (&[ChannelId], usize),
    ) -> CreditLoop {
        let next = way.get(place + 1).filter(|_| self.knows_way(flow));
        let channel = way[place];
        // where packets choose their ways those of a flow take one lane of the host's channel (D27)
        if place == 0 && self.resolved.routes.tables().is_none() {
            return loops.of_one_lane().at(channel);
        }
        next.map_or_else(|| loops.at(channel), |&next| loops.at_before(channel, next))
    }

    /// The channels of a flow; those of its hosts where more is not known.
    pub(super) fn way(&self, id: usize) -> Vec<ChannelId> {
        let (plan, graph) = (&self.resolved.plan, &self.resolved.layout.graph);
        if let Some(routes) = &plan.routes_of_flows {
            return routes.of(id).to_vec();
        }
        let flow = &plan.flows[id];
        let level = flow.level;
        let class = &plan.classes[usize::from(flow.class)];
        let tables = self.resolved.tables_of(class).filter(|_| !plan.sets_up());
        let path =
            tables.and_then(|tables| tables.path(graph, flow.source, flow.destination, level));
        let ends = || {
            let last = graph.host_channel(flow.destination).reverse();
            vec![graph.host_channel(flow.source), last]
        };
        path.map_or_else(ends, |path| {
            path.into_iter().map(|(channel, _)| channel).collect()
        })
    }
}
