//! Flows of classes whose control has one sender per host: nobody else may have flows on their lanes there (D44).

use super::control::place;
use crate::ids::HostId;
use crate::plan::Plan;
use crate::routing::Routes;
use crate::scenario::Scenario;
use crate::scenario::flow_lane::injection_lane;
use crate::scenario::syntax::Mistake;
use crate::topology::Graph;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Refuses flows that share a lane of their host with those of a class whose control is shared.
pub(in crate::scenario) fn check(
    scenario: &Scenario,
    graph: &Graph,
    routes: &Routes,
    plan: &Plan,
) -> Result<(), Mistake> {
    let is_shared = |class: u16| {
        let control = plan.classes[usize::from(class)].control.as_ref();
        control.is_some_and(|control| control.algorithm.is_shared())
    };
    let Some(shared) = (0..plan.classes.len() as u16).find(|&class| is_shared(class)) else {
        return Ok(());
    };
    // the class that has a lane
    let mut lanes: BTreeMap<(HostId, u8), u16> = BTreeMap::new();
    for (id, flow) in plan.flows.iter().enumerate() {
        let lane = injection_lane(graph, routes, plan, id);
        let other = match lanes.entry((flow.source, lane)) {
            Entry::Vacant(free) => *free.insert(flow.class),
            Entry::Occupied(taken) => *taken.get(),
        };
        if other == flow.class || !(is_shared(other) || is_shared(flow.class)) {
            continue;
        }
        let own = if is_shared(flow.class) {
            flow.class
        } else {
            other
        };
        let names = [flow.class, other].map(|class| &plan.classes[usize::from(class)].name);
        let control = &scenario.traffic[usize::from(own)].control;
        let at = control
            .as_ref()
            .map_or(&scenario.traffic[usize::from(shared)].name, |part| {
                &part.name
            });
        return Err(at.mistake(format!(
            "one sender for all flows of a host needs lanes without other flows: those of `{}` and `{}` share lane {lane} of \
             host {}; give {} an `sl` with other lanes",
            names[1],
            names[0],
            graph.hosts()[flow.source.index()].name,
            place(scenario, plan, usize::from(flow.class)),
        )));
    }
    Ok(())
}
