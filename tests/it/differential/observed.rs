//! What a run observes packet by packet (`observe`), against what follows from the deliveries of the reference model.

use super::counts::Differences;
use crate::reference::Delivery;
use std::collections::BTreeMap;
use virtlane::measure::observe::{Flow, FlowRecord};
use virtlane::measure::percentiles::{BothLatencies, Groups, Latencies};
use virtlane::measure::{Observation, PacketRow};
use virtlane::plan::Plan;

/// What all shards have observed.
#[derive(Default)]
pub(super) struct Observed {
    packets: Vec<PacketRow>,
    flows: BTreeMap<Flow, FlowRecord>,
    groups: Groups,
}

impl Observed {
    /// Adds a shard.
    pub(super) fn add(&mut self, observation: &mut Observation) {
        observation.take_packets(&mut self.packets);
        self.flows.extend(observation.flows());
        self.groups.merge(observation.groups());
    }
}

/// What differs, of the tagged packets of a plan that observes everything.
pub(super) fn compare(
    all: &mut Differences,
    plan: &Plan,
    deliveries: &[Delivery],
    found: &Observed,
) {
    let phases = &plan.phases;
    let window = phases.warmup..phases.warmup + phases.measure;
    let observe = &plan.observe;
    let tagged = deliveries.iter().filter(|packet| {
        window.contains(&packet.created) && observe.classes[usize::from(packet.class)]
    });
    let tagged: Vec<&Delivery> = tagged.collect();
    rows(all, &tagged, found);
    flows(all, &tagged, found);
    let mut of_flows: BTreeMap<_, Vec<&Delivery>> = BTreeMap::new();
    let mut by_hops: BTreeMap<_, Vec<&Delivery>> = BTreeMap::new();
    for &packet in &tagged {
        if observe.percentiles[usize::from(packet.class)] {
            let ends = (packet.source.0, packet.destination.0);
            let key = (packet.class, packet.flow, ends.0, ends.1);
            of_flows.entry(key).or_default().push(packet);
        }
        let key = (packet.class, packet.hops);
        by_hops.entry(key).or_default().push(packet);
    }
    groups(all, "flow", &of_flows, &found.groups.flows);
    groups(all, "hops", &by_hops, &found.groups.hops);
}

/// Packets by their names and times.
fn rows(all: &mut Differences, tagged: &[&Delivery], found: &Observed) {
    let row = |row: &PacketRow| {
        let packet = &row.delivery;
        let name = (packet.source, packet.class, packet.sequence);
        (name, packet.created, packet.injected, packet.delivered)
    };
    let mut found: Vec<_> = found.packets.iter().map(row).collect();
    found.sort_unstable();
    let row = |packet: &&Delivery| {
        let name = (packet.source, packet.class, packet.sequence);
        (name, packet.created, packet.injected, packet.delivered)
    };
    let mut expected: Vec<_> = tagged.iter().map(row).collect();
    expected.sort_unstable();
    all.same("rows of packets", &expected, &found);
}

/// Sums of classes and pairs of hosts.
fn flows(all: &mut Differences, tagged: &[&Delivery], found: &Observed) {
    let mut expected: BTreeMap<Flow, (u64, u64, u64)> = BTreeMap::new();
    for packet in tagged {
        let key = Flow {
            class: packet.class,
            source: packet.source.0,
            destination: packet.destination.0,
        };
        let sums = expected.entry(key).or_default();
        sums.0 += 1;
        sums.1 += u64::from(packet.size);
        sums.2 = sums.2.max(packet.delivered);
    }
    let found = found.flows.iter();
    let sums = |flow: &FlowRecord| (flow.packets, flow.flits, flow.last_delivered);
    let found: BTreeMap<Flow, _> = found.map(|(key, flow)| (*key, sums(flow))).collect();
    all.same("flows observed", &expected, &found);
}

/// Latencies in groups.
fn groups<K: Ord + Copy + std::fmt::Debug>(
    all: &mut Differences,
    what: &str,
    expected: &BTreeMap<K, Vec<&Delivery>>,
    found: &BTreeMap<K, BothLatencies>,
) {
    let keys: [Vec<K>; 2] = [
        expected.keys().copied().collect(),
        found.keys().copied().collect(),
    ];
    all.same(&format!("groups by {what}"), &keys[0], &keys[1]);
    for (key, packets) in expected {
        let Some(found) = found.get(key) else {
            continue;
        };
        let network = packets.iter().map(|p| p.delivered - p.injected).collect();
        latencies(
            all,
            &format!("{what} {key:?}, network"),
            network,
            &found.network,
        );
        let whole = packets.iter().map(|p| p.delivered - p.created).collect();
        latencies(
            all,
            &format!("{what} {key:?}, packet"),
            whole,
            &found.packet,
        );
    }
}

/// Quantiles are values that occur, exact below 2048 and otherwise at most 0.1 % above them.
fn latencies(all: &mut Differences, what: &str, mut expected: Vec<u64>, found: &Latencies) {
    expected.sort_unstable();
    let count = expected.len() as u64;
    let sum: u64 = expected.iter().sum();
    let most = expected.last().copied();
    all.same(
        what,
        &(count, Some(sum as f64 / count as f64), most),
        &(found.count(), found.mean(), found.most()),
    );
    for per_mille in [500, 990, 999] {
        let rank = (count * per_mille).div_ceil(1000) as usize;
        let value = expected[rank - 1];
        let quantile = found.quantile(per_mille).unwrap_or(0);
        let is_near = (value..=value + value / 1024).contains(&quantile);
        if !is_near || value < 2048 {
            all.same(&format!("{what}, {per_mille} of 1000"), &value, &quantile);
        }
    }
}
