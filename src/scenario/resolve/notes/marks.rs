//! Algorithms that hear of congestion by marks, where no switch marks; marking that is off.

use super::varied::Varied;
use crate::plan::Marking;
use crate::scenario::Resolved;
use crate::scenario::sections::traffic;

/// What is said of classes with one.
pub(super) fn notes(resolved: &Resolved, varied: &Varied<'_>) -> Vec<String> {
    let (scenario, plan) = (&resolved.scenario, &resolved.plan);
    let why = match plan.switch.marking {
        None => "`fabric.switch.marking` is None",
        Some(Marking::InfiniBand { threshold: 0, .. }) => {
            "`fabric.switch.marking` has `threshold: 0`, which is off"
        }
        Some(_) => return Vec::new(),
    };
    if varied.includes("fabric.switch.marking") {
        return Vec::new();
    }
    let classes = scenario.traffic.iter().zip(&plan.classes).enumerate();
    let notes = classes.filter_map(|(number, (class, planned))| {
        let control = planned.control.as_ref();
        control.filter(|control| control.algorithm.heeds_marks())?;
        let place = traffic::place(scenario, plan, number);
        let name = &class.control.as_ref()?.name.value;
        Some(format!(
            "{place}.control: `{name}` hears of congestion by marks, and no switch marks: {why}"
        ))
    });
    let notes: Vec<String> = notes.collect();
    let is_off = plan.switch.marking.is_some() && notes.is_empty();
    let off = is_off.then(|| format!("{why}: no switch marks"));
    off.into_iter().chain(notes).collect()
}
