//! Another plan of the same network takes over (D23), which may have flows (D64).

use super::{Fabric, switch};
use virtlane::plan::{FlowPlan, Limit, Plan};
use virtlane::rng::{Purpose, stream};

impl<'a> Fabric<'a> {
    /// Before every stage of a cycle, behind its acts: sources and random streams start anew.
    pub(super) fn fork(&mut self, plan: &'a Plan, now: u64) {
        let old = self.setting.plan;
        check_plans(old, plan);
        self.setting.plan = plan;
        for host in &mut self.hosts {
            host.fork(self.setting, old, &self.packets, now);
        }
        for switch in &mut self.switches {
            for output in switch.outputs.iter_mut().flatten() {
                let id = output.channel as u64;
                output.stream = stream(plan.seed, Purpose::Arbitration, id);
                output.marks.start_draws(plan.seed, output.channel);
            }
            for input in switch.inputs.iter_mut().flatten() {
                input.streams = switch::adaptive_streams(plan, input.channel);
            }
        }
    }
}

/// What the flows of both plans have in common.
fn check_plans(old: &Plan, new: &Plan) {
    for plan in [old, new] {
        assert!(plan.workloads.is_empty(), "D27");
        assert!(plan.admission.is_none(), "D64");
    }
    assert_eq!(old.flows.len(), new.flows.len(), "D64");
    assert_eq!(old.app_phases, new.app_phases, "D64");
    for (old, new) in old.flows.iter().zip(&new.flows) {
        assert_eq!(kept(old), kept(new), "D64");
        assert_eq!(old.after, new.after, "D64");
    }
    for flow in &new.flows {
        let class = &new.classes[usize::from(flow.class)];
        let is_bound = flow.phase.is_some() || !flow.after.is_empty() || class.requests.is_some();
        let may_stop = flow.stop.is_none() && flow.changes.is_empty();
        assert!(!is_bound || may_stop, "D50, D53, D63");
        let is_limited = flow.limit != Limit::None || !flow.changes.is_empty();
        assert!(class.control.is_none() || !is_limited, "D39");
    }
    for (number, (old_class, new_class)) in old.classes.iter().zip(&new.classes).enumerate() {
        if old_class.flows.is_none() {
            continue;
        }
        let kept = |class: &virtlane::plan::ClassPlan| {
            let control = class.control.as_ref();
            let algorithm = control.map(|control| format!("{:?}", control.algorithm));
            let slots = class.slots.as_ref().map(|slots| format!("{slots:?}"));
            let answers = (control.map(|control| control.answers), class.answers);
            format!("{algorithm:?} {slots:?} {answers:?} {:?}", class.size)
        };
        assert_eq!(kept(old_class), kept(new_class), "D64");
        let stops = |plan: &Plan| {
            let flows = plan.flows.iter();
            let flows = flows.filter(|flow| usize::from(flow.class) == number);
            flows.map(|flow| flow.stop).collect::<Vec<_>>()
        };
        assert!(old_class.slots.is_none() || stops(old) == stops(new), "D64");
    }
}

/// What a flow has in both plans, but for what it waits for.
fn kept(flow: &FlowPlan) -> impl PartialEq + std::fmt::Debug + use<> {
    let ends = (flow.class, flow.source, flow.destination);
    let has = (flow.process.is_some(), flow.window.is_some());
    (ends, flow.start, flow.flits, flow.phase, has)
}
