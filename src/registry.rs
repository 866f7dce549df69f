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
    /// Names that could mean several entries, or none that is here: refused with what may be meant.
    pub unclear: &'static [(&'static str, &'static str)],
}

impl<B> Registry<B> {
    /// The entry of `name` or one of its aliases.
    pub fn find(&self, name: &str) -> Option<&'static Entry<B>> {
        self.entries
            .iter()
            .find(|entry| entry.name == name || entry.aliases.contains(&name))
    }

    /// The entry of `name`.
    ///
    /// # Errors
    /// When there is none: what is wrong, what there is, and the nearest name; what may be meant by a name that is
    /// not clear.
    pub fn lookup(&self, name: &str) -> Result<&'static Entry<B>, String> {
        if let Some((_, meanings)) = self.unclear.iter().find(|(unclear, _)| *unclear == name) {
            let kind = self.kind;
            return Err(format!(
                "the {kind} `{name}` is not clear: expected {meanings}"
            ));
        }
        self.find(name).ok_or_else(|| {
            let aliases = self.entries.iter().flat_map(|entry| entry.aliases);
            let message = unknown(self.kind, name, self.names());
            match nearest(name, aliases.copied()) {
                Some(alias) if nearest(name, self.names()).is_none() => {
                    format!("{message}; did you mean `{alias}`?")
                }
                _ => message,
            }
        })
    }

    /// All names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + Clone + use<B> {
        self.entries.iter().map(|entry| entry.name)
    }
}

/// The message about a name that is none of `names`: `unknown key `swich`: expected one of ...; did you
/// mean `switch`?`
pub fn unknown<'a>(kind: &str, name: &str, names: impl Iterator<Item = &'a str> + Clone) -> String {
    let quoted: Vec<_> = names.clone().map(|name| format!("`{name}`")).collect();
    let expected = match quoted.len() {
        0 => format!("there is no {kind}"),
        1 => format!("expected {}", quoted[0]),
        _ => format!("expected one of {}", quoted.join(", ")),
    };
    let hint =
        nearest(name, names).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    format!("unknown {kind} `{name}`: {expected}{hint}")
}

/// The name that `name` was probably meant to be: at most a third of its letters differ.
pub fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |name: &str| name.to_lowercase().replace(['_', '-', ' '], "");
    let wanted = plain(name);
    names
        .map(|name| (strsim::damerau_levenshtein(&wanted, &plain(name)), name))
        .filter(|(distance, _)| *distance <= (wanted.chars().count() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
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
                message: describe(&error.code),
                line: error.span.start.line,
                column: error.span.start.col,
            })
    }
}

/// RON's complaint in the words of scenarios.
fn describe(error: &ron::Error) -> String {
    match error {
        ron::Error::NoSuchStructField {
            expected, found, ..
        } => unknown("parameter", found, expected.iter().copied()),
        ron::Error::MissingStructField { field, .. } => {
            format!("the parameter `{field}` is missing")
        }
        ron::Error::DuplicateStructField { field, .. } => {
            format!("the parameter `{field}` is given twice")
        }
        error => {
            let message = error.to_string();
            let mut letters = message.chars();
            // lower case, as all messages, unless a name comes first
            match letters.next() {
                Some(first) => first.to_lowercase().chain(letters).collect(),
                None => message,
            }
        }
    }
}
