//! Flows that wait for others (D63): what they wait for, and what does not go with them.

use super::flows::Flows;
use crate::plan::{ClassPlan, FlowAfter};
use crate::scenario::syntax::Mistake;
use crate::traffic::messages::After;

/// What a copy waits for: the same copies of others. `first` is the first flow of the entry, of which each has so many.
pub(super) fn of_copy(
    after: &[After],
    first: usize,
    (copy, copies): (usize, usize),
) -> Box<[FlowAfter]> {
    let one = |after: &After| FlowAfter {
        flow: (first + after.message as usize * copies + copy) as u32,
        delay: after.delay,
    };
    after.iter().map(one).collect()
}

/// Refuses what does not go with a flow of the entry that waits for others, `after` are those.
pub(super) fn check(section: &Flows, class: &ClassPlan, after: &[After]) -> Result<(), Mistake> {
    if after.is_empty() {
        return Ok(());
    }
    let what = "does not go with flows that wait for others";
    if let Some(phase) = &section.phase {
        return Err(phase.mistake(format!(
            "`phase` {what}: they start when these are complete"
        )));
    }
    if let Some(stop) = &section.stop {
        return Err(stop.mistake(format!("`stop` {what}: each sends all it has")));
    }
    if let Some((at, _)) = section.changes.first() {
        return Err(at.mistake(format!(
            "`changes` {what}: when they start is not known before"
        )));
    }
    if let Some(process) = &section.process {
        let message = format!("`process` {what}: they send as soon as they may");
        return Err(process.name.mistake(message));
    }
    let name = &section.pairs.name;
    if class.slots.is_some() {
        return Err(name.mistake(format!("`slots` of the class {what}")));
    }
    if class.requests.is_some() {
        return Err(name.mistake(format!("`requests` of the class {what}")));
    }
    Ok(())
}
