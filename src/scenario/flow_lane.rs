//! The lane on which the packets of a flow start, one for all of them.

use crate::plan::Plan;
use crate::routing::Routes;
use crate::routing::adaptive::first_lane;
use crate::topology::Graph;

/// Lane of its host's channel that packets of a flow, by its id, take: that of its service level and layer, of layer 0 with a route
/// of its own (D66), one of its group by its id where packets choose their ways (D27), or VL15.
pub fn injection_lane(graph: &Graph, routes: &Routes, plan: &Plan, id: usize) -> u8 {
    let flow = &plan.flows[id];
    if plan.classes[usize::from(flow.class)].management {
        return plan.switch.lanes;
    }
    match routes {
        Routes::Tables(tables) => {
            let has_own = plan.routes_of_flows.is_some() || plan.sets_up();
            let switch = graph.attachment(flow.source).filter(|_| !has_own);
            let layer = switch.map_or(0, |(switch, _)| tables.path_layer(switch, flow.destination));
            let channel = graph.host_channel(flow.source);
            tables.lanes.injection_lane(channel, flow.level, layer).0
        }
        Routes::Adaptive(adaptive) => {
            let width = adaptive.routing.width();
            let first = first_lane(width, plan.switch.lanes, flow.level);
            first + (id % usize::from(width)) as u8
        }
    }
}
