//! Admission of flows (D53).

use super::Plan;
use crate::admission::{Admission, Request};
use crate::routing::Tables;
use crate::topology::Graph;
use std::sync::Arc;

/// How flows are admitted.
#[derive(Clone, Debug)]
pub struct AdmissionPlan {
    /// Who decides.
    pub control: Arc<dyn Admission>,
    /// Cycle of the first round.
    pub first: u64,
    /// Cycles from round to round, at least 1.
    pub gap: u64,
    /// Rounds in a row without an admission that end the rounds, at least 1.
    pub empty: u32,
    /// Rounds at most, at least 1.
    pub most: u32,
}

impl Plan {
    /// What all flows that ask are told of to the desk, in order.
    pub fn admission_requests(&self, graph: &Graph, tables: &Tables) -> Vec<Request> {
        let request = |(id, flow): (u32, &super::FlowPlan)| {
            let class = &self.classes[usize::from(flow.class)];
            let requests = class.requests?;
            let level = class.service_levels[0];
            let path = tables.path(graph, flow.source, flow.destination, level)?;
            let switches = path.len() as u64 - 1;
            let farther = requests.delay_per_switch * (switches - 1);
            Some(Request {
                flow: id,
                class: flow.class,
                level: level.0,
                peak: requests.peak,
                packet: class.size.largest(),
                delay: requests.delay.map(|delay| delay + farther),
                jitter: requests.jitter,
                way: (path.iter())
                    .map(|&(channel, _)| (channel.0, tables.lanes.of_level(channel, level)))
                    .collect(),
            })
        };
        (0..).zip(&self.flows).filter_map(request).collect()
    }
}
