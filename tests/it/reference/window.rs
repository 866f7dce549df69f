//! What a measurement counts: the cycles `warmup..warmup + measure` of the plan, looked up in the lists of all packets.
//!
//! A packet is tagged when it was created in the window and not rejected; latencies, jitter, hops and marks belong to
//! tagged packets that were delivered, whenever that was. A channel counts flits one by one ([`super::link::Link::counted`]).

use super::Fabric;
use super::packet::{Packet, Rejected};
use std::collections::BTreeMap;
use std::ops::Range;
use virtlane::ids::HostId;

/// Counts of a class.
#[derive(PartialEq, Eq, Clone, Debug, Default)]
pub(crate) struct ClassCounts {
    /// Packets and flits created in the window, rejected ones included.
    pub(crate) created: (u64, u64),
    /// Packets and flits that entered their first channel in the window.
    pub(crate) injected: (u64, u64),
    /// Packets and flits delivered in the window.
    pub(crate) delivered: (u64, u64),
    /// Packets rejected in the window.
    pub(crate) rejected: u64,
    /// Tagged packets.
    pub(crate) tagged: u64,
    /// Tagged packets delivered with a mark.
    pub(crate) marked: u64,
    /// From first channel to delivery, ascending \[cycles\].
    pub(crate) network: Vec<u64>,
    /// From creation to delivery, ascending \[cycles\].
    pub(crate) packet: Vec<u64>,
    /// Differences of network latencies within a flow, where a source has one destination only \[cycles\].
    pub(crate) jitter: Vec<u64>,
    /// Tagged packets by channels between switches.
    pub(crate) hops: BTreeMap<u16, u64>,
    /// Latest delivery of any packet \[cycle\].
    pub(crate) last_delivery: u64,
    /// Packets and flits dropped since cycle 0 (D58).
    pub(crate) dropped: (u64, u64),
    /// Grants that these had had.
    pub(crate) dropped_grants: u64,
    /// Tagged packets dropped.
    pub(crate) tagged_dropped: u64,
    /// Flits of packets dropped in the window.
    pub(crate) window_dropped: u64,
    /// Messages delivered, and the latest of these deliveries \[cycle\].
    pub(crate) messages: (u64, u64),
    /// From the first packet made to the last delivered, of messages whose first packet was made in the window, ascending
    /// \[cycles\].
    pub(crate) message: Vec<u64>,
}

/// Counts of a host \[flits\].
#[derive(PartialEq, Eq, Clone, Copy, Debug, Default)]
pub(crate) struct HostCounts {
    /// Created here, rejected packets included.
    pub(crate) created: u64,
    /// From here, delivered anywhere.
    pub(crate) accepted: u64,
    /// Delivered here.
    pub(crate) received: u64,
}

/// Counts of a flow (D34, D42), since cycle 0 where nothing else is said.
#[derive(PartialEq, Eq, Clone, Debug, Default)]
pub(crate) struct FlowCounts {
    /// Start cycle; `None` before its phase is open (D50), or before it is admitted (D53) or begins (D60).
    pub(crate) start: Option<u64>,
    /// Packets and flits made, rejected ones included.
    pub(crate) created: (u64, u64),
    /// Packets made in the window, rejected ones included.
    pub(crate) attempted: u64,
    /// Packets and flits rejected.
    pub(crate) rejected: (u64, u64),
    /// Packets and flits that entered their first channel.
    pub(crate) started: (u64, u64),
    /// Packets and flits delivered.
    pub(crate) delivered: (u64, u64),
    /// Packets and flits dropped (D58).
    pub(crate) dropped: (u64, u64),
    /// Flits of delivered packets, consumed in the window.
    pub(crate) received: u64,
    /// Tagged packets that were delivered.
    pub(crate) tagged: u64,
    /// From first channel to delivery, of these: sum and most \[cycles\].
    pub(crate) network: (u64, u64),
    /// From creation to delivery, of these: sum and most \[cycles\].
    pub(crate) packet: (u64, u64),
    /// Differences between the network latencies of two of these in a row: sum and most \[cycles\].
    pub(crate) jitter: (u64, u64),
    /// First start of a packet \[cycle\].
    pub(crate) first_start: Option<u64>,
    /// Latest delivery \[cycle\].
    pub(crate) last_delivery: Option<u64>,
    /// Packets delivered with FECN (D42).
    pub(crate) marked: u64,
    /// Answers, all packets of them, and replies delivered at its source (D42, D45, D47).
    pub(crate) answered: u64,
    /// Events that its sender logged; those of a group are its first flow's (D42, D44).
    pub(crate) logged: u64,
    /// Cycle of the last of them, and answers and replies that the sender had been told by then (D42).
    pub(crate) last_logged: Option<(u64, u64)>,
}

