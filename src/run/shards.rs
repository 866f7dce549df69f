//! All shards of a simulation between two cycles: where mail, counters, columns and resources of all are in sight.
//!
//! A window lasts at most as long as the fastest channel between two shards takes, so nothing a shard does
//! in a window can reach another within it. Placement and results depend on the scenario alone: the same mail
//! is delivered whatever the number of threads, and the number of shards changes only where state lives.

use super::outcome::StageCost;
use super::shard::Shard;
use super::transport::{InProcess, Transport};
use crate::cycle::counts::Reduction;
use crate::cycle::ledger::{Channels, Ledger};
use crate::cycle::profile::StageClock;
use crate::cycle::records::{Records, Totals};
use crate::cycle::state::Mail;
use crate::cycle::state::worklists::{Hops, Worklists};
use crate::cycle::ties::Regular;
use crate::cycle::{Columns, Inspect, Stage};
use crate::fabric::Group;
use crate::fabric::placement::Placement;
use crate::fabric::rows::HostRow;
use crate::fabric::source_queue::SourceQueues;
use crate::ids::{ChannelId, HostId};
use crate::topology::Graph;
use bevy_ecs::component::{Component, Mutable};
use bevy_ecs::resource::Resource;
use bevy_ecs::world::{Mut, World};
use std::collections::BTreeMap;

/// Where a host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostPlace {
    /// Its shard.
    pub shard: usize,
    /// Its row there.
    pub row: HostRow,
}

/// All shards, and the mail between them.
pub struct Shards {
    all: Vec<Box<dyn Shard>>,
    transport: Box<dyn Transport>,
    /// Cycles per window.
    window: u64,
    /// Next cycle to run.
    now: u64,
    /// Outgoing channel of every port row of every shard.
    port_channels: Vec<Vec<ChannelId>>,
    /// Where each host is.
    hosts: Vec<HostPlace>,
}

impl Shards {
    /// At cycle 0, with windows of `window` cycles.
    pub(super) fn new(
        shards: Vec<Box<dyn Shard>>,
        graph: &Graph,
        placement: &Placement,
        window: u64,
    ) -> Self {
        let place = |host: usize| {
            let shard = placement.host_shard[host] as usize;
            let first = placement.first_host_port[shard];
            let row = HostRow(placement.host_port[host].minus(first));
            HostPlace { shard, row }
        };
        Self {
            transport: Box::new(InProcess::new(shards.len())),
            all: shards,
            window,
            now: 0,
            port_channels: port_channels(graph, placement),
            hosts: (0..placement.host_shard.len()).map(place).collect(),
        }
    }

    /// Every host with its place, in id order.
    pub fn hosts(&self) -> impl ExactSizeIterator<Item = (HostId, HostPlace)> {
        let hosts = self.hosts.iter().enumerate();
        hosts.map(|(host, place)| (HostId::from(host), *place))
    }

    /// Where a host is.
    pub fn place(&self, host: HostId) -> HostPlace {
        self.hosts[host.index()]
    }

