//! `virtlane merge`: shards of a sweep become one.

use super::sweep::{shown, verdict};
use crate::cli::args::Merge;
use crate::error::Error;
use crate::study::directory::finished;
use crate::study::{Table, merge};
use std::process::ExitCode;

/// Joins the directories and writes the table.
///
/// # Errors
/// When they are not parts of one study, or something cannot be written.
pub(in crate::cli) fn execute(arguments: &Merge) -> Result<ExitCode, Error> {
    let (record, missing) = merge(&arguments.parts, &arguments.out, arguments.force)?;
    let mut table = Table::new(&record.design);
    for (run, key) in record.design.runs.iter().enumerate() {
        if let Some(finished) = finished(&arguments.out, key)? {
            table.enter(run, &finished);
        }
    }
    if !arguments.quiet {
        crate::cli::print(&shown(&record, &table, &arguments.out))?;
    }
    if !missing.is_empty() {
        let out = arguments.out.display();
        crate::cli::complain(&format!(
            "{} runs are missing: `virtlane sweep FILE --out {out}` makes them",
            missing.len()
        ));
    }
    Ok(verdict(&table))
}
