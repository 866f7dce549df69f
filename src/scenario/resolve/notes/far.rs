//! Constants of algorithms that are far from what their source has for the links of the hosts.

use crate::control::Algorithm;
use crate::scenario::Resolved;
use crate::scenario::sections::traffic;
use crate::units::BitRate;

/// What is far, class by class.
pub(super) fn notes(resolved: &Resolved) -> Vec<String> {
    let (plan, graph) = (&resolved.plan, &resolved.layout.graph);
    let mut notes = Vec::new();
    for (number, class) in plan.classes.iter().enumerate() {
        let Some(Algorithm::Dcqcn(own)) = class.control.as_ref().map(|control| &control.algorithm)
        else {
            continue;
        };
        let paces = class.hosts.iter().map(|&host| {
            let channel = graph.channel(graph.host_channel(host));
            channel.timing.cycles_per_flit
        });
        let Some(pace) = paces.min() else { continue };
        let class = traffic::place(&resolved.scenario, plan, number);
        let link = BitRate(plan.reference_rate / u64::from(pace));
        notes.extend(own.far(pace).into_iter().map(|(name, times)| {
            format!(
                "`{name}` of {class}.control is {times:.2} times what the preset has for links of {link}, so rates come back {} \
                 than it means: left out, it scales with the link",
                if (times < 1.0) == (name != "bytes") { "more slowly" } else { "faster" }
            )
        }));
    }
    notes
}
