//! The file: a line that says what it is, format, length and checksum, then the state.
//!
//! Written to a temporary name beside its place and renamed, so that a killed write leaves the last checkpoint.

use super::Checkpoint;
use crate::machine::{host_name, start_of};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// Number of the format; a change of anything a checkpoint holds needs another.
pub const FORMAT: u32 = 39;

/// First bytes of every checkpoint.
const MAGIC: &[u8; 20] = b"virtlane checkpoint\n";
/// Magic, format, length, checksum.
const HEADER: usize = MAGIC.len() + 4 + 8 + 4;

/// Why a checkpoint cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The file cannot be read.
    #[error("cannot read the checkpoint: {0}")]
    Read(io::Error),
    /// The file cannot be written.
    #[error("cannot write the checkpoint `{}`: {cause}", .path.display())]
    Write {
        /// Its place.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// Another kind of file.
    #[error("this is not a checkpoint of virtlane")]
    Stranger,
    /// Written by another version.
    #[error(
        "the checkpoint has format {0}, this program reads format {FORMAT}: use the version that wrote it, or start anew"
    )]
    OtherFormat(u32),
    /// Cut short or changed.
    #[error("the checkpoint is damaged: {0}")]
    Damaged(String),
    /// The records of packets that belong to it are gone.
    #[error("the records of packets up to the checkpoint cannot be used: {0}")]
    Packets(io::Error),
    /// Made by another scenario.
    #[error(
        "the checkpoint belongs to another scenario: it says `{then}` where this one says `{now}`; `--fork` starts a new run from it"
    )]
    OtherPlan {
        /// First line of its plan that differs.
        then: String,
        /// The same line of this plan.
        now: String,
    },
    /// Made on another network.
    #[error("the checkpoint belongs to another network: fabric, routing or switch options differ")]
    OtherNetwork,
    /// Made with other traffic classes.
    #[error(
        "the checkpoint has the traffic classes {then}, this scenario {now}; a fork needs as many, and the same \
         of them saturating"
    )]
    OtherClasses {
        /// Its classes.
        then: String,
        /// Classes of this plan.
        now: String,
    },
    /// The run replays messages.
    #[error("a run with messages cannot be forked: their times count from cycle 0")]
    Messages,
    /// Flows ask to be admitted.
    #[error("a run with admission cannot be forked: its rounds count from cycle 0")]
    Admission,
    /// Flows have routes of their own.
    #[error(
        "a run whose flows have routes of their own (`fluid.carry`, `control: SetUp`) cannot be forked, nor can a fork begin \
         with some: leave them out of both"
    )]
    Routes,
    /// Made with other flows.
    #[error("{0}")]
    OtherFlows(String),
    /// Made when measurement had begun.
    #[error(
        "a fork starts at the end of the warm-up (cycle {end}) at the latest, the checkpoint is from cycle {cycle}"
    )]
    TooLate {
        /// Its cycle.
        cycle: u64,
        /// Last cycle that would do.
        end: u64,
    },
    /// Asked for another number of shards.
    #[error(
        "the checkpoint has {then} shards, not {now}: leave `--shards` out (results do not depend on it)"
    )]
    OtherShards {
        /// Its shards.
        then: usize,
        /// Shards asked for.
        now: usize,
    },
}

fn damaged(cause: impl std::fmt::Display) -> CheckpointError {
    CheckpointError::Damaged(cause.to_string())
}

impl Checkpoint {
    /// Writes the state to `path`, replacing what is there.
    ///
    /// # Errors
    /// [`CheckpointError::Write`]; what was there is then untouched.
    pub fn write(&self, path: &Path) -> Result<(), CheckpointError> {
        let state = postcard::to_stdvec(self).map_err(damaged)?;
        let mut bytes = Vec::with_capacity(HEADER + state.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&FORMAT.to_le_bytes());
        bytes.extend_from_slice(&(state.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&crc32fast::hash(&state).to_le_bytes());
        bytes.extend_from_slice(&state);
        replace(path, &bytes).map_err(|cause| CheckpointError::Write {
            path: path.to_owned(),
            cause,
        })
    }

    /// Reads a state.
    ///
    /// # Errors
    /// [`CheckpointError::Read`], or what is wrong with the file.
    pub fn read(path: &Path) -> Result<Self, CheckpointError> {
        Self::decode(&std::fs::read(path).map_err(CheckpointError::Read)?)
    }

    fn decode(bytes: &[u8]) -> Result<Self, CheckpointError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(CheckpointError::Stranger)?;
        let short = || damaged("it ends within its header");
        let (format, rest) = rest.split_first_chunk().ok_or_else(short)?;
        match u32::from_le_bytes(*format) {
            FORMAT => {}
            other => return Err(CheckpointError::OtherFormat(other)),
        }
        let (length, rest) = rest.split_first_chunk().ok_or_else(short)?;
        let (sum, state) = rest.split_first_chunk().ok_or_else(short)?;
        let (length, found) = (u64::from_le_bytes(*length), state.len() as u64);
        if length != found {
            return Err(damaged(format!(
                "it has {found} bytes of state instead of {length}"
            )));
        }
        if u32::from_le_bytes(*sum) != crc32fast::hash(state) {
            return Err(damaged("its checksum does not fit"));
        }
        postcard::from_bytes(state).map_err(damaged)
    }
}

