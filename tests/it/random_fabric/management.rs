//! Random VL15 with adaptive routing (D83): which cases have it, and what goes there.

use super::{Case, Dice};
use std::path::Path;
use std::sync::Arc;
use virtlane::plan::{BufferSharing, ClassPlan, Forwarding, Plan, SwitchOptions};
use virtlane::qos::vl_arbitration::Rules;
use virtlane::registry::Arguments;
use virtlane::rng::{Purpose, stream};
use virtlane::routing::{ENGINES, LaneBudget, Routes, Tables};
use virtlane::topology::Graph;

/// Cases with VL15, of those that may have it, with packets as units and with wormhole switching \[percent\].
const SHARE: u32 = 50;
const SHARE_OF_FLITS: u32 = 45;

/// VL15 for some cases, and classes that go there. After everything else is drawn. From a stream of its own, so that all else is drawn
/// as without.
pub(super) fn add<R>(case: &mut Case<R>, attempt: u64) {
    let plan = &case.plan;
    let mut dice = Dice(stream(plan.seed, Purpose::Topology, (1 << 55) + attempt));
    let share = match plan.switch.forwarding {
        Forwarding::Wormhole => SHARE_OF_FLITS,
        _ => SHARE,
    };
    let chosen = chosen(&mut dice, plan);
    if !is_allowed(&plan.switch) || chosen.is_empty() || !dice.chance(share) {
        return;
    }
    let tables = Arc::new(up_down(&case.graph));
    let fork = case.fork.as_mut().map(|fork| &mut fork.plan);
    for plan in [Some(&mut case.plan), fork].into_iter().flatten() {
        plan.switch.management_lane = true;
        plan.management_tables = Some(Arc::clone(&tables));
        for &number in &chosen {
            let class = &mut plan.classes[number];
            class.management = true;
            class.service_levels.truncate(1);
        }
    }
}

/// Whether nothing is there that VL15 does not go with.
fn is_allowed(switch: &SwitchOptions) -> bool {
    let tables = switch.vl_arbitration.as_ref();
    switch.lanes < 32
        && switch.sharing == BufferSharing::PerLane
        && switch.allocation.claims.is_none()
        && tables.is_none_or(|tables| tables.rules != Rules::Legacy)
}

/// Numbers of classes for VL15, of one at least if some may go there.
fn chosen(dice: &mut Dice, plan: &Plan) -> Vec<usize> {
    // the first class has all service levels, and goes on with them
    let numbers = 1..plan.classes.len();
    let numbers: Vec<usize> = numbers
        .filter(|&number| may_go(&plan.classes[number]))
        .collect();
    if numbers.is_empty() {
        return numbers;
    }
    let first = dice.pick(&numbers);
    let goes = |number: &usize| {
        let answers = plan.classes[*number].answers.is_some();
        let is_drawn = dice.chance(if answers { 70 } else { 35 });
        is_drawn || *number == first
    };
    numbers.into_iter().filter(goes).collect()
}

/// Packets that patterns draw, and control packets of one service level.
fn may_go(class: &ClassPlan) -> bool {
    let answers = class.answers.is_some();
    let is_it = class.flows.is_none() && class.messages.is_none();
    is_it && (!answers || class.service_levels.len() == 1)
}

/// The tables of VL15, those of `UpDown()`.
fn up_down(graph: &Graph) -> Tables {
    let entry = ENGINES.find("UpDown").expect("registered");
    let engine = (entry.build)(Arguments { text: "()" }).expect("no arguments needed");
    let budget = LaneBudget {
        lanes: 1,
        service_levels: 1,
    };
    match engine.route(graph, budget, 1, Path::new("")) {
        Ok(Routes::Tables(tables)) => tables,
        other => panic!("{other:?}"),
    }
}
