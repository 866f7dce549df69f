//! States of runs that were stopped, below the study directory: `states/NAME`, until the run is finished.
//!
//! A state is only a saving of time: one that cannot be used costs the run from cycle 0, never a result.

use super::RunKey;
use crate::plan::Plan;
use crate::report::PacketFile;
use crate::run::{Checkpoint, CheckpointError, Start};
use std::fs;
use std::path::{Path, PathBuf};

/// Folder of the states.
pub const STATES: &str = "states";

/// Where the state of a run below the study directory `study` is.
pub fn file(study: &Path, key: &RunKey) -> PathBuf {
    study.join(STATES).join(&key.name)
}

/// What a run starts from: its state, if there is one that can be read.
pub(super) fn read(file: &Path) -> Start {
    if !file.exists() {
        return Start::Fresh;
    }
    match Checkpoint::read(file) {
        Ok(state) => Start::Resume(Box::new(state)),
        Err(cause) => {
            refuse(file, &cause);
            Start::Fresh
        }
    }
}

/// Where the records of packets grow until the run is finished, when its plan asks for them: beside its state.
pub(super) fn packet_file(plan: &Plan, state: &Path) -> Option<PacketFile> {
    let file = PacketFile::asked_for(plan, packets(state))?;
    if let Some(folder) = state.parent() {
        // the file says why it cannot be made
        let _ = fs::create_dir_all(folder);
    }
    Some(file)
}

/// Name of the records beside a state.
fn packets(state: &Path) -> PathBuf {
    let mut path = state.as_os_str().to_owned();
    path.push(".packets");
    path.into()
}

/// Tells why a state is not used.
pub(super) fn refuse(file: &Path, cause: &CheckpointError) {
    let file = file.display();
    tracing::warn!("`{file}` cannot be used, the run starts at cycle 0: {cause}");
}

/// Removes the state of a finished run, and records left beside it.
pub(super) fn discard(file: &Path) {
    // most often there are none
    let _ = fs::remove_file(file);
    let _ = fs::remove_file(packets(file));
}
