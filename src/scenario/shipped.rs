//! Scenarios that are part of the program: published experiments with their claims, for `virtlane reproduce`.

use super::base::Found;
use super::{Document, ScenarioError};
use crate::registry::unknown;
use std::path::{Path, PathBuf};

/// One shipped study.
#[derive(Clone, Copy, Debug)]
pub struct Shipped {
    /// Name for `virtlane reproduce NAME`.
    pub id: &'static str,
    /// The scenario file.
    pub text: &'static str,
}

macro_rules! studies {
    ($($id:literal),* $(,)?) => {
        /// All of them: one file `scenarios/reproduce/ID.ron` each.
        pub static STUDIES: &[Shipped] = &[$(Shipped {
            id: $id,
            text: include_str!(concat!("../../scenarios/reproduce/", $id, ".ron")),
        }),*];
    };
}

studies![
    "adaptive_flow_routing",
    "admission_best_effort",
    "admission_classes",
    "admission_dropping",
    "admission_dropping_kept_inputs",
    "admission_flows",
    "admission_flows_kept_inputs",
    "admission_flows_sparse",
    "admission_flows_wormhole",
    "admission_hot_spot_totals",
    "admission_hot_spots",
    "admission_levels",
    "admission_networks",
    "admission_packets",
    "admission_settings",
    "admission_sources",
    "admission_totals",
    "admission_utilisation",
    "any_lane_mesh",
    "application_completion",
    "application_rates",
    "congestion_incast",
    "congestion_moving",
    "congestion_parking_lot",
    "congestion_settling",
    "congestion_spreading",
    "congestion_tuning",
    "congestion_victim",
    "congestion_windows",
    "dimension_order_knee",
    "egress_windows",
    "explicit_rates",
    "fat_tree_shift",
    "flow_weights_wormhole",
    "fluid_applications",
    "fluid_completion",
    "fluid_contention",
    "fluid_independent",
    "fluid_tree_sizes",
    "head_of_line_blocking",
    "independent_rates",
    "lash_irregular",
    "lash_layers",
    "lash_layers_by_degree",
    "lash_layers_of_pairs",
    "lash_mesh_4x8",
    "lash_torus_4x8",
    "leaf_spine_8192",
    "link_retry",
    "load_balance_mesh_8x8",
    "load_balance_torus_8x8",
    "matching_and_lanes",
    "md1",
    "mixed_traffic",
    "paced_permutations",
    "rates_anew",
    "realised_rates",
    "ring_deadlock",
    "segment_faulty_mesh_8x8",
    "segment_irregular",
    "segment_mesh_8x8",
    "segment_pairs",
    "segment_torus_8x8",
    "segment_torus_overload",
    "service_levels",
    "service_levels_crossbar",
    "service_levels_small",
    "service_levels_weights",
    "static_loads_irregular",
    "static_loads_regular",
    "ugal_dragonfly_1056",
];

macro_rules! bases {
    ($($name:literal),* $(,)?) => {
        /// What shipped studies start from: one file `scenarios/reproduce/base/NAME.ron` each.
        static BASES: &[(&str, &str)] = &[$((
            concat!("base/", $name, ".ron"),
            include_str!(concat!("../../scenarios/reproduce/base/", $name, ".ron")),
        )),*];
    };
}

bases![
    "admission",
    "ethernet",
    "mesh_8x8",
    "rates",
    "service_levels"
];

/// A base of a shipped study.
fn base(_: &Path, name: &str) -> Result<Found, String> {
    let found = BASES.iter().find(|(base, _)| *base == name);
    let found = found.ok_or_else(|| unknown("base", name, BASES.iter().map(|(base, _)| *base)));
    found.map(|(name, text)| Found {
        name: (*name).to_owned(),
        text: (*text).to_owned(),
        folder: PathBuf::new(),
    })
}

impl Shipped {
    /// The study with this name.
    ///
    /// # Errors
    /// When there is none: which there are, and the nearest.
    pub fn find(id: &str) -> Result<&'static Self, String> {
        let found = STUDIES.iter().find(|study| study.id == id);
        found.ok_or_else(|| unknown("study", id, STUDIES.iter().map(|study| study.id)))
    }

    /// The scenario.
    ///
    /// # Errors
    /// Never for a shipped file: tests read them all.
    pub fn document(&self) -> Result<Document, ScenarioError> {
        Document::with_bases(&format!("{}.ron", self.id), self.text, Path::new(""), &base)
    }
}
