//! Checkpoints of `virtlane run`: which files, what to start from.

use super::args::Checkpoints;
use crate::error::Error;
use crate::run::checkpoint::{check_kind, check_place};
use crate::run::{Checkpoint, Continuation, Keeping, PacketSink, RunError, Start};
use std::path::{Path, PathBuf};

/// Where the state of the run whose results go to `place` is saved.
pub(super) fn file(options: &Checkpoints, place: &Path) -> PathBuf {
    options.checkpoint.clone().unwrap_or_else(|| {
        let mut name = place.as_os_str().to_owned();
        name.push(".checkpoint");
        PathBuf::from(name)
    })
}

/// What the run starts from and what it saves.
///
/// # Errors
/// When the state to start from cannot be read.
pub(super) fn continuation<'a>(
    options: &Checkpoints,
    place: &Path,
    packets: Option<&'a mut dyn PacketSink>,
) -> Result<Continuation<'a>, Error> {
    let file = file(options, place);
    // told before the run, not after its warm-up
    let asked = options.checkpoint.iter().chain(&options.save_warmup);
    for file in asked {
        check_place(file).map_err(RunError::from)?;
    }
    check_kind(&file).map_err(RunError::from)?;
    let start = match &options.fork {
        Some(other) => Start::Fork(read(other)?),
        None if options.resume && file.exists() => Start::Resume(read(&file)?),
        None if options.resume => {
            super::note(&format!(
                "{} is not there: the run starts at cycle 0",
                file.display()
            ));
            Start::Fresh
        }
        None => Start::Fresh,
    };
    let last = start.cycle();
    Ok(Continuation {
        start,
        keeping: Some(Keeping {
            file,
            every: options.checkpoint_every,
            at_wall_time: true,
            warm: options.save_warmup.clone(),
            last,
        }),
        packets,
    })
}

fn read(path: &Path) -> Result<Box<Checkpoint>, Error> {
    match Checkpoint::read(path) {
        Ok(state) => Ok(Box::new(state)),
        Err(cause) => Err(Error::Usage(format!("{}: {cause}", path.display()))),
    }
}

/// Removes the saved state of a finished run.
pub(super) fn discard(file: &Path) {
    // most often there is none
    let _ = std::fs::remove_file(file);
}
