//! Opens the phases of applications: the next one when all flows of the one before it are complete (D50).
//!
//! It looks as often as the first flow of a later phase needs: what has ended since the look before starts at the
//! look at the earliest.
//!
//! Cost: O(applications times shards) per look.

use super::{GlobalAct, LastingAct};
use crate::cycle::mechanisms::barriers::Barriers;
use crate::cycle::mechanisms::flows::Flows;
use crate::plan::Plan;
use crate::run::outcome::RunError;
use crate::run::shards::Shards;
use std::ops::Range;

/// The phases of all applications.
pub(in crate::run) struct Opening {
    /// Phases of each application, by their places in the plan.
    applications: Vec<Range<u32>>,
    /// The last open phase of each.
    open: Vec<u32>,
    /// Cycles from look to look.
    period: u64,
}

impl GlobalAct for Opening {
    fn next(&self, from: u64) -> Option<u64> {
        self.is_waiting()
            .then(|| from.next_multiple_of(self.period))
    }

    fn act(&mut self, _: u64, shards: &mut Shards) -> Result<(), RunError> {
        for (phases, open) in self.applications.iter().zip(&mut self.open) {
            if *open + 1 == phases.end {
                continue;
            }
            let counts = shards.each_mut::<Barriers>();
            let counts = counts.map(|barriers| barriers.phase(*open as usize));
            let (left, last) = counts.fold((0, 0), |(left, last), count| {
                (left + count.left, last.max(count.last))
            });
            if left > 0 {
                continue;
            }
            *open += 1;
            for mut flows in shards.each_mut::<Flows>() {
                flows.open(*open as usize, last);
            }
        }
        Ok(())
    }
}

impl LastingAct for Opening {
    fn name(&self) -> &'static str {
        "phases"
    }

    fn is_over(&self, _: u64) -> bool {
        !self.is_waiting()
    }

    fn save(&self) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_stdvec(&self.open)
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), String> {
        let open: Vec<u32> = postcard::from_bytes(bytes).map_err(|cause| cause.to_string())?;
        let mut known = self.applications.iter().zip(&open);
        if open.len() != self.applications.len() || !known.all(|(all, open)| all.contains(open)) {
            return Err(String::from("it is of other applications"));
        }
        self.open = open;
        Ok(())
    }
}

impl Opening {
    /// That of a plan; `None` when no application has a second phase.
    pub(in crate::run) fn new(plan: &Plan) -> Option<Self> {
        let later = plan.app_phases.iter().filter(|phase| phase.number > 0);
        let period = later.map(|phase| phase.first_start).min()?;
        let mut applications: Vec<Range<u32>> = Vec::new();
        for (place, phase) in (0..).zip(&plan.app_phases) {
            match applications.last_mut() {
                Some(last) if phase.number > 0 => last.end = place + 1,
                _ => applications.push(place..place + 1),
            }
        }
        let open = applications.iter().map(|phases| phases.start).collect();
        Some(Self {
            applications,
            open,
            period,
        })
    }

    /// Whether a phase is not open.
    fn is_waiting(&self) -> bool {
        let mut all = self.applications.iter().zip(&self.open);
        all.any(|(phases, open)| open + 1 < phases.end)
    }
}
