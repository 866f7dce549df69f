//! The simulation: shards that run windows of cycles in parallel and exchange mail in between.
//!
//! A window lasts at most as long as the fastest channel between two shards takes, so nothing a shard does
//! in a window can reach another within it. Layout and results depend on the scenario alone: the same mail
//! is delivered whatever the number of threads, and the number of shards changes only where state lives.

use super::profile::StageClock;
use super::shard::{Inspect, Shard, WorldShard};
use crate::cycle::records::Records;
use crate::cycle::sources::Sources;
use crate::cycle::state::{ArbiterState, Message, ShardState, Shared, Sink, Work};
use crate::fabric::inspect::Columns;
use crate::fabric::invariants::Ledger;
use crate::fabric::lower::{self, Layout};
use crate::fabric::partition::partition;
use crate::fabric::source_queue::SourceQueues;
use crate::ids::{ChannelId, HostId};
use crate::qos::VlArbiter;
use crate::rng::{Purpose, stream};
use crate::routing::Tables;
use crate::run::outcome::StageCost;
use crate::scenario::plan::{Matching, OutputArbitration, Plan};
use crate::topology::Graph;
use crate::traffic::Source;
use std::sync::Arc;

/// How to run; nothing here changes a result.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Worker threads, at least 1.
    pub threads: usize,
    /// Shards, at least 1.
    pub shards: usize,
    /// Stages as one fused loop instead of named systems.
    pub fused: bool,
    /// Keep every delivery.
    pub keep_deliveries: bool,
    /// Check that packets of a flow arrive in order.
    pub check_order: bool,
    /// Time every stage.
    pub profile: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: 1,
            shards: 1,
            fused: false,
            keep_deliveries: false,
            check_order: false,
            profile: false,
        }
    }
}

/// A fabric in motion.
pub struct Simulation {
    shards: Vec<Box<dyn Shard>>,
    pool: Option<rayon::ThreadPool>,
    /// Cycles per window.
    window: u64,
    /// Next cycle to run.
    now: u64,
    /// Outgoing channel of every port row of every shard.
    port_channels: Vec<Vec<ChannelId>>,
    /// Clock of every shard, with profiling.
    clocks: Vec<Arc<StageClock>>,
}

/// Longest window of a single shard: how often the driver looks at progress.
const LONGEST_WINDOW: u64 = 1 << 16;

impl Simulation {
    /// Builds the shards.
    ///
    /// # Errors
    /// When the worker threads cannot be started.
    pub fn new(
        plan: &Plan,
        graph: &Graph,
        tables: &Tables,
        options: Options,
    ) -> Result<Self, rayon::ThreadPoolBuildError> {
        let layout = Layout::new(graph, partition(graph, options.shards));
        let window = layout.window(graph, plan).min(LONGEST_WINDOW);
        let shared = Arc::new(lower::shared(graph, tables, plan, &layout));
        let widest = graph
            .switch_ids()
            .map(|switch| graph.connected_ports(switch).count())
            .max()
            .unwrap_or(1);
        let words = (widest << shared.lane_shift).div_ceil(64);
        let clock = |_| Arc::new(StageClock::default());
        let clocks: Vec<_> = (0..if options.profile {
            layout.shard_count
        } else {
            0
        })
            .map(clock)
            .collect();
        let build = |shard: usize| match words {
            0..=1 => boxed::<1>(
                plan,
                graph,
                tables,
                &layout,
                &shared,
                shard,
                options,
                clocks.get(shard),
            ),
            2 => boxed::<2>(
                plan,
                graph,
                tables,
                &layout,
                &shared,
                shard,
                options,
                clocks.get(shard),
            ),
            3..=4 => boxed::<4>(
                plan,
                graph,
                tables,
                &layout,
                &shared,
                shard,
                options,
                clocks.get(shard),
            ),
            5..=8 => boxed::<8>(
                plan,
                graph,
                tables,
                &layout,
                &shared,
                shard,
                options,
                clocks.get(shard),
            ),
            9..=16 => boxed::<16>(
                plan,
                graph,
                tables,
                &layout,
                &shared,
                shard,
                options,
                clocks.get(shard),
            ),
            _ => boxed::<64>(
                plan,
                graph,
                tables,
                &layout,
                &shared,
                shard,
                options,
                clocks.get(shard),
            ),
        };
        let shards = (0..layout.shard_count).map(build).collect();
        let threads = options.threads.min(layout.shard_count);
        let pool = (threads > 1)
            .then(|| rayon::ThreadPoolBuilder::new().num_threads(threads).build())
            .transpose()?;
        Ok(Self {
            shards,
            pool,
            window,
            now: 0,
            port_channels: port_channels(graph, &layout),
            clocks,
        })
    }