/// Counts of the control packets of a class, since cycle 0 (D49).
#[derive(PartialEq, Eq, Clone, Debug, Default)]
pub(crate) struct ControlCounts {
    /// Created beside the data network.
    pub(crate) created: u64,
    /// Delivered beside the data network.
    pub(crate) delivered: u64,
    /// From creation to delivery, of these: sum and most \[cycles\].
    pub(crate) delay: (u64, u64),
    /// Visits of agents, by channel (D48, D69), in both transports; no channel where the class does not probe.
    pub(crate) visits: Vec<u64>,
    /// States of the agents, by channel, in words.
    pub(crate) agents: Vec<String>,
    /// Copies of broadcasts that have joined the queue of a channel (D68).
    pub(crate) broadcasts: u64,
    /// Cycles in which copies were heard, by element: of switches, then of hosts; none where the class has no elements.
    pub(crate) heard: Vec<Vec<u64>>,
    /// States of the elements, likewise, in words.
    pub(crate) elements: Vec<String>,
}

/// Counts of a measurement window.
#[derive(PartialEq, Eq, Clone, Debug)]
pub(crate) struct Window {
    pub(crate) classes: Vec<ClassCounts>,
    pub(crate) hosts: Vec<HostCounts>,
    /// Flits, `[channel][lane]`.
    pub(crate) sent: Vec<Vec<u64>>,
    /// Packets dropped that would have left by a channel (D58).
    pub(crate) dropped: Vec<u64>,
}

/// Flits of a delivered packet that its host consumed in the window.
fn delivered_flits(packet: &Packet, window: &Range<u64>) -> u64 {
    if packet.delivered.is_none() {
        return 0;
    }
    let consumed = packet.consumed.iter();
    consumed.filter(|cycle| window.contains(cycle)).count() as u64
}

impl Window {
    /// Counts everything of the cycles before `cycles`.
    pub(super) fn of(fabric: &Fabric<'_>, cycles: u64) -> Self {
        let (plan, graph) = (fabric.setting.plan, fabric.setting.graph);
        let phases = &plan.phases;
        let window = phases.warmup..phases.warmup + phases.measure;
        let mut counts = Self {
            classes: vec![ClassCounts::default(); plan.classes.len()],
            hosts: vec![HostCounts::default(); graph.hosts().len()],
            sent: vec![vec![0; plan.switch.lane_count().into()]; graph.channels().len()],
            dropped: vec![0; graph.channels().len()],
        };
        for packet in &fabric.packets {
            counts.count(packet, &window);
        }
        for rejected in &fabric.rejected {
            if window.contains(&rejected.created) {
                counts.classes[usize::from(rejected.class)].rejected += 1;
                counts.create(rejected.class, rejected.source, rejected.size);
            }
        }
        for (sent, link) in counts.sent.iter_mut().zip(&fabric.links) {
            for &(cycle, lane) in &link.counted {
                sent[lane] += u64::from(window.contains(&cycle) && cycle < cycles);
            }
        }
        for (class, created, delivered) in fabric.messages.complete(&fabric.packets) {
            let class = &mut counts.classes[usize::from(class)];
            class.messages = (class.messages.0 + 1, class.messages.1.max(delivered));
            if window.contains(&created) {
                class.message.push(delivered - created);
            }
        }
        for (index, class) in counts.classes.iter_mut().enumerate() {
            if plan.classes[index].pattern.is_fixed() {
                class.jitter = jitter(&fabric.packets, index, &window);
            }
            class.network.sort_unstable();
            class.packet.sort_unstable();
            class.message.sort_unstable();
        }
        counts
    }

