//! The run directory: complete or not there.
//!
//! Files go to a hidden sibling of the final place, which is renamed when everything is written. A run that
//! fails or is killed never looks like a result, and a finished run is never overwritten unless that was asked for.
//!
//! The sibling is made when the run starts, under a name that only one process can have, and says which: a second run
//! to the same place is refused at once. What a killed process left is taken over when it was one of this machine.

use super::ReportError;
use super::manifest;
use super::reservation::{self, reserve};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// A run directory in the making; removed again when dropped without [`Self::finish`].
#[derive(Debug)]
pub struct RunDirectory {
    place: PathBuf,
    replaces: Replaces,
    temporary: PathBuf,
    /// Folders made on the way, outermost first.
    made: Vec<PathBuf>,
}

/// What may be at the place when the directory is finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaces {
    /// Nothing, or an empty directory.
    Nothing,
    /// Results of an interrupted run, too.
    Interrupted,
    /// Results of any run, too.
    AnyRun,
}

impl Replaces {
    /// Whether what is at `path` may be replaced.
    fn allows(self, path: &Path) -> bool {
        match self {
            Self::Nothing => false,
            Self::Interrupted => manifest::is_interrupted(path),
            Self::AnyRun => path.join(manifest::FILE).is_file(),
        }
    }
}

impl RunDirectory {
    /// Prepares `root/<title>-<seed>`, with `-2`, `-3`, .. appended when that is taken.
    ///
    /// # Errors
    /// [`ReportError::Io`] when nothing can be written there.
    pub fn create_in(root: &Path, title: &str, seed: u64) -> Result<Self, ReportError> {
        for place in numbered(&Self::first_place(root, title, seed)) {
            if exists(&place) {
                continue;
            }
            match Self::create(&place, Replaces::Nothing) {
                Err(ReportError::Busy { .. } | ReportError::Left { .. }) => {}
                other => return other,
            }
        }
        unreachable!("there is always another number")
    }

    /// `root/<title>-<seed>`: where [`Self::create_in`] goes when that is free.
    pub fn first_place(root: &Path, title: &str, seed: u64) -> PathBuf {
        root.join(format!("{}-{seed}", slug(title)))
    }

    /// As [`Self::create_at`], but what `replaces` says may be there; it is replaced at the end. A link is followed and stays:
    /// the place is the directory that it leads to.
    ///
    /// # Errors
    /// As [`Self::create_at`].
    pub fn create_over(path: &Path, replaces: Replaces) -> Result<Self, ReportError> {
        let place = followed(path)?;
        if place.file_name().is_none() {
            let (path, why) = (path.to_owned(), "it has no name of its own");
            return Err(ReportError::NotADirectory { path, why });
        }
        if !replaces.allows(&place) {
            check_free(&place)?;
        }
        Self::create(&place, replaces)
    }

    /// Prepares exactly `path`, which must not exist or be an empty directory.
    ///
    /// # Errors
    /// [`ReportError::Finished`], [`ReportError::NotEmpty`], [`ReportError::NotADirectory`] or [`ReportError::Dangling`] for
    /// what is there, [`ReportError::Busy`] or [`ReportError::Left`] when another process has taken the name,
    /// [`ReportError::Io`] when nothing can be written there.
    pub fn create_at(path: &Path) -> Result<Self, ReportError> {
        Self::create_over(path, Replaces::Nothing)
    }

    fn create(place: &Path, replaces: Replaces) -> Result<Self, ReportError> {
        let parent = folder_of(place);
        let made = make_folders(parent)?;
        match reserve(parent, place) {
            Ok(temporary) => Ok(Self {
                place: place.to_owned(),
                replaces,
                temporary,
                made,
            }),
            Err(error) => {
                remove_folders(&made);
                Err(error)
            }
        }
    }

    /// Where the directory goes in the end, unless something else takes that place meanwhile.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Where files are until the end.
    pub fn path(&self) -> &Path {
        &self.temporary
    }

