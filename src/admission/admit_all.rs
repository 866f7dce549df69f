//! Everything is admitted: the case without control (003 S21).

use super::{Admission, AdmissionContext, BuildAdmission, DeskState, Fabric, Request, Shown};
use crate::references::SEM_JACOBSEN;
use crate::registry::{ArgumentError, Arguments, Entry};
use serde::Deserialize;
use std::sync::Arc;

/// Registers `AdmitAll`.
pub(super) const ENTRY: Entry<BuildAdmission> = Entry {
    name: "AdmitAll",
    aliases: &[],
    summary: "everything is admitted",
    parameters: &[],
    guarantees: &[],
    references: &[SEM_JACOBSEN],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "AdmitAll")]
struct AdmitAll {}

impl Admission for AdmitAll {
    fn start(&self, _: Fabric<'_>) -> DeskState {
        DeskState::new()
    }

    fn ask(&self, _: &mut DeskState, _: &Request, _: Shown<'_>) -> bool {
        true
    }
}

fn build(
    arguments: Arguments<'_>,
    _: AdmissionContext,
) -> Result<Arc<dyn Admission>, ArgumentError> {
    Ok(Arc::new(arguments.parse::<AdmitAll>()?))
}
