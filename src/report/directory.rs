//! The run directory: complete or not there.
//!
//! Files go to a hidden sibling of the final place, which is renamed when everything is written. A run that
//! fails or is killed never looks like a result, and a finished run is never overwritten.

use super::ReportError;
use super::manifest;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// A run directory in the making; removed again when dropped without [`Self::finish`].
#[derive(Debug)]
pub struct RunDirectory {
    place: Place,
    temporary: PathBuf,
    /// Folders made on the way, outermost first.
    made: Vec<PathBuf>,
}

/// Where the directory goes in the end.
#[derive(Debug)]
enum Place {
    /// Exactly here.
    At(PathBuf),
    /// Here, with `-2`, `-3`, .. appended when taken.
    Numbered(PathBuf),
}

impl RunDirectory {
    /// Prepares `root/<title>-<seed>`, with `-2`, `-3`, .. appended when that is taken.
    ///
    /// # Errors
    /// [`ReportError::Io`] when nothing can be written there.
    pub fn create_in(root: &Path, title: &str, seed: u64) -> Result<Self, ReportError> {
        Self::create(Place::Numbered(
            root.join(format!("{}-{seed}", slug(title))),
        ))
    }

    /// Prepares exactly `path`, which must not exist or be an empty directory.
    ///
    /// # Errors
    /// [`ReportError::Finished`], [`ReportError::NotEmpty`] or [`ReportError::NotADirectory`] for what is
    /// there, [`ReportError::Io`] when nothing can be written there.
    pub fn create_at(path: &Path) -> Result<Self, ReportError> {
        if path.file_name().is_none() {
            return Err(ReportError::NotADirectory(path.to_owned()));
        }
        check_free(path)?;
        Self::create(Place::At(path.to_owned()))
    }

    fn create(place: Place) -> Result<Self, ReportError> {
        let (Place::At(path) | Place::Numbered(path)) = &place;
        let parent = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let made = make_folders(parent)?;
        match make_hidden(parent, path) {
            Ok(temporary) => Ok(Self {
                place,
                temporary,
                made,
            }),
            Err(error) => {
                remove_folders(&made);
                let path = path.clone();
                Err(ReportError::Io { path, error })
            }
        }
    }

    /// Where files are until the end.
    pub fn path(&self) -> &Path {
        &self.temporary
    }

    /// Writes one file.
    ///
    /// # Errors
    /// [`ReportError::Io`] when it cannot be written.
    pub fn write(&self, file: &str, content: &[u8]) -> Result<(), ReportError> {
        let path = self.temporary.join(file);
        fs::write(&path, content).map_err(|error| ReportError::Io { path, error })
    }

    /// Moves the directory to its place and names it.
    ///
    /// # Errors
    /// When the place has been taken meanwhile, or the file system refuses; the files are then removed.
    pub fn finish(mut self) -> Result<PathBuf, ReportError> {
        let path = match &self.place {
            Place::At(path) => {
                check_free(path)?;
                self.rename_to(path)?;
                path.clone()
            }
            Place::Numbered(first) => self.rename_to_first_free(first)?,
        };
        self.temporary.clear();
        self.made.clear();
        Ok(path)
    }

    fn rename_to(&self, path: &Path) -> Result<(), ReportError> {
        fs::rename(&self.temporary, path).map_err(|error| ReportError::Io {
            path: path.to_owned(),
            error,
        })
    }

