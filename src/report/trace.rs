//! `trace.json`: spans in the Chrome trace event format, for Perfetto and `chrome://tracing`.

use serde_json::json;

/// A span of time on one thread.
#[derive(Clone, Debug, PartialEq)]
pub struct SpanRecord {
    /// What was done.
    pub name: String,
    /// Track: thread or shard.
    pub tid: u32,
    /// Start, from the start of the run \[us\].
    pub start_us: f64,
    /// Length \[us\].
    pub duration_us: f64,
}

/// The spans as complete events (`ph` = `X`), one per line.
pub fn chrome_trace(spans: &[SpanRecord]) -> String {
    let events: Vec<String> = spans
        .iter()
        .map(|span| {
            json!({
                "name": span.name,
                "ph": "X",
                "pid": 0,
                "tid": span.tid,
                "ts": span.start_us,
                "dur": span.duration_us,
            })
            .to_string()
        })
        .collect();
    format!(
        "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{}\n]}}\n",
        events.join(",\n")
    )
}
