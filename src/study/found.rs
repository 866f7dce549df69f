//! `saturation.json`: what searches have found, for programs and for the report.

use super::level::Judgement;
use super::limit::Limit;
use super::saturation::{Behaviour, Criterion, Saturation};
use serde::{Deserialize, Serialize};

/// Name of the file.
pub const FILE: &str = "saturation.json";
/// Name and version of its form.
const SCHEMA: &str = "virtlane-saturation/2";

/// What the searches of a scenario have found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    schema: String,
    /// What was asked.
    pub criterion: Criterion,
    /// One per point of the axes; one without axes.
    pub points: Vec<Finding>,
    /// Points whose search came to nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<Failure>,
}

/// A point whose runs give no result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Key path and value of every axis.
    pub values: Vec<(String, String)>,
    /// Why.
    pub reason: String,
    /// An invariant broke: it is not the scenario that is wrong.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_broken: bool,
}

/// What one search has found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Key path and value of every axis.
    pub values: Vec<(String, String)>,
    /// Key path of every load that was varied, and its share of the largest.
    pub loads: Vec<(String, f64)>,
    /// Beyond the saturation point.
    pub behaviour: Behaviour,
    /// Largest load that is certainly sustained \[fraction of link rate\]; 0 when none is.
    pub sustained: f64,
    /// Loads between the two that are too close to tell \[fraction of link rate\].
    pub undecided: Vec<f64>,
    /// Smallest load that certainly is not sustained; `None` when there is none.
    pub overloaded: Option<f64>,
    /// Part of the offered load that may be missing at a load that is sustained.
    pub tolerance: f64,
    /// Where a channel is full by routes and patterns alone; `None` where that is not known.
    pub limit: Option<Limit>,
    /// The most that was accepted; `None` when no run went to its end.
    pub peak: Option<Peak>,
    /// Every load that was tried, ascending.
    pub levels: Vec<TriedLoad>,
}

/// The most that a fabric accepted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Peak {
    /// The load it was offered, as set \[fraction of link rate\].
    pub load: f64,
    /// Accepted load of all classes together \[fraction of link rate\].
    pub accepted: f64,
    /// Half of the width of its 95 % confidence interval.
    pub half_width: Option<f64>,
}

/// A load that was tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TriedLoad {
    /// As set \[fraction of link rate\].
    pub load: f64,
    /// Whether it is sustained.
    pub judgement: Judgement,
    /// Why.
    pub reason: String,
    /// Its runs that were cut short because they were certainly overloaded.
    pub cut_short: usize,
    /// Directories of its runs.
    pub runs: Vec<String>,
}

impl Found {
    /// What was found with `criterion`.
    pub fn new(criterion: Criterion, points: Vec<Finding>, failed: Vec<Failure>) -> Self {
        let schema = SCHEMA.into();
        Self {
            schema,
            criterion,
            points,
            failed,
        }
    }

    /// Whether the file is of this version.
    pub fn is_known(&self) -> bool {
        self.schema == SCHEMA
    }
}

impl Finding {
    /// What `search` has found at a point by varying `loads`; `runs` gives the directories of the runs of a load.
    pub fn new(
        search: &Saturation,
        (tolerance, limit): (f64, Option<Limit>),
        values: Vec<(String, String)>,
        loads: &[(String, f64)],
        runs: impl Fn(f64) -> Vec<String>,
    ) -> Self {
        let tried = search.levels.iter().map(|(level, judged)| TriedLoad {
            load: level.load,
            judgement: judged.judgement,
            reason: judged.reason.clone(),
            cut_short: level.samples.iter().filter(|run| run.is_cut).count(),
            runs: runs(level.load),
        });
        let peak = search.peak.map(|(load, accepted)| Peak {
            load,
            accepted: accepted.mean,
            half_width: accepted.half_width,
        });
        Self {
            values,
            loads: loads.to_vec(),
            behaviour: search.behaviour,
            sustained: search.sustained,
            undecided: search.undecided.clone(),
            overloaded: search.overloaded,
            tolerance,
            limit,
            peak,
            levels: tried.collect(),
        }
    }

    /// The point of the axes: `fabric.switch.lanes = 2`; empty without axes.
    pub fn label(&self) -> String {
        let values = self.values.iter();
        let words = values.map(|(path, value)| format!("{path} = {value}"));
        words.collect::<Vec<_>>().join(", ")
    }

    /// Where the saturation point lies, how sure that is, and the most that was accepted.
    pub fn point(&self) -> String {
        let tolerance = self.tolerance * 100.0;
        let place = match self.overloaded {
            Some(overloaded) => format!(
                "saturation between {:.4} (sustained within {tolerance} %) and {overloaded:.4} (not{})",
                self.sustained,
                self.full(overloaded)
            ),
            None if self.undecided.is_empty() => {
                format!("saturation none: the full link rate is sustained within {tolerance} %")
            }
            None => format!(
                "saturation above {:.4} (sustained within {tolerance} %)",
                self.sustained
            ),
        };
        format!("{place}{}{}", self.doubts(), self.most())
    }

    /// The channel that is full, where no run was needed to say that a load is too much.
    fn full(&self, overloaded: f64) -> String {
        let is_tried = |tried: &TriedLoad| tried.load.total_cmp(&overloaded).is_eq();
        match &self.limit {
            Some(Limit { load, channel }) if !self.levels.iter().any(is_tried) => {
                format!(": {channel} is full at {load:.4}")
            }
            _ => String::new(),
        }
    }

    /// Loads that are too close to tell.
    fn doubts(&self) -> String {
        if self.undecided.is_empty() {
            return String::new();
        }
        let loads = self.undecided.iter().map(|load| format!("{load:.4}"));
        let loads = loads.collect::<Vec<_>>().join(", ");
        format!("; {loads} undecided: longer runs tell more")
    }

    /// The most that was accepted.
    fn most(&self) -> String {
        let Some(Peak {
            load,
            accepted,
            half_width,
        }) = self.peak
        else {
            return String::new();
        };
        let width = half_width.map_or(String::new(), |width| format!(" +- {width:.4}"));
        format!("; accepted at most {accepted:.4}{width}, at {load:.4}")
    }

    /// How the fabric behaves beyond it; `None` when there is nothing beyond it.
    pub fn beyond(&self) -> Option<&'static str> {
        match self.behaviour {
            Behaviour::Unlimited => None,
            Behaviour::Saturated => Some("saturated: accepted load holds up to the full link rate"),
            Behaviour::Unstable => Some("unstable: accepted load falls beyond its peak"),
            Behaviour::Deadlocked => Some("deadlocked: a run beyond it cannot move any more"),
        }
    }
}
