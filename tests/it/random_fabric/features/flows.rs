//! What a case has of flows: their kinds, waits and slots.

use super::super::Case;
use virtlane::plan::{ClassPlan, FlowPlan, Limit, Plan, Slots};

/// Kinds of flows.
pub(super) fn flows(plan: &Plan) -> Vec<(&'static str, bool)> {
    let any = |has: fn(&FlowPlan) -> bool| plan.flows.iter().any(has);
    let of_flows = plan.classes.iter().filter(|class| class.flows.is_some());
    let classes = of_flows.count();
    let mut all = plan.classes.iter();
    let is_other = |class: &ClassPlan| class.flows.is_none() && class.answers.is_none();
    let others = usize::from(all.any(is_other));
    let is_backlogged = |flow: &FlowPlan| plan.is_backlogged(flow);
    vec![
        ("flows alone", classes > 0 && others == 0),
        ("flows beside classes", classes > 0 && others > 0),
        (
            "flows beside messages",
            classes > 0 && !plan.workloads.is_empty(),
        ),
        ("two classes of flows", classes > 1),
        ("flows of several levels", has_several_levels(plan, false)),
        (
            "answers on the levels of flows",
            has_several_levels(plan, true),
        ),
        ("backlogged flows", plan.flows.iter().any(is_backlogged)),
        ("flows with a process", any(|flow| flow.process.is_some())),
        (
            "bounded flow queues",
            classes > 0 && plan.host.flow_queue.is_some(),
        ),
        ("flows of a size", any(|flow| flow.flits.is_some())),
        ("flows that stop", any(|flow| flow.stop.is_some())),
        ("flows that start late", any(|flow| flow.start > 0)),
        ("phases", !plan.app_phases.is_empty()),
        (
            "later phases",
            plan.app_phases.iter().any(|phase| phase.number > 0),
        ),
        (
            "flows with a rate",
            any(|flow| matches!(flow.limit, Limit::Rate(1..))),
        ),
        (
            "flows with a delay",
            any(|flow| matches!(flow.limit, Limit::Delay { .. })),
        ),
        ("flows at rate 0", any(|flow| flow.limit == Limit::Rate(0))),
        ("changes of limits", any(|flow| !flow.changes.is_empty())),
        ("windows", any(|flow| flow.window.is_some())),
    ]
}

/// Whether a class of flows, or of answers, has several service levels.
fn has_several_levels(plan: &Plan, answers: bool) -> bool {
    let mut classes = plan.classes.iter();
    classes.any(|class| {
        let is_meant = if answers {
            class.answers.is_some() && !class.management
        } else {
            class.flows.is_some()
        };
        is_meant && class.service_levels.len() > 1
    })
}

/// Flows that wait for others (D63).
pub(super) fn waits(plan: &Plan) -> [(&'static str, bool); 5] {
    let flows = || plan.flows.iter();
    let pairs = || {
        flows().flat_map(|flow| {
            let after = flow.after.iter();
            after.map(move |after| (flow, &plan.flows[after.flow as usize]))
        })
    };
    let is_controlled = |flow: &FlowPlan| {
        let class = &plan.classes[usize::from(flow.class)];
        !flow.after.is_empty() && class.control.is_some()
    };
    [
        ("flows that wait", pairs().count() > 0),
        (
            "waits for what is sent",
            pairs().any(|(flow, other)| flow.source == other.source),
        ),
        (
            "waits for what is received",
            pairs().any(|(flow, other)| flow.source == other.destination),
        ),
        (
            "waits for flows that wait",
            pairs().any(|(_, other)| !other.after.is_empty()),
        ),
        ("waits under control", flows().any(is_controlled)),
    ]
}

/// Classes with slots (D52).
pub(super) fn slots<R>(case: &Case<R>) -> [(&'static str, bool); 3] {
    let all = || {
        let classes = (0u16..).zip(&case.plan.classes);
        classes.filter_map(|(number, class)| Some((number, class, class.slots.as_ref()?)))
    };
    let change_hands = |(number, class, slots): (u16, &ClassPlan, &Slots)| {
        if class.requests.is_some() {
            // its flows begin when they are admitted
            return false;
        }
        let hosts = case.graph.host_ids();
        let flows = case.plan.flows.iter();
        hosts.into_iter().any(|host| {
            let mine = flows.clone();
            let mine = mine.filter(|flow| flow.class == number && flow.source == host);
            let mine: Vec<&FlowPlan> = mine.collect();
            do_change_hands(&mine, slots.count, case.cycles)
        })
    };
    [
        ("slots", all().count() > 0),
        (
            "slots with a source",
            all().any(|(_, _, slots)| slots.source.is_some()),
        ),
        ("slots that change hands", all().any(change_hands)),
    ]
}

/// Whether one of the slots that these flows of a host share has two holders before that cycle, one after the other, or
/// a flow two slots.
fn do_change_hands(flows: &[&FlowPlan], count: u32, end: u64) -> bool {
    let starts = flows.iter().map(|flow| flow.start);
    let stops = flows.iter().filter_map(|flow| flow.stop);
    let mut held: Vec<(usize, usize)> = Vec::new();
    for now in starts.chain(stops).filter(|&cycle| cycle < end) {
        let is_active =
            |flow: &FlowPlan| flow.start <= now && flow.stop.is_none_or(|stop| now < stop);
        let holders = (0..flows.len()).filter(|&index| is_active(flows[index]));
        let holders: Vec<usize> = holders.collect();
        let ranks = holders.iter().enumerate();
        held.extend(ranks.map(|(rank, &flow)| (flow, rank * count as usize / holders.len())));
    }
    let differ = |one: &(usize, usize), other: &(usize, usize)| {
        one != other && (one.0 == other.0 || one.1 == other.1)
    };
    held.iter()
        .any(|one| held.iter().any(|other| differ(one, other)))
}
