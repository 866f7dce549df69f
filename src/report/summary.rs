//! `summary.json`, schema `virtlane-summary/2`.
//!
//! Field names and their order are a contract. All latencies are in cycles, all loads fractions of the link
//! rate; what has no value (the latency of a class without packets) is `null`, never NaN.

use super::loads::{host_capacity, load, ratio, senders};
pub use super::paths::look_up;
use super::result::{
    ChannelInfo, ClassInfo, CycleCounts, FabricInfo, RoutingInfo, ScenarioInfo, StageCost,
};
use super::{RunResult, Verdict};
use crate::ids::ChannelId;
use crate::measure::precision::BatchMeans;
use crate::measure::{ClassRecords, JitterRecord, LatencyRecord, LatencySummary};
use serde::{Deserialize, Serialize};

/// Name and version of the schema.
pub const SCHEMA: &str = "virtlane-summary/2";

/// The whole summary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(
    missing_docs,
    reason = "fields are described by the schema and their types"
)]
pub struct Summary {
    pub schema: String,
    pub fabric: FabricInfo,
    pub routing: RoutingInfo,
    pub scenario: ScenarioInfo,
    pub run: RunSummary,
    pub load: LoadSummary,
    pub latency: LatencyPair,
    pub confidence: ConfidenceSummary,
    pub hops: HopSummary,
    pub classes: Vec<ClassSummary>,
    pub channels: ChannelSummary,
    pub work: WorkSummary,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageCost>,
}

/// How the run went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSummary {
    /// Seed of all random streams.
    pub seed: u64,
    /// Worker threads.
    pub threads: usize,
    /// Parts of the fabric.
    pub shards: usize,
    /// How it ended.
    pub verdict: Verdict,
    /// Why, in one sentence (a deadlock: with the wait-for cycle).
    #[serde(default)]
    pub reason: String,
    /// Digest of all deliveries, 32 hexadecimal digits.
    pub digest: String,
    /// Length of the phases.
    pub cycles: CycleCounts,
    /// Whether the measurement was cut short because the fabric is certainly overloaded.
    #[serde(
        default,
        rename = "cut_short",
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub is_cut: bool,
    /// Where the phases that find their own length ended, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<String>,
}

/// How precise the means of this run are: intervals from batch means, `null` where it is too short to tell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConfidenceSummary {
    /// Level of the intervals.
    pub level: f64,
    /// Accepted load \[fraction of link rate\].
    pub accepted: Option<BatchMeans>,
    /// Mean network latency \[cycles\].
    pub network_latency: Option<BatchMeans>,
    /// Mean packet latency \[cycles\].
    pub packet_latency: Option<BatchMeans>,
}

/// Loads of the window \[fraction of link rate\].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadSummary {
    /// Created, rejected packets included, over all sending hosts. Packets are created as a whole: in a short window it
    /// may exceed 1.
    pub offered: f64,
    /// Delivered, over all sending hosts; counted flit by flit.
    pub accepted: f64,
    /// Delivered from the sending host with the least.
    pub accepted_min_host: f64,
    /// Delivered from the sending host with the most.
    pub accepted_max_host: f64,
    /// Growth of the source queues in the measurement, part of the packets created; negative when they shrink.
    pub backlog_growth: f64,
    /// Flits created in the measurement and not delivered in it, part of those created: growth of source queues and
    /// fabric together.
    pub present_growth: f64,
}

/// Both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyPair {
    /// First channel to delivery.
    pub network: LatencySummary,
    /// Creation to delivery.
    pub packet: LatencySummary,
}

/// Inter-switch channels crossed by tagged packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HopSummary {
    /// Mean.
    pub mean: Option<f64>,
    /// Packets, `[hops]`.
    pub histogram: Vec<u64>,
}

/// One class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassSummary {
    /// Name.
    pub name: String,
    /// Service level.
    pub sl: ServiceLevels,
    /// Created \[fraction of link rate\].
    pub offered: f64,
    /// Delivered \[fraction of link rate\].
    pub accepted: f64,
    /// Rejected by full source queues \[packets\].
    pub rejected: u64,
    /// Latencies.
    pub latency: LatencyPair,
    /// Change of network latency within flows.
    pub jitter: JitterSummary,
    /// Messages, of a class that sends any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<MessageSummary>,
}

