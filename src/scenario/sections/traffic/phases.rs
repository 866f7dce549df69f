//! Phases of applications (D50): what flows say of them, and what they allow.

use super::flows::{Flows, least_delay};
use crate::plan::{AppPhase, FlowPlan};
use crate::scenario::sections::values::Read;
use crate::scenario::syntax::{At, Item, Mistake};
use crate::scenario::{Layout, Scenario};

/// Name of an application, and number of a phase.
pub(super) type Written = (String, u32);

/// Most phases of an application.
const MOST_PHASES: u64 = 1 << 16;

/// Reads one.
pub(super) fn phase(item: &Item<'_>) -> Read<At<Written>> {
    const EXPECTED: &str = "a phase: expected `(\"application\", number)`";
    let pair = item.tuple(2, EXPECTED)?;
    let name = pair[0].text("the name of an application in quotes")?;
    let number = pair[1].integer(0..=MOST_PHASES - 1)? as u32;
    Ok(item.at((name.to_owned(), number)))
}

/// All phases, those of an application one after the other.
pub(in crate::scenario) fn phases(scenario: &Scenario) -> Result<Vec<AppPhase>, Mistake> {
    let entries = || {
        scenario
            .traffic
            .iter()
            .filter_map(|class| class.flows.as_ref())
    };
    let written = || (entries().flatten()).filter_map(|entry| entry.phase.as_ref());
    let mut all: Vec<&Written> = written().map(|phase| &phase.value).collect();
    all.sort_unstable();
    all.dedup();
    for phase in written() {
        let (application, number) = &phase.value;
        let before = number
            .checked_sub(1)
            .map(|before| (application.clone(), before));
        if let Some(before) = before
            && all.binary_search(&&before).is_err()
        {
            return Err(phase.mistake(format!(
                "phase {number} of `{application}` opens after phase {}, which has no flows",
                before.1
            )));
        }
    }
    let new = |(application, number): &Written| AppPhase {
        application: application.clone(),
        number: *number,
        first_start: u64::MAX,
    };
    Ok(all.into_iter().map(new).collect())
}

impl Flows {
    /// The place of its phase among all.
    pub(super) fn phase_of(&self, all: &[AppPhase]) -> Option<u32> {
        let (application, number) = &self.phase.as_ref()?.value;
        let place = all
            .iter()
            .position(|phase| &phase.application == application && phase.number == *number);
        place.map(|place| place as u32)
    }

    /// Refuses what does not go with a phase; `flows` are those of the entry.
    pub(super) fn check_phase(
        &self,
        layout: &Layout,
        flows: &[FlowPlan],
        all: &mut [AppPhase],
    ) -> Result<(), Mistake> {
        let (Some(written), Some(place)) = (&self.phase, self.phase_of(all)) else {
            return Ok(());
        };
        let phase = &mut all[place as usize];
        let least = if phase.number == 0 {
            0
        } else {
            least_delay(&layout.graph)
        };
        for flow in flows {
            let what = match flow {
                FlowPlan { flits: None, .. } => {
                    "`bytes`: a phase ends when all its flows are complete"
                }
                FlowPlan { stop: Some(_), .. } => {
                    "no `stop`: a phase ends when all its flows are complete"
                }
                FlowPlan {
                    process: Some(_), ..
                } => "no `process`: its flows send as soon as it opens",
                FlowPlan { changes, .. } if !changes.is_empty() => {
                    "no `changes`: their times are not known before it opens"
                }
                _ => {
                    phase.first_start = phase.first_start.min(flow.start);
                    continue;
                }
            };
            return Err(written.mistake(format!("flows of a phase have {what}")));
        }
        if phase.first_start < least {
            return Err(self.start.mistake(format!(
                "{} cycles: flows of phase {} start at least {least} cycles, the smallest latency between two \
                 switches, after the phase before it has ended",
                phase.first_start, phase.number
            )));
        }
        Ok(())
    }
}
