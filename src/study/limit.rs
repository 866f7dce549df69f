//! The load that no search exceeds: where a channel is full by routes and patterns alone.

use super::grid::{Grid, Place};
use crate::plan::ClassPlan;
use crate::scenario::bounds::headroom;
use crate::scenario::offered::Part;
use crate::scenario::{Document, Known, Parts};
use serde::{Deserialize, Serialize};

/// A load at which a channel is full.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// In units of the load that is varied \[fraction of link rate\].
    pub load: f64,
    /// The channel: `S3 port 2 to H17`.
    pub channel: String,
}

impl Limit {
    /// Of the classes that are varied, as if they were alone; `None` where it is not known, or the scenario is wrong,
    /// which a run tells better.
    pub fn of(
        document: &Document,
        grid: &Grid,
        place: &Place,
        seed: u64,
        known: &Known,
    ) -> Option<Self> {
        let mut document = document.clone();
        document.assign("seed", &seed.to_string()).ok()?;
        place.assign(1.0, grid, &mut document).ok()?;
        let resolved = document.resolve_known(&Parts::registered(), known).ok()?;
        let is_varied =
            |class: &ClassPlan| class.flows.is_none() && place.loads.varies(&class.name);
        let bound = headroom(&resolved, is_varied, Part::Whole)?;
        let graph = &resolved.layout.graph;
        let ends = graph.channel(bound.channel);
        let [from, to] = [ends.from, ends.to].map(|end| graph.endpoint_name(end));
        Some(Self {
            load: bound.load,
            channel: format!("{from} to {to}"),
        })
    }
}
