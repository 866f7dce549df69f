//! Lowers routes to what switches look up.
//!
//! Cost: O(switches * hosts) where a switch has ports without a link before others, else nothing: the entries are shared.

use crate::cycle::state::{Forwarding, Outputs};
use crate::fabric::placement::Placement;
use crate::ids::SwitchId;
use crate::plan::Plan;
use crate::routing::Tables;
use crate::topology::Graph;

/// The tables of a fabric; without any, who is attached where.
pub(super) fn lower(
    graph: &Graph,
    tables: Option<&Tables>,
    plan: &Plan,
    placement: &Placement,
) -> Forwarding {
    let mut forwarding = Forwarding {
        layers: 1,
        host_count: graph.hosts().len(),
        host_switch: host_switches(graph),
        ..Forwarding::default()
    };
    if let Some(tables) = tables {
        lower_tables(graph, tables, plan, placement, &mut forwarding);
    }
    forwarding
}

/// Switch of each host.
fn host_switches(graph: &Graph) -> Vec<u32> {
    let attachments = graph.host_ids().filter_map(|host| graph.attachment(host));
    attachments.map(|(switch, _)| switch.0).collect()
}

fn lower_tables(
    graph: &Graph,
    tables: &Tables,
    plan: &Plan,
    placement: &Placement,
    forwarding: &mut Forwarding,
) {
    forwarding.hop_layer.clone_from(&tables.hop_layer);
    forwarding.path_layer.clone_from(&tables.path_layer);
    forwarding.layers = tables.lanes.layers;
    forwarding.management_key =
        u8::try_from(tables.lanes.keys()).expect("checked when the plan is resolved");
    for switch in graph.switch_ids() {
        forwarding
            .output_first
            .push(forwarding.output_step.len() as u32);
        let steps = graph
            .connected_ports(switch)
            .map(|(_, channel)| graph.channel(channel).timing.cycles_per_flit);
        forwarding.output_step.extend(steps.map(|step| step as u16));
    }
    forwarding.next = outputs(graph, tables, placement);
    for profile in tables.lanes.profiles.chunks(tables.lanes.keys()) {
        forwarding.profiles.extend_from_slice(profile);
        forwarding.profiles.push(plan.switch.lanes);
    }
}

/// Output indices in place of ports.
fn outputs(graph: &Graph, tables: &Tables, placement: &Placement) -> Outputs {
    // no port without a link stands before one that has one
    let is_dense = |switch: SwitchId| {
        let mut ports = graph.connected_ports(switch).enumerate();
        ports.all(|(place, (port, _))| usize::from(port) == place + 1)
    };
    if graph.switch_ids().all(is_dense) {
        return Outputs {
            entries: tables.next.clone(),
            before: 1,
        };
    }
    let switch_of = tables.row_switches(graph);
    let entries = tables.next.map(|row, port| {
        let index = &placement.port_index[switch_of[row].index()];
        let known = index.get(usize::from(port).wrapping_sub(1));
        known.copied().unwrap_or(u8::MAX)
    });
    Outputs { entries, before: 0 }
}
