//! The schedule of one cycle: systems in slots, and what they touch as bevy reports it.
//!
//! Guarantees: systems of different slots run in slot order. Two systems of one slot that touch the same state, one of
//! them writing, are an error unless one is ordered after the other: their order would be chance.
//! Cost: nothing per cycle but the systems.

use super::executor::{Asleep, Lean};
use super::profile::StageClock;
use super::slot::{Slot, Stage};
use super::snapshot::name;
use bevy_ecs::component::ComponentId;
use bevy_ecs::query::{Access, InvertibleComponentIdSet};
use bevy_ecs::schedule::{
    IntoScheduleConfigs, LogLevel, Schedule, ScheduleBuildError, ScheduleBuildSettings,
    ScheduleLabel, SystemSet,
};
use bevy_ecs::system::{In, InMut, IntoSystem, System};
use bevy_ecs::world::World;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::Arc;

/// Label of the per-cycle schedule.
#[derive(ScheduleLabel, Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Label;

/// The systems of a slot that have no place at its end.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Main(Slot);

/// The systems that run after the others of a slot, by number.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Last(Slot, usize);

/// All stages of the core as one system ([`pass`](super::pass)): takes the mail that came before a window, whose kind is its own affair,
/// with the window's first cycle and its end; returns the next cycle in which something is due, which is before that end when the
/// packet pool must grow first.
pub type Pass = Box<dyn System<In = (InMut<'static, dyn Any>, In<[u64; 2]>), Out = u64>>;

/// A pass, and the systems that it stands for, in run order.
type StandIn = (Pass, Vec<&'static str>);

/// Takes the systems of a cycle.
pub struct CycleBuilder {
    schedule: Schedule,
    known: HashMap<TypeId, (&'static str, Slot)>,
    /// Names of components and resources: bevy keeps them in debug builds only.
    names: HashMap<TypeId, &'static str>,
    /// How many systems run after the others of a slot.
    last: HashMap<Slot, usize>,
    pass: Option<StandIn>,
}

/// The systems of a cycle, ready to run.
pub struct Cycle {
    schedule: Schedule,
    stages: Vec<Stage>,
    clock: Option<Arc<StageClock>>,
    /// Where nothing else than what it stands for may have something to do.
    pass: Option<Pass>,
    asleep: Asleep,
}

impl CycleBuilder {
    /// No system yet.
    pub fn new() -> Self {
        let mut schedule = Schedule::new(Label);
        schedule.set_build_settings(ScheduleBuildSettings {
            ambiguity_detection: LogLevel::Error,
            auto_insert_apply_deferred: false,
            ..ScheduleBuildSettings::default()
        });
        for neighbours in Slot::ALL.windows(2) {
            schedule.configure_sets((neighbours[0], neighbours[1]).chain());
        }
        Self {
            schedule,
            known: HashMap::new(),
            names: HashMap::new(),
            last: HashMap::new(),
            pass: None,
        }
    }

    /// A component or resource that the world has, by its type's name without path and parameters. What systems name
    /// beside these is not there to be touched.
    pub fn name<T: 'static>(&mut self) {
        self.names.insert(TypeId::of::<T>(), name::<T>());
    }

    /// A system for a slot.
    ///
    /// # Panics
    /// When it was added before: a defect of the program.
    pub fn add<M>(&mut self, slot: Slot, name: &'static str, system: impl IntoSystem<(), (), M>) {
        let system = IntoSystem::into_system(system);
        self.known(&system, name, slot);
        self.schedule
            .add_systems(system.in_set(slot).in_set(Main(slot)));
    }

    /// A system that runs after the others of its slot, and after those of this kind that were added before.
    ///
    /// # Panics
    /// As [`Self::add`].
    pub fn add_last<M>(
        &mut self,
        slot: Slot,
        name: &'static str,
        system: impl IntoSystem<(), (), M>,
    ) {
        let system = IntoSystem::into_system(system);
        self.known(&system, name, slot);
        let number = self.last.entry(slot).or_insert(0);
        let own = Last(slot, *number);
        let mut system = system.in_set(slot).in_set(own).after(Main(slot));
        if let Some(before) = number.checked_sub(1) {
            system = system.after(Last(slot, before));
        }
        *number += 1;
        self.schedule.add_systems(system);
    }

    fn known(&mut self, system: &impl System, name: &'static str, slot: Slot) {
        let earlier = self.known.insert(system.system_type(), (name, slot));
        assert!(earlier.is_none(), "the system {name} was added before");
    }

    /// What stands for these systems, in run order.
    pub fn pass(&mut self, pass: Pass, systems: Vec<&'static str>) {
        self.pass = Some((pass, systems));
    }

    /// The cycle; `timed`: a clock takes the time of every system. `may_sleep`: systems that the pass need not run; `None` = it is
    /// not used.
    ///
    /// # Errors
    /// When two systems of a slot are ambiguous.
    ///
    /// # Panics
    /// When bevy lost a system: a defect of the program.
    pub fn build(
        self,
        world: &mut World,
        timed: bool,
        may_sleep: Option<&[&'static str]>,
    ) -> Result<Cycle, ScheduleBuildError> {
        let Self {
            mut schedule,
            known,
            names,
            pass,
            ..
        } = self;
        schedule.initialize(world)?;
        let systems = schedule.systems_with_access();
        let systems = systems.unwrap_or_else(|_| unreachable!("it is initialized"));
        let stages: Vec<Stage> = systems
            .map(|(_, system)| {
                let (name, slot) = known[&system.system_type()];
                let access = system.access().to_filtered_access_set();
                let [reads, writes] = touched(world, &names, access.combined_access());
                Stage {
                    name,
                    slot,
                    reads,
                    writes,
                }
            })
            .collect();
        assert_eq!(stages.len(), known.len(), "every system has its place");
        let clock = timed.then(|| Arc::new(StageClock::new(&stages)));
        let may_sleep = may_sleep.filter(|_| !timed);
        let pass = pass.filter(|(_, systems)| {
            may_sleep.is_some_and(|asleep| stand_for(systems, &stages, asleep))
        });
        let pass = pass.map(|(mut pass, _)| {
            pass.initialize(world);
            pass
        });
        let asleep = Asleep::default();
        schedule.set_executor(Lean::new(clock.clone(), asleep.clone()));
        schedule.initialize(world)?;
        Ok(Cycle {
            schedule,
            stages,
            clock,
            pass,
            asleep,
        })
    }
}

impl Default for CycleBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl Cycle {
    /// Runs all systems once.
    #[inline]
    pub fn run(&mut self, world: &mut World) {
        self.schedule.run(world);
    }

    /// Puts these systems to sleep until they are others, a bit each in run order; with a profile all stay awake.
    #[inline]
    pub fn let_sleep(&self, systems: u64) {
        if self.clock.is_none() {
            self.asleep.set(systems);
        }
    }

    /// Whether there is a pass that may run instead while those sleep that may.
    pub fn has_pass(&self) -> bool {
        self.pass.is_some()
    }

    /// Takes out the mail that came before a window and runs all its cycles in which something is due; returns the next one, which
    /// is before the end of the window when the packet pool must grow.
    ///
    /// # Panics
    /// Where there is no pass.
    #[inline]
    pub fn run_pass(&mut self, world: &mut World, window: [u64; 2], mail: &mut dyn Any) -> u64 {
        let pass = self.pass.as_mut().expect("somebody asked for it");
        let next = pass.run_without_applying_deferred((mail, window), world);
        next.expect("a stage validates its parameters when it is built")
    }

    /// The systems with these names, a bit each in run order, of the first 64.
    pub fn bits(&self, names: &[&str]) -> u64 {
        let stages = self.stages.iter().take(64).enumerate();
        let own = stages.filter(|(_, stage)| names.contains(&stage.name));
        own.fold(0, |bits, (number, _)| bits | 1 << number)
    }

    /// The systems, in run order.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// The clock, when the cycle is timed.
    pub fn clock(&self) -> Option<&Arc<StageClock>> {
        self.clock.as_ref()
    }
}

/// Whether these systems are all stages that are left without those that may sleep.
fn stand_for(systems: &[&str], stages: &[Stage], may_sleep: &[&str]) -> bool {
    let names = stages.iter().map(|stage| stage.name);
    let awake = names.filter(|name| !may_sleep.contains(name));
    awake.eq(systems.iter().copied())
}

/// Names of what is read only and of what is written, sorted.
fn touched(
    world: &World,
    names: &HashMap<TypeId, &'static str>,
    access: &Access,
) -> [Vec<&'static str>; 2] {
    let ids = |set: &InvertibleComponentIdSet| -> Vec<ComponentId> {
        let finite = set.as_finite_set();
        finite.map_or_else(Vec::new, |set| set.iter().collect())
    };
    let name = |id: ComponentId| {
        let info = world.components().get_info(id)?;
        names.get(&info.type_id()?).copied()
    };
    let (mut reads, writes) = (ids(access.reads()), ids(access.writes()));
    reads.retain(|id| !writes.contains(id));
    [reads, writes].map(|ids| {
        let mut names: Vec<_> = ids.into_iter().filter_map(name).collect();
        names.sort_unstable();
        names
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_ecs::prelude::{Res, ResMut, Resource};

    #[derive(Resource, Default)]
    struct Order(Vec<u8>);
    #[derive(Resource, Default)]
    struct Other;

    fn first(mut order: ResMut<Order>) {
        order.0.push(1);
    }
    fn second(mut order: ResMut<Order>, _: Res<Other>) {
        order.0.push(2);
    }

    fn world() -> World {
        let mut world = World::new();
        world.init_resource::<Order>();
        world.init_resource::<Other>();
        world
    }

    #[test]
    fn slots_give_the_order_and_bevy_says_what_is_touched() {
        let mut builder = CycleBuilder::new();
        builder.name::<Order>();
        builder.name::<Other>();
        builder.add(Slot::Observe, "second", second);
        builder.add(Slot::Credits, "first", first);
        let mut world = world();
        let mut cycle = builder.build(&mut world, true, None).unwrap();
        cycle.run(&mut world);
        assert_eq!(world.resource::<Order>().0, [1, 2]);
        let [one, two] = cycle.stages() else {
            panic!("{:?}", cycle.stages())
        };
        assert_eq!((one.name, one.slot), ("first", Slot::Credits));
        assert_eq!((two.name, two.slot), ("second", Slot::Observe));
        assert_eq!(two.reads, ["Other"]);
        assert_eq!(two.writes, ["Order"]);
    }

    #[test]
    fn sleeping_systems_are_left_out_until_they_wake() {
        let mut builder = CycleBuilder::new();
        builder.add(Slot::Observe, "second", second);
        builder.add(Slot::Credits, "first", first);
        let mut world = world();
        let mut cycle = builder.build(&mut world, false, None).unwrap();
        let last = cycle.bits(&["second", "third"]);
        assert_eq!((last, cycle.bits(&["first"])), (2, 1));
        for asleep in [last, 0, 3] {
            cycle.let_sleep(asleep);
            cycle.run(&mut world);
        }
        assert_eq!(world.resource::<Order>().0, [1, 1, 2]);
    }

    #[test]
    fn two_systems_of_a_slot_that_write_the_same_are_an_error() {
        let mut builder = CycleBuilder::new();
        builder.name::<Order>();
        builder.name::<Other>();
        builder.add(Slot::Mark, "first", first);
        builder.add(Slot::Mark, "second", second);
        let refused = builder.build(&mut world(), false, None);
        assert!(matches!(
            refused.err(),
            Some(ScheduleBuildError::Elevated(_))
        ));
    }
}
