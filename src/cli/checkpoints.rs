//! Checkpoints of `virtlane run`: which files, what to start from.
//!
//! Guarantees: while a run may write its state, its saved warm-up or the records of packets beside the state, no other run takes
//! their places. A link is followed and stays: the place is the file that it leads to, there or not.

use super::args::Checkpoints;
use crate::error::Error;
use crate::report::{Hold, ReportError};
use crate::run::checkpoint::{check_kind, check_place, is_state};
use crate::run::{Checkpoint, Continuation, Keeping, PacketSink, RunError, Start};
use std::path::{Path, PathBuf};

/// Most links that are followed to a file, as the system counts.
const MOST_LINKS: usize = 40;

/// Where the state of the run whose results go to `place` is saved.
///
/// # Errors
/// When that is a link that leads to itself.
pub(super) fn file(options: &Checkpoints, place: &Path) -> Result<PathBuf, Error> {
    let mut usual = place.as_os_str().to_owned();
    usual.push(".checkpoint");
    followed(options.checkpoint.as_deref().unwrap_or(Path::new(&usual)))
}

/// The file that a path names, links followed, whether it is there or not.
fn followed(path: &Path) -> Result<PathBuf, Error> {
    let mut file = path.to_owned();
    for _ in 0..MOST_LINKS {
        match std::fs::read_link(&file) {
            Ok(target) => file = file.with_file_name(target),
            Err(_) => return Ok(file),
        }
    }
    Err(Error::Usage(format!(
        "`{}` is a link that leads to no file: choose another place",
        path.display()
    )))
}

/// Where records of packets grow until the run is finished: beside its state.
pub(super) fn records(state: &Path) -> PathBuf {
    let mut name = state.as_os_str().to_owned();
    name.push(".packets");
    PathBuf::from(name)
}

/// What the run, whose state is saved in `file`, starts from and what it saves, and the places that are its own as long as it may
/// write there.
///
/// # Errors
/// When the state to start from cannot be read, states cannot be where they are to be, or another run has a place.
pub(super) fn continuation<'a>(
    options: &Checkpoints,
    (place, file): (&Path, &Path),
    packets: Option<&'a mut dyn PacketSink>,
) -> Result<(Continuation<'a>, Vec<Hold>), Error> {
    let warm = options.save_warmup.as_deref().map(followed).transpose()?;
    let rows = packets.is_some().then(|| records(file));
    // told before the run, not after its warm-up
    let asked = options.checkpoint.is_some().then_some(file);
    for file in asked.into_iter().chain(warm.as_deref()) {
        require_outside(file, place)?;
        check_place(file).map_err(RunError::from)?;
    }
    check_kind(file).map_err(RunError::from)?;
    require_apart(warm.as_deref(), file, rows.as_deref())?;
    require_beside(place, rows.as_deref())?;
    let files = [Some(file), warm.as_deref(), rows.as_deref()];
    let holds: Result<Vec<Hold>, Error> = files.into_iter().flatten().map(hold).collect();
    let holds = holds?;
    let start = start(options, file)?;
    tell_places(options, (&start, file), warm.as_deref());
    if let Some(rows) = rows.filter(|rows| !matches!(start, Start::Resume(_)) && is_state(rows)) {
        return Err(Error::Usage(format!(
            "`{}`, the place for the records of packets of this run until its end, is a saved state, and is not replaced: choose \
             another place by `--checkpoint`",
            rows.display()
        )));
    }
    let last = start.cycle();
    let continuation = Continuation {
        start,
        keeping: Some(Keeping {
            file: file.to_owned(),
            every: options.checkpoint_every,
            at_wall_time: true,
            warm,
            last,
        }),
        packets,
    };
    Ok((continuation, holds))
}

/// Takes the place of a file for this run.
fn hold(file: &Path) -> Result<Hold, Error> {
    Hold::on(file).map_err(|error| match error {
        ReportError::Busy { .. } | ReportError::Left { .. } => {
            Error::Usage(format!("`{}`: {error}", file.display()))
        }
        other => other.into(),
    })
}

/// What the run starts from.
fn start(options: &Checkpoints, file: &Path) -> Result<Start, Error> {
    Ok(match &options.fork {
        Some(other) => Start::Fork(read(other)?),
        None if options.resume && file.exists() => Start::Resume(read(file)?),
        None if options.resume => {
            super::note(&format!(
                "{} is not there: the run starts at cycle 0",
                file.display()
            ));
            Start::Fresh
        }
        None => Start::Fresh,
    })
}

/// Tells of states that stay, and of one that is not saved.
fn tell_places(options: &Checkpoints, (start, file): (&Start, &Path), warm: Option<&Path>) {
    if !matches!(start, Start::Resume(_)) && file.is_file() {
        let fork = options.fork.as_deref().and_then(|fork| followed(fork).ok());
        let is_forked = fork.as_deref().and_then(entry) == entry(file);
        let what = if fork.is_some() && is_forked {
            "the state that this run starts from"
        } else {
            "a state that this run does not go on from"
        };
        super::note(&format!(
            "`{}` is {what}: it stays, unless the run saves its own there",
            file.display()
        ));
    }
    if let (Start::Resume(state), Some(warm)) = (start, warm)
        && let Some(end) = &state.driver.warm
    {
        super::note(&format!(
            "the run goes on after its warm-up, which ended in cycle {}: nothing is saved in `{}`",
            end.cycle,
            warm.display()
        ));
    }
}

/// Refuses a state in the place of the run directory, or inside of it: that is replaced as a whole when the run is over.
fn require_outside(file: &Path, place: &Path) -> Result<(), Error> {
    let (Some(place), Some(own)) = (entry(place), entry(file)) else {
        return Ok(());
    };
    let file = file.display();
    if own == place {
        return Err(Error::Usage(format!(
            "`{file}` is the run directory, where the results go: choose another place for the state"
        )));
    }
    let is_inside = place
        .canonicalize()
        .is_ok_and(|place| own.starts_with(place));
    if is_inside {
        return Err(Error::Usage(format!(
            "`{file}` lies in the run directory, which the results replace: a state there would be lost, choose another place"
        )));
    }
    Ok(())
}

/// Refuses records of packets in the place of the run directory.
fn require_beside(place: &Path, rows: Option<&Path>) -> Result<(), Error> {
    let Some(rows) = rows.filter(|rows| entry(rows) == entry(place)) else {
        return Ok(());
    };
    Err(Error::Usage(format!(
        "`{}`, the place for the records of packets of this run until its end, is the run directory: choose another place by \
         `--checkpoint`",
        rows.display()
    )))
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
