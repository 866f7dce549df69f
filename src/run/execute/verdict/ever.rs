//! What is sent at all, and from when on: what a longer measurement can find.
//!
//! # Algorithm
//! The packets of a class are at most those of its hosts where their number is limited, else those of its flows: of one with a
//! size as many as it takes of the smallest, of one that stops no more than its host's link takes until then. Classes without
//! such a limit, of messages, answers and probes have no bound here.

use super::data::LEAST_PACKETS;
use super::window::Window;
use crate::plan::FlowPlan;
use std::ops::Range;

impl Window<'_> {
    /// That fewer packets are ever sent than a verdict on loads needs, where the `delivered` ones were too few; in words.
    pub(super) fn few(&self, delivered: u64, classes: Range<usize>) -> Option<String> {
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
            "no more than {packets} ever sent{before}, and a verdict on loads takes {LEAST_PACKETS}: no length will do"
        ))
    }

    /// Packets that a class makes in all, at most; `None` without a bound.
    fn most_packets(&self, number: usize) -> Option<u64> {
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

    /// The first cycle after the measurement in which a flow of these classes starts by itself, and cycles from the start of
    /// the measurement until then.
    pub(super) fn first_start(&self, classes: Range<usize>) -> Option<(u64, u64)> {
        let plan = self.plan();
        let end = self.warmup() + self.cycles();
        let is_known = |flow: &&FlowPlan| {
            let class = usize::from(flow.class);
            let asks = plan.classes[class].requests.is_some() || plan.classes[class].begins();
            classes.contains(&class) && !asks && flow.phase.is_none() && flow.after.is_empty()
        };
        let starts = plan.flows.iter().filter(is_known).map(|flow| flow.start);
        let start = starts.filter(|start| *start >= end).min()?;
        Some((start, start - self.warmup()))
    }
}
