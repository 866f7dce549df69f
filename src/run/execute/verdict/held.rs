//! Flows that always have a packet and get less than they may send, because the fabric holds them back.
//!
//! # Algorithm
//! Looked at are flows without process, slots, size and control, and without a window or with one that had room: nothing but the
//! fabric, their limit and their host's link keeps them from sending. A window had room when there were fewer than 0.9 of its
//! packets on their way in the mean, by Little's law: packets delivered per cycle times their latency and the window's delay. One of
//! which nothing arrives in more than twice that delay waits for no acknowledgement.
//! When a host's link idles though it has flows without a limit, the windows of all of these are full, if windows alone are the cause:
//! so each such flow then has fewer than 0.9 of its window times the part in which the link idles, and of the part in which its own
//! packets leave, on its way in the mean, or is not held back.
//!
//! Over the part of the measurement in which it is active,
//! - a flow with a limit may send what that gives it (its changes included; nothing counts where there is no limit), no more than
//!   its host's link carries, and gets the flits that arrive;
//! - a flow that never has a limit may send all that its host's link carries, and counts as held back only where that link
//!   carries less, whoever's packets these are.
//!
//! A flow is held back when it gets less by what an overload of 10 % leaves behind, two packets and the time of filling the fabric
//! allowed for: there is no chance in it. The cause is a channel of its way, or under adaptive routing the channels that all its
//! shortest ways need ([`cut`](super::cut)), the first of these that is true of one: it carries 0.98 of what it can; its credits
//! come back too late for more than it carries, within 10 %; the sink behind it takes 0.98 of what it can. Without any of them it
//! is the packets ahead of it that wait, told with the channel of its way that carries most, unless other flows of the same host, or
//! what links repeat, may have taken its turns: of a flow with a limit nothing is said then.
//!
//! Where no flow is held back by so much, the limits together may still ask a channel for more than it carries. Then all classes
//! with flows over it are.
//!
//! A flow with a limit whose host sends nothing else, on links that repeat nothing, loses its turns to the fabric alone: it is held
//! back by 2 %, too, where one of the first three causes is there.
//!
//! Cost: O(flows), and for those held back, or with a limit, that of their ways.

use super::super::Run;
use super::window::{FULL_CHANNEL, OVERLOAD, Window};
use crate::ids::ChannelId;
use crate::measure::FlowCounts;
use crate::plan::{FlowPlan, Limit, ONE_FLIT_PER_CYCLE, Window as FlowWindow};
use crate::scenario::credit_loops::{Loops, words};
use crate::topology::Endpoint;
use std::collections::BTreeSet;

/// Part of what credits let through from which on they are the cause.
const HELD_BY_CREDITS: f64 = 0.9;

/// Part of what a channel carries from which on limits of flows ask it for too much: rates that fill it are rounded.
const ASKED_TOO_MUCH: f64 = 1.001;

/// Part of a window from which on it may be full: packets on their way come in waves.
const HELD_BY_WINDOW: f64 = 0.9;

/// Part of what a limit lets a flow send that is missing where the fabric alone may be the cause.
const CLEARLY_LESS: f64 = 0.02;

/// A flow that is held back.
#[derive(Clone, Debug)]
pub(in crate::run::execute) struct Held {
    /// Its class.
    class: usize,
    /// What it gets of what it may send.
    part: f64,
    /// Which it is, what it gets, and why.
    words: String,
}

/// What a flow may send, and gets.
#[derive(Clone, Copy, Debug)]
struct Shares {
    /// \[flits\]
    may: f64,
    /// \[flits\]
    gets: f64,
    /// What it may send of its host's link, where a limit says so.
    limit: Option<f64>,
    /// What it gets of its host's link.
    part: f64,
    /// What is missing is what an overload of 10 % leaves behind.
    is_far: bool,
}

