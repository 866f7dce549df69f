//! Service levels of flows (D27).

use virtlane::ids::SlId;
use virtlane::plan::Plan;

/// Service level of what a class sends for a flow: packets of its own flows, probes (D59) among them, or control packets (D39, D47).
pub(super) fn level(plan: &Plan, class: u16, flow: usize) -> SlId {
    let levels = |class: u16| &plan.classes[usize::from(class)].service_levels;
    if let [only] = levels(class)[..] {
        return only;
    }
    let own = plan.flows[flow].class;
    assert_eq!(levels(class), levels(own), "D27: those of its class");
    let before = plan.flows[..flow].iter();
    let place = before.filter(|other| other.class == own).count();
    let level = levels(own)[place % levels(own).len()];
    assert_eq!(plan.flows[flow].level, level, "D27: flow {flow}");
    level
}
