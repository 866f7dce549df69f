//! Registries: the parts a scenario can name, as constant tables.
//!
//! A part (topology, routing engine, traffic pattern, ...) lives in one file that defines an [`Entry`];
//! its folder's `mod.rs` lists the entry in a [`Registry`]. From the same entry come the constructor, the
//! error for an unknown name, `virtlane list` and `virtlane describe`.

use crate::references::Reference;
use serde::de::DeserializeOwned;

/// One parameter of a part, for `describe`.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Key as written in the scenario.
    pub name: &'static str,
    /// Type and unit, such as `integer >= 1` or `time`.
    pub kind: &'static str,
    /// Default as written, or `None` when it must be given.
    pub default: Option<&'static str>,
    /// What it does.
    pub summary: &'static str,
}

/// One registered part; `B` is the constructor's type.
#[derive(Clone, Copy, Debug)]
pub struct Entry<B: 'static> {
    /// Name as written in scenarios, `UpperCamelCase`.
    pub name: &'static str,
    /// Other accepted names, such as OpenSM's.
    pub aliases: &'static [&'static str],
    /// One line.
    pub summary: &'static str,
    /// Parameters in the order they are documented.
    pub parameters: &'static [Parameter],
    /// What is promised, one line each; may be empty.
    pub guarantees: &'static [&'static str],
    /// Where it comes from.
    pub references: &'static [Reference],
    /// Makes the part from its arguments.
    pub build: B,
}

/// All parts of one kind.
#[derive(Clone, Copy, Debug)]
pub struct Registry<B: 'static> {
    /// What they are, in words: `topology`, `routing engine`.
    pub kind: &'static str,
    /// Entries sorted by name.
    pub entries: &'static [Entry<B>],
}

impl<B> Registry<B> {
    /// The entry of `name` or one of its aliases.
    pub fn find(&self, name: &str) -> Option<&'static Entry<B>> {
        self.entries
            .iter()
            .find(|entry| entry.name == name || entry.aliases.contains(&name))
    }

    /// All names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<B> {
        self.entries.iter().map(|entry| entry.name)
    }
}

/// The arguments a scenario gives to a part: RON text such as `(k: 10, n: 3)`, empty for none.
#[derive(Clone, Copy, Debug)]
pub struct Arguments<'a> {
    /// The text between and including the parentheses.
    pub text: &'a str,
}

/// Arguments that do not fit a part's parameters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ArgumentError {
    /// What is wrong and what is allowed.
    pub message: String,
    /// Line within the arguments' text, from 1.
    pub line: usize,
    /// Column within that line, from 1.
    pub column: usize,
}

impl Arguments<'_> {
    /// Reads the arguments into a part's own parameter struct (derive `Deserialize` with
    /// `deny_unknown_fields`). An optional value is written `7`, `Some(7)` or `None`.
    ///
    /// # Errors
    /// When the text does not fit `T`, with the place within the text.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ArgumentError> {
        let text = if self.text.trim().is_empty() {
            "()"
        } else {
            self.text
        };
        ron::Options::default()
            .with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME)
            .from_str(text)
            .map_err(|error| ArgumentError {
                message: error.code.to_string(),
                line: error.span.start.line,
                column: error.span.start.col,
            })
    }
}
