//! `summary.json`, schema `virtlane-summary/2`.
//!
//! What is written are the values of [`metrics`], behind the name of the schema; [`Summary`] is what readers ask by name.
//! Field names and their order are a contract. All latencies are in cycles, all loads fractions of the link
//! rate; what has no value (the latency of a class without packets) is `null`, never NaN.

use super::result::{CycleCounts, FabricInfo, RoutingInfo, ScenarioInfo, StageCost};
use super::{RunResult, Verdict};
use crate::measure::LatencySummary;
use crate::measure::precision::BatchMeans;
use crate::metrics;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Name and version of the schema.
pub const SCHEMA: &str = "virtlane-summary/2";

/// A summary as it is read.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[expect(
    missing_docs,
    reason = "fields are described by the schema and their types"
)]
pub struct Summary {
    pub schema: String,
    #[serde(default)]
    pub jobs: Vec<JobSummary>,
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
    #[serde(default)]
    pub stages: Vec<StageCost>,
    /// All of it, values that no field has among them.
    #[serde(skip)]
    pub values: Value,
}

impl Summary {
    /// Reads the text of a `summary.json`.
    ///
    /// # Errors
    /// When it is none.
    pub fn read(text: &str) -> Result<Self, serde_json::Error> {
        let summary: Self = serde_json::from_str(text)?;
        let values = serde_json::from_str(text)?;
        Ok(Self { values, ..summary })
    }
}

/// How the run went.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
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
    #[serde(default, rename = "cut_short")]
    pub is_cut: bool,
    /// Where the phases that find their own length ended, and why.
    #[serde(default)]
    pub length: Option<String>,
}

/// How precise the means of this run are: intervals from batch means, `null` where it is too short to tell.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct LatencyPair {
    /// First channel to delivery.
    pub network: LatencySummary,
    /// Creation to delivery.
    pub packet: LatencySummary,
}

/// Inter-switch channels crossed by tagged packets.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct HopSummary {
    /// Mean.
    pub mean: Option<f64>,
    /// Packets, `[hops]`.
    pub histogram: Vec<u64>,
}

/// One class.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ClassSummary {
    /// Name.
    pub name: String,
    /// Service level.
    pub sl: ServiceLevels,
    /// What is told of it beside the verdict of the run, where some class has a job.
    #[serde(default)]
    pub verdict: Option<Verdict>,
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
    #[serde(default)]
    pub messages: Option<MessageSummary>,
}

/// What a class has to deliver in all, or an application of it: messages, or flows with a size.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct JobSummary {
    /// Name of the class.
    pub class: String,
    /// Name of the application, of a job that is not all of its class.
    #[serde(default)]
    pub application: Option<String>,
    /// `messages` or `flows`.
    pub of: String,
    /// In all.
    pub count: u64,
    /// Complete ones.
    pub complete: u64,
    /// Flows that are not complete and lost packets.
    #[serde(default)]
    pub lost: Option<u64>,
    /// First start \[cycle\].
    pub first_start: Option<u64>,
    /// Latest delivery of a complete one \[cycle\].
    pub last_delivery: Option<u64>,
    /// From the first start to the last delivery, when all are complete \[cycles\].
    pub completion: Option<u64>,
    /// The complete flow that took longest.
    #[serde(default)]
    pub slowest: Option<SlowestFlow>,
}

/// The complete flow that took longest.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SlowestFlow {
    /// Its id.
    pub flow: u64,
    /// Its source.
    pub from: String,
    /// Its destination.
    pub to: String,
    /// From its start to its end \[cycles\].
    pub completion: u64,
}

impl JobSummary {
    /// Name of the class, and of the application.
    pub fn name(&self) -> String {
        match &self.application {
            None => self.class.clone(),
            Some(application) => format!("{}, application {application}", self.class),
        }
    }
}

/// Messages of a class.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
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

/// Service level of a class: a number, a list of several, `null` on VL15.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum ServiceLevels {
    /// The usual case.
    One(u8),
    /// Drawn per packet; flows and messages have them in turn.
    Several(Vec<u8>),
    /// On VL15, which has no service level.
    None,
}

/// Change of network latency from one packet of a flow to the next \[cycles\]; `null` for classes without flows.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct JitterSummary {
    /// Largest.
    pub max: Option<u64>,
    /// Mean.
    pub mean: Option<f64>,
}

/// Channels, host links included.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct ChannelSummary {
    /// Share of the window in which channels carried flits.
    pub utilisation: MeanMax,
}

/// Mean and maximum.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct MeanMax {
    /// Mean.
    pub mean: f64,
    /// Maximum.
    pub max: f64,
}

/// Work done and its cost.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
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

/// The values of a run, behind the name of the schema.
fn values(result: &RunResult) -> Value {
    let schema = ("schema".to_owned(), SCHEMA.into());
    let values: Map<_, _> = std::iter::once(schema)
        .chain(metrics::values(result))
        .collect();
    values.into()
}

/// Makes the summary of a run.
///
/// # Panics
/// Never: all that is read of a summary is written into it, and what must be a number is one
/// ([`finite`](metrics::loads::finite)).
pub fn summarize(result: &RunResult) -> Summary {
    let values = values(result);
    let summary = Summary::deserialize(&values).expect("every field has its value");
    Summary { values, ..summary }
}

/// The summary as indented JSON with a final line break.
pub fn summary_json(result: &RunResult) -> String {
    format!("{:#}\n", values(result))
}
