//! What is worth a warning: constants of algorithms that are for links of another rate, and keys that change nothing.

use super::super::sections::Scenario;
use super::super::sections::traffic::{self, Size};
use crate::control::Algorithm;
use crate::plan::Plan;
use crate::topology::Graph;
use crate::units::BitRate;

/// All of it, in words.
pub(super) fn notes(scenario: &Scenario, graph: &Graph, plan: &Plan) -> Vec<String> {
    let mut notes = far(scenario, graph, plan);
    notes.extend(unused(scenario, plan));
    notes
}

/// What is far from what its source has for the links of the hosts, class by class.
fn far(scenario: &Scenario, graph: &Graph, plan: &Plan) -> Vec<String> {
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
        let class = traffic::place(scenario, plan, number);
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

/// What is written and changes nothing.
fn unused(scenario: &Scenario, plan: &Plan) -> Vec<String> {
    let mut notes = Vec::new();
    let has_flows = plan.classes.iter().any(|class| class.flows.is_some());
    if plan.host.flow_queue.is_some() && !has_flows {
        notes.push(String::from(
            "fabric.host.flow_queue changes nothing: it bounds what flows have made and not sent, and no class has `flows`",
        ));
    }
    for (number, class) in scenario.traffic.iter().enumerate() {
        let Size::Mixed(entries) = &class.size.value else {
            continue;
        };
        let unused = entries.iter().filter(|(_, weight)| *weight == 0);
        let sizes: Vec<String> = unused
            .map(|(size, _)| format!("`{}`", size.value))
            .collect();
        if !sizes.is_empty() {
            let place = traffic::place(scenario, plan, number);
            notes.push(format!(
                "{place}.size: no packet has {}, whose weight is 0",
                sizes.join(" or ")
            ));
        }
    }
    notes
}
