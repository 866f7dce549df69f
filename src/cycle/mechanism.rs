//! How a mechanism joins the cycle: one type, and one line in the list `mechanisms!`.
//!
//! A mechanism looks at what a run is built from and says whether it takes part ([`Mechanism::of`]); then it adds to
//! every shard, by a [`ShardBuilder`], columns of existing entities, resources, systems, facts it reads and terms of
//! the conservation laws. What is added is saved and restored with the shard. A fabric that does not use it has nothing
//! of it.

use super::counts::Count;
use super::joints::Joints;
use super::ledger::Term;
use super::rules::RuleSet;
use super::schedule::{CycleBuilder, Pass};
use super::shown::Shown;
use super::slot::Slot;
use super::snapshot::{Persistent, Snapshot};
use super::stages::inject::Start;
use super::state::{Fact, Outbox, Shared, Worklists};
use super::ties::{Alarm, Carrier, Queued, Receiver, Regular, Riding, Sleeper, Ties};
use super::view::View;
use crate::fabric::placement::Placement;
use crate::plan::Plan;
use crate::routing::Routes;
use crate::topology::Graph;
use bevy_ecs::component::{Component, Mutable};
use bevy_ecs::resource::Resource;
use bevy_ecs::system::IntoSystem;
use bevy_ecs::world::{Mut, World};
use std::sync::Arc;

/// What a program asks for beside the plan; nothing here changes a result.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// Keep every delivery.
    pub deliveries: bool,
    /// Check that packets of a flow arrive in order.
    pub order: bool,
}

/// What a shard is built from.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The fabric.
    pub graph: &'a Graph,
    /// Its routes.
    pub routes: &'a Routes,
    /// Where everything lives.
    pub placement: &'a Placement,
    /// Tables and options.
    pub shared: &'a Arc<Shared>,
    /// Number of the shard.
    pub number: usize,
    /// What is recorded of single packets beside what the plan says.
    pub wanted: Wanted,
}

impl Site<'_> {
    /// Whether channels of the shard lead to another.
    pub fn has_border(&self) -> bool {
        self.placement.shard_count > 1
    }
}

/// Something that joins the cycle.
pub trait Mechanism: Sized {
    /// Whether it only looks on: nothing in a run depends on it, so a saved run may go on without it, or with it anew.
    const LOOKS_ON: bool = false;

    /// The mechanism as the plan wants it; `None`: it is not used.
    fn of(site: &Site<'_>) -> Option<Self>;

    /// Adds it to a shard with request masks of `W` words.
    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>);
}

/// What the pass has fetched for its window.
pub(in crate::cycle) struct Fetched<'a, 'v, 's, const W: usize, P: RuleSet, J: Joints> {
    /// Columns, and what is to be done.
    pub(in crate::cycle) view: &'a mut View<'v, W, P>,
    /// Hosts, and what a packet that starts changes beside the fabric.
    pub(in crate::cycle) start: &'a mut Start<'s, J>,
    /// Mail to other shards.
    pub(in crate::cycle) outbox: &'a mut Outbox,
}

/// What a mechanism does inside the pass ([`pass`](super::pass)): what its systems do, over what the pass has fetched. Nothing
/// where it is not used.
pub(in crate::cycle) trait Rider<J: Joints> {
    /// Whether there may be one: then the facts of a cycle are kept for it.
    const RIDES: bool = true;

    /// First cycle in which it has something to do; one that is over stands for the next one.
    #[inline]
    fn next(&self, _start: &Start<'_, J>) -> u64 {
        u64::MAX
    }

    /// Its turn at the end of a slot, of those that [`pass`](super::pass) has turns for.
    fn run<const W: usize, P: RuleSet>(
        &mut self,
        slot: Slot,
        on: &mut Fetched<'_, '_, '_, W, P, J>,
    );
}

/// Nobody rides.
impl<J: Joints> Rider<J> for () {
    const RIDES: bool = false;

    #[inline(always)]
    fn run<const W: usize, P: RuleSet>(&mut self, _: Slot, _: &mut Fetched<'_, '_, '_, W, P, J>) {}
}

/// A shard that is being built.
pub struct ShardBuilder<'a, const W: usize> {
    site: Site<'a>,
    world: &'a mut World,
    cycle: CycleBuilder,
    snapshot: Snapshot,
    ties: Ties,
    fills: Vec<Fill>,
    /// [`Mechanism::LOOKS_ON`] of the mechanism that is being built.
    looks_on: bool,
}

/// Gives the rows of a column their start values.
type Fill = Box<dyn FnOnce(&mut World)>;

/// What remains of a builder when all entities are to be spawned.
pub struct Parts {
    /// The systems.
    pub cycle: CycleBuilder,
    /// What is saved.
    pub snapshot: Snapshot,
    /// What else mechanisms have tied to the shard.
    pub ties: Ties,
    fills: Vec<Fill>,
}

impl<'a, const W: usize> ShardBuilder<'a, W> {
    /// Nothing yet.
    pub fn new(site: Site<'a>, world: &'a mut World) -> Self {
        world.init_resource::<Shown>();
        Self {
            site,
            world,
            cycle: CycleBuilder::new(),
            snapshot: Snapshot::default(),
            ties: Ties::default(),
            fills: Vec::new(),
            looks_on: false,
        }
    }

    /// A mechanism, if the site asks for it.
    pub fn add<M: Mechanism>(&mut self) {
        if let Some(mechanism) = M::of(&self.site()) {
            self.looks_on = M::LOOKS_ON;
            mechanism.build(self);
            self.looks_on = false;
        }
    }