/// Messages of a class.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MessageSummary {
    /// In all.
    pub count: u64,
    /// Delivered in the run.
    pub delivered: u64,
    /// Cycle in which the last of these was.
    pub last_delivery: Option<u64>,
    /// First packet made to last packet delivered \[cycles\], of messages that begin in the window.
    pub latency: LatencySummary,
}

/// Service level of a class: a number, a list when packets draw one of several, `null` on VL15.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ServiceLevels {
    /// The usual case.
    One(u8),
    /// Drawn per packet.
    Several(Vec<u8>),
    /// On VL15, which has no service level.
    None,
}

/// Change of network latency from one packet of a flow to the next \[cycles\]; `null` for classes without flows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JitterSummary {
    /// Largest.
    pub max: Option<u64>,
    /// Mean.
    pub mean: Option<f64>,
}

/// Channels, host links included.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChannelSummary {
    /// Share of the window in which channels carried flits.
    pub utilisation: MeanMax,
}

/// Mean and maximum.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeanMax {
    /// Mean.
    pub mean: f64,
    /// Maximum.
    pub max: f64,
}

/// Work done and its cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkSummary {
    /// Switches passed by packets, in the whole run.
    pub packet_hops: u64,
    /// Switches passed by flits, in the whole run.
    pub flit_hops: u64,
    /// Elapsed time, of all parts of a run that was stopped and went on \[s\].
    pub wall_seconds: f64,
    /// Processor time, likewise \[s\].
    pub cpu_seconds: f64,
    /// `flit_hops / cpu_seconds` \[1/s\].
    pub flit_hops_per_cpu_second: f64,
    /// Simulated cycles per elapsed second \[1/s\].
    pub cycles_per_second: f64,
    /// Largest resident set \[bytes\].
    pub peak_rss_bytes: u64,
}

/// Makes the summary of a run.
pub fn summarize(result: &RunResult) -> Summary {
    let records = &result.records;
    let classes = result.classes.iter().zip(&records.classes);
    Summary {
        schema: SCHEMA.to_owned(),
        fabric: result.fabric,
        routing: result.routing.clone(),
        scenario: result.scenario.clone(),
        run: RunSummary {
            seed: result.seed,
            threads: result.threads,
            shards: result.shards,
            verdict: result.verdict,
            reason: result.reason.clone(),
            digest: records.digest.to_string(),
            cycles: result.cycles,
            is_cut: result.is_cut,
            length: result.length.clone(),
        },
        load: loads(result),
        latency: LatencyPair {
            network: merged(&records.classes, |class| &class.network),
            packet: merged(&records.classes, |class| &class.packet),
        },
        confidence: confidence(result),
        hops: hops(&records.classes),
        classes: classes
            .map(|(info, class)| class_summary(result, info, class))
            .collect(),
        channels: ChannelSummary {
            utilisation: utilisations(result),
        },
        work: WorkSummary {
            packet_hops: records.packet_hops,
            flit_hops: records.flit_hops,
            wall_seconds: result.wall_seconds,
            cpu_seconds: result.cpu_seconds,
            flit_hops_per_cpu_second: ratio(records.flit_hops as f64, result.cpu_seconds),
            cycles_per_second: ratio(result.cycles.total as f64, result.wall_seconds),
            peak_rss_bytes: result.peak_rss_bytes,
        },
        stages: result.stages.clone(),
    }
}

/// The summary as indented JSON with a final line break.
///
/// # Panics
/// Never: the summary holds neither maps with other keys than strings nor NaN.
pub fn summary_json(result: &RunResult) -> String {
    let json = serde_json::to_string_pretty(&summarize(result));
    json.expect("plain structs are always JSON") + "\n"
}

