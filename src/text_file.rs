//! Texts of files, without the byte-order mark that some programs put before them.

use std::io;
use std::path::Path;

/// The mark, U+FEFF.
const MARK: char = '\u{feff}';

/// A text without the mark it may begin with.
pub fn without_mark(text: &str) -> &str {
    text.strip_prefix(MARK).unwrap_or(text)
}

/// The text of a file without its mark.
///
/// # Errors
/// When it cannot be read, or is not UTF-8.
pub fn read(path: &Path) -> io::Result<String> {
    std::fs::read_to_string(path).map(owned)
}

/// The text of a file without its mark; bytes that are not UTF-8 become the replacement character.
///
/// # Errors
/// When it cannot be read.
pub fn read_lossy(path: &Path) -> io::Result<String> {
    let bytes = std::fs::read(path)?;
    Ok(owned(String::from_utf8_lossy(&bytes).into_owned()))
}

/// A text without the mark it may begin with.
pub fn owned(mut text: String) -> String {
    if text.starts_with(MARK) {
        text.drain(..MARK.len_utf8());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_at_the_beginning_is_skipped_and_no_other() {
        assert_eq!(without_mark("\u{feff}a\u{feff}"), "a\u{feff}");
        assert_eq!(owned("\u{feff}\u{feff}a".into()), "\u{feff}a");
        assert_eq!(owned("a".into()), "a");
    }
}
