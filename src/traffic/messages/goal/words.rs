//! The words of a GOAL schedule with their lines, without blanks and comments.

use super::Wrong;

/// A word and its line, from 1.
pub(super) type Word<'a> = (u64, &'a str);

/// All words; braces and colons are words of their own, blanks and ends of lines only separate.
///
/// # Errors
/// A comment that does not end.
pub(super) fn words(text: &str) -> Result<Vec<Word<'_>>, Wrong> {
    let mut words = Vec::new();
    let (mut line, mut rest) = (1, text);
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(comment) = rest.strip_prefix("/*") {
            let end = comment.find("*/");
            4 + end.ok_or_else(|| (line, "the comment does not end: `*/` is missing".into()))?
        } else if first.is_whitespace() {
            first.len_utf8()
        } else if is_mark(first) {
            words.push((line, &rest[..1]));
            1
        } else {
            let length = length(rest);
            words.push((line, &rest[..length]));
            length
        };
        let (read, after) = rest.split_at(length);
        line += read.matches('\n').count() as u64;
        rest = after;
    }
    Ok(words)
}

const fn is_mark(letter: char) -> bool {
    matches!(letter, '{' | '}' | ':')
}

/// Bytes of the word at the beginning.
fn length(text: &str) -> usize {
    let ends = text.char_indices().find(|&(place, letter)| {
        let is_comment = ["//", "/*"]
            .iter()
            .any(|start| text[place..].starts_with(start));
        letter.is_whitespace() || is_mark(letter) || is_comment
    });
    ends.map_or(text.len(), |(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_blanks_separate() {
        let text = "a:b/* x\n // */{ c//d\n\n}e/**/f";
        let expected = [
            (1, "a"),
            (1, ":"),
            (1, "b"),
            (2, "{"),
            (2, "c"),
            (4, "}"),
            (4, "e"),
            (4, "f"),
        ];
        assert_eq!(words(text).unwrap(), expected);
        assert_eq!(words("a\n/* b").unwrap_err().0, 2);
        assert_eq!(words("/*/").unwrap_err().0, 1);
        assert!(words("").unwrap().is_empty());
    }
}