    /// A resource of one shard; `None` when it has none.
    pub fn resource_mut<R: Resource<Mutability = Mutable>>(
        &mut self,
        shard: usize,
    ) -> Option<Mut<'_, R>> {
        self.all[shard].world_mut().get_resource_mut::<R>()
    }

    /// Looks that mechanisms take at their shards, the same in all of them.
    pub(super) fn looks(&self) -> &[Regular] {
        self.all.first().map_or(&[], |shard| &shard.ties().looks)
    }

    /// All of every shard.
    pub(super) fn worlds(&self) -> impl Iterator<Item = &World> {
        self.all.iter().map(|shard| shard.world())
    }

    /// All of one shard.
    pub(super) fn world_mut(&mut self, shard: usize) -> &mut World {
        self.all[shard].world_mut()
    }

    /// Shows a component of all entities of a kind, in row order, of every shard that has it, with the shard's number.
    pub fn columns_mut<C: Component<Mutability = Mutable>>(
        &mut self,
        mut act: impl FnMut(usize, &mut [C]),
    ) {
        for (number, shard) in self.all.iter_mut().enumerate() {
            let world = shard.world_mut();
            let mut query = world.query::<&mut C>();
            let tables = query.contiguous_iter_mut(world).into_iter().flatten();
            for mut rows in tables {
                act(number, &mut rows);
            }
        }
    }

    /// The same of rows that stand in groups.
    pub fn grouped_mut<C: Send + Sync + 'static>(&mut self, mut act: impl FnMut(usize, &mut [C])) {
        self.columns_mut::<Group<C>>(|shard, groups| act(shard, Group::rows_mut(groups)));
    }

    /// Next cycle to run.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Shards.
    pub fn shard_count(&self) -> usize {
        self.all.len()
    }

    /// Whether the stages of shards may run in one pass.
    pub fn has_pass(&self) -> bool {
        self.all.first().is_some_and(|shard| shard.has_pass())
    }

    /// Words of a request mask, the same in all shards.
    pub fn mask_words(&self) -> usize {
        self.all.first().map_or(0, |shard| shard.mask_words())
    }

    /// Outgoing channel of every port row, `[shard][port row]`.
    pub fn port_channels(&self) -> &[Vec<ChannelId>] {
        &self.port_channels
    }

    /// Looks at every shard, in shard order.
    pub fn inspect(&self, inspect: &mut dyn Inspect) {
        for shard in &self.all {
            shard.inspect(inspect);
        }
    }

    /// Mail on its way to each shard.
    pub fn mail(&self) -> impl Iterator<Item = &[Mail]> {
        self.all.iter().map(|shard| shard.inbox())
    }

    /// The same of one shard, to be changed.
    #[cfg(test)]
    pub(super) fn inbox_mut(&mut self, shard: usize) -> &mut Vec<Mail> {
        self.all[shard].inbox_mut()
    }

    /// Enters every shard, and the mail between shards, in a ledger.
    pub fn ledger(&self, ledger: Ledger) -> Ledger {
        let mut enter = Enter {
            ledger,
            channels: &self.port_channels,
            shards: &self.all,
            shard: 0,
        };
        self.inspect(&mut enter);
        enter.ledger
    }

    /// Counters of mechanisms, by name.
    pub fn counts(&mut self) -> BTreeMap<String, u64> {
        let (now, shards, transport) = (self.now, &self.all, &mut self.transport);
        let counts = shards.first().map_or(&[][..], |shard| &shard.ties().counts);
        let counts = counts.iter().enumerate().map(|(number, count)| {
            let mut values = shards
                .iter()
                .map(|shard| (shard.ties().counts[number].value)(shard.world(), now));
            let number = transport.reduce(count.by, &mut values);
            (count.name.to_owned(), number)
        });
        counts.collect()
    }

    /// Cost per stage so far, with profiling.
    pub fn stage_costs(&self) -> Vec<StageCost> {
        StageClock::costs(self.all.iter().filter_map(|shard| shard.clock()))
    }

    /// The systems of a cycle, in run order, the same in all shards.
    pub fn stages(&self) -> &[Stage] {
        self.all.first().map_or(&[], |shard| shard.stages())
    }

    /// A resource of every shard that has it.
    pub fn each<R: Resource>(&self) -> impl Iterator<Item = &R> {
        let shards = self.all.iter();
        shards.filter_map(|shard| shard.world().get_resource::<R>())
    }

    /// A resource of every shard that has it.
    pub fn each_mut<R: Resource<Mutability = Mutable>>(
        &mut self,
    ) -> impl Iterator<Item = Mut<'_, R>> {
        let shards = self.all.iter_mut();
        shards.filter_map(|shard| shard.world_mut().get_resource_mut::<R>())
    }

    /// Counters of every shard.
    pub fn records(&self) -> impl Iterator<Item = &Records> {
        self.each()
    }

    /// Totals of all shards.
    pub fn totals(&self) -> Totals {
        let mut sum = Totals::default();
        for records in self.records() {
            sum.add(&records.totals);
        }
        sum
    }

    /// Packets that wait at hosts.
    pub fn queued(&self) -> u64 {
        let sources = self.each::<SourceQueues>().map(SourceQueues::waiting);
        let others = self.all.iter();
        let others = others.map(|shard| shard.ties().queued(shard.world()));
        sources.sum::<u64>() + others.sum::<u64>()
    }

    /// Packets and flits that passed switches so far, all shards together.
    pub fn hops(&self) -> Hops {
        let hops = self.each::<Worklists>().map(|lists| lists.hops);
        hops.fold(Hops::default(), |sum, hops| Hops {
            packets: sum.packets + hops.packets,
            flits: sum.flits + hops.flits,
            longest: sum.longest.max(hops.longest),
        })
    }

    /// State of every shard.
    ///
    /// # Errors
    /// As [`Shard::save`].
    pub(super) fn save(&mut self) -> Result<Vec<Vec<u8>>, String> {
        self.all.iter_mut().map(|shard| shard.save()).collect()
    }

    /// Goes on at cycle `now` from the states of as many shards; a fork keeps its sources.
    ///
    /// # Errors
    /// What does not fit.
    pub(super) fn restore(
        &mut self,
        now: u64,
        states: &[Vec<u8>],
        fork: bool,
    ) -> Result<(), String> {
        if states.len() != self.all.len() {
            return Err(String::from("its shards are others"));
        }
        self.now = now;
        for (shard, state) in self.all.iter_mut().zip(states) {
            shard.restore(state, now, fork)?;
        }
        Ok(())
    }

    /// Whether no shard has anything to do any more. Credits that nobody waits for are nothing: only those of another shard come in a
    /// cycle of their own.
    pub(super) fn are_idle(&self) -> bool {
        let is_empty = self.totals().in_fabric() == 0 && self.queued() == 0;
        let mut shards = self.all.iter();
        shards.all(|shard| {
            shard.next_event(self.now).is_none() || is_empty && shard.has_credits_only(self.now)
        })
    }

    /// Runs windows until `end`.
    pub(super) fn advance(&mut self, end: u64, run: RunWindow) {
        while self.now < end {
            if self.all.len() > 1 {
                let now = self.now;
                let mut next =
                    (self.all.iter()).map(|shard| shard.next_event(now).unwrap_or(u64::MAX));
                let next = self.transport.reduce(Reduction::Least, &mut next);
                self.now = next.min(end);
            }
            let to = self.now.saturating_add(self.window).min(end);
            run(&mut self.all, self.now, to);
            self.exchange();
            self.now = to;
        }
    }

    /// Hands the mail over.
    fn exchange(&mut self) {
        if self.all.len() == 1 {
            return;
        }
        for (from, shard) in self.all.iter_mut().enumerate() {
            self.transport.post(from, shard.outbox_mut());
        }
        for (to, shard) in self.all.iter_mut().enumerate() {
            self.transport.exchange(to, shard.inbox_mut());
        }
    }
}

/// Runs the window from a cycle to another in all shards.
pub(super) type RunWindow = fn(&mut [Box<dyn Shard>], u64, u64);

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
            .add(view, own, shard.inbox(), channels, &shard.ties().terms);
        self.ledger.waits(shard.ties().queued(shard.world()));
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
