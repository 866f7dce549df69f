//! The simulation: shards that run windows of cycles in parallel and exchange mail in between.
//!
//! A window lasts at most as long as the fastest channel between two shards takes, so nothing a shard does
//! in a window can reach another within it. Placement and results depend on the scenario alone: the same mail
//! is delivered whatever the number of threads, and the number of shards changes only where state lives.

use super::build::Blueprint;
use super::feed::Feed;
use super::outcome::StageCost;
use super::shard::{Inspect, Shard, with_outbox};
use super::transport::{InProcess, Transport};
use crate::cycle::counts::Reduction;
use crate::cycle::ledger::{Channels, Ledger};
use crate::cycle::mechanisms::packet_records::Wanted;
use crate::cycle::profile::StageClock;
use crate::cycle::records::Records;
use crate::cycle::state::Mail;
use crate::cycle::state::worklists::{Hops, Worklists};
use crate::cycle::{Columns, CycleBuilder, Stage};
use crate::fabric::partition::partition;
use crate::fabric::placement::Placement;
use crate::ids::ChannelId;
use crate::plan::Plan;
use crate::routing::Routes;
use crate::topology::Graph;
use crate::traffic::messages::MessageError;
use bevy_ecs::component::Mutable;
use bevy_ecs::resource::Resource;
use bevy_ecs::world::Mut;
use std::collections::BTreeMap;

/// How to run; nothing here changes a result.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Worker threads, at least 1.
    pub threads: usize,
    /// Shards, at least 1.
    pub shards: usize,
    /// What is recorded of single packets beside what the plan says.
    pub wanted: Wanted,
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
            wanted: Wanted::default(),
            profile: false,
            guests: &[],
        }
    }
}

/// A fabric in motion.
pub struct Simulation {
    shards: Vec<Box<dyn Shard>>,
    transport: Box<dyn Transport>,
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
        let placement = Placement::new(graph, partition(graph, options.shards));
        let window = placement.window(graph, plan).min(LONGEST_WINDOW);
        let blueprint = Blueprint::new(plan, graph, routes, &placement, options);
        let build = |shard: usize| blueprint.shard(shard);
        let shards: Vec<_> = (0..placement.shard_count).map(build).collect();
        let threads = options.threads.min(placement.shard_count);
        let pool = (threads > 1)
            .then(|| rayon::ThreadPoolBuilder::new().num_threads(threads).build())
            .transpose()?;
        Ok(Self {
            transport: Box::new(InProcess::new(shards.len())),
            shards,
            feed: Feed::new(plan, &placement),
            pool,
            window,
            now: 0,
            port_channels: port_channels(graph, &placement),
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
        let fabric = &mut Windows {
            shards: &mut self.shards,
            transport: &mut *self.transport,
            window: self.window,
            now: &mut self.now,
        };
        match &self.pool {
            Some(pool) => pool.install(|| fabric.advance(end, run_joined)),
            None => fabric.advance(end, run_in_turn),
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
            shard.restore(state, now, fork)?;
        }
        Ok(())
    }

    /// Looks at every shard, in shard order.
    pub fn inspect(&self, inspect: &mut dyn Inspect) {
        for shard in &self.shards {
            shard.inspect(inspect);
        }
    }

    /// Mail on its way to each shard.
    pub fn mail(&self) -> impl Iterator<Item = &[Mail]> {
        self.shards.iter().map(|shard| shard.inbox())
    }

    /// Enters every shard, and the mail between shards, in a ledger.
    pub fn ledger(&self, ledger: Ledger) -> Ledger {
        let mut enter = Enter {
            ledger,
            channels: &self.port_channels,
            shards: &self.shards,
            shard: 0,
        };
        self.inspect(&mut enter);
        enter.ledger
    }

    /// Counters of mechanisms, by name.
    pub fn counts(&mut self) -> BTreeMap<String, u64> {
        let (now, shards, transport) = (self.now, &self.shards, &mut self.transport);
        let counts = shards.first().map_or(&[][..], |shard| shard.counts());
        let counts = counts.iter().enumerate().map(|(number, count)| {
            let mut values = shards
                .iter()
                .map(|shard| (shard.counts()[number].value)(shard.world(), now));
            let number = transport.reduce(count.by, &mut values);
            (count.name.to_owned(), number)
        });
        counts.collect()
    }

    /// Cost per stage so far, with profiling.
    pub fn stage_costs(&self) -> Vec<StageCost> {
        StageClock::costs(self.shards.iter().filter_map(|shard| shard.clock()))
    }

    /// The systems of a cycle, in run order, the same in all shards.
    pub fn stages(&self) -> &[Stage] {
        self.shards.first().map_or(&[], |shard| shard.stages())
    }

    /// A resource of every shard that has it.
    pub fn each<R: Resource>(&self) -> impl Iterator<Item = &R> {
        let shards = self.shards.iter();
        shards.filter_map(|shard| shard.world().get_resource::<R>())
    }

    /// A resource of every shard that has it.
    pub fn each_mut<R: Resource<Mutability = Mutable>>(
        &mut self,
    ) -> impl Iterator<Item = Mut<'_, R>> {
        let shards = self.shards.iter_mut();
        shards.filter_map(|shard| shard.world_mut().get_resource_mut::<R>())
    }

