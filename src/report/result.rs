//! A finished run: everything the reports are made of.

use super::usage::{host_name, usage};
use crate::ids::HostId;
use crate::measure::{Flow, FlowRecord, Records};
use crate::plan::{ClassPlan, Plan};
use crate::run::Outcome;
pub use crate::run::outcome::{CycleCounts, Estimates, StageCost, TimelineRow, Verdict};
use crate::scenario::{Parts, Resolved, print};
use crate::topology::Graph;
use crate::topology::survey::Survey;
use crate::units::Clock;
use serde::{Deserialize, Serialize};

/// A finished run.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// Title of the scenario.
    pub title: String,
    /// Size of the fabric.
    pub fabric: FabricInfo,
    /// What was routed, and what is proved about it.
    pub routing: RoutingInfo,
    /// Seed of all random streams.
    pub seed: u64,
    /// Worker threads.
    pub threads: usize,
    /// Parts the fabric was split into.
    pub shards: usize,
    /// How the run ended.
    pub verdict: Verdict,
    /// Why, in one sentence.
    pub reason: String,
    /// Whether the measurement was cut short because the fabric is certainly overloaded.
    pub is_cut: bool,
    /// Where the phases that find their own length ended, and why.
    pub length: Option<String>,
    /// Packets in source queues after the measurement, less those before it.
    pub backlog_growth: i64,
    /// Flits created in the measurement, less those delivered in it.
    pub present_growth: i64,
    /// How precise the means are.
    pub precision: Estimates,
    /// Length of the phases as run.
    pub cycles: CycleCounts,
    /// All counters, merged over shards.
    pub records: Records,
    /// Classes, in plan order.
    pub classes: Vec<ClassInfo>,
    /// Hosts, in id order.
    pub hosts: Vec<HostInfo>,
    /// Channels, in id order.
    pub channels: Vec<ChannelInfo>,
    /// Flows in order; `None` when they are not recorded.
    pub flows: Option<Vec<(Flow, FlowRecord)>>,
    /// Counters over time; may be empty.
    pub timeline: Vec<TimelineRow>,
    /// Cost per stage, with profiling; otherwise empty.
    pub stages: Vec<StageCost>,
    /// Elapsed time of the simulation, of all its parts when it was stopped and went on \[s\].
    pub wall_seconds: f64,
    /// Processor time of the simulation, all threads, likewise \[s\].
    pub cpu_seconds: f64,
    /// Largest resident set of the process \[bytes\].
    pub peak_rss_bytes: u64,
    /// Name of the machine.
    pub host_name: String,
    /// What the scenario is known by; see [`Document::identity`](crate::scenario::Document::identity).
    pub identity: String,
    /// What was simulated, in units of the world.
    pub scenario: ScenarioInfo,
    /// The resolved plan as RON.
    pub plan: String,
}

impl RunResult {
    /// Joins counters, names and machine facts.
    pub fn new(resolved: &Resolved, outcome: Outcome, identity: String) -> Self {
        let graph = &resolved.layout.graph;
        let survey = Survey::new(graph);
        Self {
            title: resolved.plan.title.clone(),
            fabric: FabricInfo {
                switches: survey.switches,
                hosts: survey.hosts,
                channels: graph.channels().len(),
                diameter: survey.diameter,
            },
            routing: RoutingInfo {
                engine: resolved.routes.engine().to_owned(),
                minimal: resolved.proof.minimal,
                layers: u32::from(resolved.routes.guarantees().lanes_needed),
                deadlock_free: resolved.proof.acyclic,
                unreachable_pairs: resolved.proof.unreachable_pairs,
            },
            seed: resolved.plan.seed,
            threads: outcome.threads,
            shards: outcome.shards,
            verdict: outcome.verdict,
            reason: outcome.reason,
            is_cut: outcome.is_cut,
            length: outcome.length,
            backlog_growth: outcome.backlog_growth,
            present_growth: outcome.present_growth,
            precision: outcome.precision,
            cycles: outcome.cycles,
            records: outcome.records,
            classes: resolved.plan.classes.iter().map(ClassInfo::new).collect(),
            hosts: host_infos(graph),
            channels: channel_infos(graph),
            flows: outcome.flows,
            timeline: outcome.timeline,
            stages: outcome.stages,
            wall_seconds: outcome.cost.wall_seconds,
            cpu_seconds: outcome.cost.cpu_seconds,
            peak_rss_bytes: usage().peak_rss_bytes,
            host_name: host_name(),
            identity,
            scenario: ScenarioInfo::new(&resolved.plan),
            plan: print::plan(resolved, &Parts::registered()),
        }
    }
}

