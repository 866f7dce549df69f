//! The registries that a scenario's names are looked up in.

use crate::admission::{ADMISSIONS, BuildAdmission};
use crate::control::{ALGORITHMS, BuildAlgorithm};
use crate::fluid::rates::{SOLVERS, Solver};
use crate::fluid::routes::{BuildPolicy, POLICIES};
use crate::registry::Registry;
use crate::routing::{BuildEngine, ENGINES};
use crate::topology::{BuildTopology, TOPOLOGIES};
use crate::traffic::flows::BuildFlows;
use crate::traffic::messages::BuildMessages;
use crate::traffic::slots::BuildSlotSource;
use crate::traffic::{
    BuildPattern, BuildProcess, FLOW_GENERATORS, MESSAGE_SOURCES, PATTERNS, PROCESSES, SLOT_SOURCES,
};

/// The registries names are looked up in.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// Topologies.
    pub topologies: &'a Registry<BuildTopology>,
    /// Routing engines.
    pub engines: &'a Registry<BuildEngine>,
    /// Traffic patterns.
    pub patterns: &'a Registry<BuildPattern>,
    /// Arrival processes.
    pub processes: &'a Registry<BuildProcess>,
    /// Message sources.
    pub messages: &'a Registry<BuildMessages>,
    /// Flow generators.
    pub flows: &'a Registry<BuildFlows>,
    /// Slot sources.
    pub slot_sources: &'a Registry<BuildSlotSource>,
    /// Admission controls.
    pub admission: &'a Registry<BuildAdmission>,
    /// Control algorithms.
    pub control: &'a Registry<BuildAlgorithm>,
    /// Solvers of rates at flow level.
    pub solvers: &'a Registry<Solver>,
    /// Policies of routes at flow level.
    pub policies: &'a Registry<BuildPolicy>,
}

impl Parts<'static> {
    /// Everything this program ships.
    pub fn registered() -> Self {
        Self {
            topologies: &TOPOLOGIES,
            engines: &ENGINES,
            patterns: &PATTERNS,
            processes: &PROCESSES,
            messages: &MESSAGE_SOURCES,
            flows: &FLOW_GENERATORS,
            slot_sources: &SLOT_SOURCES,
            admission: &ADMISSIONS,
            control: &ALGORITHMS,
            solvers: &SOLVERS,
            policies: &POLICIES,
        }
    }
}
