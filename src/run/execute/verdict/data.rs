//! Whether a measurement has data enough for a verdict on loads, and the length that would do, if any does.
//!
//! # Algorithm
//! A measurement says nothing of a load when
//! - fewer than [`LEAST_PACKETS`] packets were delivered: trends, dispersion and intervals are made of so many batches,
//!   and a batch without a packet has no latency;
//! - it is shorter than [`PACKET_TIMES`] of the largest packet on the slowest channel: a packet at each edge would be 10 %
//!   of what a channel carries, the overload that is to be told;
//! - it is shorter than [`ROUND_TRIPS`] of the fabric: what a sender does comes back (credits, answers) after one, and
//!   a rise shows in the second half.
//!
//! Where fewer than [`LEAST_PACKETS`] packets will ever be made, or come after what was measured, no length does, and the reason
//! says so ([`ever`](super::ever)).
//!
//! The round trip is that of the empty fabric between the two switches that are farthest apart, by two searches
//! from the farthest each: no more than the longest, and at least half of it.
//!
//! Cost: O(channels log switches).

use super::window::{Window, mean_latency};
use crate::ids::SwitchId;
use crate::measure::ClassRecords;
use crate::plan::{FlowPlan, Limit, Plan};
use crate::topology::Graph;
use crate::units::Clock;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Delivered packets that a measurement must have: one for each batch of trends and intervals.
pub(super) const LEAST_PACKETS: u64 = 32;
/// Standard deviations by which more than [`LEAST_PACKETS`] are to be expected, so that these come.
const DEVIATIONS: f64 = 3.0;
/// Times of the largest packet on the slowest channel that a measurement must last.
const PACKET_TIMES: u64 = 20;
/// Round trips that a measurement must last.
const ROUND_TRIPS: u64 = 4;

/// Cycles to every switch from `start`, over channels and through switches of an empty fabric.
fn distances(graph: &Graph, start: SwitchId, through: u64) -> Vec<Option<u64>> {
    let mut found = vec![None; graph.switches().len()];
    let mut next = BinaryHeap::from([Reverse((0, start))]);
    while let Some(Reverse((cycles, switch))) = next.pop() {
        let best = &mut found[switch.index()];
        if best.is_some() {
            continue;
        }
        *best = Some(cycles);
        for (_, channel, to) in graph.neighbors(switch) {
            if found[to.index()].is_none() {
                let latency = u64::from(graph.channel(channel).timing.latency);
                next.push(Reverse((cycles + latency + through, to)));
            }
        }
    }
    found
}

/// The longest round trip of the empty fabric between hosts, without the time of packets \[cycles\].
pub(super) fn round_trip(graph: &Graph, plan: &Plan) -> u64 {
    let switch = &plan.switch;
    let delays = [
        switch.routing_delay,
        switch.allocation_delay,
        switch.crossbar_delay,
    ];
    let through: u64 = delays.map(u64::from).iter().sum();
    let farthest = |start| {
        let reached = graph
            .switch_ids()
            .zip(distances(graph, start, through))
            .filter_map(|(switch, cycles)| Some((cycles?, switch)));
        reached.max().unwrap_or((0, start))
    };
    let hosts = graph.host_ids().map(|host| {
        let channel = graph.host_channel(host);
        u64::from(graph.channel(channel).timing.latency)
    });
    let own = 2 * hosts.max().unwrap_or(0) + through;
    let Some(first) = graph.switch_ids().next() else {
        return 0;
    };
    let (_, end) = farthest(first);
    let (between, _) = farthest(end);
    2 * (own + between)
}

