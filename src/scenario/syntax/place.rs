//! Where a value was written, and what is wrong with it.

/// Numbers of the texts of bases; those below it, but 0, are of `--set`.
const BASES: u32 = 1 << 31;

/// Where a token starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Number of the text in [`Sources`].
    pub source: u32,
    /// Byte offset within that text.
    pub offset: usize,
}

impl Place {
    /// Whether the value was given on the command line (`--set`) instead of in the file.
    pub fn is_override(self) -> bool {
        (1..BASES).contains(&self.source)
    }
}

/// A wrong value: its place, its key path, what is wrong and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Where it is.
    pub place: Place,
    /// Key path such as `traffic[0].process`; empty for the text as a whole.
    pub path: String,
    /// What is wrong and what is allowed.
    pub message: String,
}

impl Mistake {
    /// A mistake at `place` under `path`.
    pub fn new(place: Place, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            place,
            path: path.into(),
            message: message.into(),
        }
    }
}

/// A wrong scenario, ready to be shown: `scenario.ron:7:19: fabric.topology: unknown topology ...`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {}{message}", if path.is_empty() { String::new() } else { format!("{path}: ") })]
pub struct ScenarioError {
    /// `file:line:column`, or the `--set` assignment.
    pub place: String,
    /// Key path; empty for the text as a whole.
    pub path: String,
    /// What is wrong and what is allowed.
    pub message: String,
}

impl ScenarioError {
    /// The error of a run of a study, whose values are told beside it: without the place where that is a change.
    pub fn of_run(&self) -> String {
        if self.place.starts_with("--set ") && !self.path.is_empty() {
            format!("{}: {}", self.path, self.message)
        } else {
            self.to_string()
        }
    }
}

#[derive(Clone, Debug)]
struct Source {
    name: String,
    text: String,
    /// Only files have lines and columns.
    is_file: bool,
}

/// The texts a scenario comes from: the file, then one per `--set`; and the files it starts from.
#[derive(Clone, Debug)]
pub struct Sources {
    list: Vec<Source>,
    bases: Vec<Source>,
}

impl Sources {
    /// Starts with the scenario file.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            list: vec![Source {
                name: name.into(),
                text: text.into(),
                is_file: true,
            }],
            bases: Vec::new(),
        }
    }

    /// Adds the value of a `--set`; returns its number.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> u32 {
        self.list.push(Source {
            name: name.into(),
            text: text.into(),
            is_file: false,
        });
        self.list.len() as u32 - 1
    }

    /// Adds the text of a base; returns its number.
    pub fn add_base(&mut self, name: impl Into<String>, text: impl Into<String>) -> u32 {
        self.bases.push(Source {
            name: name.into(),
            text: text.into(),
            is_file: true,
        });
        BASES + self.bases.len() as u32 - 1
    }

    /// The text of the file when it says all: it has no base, and nothing was changed by `--set`.
    pub fn unchanged(&self) -> Option<&str> {
        match self.list.as_slice() {
            [file] if self.bases.is_empty() => Some(&file.text),
            _ => None,
        }
    }

    /// `file:line:column` of a place (columns count characters, from 1).
    pub fn locate(&self, place: Place) -> String {
        let found = match place.source.checked_sub(BASES) {
            Some(number) => self.bases.get(number as usize),
            None => self.list.get(place.source as usize),
        };
        let Some(source) = found else {
            return "scenario".into();
        };
        if !source.is_file {
            return source.name.clone();
        }
        let before = source.text.get(..place.offset).unwrap_or(&source.text);
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
        format!("{}:{line}:{column}", source.name)
    }

    /// The error to show for a mistake.
    pub fn error(&self, mistake: Mistake) -> ScenarioError {
        ScenarioError {
            place: self.locate(mistake.place),
            path: mistake.path,
            message: mistake.message,
        }
    }
}
