//! Service levels and the groups of lanes that engines give out level by level.
//!
//! Fails with: a service level beyond the lanes. Two that have lanes in common though they are below is said as a warning.

use super::super::sections::{Scenario, traffic};
use super::super::syntax::Mistake;
use crate::ids::SlId;
use crate::plan::{ClassPlan, Plan};
use crate::routing::Routes;
use crate::routing::adaptive::first_lane;
use crate::warnings::once as warn_once;

/// Refuses service levels for which there is no lane, and tells those that share the lanes of another one.
///
/// # Errors
/// The first class with a service level beyond the lanes.
pub(super) fn check(scenario: &Scenario, plan: &Plan, routes: &Routes) -> Result<(), Mistake> {
    let lanes = plan.switch.lanes;
    for (number, class) in plan.classes.iter().enumerate() {
        if let Some(level) = levels(plan, class).find(|&level| level >= lanes) {
            let place = traffic::place(scenario, plan, number);
            let message = format!(
                "service level {level} of {place} is beyond the lanes: `fabric.switch.lanes` is {lanes}, so expected 0 to {}",
                lanes - 1
            );
            return Err(mistake(scenario, plan, number, message));
        }
    }
    let all: Vec<u8> = plan
        .classes
        .iter()
        .flat_map(|class| levels(plan, class))
        .collect();
    let highest = all.iter().max().copied().unwrap_or(0);
    for level in 1..=highest {
        let same = (0..level)
            .find(|&other| all.contains(&other) && same_lanes(plan, routes, [other, level]));
        if let Some(other) = same.filter(|_| all.contains(&level)) {
            warn_once(&format!(
                "service levels {other} and {level} share their lanes: `routing: {}` needs more than the {lanes} of \
                 `fabric.switch.lanes` for lanes of their own",
                routes.engine()
            ));
        }
    }
    Ok(())
}

/// Service levels of a class that lanes are chosen by.
fn levels<'a>(plan: &Plan, class: &'a ClassPlan) -> impl Iterator<Item = u8> + use<'a> {
    let answered = class
        .answers
        .map(|number| &plan.classes[usize::from(number)]);
    let control = answered.and_then(|class| class.control.as_ref());
    // control packets out of band have no service level
    let is_out_of_band = control.is_some_and(|control| control.transport.is_some());
    let is_data = !class.management && !is_out_of_band;
    let own = class.service_levels.iter().filter(move |_| is_data);
    own.map(|level| level.0)
}

/// Whether packets of two service levels have the same lanes everywhere.
fn same_lanes(plan: &Plan, routes: &Routes, levels: [u8; 2]) -> bool {
    let [one, other] = levels.map(usize::from);
    match routes {
        Routes::Tables(tables) => {
            let map = &tables.lanes;
            let layers = usize::from(map.layers);
            let mut rows = map.profiles.chunks(map.keys().max(1));
            rows.all(|row| {
                row.get(one * layers..(one + 1) * layers)
                    == row.get(other * layers..(other + 1) * layers)
            })
        }
        Routes::Adaptive(adaptive) => {
            let first =
                |level| first_lane(adaptive.routing.width(), plan.switch.lanes, SlId(level));
            levels.map(first).windows(2).all(|two| two[0] == two[1])
        }
    }
}

/// A mistake of the key that gives a class its service levels.
fn mistake(scenario: &Scenario, plan: &Plan, number: usize, message: String) -> Mistake {
    let planned = &plan.classes[number];
    if let Some(answered) = planned.answers {
        let class = &scenario.traffic[usize::from(answered)];
        return match &class.answers.sl {
            Some(level) => level.mistake(message),
            None => class.sl.mistake(message),
        };
    }
    match (scenario.traffic.get(number), &scenario.admission) {
        (Some(class), _) => class.sl.mistake(message),
        (None, Some(admission)) => admission.control.name.mistake(message),
        (None, None) => scenario.routing.name.mistake(message),
    }
}
