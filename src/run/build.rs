//! Builds shards from plan, graph and routes.

use super::shard::{Shard, WorldShard};
use super::simulation::Options;
use crate::cycle::columns::{Turn, Turns};
use crate::cycle::prefetch::is_large;
use crate::cycle::records::Records;
use crate::cycle::stages::generate::sources::Sources;
use crate::cycle::state::{Calendar, Mail, Outbox, PacketPool, Place, Shared, Worklists};
use crate::cycle::{self, ShardBuilder, Site};
use crate::fabric::group::groups;
use crate::fabric::placement::Placement;
use crate::fabric::source_queue::SourceQueues;
use crate::fabric::{Group, Host, InPort, OutLane, OutPort, Packet, PacketRecord, Queue, Switch};
use crate::plan::Plan;
use crate::routing::Routes;
use crate::run::lower::{self, Rows};
use crate::topology::Graph;
use crate::traffic::Source;
use bevy_ecs::world::World;
use std::iter::repeat_n;
use std::sync::Arc;

/// What all shards of a simulation are built from.
pub(super) struct Blueprint<'a> {
    plan: &'a Plan,
    graph: &'a Graph,
    routes: &'a Routes,
    placement: &'a Placement,
    shared: Arc<Shared>,
    options: Options,
    /// Words of a request mask: bits of the widest switch / 64.
    words: usize,
}

impl<'a> Blueprint<'a> {
    /// Lowers what all shards share.
    pub(super) fn new(
        plan: &'a Plan,
        graph: &'a Graph,
        routes: &'a Routes,
        placement: &'a Placement,
        options: Options,
    ) -> Self {
        let shared = Arc::new(lower::shared(graph, routes, plan, placement));
        let ports = graph
            .switch_ids()
            .map(|switch| graph.connected_ports(switch).count());
        let words = (shared.numbering)
            .bits(ports.max().unwrap_or(1))
            .div_ceil(64);
        Self {
            plan,
            graph,
            routes,
            placement,
            shared,
            options,
            words,
        }
    }

    /// One shard, with masks just wide enough; in wider steps where not every option has its default, so that there are
    /// fewer forms of the cycle to compile (`cycle::rules` says which widths have which sets).
    pub(super) fn shard(&self, shard: usize) -> Box<dyn Shard> {
        match (self.words, self.shared.is_plain()) {
            (0..=1, _) => self.boxed::<1>(shard),
            (0..=2, _) => self.boxed::<2>(shard),
            (3..=4, true) => self.boxed::<4>(shard),
            (3..=8, _) => self.boxed::<8>(shard),
            (9..=16, _) => self.boxed::<16>(shard),
            _ => self.boxed::<128>(shard),
        }
    }

    /// # Panics
    /// When the cycle's systems are ambiguous: a defect of the schedule, caught by every test.
    fn boxed<const W: usize>(&self, number: usize) -> Box<dyn Shard> {
        let site = Site {
            plan: self.plan,
            graph: self.graph,
            routes: self.routes,
            placement: self.placement,
            shared: &self.shared,
            number,
            wanted: self.options.wanted,
        };
        let tables = self.routes.tables();
        let (plan, graph, placement) = (self.plan, self.graph, self.placement);
        let mut rows = lower::rows::<W>(graph, tables, plan, placement, &self.shared, number);
        let mut world = World::new();
        let mut builder = ShardBuilder::<W>::new(site, &mut world);
        add_resources(&mut builder, &mut rows, self.options.prefetch);
        cycle::build(&mut builder);
        for guest in self.options.guests {
            guest(builder.cycle());
        }
        let mut parts = builder.into_parts();
        spawn(&mut world, rows, placement, number);
        parts.fill(&mut world);
        let (snapshot, ties) = (parts.snapshot, parts.ties);
        let may_sleep = ties.may_sleep();
        let cycle = (parts.cycle).build(&mut world, self.options.profile, may_sleep.as_deref());
        let cycle = cycle.expect("no two systems of a slot touch the same");
        Box::new(WorldShard::<W>::new(world, cycle, snapshot, ties))
    }
}

/// What every shard has.
fn add_resources<const W: usize>(
    shard: &mut ShardBuilder<'_, W>,
    rows: &mut Rows<W>,
    prefetch: Option<bool>,
) {
    let Site {
        plan,
        graph,
        placement,
        shared,
        number,
        ..
    } = shard.site();
    let hosts = placement.hosts[number].len();
    shard.constant(Place {
        shared: Arc::clone(shared),
        first_host_port: placement.first_host_port[number],
        border: std::mem::take(&mut rows.border).into(),
        // shards are about as large as one another
        prefetches: prefetch.unwrap_or_else(|| is_large(rows.bytes() * placement.shard_count)),
    });
    shard.resource(PacketPool::new(hosts));
    shard.resource(Calendar::new(plan.event_horizon(graph)));
    shard.resource(Worklists::default());
    shard.resource(Outbox(vec![Mail::default(); placement.shard_count]));
    shard.resource(sources(plan, placement, number));
    shard.resource(SourceQueues::new(shared.numbering.rows(hosts)));
    shard.resource(Turns(vec![Turn::default(); rows.turn_count]));
    shard.resource(Records::new(plan, graph));
    shard.known_column::<Switch<W>>();
    shard.known_column::<OutPort>();
    shard.known_column::<InPort>();
    shard.known_column::<Group<OutLane<W>>>();
    shard.known_column::<Group<Queue>>();
    shard.known_column::<Group<Packet>>();
    shard.known_column::<Group<PacketRecord>>();
    shard.cycle().name::<Host>();
}

/// Spawns the rows, in row order.
fn spawn<const W: usize>(world: &mut World, rows: Rows<W>, placement: &Placement, number: usize) {
    let hosts = placement.hosts[number]
        .iter()
        .map(|host| Host { id: host.0 });
    drop(world.spawn_batch(rows.switches));
    drop(world.spawn_batch(rows.ports));
    drop(world.spawn_batch(hosts.collect::<Vec<_>>()));
    if rows.classifier.is_lane() {
        // lanes and their queues are one entity
        let group = (Group::of(rows.lane), Group::of(Queue::EMPTY));
        drop(world.spawn_batch(repeat_n(group, groups(rows.lane_count))));
    } else {
        let queues = rows.lane_count * rows.classifier.queues_per_lane() as usize;
        let (lanes, queue) = (Group::of(rows.lane), Group::of(Queue::EMPTY));
        drop(world.spawn_batch(repeat_n(lanes, groups(rows.lane_count))));
        drop(world.spawn_batch(repeat_n(queue, groups(queues))));
    }
}

/// Sources in (host, class) order; a class that does not use a host has a source there that never sends.
fn sources(plan: &Plan, placement: &Placement, shard: usize) -> Sources {
    let mut rows = Vec::new();
    for &host in &placement.hosts[shard] {
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