    /// Next cycle to run.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Shards.
    pub fn shard_count(&self) -> usize {
        self.shards.len()
    }

    /// Outgoing channel of every port row, `[shard][port row]`.
    pub fn port_channels(&self) -> &[Vec<ChannelId>] {
        &self.port_channels
    }

    /// Runs up to cycle `end` (exclusive).
    pub fn run_until(&mut self, end: u64) {
        let (shards, window, now) = (&mut self.shards, self.window, &mut self.now);
        let mut work = || advance(shards, window, now, end);
        match &self.pool {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    /// Looks at every shard, in shard order.
    pub fn inspect(&mut self, inspect: &mut dyn Inspect) {
        for shard in &mut self.shards {
            shard.inspect(inspect);
        }
    }

    /// Enters every shard, and the mail between shards, in a ledger.
    pub fn ledger(&mut self, ledger: Ledger) -> Ledger {
        let mut enter = Enter {
            ledger,
            channels: &self.port_channels,
            shard: 0,
            inbox: Vec::new(),
        };
        for shard in &mut self.shards {
            enter.inbox = std::mem::take(shard.inbox());
            shard.inspect(&mut enter);
            *shard.inbox() = std::mem::take(&mut enter.inbox);
        }
        enter.ledger
    }

    /// Cost per stage so far, with profiling.
    pub fn stage_costs(&self) -> Vec<StageCost> {
        StageClock::costs(&self.clocks)
    }

    /// State of every shard.
    pub fn states(&self) -> impl Iterator<Item = &ShardState> {
        self.shards.iter().map(|shard| shard.state())
    }

    /// State of every shard.
    pub fn states_mut(&mut self) -> impl Iterator<Item = &mut ShardState> {
        self.shards.iter_mut().map(|shard| shard.state_mut())
    }

    /// Whether nothing will ever happen again.
    pub fn is_idle(&self) -> bool {
        self.shards
            .iter()
            .all(|shard| shard.next_event(self.now).is_none())
    }
}

/// Enters one shard after the other in a ledger.
struct Enter<'a> {
    ledger: Ledger,
    channels: &'a [Vec<ChannelId>],
    shard: usize,
    inbox: Vec<Message>,
}

impl Inspect for Enter<'_> {
    fn look(&mut self, view: &dyn Columns) {
        self.ledger
            .add(view, &self.channels[self.shard], &self.inbox, self.channels);
        self.shard += 1;
    }
}

/// Outgoing channel of every port row of every shard.
fn port_channels(graph: &Graph, layout: &Layout) -> Vec<Vec<ChannelId>> {
    let shard = |shard: usize| {
        let switches = layout.switches[shard].iter();
        let ports =
            switches.flat_map(|&switch| graph.connected_ports(switch).map(|(_, channel)| channel));
        let hosts = layout.hosts[shard]
            .iter()
            .map(|&host| graph.host_channel(host));
        ports.chain(hosts).collect()
    };
    (0..layout.shard_count).map(shard).collect()
}

/// Runs windows until `end`.
fn advance(shards: &mut [Box<dyn Shard>], window: u64, now: &mut u64, end: u64) {
    while *now < end {
        if shards.len() > 1 {
            let next = shards
                .iter()
                .filter_map(|shard| shard.next_event(*now))
                .min();
            *now = next.unwrap_or(end).min(end);
        }
        let to = now.saturating_add(window).min(end);
        run_all(shards, *now, to);
        exchange(shards);
        *now = to;
    }
}

/// Runs one window of all shards as a tree of joins.
fn run_all(shards: &mut [Box<dyn Shard>], from: u64, to: u64) {
    match shards {
        [] => {}
        [shard] => {
            let _span =
                tracing::info_span!(target: super::profile::TRACE, "window", from, to).entered();
            shard.run_window(from, to);
        }
        several => {
            let (left, right) = several.split_at_mut(several.len() / 2);
            rayon::join(|| run_all(left, from, to), || run_all(right, from, to));
        }
    }
}

/// Hands the mail over.
fn exchange(shards: &mut [Box<dyn Shard>]) {
    for from in 0..shards.len() {
        for to in 0..shards.len() {
            if shards[from].state().work.outbox[to].is_empty() {
                continue;
            }
            let mut mail = std::mem::take(&mut shards[from].state_mut().work.outbox[to]);
            shards[to].inbox().append(&mut mail);
            shards[from].state_mut().work.outbox[to] = mail;
        }
    }
}

