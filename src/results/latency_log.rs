//! `latency.hlog` read back: one histogram per class and clock.

use super::{ResultsError, read_text};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use std::path::Path;

/// Part of the header of every log.
const FORMAT: &str = "[Histogram log format version";

/// Latencies of a class by both clocks.
#[derive(Clone, Debug)]
pub struct ClassLatency {
    /// Name, as the log writes it.
    pub class: String,
    /// First channel to delivery \[cycles\].
    pub network: Histogram<u64>,
    /// Creation to delivery \[cycles\].
    pub packet: Histogram<u64>,
}

/// Reads the log: pairs of histograms `CLASS.network` and `CLASS.packet`.
pub(super) fn read(path: &Path) -> Result<Vec<ClassLatency>, ResultsError> {
    let text = read_text(path)?;
    let damaged = |reason: &str| ResultsError::new(path, format!("is damaged: {reason}"));
    if !text.contains(FORMAT) {
        return Err(damaged("it has no header of an HdrHistogram log"));
    }
    let mut deserializer = Deserializer::new();
    let mut networks: Vec<(String, Histogram<u64>)> = Vec::new();
    let mut classes = Vec::new();
    for entry in IntervalLogIterator::new(text.as_bytes()) {
        let entry = entry.map_err(|_| damaged("it is not an HdrHistogram interval log"))?;
        let LogEntry::Interval(interval) = entry else {
            continue;
        };
        let tag = interval
            .tag()
            .ok_or_else(|| damaged("an interval has no tag"))?;
        let bytes = STANDARD
            .decode(interval.encoded_histogram())
            .map_err(|cause| damaged(&cause.to_string()))?;
        let histogram = deserializer
            .deserialize(&mut &bytes[..])
            .map_err(|cause| damaged(&cause.to_string()))?;
        match tag.as_str().rsplit_once('.') {
            Some((class, "network")) => networks.push((class.to_owned(), histogram)),
            Some((class, "packet")) => match networks.pop() {
                Some((name, network)) if name == class => classes.push(ClassLatency {
                    class: name,
                    network,
                    packet: histogram,
                }),
                _ => return Err(damaged("a class has no network latencies")),
            },
            _ => {
                return Err(damaged(
                    "a tag is neither of network nor of packet latencies",
                ));
            }
        }
    }
    Ok(classes)
}
