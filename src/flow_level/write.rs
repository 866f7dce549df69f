//! The directory of runs at flow level.

use super::{Results, Summary, tables};
use crate::report::usage::{host_name, usage};
use crate::report::{ReportError, RunDirectory, manifest};
use ron::ser::PrettyConfig;
use ron::value::RawValue;
use serde::Serialize;

#[derive(Serialize)]
struct Manifest<'a> {
    program: &'static str,
    version: &'static str,
    command: &'static str,
    title: &'a str,
    seed: u64,
    runs: usize,
    identity: &'a str,
    threads: usize,
    host_name: String,
    wall_seconds: f64,
    cpu_seconds: f64,
    peak_rss_bytes: u64,
    scenario: &'a RawValue,
}

/// Writes every file; the manifest is the last, and is written only when all others are.
///
/// `text` is the scenario with its changes, `identity` what it is known by.
///
/// # Errors
/// The first file that cannot be written.
pub fn write(
    directory: &RunDirectory,
    results: &Results<'_>,
    summary: &Summary,
    (text, identity): (&str, &str),
    wall_seconds: f64,
) -> Result<(), ReportError> {
    directory.write("summary.json", summary.json().as_bytes())?;
    for table in tables::all(results) {
        for (file, content) in table.forms()? {
            directory.write(&file, &content)?;
        }
    }
    let error = |reason: String| ReportError::Format {
        file: manifest::FILE,
        reason,
    };
    let used = usage();
    let manifest = Manifest {
        program: env!("CARGO_PKG_NAME"),
        version: env!("CARGO_PKG_VERSION"),
        command: "flow",
        title: &results.scenario.scenario.title,
        seed: results.scenario.scenario.seed,
        runs: results.runs.len(),
        identity,
        threads: rayon::current_num_threads(),
        host_name: host_name(),
        wall_seconds,
        cpu_seconds: used.cpu_seconds,
        peak_rss_bytes: used.peak_rss_bytes,
        scenario: RawValue::from_ron(text).map_err(|cause| error(cause.to_string()))?,
    };
    let config = PrettyConfig::default().struct_names(true).new_line("\n");
    let content = ron::ser::to_string_pretty(&manifest, config);
    let content = content.map_err(|cause| error(cause.to_string()))? + "\n";
    directory.write(manifest::FILE, content.as_bytes())
}
