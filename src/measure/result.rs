//! A finished run: everything its metrics and reports are made of.

use super::outcome::{ClassVerdict, CycleCounts, Estimates, StageCost, TimelineRow, Verdict};
use super::percentiles::{ByFlow, ByHops};
use super::{CongestionLook, Flow, FlowRecord, FlowResult, Records};
use crate::ids::HostId;
use serde::{Deserialize, Serialize};

/// A phase of an application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppPhaseInfo {
    /// Name of the application.
    pub application: String,
    /// Number of the phase, from 0.
    pub number: u32,
}

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
    /// Latencies of flows; `None` when they are not recorded.
    pub flow_latencies: Option<ByFlow>,
    /// Latencies by hops; `None` when they are not recorded.
    pub hop_latencies: Option<ByHops>,
    /// Looks at congestion trees; `None` when there were none to take.
    pub congestion: Option<Vec<CongestionLook>>,
    /// Flows of the plan, by id.
    pub flow_results: Vec<FlowResult>,
    /// Phases of applications.
    pub app_phases: Vec<AppPhaseInfo>,
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
    /// What the scenario is known by; see `Document::identity`.
    pub identity: String,
    /// What was simulated, in units of the world.
    pub scenario: ScenarioInfo,
    /// The resolved plan as RON.
    pub plan: String,
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

/// Size of the fabric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
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
    #[serde(default)]
    pub unreachable_pairs: u64,
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
    /// What its flows ask for beside a peak, where they ask.
    pub bounds: Option<Bounds>,
    /// Whether its flows are the probes of others (D59).
    pub is_of_probes: bool,
    /// What is told of it beside the verdict of the run, where some class has a job.
    pub judged: Option<ClassVerdict>,
}

/// Bounds that the flows of a class ask for (D53).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Delay over one switch \[cycles\]; `None` = none.
    pub delay: Option<u64>,
    /// What each further switch adds to it \[cycles\].
    pub delay_per_switch: u64,
    /// Jitter \[cycles\]; `None` = none.
    pub jitter: Option<u64>,
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
