//! Sizes that no packet has.

use crate::scenario::Resolved;
use crate::scenario::sections::traffic::{self, Size};

/// What is said of classes that list some.
pub(super) fn notes(resolved: &Resolved) -> Vec<String> {
    let scenario = &resolved.scenario;
    let mut notes = Vec::new();
    for (number, class) in scenario.traffic.iter().enumerate() {
        let Size::Mixed(entries) = &class.size.value else {
            continue;
        };
        let unused = entries.iter().filter(|(_, weight)| *weight == 0);
        let sizes: Vec<String> = unused
            .map(|(size, _)| format!("`{}`", size.value))
            .collect();
        if !sizes.is_empty() {
            let place = traffic::place(scenario, &resolved.plan, number);
            notes.push(format!(
                "{place}.size: no packet has {}, whose weight is 0",
                sizes.join(" or ")
            ));
        }
    }
    notes
}
