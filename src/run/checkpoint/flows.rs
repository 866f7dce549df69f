//! The flows of a plan as a checkpoint knows them: whether another plan has the same (D64 of the model).
//!
//! Cost: 8 bytes per flow.

use super::CheckpointError;
use crate::plan::{ClassPlan, FlowPlan, Plan};
use serde::{Deserialize, Serialize};

/// Checksums of all flows, and of their classes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FlowMarks {
    /// By id: of all that is said of the flow, and of what a fork must leave.
    flows: Vec<(u32, u32)>,
    /// What a fork must leave of each class.
    classes: Vec<u32>,
}

impl FlowMarks {
    /// Those of a plan.
    pub(super) fn of(plan: &Plan) -> Self {
        let one = |flow: &FlowPlan| (sum(&format!("{flow:?}")), lasting(plan, flow));
        Self {
            flows: plan.flows.iter().map(one).collect(),
            classes: (plan.classes.iter())
                .map(|class| of_class(plan, class))
                .collect(),
        }
    }

    /// Whether a run goes on with its own flows: a file of them may have changed.
    pub(super) fn require_same(&self, now: &Self) -> Result<(), CheckpointError> {
        if self == now {
            return Ok(());
        }
        let mut pairs = self.flows.iter().zip(&now.flows);
        let what = match pairs.position(|(then, now)| then != now) {
            Some(flow) => format!("flow {flow} is another now"),
            None => self.count(now.flows.len()),
        };
        Err(CheckpointError::OtherFlows(format!(
            "the checkpoint belongs to other flows: {what}; a file that the scenario names has changed"
        )))
    }

    /// Whether a run with that plan can go on from these flows.
    pub(super) fn require_forkable(&self, plan: &Plan) -> Result<(), CheckpointError> {
        let now = Self::of(plan);
        let differs = |what: String| Err(CheckpointError::OtherFlows(what));
        if self.flows.len() != now.flows.len() {
            let what = self.count(now.flows.len());
            return differs(format!("a fork needs the flows of the checkpoint: {what}"));
        }
        let classes = self.classes.iter().zip(&now.classes);
        for (class, (then, now)) in plan.classes.iter().zip(classes) {
            if then != now {
                let name = &class.name;
                return differs(format!(
                    "a fork needs the flows of the checkpoint: class `{name}` has other packet sizes, slots, requests, \
                     control or answers there"
                ));
            }
        }
        let mut pairs = self.flows.iter().zip(&now.flows);
        let Some(id) = pairs.position(|(then, now)| then.1 != now.1) else {
            return Ok(());
        };
        let flow = &plan.flows[id];
        let class = &plan.classes[usize::from(flow.class)];
        let stop = if class.slots.is_some() { "stop, " } else { "" };
        differs(format!(
            "a fork needs the flows of the checkpoint: flow {id} (class `{}`, host {} to host {}) is another there; class, \
             hosts, start, {stop}bytes, phase and what it waits for must be the same, and whether it has a process or a window",
            class.name, flow.source.0, flow.destination.0
        ))
    }

    fn count(&self, now: usize) -> String {
        format!("it has {}, the scenario {now}", self.flows.len())
    }
}

/// Checksum of what a fork must leave of a flow.
fn lasting(plan: &Plan, flow: &FlowPlan) -> u32 {
    let slots = plan.classes[usize::from(flow.class)].slots.as_ref();
    let FlowPlan {
        class,
        source,
        destination,
        level,
        start,
        flits,
        phase,
        after,
        ..
    } = flow;
    let stop = slots.map(|_| flow.stop);
    let has = (flow.window.is_some(), flow.process.is_some());
    let phase = phase.map(|phase| &plan.app_phases[phase as usize]);
    sum(&format!(
        "{class} {source:?} {destination:?} {level:?} {start} {stop:?} {flits:?} {phase:?} {after:?} {has:?}"
    ))
}

/// Checksum of what a fork must leave of a class with flows; of others there is nothing.
fn of_class(plan: &Plan, class: &ClassPlan) -> u32 {
    if class.flows.is_none() {
        return 0;
    }
    let control = class.control.as_ref().map(|control| {
        let answers = &plan.classes[usize::from(control.answers)];
        (
            control,
            &answers.size,
            &answers.service_levels,
            answers.management,
        )
    });
    let (size, slots, level) = (&class.size, &class.slots, &class.service_levels);
    let requests = &class.requests;
    sum(&format!(
        "{size:?} {slots:?} {level:?} {requests:?} {control:?}"
    ))
}

fn sum(text: &str) -> u32 {
    crc32fast::hash(text.as_bytes())
}
