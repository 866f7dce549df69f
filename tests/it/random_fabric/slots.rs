//! Random slots (D52): how many, when ticks come, and whether a flow sends in each of its own.

use super::{Dice, shipped, traffic};
use virtlane::ids::HostId;
use virtlane::plan::{FlowPlan, Plan, Slots};
use virtlane::rng::{Purpose, stream};
use virtlane::topology::Graph;
use virtlane::traffic::ProcessContext;

/// Classes with flows that have slots, of those that may \[percent\].
const SHARE: u32 = 45;

/// Slots for some of the classes with flows, whose flows are of no phase, wait for none and begin at links of one pace: ticks are for
/// such a pace. From a stream of each class, so that all else is drawn as without.
pub(super) fn add(graph: &Graph, plan: &mut Plan) {
    for (number, class) in (0u16..).zip(&mut plan.classes) {
        if class.flows.is_none() {
            continue;
        }
        let mut dice = Dice(stream(
            plan.seed,
            Purpose::Topology,
            (1 << 41) + u64::from(number),
        ));
        let of_class = |flow: &&FlowPlan| flow.class == number;
        let flows: Vec<&FlowPlan> = plan.flows.iter().filter(of_class).collect();
        let pace = |flow: &FlowPlan| {
            let channel = graph.channel(graph.host_channel(flow.source));
            channel.timing.cycles_per_flit
        };
        let first = pace(flows[0]);
        let is_free = |flow: &FlowPlan| flow.phase.is_none() && flow.after.is_empty();
        let may_have = (flows.iter()).all(|flow| pace(flow) == first && is_free(flow));
        if !may_have || !dice.chance(SHARE) {
            continue;
        }
        let at = |host: HostId| flows.iter().filter(|flow| flow.source == host).count();
        let most = flows.iter().map(|flow| at(flow.source)).max();
        let most = most.expect("it has flows") as u32;
        let context = ProcessContext {
            mean_size: class.size.mean(),
            cycles_per_flit: first,
        };
        class.slots = Some(Slots {
            count: count(&mut dice, most),
            load: 0.0,
            ticks: if dice.chance(25) {
                traffic::process(&mut dice, context.mean_size, false).1
            } else {
                shipped::ticks(&mut dice, context)
            },
            source: dice.chance(50).then(|| shipped::slot_source(&mut dice)),
        });
        for flow in &mut plan.flows {
            if flow.class == number {
                flow.process = None;
            }
        }
    }
}

/// Slots of hosts with at most so many flows.
fn count(dice: &mut Dice, most: u32) -> u32 {
    match dice.between(0, 19) {
        0..6 => most,
        6..15 => most + dice.between(1, 4),
        15..19 => most * dice.between(2, 6),
        _ => 1 << 20,
    }
}