/// The flow that gets least of what it may send, of a class or of all, and how many there are beside it; in words.
pub(super) fn worst(held: &[Held], class: Option<usize>) -> Option<String> {
    let of_class = |held: &&Held| class.is_none_or(|class| held.class == class);
    let all = || held.iter().filter(of_class);
    let worst = all().min_by(|a, b| a.part.total_cmp(&b.part))?;
    Some(match all().count() - 1 {
        0 => worst.words.clone(),
        1 => format!("{}; 1 more flow is held back", worst.words),
        more => format!("{}; {more} more flows are held back", worst.words),
    })
}

/// Flits that the limits of a flow let it send from one cycle to another, and whether there is any.
fn limited(flow: &FlowPlan, pace: f64, [from, to]: [u64; 2]) -> (f64, bool) {
    let (mut flits, mut is_limited) = (0.0, false);
    let changes = flow.changes.iter().copied();
    let limits: Vec<(u64, Limit)> = [(0, flow.limit)].into_iter().chain(changes).collect();
    for (number, &(at, limit)) in limits.iter().enumerate() {
        let end = limits.get(number + 1).map_or(to, |next| next.0.min(to));
        let cycles = end.saturating_sub(at.max(from)) as f64;
        let link = 1.0 / pace;
        let rate = match limit {
            Limit::None => continue,
            Limit::Rate(rate) => (rate as f64 / ONE_FLIT_PER_CYCLE as f64).min(link),
            Limit::Delay { entry, shift } => {
                link / (1.0 + f64::from(entry) / f64::from(1_u32 << shift))
            }
        };
        is_limited |= cycles > 0.0;
        flits += rate * cycles;
    }
    (flits, is_limited)
}

/// Packets of a flow with a window on their way in the mean, acknowledgements included, in so many cycles: Little's law.
fn on_their_way(window: FlowWindow, counts: &FlowCounts, cycles: f64) -> f64 {
    let arrived = &counts.arrived;
    let latencies = arrived.network.sum as f64 + arrived.tagged as f64 * window.delay as f64;
    latencies / cycles
}