    /// Writes one file; one that cannot be written whole is not there.
    ///
    /// # Errors
    /// [`ReportError::Io`] when it cannot be written.
    pub fn write(&self, file: &str, content: &[u8]) -> Result<(), ReportError> {
        let path = self.temporary.join(file);
        fs::write(&path, content).map_err(|error| {
            // half of a table is worse than none
            let _ = fs::remove_file(&path);
            ReportError::Io { path, error }
        })
    }

    /// Moves the directory to its place and names it. Where something else has taken the place meanwhile, the results go
    /// beside it, with a number.
    ///
    /// # Errors
    /// When the file system refuses; the files are then removed.
    pub fn finish(mut self) -> Result<PathBuf, ReportError> {
        let path = if self.replaces.allows(&self.place) {
            self.replace(&self.place)?;
            self.place.clone()
        } else if check_free(&self.place).is_ok() {
            self.rename_to(&self.place)?;
            self.place.clone()
        } else {
            self.rename_to_first_free(&self.place)?
        };
        self.leave(&path);
        Ok(path)
    }

    /// Keeps what could be written of a run beside its place, as `PLACE.incomplete`: no reader takes that for a run.
    ///
    /// # Errors
    /// When the file system refuses that, too; the files are then removed.
    pub fn keep_incomplete(mut self) -> Result<PathBuf, ReportError> {
        let mut name = self.place.as_os_str().to_owned();
        name.push(".incomplete");
        let path = self.rename_to_first_free(Path::new(&name))?;
        self.leave(&path);
        Ok(path)
    }

    /// The directory is at `path` now: nothing is to be removed but the name of its maker.
    fn leave(&mut self, path: &Path) {
        // a file too many does no harm
        let _ = fs::remove_file(path.join(reservation::HOLDER));
        self.temporary.clear();
        self.made.clear();
    }

    fn rename_to(&self, path: &Path) -> Result<(), ReportError> {
        fs::rename(&self.temporary, path).map_err(|error| ReportError::Io {
            path: path.to_owned(),
            error,
        })
    }

    /// Takes the place of other results, which are removed last.
    fn replace(&self, path: &Path) -> Result<(), ReportError> {
        let mut aside = self.temporary.as_os_str().to_owned();
        aside.push("-replaced");
        let aside = PathBuf::from(aside);
        fs::rename(path, &aside).map_err(|error| ReportError::Io {
            path: path.to_owned(),
            error,
        })?;
        if let Err(error) = self.rename_to(path) {
            // put back what was there; the cause of the failure is what matters
            let _ = fs::rename(&aside, path);
            return Err(error);
        }
        // the new results are in place; the name says what is left
        let _ = fs::remove_dir_all(&aside);
        Ok(())
    }

    fn rename_to_first_free(&self, first: &Path) -> Result<PathBuf, ReportError> {
        for path in numbered(first).filter(|path| !exists(path)) {
            match self.rename_to(&path) {
                // another run came first
                Err(_) if exists(&path) => {}
                other => return other.map(|()| path),
            }
        }
        unreachable!("there is always another number")
    }
}

impl Drop for RunDirectory {
    fn drop(&mut self) {
        if !self.temporary.as_os_str().is_empty() {
            // nothing can be done about a failure, and the name says what is left
            let _ = fs::remove_dir_all(&self.temporary);
        }
        remove_folders(&self.made);
    }
}

/// What the names of unfinished files and directories contain.
pub(super) const PARTIAL: &str = ".partial-";

/// Whether `path` is something unfinished, of this process or of one that was killed.
pub fn is_partial(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with('.') && name.contains(PARTIAL)
}

/// Puts `content` in place of a file, by one rename.
///
/// # Errors
/// When it cannot be written; the file before then stays as it was.
pub fn replace_file(path: &Path, content: &[u8]) -> Result<(), ReportError> {
    let partial = partial(path);
    let written = fs::write(&partial, content).and_then(|()| fs::rename(&partial, path));
    written.map_err(|error| {
        // nothing can be done about a failure, and the name says what is left
        let _ = fs::remove_file(&partial);
        let path = path.to_owned();
        ReportError::Io { path, error }
    })
}