    /// Counters of every shard.
    pub fn records(&self) -> impl Iterator<Item = &Records> {
        self.each()
    }

    /// Packets and flits that passed switches so far, all shards together.
    pub fn hops(&self) -> Hops {
        let hops = self.each::<Worklists>().map(|lists| lists.hops);
        hops.fold(Hops::default(), |sum, hops| Hops {
            packets: sum.packets + hops.packets,
            flits: sum.flits + hops.flits,
        })
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
    shards: &'a [Box<dyn Shard>],
    shard: usize,
}

impl Inspect for Enter<'_> {
    fn look(&mut self, view: &dyn Columns) {
        let (shard, channels) = (&self.shards[self.shard], self.channels);
        let own = Channels::new(&channels[self.shard]);
        self.ledger
            .add(view, own, shard.inbox(), channels, shard.terms());
        self.shard += 1;
    }
}

/// Outgoing channel of every port row of every shard.
fn port_channels(graph: &Graph, placement: &Placement) -> Vec<Vec<ChannelId>> {
    let shard = |shard: usize| {
        let switches = placement.switches[shard].iter();
        let ports =
            switches.flat_map(|&switch| graph.connected_ports(switch).map(|(_, channel)| channel));
        let hosts = placement.hosts[shard]
            .iter()
            .map(|&host| graph.host_channel(host));
        ports.chain(hosts).collect()
    };
    (0..placement.shard_count).map(shard).collect()
}

/// What runs windows.
struct Windows<'a> {
    shards: &'a mut [Box<dyn Shard>],
    transport: &'a mut dyn Transport,
    window: u64,
    now: &'a mut u64,
}

impl Windows<'_> {
    /// Runs windows until `end`.
    fn advance(&mut self, end: u64, run: fn(&mut [Box<dyn Shard>], u64, u64)) {
        while *self.now < end {
            if self.shards.len() > 1 {
                let now = *self.now;
                let mut next =
                    (self.shards.iter()).map(|shard| shard.next_event(now).unwrap_or(u64::MAX));
                let next = self.transport.reduce(Reduction::Least, &mut next);
                *self.now = next.min(end);
            }
            let to = self.now.saturating_add(self.window).min(end);
            run(self.shards, *self.now, to);
            self.exchange();
            *self.now = to;
        }
    }

    /// Hands the mail over.
    fn exchange(&mut self) {
        if self.shards.len() == 1 {
            return;
        }
        for (from, shard) in self.shards.iter_mut().enumerate() {
            let transport = &mut *self.transport;
            with_outbox(shard.as_mut(), |outbox| transport.post(from, outbox));
        }
        for (to, shard) in self.shards.iter_mut().enumerate() {
            self.transport.exchange(to, shard.inbox_mut());
        }
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
