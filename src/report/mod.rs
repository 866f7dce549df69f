//! What a run leaves behind: pure functions from a [`RunResult`] to text, and the directory that holds it.
//!
//! ```text
//! RunDirectory::create_*  ->  simulation  ->  write_run  ->  RunDirectory::finish
//! (fails early)                               (files)        (one rename)
//! ```

pub mod columns;
pub mod directory;
pub mod hlog;
pub mod loads;
pub mod manifest;
pub mod packets;
#[cfg(feature = "parquet")]
pub mod parquet_form;
mod paths;
pub mod result;
pub mod summary;
pub mod table;
pub mod tables;
#[cfg(test)]
mod tests;
pub mod trace;
pub mod usage;

pub use directory::RunDirectory;
pub use packets::PacketFile;
pub use result::{RunResult, Verdict};
pub use summary::{Summary, summarize, summary_json};
pub use table::human_table;
pub use trace::SpanRecord;
pub use usage::{Usage, usage};

use std::io;
use std::path::PathBuf;

/// Every way results cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The place asked for holds a finished run.
    #[error(
        "`{}` already holds a run; finished runs are never overwritten: choose another directory or remove it",
        .0.display()
    )]
    Finished(PathBuf),
    /// The place asked for holds something else.
    #[error("`{}` is not empty; choose a new or an empty directory", .0.display())]
    NotEmpty(PathBuf),
    /// The place asked for cannot be a directory.
    #[error("`{}` cannot be a run directory", .0.display())]
    NotADirectory(PathBuf),
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

/// Writes every file of a run into `directory`; `trace.json` only when there are spans.
///
/// # Errors
/// When a file cannot be made or written; the directory is then to be dropped, not finished.
pub fn write_run(
    directory: &RunDirectory,
    result: &RunResult,
    packets: Option<PacketFile>,
    spans: &[SpanRecord],
) -> Result<(), ReportError> {
    directory.write("summary.json", summary_json(result).as_bytes())?;
    directory.write("latency.hlog", &hlog::interval_log(result)?)?;
    for table in tables::all(result) {
        for (file, content) in table.forms()? {
            directory.write(&file, &content)?;
        }
    }
    if let Some(packets) = packets {
        packets.finish(directory, result.verdict == Verdict::Interrupted)?;
        #[cfg(feature = "parquet")]
        parquet_form::packets(directory)?;
    }
    if !spans.is_empty() {
        directory.write("trace.json", trace::chrome_trace(spans).as_bytes())?;
    }
    directory.write("manifest.ron", manifest::manifest(result)?.as_bytes())
}
