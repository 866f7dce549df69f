//! What a case has of what reacts: admission, dropping, control.

use super::super::Case;
use virtlane::admission::Sessions;
use virtlane::control::Algorithm;
use virtlane::control::erratic::Erratic;
use virtlane::plan::{
    AdmissionPlan, BufferSharing, ClassPlan, Control, DropRule, Forwarding, InputSpeedup, Marking,
    Matching, Plan, Queues,
};

/// Classes that ask, and who decides (D53, D55, D56, D59, D61).
pub(super) fn admission<R>(case: &Case<R>) -> [(&'static str, bool); 13] {
    let plan = &case.plan;
    let of_flows = || plan.classes.iter().filter(|class| class.flows.is_some());
    let asking = || of_flows().filter(|class| class.requests.is_some());
    let control = plan.admission.as_ref().map(|admission| &admission.control);
    let trials = (plan.admission.as_ref()).and_then(AdmissionPlan::trials);
    let tried = plan.admission.iter().flat_map(|admission| &admission.tried);
    let levels = |class: u16| &plan.classes[usize::from(class)].service_levels;
    let mut all = tried.clone();
    let has_own_level = all.any(|tried| levels(tried.class) != levels(tried.probes));
    let mut all = tried;
    let has_several = all.any(|tried| levels(tried.probes).len() > 1);
    let untried = plan.admission.as_ref().filter(|_| trials.is_none());
    let last = untried.map(|admission| {
        let rounds = u64::from(admission.most) - 1;
        admission.first + rounds * admission.gap
    });
    [
        ("admission", control.is_some()),
        (
            "admission beside other flows",
            control.is_some() && of_flows().count() > asking().count(),
        ),
        (
            "admission with control",
            asking().any(|class| class.control.is_some()),
        ),
        ("two classes that ask", asking().count() > 1),
        (
            "rounds that end",
            last.is_some_and(|last| last < case.cycles),
        ),
        (
            "meters",
            control.is_some_and(|control| control.meter().is_some()),
        ),
        (
            "loads",
            control.is_some_and(|control| control.looks_at_loads()),
        ),
        (
            "slots under admission",
            asking().any(|class| class.slots.is_some()),
        ),
        (
            "decisions that take time",
            (plan.admission.as_ref()).is_some_and(|admission| admission.decision > 0),
        ),
        ("trials", trials.is_some()),
        (
            "trials with shared sessions",
            trials.is_some_and(|trials| trials.sessions == Sessions::Shared),
        ),
        ("trials on a level of their own", has_own_level),
        ("trials on several levels", has_several),
    ]
}

/// Classes of flows that reserve (D60).
pub(super) fn reservations<R>(case: &Case<R>) -> [(&'static str, bool); 3] {
    let reserving = || case.plan.classes.iter().filter(|class| class.reserves());
    let transports = || reserving().filter_map(|class| class.control.as_ref()?.transport);
    let any = reserving().count() > 0;
    [
        ("reservations", any),
        ("reservations of a fork", case.fork.is_some() && any),
        ("reservations out of band", transports().count() > 0),
    ]
}

/// Switches that drop, and what goes with it (D58).
pub(super) fn dropping<R>(case: &Case<R>) -> Vec<(&'static str, bool)> {
    let plan = &case.plan;
    let Some(drop) = &plan.switch.drop else {
        return Vec::new();
    };
    let (switch, host) = (&plan.switch, &plan.host);
    let has = |class: &&ClassPlan| {
        let mut levels = class.service_levels.iter();
        !class.management && levels.any(|level| drop.service_levels.contains(level))
    };
    let dropped = || plan.classes.iter().filter(has);
    let levels = plan.service_level_count();
    let by_fill = matches!(
        switch.marking,
        Some(Marking::InfiniBand { .. } | Marking::Ecn { .. })
    );
    vec![
        ("dropping what is held", drop.rule == DropRule::Held),
        ("dropping by a threshold", drop.rule != DropRule::Held),
        (
            "dropping of all",
            drop.service_levels.len() == usize::from(levels),
        ),
        (
            "dropping of flows",
            dropped().any(|class| class.flows.is_some()),
        ),
        (
            "dropping under admission",
            dropped().any(|class| class.requests.is_some()),
        ),
        (
            "dropping beside control",
            plan.classes.iter().any(|class| class.control.is_some()),
        ),
        ("dropping with VOQ", switch.queues == Queues::Voq),
        (
            "dropping from a pool",
            switch.sharing == BufferSharing::PortPool,
        ),
        (
            "dropping with several places",
            switch.input_speedup != InputSpeedup::Limited(1),
        ),
        (
            "dropping with input-first",
            switch.matching == Matching::InputFirst,
        ),
        ("dropping with output lanes", switch.output_lane_buffer > 0),
        (
            "dropping with slow sinks",
            host.sink_cycles_per_flit.is_some(),
        ),
        ("dropping with marks by fill", by_fill),
        ("dropping with queues observed", plan.observe.queues),
    ]
}

/// Classes apart (D47, D49, D68, D69, D73).
pub(super) fn apart(plan: &Plan) -> [(&'static str, bool); 11] {
    let controls = || (plan.classes.iter()).filter_map(|class| class.control.as_ref());
    let any = |probes: bool, out_of_band: bool, on: Option<bool>| {
        controls().any(|control| {
            let is_on_vl15 = plan.classes[usize::from(control.answers)].management;
            control.algorithm.probes() == probes
                && control.transport.is_some() == out_of_band
                && on.is_none_or(|on| on == is_on_vl15)
        })
    };
    let carry = |out_of_band: bool| {
        controls().any(|control| {
            control.algorithm.carries() && control.transport.is_some() == out_of_band
        })
    };
    let is_wormhole = plan.switch.forwarding == Forwarding::Wormhole;
    let in_common = |elements: bool| {
        controls().enumerate().any(|(number, one)| {
            let mut others = controls().skip(number + 1);
            others.any(|other| {
                let algorithm = &one.algorithm;
                algorithm.has_in_common(&other.algorithm) && algorithm.has_elements() == elements
            })
        })
    };
    [
        ("agents in common", in_common(false)),
        ("elements in common", in_common(true)),
        ("packets that carry", carry(false)),
        ("packets that carry, probes out of band", carry(true)),
        (
            "wormhole with packets that carry",
            is_wormhole && (carry(false) || carry(true)),
        ),
        ("probes", any(true, false, None)),
        ("probes on VL15", any(true, false, Some(true))),
        ("probes out of band", any(true, true, None)),
        ("answers out of band", any(false, true, None)),
        (
            "elements",
            controls().any(|control| control.algorithm.has_elements()),
        ),
        (
            "rates anew with every flow",
            controls().any(|control| matches!(control.algorithm, Algorithm::DffaRounds(_))),
        ),
    ]
}

/// What controls flows (D36 to D42, D47, D49).
pub(super) fn control(plan: &Plan) -> Vec<(&'static str, bool)> {
    let controls = || (plan.classes.iter()).filter_map(|class| class.control.as_ref());
    let machines: Vec<Erratic> = controls()
        .filter_map(|control| match control.algorithm {
            Algorithm::Erratic(machines) => Some(machines),
            _ => None,
        })
        .collect();
    let any = |has: fn(&Erratic) -> bool| machines.iter().any(has);
    let algorithms =
        |has: fn(&Algorithm) -> bool| controls().any(|control| has(&control.algorithm));
    let mut classes = plan.classes.iter();
    let others = classes.any(|class| class.flows.is_some() && class.control.is_none());
    let mut classes = plan.classes.iter();
    let management = classes.any(|class| class.answers.is_some() && class.management);
    let by_fill = matches!(
        plan.switch.marking,
        Some(Marking::InfiniBand { .. } | Marking::Ecn { .. })
    );
    let is_controlled = controls().count() > 0;
    let mut found = vec![
        ("control", is_controlled),
        ("control beside other flows", is_controlled && others),
        ("control with windows", any(|machines| machines.window)),
        ("control with delays", any(|machines| machines.delays)),
        ("groups of flows", algorithms(Algorithm::is_shared)),
        (
            "groups with windows",
            any(|machines| machines.shared && machines.window),
        ),
        (
            "control with clocks",
            is_controlled && plan.host.scheduler.takes_rates(),
        ),
        (
            "looks at own switches",
            algorithms(|algorithm| algorithm.looks().is_some()),
        ),
        ("two algorithms", controls().count() > 1),
        ("marks by fill with control", is_controlled && by_fill),
        ("answers on VL15", management),
    ];
    found.extend(answers(plan));
    for name in ["InfiniBand", "Dcqcn", "Window", "Delay", "RequestReply"] {
        let mut names = controls().map(|control| format!("{:?}", control.algorithm));
        found.push((name, names.any(|debug| debug.starts_with(name))));
    }
    found
}

/// Answers of several packets, and queues of them that are bounded (D57).
fn answers(plan: &Plan) -> [(&'static str, bool); 3] {
    let controls = || (plan.classes.iter()).filter_map(|class| class.control.as_ref());
    let has_several = |control: &Control| control.algorithm.packets_per_answer() > 1;
    [
        ("answers of several packets", controls().any(has_several)),
        (
            "bounded answers",
            controls().any(|control| control.queue.is_some()),
        ),
        (
            "bounded answers of several packets",
            controls().any(|control| control.queue.is_some() && has_several(control)),
        ),
    ]
}
