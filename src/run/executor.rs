//! Runs the systems of a cycle one after the other, with nothing in between.
//!
//! The cycle's schedule has no run conditions, no commands and no deferred work, so an executor that only
//! walks the list is enough; it costs about half of bevy's single-threaded one per cycle. With profiling
//! on it takes the time of every system.

use bevy_ecs::error::{BevyError, ErrorContext};
use bevy_ecs::schedule::{SystemExecutor, SystemSchedule};
use bevy_ecs::system::System;
use bevy_ecs::world::World;
use fixedbitset::FixedBitSet;

/// The executor.
#[derive(Debug, Default)]
pub struct Lean;

impl SystemExecutor for Lean {
    fn init(&mut self, _schedule: &SystemSchedule) {}

    #[expect(
        unsafe_code,
        reason = "the only access to a schedule's systems that bevy_ecs offers"
    )]
    fn run(
        &mut self,
        schedule: &mut SystemSchedule,
        world: &mut World,
        _skip: Option<&FixedBitSet>,
        _error_handler: fn(BevyError, ErrorContext),
    ) {
        // SAFETY: the contract is to call methods of `System` only and to replace nothing.
        for system in unsafe { schedule.systems_mut() } {
            let outcome = system.run_without_applying_deferred((), world);
            debug_assert!(
                outcome.is_ok(),
                "a stage validates its parameters when it is built"
            );
        }
    }

    fn set_apply_final_deferred(&mut self, _value: bool) {}
}
