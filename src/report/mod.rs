//! What a run leaves behind: pure functions from a [`RunResult`] to text, and the directory that holds it.
//!
//! ```text
//! RunDirectory::create_*  ->  simulation  ->  write_run  ->  RunDirectory::finish
//! (fails early)                               (files)        (one rename)
//! ```

pub mod columns;
pub mod directory;
mod flow_results;
pub mod flow_tables;
pub mod hlog;
pub mod manifest;
pub mod packets;
#[cfg(feature = "parquet")]
pub mod parquet_form;
pub mod reservation;
pub mod result;
pub mod summary;
pub mod table;
pub mod tables;
#[cfg(test)]
mod tests;
pub mod trace;
pub mod usage;

pub use directory::{Replaces, RunDirectory};
pub use packets::PacketFile;
pub use reservation::{Hold, Holder, Leftover, leftovers};
pub use result::{RunResult, Verdict};
pub use summary::{Summary, summarize, summary_json};
pub use table::{human_table, results_line};
pub use trace::SpanRecord;
pub use usage::{Usage, usage};

use std::io;
use std::path::PathBuf;

/// Every way results cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The place asked for holds a finished run.
    #[error(
        "`{}` already holds a run; finished runs are never overwritten: choose another directory, or --force to replace it at the end",
        .0.display()
    )]
    Finished(PathBuf),
    /// The place asked for holds something else.
    #[error("`{}` is not empty; choose a new or an empty directory", .0.display())]
    NotEmpty(PathBuf),
    /// The place asked for cannot be a directory.
    #[error("`{}` cannot be a run directory: {why}", .path.display())]
    NotADirectory {
        /// The place.
        path: PathBuf,
        /// What it is instead.
        why: &'static str,
    },
    /// The place asked for is a link that leads nowhere.
    #[error(
        "`{}` is a link to `{}`, which is not there: make that directory, or choose another",
        .path.display(), .target.display()
    )]
    Dangling {
        /// The link.
        path: PathBuf,
        /// What it names.
        target: PathBuf,
    },
    /// Another process makes a run directory of this name.
    #[error(
        "another run writes to this place{}: choose another, or wait for it", of(.holder.as_ref())
    )]
    Busy {
        /// Its unfinished directory.
        path: PathBuf,
        /// Who it is.
        holder: Option<Holder>,
    },
    /// Something has the unfinished name, and whether anybody still uses it cannot be known here.
    #[error(
        "`{}` has taken this place{}, and cannot be judged from here: if that run is over, look at what it left and remove it, \
         or choose another place", .path.display(), of(.holder.as_ref())
    )]
    Left {
        /// The unfinished directory.
        path: PathBuf,
        /// Who made it.
        holder: Option<Holder>,
    },
    /// The file system refuses.
    #[error("cannot write `{}`: {error}", .path.display())]
    Io {
        /// What was to be written.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A table cannot be made.
    #[error("cannot make `{file}`: {reason}")]
    Format {
        /// Name of the file within the run directory.
        file: &'static str,
        /// What went wrong.
        reason: String,
    },
}

/// `: process 12 on ..`, or nothing.
fn of(holder: Option<&Holder>) -> String {
    holder.map_or(String::new(), |holder| format!(": {holder}"))
}

/// Writes every file of a run into `directory`; `trace.json` only when there are spans.
///
/// A file that cannot be written costs no other one: they are tried from the most telling to the manifest, which is
/// written only when all others are. Records of packets that a full disk has cut short make room for the tables.
///
/// # Errors
/// The first failure; the directory is then to be dropped or kept as incomplete, not finished.
pub fn write_run(
    directory: &RunDirectory,
    result: &RunResult,
    packets: Option<PacketFile>,
    spans: &[SpanRecord],
) -> Result<(), ReportError> {
    let mut written = write_tables(directory, result, spans);
    if let Some(mut packets) = packets {
        if written.is_err() && packets.makes_room() {
            written = write_tables(directory, result, spans);
        }
        let may_go_on = result.verdict == Verdict::Interrupted;
        let placed = packets.finish(directory, may_go_on, written.is_ok());
        #[cfg(feature = "parquet")]
        let placed = placed.and_then(|()| parquet_form::packets(directory));
        written = written.and(placed);
    }
    written?;
    directory.write(manifest::FILE, manifest::manifest(result)?.as_bytes())
}

/// Writes what is made of the result alone, as much as can be.
fn write_tables(
    directory: &RunDirectory,
    result: &RunResult,
    spans: &[SpanRecord],
) -> Result<(), ReportError> {
    let mut written = directory.write("summary.json", summary_json(result).as_bytes());
    let log = hlog::interval_log(result).and_then(|log| directory.write("latency.hlog", &log));
    written = written.and(log);
    for table in tables::all(result) {
        for (file, content) in table.forms()? {
            written = written.and(directory.write(&file, &content));
        }
    }
    if !spans.is_empty() {
        let trace = trace::chrome_trace(spans);
        written = written.and(directory.write("trace.json", trace.as_bytes()));
    }
    written
}
