//! Lanes that packets of a class take, and channels that they may go over.

use super::Resolved;
use super::service::lanes_of;
use crate::ids::SlId;
use crate::plan::{BufferSharing, ClassPlan, FlowPlan};
use crate::routing::Routes;
use crate::routing::adaptive::first_lane;
use crate::routing::loads::asked;
use crate::routing::loads::demand::Demand;
use crate::routing::loads::lane_loads::LaneLoads;

/// The bit of VL15, which has a buffer of its own.
const MANAGEMENT: u64 = 1 << 63;

/// Lanes that packets of a class may take on a channel, at least one, a bit for each; a pool is one lane.
pub(super) fn lanes(resolved: &Resolved, class: &ClassPlan) -> u64 {
    let switch = &resolved.plan.switch;
    if class.management {
        return MANAGEMENT;
    }
    if switch.sharing == BufferSharing::PortPool {
        return 1;
    }
    let lanes = match &resolved.routes {
        Routes::Adaptive(adaptive) => {
            let width = adaptive.routing.width();
            let first = |&sl: &SlId| first_lane(width, switch.lanes, sl);
            let groups = class.service_levels.iter().map(first);
            set(groups.flat_map(|first| first..first + width))
        }
        Routes::Tables(tables) => {
            let map = &tables.lanes;
            let rows = 0..map.profiles.len() / map.keys().max(1);
            set(rows.flat_map(|row| lanes_of(map, row, &class.service_levels)))
        }
    };
    lanes.max(1)
}

/// The same on a channel to a host: packets that choose their ways take the first lane of their group there (D20).
pub(super) fn lanes_to_hosts(resolved: &Resolved, class: &ClassPlan) -> u64 {
    let switch = &resolved.plan.switch;
    match &resolved.routes {
        Routes::Adaptive(adaptive)
            if !class.management
                && switch.sharing == BufferSharing::PerLane
                && adaptive.routing.any_lane().is_none() =>
        {
            let width = adaptive.routing.width();
            let first = |&sl: &SlId| first_lane(width, switch.lanes, sl);
            set(class.service_levels.iter().map(first)).max(1)
        }
        _ => lanes(resolved, class),
    }
}

/// How many lanes packets of a class take on every channel, `[channel]`, where tables tell: each has the lanes of its service level
/// on its way. `None`: who receives, or the ways, are not known, or there is one lane for all.
pub(super) fn counts_of_lanes(resolved: &Resolved, class: &ClassPlan) -> Option<Vec<u32>> {
    let (plan, graph) = (&resolved.plan, &resolved.layout.graph);
    let tables = resolved.routes.tables()?;
    let has_own_ways = plan.routes_of_flows.is_some() || plan.sets_up();
    let is_open = class.messages.is_some() || class.answers.is_some();
    let is_one = class.management || plan.switch.sharing == BufferSharing::PortPool;
    if is_open || is_one || class.flows.is_some() && has_own_ways {
        return None;
    }
    let is_its = |flow: &&FlowPlan, level: SlId| {
        let its = &raw const plan.classes[usize::from(flow.class)];
        flow.level == level && std::ptr::eq(its, class)
    };
    let of_level = |&level: &SlId| {
        let mut demand = Demand::none(graph.hosts().len());
        if class.flows.is_none() {
            demand.add(graph, &*class.pattern, &class.hosts, 1.0);
        }
        for flow in plan.flows.iter().filter(|flow| is_its(flow, level)) {
            demand.add_flow(flow.source, flow.destination, 1.0);
        }
        (level, demand)
    };
    let loads = LaneLoads::of(graph, tables, class.service_levels.iter().map(of_level));
    let channels = graph.channel_ids();
    Some(channels.map(|channel| loads.lanes_of(channel)).collect())
}

/// Lanes, a bit for each; a channel has at most 32 and VL15.
fn set(lanes: impl Iterator<Item = u8>) -> u64 {
    lanes.fold(0, |set, lane| set | 1 << lane)
}

/// Channels that packets of some of these classes may go over, `[channel]`.
pub(super) fn used(resolved: &Resolved, classes: &[&ClassPlan]) -> Vec<bool> {
    let mut used = vec![false; resolved.layout.graph.channels().len()];
    for class in classes {
        for (channel, is_its) in used.iter_mut().zip(channels(resolved, class)) {
            *channel |= is_its;
        }
    }
    used
}

/// Channels that packets of a class may go over, `[channel]`.
pub(super) fn channels(resolved: &Resolved, class: &ClassPlan) -> Vec<bool> {
    let graph = &resolved.layout.graph;
    let makes_own = class.messages.is_none() && class.flows.is_none() && class.answers.is_none();
    if makes_own {
        let mut demand = Demand::none(graph.hosts().len());
        demand.add(graph, &*class.pattern, &class.hosts, 1.0);
        return asked::channels(graph, resolved.router_of(&[class]), &demand);
    }
    // who receives is known to messages and flows alone
    let is_sender = |host| class.answers.is_some() || class.pattern.sends(host);
    let ends = graph.channels().iter();
    ends.map(|channel| channel.from.host().is_none_or(is_sender))
        .collect()
}
