//! What a run counts: integers only, merged by addition, so any split into shards gives the same numbers.
//!
//! Each shard owns one [`Records`] and writes to it alone; at the end of the run they are merged. Floats
//! appear in [`LatencySummary`], in [`precision`], in [`outcome`], and in the metrics and reports made of them.

pub mod arrivals;
pub mod congestion;
pub mod delivery;
pub mod digest;
pub mod flow_counts;
pub mod histogram;
pub mod hurst;
pub mod jitter;
pub mod latency;
pub mod max_min;
pub mod observe;
pub mod outcome;
pub mod percentiles;
pub mod precision;
pub mod records;
pub mod result;

pub use congestion::{CongestionLook, CongestionTree};
pub use delivery::Delivery;
pub use digest::Digest;
pub use flow_counts::{FlowCounts, FlowResult};
pub use histogram::Histogram;
pub use jitter::{FlowLatencies, JitterRecord};
pub use latency::{LatencyRecord, LatencySummary};
pub use observe::{Flow, FlowRecord, Observation, Observe, PacketRow, Sample, packet_id};
pub use outcome::Verdict;
pub use records::{ChannelRecords, ClassRecords, HostRecord, Records};
pub use result::RunResult;
