//! Random dropping (D58): service levels, and when their packets are dropped.

use super::Dice;
use std::collections::BTreeSet;
use virtlane::ids::SlId;
use virtlane::plan::{ClassPlan, DropRule, Dropping, FlowPlan, Plan};
use virtlane::rng::{Purpose, stream};

/// Cases that drop, of those that may, and of those that may drop packets of flows \[percent\].
const SHARE: [u32; 2] = [40, 90];

/// Drops packets of some service levels on which nothing must arrive. After everything else is drawn. From a stream of its own, so
/// that all else is drawn as without.
pub(super) fn add(plan: &mut Plan, attempt: u64) {
    let mut dice = Dice(stream(plan.seed, Purpose::Topology, (1 << 43) + attempt));
    let levels = allowed(plan);
    let of_flows = |class: &ClassPlan| {
        let mut own = class.service_levels.iter();
        class.flows.is_some() && own.any(|level| levels.contains(level))
    };
    let share = SHARE[usize::from(plan.classes.iter().any(of_flows))];
    if levels.is_empty() || !dice.chance(share) {
        return;
    }
    let mut chosen: Vec<SlId> = levels.iter().copied().collect();
    if chosen.len() > 1 {
        let spared = dice.between(0, chosen.len() as u32 - 1);
        if dice.chance(60) {
            chosen.remove(spared as usize);
        }
    }
    let largest = u32::from(plan.largest_packet());
    plan.switch.drop = Some(Dropping {
        service_levels: chosen,
        rule: if dice.chance(55) {
            DropRule::Held
        } else {
            let flits = [1, 1, largest.div_ceil(2), largest, largest + 1, 2 * largest];
            DropRule::Threshold(dice.pick(&flits).max(1))
        },
    });
}

/// Service levels on which packets may be lost.
fn allowed(plan: &Plan) -> BTreeSet<SlId> {
    let (mut used, mut kept) = (BTreeSet::new(), BTreeSet::new());
    for (number, class) in (0u16..).zip(&plan.classes) {
        if class.management || is_out_of_band(plan, class) {
            continue;
        }
        let waits = |flow: &FlowPlan| flow.window.is_some() || flow.phase.is_some();
        let mut flows = plan.flows.iter().filter(|flow| flow.class == number);
        let is_kept = class.messages.is_some()
            || class.control.is_some()
            || class.answers.is_some()
            || flows.any(waits);
        used.extend(&class.service_levels);
        if is_kept {
            kept.extend(&class.service_levels);
        }
    }
    used.difference(&kept).copied().collect()
}

/// Whether a class is of control packets that are none.
fn is_out_of_band(plan: &Plan, class: &ClassPlan) -> bool {
    let answered = class
        .answers
        .map(|number| &plan.classes[usize::from(number)]);
    let control = answered.and_then(|class| class.control.as_ref());
    control.is_some_and(|control| control.transport.is_some())
}
