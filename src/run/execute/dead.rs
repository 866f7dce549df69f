//! Flows with a size of which nothing more comes: over before they are complete, or waiting for what will never come.
//!
//! # Algorithm
//! A flow is over when what it made or started is delivered or lost, and it makes no more: it has made all, has stopped, or is limited to
//! 0 for good (D30). A flow of a phase that has not opened never starts when one of an earlier phase of its application is over or never
//! starts (D50); one that waits for others (D63) when one of them is never sent or received: that it is lost on its way does
//! not matter to who waits until it is sent.
//!
//! Cost: O(flows + what they wait for).

use super::verdict::closed;
use crate::measure::FlowCounts;
use crate::plan::{FlowPlan, Plan};
use std::collections::BTreeMap;

/// Why nothing more comes of a flow that is not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dead {
    /// Delivered or lost is all that it makes.
    Over,
    /// The same, as it is limited to 0 for good from this cycle on.
    Closed(u64),
    /// What it waits for will never come.
    Waits,
}

/// Why nothing more comes, from cycle `now` on, of a flow with a size that is not complete, though it began.
fn over(flow: &FlowPlan, counts: &FlowCounts, now: u64) -> Option<Dead> {
    let (sent, arrived) = (&counts.sent, &counts.arrived);
    let flits = flow.flits.unwrap_or_default();
    let gone = arrived.delivered.packets + counts.dropped.packets;
    let has_stopped = flow.stop.is_some_and(|stop| stop <= now);
    let is_made = has_stopped || sent.created.flits >= flits;
    let closed = closed(flow).filter(|closed| *closed <= now && gone == sent.started.packets);
    let is_over = is_made && gone + sent.rejected.packets == sent.created.packets;
    closed.map(Dead::Closed).or(is_over.then_some(Dead::Over))
}

/// Of every flow (id) with a size that is not complete, whether anything more comes of it in cycle `now`.
pub(super) fn dead(plan: &Plan, counts: &[FlowCounts], now: u64) -> Vec<Option<Dead>> {
    let is_open = |flow: &FlowPlan, counts: &FlowCounts| {
        let delivered = counts.arrived.delivered.flits;
        flow.flits.is_some_and(|flits| delivered < flits) && !plan.is_of_probes(flow.class)
    };
    let both = || plan.flows.iter().zip(counts);
    let begun = both().map(|(flow, counts)| {
        let is_open = is_open(flow, counts);
        over(flow, counts, now).filter(|_| is_open)
    });
    let mut dead: Vec<Option<Dead>> = begun.collect();
    // the first phase of each application that never ends
    let mut endless: BTreeMap<&str, u32> = BTreeMap::new();
    let phase = |flow: &FlowPlan| flow.phase.map(|phase| &plan.app_phases[phase as usize]);
    for (flow, dead) in plan.flows.iter().zip(&dead) {
        if let (Some(phase), Some(_)) = (phase(flow), dead) {
            let first = endless.entry(&phase.application).or_insert(phase.number);
            *first = phase.number.min(*first);
        }
    }
    for (id, (flow, own)) in both().enumerate() {
        if dead[id].is_some() || !is_open(flow, own) || own.sent.start.is_some() {
            continue;
        }
        let is_behind = phase(flow).is_some_and(|phase| {
            let first = endless.get(&*phase.application);
            first.is_some_and(|first| phase.number > *first)
        });
        let mut after = flow.after.iter().map(|after| after.flow as usize);
        let is_missed = |other: usize| {
            let (before, sent) = (&plan.flows[other], &counts[other].sent);
            let is_sent = before
                .flits
                .is_some_and(|flits| sent.started.flits >= flits);
            dead[other].is_some() && !(before.source == flow.source && is_sent)
        };
        if is_behind || after.any(is_missed) {
            dead[id] = Some(Dead::Waits);
        }
    }
    dead
}
