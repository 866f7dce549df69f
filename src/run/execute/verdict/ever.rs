//! What is sent at all, and from when on: what a longer measurement can find.
//!
//! # Algorithm
//! The packets of a class are at most those of its hosts where their number is limited, else those of its flows: of one with a
//! size as many as it takes of the smallest, of one that stops no more than its host's link takes until then. Classes without
//! such a limit, of messages, answers and probes have no bound here.
//!
//! After a measurement a flow sends no more than is possible until its stop, or until the first limit of 0 that no other one follows
//! (D30), nor more than its window allows, and what it has sent before comes at most once. Control and buckets of hosts (D46) are not looked into: no bound then.

use super::data::LEAST_PACKETS;
use super::shares::limits;
use super::window::Window;
use crate::measure::{ClassRecords, FlowCounts};
use crate::plan::{FlowPlan, Limit, Scheduler};
use std::ops::Range;

/// Part that is no difference: of what was made in a measurement and comes in it, of what a class makes in all and is expected to have made.
const FROM_BEFORE: f64 = 0.02;

/// Part of what is made that does not come, from which on it is told.
const FILLS: f64 = 0.1;

impl Window<'_> {
    /// That hosts with limited numbers of packets made them before the measurement, in which they come; in words.
    pub(super) fn draining(&self) -> Option<String> {
        let classes = self.plan().classes.iter().zip(&self.records.classes);
        let limited = classes.enumerate();
        let mut limited = limited.filter(|(_, (class, _))| class.packets_per_host.is_some());
        limited.find_map(|(number, (class, records))| {
            let made = self.expected_before(number) + records.created_packets;
            let all = self.most_packets(number)?;
            if (made as f64) < all as f64 * (1.0 - FROM_BEFORE) {
                return None;
            }
            let (made, came) = (records.created_flits, records.delivered_flits);
            let is_more = came as f64 > made as f64 * (1.0 + FROM_BEFORE);
            is_more.then(|| {
                let name = &class.name;
                format!(
                    "of {name} {came} flits came and {made} were made in the measurement, since its hosts make a limited number of packets"
                )
            })
        })
    }

    /// That flows which pace themselves fill windows and buffers with much of what they made in the measurement; in words.
    pub(super) fn filling(&self) -> Option<String> {
        let plan = self.plan();
        if !plan.flows.iter().any(|flow| plan.is_backlogged(flow)) {
            return None;
        }
        let made = self.sum(|class: &ClassRecords| class.created_flits);
        let came = self.sum(|class: &ClassRecords| class.delivered_flits);
        let is_less = (came as f64) < made as f64 * (1.0 - FILLS);
        is_less.then(|| {
            format!(
                "{came} of {made} flits made in the measurement came in it, what did not fills windows and buffers of flows that pace \
                 themselves"
            )
        })
    }

    /// That fewer packets are ever sent than a verdict on loads needs, where the `delivered` ones were too few; in words.
    fn few(&self, delivered: u64, classes: Range<usize>) -> Option<String> {
        if delivered >= LEAST_PACKETS {
            return None;
        }
        let (mut all, mut before) = (0, 0);
        for number in classes {
            let most = self.most_packets(number)?;
            all += most;
            before += most.min(self.expected_before(number));
        }
        if all == 0 || all - before >= LEAST_PACKETS {
            return None;
        }
        let before = match before {
            0 => String::new(),
            before => format!(", about {before} of them before the measurement"),
        };
        let packets = match all {
            1 => "1 packet is".to_owned(),
            all => format!("{all} packets are"),
        };
        Some(format!(
            "no more than {packets} ever sent{before}, and a verdict on loads takes {LEAST_PACKETS}: no length will do for one"
        ))
    }

    /// That no length finds packets enough of these classes, where the `delivered` ones were too few; in words.
    pub(super) fn never(&self, delivered: u64, classes: Range<usize>) -> Option<String> {
        let few = self.few(delivered, classes.clone());
        let few = few.or_else(|| self.few_more(delivered, classes.clone()));
        few.or_else(|| self.few_together(delivered, classes))
    }

    /// The same where some classes have limited numbers of packets, and the flows of others stop.
    fn few_together(&self, delivered: u64, classes: Range<usize>) -> Option<String> {
        if delivered >= LEAST_PACKETS {
            return None;
        }
        let most = |number: usize| {
            let ever = self.most_packets(number);
            let ever = ever.map(|most| most - most.min(self.expected_before(number)));
            let class = &self.records.classes[number];
            let more = || self.most_more(number..number + 1);
            let found = more().map(|more| class.delivered_packets.saturating_add(more));
            ever.into_iter().chain(found).min()
        };
        let all: u64 = classes.map(most).sum::<Option<u64>>()?;
        (1..LEAST_PACKETS).contains(&all).then(|| {
            format!(
                "no length finds more than {all} packets, since hosts send limited numbers and every flow stops or is limited to 0 for \
                 good, and a verdict on loads takes {LEAST_PACKETS}: no length will do"
            )
        })
    }

    /// That all that can still come would be too little beside the `delivered` packets, which were too few; in words.
    fn few_more(&self, delivered: u64, classes: Range<usize>) -> Option<String> {
        if delivered >= LEAST_PACKETS {
            return None;
        }
        let all = delivered.saturating_add(self.most_more(classes)?);
        let packets = match all {
            0 => "any packet".to_owned(),
            1 => "more than 1 packet".to_owned(),
            all => format!("more than {all} packets"),
        };
        (all < LEAST_PACKETS).then(|| {
            format!(
                "no longer one finds {packets}, since every flow stops or is limited to 0 for good, and a verdict on loads takes \
                 {LEAST_PACKETS}: no length will do"
            )
        })
    }

    /// Packets of flows of these classes that a longer measurement would find beside those of this one, at most; `None` without a
    /// bound, or without flows.
    fn most_more(&self, classes: Range<usize>) -> Option<u64> {
        let plan = self.plan();
        let is_known = |number: usize| {
            let class = &plan.classes[number];
            let is_of_probes = u16::try_from(number).is_ok_and(|number| plan.is_of_probes(number));
            class.flows.is_some() && class.control.is_none() && !is_of_probes
        };
        let has_buckets = plan.host.scheduler == Scheduler::LeakyBucket;
        if has_buckets || !classes.clone().all(is_known) {
            return None;
        }
        let flows = plan.flows.iter().zip(self.flows);
        let flows = flows.filter(|(flow, _)| classes.contains(&usize::from(flow.class)));
        let mut flows = flows.peekable();
        flows.peek()?;
        flows.try_fold(0_u64, |sum, (flow, counts)| {
            Some(sum.saturating_add(self.most_to_come(flow, counts)?))
        })
    }

    /// Packets of a flow that a longer measurement would find beside those of this one, at most; `None` without a bound.
    fn most_to_come(&self, flow: &FlowPlan, counts: &FlowCounts) -> Option<u64> {
        let end = self.warmup() + self.cycles();
        let (sent, arrived) = (&counts.sent, &counts.arrived);
        let is_backlogged = self.plan().is_backlogged(flow);
        // what a process has made waits in a queue, and goes when it has stopped
        let made = sent.created.packets - sent.rejected.packets;
        let by_stop = flow.stop.map(|stop| (stop, made));
        let by_limit = closed(flow).map(|closed| (closed, sent.started.packets));
        let (until, sent) = by_limit.into_iter().chain(by_stop).min()?;
        let gone = arrived.delivered.packets + counts.dropped.packets;
        let is_over = arrived.last_delivery.is_none_or(|last| last < end);
        let left = if is_over {
            sent.saturating_sub(gone)
        } else {
            sent
        };
        let from = end.max(flow.start);
        let later = if is_backlogged || closed(flow) == Some(until) {
            self.most_starts(flow, [from, until])
        } else {
            until.saturating_sub(from)
        };
        Some(left + later)
    }

    /// Packets of a flow that start from one cycle to another, at most: by its limits, each of which lets one go at once.
    fn most_starts(&self, flow: &FlowPlan, [from, to]: [u64; 2]) -> u64 {
        let smallest = u64::from(self.plan().classes[usize::from(flow.class)].size.smallest());
        let channel = self.graph.channel(self.graph.host_channel(flow.source));
        let time = smallest * u64::from(channel.timing.cycles_per_flit);
        let starts = limits(flow, [from, to]).map(|(limit, cycles)| match limit {
            Limit::Rate(0) => 0,
            Limit::Rate(rate) => {
                let flits = (u128::from(cycles) * u128::from(rate)) >> 32;
                (flits as u64 / smallest + 1).min(cycles.div_ceil(time))
            }
            Limit::Delay { entry, shift } => {
                cycles.div_ceil(time + (time >> shift) * u64::from(entry))
            }
            Limit::None => cycles.div_ceil(time),
        });
        let by_window = flow.window.filter(|window| window.delay > 0).map(|window| {
            let periods = to.saturating_sub(from) / window.delay + 1;
            periods.saturating_mul(window.packets.into())
        });
        starts.sum::<u64>().min(by_window.unwrap_or(u64::MAX))
    }

    /// Packets that a class makes in all, at most; `None` without a bound.
    pub(super) fn most_packets(&self, number: usize) -> Option<u64> {
        let (plan, class) = (self.plan(), &self.plan().classes[number]);
        let number = u16::try_from(number).ok()?;
        if class.messages.is_some() || class.answers.is_some() || plan.is_of_probes(number) {
            return None;
        }
        if class.flows.is_none() {
            let sends = |host: &&_| class.pattern.sends(**host);
            let hosts = class.hosts.iter().filter(sends).count() as u64;
            return Some(class.packets_per_host?.saturating_mul(hosts));
        }
        let flows = plan.flows.iter().filter(|flow| flow.class == number);
        flows.map(|flow| self.most_of_flow(flow)).sum()
    }

    /// The same of a flow.
    fn most_of_flow(&self, flow: &FlowPlan) -> Option<u64> {
        let smallest = u64::from(self.plan().classes[usize::from(flow.class)].size.smallest());
        let by_size = flow.flits.map(|flits| flits.div_ceil(smallest));
        let channel = self.graph.channel(self.graph.host_channel(flow.source));
        // one with a process makes a packet per cycle at most
        let time = match flow.process {
            Some(_) => 1,
            None => smallest * u64::from(channel.timing.cycles_per_flit),
        };
        let by_time = (flow.stop).map(|stop| stop.saturating_sub(flow.start).div_ceil(time));
        by_size.into_iter().chain(by_time).min()
    }

    /// Packets of a class with a load that are to be expected before the measurement.
    fn expected_before(&self, number: usize) -> u64 {
        match self.plan().classes[number].load {
            load if load > 0.0 => (self.rate(number) * self.warmup() as f64) as u64,
            _ => 0,
        }
    }

    /// Whether a flow of these classes may send at the end of the measurement.
    pub(super) fn is_waiting(&self, classes: Range<usize>) -> bool {
        let plan = self.plan();
        let end = self.warmup() + self.cycles();
        let mut flows = plan.flows.iter().zip(self.flows);
        flows.any(|(flow, counts)| {
            let is_over = flow.stop.is_some_and(|stop| stop <= end)
                || (flow.flits).is_some_and(|flits| counts.sent.started.flits >= flits);
            let has_begun = counts.sent.start.is_some_and(|start| start < end);
            let earlier = flow.changes.iter().rev().find(|(at, _)| *at <= end);
            let limit = earlier.map_or(flow.limit, |(_, limit)| *limit);
            classes.contains(&usize::from(flow.class))
                && plan.is_backlogged(flow)
                && has_begun
                && !is_over
                && limit != Limit::Rate(0)
        })
    }

    /// Whether packets of these classes were made in the measurement.
    pub(super) fn is_under_way(&self, mut classes: Range<usize>) -> bool {
        classes.any(|number| self.records.classes[number].created_packets > 0)
    }

    /// The first cycle after the measurement from which on a flow of these classes may send by itself, cycles from the start of
    /// the measurement until then, and what happens then, in words.
    pub(super) fn first_start(&self, classes: Range<usize>) -> Option<(u64, u64, &'static str)> {
        let plan = self.plan();
        let end = self.warmup() + self.cycles();
        let flows = plan.flows.iter();
        let flows = flows.filter(|flow| classes.contains(&usize::from(flow.class)));
        let opened = flows.filter_map(|flow| Some((opens(flow)?, self.known_start(flow)?)));
        let (opens, start) = opened.filter(|(opens, _)| *opens >= end).min()?;
        let what = if opens == start {
            "the first flow starts"
        } else {
            "the limit of the first flow is no longer 0"
        };
        Some((opens, opens - self.warmup(), what))
    }
}

/// The first cycle in which a flow is active and its limit not 0.
fn opens(flow: &FlowPlan) -> Option<u64> {
    let limits = [(0, flow.limit)].into_iter();
    let mut limits = limits.chain(flow.changes.iter().copied()).peekable();
    while let Some((at, limit)) = limits.next() {
        let until = limits.peek().map_or(u64::MAX, |(next, _)| *next);
        if limit != Limit::Rate(0) && flow.start < until {
            return Some(at.max(flow.start));
        }
    }
    None
}

/// The cycle from which on a flow has a limit of 0 that no other one follows.
pub(crate) fn closed(flow: &FlowPlan) -> Option<u64> {
    let is_closed = |limit: Limit| limit == Limit::Rate(0);
    let limits = [(0, flow.limit)].into_iter();
    let limits = limits.chain(flow.changes.iter().copied());
    limits.fold(None, |closed, (at, limit)| {
        let first = closed.unwrap_or(at);
        is_closed(limit).then_some(first)
    })
}