impl Window<'_> {
    /// Standard deviation of the flits under way at both edges, of so many in the measurement: however regular sources are, drawn
    /// destinations make the packets under way to or from a host as many as chance does.
    pub(super) fn edges(&self, flits: f64) -> f64 {
        let under_way = flits / self.cycles() as f64 * mean_latency(self.series);
        (2.0 * self.size * under_way).sqrt()
    }

    /// What there is too little of for a verdict on all loads, and the length that would do.
    pub(super) fn shortage(&self) -> Option<String> {
        let delivered = self.sum(|class: &ClassRecords| class.delivered_packets);
        self.too_little(delivered, 0..self.plan().classes.len())
    }

    /// The same for a class alone.
    pub(super) fn shortage_of(&self, number: usize) -> Option<String> {
        let class = &self.records.classes[number];
        self.too_little(class.delivered_packets, number..number + 1)
    }

    /// The same for these classes, of which so many packets were delivered.
    fn too_little(&self, delivered: u64, classes: Range<usize>) -> Option<String> {
        let plan = self.plan();
        let (packet, trip) = (self.packet_time(), round_trip(self.graph, plan));
        let least = (PACKET_TIMES * packet).max(ROUND_TRIPS * trip);
        let told = |cycles: u64| format!("{cycles} cycles ({})", self.clock().time(cycles));
        let cycles = self.cycles();
        let missing = if delivered < LEAST_PACKETS {
            let packets = match delivered {
                0 => "no packet was".to_owned(),
                1 => "1 packet was".to_owned(),
                some => format!("{some} packets were"),
            };
            format!("{packets} delivered in {}", told(cycles))
        } else if cycles < PACKET_TIMES * packet {
            format!(
                "{} are less than {PACKET_TIMES} packets of {}",
                told(cycles),
                told(packet)
            )
        } else if cycles < ROUND_TRIPS * trip {
            format!(
                "{} are less than {ROUND_TRIPS} round trips of {}",
                told(cycles),
                told(trip)
            )
        } else {
            return None;
        };
        Some(format!(
            "{missing}: {}",
            self.advice(delivered, least, classes)
        ))
    }

    /// The length that would do for these classes, `least` or more, if any does, where so many packets were delivered; in words.
    fn advice(&self, delivered: u64, least: u64, classes: Range<usize>) -> String {
        let told = |cycles: u64| format!("{cycles} cycles ({})", self.clock().time(cycles));
        if let Some(never) = self.never(delivered, classes.clone()) {
            return never;
        }
        let enough = if delivered < LEAST_PACKETS {
            match self.for_packets(delivered, least, classes.clone()) {
                Ok(enough) => enough,
                Err(words) => return words,
            }
        } else {
            least
        };
        let is_waiting = self.is_waiting(classes.clone());
        let counted: f64 = classes.clone().map(|number| self.rate(number)).sum();
        if counted <= 0.0
            && !is_waiting
            && let Some((start, from, what)) = self.first_start(classes.clone())
        {
            let packets = self.wanted(classes) as u64;
            let enough = enough.max(from + least.max(packets * self.packet_time()));
            let start_at = self.clock().time(start);
            return format!(
                "nothing is offered before cycle {start} ({start_at}), in which {what}: measure at least {}",
                told(enough)
            );
        }
        format!(
            "measure at least {} for {LEAST_PACKETS} packets, {PACKET_TIMES} packet times and {ROUND_TRIPS} round trips",
            told(enough)
        )
    }

    /// Packets of these classes to be expected so that [`LEAST_PACKETS`] come, chance allowed for.
    fn wanted(&self, classes: Range<usize>) -> f64 {
        let dispersions = classes.map(|number| self.dispersion_of_packets(number));
        let deviation = DEVIATIONS * dispersions.fold(0.0_f64, f64::max).sqrt();
        // the number n of which LEAST_PACKETS is n less deviation * sqrt(n)
        let root = deviation.hypot(2.0 * (LEAST_PACKETS as f64).sqrt());
        f64::midpoint(deviation, root).powi(2).round()
    }

    /// Variance over mean of the number of packets of a class in a time: that of a Poisson count, or where flits go at a rate that
    /// of the packets of several sizes that these make up, if it is larger.
    fn dispersion_of_packets(&self, number: usize) -> f64 {
        let (plan, class) = (self.plan(), &self.plan().classes[number]);
        let has_rate = |flow: &FlowPlan| {
            let is_limited = flow.limit != Limit::None || !flow.changes.is_empty();
            plan.is_backlogged(flow) || is_limited
        };
        let flows = plan.flows.iter();
        let mut flows = flows.filter(|flow| usize::from(flow.class) == number);
        if class.is_backlogged() || flows.any(has_rate) {
            class.size.variation().max(1.0)
        } else {
            1.0
        }
    }

    /// Cycles, `least` or more, for the wanted packets of these classes, or for all of theirs, where so many were delivered; else
    /// why there is no such length, in words.
    fn for_packets(
        &self,
        delivered: u64,
        least: u64,
        classes: Range<usize>,
    ) -> Result<u64, String> {
        let (cycles, shares) = (self.cycles(), self.link_shares(classes.clone()));
        let ever = self.expected_ever(&shares, classes.clone());
        let ever = ever.max(delivered as f64);
        if ever < 0.5 {
            let is_offered = self.is_waiting(classes.clone()) || self.is_under_way(classes);
            return Err(if is_offered {
                "no length is known in which what was offered is delivered".to_owned()
            } else {
                "nothing was offered".to_owned()
            });
        }
        if ever < LEAST_PACKETS as f64 {
            return Err(format!(
                "about {ever:.0} packets are to be expected in any length, and a verdict on loads takes {LEAST_PACKETS}"
            ));
        }
        let wanted = self.wanted(classes.clone());
        let enough = self.length_of(&shares, classes.clone(), wanted.min(ever));
        let enough = enough.unwrap_or(u64::MAX);
        let foreseen = self.expected(&shares, classes.clone(), cycles);
        let made = classes.map(|number| self.records.classes[number].created_packets);
        let made = foreseen.max(made.sum::<u64>() as f64);
        let latency = mean_latency(self.series) as u64;
        let is_long = cycles > least || delivered > 1 && cycles > 2 * latency;
        let is_held = delivered > 0 && 2.0 * (delivered as f64) < made && is_long;
        // what limits, windows and the fabric hold back comes as it came; the first packets came late
        let held = if is_held {
            let time = cycles.saturating_sub(latency).max(1) as f64;
            latency + (wanted * time / delivered as f64) as u64
        } else {
            0
        };
        // what is too little now will not do as it is
        Ok(enough.max(least).max(cycles + cycles / 2).max(held))
    }

    /// Time of the largest packet on the slowest channel, or at the hosts \[cycles\].
    pub(super) fn packet_time(&self) -> u64 {
        let channels = self.graph.channels().iter();
        let slowest = channels.map(|channel| channel.timing.cycles_per_flit).max();
        let sink = self.plan().host.sink_cycles_per_flit.unwrap_or(0);
        u64::from(self.plan().largest_packet()) * u64::from(slowest.unwrap_or(1).max(sink))
    }

    /// What cycles are in time.
    pub(super) fn clock(&self) -> Clock {
        Clock {
            flit_bytes: self.plan().flit_bytes,
            reference_rate: self.plan().reference_rate,
        }
    }

    /// Packets that a class makes in a cycle: in expectation where it has a load, else as counted.
    pub(super) fn rate(&self, number: usize) -> f64 {
        let class = &self.plan().classes[number];
        if class.load <= 0.0 || class.is_backlogged() {
            let created = self.records.classes[number].created_packets;
            return created as f64 / self.cycles().max(1) as f64;
        }
        let hosts = class.hosts.iter().copied();
        let rate = hosts.filter(|&host| class.pattern.sends(host)).map(|host| {
            let channel = self.graph.channel(self.graph.host_channel(host));
            class.load / f64::from(channel.timing.cycles_per_flit)
        });
        rate.sum::<f64>() / class.size.mean()
    }
}
