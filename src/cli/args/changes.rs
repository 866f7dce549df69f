//! Changes of a scenario on the command line.

use crate::error::Error;
use crate::scenario::Document;
use crate::study::design::AxisHeader;
use crate::warnings;
use clap::Args;
use std::path::Path;

/// The scenario a command works on.
#[derive(Args, Clone, Debug)]
pub struct Changes {
    /// Change one value of the scenario; repeatable
    ///
    /// PATH is the key path as in the file, list elements by number or name:
    /// `fabric.switch.lanes=8`, `traffic.0.process.load=0.7`, `traffic.bulk.size=2 KiB`,
    /// `fabric.topology=KAryNTree(k: 4, n: 3)`.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
}

impl Changes {
    /// Reads the scenario, or the embedded one, and changes it; warns of keys that are set more than once.
    ///
    /// # Errors
    /// When the file cannot be read, or a change does not fit.
    pub fn open(&self, file: Option<&Path>) -> Result<Document, Error> {
        let mut document = match file {
            Some(path) => Document::read(path)?,
            None => Document::embedded(),
        };
        for note in self.change(&mut document)? {
            warnings::once(&note);
        }
        Ok(document)
    }

    /// Makes all changes; what is said of keys that are set more than once, whatever elements of lists are called.
    fn change(&self, document: &mut Document) -> Result<Vec<String>, Error> {
        let mut known: Vec<Vec<String>> = Vec::new();
        let mut notes = Vec::new();
        for assignment in &self.set {
            let path = path(assignment);
            let keys = document.keys(path);
            if known.contains(&keys) {
                notes.push(format!(
                    "--set gives `{path}` more than once: the last one counts"
                ));
            }
            known.push(keys);
            document.set(assignment)?;
        }
        Ok(notes)
    }

    /// Warns of values that the axes of a sweep replace.
    pub fn tell_axes(&self, document: &Document, axes: &[AxisHeader]) {
        for AxisHeader { path: axis, .. } in axes {
            for given in self.within(document, axis) {
                let place = if document.keys(given) == document.keys(axis) {
                    String::from("which is an axis of the sweep")
                } else {
                    format!("which is in `{axis}`, an axis of the sweep")
                };
                warnings::once(&format!(
                    "--set gives `{given}`, {place}: the axis gives its values"
                ));
            }
        }
    }

    /// Warns of values that a flag for the value at `path` replaces.
    pub fn tell_flag(&self, document: &Document, flag: &str, path: &str) {
        for given in self.within(document, path) {
            warnings::once(&format!(
                "--set gives `{given}`, and so does {flag}: what {flag} gives counts"
            ));
        }
    }

    /// Paths of changes of the value at `outer`, as a whole or in a part.
    fn within(&self, document: &Document, outer: &str) -> impl Iterator<Item = &str> {
        let outer = document.keys(outer);
        let paths = self.set.iter().map(|assignment| path(assignment));
        paths.filter(move |path| document.keys(path).starts_with(&outer))
    }
}

/// The key path of a change.
fn path(assignment: &str) -> &str {
    assignment.split('=').next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of these changes of the embedded scenario, and the lanes it has then.
    fn said(set: &[&str]) -> (Vec<String>, u8) {
        let set = set.iter().map(|&text| text.to_owned()).collect();
        let mut document = Document::embedded();
        let notes = Changes { set }.change(&mut document).expect("they fit");
        let scenario = document.scenario().expect("a scenario");
        (notes, scenario.fabric.switch.lanes.value)
    }

    #[test]
    fn keys_that_are_set_more_than_once_are_told() {
        let told = |path: &str| {
            vec![format!(
                "--set gives `{path}` more than once: the last one counts"
            )]
        };
        let lanes = "fabric.switch.lanes";
        let twice = said(&["fabric.switch.lanes=2", "seed=3", "fabric.switch.lanes = 8"]);
        assert_eq!(twice, (told(lanes), 8));
        let by_number = ["traffic.uniform.size=64 B", "traffic[0].size=128 B"];
        assert_eq!(said(&by_number).0, told("traffic[0].size"));
        let apart = [
            "fabric.switch.lanes=2",
            "fabric.switch.iterations=2",
            "traffic.0.size=64 B",
        ];
        assert_eq!(said(&apart).0, Vec::<String>::new());
        let within = [
            "fabric.switch.lanes=2",
            "fabric.switch=(lanes: 4, lane_capacity: \"64 flits\")",
        ];
        assert_eq!(said(&within), (Vec::new(), 4));
    }
}
