//! The name of a run directory is taken when the run starts: by a hidden folder that only one process can have.
//!
//! A file in it says which process that is. Guarantees: of processes that start at the same time for one name one gets
//! it, on network file systems too (by one rename of a folder that is not empty).
//! The place of a single file is taken in the same way, for as long as a run may write it.
//! A process of this machine is known by its number and the time it started, so a number that was given away again is no
//! holder. Of a process elsewhere (another node on a shared file system, another container) nothing can be known.

use super::directory::{PARTIAL, exists, folder_of};
use super::{ReportError, manifest};
use crate::machine::{host_name, start_of};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Name of the file.
pub(super) const HOLDER: &str = ".holder";
/// End of the name that only one process can have.
const RESERVED: &str = "run";

/// A process that makes a run directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Number of the process.
    process: u32,
    /// When it started, as the machine counts; empty where that is not told.
    started: String,
    /// Machine.
    host: String,
    /// Where process numbers mean the same; empty where that is not told.
    space: String,
    /// When it took the name \[s since 1970\].
    since: u64,
}

/// What is known of a holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It still works.
    Works,
    /// It has ended.
    Ended,
    /// It is on another machine, or in another container.
    Elsewhere,
}

impl Holder {
    /// This process, now.
    fn this() -> Self {
        let process = std::process::id();
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            process,
            started: start_of(process).unwrap_or_default(),
            host: host_name(),
            space: space(),
            since: since.map_or(0, |since| since.as_secs()),
        }
    }

    /// Writes it into an unfinished directory.
    fn write(&self, directory: &Path) -> io::Result<()> {
        let text = ron::to_string(self).map_err(io::Error::other)?;
        fs::write(directory.join(HOLDER), text)
    }

    /// Who makes an unfinished directory; `None` when it does not say.
    fn of(directory: &Path) -> Option<Self> {
        ron::from_str(&fs::read_to_string(directory.join(HOLDER)).ok()?).ok()
    }

    /// What is known of it here.
    fn fate(&self) -> Fate {
        if self.host != host_name() || self.space != space() || self.started.is_empty() {
            return Fate::Elsewhere;
        }
        match start_of(self.process) {
            Some(started) if started == self.started => Fate::Works,
            _ => Fate::Ended,
        }
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let since = UNIX_EPOCH + Duration::from_secs(self.since);
        let (process, host) = (self.process, &self.host);
        let since = humantime::format_rfc3339_seconds(since);
        write!(formatter, "process {process} on `{host}` since {since}")
    }
}

/// The name of the space of process numbers this process lives in.
fn space() -> String {
    let link = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    link.to_string_lossy().into_owned()
}

/// Takes the name `path`: makes the hidden folder that only one process can have, which says who that is.
pub(super) fn reserve(parent: &Path, path: &Path) -> Result<PathBuf, ReportError> {
    let failed = |error| ReportError::Io {
        path: path.to_owned(),
        error,
    };
    let hidden = make_hidden(parent, path).map_err(failed)?;
    let taken = Holder::this().write(&hidden).map_err(failed);
    let taken = taken.and_then(|()| take(&hidden, &hidden_name(parent, path, RESERVED)));
    if taken.is_err() {
        // nothing of use is in it
        let _ = fs::remove_dir_all(&hidden);
    }
    taken
}

/// Renames `hidden`, which is not empty, to `reserved`: that fails when another process has done so.
fn take(hidden: &Path, reserved: &Path) -> Result<PathBuf, ReportError> {
    loop {
        match fs::rename(hidden, reserved) {
            Ok(()) => return Ok(reserved.to_owned()),
            Err(error) if !exists(reserved) => {
                let path = reserved.to_owned();
                return Err(ReportError::Io { path, error });
            }
            Err(_) => {}
        }
        let path = reserved.to_owned();
        let holder = Holder::of(reserved);
        match holder.as_ref().map(Holder::fate) {
            Some(Fate::Works) => return Err(ReportError::Busy { path, holder }),
            Some(Fate::Ended) if !reserved.join(manifest::FILE).exists() => {
                // under another name nobody else finds it; only what was seen is removed
                let aside = PathBuf::from(format!("{}-left", hidden.display()));
                if fs::rename(reserved, &aside).is_err() {
                    continue;
                }
                if Holder::of(&aside) != holder {
                    let _ = fs::rename(&aside, reserved);
                    return Err(ReportError::Busy { path, holder: None });
                }
                let _ = fs::remove_dir_all(&aside);
            }
            // complete but for its name, of another machine, or without a holder: for the user to judge
            _ if exists(reserved) => return Err(ReportError::Left { path, holder }),
            _ => {}
        }
    }
}

