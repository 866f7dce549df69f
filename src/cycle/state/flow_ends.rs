//! Where flows begin and end.

use crate::fabric::placement::Placement;
use crate::plan::Plan;
use std::sync::Arc;

/// Where a flow begins and ends.
#[derive(Clone, Copy, Debug)]
pub struct FlowEnd {
    /// Shard of its source.
    pub shard: u32,
    /// Its row there.
    pub row: u32,
    /// Shard of its destination.
    pub tail_shard: u32,
    /// Its row there.
    pub tail: u32,
    /// Cycles until a delivery counts at the source; 0 = it has no window.
    pub delay: u32,
}

/// Both ends of every flow, by id.
pub fn flow_ends(plan: &Plan, placement: &Placement) -> Arc<[FlowEnd]> {
    let mut order: Vec<u32> = (0..plan.flows.len() as u32).collect();
    order.sort_by_key(|&id| (plan.flows[id as usize].source, id));
    let mut ends = vec![
        FlowEnd {
            shard: 0,
            row: 0,
            tail_shard: 0,
            tail: 0,
            delay: 0
        };
        order.len()
    ];
    let mut rows = vec![0; placement.shard_count];
    for id in order {
        let shard = placement.host_shard[plan.flows[id as usize].source.index()];
        let row = &mut rows[shard as usize];
        (ends[id as usize].shard, ends[id as usize].row) = (shard, *row);
        *row += 1;
    }
    let mut tails = vec![0; placement.shard_count];
    for (end, flow) in ends.iter_mut().zip(&plan.flows) {
        end.tail_shard = placement.host_shard[flow.destination.index()];
        let tail = &mut tails[end.tail_shard as usize];
        end.tail = *tail;
        end.delay = flow.window.map_or(0, |window| window.delay as u32);
        *tail += 1;
    }
    ends.into()
}
