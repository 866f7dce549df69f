//! The inputs of a batch: its scenario with all changes, and copies of the files that it names.
//!
//! Names of files count in the identity of a run, so the copies keep them: as many folders as the names go up with
//! `..` are made above the scenario. What is named by an absolute path stays where it is.

use crate::error::Error;
use crate::scenario::Document;
use crate::study::Record;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Folder of the inputs.
const INPUT: &str = "input";

/// What is copied.
#[derive(Clone, Debug)]
pub(super) struct Inputs {
    /// Scenario below the batch folder.
    scenario: PathBuf,
    /// Its text.
    text: String,
    /// (original, copy below the batch folder)
    files: Vec<(PathBuf, PathBuf)>,
    /// The sweep that the copy must describe.
    record: Record,
}

impl Inputs {
    /// The inputs of the scenario `document` that was read from `file`; `record` is its sweep.
    ///
    /// # Errors
    /// When a name is not text, or a folder cannot be found.
    pub(super) fn new(file: &Path, document: &Document, record: Record) -> Result<Self, Error> {
        let base =
            super::folder::absolute(file.parent().unwrap_or(Path::new("")).join(".").as_path())?;
        let named = record.files.keys().map(Path::new);
        let named: Vec<_> = named.filter(|name| !name.is_absolute()).collect();
        let up = named.iter().map(|name| steps_up(name)).max().unwrap_or(0);
        let folders = base.components().filter_map(|part| match part {
            Component::Normal(name) => Some(PathBuf::from(name)),
            _ => None,
        });
        let folders: Vec<_> = folders.collect();
        let mut below = Path::new(INPUT).to_owned();
        for level in (1..=up).rev() {
            // above the root of the file system is the root
            let at = folders.len().checked_sub(level);
            below.push(at.map_or(Path::new("up"), |at| &folders[at]));
        }
        let name = file.file_name().unwrap_or_default();
        let files = named
            .iter()
            .map(|name| (base.join(name), plain(&below.join(name))));
        Ok(Self {
            scenario: below.join(name),
            text: document.to_text(),
            files: files.collect(),
            record,
        })
    }

    /// Scenario below the batch folder.
    ///
    /// # Errors
    /// When its name is not text.
    pub(super) fn scenario(&self) -> Result<String, Error> {
        let name = self.scenario.to_str();
        let name = name.ok_or_else(|| {
            Error::Usage(format!("`{}` is not UTF-8 text", self.scenario.display()))
        })?;
        Ok(name.to_owned())
    }

    /// Writes them below `folder`.
    ///
    /// # Errors
    /// When something cannot be written.
    pub(super) fn write(&self, folder: &Path) -> Result<(), Error> {
        let make = |file: &Path| {
            let parent = file.parent().unwrap_or(folder);
            fs::create_dir_all(parent).map_err(|cause| refused(parent, cause))
        };
        for (from, to) in &self.files {
            let to = folder.join(to);
            make(&to)?;
            fs::copy(from, &to).map_err(|cause| refused(&to, cause))?;
        }
        let scenario = folder.join(&self.scenario);
        make(&scenario)?;
        fs::write(&scenario, &self.text).map_err(|cause| refused(&scenario, cause))
    }

    /// Reads the copy below `folder` and compares: a batch never makes other runs than the scenario asks for.
    ///
    /// # Errors
    /// When they differ, such as by a file that changes at this moment.
    pub(super) fn verify(&self, folder: &Path) -> Result<(), Error> {
        let copy = Record::new(&Document::read(&folder.join(&self.scenario))?, None)?;
        if copy == self.record {
            return Ok(());
        }
        let difference = copy.difference(&self.record);
        let difference = difference.unwrap_or_else(|| "its runs are others".into());
        Err(Error::Usage(format!(
            "the copy of the scenario is not the scenario: {difference}; name its files by plain or absolute paths"
        )))
    }
}

/// How far a path goes up before it goes down.
fn steps_up(path: &Path) -> usize {
    let is_up = |part: &Component<'_>| *part == Component::ParentDir;
    path.components()
        .filter(|part| *part != Component::CurDir)
        .take_while(is_up)
        .count()
}

/// The path without `.`, and without `..` where it follows a folder.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if plain.pop() => {}
            part => plain.push(part),
        }
    }
    plain
}

/// The file system refuses to write.
pub(super) fn refused(path: &Path, cause: std::io::Error) -> Error {
    let path = path.display().to_string();
    Error::Write { path, cause }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_keep_the_names_of_their_files() {
        let inputs = |file: &str, names: &[&str]| {
            let mut document = Document::embedded();
            document.set("sweep=(axes: [], seeds: 1)").unwrap();
            let mut record = Record::new(&document, None).unwrap();
            let files = names.iter().map(|name| ((*name).to_owned(), String::new()));
            record.files = files.collect();
            Inputs::new(Path::new(file), &document, record).unwrap()
        };
        let copies = |inputs: &Inputs| -> Vec<_> {
            let copies = inputs.files.iter();
            copies
                .map(|(from, to)| format!("{} to {}", from.display(), to.display()))
                .collect()
        };
        let near = inputs("/a/b/c.ron", &["net.txt", "sub/./two.txt"]);
        assert_eq!(near.scenario().unwrap(), "input/c.ron");
        assert_eq!(
            copies(&near),
            [
                "/a/b/net.txt to input/net.txt",
                "/a/b/sub/./two.txt to input/sub/two.txt"
            ]
        );
        let far = inputs("/a/b/c.ron", &["../../d/net.txt", "../e", "/f/g"]);
        assert_eq!(far.scenario().unwrap(), "input/a/b/c.ron");
        assert_eq!(
            copies(&far),
            [
                "/a/b/../../d/net.txt to input/d/net.txt",
                "/a/b/../e to input/a/e"
            ]
        );
        let above = inputs("/a/c.ron", &["../../net.txt"]);
        assert_eq!(above.scenario().unwrap(), "input/up/a/c.ron");
        assert_eq!(copies(&above), ["/a/../../net.txt to input/net.txt"]);
    }
}
