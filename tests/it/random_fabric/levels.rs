//! Random service levels of flows, of what is sent for them (D27), and of messages (D81). From numbers of their own: whatever comes of
//! them, the rest of a case is drawn as without.

use super::Dice;
use virtlane::ids::SlId;
use virtlane::plan::{ClassPlan, FlowPlan};

/// Classes of flows or messages with several service levels, of those that may have them \[percent\].
const SHARE: u32 = 45;

/// Classes of answers with the service levels of such a class \[percent\].
const SHARE_OF_ANSWERS: u32 = 50;

fn aside(dice: &Dice) -> Dice {
    let mut aside = Dice(dice.0.clone());
    aside.0.jump();
    aside
}

/// The service levels of a class of flows or messages: one, or several of so many, in any order.
pub(super) fn several(dice: &Dice, first: SlId, levels: u32) -> Vec<SlId> {
    let mut dice = aside(dice);
    let mut chosen = vec![first];
    if levels == 1 || !dice.chance(SHARE) {
        return chosen;
    }
    let all = (0..levels as u8).map(SlId);
    let mut others: Vec<SlId> = all.filter(|&level| level != first).collect();
    for _ in 0..dice.between(1, levels - 1) {
        let next = dice.between(0, others.len() as u32 - 1);
        chosen.push(others.swap_remove(next as usize));
    }
    chosen
}

/// Gives the flows of a class its service levels in turn.
pub(super) fn give(flows: &mut [FlowPlan], class: usize, levels: &[SlId]) {
    let flows = flows.iter_mut();
    let of_class = flows.filter(|flow| usize::from(flow.class) == class);
    for (flow, &level) in of_class.zip(levels.iter().cycle()) {
        flow.level = level;
    }
}

/// The service levels of a class of answers: one, or those of the flows that it answers.
pub(super) fn of_answers(dice: &Dice, only: SlId, flows: &ClassPlan) -> Vec<SlId> {
    let has_several = flows.service_levels.len() > 1;
    if has_several && aside(dice).chance(SHARE_OF_ANSWERS) {
        flows.service_levels.clone()
    } else {
        vec![only]
    }
}
