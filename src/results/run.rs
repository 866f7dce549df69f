//! One run directory: manifest and summary, and the plan as a scenario.

use super::latency_log::{self, ClassLatency};
use super::tables::{self, ChannelUse, CongestionRow, FlowRow};
use super::{ResultsError, read_text};
use crate::metrics::paths::at;
use crate::report::manifest;
use crate::report::result::TimelineRow;
use crate::report::summary::{SCHEMA, Summary};
use crate::scenario::{Document, Parts};
use crate::topology::Graph;
use ron::value::RawValue;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Name of the summary.
pub const SUMMARY: &str = "summary.json";

/// What a report needs of a manifest.
#[derive(Clone, Debug, Deserialize)]
pub struct Manifest {
    /// Version of the program.
    pub version: String,
    /// Title of the scenario.
    pub title: String,
    /// Seed.
    pub seed: u64,
    /// Worker threads.
    pub threads: usize,
    /// Parts the fabric was split into.
    pub shards: usize,
    /// Machine.
    pub host_name: String,
    /// Why the verdict is what it is.
    pub reason: String,
    /// Digest of all deliveries.
    pub digest: String,
    /// The plan as RON.
    plan: Box<RawValue>,
}

/// A finished run.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its directory.
    pub path: PathBuf,
    /// What was run.
    pub manifest: Manifest,
    /// What came out.
    pub summary: Summary,
}

/// Whether a manifest is of runs at flow level.
fn is_of_flows(manifest: &str) -> bool {
    #[derive(Deserialize)]
    #[serde(rename = "Manifest")]
    struct Command {
        command: String,
    }
    ron::from_str(manifest).is_ok_and(|Command { command }| command == "flow")
}

impl Run {
    /// Reads manifest and summary.
    ///
    /// # Errors
    /// When one is missing, damaged, of another form, or of another run than the other.
    pub fn read(path: &Path) -> Result<Self, ResultsError> {
        let file = path.join(manifest::FILE);
        let text = read_text(&file)?;
        if is_of_flows(&text) {
            let reason =
                "is of `virtlane flow`, whose results are tables only: expected a run with packets";
            return Err(ResultsError::new(&file, reason));
        }
        let manifest: Manifest = ron::from_str(&text).map_err(|cause| {
            ResultsError::new(
                &file,
                format!("is damaged or of another version of Virtlane: {cause}"),
            )
        })?;
        let file = path.join(SUMMARY);
        let summary = summary(&file)?;
        if summary.run.digest != manifest.digest {
            let reason = format!(
                "has digest {}, {} has {}: they are of different runs",
                summary.run.digest,
                manifest::FILE,
                manifest.digest
            );
            return Err(ResultsError::new(&file, reason));
        }
        Ok(Self {
            path: path.to_owned(),
            manifest,
            summary,
        })
    }

    /// The plan, a complete scenario, without the indentation it has in the manifest.
    pub fn plan(&self) -> String {
        self.manifest.plan.get_ron().trim().to_owned() + "\n"
    }

    /// The plan as a document.
    ///
    /// # Errors
    /// When it is not a scenario of this version.
    pub fn document(&self) -> Result<Document, ResultsError> {
        let file = self.path.join(manifest::FILE);
        Document::parse(manifest::FILE, &self.plan(), Path::new(""))
            .map_err(|cause| ResultsError::new(&file, cause.to_string()))
    }

    /// `51.200 ns: one flit at 10 Gbit/s`: what the plan says a cycle is. It is a remark in the plan, so it is known without
    /// the files the plan names.
    pub fn cycle_time(&self) -> Option<&str> {
        let mut lines = self.manifest.plan.get_ron().lines();
        lines.find_map(|line| line.trim().strip_prefix("// 1 cycle = "))
    }