/// Whether nothing but its limit, its host's link and the fabric keeps a flow from sending.
fn is_free(window: &Window<'_>, flow: &FlowPlan, counts: &FlowCounts) -> bool {
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
        let plan = &self.resolved.plan;
        let flows = plan.flows.iter().zip(counts).enumerate();
        let held = flows.filter_map(|(id, (flow, counts))| {
            if !is_free(window, flow, counts) {
                return None;
            }
            let shares = window.shares(flow, counts)?;
            if !window.is_beyond_window(flow, counts, shares) {
                return None;
            }
            let why = self.why_held(window, id, shares)?;
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
            };
            Some((held, shares.is_far))
        });
        let held: Vec<(Held, bool)> = held.collect();
        if !held.iter().any(|(_, is_far)| *is_far) {
            let by_limits = self.asked_by_limits(window, counts);
            if !by_limits.is_empty() {
                return by_limits;
            }
        }
        held.into_iter().map(|(held, _)| held).collect()
    }

    /// Flows of which each gets nearly what it may send, and which ask a channel for more than it carries together.
    fn asked_by_limits(&self, window: &Window<'_>, counts: &[FlowCounts]) -> Vec<Held> {
        let plan = &self.resolved.plan;
        let may_send = |id: usize| {
            let flow = &plan.flows[id];
            let (flits, is_limited) = window.may_send(flow, &counts[id])?;
            (is_limited && is_free(window, flow, &counts[id])).then_some((id, flits))
        };
        // the ways of all flows are not kept: there may be many
        let limited = || (0..plan.flows.len()).filter_map(may_send);
        let mut asked = vec![0.0; window.graph.channels().len()];
        for (id, flits) in limited() {
            for channel in self.way(id) {
                asked[channel.index()] += flits;
            }
        }
        let part = |channel: ChannelId| {
            asked[channel.index()] * window.time_of_flit(channel) / window.cycles() as f64
        };
        let channels = window.graph.channel_ids();
        let parts = channels.map(|channel| (channel, part(channel)));
        let most = parts.max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((channel, part)) = most.filter(|(_, part)| *part > ASKED_TOO_MUCH) else {
            return Vec::new();
        };
        let over = limited().filter(|(id, _)| self.way(*id).contains(&channel));
        let classes: Vec<usize> = over.map(|(id, _)| plan.flows[id].class.into()).collect();
        let words = format!(
            "the limits of {} flows ask channel {} for {part:.3} of what it carries",
            classes.len(),
            window.channel_name(channel)
        );
        let of_class = |class| Held {
            class,
            part: 1.0 / part,
            words: words.clone(),
        };
        let classes: BTreeSet<usize> = classes.into_iter().collect();
        classes.into_iter().map(of_class).collect()
    }

    /// What holds a flow back.
    fn why_held(&self, window: &Window<'_>, id: usize, shares: Shares) -> Option<String> {
        let (plan, graph) = (&self.resolved.plan, window.graph);
        let flow = &plan.flows[id];
        let class = &plan.classes[usize::from(flow.class)];
        let is_alone = self.is_alone(id) && plan.link_retry.is_none();
        if !shares.is_far && !is_alone {
            return None;
        }
        let way = self.way(id);
        let carried = |channel: &ChannelId| (*channel, window.utilisation(*channel));
        let fullest = way.iter().map(carried).max_by(|a, b| a.1.total_cmp(&b.1));
        let (channel, most) = fullest?;
        let fullest = window.channel_name(channel);
        if most >= FULL_CHANNEL {
            return Some(format!(
                "channel {fullest} carries {most:.3} of what it can"
            ));
        }
        let routes = &self.resolved.routes;
        if routes.tables().is_none() && plan.routes_of_flows.is_none() {
            let ends = [flow.source, flow.destination];
            let full = window.full_cut(ends);
            if full.is_some() {
                return full;
            }
        }
        let loops = Loops::of(self.resolved, &[class]);
        for &channel in &way {
            let credits = loops.at(channel);
            let pace = f64::from(graph.channel(channel).timing.cycles_per_flit);
            let (most, part) = (credits.rate() * pace, window.utilisation(channel));
            if most < 1.0 && part >= HELD_BY_CREDITS * most {
                let (name, credits) = (window.channel_name(channel), words(&credits));
                return Some(format!(
                    "the credits of channel {name}, which carries {part:.3} of what it can, let no more through than {credits}"
                ));
            }
        }
        if let Some(sink) = plan.host.sink_cycles_per_flit {
            let received = window.records.hosts[flow.destination.index()].received_flits;
            let part = received as f64 * f64::from(sink) / window.cycles() as f64;
            if part >= FULL_CHANNEL {
                let name = graph.endpoint_name(Endpoint::Host(flow.destination));
                return Some(format!("{name} takes {part:.3} of what it can"));
            }
        }
        let is_known = shares.is_far && (shares.limit.is_none() || is_alone);
        let channels = if self.knows_ways() {
            "channels"
        } else {
            "channels at the hosts"
        };
        is_known.then(|| {
            format!(
                "packets ahead of its own wait on their way, of whose {channels} {fullest} carries most, {most:.3} of what it can"
            )
        })
    }

    /// Whether nothing else is sent by the host of a flow.
    fn is_alone(&self, id: usize) -> bool {
        let plan = &self.resolved.plan;
        let source = plan.flows[id].source;
        let mut others = plan.flows.iter().enumerate();
        let mut classes = plan.classes.iter().filter(|class| class.flows.is_none());
        !others.any(|(other, flow)| other != id && flow.source == source)
            && !classes.any(|class| class.hosts.binary_search(&source).is_ok())
    }

    /// Whether the channels between switches that a flow takes are known.
    fn knows_ways(&self) -> bool {
        let plan = &self.resolved.plan;
        let has_tables = self.resolved.routes.tables().is_some() && !plan.sets_up();
        has_tables || plan.routes_of_flows.is_some()
    }

    /// The channels of a flow; those of its hosts where more is not known.
    fn way(&self, id: usize) -> Vec<ChannelId> {
        let (plan, graph) = (&self.resolved.plan, &self.resolved.layout.graph);
        if let Some(routes) = &plan.routes_of_flows {
            return routes.of(id).to_vec();
        }
        let flow = &plan.flows[id];
        let level = plan.classes[usize::from(flow.class)].service_levels[0];
        let tables = self.resolved.routes.tables().filter(|_| !plan.sets_up());
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

impl Window<'_> {
    /// The part of the measurement in which a flow is active, if there is one.
    fn active(&self, flow: &FlowPlan, counts: &FlowCounts) -> Option<[u64; 2]> {
        let end = self.warmup() + self.cycles();
        let from = counts.sent.start?.max(self.warmup());
        let to = flow.stop.map_or(end, |stop| stop.min(end));
        (from < to).then_some([from, to])
    }

    /// Whether the window of a flow, if it has one, keeps nothing from being sent.
    fn has_room(&self, flow: &FlowPlan, counts: &FlowCounts) -> bool {
        let (Some(window), Some([from, to])) = (flow.window, self.active(flow, counts)) else {
            return flow.window.is_none();
        };
        let cycles = (to - from) as f64;
        if counts.arrived.received == 0 {
            // nothing came that it would have waited for: not even the first packets arrive
            return cycles > 2.0 * window.delay as f64;
        }
        let on_their_way = on_their_way(window, counts, cycles);
        counts.arrived.tagged > 0 && on_their_way < HELD_BY_WINDOW * f64::from(window.packets)
    }

    /// Whether more than the window of a flow without a limit, if it has one, keeps its host's link idle: by the window alone it is
    /// full while that idles, and a packet of the flow is on its way while one leaves.
    fn is_beyond_window(&self, flow: &FlowPlan, counts: &FlowCounts, shares: Shares) -> bool {
        let (Some(window), None) = (flow.window, shares.limit) else {
            return true;
        };
        let Some([from, to]) = self.active(flow, counts) else {
            return true;
        };
        let idle = (1.0 - shares.gets / shares.may).max(0.0);
        let by_window = f64::from(window.packets) * idle + shares.part;
        on_their_way(window, counts, (to - from) as f64) < HELD_BY_WINDOW * by_window
    }

    /// Flits that its limits let a flow send in the measurement, and whether it has any.
    fn may_send(&self, flow: &FlowPlan, counts: &FlowCounts) -> Option<(f64, bool)> {
        let pace = self.time_of_flit(self.graph.host_channel(flow.source));
        Some(limited(flow, pace, self.active(flow, counts)?))
    }

    /// What a flow may send and gets, where that is markedly less.
    fn shares(&self, flow: &FlowPlan, counts: &FlowCounts) -> Option<Shares> {
        let start = counts.sent.start?;
        let [from, to] = self.active(flow, counts)?;
        let cycles = (to - from) as f64;
        let channel = self.graph.host_channel(flow.source);
        let pace = self.time_of_flit(channel);
        let (limited, is_limited) = limited(flow, pace, [from, to]);
        let received = counts.arrived.received as f64;
        let (may, gets) = if is_limited {
            (limited, received)
        } else {
            (cycles / pace, self.records.channels.flits(channel) as f64)
        };
        // the first packets come when the fabric is filled, and a packet may be cut at each edge
        let largest = self.plan().classes[usize::from(flow.class)].size.largest();
        let latency = counts.arrived.network.sum as f64 / counts.arrived.tagged.max(1) as f64;
        let filling = (latency - from.saturating_sub(start) as f64).max(0.0);
        let allowed = 2.0 * f64::from(largest) + may / cycles * filling;
        let missing = may - gets - allowed;
        let is_far = missing > (1.0 - 1.0 / OVERLOAD) * may;
        let is_less = is_far || is_limited && missing > CLEARLY_LESS * may;
        // in words, of the rate of the link, repeats or not
        let step = f64::from(self.graph.channel(channel).timing.cycles_per_flit);
        let of_link = |flits: f64| flits * step / cycles;
        is_less.then(|| Shares {
            may,
            gets,
            limit: is_limited.then(|| of_link(may)),
            part: of_link(received),
            is_far,
        })
    }
}