/// Puts files with these names and contents into a folder, which is made where there is none; they get their names when all are
/// written.
///
/// # Errors
/// When the folder cannot be made or a file cannot be written: then no name of them is new, and nothing is left behind.
pub fn replace_files(folder: &Path, files: &[(&str, &str)]) -> Result<(), ReportError> {
    let made = make_folders(folder)?;
    let paths: Vec<(PathBuf, &str)> = (files.iter())
        .map(|(name, content)| (folder.join(name), *content))
        .collect();
    let refused = |path: &Path, result: io::Result<()>| {
        result.map_err(|error| ReportError::Io {
            path: path.to_owned(),
            error,
        })
    };
    let write =
        |(path, content): &(PathBuf, &str)| refused(path, fs::write(partial(path), content));
    let name = |(path, _): &(PathBuf, &str)| refused(path, fs::rename(partial(path), path));
    let written = paths.iter().try_for_each(write);
    let written = written.and_then(|()| paths.iter().try_for_each(name));
    if written.is_err() {
        // nothing can be done about a failure, and the names say what is left
        for (path, _) in &paths {
            let _ = fs::remove_file(partial(path));
        }
        remove_folders(&made);
    }
    written
}

/// Where a file is until it is whole.
fn partial(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}{PARTIAL}{}", std::process::id()))
}

/// `path`, `path-2`, `path-3`, ..
fn numbered(path: &Path) -> impl Iterator<Item = PathBuf> {
    let others = (2u64..).map(|number| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!("-{number}"));
        PathBuf::from(name)
    });
    std::iter::once(path.to_owned()).chain(others)
}

/// The folder a path is in.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

pub(super) fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// What a link at `path` leads to; `path` itself, without a slash at its end, where there is no link.
fn followed(path: &Path) -> Result<PathBuf, ReportError> {
    // with the slash the system would look through the link
    let path: PathBuf = path.components().collect();
    let Ok(target) = fs::read_link(&path) else {
        return Ok(path);
    };
    fs::canonicalize(&path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => ReportError::Dangling { path, target },
        _ => ReportError::Io { path, error },
    })
}

/// Checks that `path` does not exist or is an empty directory.
fn check_free(path: &Path) -> Result<(), ReportError> {
    match fs::read_dir(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            let why = if exists(path) {
                "it is a file"
            } else {
                "what it is to be in is a file"
            };
            let path = path.to_owned();
            Err(ReportError::NotADirectory { path, why })
        }
        Err(error) => Err(ReportError::Io {
            path: path.to_owned(),
            error,
        }),
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) if exists(&path.join(manifest::FILE)) => {
                Err(ReportError::Finished(path.to_owned()))
            }
            Some(_) => Err(ReportError::NotEmpty(path.to_owned())),
        },
    }
}

/// Makes `path` and its parents; says which are new, outermost first. Leaves nothing behind on failure.
fn make_folders(path: &Path) -> Result<Vec<PathBuf>, ReportError> {
    let mut missing: Vec<&Path> = path
        .ancestors()
        .take_while(|folder| *folder != Path::new("") && !exists(folder))
        .collect();
    missing.reverse();
    let mut made = Vec::new();
    for folder in missing {
        match fs::create_dir(folder) {
            Ok(()) => made.push(folder.to_owned()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => {
                remove_folders(&made);
                return Err(ReportError::Io {
                    path: folder.to_owned(),
                    error,
                });
            }
        }
    }
    Ok(made)
}

/// Removes folders that are empty, innermost first.
fn remove_folders(made: &[PathBuf]) {
    for folder in made.iter().rev() {
        // another run may have put its results there
        let _ = fs::remove_dir(folder);
    }
}

/// A title as a file name: lower-case letters, digits and single dashes, at most 60 bytes.
pub fn slug(title: &str) -> String {
    let mut slug = String::new();
    for c in title.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(60);
    match slug.trim_end_matches('-') {
        "" => "run".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests;
