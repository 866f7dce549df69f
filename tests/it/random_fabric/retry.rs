//! Random link-level retry (D74): which cases have channels that make errors, and how many.

use super::Dice;
use virtlane::plan::{Forwarding, LinkRetry, Plan};
use virtlane::rng::{Purpose, stream};

/// Cases with errors \[percent\].
const SHARE: u32 = 18;

/// Cases with errors, of the few with flows that wait for others, of which hosts' channels decide, and of those with wormhole
/// switching \[percent\].
const SHARE_OF_FEW: u32 = 45;

/// Errors for some cases, often enough for short ones. From a stream of its own, so that all else is drawn as without.
pub(super) fn add(plan: &mut Plan, attempt: u64) {
    let mut dice = Dice(stream(plan.seed, Purpose::Topology, (1 << 47) + attempt));
    let mut flows = plan.flows.iter();
    let waits = flows.any(|flow| !flow.after.is_empty());
    let is_wormhole = plan.switch.forwarding == Forwarding::Wormhole;
    let is_one_of_few = waits || is_wormhole;
    if !dice.chance(if is_one_of_few { SHARE_OF_FEW } else { SHARE }) {
        return;
    }
    let flits = match plan.switch.forwarding {
        Forwarding::Wormhole => 1,
        _ => plan.largest_packet(),
    };
    let bits = 8 * u64::from(plan.flit_bytes) * u64::from(flits);
    let failure: f64 = dice.pick(&[0.02, 0.1, 0.3, 0.5]);
    plan.link_retry = Some(LinkRetry {
        bit_error_rate: -libm::expm1(libm::log1p(-failure) / bits as f64),
        delay: dice.pick(&[0, 0, 1, 4, 25]),
    });
}