    fn create(&mut self, class: u16, source: HostId, size: u16) {
        let created = &mut self.classes[usize::from(class)].created;
        *created = (created.0 + 1, created.1 + u64::from(size));
        self.hosts[source.index()].created += u64::from(size);
    }

    fn count(&mut self, packet: &Packet, window: &Range<u64>) {
        let is_tagged = window.contains(&packet.created);
        if is_tagged {
            self.create(packet.class, packet.source, packet.size);
        }
        let flits = delivered_flits(packet, window);
        self.hosts[packet.source.index()].accepted += flits;
        self.hosts[packet.destination.index()].received += flits;
        let class = &mut self.classes[usize::from(packet.class)];
        class.tagged += u64::from(is_tagged);
        class.delivered.1 += flits;
        if let Some(drop) = packet.dropped {
            class.dropped.0 += 1;
            class.dropped.1 += u64::from(packet.size);
            class.dropped_grants += u64::from(packet.switches);
            class.tagged_dropped += u64::from(is_tagged);
            let is_inside = window.contains(&drop.cycle);
            class.window_dropped += u64::from(is_inside) * u64::from(packet.size);
            self.dropped[drop.channel] += u64::from(is_inside);
        }
        let Some(injected) = packet.injected else {
            return;
        };
        if window.contains(&injected) {
            class.injected.0 += 1;
            class.injected.1 += u64::from(packet.size);
        }
        let Some(delivered) = packet.delivered else {
            return;
        };
        class.last_delivery = class.last_delivery.max(delivered);
        class.delivered.0 += u64::from(window.contains(&delivered));
        if is_tagged {
            class.network.push(delivered - injected);
            class.packet.push(delivered - packet.created);
            class.marked += u64::from(packet.fecn);
            *class.hops.entry(packet.switches - 1).or_default() += 1;
        }
    }
}

/// The counts of all flows.
pub(super) fn flows(fabric: &Fabric<'_>, cycles: u64) -> Vec<FlowCounts> {
    let plan = fabric.setting.plan;
    let phases = &plan.phases;
    let window = phases.warmup..phases.warmup + phases.measure;
    (0..plan.flows.len())
        .map(|flow| {
            let packets = fabric.packets.iter();
            let packets: Vec<&Packet> = packets.filter(|p| p.flow == Some(flow)).collect();
            let rejected = fabric.rejected.iter().filter(|p| p.flow == Some(flow));
            let rejected: Vec<&Rejected> = rejected.collect();
            let answered = fabric
                .control_packets()
                .into_iter()
                .filter(|(saying, delivered)| {
                    saying.flow == flow && saying.is_for_sender() && delivered.is_some()
                });
            let host = &fabric.hosts[plan.flows[flow].source.index()];
            let mut sent = host.control().0.started_and_logged();
            let sent = sent.find(|sent| sent.0 == flow);
            let (_, start, logged, last_logged) = sent.expect("a flow of its source");
            FlowCounts {
                start: start.filter(|&start| start < cycles),
                answered: answered.count() as u64,
                logged,
                last_logged,
                ..flow_counts(&packets, &rejected, &window)
            }
        })
        .collect()
}

/// The counts of the control packets of all classes.
pub(super) fn control(fabric: &Fabric<'_>) -> Vec<ControlCounts> {
    let classes = 0..fabric.setting.plan.classes.len();
    let of_class = |class| {
        let all = fabric.networks.all.iter();
        let mine = all.filter(|carried| carried.class == class);
        let delays = mine
            .clone()
            .filter_map(|carried| Some(carried.delivered? - carried.created));
        let delays: Vec<u64> = delays.collect();
        let visits = fabric.agents.visits(fabric.setting, class);
        let states = fabric.agents.states(fabric.setting, class);
        let copies = fabric.networks.copies.iter();
        let elements = fabric.agents.elements.seen(class).into_iter();
        let (heard, elements) = elements.unzip();
        ControlCounts {
            created: mine.count() as u64,
            delivered: delays.len() as u64,
            delay: sum_and_most(&delays),
            visits: visits.map(|visits| visits as u64).collect(),
            agents: states.map(|state| format!("{state:?}")).collect(),
            broadcasts: copies.filter(|copy| copy.class == class).count() as u64,
            heard,
            elements,
        }
    };
    classes.map(of_class).collect()
}

