//! Runs the systems of a cycle one after the other, with nothing in between.
//!
//! The cycle's schedule has no run conditions, no commands and no deferred work, so an executor that only
//! walks the list is enough; it costs about half of bevy's single-threaded one per cycle. Systems that are put to sleep are left out:
//! fetching what they touch costs more than what they do in most cycles. With a clock it takes the time of every system.

use super::profile::StageClock;
use bevy_ecs::error::{BevyError, ErrorContext};
use bevy_ecs::schedule::{SystemExecutor, SystemSchedule};
use bevy_ecs::system::System;
use bevy_ecs::world::World;
use fixedbitset::FixedBitSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// The executor.
#[derive(Debug)]
pub struct Lean {
    clock: Option<Arc<StageClock>>,
    asleep: Asleep,
}

impl Lean {
    /// An executor; the clock counts the systems in run order.
    pub fn new(clock: Option<Arc<StageClock>>, asleep: Asleep) -> Self {
        Self { clock, asleep }
    }
}

/// Which of the first 64 systems sleep, a bit each in run order; its copies are one.
#[derive(Clone, Debug, Default)]
pub struct Asleep(Arc<AtomicU64>);

impl Asleep {
    /// Puts these to sleep, wakes all others.
    #[inline]
    pub fn set(&self, systems: u64) {
        self.0.store(systems, Ordering::Relaxed);
    }
}

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
        let systems = unsafe { schedule.systems_mut() };
        let asleep = self.asleep.0.load(Ordering::Relaxed);
        for (number, system) in systems.iter_mut().enumerate() {
            if number < 64 && asleep >> number & 1 != 0 {
                continue;
            }
            let started = self.clock.as_ref().map(|_| Instant::now());
            let outcome = system.run_without_applying_deferred((), world);
            debug_assert!(
                outcome.is_ok(),
                "a stage validates its parameters when it is built"
            );
            if let (Some(clock), Some(started)) = (&self.clock, started) {
                clock.add(number, started.elapsed());
            }
        }
    }

    fn set_apply_final_deferred(&mut self, _value: bool) {}
}
