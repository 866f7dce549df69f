//! `latency.hlog`: `HdrHistogram` V2 interval log with one tagged histogram per class and clock.
//!
//! The tags are `<class>.network` and `<class>.packet`. Values are cycles. Times of the log are cycles too,
//! written where the format has seconds: the interval starts with the window and lasts as long.

use super::{ReportError, RunResult};
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use std::time::Duration;

/// Makes the log.
///
/// # Errors
/// When a histogram cannot be encoded.
pub fn interval_log(result: &RunResult) -> Result<Vec<u8>, ReportError> {
    let error = |reason: String| ReportError::Format {
        file: "latency.hlog",
        reason,
    };
    let mut log = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let mut writer = IntervalLogWriterBuilder::new()
        .add_comment("[Histogram log format version 1.3]")
        .add_comment("[values and times are cycles]")
        .begin_log_with(&mut log, &mut serializer)
        .map_err(|cause| error(cause.to_string()))?;
    let start = Duration::from_secs(result.cycles.warmup);
    let length = Duration::from_secs(result.cycles.measure);
    for (info, class) in result.classes.iter().zip(&result.records.classes) {
        for (clock, record) in [("network", &class.network), ("packet", &class.packet)] {
            let name = tag_name(&info.name, clock);
            let values = record.values();
            let histogram = values.histogram().inner();
            writer
                .write_histogram(histogram, start, length, Tag::new(&name))
                .map_err(|cause| error(format!("{cause:?}")))?;
        }
    }
    Ok(log)
}

/// A tag may hold neither commas nor white space.
fn tag_name(class: &str, clock: &str) -> String {
    let safe = |c: char| {
        if c == ',' || c.is_whitespace() {
            '_'
        } else {
            c
        }
    };
    let class: String = class.chars().map(safe).collect();
    format!("{class}.{clock}")
}