    fn rename_to_first_free(&self, first: &Path) -> Result<PathBuf, ReportError> {
        let mut path = first.to_owned();
        for number in 2u64.. {
            if !exists(&path) {
                match self.rename_to(&path) {
                    Ok(()) => break,
                    // another run came first
                    Err(_) if exists(&path) => {}
                    Err(error) => return Err(error),
                }
            }
            let mut name = first.as_os_str().to_owned();
            name.push(format!("-{number}"));
            path = PathBuf::from(name);
        }
        Ok(path)
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
const PARTIAL: &str = ".partial-";

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
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let partial = path.with_file_name(format!(".{name}{PARTIAL}{}", std::process::id()));
    let written = fs::write(&partial, content).and_then(|()| fs::rename(&partial, path));
    written.map_err(|error| {
        // nothing can be done about a failure, and the name says what is left
        let _ = fs::remove_file(&partial);
        let path = path.to_owned();
        ReportError::Io { path, error }
    })
}

fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Checks that `path` does not exist or is an empty directory.
fn check_free(path: &Path) -> Result<(), ReportError> {
    match fs::read_dir(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            Err(ReportError::NotADirectory(path.to_owned()))
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

/// Makes a hidden folder in `parent` that no other run uses.
fn make_hidden(parent: &Path, path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let process = std::process::id();
    let mut attempt = 0u32;
    loop {
        let hidden = parent.join(format!(".{name}{PARTIAL}{process}-{attempt}"));
        match fs::create_dir(&hidden) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => attempt += 1,
            other => return other.map(|()| hidden),
        }
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
fn slug(title: &str) -> String {
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
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_run_appears_only_when_finished() {
        let base = tempfile::tempdir().unwrap();
        let root = base.path().join("deep/runs");
        let run = RunDirectory::create_in(&root, "10-ary 3-tree, uniform", 1).unwrap();
        run.write("summary.json", b"{}").unwrap();
        assert!(names(&root)[0].starts_with(".10-ary-3-tree-uniform-1.partial-"));
        let path = run.finish().unwrap();
        assert_eq!(path, root.join("10-ary-3-tree-uniform-1"));
        assert_eq!(names(&root), ["10-ary-3-tree-uniform-1"]);
        assert_eq!(names(&path), ["summary.json"]);
    }

    #[test]
    fn a_dropped_run_leaves_nothing() {
        let base = tempfile::tempdir().unwrap();
        let run = RunDirectory::create_at(&base.path().join("a/b/c")).unwrap();
        run.write("summary.json", b"{}").unwrap();
        drop(run);
        assert!(names(base.path()).is_empty());
    }

    #[test]
    fn taken_names_are_numbered() {
        let base = tempfile::tempdir().unwrap();
        let create = || RunDirectory::create_in(base.path(), "Test!", 7).unwrap();
        // two at a time
        let (first, second) = (create(), create());
        for (run, name) in [
            (second, "test-7"),
            (first, "test-7-2"),
            (create(), "test-7-3"),
        ] {
            run.write("summary.json", name.as_bytes()).unwrap();
            assert_eq!(run.finish().unwrap(), base.path().join(name));
        }
        assert_eq!(
            fs::read(base.path().join("test-7/summary.json")).unwrap(),
            b"test-7"
        );
    }

    #[test]
    fn a_given_place_must_be_free() {
        let base = tempfile::tempdir().unwrap();
        let place = base.path().join("out");
        fs::create_dir(&place).unwrap();
        let run = RunDirectory::create_at(&place).unwrap();
        let late = RunDirectory::create_at(&place).unwrap();
        run.write(manifest::FILE, b"()").unwrap();
        assert_eq!(run.finish().unwrap(), place);
        assert!(matches!(late.finish(), Err(ReportError::Finished(path)) if path == place));
        let error = RunDirectory::create_at(&place).unwrap_err();
        assert!(matches!(error, ReportError::Finished(_)));
        let error = RunDirectory::create_at(base.path()).unwrap_err();
        assert!(matches!(error, ReportError::NotEmpty(_)));
        assert_eq!(names(base.path()), ["out"]);
    }

    #[test]
    fn impossible_places_are_named() {
        let base = tempfile::tempdir().unwrap();
        let file = base.path().join("file");
        fs::write(&file, b"").unwrap();
        let error = RunDirectory::create_at(&file).unwrap_err();
        assert!(matches!(error, ReportError::NotADirectory(_)));
        let error = RunDirectory::create_in(&file, "x", 1).unwrap_err();
        assert!(error.to_string().contains("cannot write"), "{error}");
        assert!(RunDirectory::create_at(&file.join("a/b")).is_err());
        assert!(RunDirectory::create_at(Path::new("/")).is_err());
        assert_eq!(names(base.path()), ["file"]);
    }

    #[test]
    fn slugs_are_file_names() {
        assert_eq!(slug("k=4, n=2: \u{fc}ber ../x"), "k-4-n-2-ber-x");
        assert_eq!(slug("///"), "run");
        assert!(slug(&"a b".repeat(99)).len() <= 60);
    }
}
