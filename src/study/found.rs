//! `saturation.json`: what a search has found, for programs and for the report.

use super::saturation::{Behaviour, Criterion, Saturation};
use serde::{Deserialize, Serialize};

/// Name of the file.
pub const FILE: &str = "saturation.json";
/// Name and version of its form.
const SCHEMA: &str = "virtlane-saturation/1";

/// What a search has found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    schema: String,
    /// Beyond the saturation point.
    pub behaviour: Behaviour,
    /// Largest load that is sustained \[fraction of link rate\].
    pub sustained: f64,
    /// Smallest load that is not; `None` when all are.
    pub overloaded: Option<f64>,
    /// Key path of every load that was varied, and its share of the largest.
    pub loads: Vec<(String, f64)>,
    /// What was asked.
    pub criterion: Criterion,
}

impl Found {
    /// What `search` has found with `criterion` by varying `loads`.
    pub fn new(search: &Saturation, criterion: Criterion, loads: &[(String, f64)]) -> Self {
        Self {
            schema: SCHEMA.into(),
            behaviour: search.behaviour,
            sustained: search.sustained,
            overloaded: search.overloaded,
            loads: loads.to_vec(),
            criterion,
        }
    }

    /// Where the saturation point lies.
    pub fn point(&self) -> String {
        match self.overloaded {
            Some(overloaded) => format!(
                "saturation between {:.4} (sustained) and {overloaded:.4} (not)",
                self.sustained
            ),
            None => "saturation none: the full link rate is sustained".into(),
        }
    }

    /// How the fabric behaves beyond it; `None` when there is nothing beyond it.
    pub fn beyond(&self) -> Option<&'static str> {
        match self.behaviour {
            Behaviour::Unlimited => None,
            Behaviour::Saturated => Some("saturated: accepted load holds beyond it"),
            Behaviour::Unstable => Some("unstable: accepted load falls beyond its peak"),
            Behaviour::Deadlocked => Some("deadlocked: a run beyond it cannot move any more"),
        }
    }

    /// Whether the file is of this version.
    pub fn is_known(&self) -> bool {
        self.schema == SCHEMA
    }
}
