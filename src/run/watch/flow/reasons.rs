//! Why a flow has not sent in a cycle: the first reason that holds, in the order of [`Hold`].
//!
//! Limits and windows that a sender sets count from the next cycle on, so those before the cycle are asked; those of a
//! scenario change before hosts choose, so those after it are. What is outstanding, queued and picked at the end of a cycle
//! without a start is what hosts chose from.

use super::look::FlowLook;
use super::story::Hold;
use crate::cycle::shown::{FlowState, Picked};
use crate::fabric::components::NONE;
use crate::plan::{FlowPlan, Limit, Plan};

/// A flow of a plan.
#[derive(Clone, Copy)]
pub(super) struct Watched<'a> {
    pub(super) plan: &'a Plan,
    pub(super) id: u32,
    pub(super) flow: &'a FlowPlan,
}

/// Why, and the same in words.
pub(super) type Reason = (Hold, String);

impl Watched<'_> {
    /// Why the flow has not sent in `cycle`; `None`: it has nothing to send any more.
    pub(super) fn holds(&self, cycle: u64, before: &FlowLook, now: &FlowLook) -> Option<Reason> {
        if now.state.start.is_none_or(|start| start > cycle) {
            return Some((Hold::NotBegun, self.not_begun(now)));
        }
        let waits_in_fifo = now.state.entered.is_some_and(|entered| entered > 0);
        if !waits_in_fifo {
            match now.state.queued {
                Some(0) | None if is_over(cycle, &now.state) => return None,
                Some(0) => return Some((Hold::NoPacket, String::from("it has made no packet"))),
                _ => {}
            }
            if let Some(reason) = self.limited(cycle, before, now) {
                return Some(reason);
            }
        }
        Some(self.not_chosen(cycle, before, now))
    }

    fn not_begun(&self, now: &FlowLook) -> String {
        let class = &self.plan.classes[usize::from(self.flow.class)];
        let phase = (self.flow.phase).map(|phase| &self.plan.app_phases[phase as usize]);
        let does_wait = !self.flow.after.is_empty();
        let start = now.state.start.or(now.release.filter(|_| does_wait));
        match (start, phase) {
            (Some(start), _) => format!("it starts in cycle {start}"),
            (None, None) if does_wait => match &now.missing[..] {
                [flow] => format!("it waits for flow {flow}"),
                [flow, more @ ..] => format!("it waits for flow {flow} and {} more", more.len()),
                [] => String::from("it waits for other flows"),
            },
            (None, Some(phase)) => {
                let (number, name) = (phase.number, &phase.application);
                format!("phase {number} of `{name}` is not open")
            }
            (None, None) if class.reserves() => String::from("its sender has reserved nothing yet"),
            (None, None) if class.set_up().is_some() => String::from("its route is not set up yet"),
            (None, None) => String::from("it is not admitted"),
        }
    }

    /// Its window, its limit, or those of its group.
    fn limited(&self, cycle: u64, before: &FlowLook, now: &FlowLook) -> Option<Reason> {
        let class = &self.plan.classes[usize::from(self.flow.class)];
        let set = match class.control {
            Some(_) => &before.state,
            None => &now.state,
        };
        let outstanding = now.state.outstanding;
        let is_full = set.window.is_some_and(|window| outstanding >= window);
        let window = || {
            let window = set.window.unwrap_or_default();
            format!("{outstanding} of {window} packets outstanding")
        };
        let limit = || match set.eligible {
            Some(from) => format!("{}: from cycle {from} on", words(set.limit)),
            None => words(set.limit),
        };
        let is_early = set.eligible.is_none_or(|from| from > cycle);
        if !set.is_grouped {
            // with ticks the limit is a share of the lane; without a rate nothing is sent
            let is_early = is_early && !(now.state.has_ticks && set.limit != Limit::Rate(0));
            return match (is_full, is_early) {
                (true, _) => Some((Hold::Window, window())),
                (_, true) => Some((Hold::Limit, limit())),
                _ => None,
            };
        }
        // a packet of the group that starts closes the gate for the next cycles only
        let started = now.host.started.map(|started| started.record);
        if started.is_some_and(|record| record.class == self.flow.class) {
            return None;
        }
        match (is_full, is_early) {
            (true, _) => Some((Hold::Gate, format!("its group has {}", window()))),
            (_, true) => Some((Hold::Gate, format!("its group has {}", limit()))),
            _ => None,
        }
    }

    /// It could go, and another went or nobody.
    fn not_chosen(&self, cycle: u64, before: &FlowLook, now: &FlowLook) -> Reason {
        let host = &now.host;
        if before.host.free_at > cycle {
            let until = before.host.free_at - 1;
            return (
                Hold::ChannelBusy,
                format!("the channel is taken until cycle {until}"),
            );
        }
        let first = self.plan.first_answers();
        if let Some(started) = host.started.filter(|one| one.lane == now.state.lane) {
            let record = started.record;
            if usize::from(record.class) >= first {
                return control();
            }
            let flow = (record.flow != NONE).then_some(record.flow);
            return picked(flow, "goes");
        }
        if host.has_control {
            return control();
        }
        if let Some(tick) = now.state.tick.filter(|&tick| tick > cycle) {
            return (Hold::Tick, format!("its lane goes on in cycle {tick}"));
        }
        match host.picked {
            Some(Picked::Flow(id)) if id != self.id => return picked(Some(id), "is picked"),
            Some(Picked::Queue) => return picked(None, "is picked"),
            _ => {}
        }
        let flits = now.state.next_flits;
        match host.credits {
            Some(credits) if credits < u32::from(flits) => (
                Hold::NoCredit,
                format!("{flits} credits needed, {credits} in cycle {cycle}"),
            ),
            _ => (
                Hold::OtherLane,
                String::from("another lane of the host goes"),
            ),
        }
    }
}

fn control() -> Reason {
    (
        Hold::ControlPacket,
        String::from("a control packet goes first"),
    )
}

/// The scheduler has picked a flow, or the source queue.
fn picked(flow: Option<u32>, what: &str) -> Reason {
    let words = match flow {
        Some(id) => format!("flow {id} {what}"),
        None => format!("a packet of no flow {what}"),
    };
    (Hold::Scheduler, words)
}

/// A limit in words.
pub(super) fn words(limit: Limit) -> String {
    match limit {
        Limit::None => String::from("no limit"),
        Limit::Rate(rate) => {
            let rate = rate as f64 / crate::plan::ONE_FLIT_PER_CYCLE as f64;
            format!("limit {rate:.4} flits per cycle")
        }
        Limit::Delay { entry, shift } => format!("limit Delay({entry}, {shift})"),
    }
}

/// Whether it makes no packet any more.
fn is_over(cycle: u64, state: &FlowState) -> bool {
    state.unmade == Some(0) || state.stop.is_some_and(|stop| stop <= cycle)
}
