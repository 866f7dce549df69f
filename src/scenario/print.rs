//! A resolved scenario as a scenario: every default filled in, times in cycles, sizes in flits.
//!
//! Reading the printed text again gives the same plan.

use super::resolve::{Parts, Resolved};
use super::sections::Scenario;
use super::syntax::Part;
use crate::registry::Registry;
use std::fmt::{Display, Write};

/// Lines with indentation.
#[derive(Default)]
pub(super) struct Printer {
    text: String,
    depth: usize,
}

impl Printer {
    pub(super) fn line(&mut self, line: impl AsRef<str>) {
        let indent = "    ".repeat(self.depth);
        let _ = writeln!(self.text, "{indent}{}", line.as_ref());
    }

    pub(super) fn key(&mut self, key: &str, value: impl Display) {
        self.line(format!("{key}: {value},"));
    }

    /// A value that may be missing.
    pub(super) fn or_none(&mut self, key: &str, value: Option<impl Display>) {
        match value {
            Some(value) => self.key(key, value),
            None => self.key(key, "None"),
        }
    }

    pub(super) fn cycles(&mut self, key: &str, cycles: impl Into<u64>) {
        self.key(key, format_args!("\"{} cycles\"", cycles.into()));
    }

    pub(super) fn flits(&mut self, key: &str, flits: u32) {
        self.key(key, format_args!("\"{flits} flits\""));
    }

    pub(super) fn block(&mut self, open: &str, close: &str, body: impl FnOnce(&mut Self)) {
        self.line(open);
        self.depth += 1;
        body(self);
        self.depth -= 1;
        self.line(close);
    }

    /// A part under its registered name; parameters that are left out are named in a comment.
    pub(super) fn part<B: Copy>(&mut self, key: &str, part: &Part, registry: &Registry<B>) {
        let entry = registry.find(&part.name.value);
        let name = entry.map_or(part.name.value.as_str(), |entry| entry.name);
        let parameters = entry.map_or(&[][..], |entry| entry.parameters);
        let defaults: Vec<_> = parameters
            .iter()
            .filter(|parameter| part.parameter(parameter.name).is_none())
            .filter_map(|parameter| Some(format!("{}: {}", parameter.name, parameter.default?)))
            .collect();
        let comment = if defaults.is_empty() {
            String::new()
        } else {
            format!(" // default {}", defaults.join(", ").replace('\n', " "))
        };
        self.line(format!("{key}: {name}{},{comment}", part.arguments()));
    }
}

/// Prints the plan as a scenario file.
pub fn plan(resolved: &Resolved, parts: &Parts<'_>) -> String {
    let mut printer = Printer::default();
    printer.block("Scenario(", ")", |printer| {
        Scenario::print(printer, resolved, parts);
    });
    printer.text
}