/// The place of a file that this process alone writes, until this is dropped.
#[derive(Debug)]
pub struct Hold(PathBuf);

impl Hold {
    /// Takes the place of `file`, whether one is there or not.
    ///
    /// # Errors
    /// [`ReportError::Busy`] or [`ReportError::Left`] when another process has taken it, [`ReportError::Io`] when nothing can be
    /// written there.
    pub fn on(file: &Path) -> Result<Self, ReportError> {
        reserve(folder_of(file), file).map(Self)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        // the next process takes over what stays
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Something beside the place of a run that another one has made and not finished.
#[derive(Debug)]
pub struct Leftover {
    /// Where it is.
    pub path: PathBuf,
    /// Who made it, elsewhere: nobody can tell here whether that run is over. `None`: a run that was killed.
    pub holder: Option<Holder>,
}

/// What killed runs to `path` have left beside it: what surely nobody uses is removed, the others are returned; what a process
/// of this machine still works on is neither.
pub fn leftovers(path: &Path) -> Vec<Leftover> {
    let Ok(entries) = fs::read_dir(folder_of(path)) else {
        return Vec::new();
    };
    let start = hidden_name(Path::new(""), path, "");
    let start = start.to_string_lossy();
    let mut left: Vec<Leftover> = (entries.flatten().map(|entry| entry.path()))
        .filter_map(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let end = name.strip_prefix(&*start)?.to_owned();
            left_over(path, &end)
        })
        .collect();
    left.sort_by(|a, b| a.path.cmp(&b.path));
    left
}

/// Removes what surely nobody uses; returns what may be.
fn left_over(path: PathBuf, end: &str) -> Option<Leftover> {
    let holder = Holder::of(&path);
    match holder.as_ref().map(Holder::fate) {
        Some(Fate::Works) => return None,
        Some(Fate::Ended) if !path.join(manifest::FILE).exists() => {
            fs::remove_dir_all(&path).ok();
        }
        // it is made before it says whose it is, and may be gone by now
        None if is_being_made(end) => return None,
        _ => {}
    }
    let is_elsewhere = |holder: &Holder| holder.fate() == Fate::Elsewhere;
    exists(&path).then(|| Leftover {
        path,
        holder: holder.filter(is_elsewhere),
    })
}

/// Whether a process runs whose number the end of a hidden name begins with.
fn is_being_made(end: &str) -> bool {
    let number = end.split('-').next().and_then(|number| number.parse().ok());
    number.is_some_and(|process| start_of(process).is_some())
}

/// Makes a hidden folder in `parent` that no other run uses.
fn make_hidden(parent: &Path, path: &Path) -> io::Result<PathBuf> {
    let process = std::process::id();
    let mut attempt = 0u32;
    loop {
        let hidden = hidden_name(parent, path, &format!("{process}-{attempt}"));
        match fs::create_dir(&hidden) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => attempt += 1,
            other => return other.map(|()| hidden),
        }
    }
}

/// The name of something unfinished that is to become `path`.
fn hidden_name(parent: &Path, path: &Path, end: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    parent.join(format!(".{name}{PARTIAL}{end}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_its_number_and_start() {
        let this = Holder::this();
        assert_eq!(this.fate(), Fate::Works);
        let earlier = Holder {
            started: "1".into(),
            ..this.clone()
        };
        assert_eq!(earlier.fate(), Fate::Ended, "the number was given away");
        let other = Holder {
            host: "another-node".into(),
            ..this.clone()
        };
        assert_eq!(other.fate(), Fate::Elsewhere);
        let contained = Holder {
            space: "pid:[1]".into(),
            ..this
        };
        assert_eq!(contained.fate(), Fate::Elsewhere);
    }
}
