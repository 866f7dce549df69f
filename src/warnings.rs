//! What is said about an input that goes on all the same: to the log, each of it once, since a study reads the same input many times.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Warns, unless it was said before.
pub fn once(note: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.insert(note.to_owned()) {
        tracing::warn!("{note}");
    }
}
