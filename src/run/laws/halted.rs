//! A run stopped in mid-life, whose state tests change to see which law breaks.

use super::super::simulation::{Options, Simulation};
use crate::cycle::Wanted;
use crate::scenario::{Document, Parts, Resolved};
use bevy_ecs::component::{Component, Mutable};
use bevy_ecs::resource::Resource;
use std::path::Path;

/// The run.
pub(crate) struct Halted {
    resolved: Resolved,
    /// Where it stands.
    pub(crate) simulation: Simulation,
}

impl Halted {
    /// Runs a scenario for so many cycles on so many shards; every law holds then.
    pub(crate) fn new(text: &str, cycles: u64, shards: usize) -> Self {
        let document = Document::parse("test.ron", text, Path::new("")).expect("it is a scenario");
        let resolved = document.resolve(&Parts::registered());
        let resolved = resolved.unwrap_or_else(|error| panic!("{error}"));
        let options = Options {
            shards,
            wanted: Wanted {
                order: true,
                deliveries: false,
            },
            ..Options::default()
        };
        let (plan, graph) = (&resolved.plan, &resolved.layout.graph);
        let simulation = Simulation::new(plan, graph, &resolved.routes, options);
        let mut halted = Self {
            simulation: simulation.expect("one thread"),
            resolved,
        };
        halted.run_until(cycles);
        halted.hold();
        halted
    }

    /// Goes on up to a cycle.
    pub(crate) fn run_until(&mut self, cycle: u64) {
        self.simulation
            .run_until(cycle)
            .expect("there are no messages");
    }

    /// Changes a resource of the first shard.
    pub(crate) fn resource<R, T>(&mut self, act: impl FnOnce(&mut R) -> T) -> T
    where
        R: Resource<Mutability = Mutable>,
    {
        let resource = self.simulation.resource_mut::<R>(0);
        act(&mut resource.expect("the mechanism is there"))
    }

    /// Changes rows of a kind until `act` says that it has changed one.
    pub(crate) fn change<C>(&mut self, mut act: impl FnMut(&mut C) -> bool)
    where
        C: Component<Mutability = Mutable>,
    {
        let mut is_done = false;
        self.simulation.columns_mut::<C>(|_, rows| {
            is_done = is_done || rows.iter_mut().any(&mut act);
        });
        assert!(is_done, "there is none");
    }

    /// The same of rows that stand in groups.
    pub(crate) fn change_grouped<C: Send + Sync + 'static>(
        &mut self,
        mut act: impl FnMut(&mut C) -> bool,
    ) {
        let mut is_done = false;
        self.simulation.grouped_mut::<C>(|_, rows| {
            is_done = is_done || rows.iter_mut().any(&mut act);
        });
        assert!(is_done, "there is none");
    }

    /// Every law holds.
    pub(crate) fn hold(&self) {
        super::hold(&self.resolved, &self.simulation).expect("nothing is broken");
    }

    /// The law that does not hold, in words.
    pub(crate) fn broken(&self) -> String {
        super::hold(&self.resolved, &self.simulation).expect_err("a law is broken")
    }

    /// The same with what is needed to read it: `parts` stand in the message.
    #[track_caller]
    pub(crate) fn breaks(&self, parts: &[&str]) {
        let law = self.broken();
        assert!(parts.iter().all(|part| law.contains(part)), "{law}");
    }
}
