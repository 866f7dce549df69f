//! The length of a measurement in which so many packets come, as far as it can be foreseen.
//!
//! # Algorithm
//! Classes with a load make packets at its rate, or as they were counted, until their hosts have sent all that they may. A flow that
//! always has a packet sends no more than its share of its host's link, what the credits of its way let through, whole packets at the
//! rate of its limits, and whole windows in the time in which one comes back: flows that began together go together. One with a process sends what that makes, limits and windows let
//! through, and what is left over later. Where jobs came more slowly, they are foreseen as they came.
//! The flows of a class together send no more than the hosts that they go to take. What they send in a time arrives later by the
//! latency of their ways. What is left of flows with a size passes the channels of their ways one after the other at worst.
//!
//! Control is as it was counted, and where a known number of packets may be under way no more than that ([`windows`](super::windows));
//! before anything was counted, its flows have their share of the links and the windows that they begin with.
//!
//! Cost: O(flows * their changes) per length that is looked at, and some sixty of these.

use super::data::round_trip;
use super::shares::limits;
use super::window::{OVERLOAD, Window, mean_latency};
use crate::ids::HostId;
use crate::measure::FlowCounts;
use crate::plan::FlowPlan;
use crate::scenario::offered::rate_of_limit;
use std::collections::BTreeSet;
use std::ops::Range;

/// A length beyond all others \[cycles\].
const FOREVER: u64 = 1 << 53;
/// What flows with a size may take beside others, of the time that they take alone: channels between switches are not looked at.
const SHARED: u64 = 2;
/// Part of a packet that is rounding.
const ROUNDED: f64 = 1e-6;

/// A flow with its id and what it did.
type Numbered<'f> = (usize, (&'f FlowPlan, &'f FlowCounts));

/// What is known of all flows beside their plans.
pub(super) struct Shares {
    /// Flows by source.
    senders: Vec<u32>,
    /// From the start of a packet to its delivery \[cycles\].
    latency: f64,
    /// What a flit of each flow takes where its way lets the fewest through: alone, and beside all senders of its host \[cycles\].
    times: Vec<[f64; 2]>,
}

