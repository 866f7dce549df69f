//! Names for formats that quote them.

/// A name without what would end a quoted text or a line.
pub(super) fn quotable(name: &str) -> String {
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    name.replace('"', "'").chars().map(plain).collect()
}
