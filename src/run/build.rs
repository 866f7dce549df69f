//! Builds shards from plan, graph and routes.

use super::shard::{Shard, WorldShard};
use super::simulation::Options;
use crate::cycle::adaptive::Choices;
use crate::cycle::calendar::Calendar;
use crate::cycle::generate::replay::Replay;
use crate::cycle::generate::sources::Sources;
use crate::cycle::output_lanes::buffers::OutputLanes;
use crate::cycle::records::Records;
use crate::cycle::state::{ArbiterState, ShardState, Shared, Sink, Work};
use crate::fabric::source_queue::SourceQueues;
use crate::ids::HostId;
use crate::measure::Observation;
use crate::plan::{Matching, OutputArbitration, Plan};
use crate::qos::VlArbiter;
use crate::rng::{Purpose, stream};
use crate::routing::Routes;
use crate::run::layout::Layout;
use crate::run::lower;
use crate::topology::Graph;
use crate::traffic::Source;
use std::sync::Arc;

/// What all shards of a simulation are built from.
pub(super) struct Blueprint<'a> {
    plan: &'a Plan,
    graph: &'a Graph,
    routes: &'a Routes,
    layout: &'a Layout,
    shared: Arc<Shared>,
    options: Options,
    /// Words of a request mask: input lanes of the widest switch / 64.
    words: usize,
}

impl<'a> Blueprint<'a> {
    /// Lowers what all shards share.
    pub(super) fn new(
        plan: &'a Plan,
        graph: &'a Graph,
        routes: &'a Routes,
        layout: &'a Layout,
        options: Options,
    ) -> Self {
        let shared = Arc::new(lower::shared(graph, routes, plan, layout));
        let ports = graph
            .switch_ids()
            .map(|switch| graph.connected_ports(switch).count());
        let words = (ports.max().unwrap_or(1) << shared.lane_shift).div_ceil(64);
        Self {
            plan,
            graph,
            routes,
            layout,
            shared,
            options,
            words,
        }
    }

    /// One shard, with masks just wide enough.
    pub(super) fn shard(&self, shard: usize) -> Box<dyn Shard> {
        match self.words {
            0..=1 => self.boxed::<1>(shard),
            2 => self.boxed::<2>(shard),
            3..=4 => self.boxed::<4>(shard),
            5..=8 => self.boxed::<8>(shard),
            9..=16 => self.boxed::<16>(shard),
            _ => self.boxed::<64>(shard),
        }
    }

    fn boxed<const W: usize>(&self, shard: usize) -> Box<dyn Shard> {
        let rows = lower::rows::<W>(
            self.graph,
            self.routes.tables(),
            self.plan,
            self.layout,
            &self.shared,
            shard,
        );
        let work = work(
            self.plan,
            self.graph,
            self.layout,
            &self.shared,
            &rows,
            shard,
            self.options,
        );
        let state = ShardState {
            now: 0,
            shared: Arc::clone(&self.shared),
            work,
        };
        Box::new(WorldShard::new(rows, state, self.options))
    }
}

/// The mutable state of a shard at cycle 0.
fn work<const W: usize>(
    plan: &Plan,
    graph: &Graph,
    layout: &Layout,
    shared: &Shared,
    rows: &lower::Rows<W>,
    number: usize,
    options: Options,
) -> Work {
    let hosts = &layout.hosts[number];
    Work {
        calendar: Calendar::new(plan.event_horizon(graph)),
        heads: Vec::new(),
        arrived: Vec::new(),
        visits: Vec::new(),
        grants: Vec::new(),
        refused: false,
        settled: 0,
        host_visits: Vec::new(),
        consumed: Vec::new(),
        sink_visits: Vec::new(),
        input_visits: Vec::new(),
        pool_size: 0,
        free_packets: Vec::new(),
        packets_in_use: 0,
        sources: sources(plan, layout, number),
        replay: Replay::new(plan, hosts.len()),
        source_queues: SourceQueues::new(hosts.len() << shared.lane_shift),
        class_waiting: if shared.source_queue.is_some() {
            vec![0; hosts.len() * plan.classes.len()]
        } else {
            Vec::new()
        },
        outbox: vec![Vec::new(); layout.shard_count],
        border: rows.border.clone(),
        arbiters: arbiters(plan, graph, layout, rows, number),
        output_lanes: match plan.switch.output_lane_buffer {
            0 => OutputLanes::default(),
            _ => OutputLanes::new(rows.ports.len(), rows.lane_count, plan.event_horizon(graph)),
        },
        choices: choices(plan, graph, layout, shared, number),
        sinks: hosts.iter().map(|_| Sink::default()).collect(),
        records: records(plan, graph, hosts, shared, options),
        first_host_port: layout.first_host_port[number],
        host_ids: hosts.iter().map(|host| host.0).collect(),
    }
}

