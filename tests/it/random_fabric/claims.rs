//! Random claims (D72): which cases look at heads that have waited, and how often.

use super::Dice;
use virtlane::plan::{Forwarding, Plan, SwitchOptions};
use virtlane::rng::{Purpose, stream};

/// Cases with claims, of those that may have them \[percent\].
const SHARE: u32 = 60;

/// Cases with claims, of those with output lanes smaller than a packet, which are enlarged \[percent\].
const ENLARGED: u32 = 40;

/// Claims for some cases of what they go with. After everything else is drawn. From a stream of its own, so that all else is
/// drawn as without.
pub(super) fn add(plan: &mut Plan, attempt: u64) {
    let mut dice = Dice(stream(plan.seed, Purpose::Topology, (1 << 46) + attempt));
    let largest = u32::from(plan.largest_packet());
    let is_small = is_small(plan);
    let share = if is_small { ENLARGED } else { SHARE };
    if !are_allowed(&plan.switch) || !dice.chance(share) {
        return;
    }
    if is_small {
        let lane = &mut plan.switch.output_lane_buffer;
        *lane = dice.pick(&[largest, largest + 1, 2 * largest]);
    }
    let longest = dice.pick(&[3, 10, 10, 30, 30, 200]);
    plan.switch.allocation.claims = Some(dice.between(1, longest).into());
}

/// What a scenario has that names no claims: looks that are too far apart for a short case, where they are allowed.
pub(super) fn add_usual(plan: &mut Plan) {
    plan.switch.allocation.claims = Some(65_536);
    settle_claims(plan);
}

/// No claims where D72 excludes them, for plans that were changed.
pub(crate) fn settle_claims(plan: &mut Plan) {
    if !are_allowed(&plan.switch) || is_small(plan) {
        plan.switch.allocation.claims = None;
    }
}

/// Whether output lanes are smaller than a packet.
fn is_small(plan: &Plan) -> bool {
    (1..plan.largest_packet().into()).contains(&plan.switch.output_lane_buffer)
}

/// Whether what D72 excludes is not there, but for small output lanes.
fn are_allowed(switch: &SwitchOptions) -> bool {
    switch.forwarding != Forwarding::Wormhole
        && switch.vl_arbitration.is_none()
        && !switch.management_lane
}