/// What a scenario is called, and what its cycles and flits are in units of the world.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScenarioInfo {
    /// Title.
    pub title: String,
    /// Length of a cycle \[ns\].
    pub cycle_ns: f64,
    /// Size of a flit \[bytes\].
    pub flit_bytes: u32,
    /// Rate of the reference link, on which a flit takes a cycle \[bit/s\].
    pub reference_rate: u64,
}

impl ScenarioInfo {
    /// Of a plan.
    pub fn new(plan: &Plan) -> Self {
        let clock = Clock {
            flit_bytes: plan.flit_bytes,
            reference_rate: plan.reference_rate,
        };
        Self {
            title: plan.title.clone(),
            cycle_ns: clock.cycle_picoseconds() / 1000.0,
            flit_bytes: plan.flit_bytes,
            reference_rate: plan.reference_rate,
        }
    }
}

/// Size of the fabric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FabricInfo {
    /// Switches.
    pub switches: usize,
    /// Hosts.
    pub hosts: usize,
    /// Channels, two per link.
    pub channels: usize,
    /// Longest distance between switches with hosts \[inter-switch channels\].
    pub diameter: u32,
}

/// What was routed, and what is proved about it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoutingInfo {
    /// Name of the engine.
    pub engine: String,
    /// Whether all paths are shortest.
    pub minimal: bool,
    /// Layers (sets of paths on lanes of their own).
    pub layers: u32,
    /// Whether freedom of deadlock is proved.
    pub deadlock_free: bool,
    /// Ordered pairs of hosts without a way, which are not offered.
    #[serde(default, skip_serializing_if = "is_none")]
    pub unreachable_pairs: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's form")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// A traffic class as reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassInfo {
    /// Name.
    pub name: String,
    /// Service levels; empty for a class on VL15.
    pub service_levels: Vec<u8>,
    /// Hosts that send under the pattern, ascending.
    pub hosts: Vec<HostId>,
    /// Messages it sends in all.
    pub messages: Option<u64>,
}

impl ClassInfo {
    /// The class of a plan, with the hosts that really send.
    pub fn new(class: &ClassPlan) -> Self {
        let levels = class.service_levels.iter().map(|sl| sl.0);
        let hosts = class.hosts.iter().copied();
        Self {
            name: class.name.clone(),
            service_levels: levels.filter(|_| !class.management).collect(),
            hosts: hosts.filter(|&host| class.pattern.sends(host)).collect(),
            messages: class.messages,
        }
    }
}

/// A host as reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostInfo {
    /// Name.
    pub name: String,
    /// Speed of its link \[cycles per flit\].
    pub cycles_per_flit: u32,
}

/// A channel as reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelInfo {
    /// Sending end.
    pub from: String,
    /// Receiving end.
    pub to: String,
    /// Speed \[cycles per flit\].
    pub cycles_per_flit: u32,
}

/// All hosts of a graph, in id order.
pub fn host_infos(graph: &Graph) -> Vec<HostInfo> {
    let hosts = graph.host_ids().zip(graph.hosts());
    hosts
        .map(|(id, host)| HostInfo {
            name: host.name.clone(),
            cycles_per_flit: graph.channel(graph.host_channel(id)).timing.cycles_per_flit,
        })
        .collect()
}

/// All channels of a graph, in id order.
pub fn channel_infos(graph: &Graph) -> Vec<ChannelInfo> {
    let channels = graph.channels().iter();
    channels
        .map(|channel| ChannelInfo {
            from: graph.endpoint_name(channel.from),
            to: graph.endpoint_name(channel.to),
            cycles_per_flit: channel.timing.cycles_per_flit,
        })
        .collect()
}
