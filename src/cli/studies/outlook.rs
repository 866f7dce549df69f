//! What is told of runs that cannot be simulated, before any begins.

use crate::error::Error;
use crate::scenario::{Document, Known};
use crate::study::{Crew, Design, Outlook};
use std::sync::atomic::AtomicBool;

/// Looks at all runs of a design with all cores.
///
/// # Errors
/// When a value of an axis does not fit its key.
pub(in crate::cli) fn of_all(
    document: &Document,
    design: &Design,
    known: &Known,
) -> Result<Outlook, Error> {
    let runs: Vec<usize> = (0..design.runs.len()).collect();
    let crew = Crew::new(None, None, runs.len());
    let (threads, stop) = (crew.slots * crew.threads, AtomicBool::new(false));
    Ok(Outlook::new(
        document, design, &runs, threads, known, &stop,
    )?)
}

/// Tells what cannot be simulated.
///
/// # Errors
/// When there is something, and the others are not to be made without it.
pub(in crate::cli) fn require(
    outlook: &Outlook,
    design: &Design,
    keep_going: bool,
) -> Result<(), Error> {
    if outlook.is_bright() {
        return Ok(());
    }
    let told = outlook.told(design);
    if keep_going {
        crate::cli::note(&told);
        return Ok(());
    }
    Err(Error::Usage(format!(
        "{told}\nnothing is made of the others either: `--keep-going` makes them"
    )))
}
