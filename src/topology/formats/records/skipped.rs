//! Lines of a fabric file that mean nothing.

use super::{assignment, bracket_number, node_keyword};

/// What to say about lines that are no comments and tell nothing of a node; `None` where there are none.
pub(in crate::topology::formats) fn note(file: &str, text: &str) -> Option<String> {
    let means_nothing = |line: &str| {
        let is_known = line.is_empty()
            || line.starts_with('#')
            || bracket_number(line).is_some()
            || node_keyword(line).is_some()
            || assignment(line).is_some();
        !is_known
    };
    let lines = (1..).zip(text.lines().map(str::trim_end));
    let mut skipped = lines.filter(|(_, line)| means_nothing(line));
    let (number, first) = skipped.next()?;
    let count = 1 + skipped.count();
    let are = if count == 1 { "line is" } else { "lines are" };
    Some(format!(
        "{file}: {count} {are} skipped, neither comment nor node, port or `name=value`: the first is line {number}, `{first}`"
    ))
}
