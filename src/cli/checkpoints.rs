//! Checkpoints of `virtlane run`: which files, what to start from.

use super::args::Checkpoints;
use crate::error::Error;
use crate::run::checkpoint::{check_kind, check_place, is_state};
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

/// Where records of packets grow until the run is finished: beside its state.
pub(super) fn records(state: &Path) -> PathBuf {
    let mut name = state.as_os_str().to_owned();
    name.push(".packets");
    PathBuf::from(name)
}

/// What the run starts from and what it saves.
///
/// # Errors
/// When the state to start from cannot be read, or states cannot be where they are to be.
pub(super) fn continuation<'a>(
    options: &Checkpoints,
    place: &Path,
    packets: Option<&'a mut dyn PacketSink>,
) -> Result<Continuation<'a>, Error> {
    let file = file(options, place);
    // told before the run, not after its warm-up
    let asked = options.checkpoint.iter().chain(&options.save_warmup);
    for file in asked {
        require_outside(file, place)?;
        check_place(file).map_err(RunError::from)?;
    }
    check_kind(&file).map_err(RunError::from)?;
    let rows = packets.is_some().then(|| records(&file));
    require_apart(options.save_warmup.as_deref(), &file, rows.as_deref())?;
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
    if !matches!(start, Start::Resume(_)) && file.is_file() {
        let is_forked = options.fork.as_deref().and_then(entry) == entry(&file);
        let what = if options.fork.is_some() && is_forked {
            "the state that this run starts from"
        } else {
            "a state that this run does not go on from"
        };
        super::note(&format!(
            "`{}` is {what}: it stays, unless the run saves its own there",
            file.display()
        ));
    }
    if let Some(rows) = rows.filter(|rows| !matches!(start, Start::Resume(_)) && is_state(rows)) {
        return Err(Error::Usage(format!(
            "`{}`, the place for the records of packets of this run until its end, is a saved state, and is not replaced: choose \
             another place by `--checkpoint`",
            rows.display()
        )));
    }
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

/// Refuses a state inside the run directory, which is replaced as a whole when the run is over.
fn require_outside(file: &Path, place: &Path) -> Result<(), Error> {
    let place = place.canonicalize();
    let is_inside = place.is_ok_and(|place| {
        entry(file).is_some_and(|entry| entry != place && entry.starts_with(place))
    });
    if is_inside {
        return Err(Error::Usage(format!(
            "`{}` lies in the run directory, which the results replace: a state there would be lost, choose another place",
            file.display()
        )));
    }
    Ok(())
}

/// Refuses a saved warm-up in the place of the checkpoint, which is removed at the end, or of the records beside it, which are
/// written over it.
fn require_apart(warm: Option<&Path>, file: &Path, rows: Option<&Path>) -> Result<(), Error> {
    let Some(warm) = warm else {
        return Ok(());
    };
    let what = if entry(warm) == entry(file) {
        "the checkpoint of this run, which is removed at its end"
    } else if rows.is_some_and(|rows| entry(warm) == entry(rows)) {
        "the records of packets of this run, which are there until its end"
    } else {
        return Ok(());
    };
    Err(Error::Usage(format!(
        "--save-warmup names `{}`, the place of {what}: choose another",
        warm.display()
    )))
}

/// The entry of a folder that a path names, however it is written.
fn entry(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?;
    let parent = path.parent().unwrap_or(Path::new("")).join(".");
    let folder = parent.canonicalize().unwrap_or(parent);
    Some(folder.join(name))
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
