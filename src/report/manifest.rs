//! `manifest.ron`: what was run, where and by which version; enough to run it again.

use super::{ReportError, RunResult, Verdict};
use ron::ser::PrettyConfig;
use ron::value::RawValue;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Name of the file; a directory that holds one is a run directory.
pub const FILE: &str = "manifest.ron";

#[derive(Serialize)]
struct Manifest<'a> {
    program: &'static str,
    version: &'static str,
    title: &'a str,
    seed: u64,
    identity: &'a str,
    threads: usize,
    shards: usize,
    host_name: &'a str,
    verdict: Verdict,
    reason: &'a str,
    digest: String,
    wall_seconds: f64,
    cpu_seconds: f64,
    peak_rss_bytes: u64,
    plan: &'a RawValue,
}

/// Whether `directory` holds the results of an interrupted run.
pub fn is_interrupted(directory: &Path) -> bool {
    #[derive(Deserialize)]
    #[serde(rename = "Manifest")]
    struct Ending {
        verdict: Verdict,
    }
    let text = std::fs::read_to_string(directory.join(FILE)).unwrap_or_default();
    let ending = ron::Options::default().from_str::<Ending>(&text);
    ending.is_ok_and(|ending| ending.verdict == Verdict::Interrupted)
}

/// Makes the manifest; the plan is part of it as RON, not as a string.
///
/// # Errors
/// When the plan is not RON.
pub fn manifest(result: &RunResult) -> Result<String, ReportError> {
    let error = |reason: String| ReportError::Format { file: FILE, reason };
    let plan = RawValue::from_ron(&result.plan).map_err(|cause| error(cause.to_string()))?;
    let manifest = Manifest {
        program: env!("CARGO_PKG_NAME"),
        version: env!("CARGO_PKG_VERSION"),
        title: &result.title,
        seed: result.seed,
        identity: &result.identity,
        threads: result.threads,
        shards: result.shards,
        host_name: &result.host_name,
        verdict: result.verdict,
        reason: &result.reason,
        digest: result.records.digest.to_string(),
        wall_seconds: result.wall_seconds,
        cpu_seconds: result.cpu_seconds,
        peak_rss_bytes: result.peak_rss_bytes,
        plan,
    };
    let config = PrettyConfig::default().struct_names(true).new_line("\n");
    let text = ron::ser::to_string_pretty(&manifest, config);
    Ok(text.map_err(|cause| error(cause.to_string()))? + "\n")
}
