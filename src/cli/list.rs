//! `virtlane list`: what a scenario can name.

use super::args::List;
use super::catalog::{Kind, kind, kinds};
use super::print;
use crate::error::Error;
use std::fmt::Write;
use std::process::ExitCode;

/// Prints names and summaries.
///
/// # Errors
/// When there is no such kind.
pub(super) fn execute(arguments: &List) -> Result<ExitCode, Error> {
    let kinds = match &arguments.kind {
        Some(name) => vec![kind(name)?],
        None => kinds(),
    };
    let texts: Vec<_> = kinds.iter().map(table).collect();
    print(&texts.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn table(kind: &Kind) -> String {
    let mut text = format!("{}\n", kind.title);
    let width = kind.items.iter().map(|item| item.name.len()).max();
    let width = width.unwrap_or(0);
    for item in &kind.items {
        let _ = writeln!(text, "  {:width$}  {}", item.name, item.summary);
    }
    text
}
