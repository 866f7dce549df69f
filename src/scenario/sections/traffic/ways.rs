//! Ways of flows, once the routes are known: whether there is one, and the default delays of windows.

use super::flows::least_delay;
use crate::ids::HostId;
use crate::plan::{FlowPlan, Plan};
use crate::routing::empty_network::EmptyNetwork;
use crate::routing::{Proof, Routes};
use crate::scenario::Scenario;
use crate::scenario::syntax::{At, Mistake};
use crate::topology::Graph;

/// Refuses control networks and reservations without tables, flows without a way, and those with answers without a way back; enters default delays of windows.
pub(in crate::scenario) fn complete(
    scenario: &Scenario,
    graph: &Graph,
    routes: &Routes,
    proof: &Proof,
    plan: &mut Plan,
) -> Result<(), Mistake> {
    let least = least_delay(graph);
    let mut flows = std::mem::take(&mut plan.flows);
    for flow in &mut flows {
        let (class, level) = (&plan.classes[usize::from(flow.class)], flow.level);
        let way = |from, to| routes.tables()?.path(graph, from, to, level);
        if proof.unreachable_pairs > 0 {
            let ends = [flow.source, flow.destination];
            if way(flow.source, flow.destination).is_none() {
                let mistake = no_way(graph, ends, "the flow would never arrive");
                return Err(entry(scenario, flow).mistake(mistake));
            }
            if let Some(control) = &class.control {
                let level = plan.classes[usize::from(control.answers)].level_of(flow);
                let back = routes.tables();
                let back = back.and_then(|tables| tables.path(graph, ends[1], ends[0], level));
                if back.is_none() {
                    let mistake = no_way(graph, [ends[1], ends[0]], "answers would never arrive");
                    return Err(entry(scenario, flow).mistake(mistake));
                }
            }
        }
        if let Some(window) = &mut flow.window
            && window.delay == 0
        {
            let Some(back) = way(flow.destination, flow.source) else {
                return Err(entry(scenario, flow).mistake(
                    "`acknowledgement` is missing: without forwarding tables the time back has to be given",
                ));
            };
            let empty = EmptyNetwork::new(graph, plan, back.iter().map(|&(channel, _)| channel));
            window.delay = empty.completion(1, 1).max(least);
        }
    }
    plan.flows = flows;
    Ok(())
}

/// A name to point at.
fn entry<'a>(scenario: &'a Scenario, flow: &FlowPlan) -> &'a At<String> {
    // a probe flow has a way if its flow has one, which comes first
    let class = scenario.traffic.get(usize::from(flow.class));
    let entries = class.into_iter().flat_map(|class| &class.flows);
    let mut names = entries.flatten().map(|entry| &entry.pairs.name);
    names.next().unwrap_or(&scenario.traffic[0].name)
}

fn no_way(graph: &Graph, ends: [HostId; 2], what: &str) -> String {
    let [from, to] = ends.map(|host| &graph.hosts()[host.index()].name);
    format!("{from} has no way to {to}: {what}")
}