/// Whether what is at a place may be replaced: nothing, or a checkpoint, of any version.
///
/// # Errors
/// When another file is there.
pub fn check_kind(path: &Path) -> Result<(), CheckpointError> {
    if path.is_file() && !is_state(path) {
        let what = "the file is no checkpoint of virtlane, and is not replaced";
        return Err(CheckpointError::Write {
            path: path.to_owned(),
            cause: io::Error::new(ErrorKind::AlreadyExists, what),
        });
    }
    Ok(())
}

/// Whether a file that can be read begins as a checkpoint does.
pub fn is_state(path: &Path) -> bool {
    let mut start = Vec::new();
    let found =
        File::open(path).and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut start));
    found.is_ok() && start == MAGIC
}

/// Whether a checkpoint can be put in place of what is there: another one, or nothing in a folder that exists.
///
/// # Errors
/// What is wrong with the place.
pub fn check_place(path: &Path) -> Result<(), CheckpointError> {
    let wrong = |kind, what: &str| {
        let (path, cause) = (path.to_owned(), io::Error::new(kind, what));
        Err(CheckpointError::Write { path, cause })
    };
    match path.metadata() {
        Ok(known) if known.is_dir() => wrong(ErrorKind::IsADirectory, "it is a directory"),
        Ok(known) if known.is_file() => check_kind(path).and_then(|()| try_place(path)),
        // a rename would put the file in place of the device
        Ok(_) => wrong(ErrorKind::InvalidInput, "it is no regular file"),
        Err(_) if path.file_name().is_none() => wrong(ErrorKind::InvalidInput, "it names no file"),
        Err(_) if !folder(path).is_dir() => {
            let what = format!("`{}` is no directory", folder(path).display());
            wrong(ErrorKind::NotFound, &what)
        }
        Err(_) => try_place(path),
    }
}

/// Whether a folder takes files: else the first checkpoint would be written after hours.
fn try_place(path: &Path) -> Result<(), CheckpointError> {
    try_hidden(path).map_err(|cause| CheckpointError::Write {
        path: path.to_owned(),
        cause,
    })
}

/// Makes the hidden sibling that [`replace`] would, and removes it.
fn try_hidden(path: &Path) -> io::Result<()> {
    let hidden = hidden(path);
    File::create(&hidden)?;
    std::fs::remove_file(&hidden)
}

/// How the names of hidden siblings of a file start; the number of a process follows.
fn start_of_hidden(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!(".{name}.partial-{}-", host_name())
}

/// The hidden sibling of this process.
fn hidden(path: &Path) -> PathBuf {
    path.with_file_name(format!("{}{}", start_of_hidden(path), std::process::id()))
}

/// The folder that a file is in.
fn folder(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    parent.unwrap_or(Path::new("."))
}

/// Writes a hidden sibling, waits until it is on the disk, and renames it. Siblings that processes of this machine left when they
/// were killed are removed.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    remove_left(folder(path), &start_of_hidden(path));
    let hidden = hidden(path);
    let written = File::create(&hidden)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(&hidden, path));
    if written.is_err() {
        // the cause is what matters; the name says what is left
        let _ = std::fs::remove_file(&hidden);
    }
    written
}

/// Removes files of a folder whose name is `start` and the number of a process that is no more.
fn remove_left(folder: &Path, start: &str) {
    if start_of(std::process::id()).is_none() {
        // this system does not tell which processes there are
        return;
    }
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let number = name.strip_prefix(start).and_then(|end| end.parse().ok());
        if number.is_some_and(|process| start_of(process).is_none()) {
            // nobody needs it, and nobody is harmed if it stays
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
