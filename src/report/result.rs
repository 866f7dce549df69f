//! Joins what a run counted with the names and sizes of its fabric: the result that reports are made of.

use super::flow_results::flow_results;
use super::usage::{host_name, usage};
use crate::measure::outcome::ClassVerdict;
pub use crate::measure::outcome::{CycleCounts, Estimates, StageCost, TimelineRow, Verdict};
pub use crate::measure::result::{
    AppPhaseInfo, Bounds, ChannelInfo, ClassInfo, FabricInfo, HostInfo, RoutingInfo, RunResult,
    ScenarioInfo,
};
use crate::plan::Plan;
use crate::run::Outcome;
use crate::scenario::{Parts, Resolved, print};
use crate::topology::Graph;
use crate::topology::survey::Survey;
use crate::units::Clock;

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
            threads: outcome.division.threads,
            shards: outcome.division.shards,
            verdict: outcome.verdict,
            reason: outcome.reason,
            is_cut: outcome.is_cut,
            length: outcome.length,
            backlog_growth: outcome.growth.backlog,
            present_growth: outcome.growth.present,
            precision: outcome.precision,
            cycles: outcome.cycles,
            records: outcome.records,
            classes: class_infos(&resolved.plan, &outcome.classes),
            hosts: host_infos(graph),
            channels: channel_infos(graph),
            flows: outcome.flows,
            flow_latencies: outcome.flow_latencies,
            hop_latencies: outcome.hop_latencies,
            congestion: outcome.congestion,
            flow_results: flow_results(resolved, &outcome.flow_counts, outcome.cycles),
            app_phases: app_phases(&resolved.plan),
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

fn app_phases(plan: &Plan) -> Vec<AppPhaseInfo> {
    let phases = plan.app_phases.iter().map(|phase| AppPhaseInfo {
        application: phase.application.clone(),
        number: phase.number,
    });
    phases.collect()
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

impl ClassInfo {
    /// A class of a plan, with the hosts that really send.
    pub fn new(plan: &Plan, number: u16) -> Self {
        let class = &plan.classes[usize::from(number)];
        let levels = class.service_levels.iter().map(|sl| sl.0);
        Self {
            name: class.name.clone(),
            service_levels: levels.filter(|_| !class.management).collect(),
            hosts: plan.senders(number),
            messages: class.messages,
            is_of_probes: plan.is_of_probes(number),
            judged: None,
            bounds: class.requests.map(|requests| Bounds {
                delay: requests.delay,
                delay_per_switch: requests.delay_per_switch,
                jitter: requests.jitter,
            }),
        }
    }
}

/// All classes of a plan, in order.
fn class_infos(plan: &Plan, judged: &[Option<ClassVerdict>]) -> Vec<ClassInfo> {
    let classes = 0..plan.classes.len() as u16;
    classes
        .map(|number| ClassInfo {
            judged: judged.get(usize::from(number)).cloned().flatten(),
            ..ClassInfo::new(plan, number)
        })
        .collect()
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