fn boxed<const W: usize>(
    plan: &Plan,
    graph: &Graph,
    tables: &Tables,
    layout: &Layout,
    shared: &Arc<Shared>,
    shard: usize,
    options: Options,
    clock: Option<&Arc<StageClock>>,
) -> Box<dyn Shard> {
    let rows = lower::rows::<W>(graph, tables, plan, layout, shared, shard);
    let work = work(plan, graph, layout, shared, &rows, shard, options);
    let state = ShardState {
        now: 0,
        shared: Arc::clone(shared),
        work,
    };
    Box::new(WorldShard::new(rows, state, options.fused, clock.cloned()))
}

/// The mutable state of a shard at cycle 0.
fn work<const W: usize>(
    plan: &Plan,
    graph: &Graph,
    layout: &Layout,
    shared: &Shared,
    rows: &lower::Rows<W>,
    shard: usize,
    options: Options,
) -> Work {
    let hosts = &layout.hosts[shard];
    Work {
        calendar: crate::cycle::calendar::Calendar::new(horizon(plan, graph)),
        heads: Vec::new(),
        arrived: Vec::new(),
        visits: Vec::new(),
        grants: Vec::new(),
        settled: 0,
        host_visits: Vec::new(),
        consumed: Vec::new(),
        sink_visits: Vec::new(),
        input_visits: Vec::new(),
        pool_size: 0,
        free_packets: Vec::new(),
        packets_in_use: 0,
        sources: sources(plan, layout, shard),
        source_queues: SourceQueues::new(hosts.len() << shared.lane_shift),
        class_waiting: if shared.source_queue.is_some() {
            vec![0; hosts.len() * plan.classes.len()]
        } else {
            Vec::new()
        },
        outbox: vec![Vec::new(); layout.shard_count],
        border: rows.border.clone(),
        arbiters: arbiters(plan, graph, layout, rows, shard),
        sinks: hosts.iter().map(|_| Sink::default()).collect(),
        records: records(plan, graph, hosts, options),
        first_host_port: layout.first_host_port[shard],
        host_ids: hosts.iter().map(|host| host.0).collect(),
    }
}

/// Counters of a shard with the given hosts.
fn records(plan: &Plan, graph: &Graph, hosts: &[HostId], options: Options) -> Records {
    let host_ids = hosts.iter().map(|host| host.0).collect();
    let mut records = Records::new(plan, graph.hosts().len(), graph.channels().len(), host_ids);
    if options.keep_deliveries {
        records.keep_deliveries();
    }
    if options.check_order {
        records.check_order();
    }
    records
}

/// Farthest event [cycles ahead].
fn horizon(plan: &Plan, graph: &Graph) -> u64 {
    let most = |value: fn(&crate::topology::ChannelTiming) -> u32| {
        graph
            .channels()
            .iter()
            .map(|channel| u64::from(value(&channel.timing)))
            .max()
            .unwrap_or(1)
    };
    let (step, latency) = (
        most(|timing| timing.cycles_per_flit),
        most(|timing| timing.latency),
    );
    let pace = step.max(u64::from(plan.host.sink_cycles_per_flit.unwrap_or(1)));
    let switch = &plan.switch;
    let delays = u64::from(switch.routing_delay + switch.allocation_delay + switch.crossbar_delay);
    let credit = u64::from(switch.credit_latency.unwrap_or(0)).max(latency);
    let packet = u64::from(plan.largest_packet()) * pace;
    2 * (packet + latency + credit) + delays + u64::from(switch.output_buffer) * step
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
    let mut state = ArbiterState::default();
    if let Some(tables) = &plan.switch.vl_arbitration {
        state.vl = vec![VlArbiter::new(tables); ports];
    }
    if plan.switch.output_arbitration == OutputArbitration::Random {
        let switches = layout.switches[shard].iter();
        let channels =
            switches.flat_map(|&switch| graph.connected_ports(switch).map(|(_, channel)| channel));
        state.streams = channels
            .map(|channel| stream(plan.seed, Purpose::Arbitration, u64::from(channel.0)))
            .collect();
    }
    if plan.switch.output_buffer > 0 {
        state.channel_free = vec![0; ports];
    }
    if plan.switch.matching == Matching::InputFirst {
        state.input_lane = vec![0; ports];
        state.output_pointer = vec![0; ports];
        state.input_output = vec![0; rows.lanes.len()];
    }
    state
}