    /// What the shard is built from.
    pub fn site(&self) -> Site<'a> {
        self.site
    }

    /// A component that every entity of the kind `On` has in addition, each with the value `start`.
    pub fn column<On, C>(&mut self, start: C)
    where
        On: Component,
        C: Component<Mutability = Mutable> + Persistent + Clone,
    {
        let make = move || start.clone();
        self.world.register_required_components_with::<On, C>(make);
        self.known_column::<C>();
    }

    /// The same with a start value by row.
    pub fn column_by<On, C>(&mut self, start: impl Fn(usize) -> C + 'static)
    where
        On: Component,
        C: Component<Mutability = Mutable> + Persistent + Default,
    {
        self.world.register_required_components::<On, C>();
        self.known_column::<C>();
        self.fills.push(Box::new(move |world| {
            let mut rows = world.query::<&mut C>();
            for (row, mut value) in rows.iter_mut(world).enumerate() {
                *value = start(row);
            }
        }));
    }

    /// A component that entities are spawned with.
    pub fn known_column<C: Component<Mutability = Mutable> + Persistent>(&mut self) {
        self.cycle.name::<C>();
        self.snapshot.column::<C>(self.looks_on);
    }

    /// State of the shard.
    pub fn resource<R: Resource<Mutability = Mutable> + Persistent>(&mut self, resource: R) {
        self.cycle.name::<R>();
        self.snapshot.resource::<R>(self.looks_on);
        self.world.insert_resource(resource);
    }

    /// Something that never changes.
    pub fn constant<R: Resource>(&mut self, resource: R) {
        self.cycle.name::<R>();
        self.world.insert_resource(resource);
    }

    /// A system for a slot.
    pub fn system<M>(
        &mut self,
        slot: Slot,
        name: &'static str,
        system: impl IntoSystem<(), (), M>,
    ) {
        self.cycle.add(slot, name, system);
    }

    /// A system that runs after the others of its slot.
    pub fn last_system<M>(
        &mut self,
        slot: Slot,
        name: &'static str,
        system: impl IntoSystem<(), (), M>,
    ) {
        self.cycle.add_last(slot, name, system);
    }

    /// A fact of the cycle that its systems read.
    pub fn subscribe(&mut self, fact: Fact) {
        self.world.resource_mut::<Worklists>().facts.keep(fact);
    }

    /// Called when a saved state has been taken over.
    pub fn on_resume(&mut self, act: fn(&mut World)) {
        self.snapshot.on_resume(act);
    }

    /// Its term of the conservation laws.
    pub fn ledger(&mut self, term: Term) {
        self.ties.terms.push(term);
    }

    /// A counter of the run.
    pub fn count(&mut self, count: Count) {
        self.ties.counts.push(count);
    }

    /// What keeps a cycle from being jumped over.
    pub fn alarm(&mut self, alarm: Alarm) {
        self.ties.alarms.push(alarm);
    }

    /// When its systems have nothing to do for whole windows, and its alarm.
    pub fn sleeper(&mut self, sleeper: Sleeper) {
        self.ties.sleepers.push(sleeper);
    }

    /// Systems whose work the pass does itself; they are added, too.
    pub fn rides(&mut self, riding: Riding) {
        self.ties.riding.push(riding);
    }

    /// Those of all mechanisms so far, by slot and name.
    pub fn riding(&self) -> impl Iterator<Item = (Slot, &'static str)> + '_ {
        let riding = self.ties.riding.iter();
        riding.flat_map(|riding| riding.systems).copied()
    }

    /// A look that it takes from time to time.
    pub fn look(&mut self, look: Regular) {
        self.ties.looks.push(look);
    }

    /// What it shows to who looks on.
    pub fn shown(&mut self) -> Mut<'_, Shown> {
        self.world.resource_mut::<Shown>()
    }

    /// Packets that it keeps before they enter the fabric.
    pub fn queue(&mut self, queued: Queued) {
        self.ties.queues.push(queued);
    }

    /// A receiver of notices from other shards; returns the number they name it by, which is the same in all shards.
    pub fn receiver(&mut self, receiver: Receiver) -> u16 {
        self.ties.receivers.push(receiver);
        self.ties.receivers.len() as u16 - 1
    }

    /// Who takes what packets from other shards carry, and parcels from there.
    pub fn carrier(&mut self, carrier: Carrier) {
        self.ties.carrier = Some(carrier);
    }

    /// State that a mechanism built before has registered.
    pub fn built<R: Resource<Mutability = Mutable>>(&mut self) -> Mut<'_, R> {
        self.world.resource_mut::<R>()
    }

    /// Facts that somebody subscribed to so far.
    pub fn keeps_facts(&self) -> bool {
        self.world.resource::<Worklists>().facts.any()
    }

    /// Systems of others.
    pub fn cycle(&mut self) -> &mut CycleBuilder {
        &mut self.cycle
    }

    /// What stands for these systems, in run order.
    pub fn pass(&mut self, pass: Pass, systems: Vec<&'static str>) {
        self.cycle.pass(pass, systems);
    }

    /// Ends the borrow of the world.
    pub fn into_parts(self) -> Parts {
        Parts {
            cycle: self.cycle,
            snapshot: self.snapshot,
            ties: self.ties,
            fills: self.fills,
        }
    }
}

impl Parts {
    /// Gives all columns their start values; all entities but packets are spawned.
    pub fn fill(&mut self, world: &mut World) {
        for fill in self.fills.drain(..) {
            fill(world);
        }
    }
}
