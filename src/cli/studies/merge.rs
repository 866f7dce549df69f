//! `virtlane merge`: shards of a sweep become one.

use super::sweep::{shown, verdict};
use crate::cli::args::Merge;
use crate::error::{EXPECTATION_FAILED, Error};
use crate::study::directory::finished;
use crate::study::{Missing, Record, Table, merge};
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

/// Points with missing runs that are listed at most.
const MOST_LISTED: usize = 50;

/// Joins the directories and writes the table; what is missing is told, with the exit code 1.
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
    let code = verdict(&table);
    if missing.is_empty() {
        return Ok(code);
    }
    crate::cli::complain(&told(&record, &missing, &arguments.out));
    Ok(if code == ExitCode::SUCCESS {
        ExitCode::from(EXPECTATION_FAILED)
    } else {
        code
    })
}

/// Which runs are missing, by point, and how they are made.
fn told(record: &Record, missing: &[Missing], out: &Path) -> String {
    let design = &record.design;
    let (out, count) = (out.display(), missing.len());
    let mut text = format!(
        "{count} of {} runs are missing: `virtlane sweep FILE --out {out}` makes them\n",
        design.runs.len()
    );
    let point = |missing: &Missing| design.runs[missing.run].point;
    let mut points: Vec<_> = missing.chunk_by(|a, b| point(a) == point(b)).collect();
    let more = points.len().saturating_sub(MOST_LISTED);
    points.truncate(MOST_LISTED);
    for runs in points {
        let seeds = runs.iter().map(|run| design.runs[run.run].seed.to_string());
        let seeds: Vec<_> = seeds.collect();
        let word = if seeds.len() == 1 { "seed" } else { "seeds" };
        let (point, values) = (point(&runs[0]), design.describe(point(&runs[0])));
        let (number, seeds) = (point + 1, seeds.join(", "));
        let _ = writeln!(text, "  point {number} ({values}): {word} {seeds}");
        for damage in runs.iter().filter_map(|run| run.damage.as_ref()) {
            let _ = writeln!(text, "    {damage}");
        }
    }
    if more > 0 {
        let _ = writeln!(
            text,
            "  and runs of {more} more points: `virtlane sweep FILE --out {out} --dry-run` lists all"
        );
    }
    text.truncate(text.trim_end().len());
    text
}
