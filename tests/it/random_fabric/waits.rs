//! Random flows that wait for others (D63): which, for how many, and how long after them.

use super::{Dice, traffic};
use std::sync::Arc;
use virtlane::plan::{FlowAfter, Plan};
use virtlane::rng::{Purpose, stream};
use virtlane::topology::Graph;

/// Cases with flows that wait, of those with flows \[percent\].
const SHARE: u32 = 40;

/// Some flows without a phase wait for earlier ones, which get a size. Half of them get another source for it: the
/// destination of an earlier flow. From a stream of its own, so that all else is drawn as without.
pub(super) fn add(graph: &Graph, plan: &mut Plan) {
    let mut dice = Dice(stream(plan.seed, Purpose::Topology, 1 << 43));
    if !dice.chance(SHARE) {
        return;
    }
    let hosts = graph.hosts().len() as u32;
    let share = dice.pick(&[30, 60, 100]);
    let sizes: Vec<u32> = (plan.classes.iter())
        .map(|class| class.size.largest().into())
        .collect();
    for id in 1..plan.flows.len() {
        if plan.flows[id].phase.is_some() || !dice.chance(share) {
            continue;
        }
        if dice.chance(50) {
            let earlier = dice.between(0, id as u32 - 1) as usize;
            let source = plan.flows[earlier].destination;
            let flow = &mut plan.flows[id];
            flow.source = source;
            if flow.destination == source {
                flow.destination = traffic::other(hosts, source, &mut dice.0);
            }
        }
        let source = plan.flows[id].source;
        let ends = plan.flows[..id].iter().enumerate();
        let mine = ends.filter(|(_, flow)| [flow.source, flow.destination].contains(&source));
        let mut known: Vec<usize> = mine.map(|(id, _)| id).collect();
        let mut after = Vec::new();
        for _ in 0..dice.pick(&[1, 1, 1, 2, 3]) {
            if known.is_empty() {
                break;
            }
            let other = known.remove(dice.between(0, known.len() as u32 - 1) as usize);
            after.push(FlowAfter {
                flow: other as u32,
                delay: dice.pick(&[0, 0, 1, 7, 60]),
            });
        }
        if after.is_empty() {
            continue;
        }
        for other in after.iter().map(|after| after.flow as usize).chain([id]) {
            let flow = &mut plan.flows[other];
            let largest = sizes[usize::from(flow.class)];
            let size = u64::from(dice.between(1, 3 * largest));
            flow.flits = flow.flits.or(Some(size));
        }
        let flow = &mut plan.flows[id];
        (flow.stop, flow.process, flow.changes) = (None, None, Arc::new([]));
        flow.after = after.into();
    }
}