/// Counters of a shard with the given hosts.
fn records(
    plan: &Plan,
    graph: &Graph,
    hosts: &[HostId],
    shared: &Shared,
    options: Options,
) -> Records {
    let host_ids = hosts.iter().map(|host| host.0).collect();
    let mut records = Records::new(plan, graph, host_ids);
    if plan.observe.is_on() {
        let levels = shared.service_levels();
        records.observe(Observation::new(&plan.observe, plan.seed, levels));
    }
    if options.keep_deliveries {
        records.keep_deliveries();
    }
    if options.check_order {
        records.check_order();
    }
    records
}

/// Sources in (host, class) order; a class that does not use a host has a source there that never sends.
fn sources(plan: &Plan, layout: &Layout, shard: usize) -> Sources {
    let mut rows = Vec::new();
    for &host in &layout.hosts[shard] {
        for (number, class) in plan.classes.iter().enumerate() {
            let mut source = Source::new(plan.seed, number, class, host);
            if class.hosts.binary_search(&host).is_err() {
                source.silence();
            }
            rows.push((source, number as u16));
        }
    }
    Sources::new(rows, &plan.classes)
}

/// State of the arbiters that the options ask for.
fn arbiters<const W: usize>(
    plan: &Plan,
    graph: &Graph,
    layout: &Layout,
    rows: &lower::Rows<W>,
    shard: usize,
) -> ArbiterState {
    let ports = rows.ports.len();
    let mut arbiters = ArbiterState::default();
    if let Some(tables) = &plan.switch.vl_arbitration {
        arbiters.vl = vec![VlArbiter::new(tables); ports];
    }
    if plan.switch.output_arbitration == OutputArbitration::Random {
        let switches = layout.switches[shard].iter();
        let channels =
            switches.flat_map(|&switch| graph.connected_ports(switch).map(|(_, channel)| channel));
        arbiters.streams = channels
            .map(|channel| stream(plan.seed, Purpose::Arbitration, u64::from(channel.0)))
            .collect();
    }
    if plan.switch.output_buffer > 0 {
        arbiters.channel_free = vec![0; ports];
    }
    arbiters.lane_turns = vec![0; rows.turn_count];
    if plan.switch.matching == Matching::InputFirst {
        arbiters.input_lane = vec![0; ports];
        arbiters.output_pointer = vec![0; ports];
        arbiters.input_output = vec![0; rows.lane_count];
    }
    arbiters
}

/// State of adaptive routing.
fn choices(plan: &Plan, graph: &Graph, layout: &Layout, shared: &Shared, number: usize) -> Choices {
    let mut choices = Choices::default();
    if shared.adaptation.is_none() {
        return choices;
    }
    let switches = layout.switches[number].iter();
    let channels =
        switches.flat_map(|&switch| graph.connected_ports(switch).map(|(_, channel)| channel));
    for channel in channels {
        let input = u64::from(channel.reverse().0);
        let lanes = 0..=u64::from(shared.lane_mask);
        let streams = lanes.map(|lane| stream(plan.seed, Purpose::Adaptive, input * 16 + lane));
        choices.streams.extend(streams);
    }
    if shared.open {
        choices.requests = vec![Vec::new(); choices.streams.len()];
    }
    choices
}