    /// The fabric, built from the plan again; `None` when that is not possible (it is read from a file that is
    /// somewhere else now) or gives other channels than the run had.
    pub fn graph(&self, channels: &[ChannelUse]) -> Option<Graph> {
        let (_, layout) = self.document().ok()?.layout(&Parts::registered()).ok()?;
        let graph = layout.graph;
        let names = |channel: &crate::topology::Channel| {
            (
                graph.endpoint_name(channel.from),
                graph.endpoint_name(channel.to),
            )
        };
        let is_same = graph.channels().len() == channels.len()
            && (graph.channels().iter().map(names))
                .zip(channels)
                .all(|((from, to), found)| from == found.from && to == found.to);
        is_same.then_some(graph)
    }

    /// Use of every channel, in order of their numbers.
    ///
    /// # Errors
    /// When the table is missing or damaged.
    pub fn channels(&self) -> Result<Vec<ChannelUse>, ResultsError> {
        let file = self.path.join("channels.csv");
        let channels = tables::channels(&file)?;
        let (found, expected) = (channels.len(), self.summary.fabric.channels);
        if found != expected {
            let reason = format!("is damaged: it has {found} channels, {SUMMARY} has {expected}");
            return Err(ResultsError::new(&file, reason));
        }
        Ok(channels)
    }

    /// The flows of the plan by id; empty for a run without.
    ///
    /// # Errors
    /// When the table is missing or damaged.
    pub fn flows(&self) -> Result<Vec<FlowRow>, ResultsError> {
        let Some(expected) = at(&self.summary.values, "flows.count") else {
            return Ok(Vec::new());
        };
        let file = self.path.join("flows.csv");
        let flows = tables::flows(&file)?;
        if expected.as_u64() != Some(flows.len() as u64) {
            let found = flows.len();
            let reason = format!("is damaged: it has {found} flows, {SUMMARY} has {expected}");
            return Err(ResultsError::new(&file, reason));
        }
        Ok(flows)
    }

    /// Congestion trees, look by look; empty for a run without looks.
    ///
    /// # Errors
    /// When the table is missing or damaged.
    pub fn congestion(&self) -> Result<Vec<CongestionRow>, ResultsError> {
        match at(&self.summary.values, "congestion.roots") {
            Some(_) => tables::congestion(&self.path.join("congestion.csv")),
            None => Ok(Vec::new()),
        }
    }

    /// Counters over time; empty for a run without.
    ///
    /// # Errors
    /// When the table is damaged.
    pub fn timeline(&self) -> Result<Vec<TimelineRow>, ResultsError> {
        let path = self.path.join("timeline.csv");
        if path.exists() {
            tables::timeline(&path)
        } else {
            Ok(Vec::new())
        }
    }

    /// Latencies of every class.
    ///
    /// # Errors
    /// When the log is missing or damaged.
    pub fn latencies(&self) -> Result<Vec<ClassLatency>, ResultsError> {
        let file = self.path.join("latency.hlog");
        let classes = latency_log::read(&file)?;
        let (found, expected) = (classes.len(), self.summary.classes.len());
        if found != expected {
            let reason =
                format!("is damaged: it has {found} traffic classes, {SUMMARY} has {expected}");
            return Err(ResultsError::new(&file, reason));
        }
        Ok(classes)
    }
}

fn summary(file: &Path) -> Result<Summary, ResultsError> {
    #[derive(Deserialize)]
    struct Head {
        schema: String,
    }
    let text = read_text(file)?;
    let head: Head = serde_json::from_str(&text)
        .map_err(|cause| ResultsError::new(file, format!("is damaged: {cause}")))?;
    if head.schema != SCHEMA {
        let reason = format!(
            "is of schema `{}`, expected `{SCHEMA}`: simulate the run again with this version",
            head.schema
        );
        return Err(ResultsError::new(file, reason));
    }
    let summary = Summary::read(&text).map_err(|cause| {
        let reason = format!(
            "is of an older version of Virtlane or damaged ({cause}): simulate the run again"
        );
        ResultsError::new(file, reason)
    })?;
    let cycles = summary.run.cycles;
    let sum = cycles.warmup.checked_add(cycles.measure);
    if sum.and_then(|sum| sum.checked_add(cycles.drain)).is_none() {
        let reason = "is damaged: its phases have more cycles than can be counted";
        return Err(ResultsError::new(file, reason));
    }
    Ok(summary)
}
