//! What is worth a warning: constants of algorithms that are for links of another rate, and keys that change nothing.
//!
//! What changes nothing because of another key is not told where that one has other values in other runs of a study: it is
//! written for those.

mod changes;
mod delays;
mod fabric;
mod far;
mod flows;
mod late;
mod marks;
mod overridden;
mod requests;
mod rounds;
mod routing;
mod sizes;
mod starts;
mod thresholds;
mod varied;
mod vl_tables;

use super::resolved::Resolved;
use varied::Varied;

/// All of it, in words; `varied` are key paths with other values in other runs of a study, beside the axes of the sweep.
pub(super) fn notes(resolved: &Resolved, varied: &[String]) -> Vec<String> {
    let sweep = resolved.scenario.sweep.iter().flat_map(|sweep| &sweep.axes);
    let axes = sweep.flatten().map(|axis| axis.path.value.as_str());
    let varied = Varied::new(axes.chain(varied.iter().map(String::as_str)));
    let mut notes = far::notes(resolved);
    notes.extend(fabric::notes(resolved, &varied));
    notes.extend(vl_tables::notes(resolved, &varied));
    notes.extend(flows::notes(resolved, &varied));
    notes.extend(overridden::notes(resolved, &varied));
    notes.extend(changes::notes(resolved, &varied));
    notes.extend(delays::notes(resolved, &varied));
    notes.extend(rounds::notes(resolved, &varied));
    notes.extend(starts::notes(resolved, &varied));
    notes.extend(late::notes(resolved, &varied));
    notes.extend(sizes::notes(resolved));
    notes.extend(marks::notes(resolved, &varied));
    notes.extend(thresholds::notes(resolved, &varied));
    notes.extend(routing::notes(resolved, &varied));
    notes.extend(requests::notes(resolved, &varied));
    notes
}

#[cfg(test)]
mod tests;
