//! Flows with routes of their own (D66): which packets have one, where it leads them, on which lane.

use super::Setting;
use super::packet::{Packet, Saying, Says};
use super::routing::Routing;
use virtlane::control::Algorithm;
use virtlane::ids::{ChannelId, SlId};
use virtlane::plan::Plan;
use virtlane::routing::Tables;

/// The route of a flow, if flows have some.
fn of_flow(setting: Setting<'_>, flow: usize) -> Option<&[ChannelId]> {
    let routes = setting.plan.routes_of_flows.as_ref();
    routes.map(|routes| routes.of(flow))
}

/// Whether flows have routes of their own.
pub(super) fn are_given(setting: Setting<'_>) -> bool {
    setting.plan.routes_of_flows.is_some()
}

/// The route that a packet goes by: one of a flow, or a probe in band.
pub(super) fn of_packet<'a>(setting: Setting<'a>, packet: &Packet) -> Option<&'a [ChannelId]> {
    match (packet.flow, packet.saying) {
        (Some(flow), _) => of_flow(setting, flow),
        (None, Some(saying)) => of_saying(setting, saying),
        (None, None) => None,
    }
}

/// The route that a control packet goes by: a probe, in band or out of band.
pub(super) fn of_saying(setting: Setting<'_>, saying: Saying) -> Option<&[ChannelId]> {
    match saying.says {
        Says::Probe(_) => of_flow(setting, saying.flow),
        Says::Answer(_) | Says::Reply { .. } => None,
    }
}

/// The channel behind the one that a packet came by.
pub(super) fn next(route: &[ChannelId], came_by: ChannelId) -> ChannelId {
    let mut steps = route.windows(2);
    let step = steps.find(|step| step[0] == came_by);
    step.expect("D66: it keeps to its route")[1]
}

/// The lane of a service level on a channel, where the tables tell no layers.
pub(super) fn lane(tables: &Tables, (from, to): (ChannelId, ChannelId), level: SlId) -> usize {
    tables.lanes.lane(from, to, level, 0).index()
}

/// What D66 excludes, and what a route is.
pub(super) fn check_plan(setting: Setting<'_>) {
    if !are_given(setting) {
        return;
    }
    let plan = setting.plan;
    let Routing::Tables(tables) = setting.routing else {
        panic!("D66: no adaptive routing");
    };
    assert_eq!(tables.lanes.layers, 1, "D66: one layer");
    assert!(plan.admission.is_none(), "D66: no desk");
    assert!(!looks(plan), "D66: no looks");
    for (id, flow) in plan.flows.iter().enumerate() {
        let route = of_flow(setting, id).expect("D66: every flow has a route");
        assert_eq!(route[0], setting.graph.host_channel(flow.source));
        let last = setting.graph.channel(route[route.len() - 1]);
        assert_eq!(last.to.host(), Some(flow.destination));
        for step in route.windows(2) {
            let behind = setting.graph.channel(step[0]).to.switch();
            let before = setting.graph.channel(step[1]).from.switch();
            assert!(behind.is_some() && behind == before, "D66: {route:?}");
        }
        let mut channels = route.to_vec();
        channels.sort_unstable();
        channels.dedup();
        assert_eq!(channels.len(), route.len(), "D66: distinct channels");
    }
}

/// Whether some class looks at its switches (D51).
fn looks(plan: &Plan) -> bool {
    let mut controls = plan
        .classes
        .iter()
        .filter_map(|class| class.control.as_ref());
    controls.any(|control| Algorithm::looks(&control.algorithm).is_some())
}
