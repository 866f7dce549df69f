//! The plan: a scenario with every name looked up, every default filled in and every unit converted.
//!
//! Everything behind this point (graph, tables, engine, reference model) reads the plan only. Times are
//! cycles, sizes are flits; one cycle is the time of one flit on the reference link.

mod admission;
mod class;
mod flow;
mod host;
mod link;
mod phases;
mod routes;
mod scheduler;
mod set_up;
mod switch;
mod times;

use crate::ids::HostId;
use std::collections::BTreeSet;

pub use admission::{AdmissionPlan, Tried, name_of_probes};
pub use class::{Broadcast, ClassPlan, Control, OtherProcess, OutOfBand, Requests, Slots};
pub use flow::{AppPhase, FlowAfter, FlowPlan, Window};
pub use host::HostOptions;
pub use link::LinkRetry;
pub use phases::{Phases, Precision, Until};
pub use routes::RoutesOfFlows;
pub use scheduler::{SCHEDULERS, Scheduler, Unit};
pub use set_up::{Connection, Connections};
pub use switch::{
    Allocation, BufferSharing, DropRule, Dropping, Forwarding, InputSpeedup, InputTurns, Marking,
    Matching, OutputArbitration, Queues, SwitchOptions, Victims,
};

pub use times::Times;

pub use crate::control::{Limit, ONE_FLIT_PER_CYCLE};

use crate::measure::Observe;
use crate::routing::Tables;
use crate::topology::{ChannelTiming, Graph};
use crate::traffic::messages::Workload;
use std::sync::Arc;

/// What the engine needs beside graph and tables.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Title of the scenario.
    pub title: String,
    /// Seed of all random streams.
    pub seed: u64,
    /// Payload of one flit \[bytes\].
    pub flit_bytes: u32,
    /// Rate of the reference link \[bit/s\].
    pub reference_rate: u64,
    /// Switch options.
    pub switch: SwitchOptions,
    /// Host options.
    pub host: HostOptions,
    /// Errors of links and what is done about them; `None` = they make none.
    pub link_retry: Option<LinkRetry>,
    /// Traffic classes, those of answers behind all others.
    pub classes: Vec<ClassPlan>,
    /// Where the classes that send messages get them from.
    pub workloads: Vec<Workload>,
    /// Flows, by id.
    pub flows: Vec<FlowPlan>,
    /// The channels that packets of flows go over, by id, where flows have routes of their own (D66); the limits that go
    /// with them are in [`flows`](Self::flows) already.
    pub routes_of_flows: Option<RoutesOfFlows>,
    /// Forwarding tables of VL15 where an adaptive engine routes the rest (D83).
    pub management_tables: Option<Arc<Tables>>,
    /// How flows are admitted, where classes ask.
    pub admission: Option<AdmissionPlan>,
    /// Phases of applications that flows belong to, those of an application one after the other.
    pub app_phases: Vec<AppPhase>,
    /// Phases.
    pub phases: Phases,
    /// Run although the tables are not proved free of deadlock.
    pub allow_deadlock: bool,
    /// Whether pairs of hosts may have no way; they are not offered.
    pub allow_unreachable: bool,
    /// What is recorded beside the counters; changes nothing in a run.
    pub observe: Observe,
}

impl Plan {
    /// Whether a flow always has a packet while it is active: no process makes them, no slot and no session.
    pub fn is_backlogged(&self, flow: &FlowPlan) -> bool {
        let has_slot = self.classes[usize::from(flow.class)].slots.is_some();
        flow.process.is_none() && !has_slot && !self.is_of_probes(flow.class)
    }

    /// Load that a process or a slot gives a flow while it is active \[fraction of its host's link\]; `None`: it has none.
    pub fn load_of(&self, flow: &FlowPlan) -> Option<f64> {
        let slots = self.classes[usize::from(flow.class)].slots.as_ref();
        let slot = slots.map(|slots| slots.load / f64::from(slots.count));
        flow.process.as_ref().map(|process| process.load).or(slot)
    }

    /// Hosts that send packets of a class, ascending: answers come from where the flows that they answer lead, and where these
    /// probe from their sources, too.
    pub fn senders(&self, class: u16) -> Vec<HostId> {
        let plan = &self.classes[usize::from(class)];
        let Some(answered) = plan.answers else {
            let hosts = plan.hosts.iter().copied();
            return hosts.filter(|&host| plan.pattern.sends(host)).collect();
        };
        let control = self.classes[usize::from(answered)].control.as_ref();
        let is_beside = control.is_some_and(|control| control.transport.is_some());
        let probes = control.is_some_and(|control| control.algorithm.probes());
        let flows = self.flows.iter();
        let flows = flows.filter(|flow| flow.class == answered && !is_beside);
        let ends = flows.flat_map(|flow| {
            let source = probes.then_some(flow.source);
            source.into_iter().chain([flow.destination])
        });
        ends.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Largest packet of any class \[flits\].
    pub fn largest_packet(&self) -> u16 {
        self.classes
            .iter()
            .map(|class| class.size.largest())
            .max()
            .unwrap_or(1)
    }

    /// Farthest that an event can lie ahead \[cycles\]: what the engine's calendar must span.
    pub fn event_horizon(&self, graph: &Graph) -> u64 {
        let most = |value: fn(&ChannelTiming) -> u32| {
            let values = graph
                .channels()
                .iter()
                .map(|channel| u64::from(value(&channel.timing)));
            values.max().unwrap_or(1)
        };
        let (step, latency) = (
            most(|timing| timing.cycles_per_flit),
            most(|timing| timing.latency),
        );
        let pace = step.max(u64::from(self.host.sink_cycles_per_flit.unwrap_or(1)));
        let switch = &self.switch;
        let delays = [
            switch.routing_delay,
            switch.allocation_delay,
            switch.crossbar_delay,
        ];
        let credit = u64::from(switch.credit_latency.unwrap_or(0)).max(latency);
        let packet = u64::from(self.largest_packet()) * pace;
        let delays: u64 = delays.map(u64::from).iter().sum();
        let repeat = |retry: LinkRetry| packet + 2 * latency + u64::from(retry.delay);
        let late = self
            .link_retry
            .map_or(0, |retry| u64::from(LinkRetry::MOST) * repeat(retry));
        2 * (packet + latency + credit) + delays + u64::from(switch.output_buffer) * step + late
    }

    /// Number of the first class of answers; all behind it are, too.
    pub fn first_answers(&self) -> usize {
        let own = self
            .classes
            .iter()
            .take_while(|class| class.answers.is_none());
        own.count()
    }

    /// Classes whose answers have a bounded queue at every host (D57), with their numbers.
    pub fn bounded(&self) -> impl Iterator<Item = (u16, &Control, u32)> {
        let controls = (0..).zip(&self.classes);
        controls.filter_map(|(number, class)| {
            let control = class.control.as_ref()?;
            Some((number, control, control.queue?))
        })
    }

    /// Service levels in use: the highest one + 1, at least 1.
    pub fn service_level_count(&self) -> u8 {
        let data = self.classes.iter().filter(|class| !class.management);
        data.flat_map(|class| &class.service_levels)
            .map(|sl| sl.0 + 1)
            .max()
            .unwrap_or(1)
    }
}
