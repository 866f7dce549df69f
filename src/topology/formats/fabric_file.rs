//! Reads fabric files and says where in one something is wrong.

use crate::text_file;
use crate::topology::TopologyError;
use std::io;
use std::path::Path;

/// Something wrong on one line of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LineError {
    /// Line, from 1; 0 = the whole file.
    pub(in crate::topology) line: usize,
    /// What is wrong and what is allowed.
    pub(in crate::topology) reason: String,
}

impl LineError {
    /// An error on a line.
    pub(in crate::topology) fn new(line: usize, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self { line, reason }
    }

    /// The error of the file as the scenario names it.
    pub(super) fn in_file(self, file: &str) -> TopologyError {
        TopologyError::File {
            file: file.to_owned(),
            line: self.line,
            reason: self.reason,
        }
    }
}

/// Text of `file`; a relative name starts from `base`. Bytes that are not UTF-8 (node descriptions are
/// free text) become the replacement character.
pub(in crate::topology) fn read(base: &Path, file: &str) -> Result<String, TopologyError> {
    text_file::read_lossy(&base.join(file)).map_err(|error| unreadable(&error, file))
}

/// Bytes of `file`, likewise.
pub(in crate::topology) fn bytes(base: &Path, file: &str) -> Result<Vec<u8>, TopologyError> {
    std::fs::read(base.join(file)).map_err(|error| unreadable(&error, file))
}

fn unreadable(error: &io::Error, file: &str) -> TopologyError {
    let reason =
        format!("cannot be read: {error}; relative names start from the folder of the scenario");
    LineError::new(0, reason).in_file(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_named_as_written() {
        assert_eq!(
            read(Path::new("assets"), "no/such.file")
                .unwrap_err()
                .to_string(),
            "no/such.file: cannot be read: No such file or directory (os error 2); relative names start from the \
             folder of the scenario"
        );
    }
}
