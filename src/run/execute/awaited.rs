//! What the end of a run waits for: messages, and flows with a size.

use super::Run;
use super::dead::dead;
use crate::plan::Until;
use crate::run::inspect::flow_counts;
use std::fmt;

/// How a measurement that waits for deliveries stands.
#[derive(Clone, Debug)]
pub(super) struct Awaited {
    /// Cycles from now that it takes at least, a lower bound; `None` when everything is delivered.
    pub(super) next: Option<u64>,
    /// Why nothing of what is missing will come, if so.
    pub(super) over: Option<&'static str>,
    /// How far it is, in words.
    pub(super) words: String,
}

/// How far the messages of a run have come.
#[derive(Clone, Copy, Debug)]
struct MessageCount {
    /// Messages of all classes.
    all: u64,
    /// Those that are not delivered.
    left: u64,
    /// Latest delivery \[cycle\].
    last: u64,
}

impl fmt::Display for MessageCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let delivered = self.all - self.left;
        write!(f, "{delivered} of {} messages delivered", self.all)?;
        match delivered {
            0 => Ok(()),
            _ => write!(f, ", the last in cycle {}", self.last),
        }
    }
}

/// How far the flows with a size have come.
#[derive(Clone, Copy, Debug, Default)]
struct FlowCount {
    /// Flows with a size.
    all: u64,
    /// Those that are not complete.
    left: u64,
    /// Those of them that never will be.
    dead: u64,
    /// Latest delivery of a complete one \[cycle\].
    last: u64,
    /// Cycles that those left take at least.
    ahead: u64,
}

impl fmt::Display for FlowCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let complete = self.all - self.left;
        write!(f, "{complete} of {} flows with a size complete", self.all)?;
        match complete {
            0 => Ok(()),
            _ => write!(f, ", the last in cycle {}", self.last),
        }
    }
}

impl FlowCount {
    /// Why nothing more comes of those that are left, if so.
    fn over(&self) -> Option<&'static str> {
        (self.left > 0 && self.left == self.dead).then_some("nothing more comes of what is missing")
    }
}

impl Run<'_> {
    /// How far the measurement is from its end.
    pub(super) fn awaited(&self, until: Until) -> Awaited {
        let idle = (self.simulation.is_idle()).then_some("nothing can happen any more");
        match until {
            Until::Messages => {
                let messages = self.messages();
                // as long as messages are to be read, the end is not near
                let is_far = !self.simulation.acts_are_over();
                Awaited {
                    next: (messages.left > 0).then_some(if is_far { self.step } else { 0 }),
                    over: idle,
                    words: messages.to_string(),
                }
            }
            Until::Flows => {
                let flows = self.flow_count();
                Awaited {
                    next: (flows.left > 0).then_some(flows.ahead),
                    over: idle.or_else(|| flows.over()),
                    words: flows.to_string(),
                }
            }
        }
    }

    /// How far the messages have come.
    fn messages(&self) -> MessageCount {
        let classes = &self.resolved.plan.classes;
        let all = classes.iter().filter_map(|class| class.messages).sum();
        let (mut delivered, mut last) = (0, 0);
        for records in self.simulation.records() {
            let classes = records.measured.classes.iter();
            for messages in classes.filter_map(|class| class.messages.as_ref()) {
                delivered += messages.delivered;
                last = last.max(messages.last_delivery);
            }
        }
        let left = all - delivered;
        MessageCount { all, left, last }
    }

    /// How far the flows with a size have come.
    fn flow_count(&self) -> FlowCount {
        let plan = &self.resolved.plan;
        let (now, largest) = (self.simulation.now(), u64::from(plan.largest_packet()));
        let mut count = FlowCount::default();
        let counts = flow_counts(&self.simulation, None);
        let dead = dead(plan, &counts, now);
        count.dead = dead.iter().flatten().count() as u64;
        for (flow, counts) in plan.flows.iter().zip(&counts) {
            let Some(flits) = flow.flits else {
                continue;
            };
            let arrived = &counts.arrived;
            count.all += 1;
            let left = flits - arrived.delivered.flits;
            if left == 0 {
                count.last = count.last.max(arrived.last_delivery.unwrap_or_default());
                continue;
            }
            count.left += 1;
            // a flit per cycle at best; of one packet all but the last may have arrived
            let phase = flow.phase.map(|phase| &plan.app_phases[phase as usize]);
            // when a later phase opens is not known
            let is_known = phase.is_none_or(|phase| phase.number == 0);
            let start = if is_known { flow.start } else { now };
            let wait = start.saturating_sub(now);
            count.ahead = count.ahead.max(wait + left.saturating_sub(largest));
        }
        count
    }
}