/// Packets and flits of these sizes.
fn total(sizes: impl Iterator<Item = u16>) -> (u64, u64) {
    sizes.fold((0, 0), |sum, size| (sum.0 + 1, sum.1 + u64::from(size)))
}

fn sum_and_most(values: &[u64]) -> (u64, u64) {
    (
        values.iter().sum(),
        values.iter().max().copied().unwrap_or(0),
    )
}

/// The counts of the flow with these packets and rejected ones.
fn flow_counts(packets: &[&Packet], rejected: &[&Rejected], window: &Range<u64>) -> FlowCounts {
    let times = packets.iter().map(|packet| packet.created);
    let times = times.chain(rejected.iter().map(|packet| packet.created));
    let rejected = rejected.iter().map(|packet| packet.size);
    let made = packets.iter().map(|packet| packet.size);
    let started = packets.iter().filter(|packet| packet.injected.is_some());
    let delivered = packets.iter().filter(|packet| packet.delivered.is_some());
    let dropped = packets.iter().filter(|packet| packet.dropped.is_some());
    let received = packets.iter().map(|packet| delivered_flits(packet, window));
    // (delivery, network latency, packet latency) of the tagged ones
    let mut tagged: Vec<(u64, u64, u64)> = Vec::new();
    for packet in delivered.clone() {
        if window.contains(&packet.created)
            && let (Some(injected), Some(delivered)) = (packet.injected, packet.delivered)
        {
            tagged.push((delivered, delivered - injected, delivered - packet.created));
        }
    }
    tagged.sort_unstable();
    let network: Vec<u64> = tagged.iter().map(|times| times.1).collect();
    let packet: Vec<u64> = tagged.iter().map(|times| times.2).collect();
    let differences = network.windows(2).map(|pair| pair[1].abs_diff(pair[0]));
    FlowCounts {
        created: total(made.chain(rejected.clone())),
        attempted: times.filter(|created| window.contains(created)).count() as u64,
        rejected: total(rejected),
        started: total(started.clone().map(|packet| packet.size)),
        delivered: total(delivered.clone().map(|packet| packet.size)),
        dropped: total(dropped.map(|packet| packet.size)),
        received: received.sum(),
        tagged: tagged.len() as u64,
        network: sum_and_most(&network),
        packet: sum_and_most(&packet),
        jitter: sum_and_most(&differences.collect::<Vec<_>>()),
        first_start: started.filter_map(|packet| packet.injected).min(),
        last_delivery: delivered
            .clone()
            .filter_map(|packet| packet.delivered)
            .max(),
        marked: delivered.filter(|packet| packet.fecn).count() as u64,
        start: None,
        answered: 0,
        logged: 0,
        last_logged: None,
    }
}

/// How much the network latency differs from that of the delivery before, of the same source.
fn jitter(packets: &[Packet], class: usize, window: &Range<u64>) -> Vec<u64> {
    let mut flows: BTreeMap<HostId, Vec<(u64, u64)>> = BTreeMap::new();
    for packet in packets {
        let is_tagged = window.contains(&packet.created);
        if usize::from(packet.class) == class
            && is_tagged
            && let (Some(injected), Some(delivered)) = (packet.injected, packet.delivered)
        {
            let flow = flows.entry(packet.source).or_default();
            flow.push((delivered, delivered - injected));
        }
    }
    let mut differences = Vec::new();
    for flow in flows.values_mut() {
        flow.sort_unstable();
        let latencies = flow.windows(2).map(|pair| pair[1].1.abs_diff(pair[0].1));
        differences.extend(latencies);
    }
    differences
}
