//! Classes that set up (D67): their parameters, the connections of their flows, and what excludes them.

use crate::reference::Setting;
use crate::reference::own_routes;
use crate::reference::routing::Routing;
use virtlane::control::Facts;
use virtlane::control::set_up::{ANY_HOPS, Connections, Release, SetUp};
use virtlane::plan::{ClassPlan, Limit};

/// Parameters that switches use.
#[derive(Clone, Copy, Debug)]
pub(in crate::reference) struct Parameters {
    /// Most hops; none: any number.
    pub(super) hops: Option<u32>,
    pub(super) forced: bool,
    /// Places of a cache; none: any number.
    pub(super) places: Option<u32>,
    /// Whether the last packet of a flow takes its route down.
    pub(super) last_takes_down: bool,
}

fn of_class(class: &ClassPlan) -> Option<&SetUp> {
    class.control.as_ref()?.algorithm.set_up()
}

/// How the class of a flow sets up, if it does.
fn algorithm(setting: Setting<'_>, flow: usize) -> Option<&SetUp> {
    let class = usize::from(setting.plan.flows[flow].class);
    of_class(&setting.plan.classes[class])
}

/// Whether any class sets up.
pub(in crate::reference) fn are_any(setting: Setting<'_>) -> bool {
    let mut classes = setting.plan.classes.iter();
    classes.any(|class| of_class(class).is_some())
}

/// How the route of a flow is set up; `None`: it is not.
pub(in crate::reference) fn set_up_of(setting: Setting<'_>, flow: usize) -> Option<Parameters> {
    let algorithm = algorithm(setting, flow)?;
    Some(Parameters {
        hops: (algorithm.hops != ANY_HOPS).then_some(algorithm.hops),
        forced: !algorithm.free,
        places: (algorithm.cache != u32::MAX).then_some(algorithm.cache),
        last_takes_down: algorithm.release == Release::LastPacket,
    })
}

/// Whether tear-downs come behind all packets of their flow, and set-ups of the same connection behind these.
pub(in crate::reference) fn is_in_order(setting: Setting<'_>) -> bool {
    let mut all = setting.plan.classes.iter().filter_map(of_class);
    all.all(|algorithm| algorithm.release != Release::AtOnce)
}

/// The flows of the connection of a flow, in order.
fn flows(setting: Setting<'_>, flow: usize) -> Vec<usize> {
    let algorithm = algorithm(setting, flow).expect("D67");
    let plan = &setting.plan.flows;
    let is_same = |other: &usize| {
        let key = |flow: usize| (plan[flow].class, plan[flow].source, plan[flow].destination);
        match algorithm.connections {
            Connections::Flows => *other == flow,
            Connections::Pairs => key(*other) == key(flow),
        }
    };
    (0..plan.len()).filter(is_same).collect()
}

/// What stands for the connection of a flow: the first flow of it.
pub(in crate::reference) fn connection(setting: Setting<'_>, flow: usize) -> usize {
    flows(setting, flow)[0]
}

/// The next flow of the connection of a flow.
pub(in crate::reference) fn successor(setting: Setting<'_>, flow: usize) -> Option<usize> {
    let mut flows = flows(setting, flow).into_iter();
    flows.find(|&other| other > flow)
}

/// What the sender of a flow is told as its start cycle (D47).
pub(in crate::reference) fn told_start(setting: Setting<'_>, flow: usize) -> u64 {
    let is_set_up = set_up_of(setting, flow).is_some();
    if is_set_up && connection(setting, flow) != flow {
        return Facts::NO_START;
    }
    setting.plan.flows[flow].start
}

/// What D67 excludes.
pub(in crate::reference) fn check_plan(setting: Setting<'_>) {
    if !are_any(setting) {
        return;
    }
    let (plan, graph) = (setting.plan, setting.graph);
    let Routing::Tables(tables) = setting.routing else {
        panic!("D67: no adaptive routing");
    };
    assert_eq!(tables.lanes.layers, 1, "D67: one layer");
    assert!(!own_routes::are_given(setting), "D67: no routes of D66");
    assert!(plan.admission.is_none(), "D67: no desk");
    let mut paces = graph.channels().iter();
    let pace = graph.channels()[0].timing.cycles_per_flit;
    assert!(
        paces.all(|channel| channel.timing.cycles_per_flit == pace),
        "D67: one pace"
    );
    for class in &plan.classes {
        let Some(control) = &class.control else {
            continue;
        };
        let is_beside = control.transport.is_some() || control.queue.is_some();
        let is_other = control.algorithm.is_shared() || control.algorithm.looks().is_some();
        assert!(!is_beside && !is_other, "D67");
    }
    for (id, flow) in plan.flows.iter().enumerate() {
        let class = &plan.classes[usize::from(flow.class)];
        if set_up_of(setting, id).is_none() {
            continue;
        }
        assert!(class.slots.is_none() && class.requests.is_none(), "D67");
        assert!(flow.flits.is_some() && flow.stop.is_none(), "D67");
        assert!(flow.process.is_none() && flow.phase.is_none(), "D67");
        assert!(flow.after.is_empty() && flow.changes.is_empty(), "D67");
        assert_eq!(flow.limit, Limit::None, "D39");
    }
}