fn loads(result: &RunResult) -> LoadSummary {
    let hosts = senders(result);
    let total = |count: fn(&ClassRecords) -> u64| result.records.classes.iter().map(count).sum();
    let accepted: Vec<f64> = hosts
        .iter()
        .map(|&host| {
            let flits = result.records.hosts[host.index()].accepted_flits;
            load(result, flits, &[host])
        })
        .collect();
    LoadSummary {
        offered: load(result, total(|class| class.created_flits), &hosts),
        accepted: load(result, total(|class| class.delivered_flits), &hosts),
        accepted_min_host: accepted.iter().copied().reduce(f64::min).unwrap_or(0.0),
        accepted_max_host: accepted.iter().copied().reduce(f64::max).unwrap_or(0.0),
        backlog_growth: ratio(
            result.backlog_growth as f64,
            total(|class| class.created_packets) as f64,
        ),
        present_growth: ratio(
            result.present_growth as f64,
            total(|class| class.created_flits) as f64,
        ),
    }
}

fn confidence(result: &RunResult) -> ConfidenceSummary {
    let found = result.precision;
    // the run counts flits per cycle, of all hosts
    let per_cycle = host_capacity(result, &senders(result));
    ConfidenceSummary {
        level: found.confidence,
        accepted: found
            .accepted
            .map(|accepted| accepted.scaled(ratio(1.0, per_cycle))),
        network_latency: found.network_latency,
        packet_latency: found.packet_latency,
    }
}

fn merged(
    classes: &[ClassRecords],
    clock: impl Fn(&ClassRecords) -> &LatencyRecord,
) -> LatencySummary {
    let mut sum = LatencyRecord::default();
    for class in classes {
        sum.merge(clock(class));
    }
    sum.summary()
}

fn hops(classes: &[ClassRecords]) -> HopSummary {
    let mut histogram = vec![0; classes.iter().map(|c| c.hops.len()).max().unwrap_or(0)];
    for class in classes {
        for (sum, count) in histogram.iter_mut().zip(&class.hops) {
            *sum += count;
        }
    }
    HopSummary {
        mean: mean_hops(&histogram),
        histogram,
    }
}

/// Mean of a histogram `[hops]`; `None` when it is empty.
pub fn mean_hops(histogram: &[u64]) -> Option<f64> {
    let packets: u64 = histogram.iter().sum();
    let hops: u64 = (0..).zip(histogram).map(|(hops, count)| hops * count).sum();
    (packets > 0).then(|| hops as f64 / packets as f64)
}

fn class_summary(result: &RunResult, info: &ClassInfo, class: &ClassRecords) -> ClassSummary {
    ClassSummary {
        name: info.name.clone(),
        sl: match info.service_levels[..] {
            [] => ServiceLevels::None,
            [only] => ServiceLevels::One(only),
            ref several => ServiceLevels::Several(several.to_vec()),
        },
        offered: load(result, class.created_flits, &info.hosts),
        accepted: load(result, class.delivered_flits, &info.hosts),
        rejected: class.rejected,
        latency: LatencyPair {
            network: class.network.summary(),
            packet: class.packet.summary(),
        },
        jitter: jitter(&class.jitter),
        messages: info.messages.map(|count| messages(count, class)),
    }
}

fn messages(count: u64, class: &ClassRecords) -> MessageSummary {
    let records = class.messages.as_deref();
    MessageSummary {
        count,
        delivered: records.map_or(0, |records| records.delivered),
        last_delivery: records.map(|records| records.last_delivery),
        latency: records.map_or(LatencySummary::default(), |records| {
            records.latency.summary()
        }),
    }
}

fn jitter(record: &JitterRecord) -> JitterSummary {
    JitterSummary {
        max: (record.count > 0).then_some(record.max),
        mean: record.mean(),
    }
}

fn utilisations(result: &RunResult) -> MeanMax {
    let busy = |(channel, info): (usize, &ChannelInfo)| {
        let flits = result.records.channels.flits(ChannelId::from(channel));
        flits * u64::from(info.cycles_per_flit)
    };
    let all: Vec<u64> = result.channels.iter().enumerate().map(busy).collect();
    let window = result.cycles.measure as f64;
    MeanMax {
        mean: ratio(all.iter().sum::<u64>() as f64, window * all.len() as f64),
        max: ratio(all.iter().copied().max().unwrap_or(0) as f64, window),
    }
}