impl Window<'_> {
    /// What lengths are computed from for these classes.
    pub(super) fn link_shares(&self, classes: Range<usize>) -> Shares {
        let mut senders = vec![0; self.graph.hosts().len()];
        for flow in &self.plan().flows {
            senders[flow.source.index()] += 1;
        }
        let empty = (round_trip(self.graph, self.plan()) / 2 + self.packet_time()) as f64;
        let latency = mean_latency(self.series).max(empty);
        let time = |id: usize, flow: &FlowPlan| {
            let own = self.graph.host_channel(flow.source);
            let senders = f64::from(senders[flow.source.index()]);
            let times = self.way(id).into_iter().map(|(channel, time)| {
                let is_own = channel == own;
                [time, if is_own { time * senders } else { time }]
            });
            times.fold([0.0_f64; 2], |most, time| {
                [0, 1].map(|place: usize| most[place].max(time[place]))
            })
        };
        let flows = self.plan().flows.iter().enumerate();
        let times = flows.map(|(id, flow)| {
            let is_asked = classes.contains(&usize::from(flow.class));
            if is_asked { time(id, flow) } else { [0.0; 2] }
        });
        let times = times.collect();
        Shares {
            senders,
            latency,
            times,
        }
    }

    /// Packets of these classes to be expected in a measurement of so many cycles.
    pub(super) fn expected(&self, shares: &Shares, classes: Range<usize>, cycles: u64) -> f64 {
        classes
            .map(|number| self.expected_of(shares, number, cycles))
            .sum()
    }

    /// Packets of these classes to be expected in any measurement.
    pub(super) fn expected_ever(&self, shares: &Shares, classes: Range<usize>) -> f64 {
        self.expected(shares, classes, FOREVER)
    }

    /// The least length in which so many packets are to be expected, if there is one.
    pub(super) fn length_of(
        &self,
        shares: &Shares,
        classes: Range<usize>,
        packets: f64,
    ) -> Option<u64> {
        let is_enough =
            |cycles: u64| self.expected(shares, classes.clone(), cycles) + ROUNDED >= packets;
        first(is_enough)
    }

    /// The least length in which all flows with a size may be complete, if there is one that can be foreseen.
    pub(super) fn length_of_jobs(&self) -> Option<u64> {
        let plan = self.plan();
        let shares = self.link_shares(0..plan.classes.len());
        let jobs = || {
            let flows = plan.flows.iter().zip(self.flows).enumerate();
            flows.filter(|(_, (flow, _))| flow.flits.is_some())
        };
        let is_known = |flow: &FlowPlan| plan.classes[usize::from(flow.class)].control.is_none();
        if !jobs().all(|(_, (flow, _))| is_known(flow)) {
            return None;
        }
        let is_over = |(id, (flow, counts)): Numbered<'_>, cycles: u64| {
            let mean = plan.classes[usize::from(flow.class)].size.mean();
            let packets = left(flow, counts) / mean;
            let expected = self.expected_of_flow(&shares, (id, (flow, counts)), cycles);
            let came = self.as_they_came(&shares, (id, (flow, counts)), cycles);
            expected.min(came) + ROUNDED >= packets
        };
        let sent = first(|cycles| jobs().all(|job| is_over(job, cycles)))?;
        let taken = self.time_of(jobs()) as u64;
        let alone = sent.max(sent.min(self.cycles()) + taken) + shares.latency.ceil() as u64;
        Some(alone.saturating_mul(SHARED))
    }

    /// What is left of flows takes so long where it takes longest: on a channel of their ways, or at a host that they go to \[cycles\].
    fn time_of<'f>(&self, flows: impl Iterator<Item = Numbered<'f>>) -> f64 {
        let mut sinks = vec![0.0; self.graph.hosts().len()];
        let mut channels = vec![0.0; self.graph.channels().len()];
        for (id, (flow, counts)) in flows {
            let left = left(flow, counts);
            sinks[flow.destination.index()] += left * self.pace_of_sink(flow);
            for (channel, time) in self.way(id) {
                channels[channel.index()] += left * time;
            }
        }
        sinks.into_iter().chain(channels).fold(0.0, f64::max)
    }

    fn expected_of(&self, shares: &Shares, number: usize, cycles: u64) -> f64 {
        let (plan, class) = (self.plan(), &self.plan().classes[number]);
        let created = self.records.classes[number].created_packets;
        let is_of_probes = u16::try_from(number).is_ok_and(|number| plan.is_of_probes(number));
        let is_counted = class.control.is_some() && created > 0;
        if class.flows.is_some() && !is_of_probes && !is_counted {
            return self.expected_of_flows(shares, number, cycles);
        }
        let rate = self.rate(number);
        let through = self.rate_of_windows(shares.latency, number);
        // in a short time more may have been made than comes back
        let rate = through.map_or(rate, |through| rate.min(through));
        match self.most_packets(number) {
            Some(_) if self.done.contains(&number) => created as f64,
            Some(most) => {
                let made = |cycles: u64| (rate * cycles as f64).min(most as f64);
                made(self.warmup() + cycles) - made(self.warmup())
            }
            None => rate * cycles as f64,
        }
    }

    /// Of the flows of a class.
    fn expected_of_flows(&self, shares: &Shares, number: usize, cycles: u64) -> f64 {
        let plan = self.plan();
        let flows = || {
            let flows = plan.flows.iter().zip(self.flows).enumerate();
            flows.filter(|(_, (flow, _))| usize::from(flow.class) == number)
        };
        let sent = flows().map(|flow| self.expected_of_flow(shares, flow, cycles));
        let sent: f64 = sent.sum();
        let sinks: BTreeSet<HostId> = flows().map(|(_, (flow, _))| flow.destination).collect();
        let pace = flows().map(|(_, (flow, _))| self.pace_of_sink(flow));
        let pace = pace.fold(1.0, f64::max);
        let time = pace * plan.classes[number].size.mean();
        sent.min(sinks.len() as f64 * cycles as f64 / time)
    }

    /// How long a flit keeps the host that a flow goes to \[cycles\].
    fn pace_of_sink(&self, flow: &FlowPlan) -> f64 {
        let sink = f64::from(self.plan().host.sink_cycles_per_flit.unwrap_or(0));
        let channel = self.graph.host_channel(flow.destination).reverse();
        self.cycles_per_flit(channel).max(sink)
    }

    /// Of a flow: those that come in so many cycles.
    fn expected_of_flow(
        &self,
        shares: &Shares,
        (id, (flow, counts)): Numbered<'_>,
        cycles: u64,
    ) -> f64 {
        let plan = self.plan();
        let class = &plan.classes[usize::from(flow.class)];
        let Some(start) = counts.sent.start.or_else(|| self.known_start(flow)) else {
            return 0.0;
        };
        // what comes has been sent before
        let latency = shares.latency as u64;
        let [warm, end] =
            [self.warmup(), self.warmup() + cycles].map(|at| at.saturating_sub(latency));
        let from = start.max(warm);
        let to = flow.stop.map_or(end, |stop| stop.min(end));
        if from >= to {
            return 0.0;
        }
        let mean = class.size.mean();
        let [alone, beside] = shares.times[id];
        let circle = self.circle(shares.latency, flow);
        if let Some(process) = &flow.process {
            let made = process.load / self.cycles_per_flit(self.graph.host_channel(flow.source));
            let time = circle.map_or(0.0, |circle| circle.cycles / circle.first / mean);
            let sent = |at: u64| self.sent_until(flow, start, (made, alone.max(time)), at) / mean;
            let packets = sent(end) - sent(warm);
            let left = flow.flits.map(|_| left(flow, counts) / mean);
            return packets.min(left.unwrap_or(f64::INFINITY));
        }
        let pace = self.time_of_flit(self.graph.host_channel(flow.source));
        let senders = f64::from(shares.senders[flow.source.index()]);
        let time = (pace * senders).max(beside);
        let by_limit = limits(flow, [from, to]);
        let by_limit =
            by_limit.map(|(limit, cycles)| rate_of_limit(limit, &class.size, pace) * cycles as f64);
        let by_limit = by_limit.sum::<f64>() / mean;
        let by_link = (to - from) as f64 / time / mean;
        let mut packets = (by_limit + ROUNDED).floor().min(by_link);
        if let Some(circle) = circle {
            let periods = ((to - from) as f64 / circle.cycles).floor();
            packets = packets.min(periods * circle.first);
        }
        // of slots what was counted
        if !plan.is_backlogged(flow) {
            let until = (self.warmup() + self.cycles()).max(start + 1) - start;
            let rate = counts.sent.created.packets as f64 / until as f64;
            packets = packets.min(rate * (to - from) as f64);
        }
        match flow.flits {
            Some(_) => packets.min(left(flow, counts) / mean),
            None => packets,
        }
    }

    /// Flits that a flow with a process sends until a cycle, made at a rate, where one takes a time at least: at some time its queue was
    /// empty last.
    fn sent_until(&self, flow: &FlowPlan, start: u64, (rate, least): (f64, f64), at: u64) -> f64 {
        let pace = self.time_of_flit(self.graph.host_channel(flow.source));
        let most = 1.0 / pace.max(least);
        let made = |until: u64| {
            let until = flow.stop.map_or(until, |stop| stop.min(until));
            rate * until.saturating_sub(start) as f64
        };
        let through = |from: u64| {
            let limits = limits(flow, [from, at]);
            let through = limits.map(|(limit, cycles)| {
                rate_of_limit(limit, self.sizes(flow), pace).min(most) * cycles as f64
            });
            through.sum::<f64>()
        };
        let changes = flow.changes.iter().map(|change| change.0);
        let times = changes.filter(|time| (start..at).contains(time));
        let times = times.chain([start.min(at), at]);
        let sent = times.map(|time| made(time) + through(time));
        sent.fold(f64::INFINITY, f64::min)
    }

    /// Packets of a flow that always has one in so many cycles, at the rate at which they came, where fewer came than were expected.
    fn as_they_came(
        &self,
        shares: &Shares,
        (id, (flow, counts)): Numbered<'_>,
        cycles: u64,
    ) -> f64 {
        let (arrived, mean) = (&counts.arrived, self.sizes(flow).mean());
        let came = arrived.received as f64 / mean;
        let expected = self.expected_of_flow(shares, (id, (flow, counts)), self.cycles());
        let latency = arrived.network.sum as f64 / arrived.tagged.max(1) as f64;
        let start = counts.sent.start.unwrap_or(0).max(self.warmup());
        let filled = (start - self.warmup()) as f64 + latency;
        let time = self.cycles() as f64 - filled;
        if came < 2.0 || time <= 0.0 || expected <= OVERLOAD * (came + 2.0) {
            return f64::INFINITY;
        }
        came / time * (cycles as f64 - filled).max(0.0)
    }

    /// When a flow begins by itself.
    pub(super) fn known_start(&self, flow: &FlowPlan) -> Option<u64> {
        let class = &self.plan().classes[usize::from(flow.class)];
        let asks = class.requests.is_some() || class.begins();
        (!asks && flow.phase.is_none() && flow.after.is_empty()).then_some(flow.start)
    }
}

/// Flits of a flow with a size that were not delivered before the measurement.
fn left(flow: &FlowPlan, counts: &FlowCounts) -> f64 {
    let flits = flow.flits.unwrap_or_default();
    let arrived = &counts.arrived;
    (flits + arrived.received).saturating_sub(arrived.delivered.flits) as f64
}

/// The least length that will do, if any does where one that will is followed by others.
fn first(will_do: impl Fn(u64) -> bool) -> Option<u64> {
    if !will_do(FOREVER) {
        return None;
    }
    let mut most = 1;
    while !will_do(most) {
        most *= 2;
    }
    let mut least = most / 2;
    while most - least > 1 {
        let middle = least.midpoint(most);
        if will_do(middle) {
            most = middle;
        } else {
            least = middle;
        }
    }
    Some(most)
}
