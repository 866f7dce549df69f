//! Admission of flows (D53), and the probe flows of those that are tried (D59).

use super::{ClassPlan, FlowPlan, Plan};
use crate::admission::{Admission, Request, Trials};
use crate::ids::SlId;
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
    /// Empty rounds in a row that end the rounds, at least 1.
    pub empty: u32,
    /// Rounds at most, at least 1.
    pub most: u32,
    /// Cycles from a decision to the start of the flow.
    pub decision: u64,
    /// Classes whose flows are tried, ascending, each with that of its probes.
    pub tried: Vec<Tried>,
}

/// A class whose flows are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tried {
    /// The class.
    pub class: u16,
    /// That of its probes: its flows belong to those of the class, one to one, in order.
    pub probes: u16,
}

impl AdmissionPlan {
    /// How flows are tried; `None` where none are.
    pub fn trials(&self) -> Option<Trials> {
        self.control.trials().filter(|_| !self.tried.is_empty())
    }

    /// Adds the classes of probes and their flows, where the control tries flows: behind the classes and flows that there are,
    /// but before the classes of answers, whose numbers move.
    pub fn add_probes(&mut self, classes: &mut Vec<ClassPlan>, flows: &mut Vec<FlowPlan>) {
        let Some(trials) = self.control.trials() else {
            return;
        };
        let first = classes.iter().position(|class| class.answers.is_some());
        let first = first.unwrap_or(classes.len());
        let is_tried = |class: &ClassPlan| class.requests.is_some_and(|one| one.jitter.is_some());
        let asking =
            (0..first).filter(|&class| is_tried(&classes[class]) && !classes[class].reserves());
        let asking: Vec<usize> = asking.collect();
        for (number, class) in (first..).zip(asking) {
            let asking = &classes[class];
            let mut probes = ClassPlan {
                name: name_of_probes(&asking.name),
                slots: None,
                requests: None,
                control: None,
                ..asking.clone()
            };
            if let Some(level) = trials.level {
                probes.service_levels = vec![SlId(level)];
            }
            let of_class = flows.iter().filter(|flow| usize::from(flow.class) == class);
            let own: Vec<FlowPlan> = of_class
                .map(|flow| FlowPlan {
                    level: flow.level,
                    ..FlowPlan::backlogged(number as u16, flow.source, flow.destination)
                })
                .collect();
            flows.extend(own);
            classes.insert(number, probes);
            self.tried.push(Tried {
                class: class as u16,
                probes: number as u16,
            });
        }
        let added = self.tried.len() as u16;
        for control in classes
            .iter_mut()
            .filter_map(|class| class.control.as_mut())
        {
            control.answers += added;
        }
    }
}

/// Name of the class of probes for the flows of a class.
pub fn name_of_probes(class: &str) -> String {
    format!("{class} probes")
}

impl Plan {
    /// Whether a class is that of the probes of another.
    pub fn is_of_probes(&self, class: u16) -> bool {
        let tried = self.admission.iter().flat_map(|one| &one.tried);
        tried.into_iter().any(|tried| tried.probes == class)
    }

    /// The probe flow of each flow that is tried, both by id, in order.
    pub fn probe_flows(&self) -> Vec<(u32, u32)> {
        let of_class = |class: u16| {
            let flows = (0_u32..).zip(&self.flows);
            flows
                .filter(move |(_, flow)| flow.class == class)
                .map(|(id, _)| id)
        };
        let tried = self.admission.iter().flat_map(|one| &one.tried);
        let pairs = tried.flat_map(|tried| of_class(tried.class).zip(of_class(tried.probes)));
        pairs.collect()
    }

    /// What all flows that ask are told of to the desk, in order.
    pub fn admission_requests(&self, graph: &Graph, tables: &Tables) -> Vec<Request> {
        let request = |(id, flow): (u32, &FlowPlan)| {
            let class = &self.classes[usize::from(flow.class)];
            let requests = class.requests.filter(|_| !class.reserves())?;
            let level = class.level_of(flow);
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
