//! The simulation: shards that run windows of cycles in parallel and exchange mail in between.
//!
//! A window lasts at most as long as the fastest channel between two shards takes, so nothing a shard does
//! in a window can reach another within it. Layout and results depend on the scenario alone: the same mail
//! is delivered whatever the number of threads, and the number of shards changes only where state lives.

use super::build::Blueprint;
use super::feed::Feed;
use super::outcome::StageCost;
use super::shard::{Inspect, Shard};
use crate::cycle::profile::StageClock;
use crate::cycle::state::{Message, ShardState};
use crate::cycle::{CycleBuilder, Stage};
use crate::fabric::partition::partition;
use crate::ids::ChannelId;
use crate::plan::Plan;
use crate::routing::Routes;
use crate::run::inspect::Columns;
use crate::run::invariants::Ledger;
use crate::run::layout::Layout;
use crate::topology::Graph;
use crate::traffic::messages::MessageError;

/// How to run; nothing here changes a result.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Worker threads, at least 1.
    pub threads: usize,
    /// Shards, at least 1.
    pub shards: usize,
    /// Keep every delivery.
    pub keep_deliveries: bool,
    /// Check that packets of a flow arrive in order.
    pub check_order: bool,
    /// Time every stage.
    pub profile: bool,
    /// Systems of the caller that look on, for the slots they name.
    pub guests: &'static [Guest],
}

/// Adds systems to the cycle of a shard.
pub type Guest = fn(&mut CycleBuilder);

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: 1,
            shards: 1,
            keep_deliveries: false,
            check_order: false,
            profile: false,
            guests: &[],
        }
    }
}

/// A fabric in motion.
pub struct Simulation {
    shards: Vec<Box<dyn Shard>>,
    /// Messages to come, when some class sends any.
    feed: Option<Feed>,
    pool: Option<rayon::ThreadPool>,
    /// Cycles per window.
    window: u64,
    /// Next cycle to run.
    now: u64,
    /// Outgoing channel of every port row of every shard.
    port_channels: Vec<Vec<ChannelId>>,
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
        routes: &Routes,
        options: Options,
    ) -> Result<Self, rayon::ThreadPoolBuildError> {
        let layout = Layout::new(graph, partition(graph, options.shards));
        let window = layout.window(graph, plan).min(LONGEST_WINDOW);
        let blueprint = Blueprint::new(plan, graph, routes, &layout, options);
        let build = |shard: usize| blueprint.shard(shard);
        let shards = (0..layout.shard_count).map(build).collect();
        let threads = options.threads.min(layout.shard_count);
        let pool = (threads > 1)
            .then(|| rayon::ThreadPoolBuilder::new().num_threads(threads).build())
            .transpose()?;
        Ok(Self {
            shards,
            feed: Feed::new(plan, &layout),
            pool,
            window,
            now: 0,
            port_channels: port_channels(graph, &layout),
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

    /// Words of a request mask, the same in all shards.
    pub fn mask_words(&self) -> usize {
        self.shards.first().map_or(0, |shard| shard.mask_words())
    }

    /// Outgoing channel of every port row, `[shard][port row]`.
    pub fn port_channels(&self) -> &[Vec<ChannelId>] {
        &self.port_channels
    }

    /// Runs up to cycle `end` (exclusive).
    ///
    /// # Errors
    /// When the messages of these cycles cannot be read.
    pub fn run_until(&mut self, end: u64) -> Result<(), MessageError> {
        if let Some(feed) = &mut self.feed {
            feed.post(end, &mut self.shards)?;
        }
        let (shards, window, now) = (&mut self.shards, self.window, &mut self.now);
        match &self.pool {
            Some(pool) => pool.install(|| advance(shards, window, now, end, run_joined)),
            None => advance(shards, window, now, end, run_in_turn),
        }
        Ok(())
    }

    /// State of every shard, for [`Self::restore`].
    ///
    /// # Errors
    /// As [`Shard::save`].
    pub fn save(&mut self) -> Result<Vec<Vec<u8>>, String> {
        self.shards.iter_mut().map(|shard| shard.save()).collect()
    }

    /// Goes on at cycle `now` from the states of as many shards; a fork keeps its sources.
    ///
    /// # Errors
    /// What does not fit.
    pub fn restore(&mut self, now: u64, states: &[Vec<u8>], fork: bool) -> Result<(), String> {
        self.now = now;
        if let Some(feed) = &mut self.feed {
            feed.skip(now).map_err(|cause| cause.to_string())?;
        }
        for (shard, state) in self.shards.iter_mut().zip(states) {
            shard.state_mut().now = now;
            shard.restore(state, fork)?;
        }
        Ok(())
    }

    /// Looks at every shard, in shard order.
    pub fn inspect(&mut self, inspect: &mut dyn Inspect) {
        for shard in &mut self.shards {
            shard.inspect(inspect);
        }
    }

    /// Mail on its way to each shard.
    pub fn mail(&mut self) -> impl Iterator<Item = &[Message]> {
        self.shards.iter_mut().map(|shard| &**shard.inbox())
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
        StageClock::costs(self.shards.iter().filter_map(|shard| shard.clock()))
    }

    /// The systems of a cycle, in run order, the same in all shards.
    pub fn stages(&self) -> &[Stage] {
        self.shards.first().map_or(&[], |shard| shard.stages())
    }

    /// State of every shard.
    pub fn states(&self) -> impl Iterator<Item = &ShardState> {
        self.shards.iter().map(|shard| shard.state())
    }

    /// State of every shard.
    pub fn states_mut(&mut self) -> impl Iterator<Item = &mut ShardState> {
        self.shards.iter_mut().map(|shard| shard.state_mut())
    }

    /// Whether no message will be read any more.
    pub fn is_fed(&self) -> bool {
        self.feed.as_ref().is_none_or(Feed::is_over)
    }

    /// Whether nothing will ever happen again.
    pub fn is_idle(&self) -> bool {
        let mut shards = self.shards.iter();
        self.is_fed() && shards.all(|shard| shard.next_event(self.now).is_none())
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
fn advance(
    shards: &mut [Box<dyn Shard>],
    window: u64,
    now: &mut u64,
    end: u64,
    run: fn(&mut [Box<dyn Shard>], u64, u64),
) {
    while *now < end {
        if shards.len() > 1 {
            let next = shards
                .iter()
                .filter_map(|shard| shard.next_event(*now))
                .min();
            *now = next.unwrap_or(end).min(end);
        }
        let to = now.saturating_add(window).min(end);
        run(shards, *now, to);
        exchange(shards);
        *now = to;
    }
}

/// Runs one window of one shard after the other.
fn run_in_turn(shards: &mut [Box<dyn Shard>], from: u64, to: u64) {
    for shard in shards {
        run_one(shard.as_mut(), from, to);
    }
}

/// Runs one window of all shards as a tree of joins, inside a thread pool.
fn run_joined(shards: &mut [Box<dyn Shard>], from: u64, to: u64) {
    match shards {
        [] => {}
        [shard] => run_one(shard.as_mut(), from, to),
        several => {
            let (left, right) = several.split_at_mut(several.len() / 2);
            rayon::join(
                || run_joined(left, from, to),
                || run_joined(right, from, to),
            );
        }
    }
}

fn run_one(shard: &mut dyn Shard, from: u64, to: u64) {
    let _span =
        tracing::info_span!(target: crate::cycle::profile::TRACE, "window", from, to).entered();
    shard.run_window(from, to);
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
