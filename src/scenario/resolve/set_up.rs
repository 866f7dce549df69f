//! What routes set up by packets go with (D67 of the model).

use super::super::sections::Scenario;
use super::super::sections::traffic::Class;
use super::super::syntax::{Mistake, Part};
use crate::plan::Plan;
use crate::routing::Routes;
use crate::topology::Graph;
use crate::topology::graph::TreeWays;

/// Refuses what they do not go with.
///
/// # Errors
/// A mistake of the key that does not go with them.
pub(super) fn check(
    scenario: &Scenario,
    graph: &Graph,
    routes: &Routes,
    plan: &Plan,
) -> Result<(), Mistake> {
    let mut classes = scenario.traffic.iter().zip(&plan.classes);
    let setting_up = classes.find_map(|(class, planned)| {
        planned.set_up()?;
        class.control.as_ref()
    });
    let Some(part) = setting_up else {
        return Ok(());
    };
    let classes = scenario.traffic.iter().zip(&plan.classes);
    for (number, (class, planned)) in classes.enumerate() {
        if planned.set_up().is_some() {
            flows(class, number, plan)?;
        }
    }
    fabric(part, scenario, graph, routes)
}

/// Flows of a class that sets up.
fn flows(class: &Class, number: usize, plan: &Plan) -> Result<(), Mistake> {
    let name = class.control.as_ref();
    let name = name.map_or("SetUp", |part| part.name.value.as_str());
    if let Some(slots) = &class.slots {
        return Err(slots.ticks.name.mistake(format!(
            "`slots` do not go with `control: {name}`: its flows always have a packet while they are active"
        )));
    }
    for flows in class.flows.iter().flatten() {
        let wrong = |what: &str| format!("`{what}` does not go with `control: {name}`");
        if let Some(process) = &flows.process {
            return Err(process.name.mistake(wrong("process")));
        }
        if let Some(stop) = &flows.stop {
            return Err(stop.mistake(wrong("stop")));
        }
        if let Some(phase) = &flows.phase {
            return Err(phase.mistake(wrong("phase")));
        }
    }
    let own = plan.flows.iter();
    for flow in own.filter(|flow| usize::from(flow.class) == number) {
        let reason = if flow.flits.is_none() {
            "has no size, and its route would never be taken down: `bytes` is missing"
        } else if flow.stop.is_some() {
            "has a stop: it has to send all of its size"
        } else if !flow.after.is_empty() {
            "waits for others: it begins when its route is set up"
        } else {
            continue;
        };
        let entries = class.flows.iter().flatten();
        let name_of = entries.map(|entry| &entry.pairs.name).next();
        return Err(name_of.unwrap_or(&class.name).mistake(format!(
            "the flow from host {} to host {} {reason} (`control: {name}`)",
            flow.source.0, flow.destination.0
        )));
    }
    Ok(())
}

/// Topology and routing.
fn fabric(part: &Part, scenario: &Scenario, graph: &Graph, routes: &Routes) -> Result<(), Mistake> {
    let name = &part.name.value;
    if TreeWays::of(graph).is_none() {
        return Err(part.name.mistake(format!(
            "`{name}` sets routes up in k-ary n-trees (topology `KAryNTree`) and enriched trees (`EnrichedTree`) without \
             faults, and this is none"
        )));
    }
    let mut paces = graph
        .channels()
        .iter()
        .map(|one| one.timing.cycles_per_flit);
    let first = paces.next();
    if paces.any(|pace| Some(pace) != first) {
        return Err(part.name.mistake(format!(
            "`{name}` needs channels of one speed, and here links differ"
        )));
    }
    let layers = routes.tables().map_or(1, |tables| tables.lanes.layers);
    if layers > 1 {
        return Err(part.name.mistake(format!(
            "`{name}` does not go with `routing: {}`, whose tables have {layers} layers: choose an engine with one layer",
            scenario.routing.name.value
        )));
    }
    Ok(())
}
