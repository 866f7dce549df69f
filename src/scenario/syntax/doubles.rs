//! What is given twice, so that one of the two would count for nothing without a word: keys of a section or map, and key paths
//! that are set one after the other.

use super::parser::parse;
use super::path::numbered;
use super::sense::sense;
use super::tree::quote;
use super::{At, Mistake, Node, Value};
use std::collections::BTreeSet;

/// Reads a whole text as one value in which no key is given twice.
///
/// # Errors
/// Where the text is not RON, or gives a key once more.
pub fn read(text: &str, source: u32) -> Result<Node, Mistake> {
    let node = parse(text, source)?;
    once(&node, "")?;
    Ok(node)
}

/// Refuses keys that a section or map has twice, in a node at `path` or below it.
///
/// # Errors
/// At the second of two equal keys.
pub fn once(node: &Node, path: &str) -> Result<(), Mistake> {
    let twice = |key: &str, place| {
        Err(Mistake::new(
            place,
            path,
            format!("the key {key} is given twice"),
        ))
    };
    match &node.inside().value {
        Value::Struct(fields) => {
            let mut known = BTreeSet::new();
            let dot = if path.is_empty() { "" } else { "." };
            for field in fields {
                if !known.insert(&field.key) {
                    return twice(&format!("`{}`", field.key), field.place);
                }
                once(&field.value, &format!("{path}{dot}{}", field.key))?;
            }
        }
        Value::Map(entries) => {
            let mut known = BTreeSet::new();
            for (key, value) in entries {
                let name = match &key.value {
                    Value::Text(text) => quote(text),
                    _ => sense(key),
                };
                if !known.insert(name) {
                    return twice(&key.quoted(), key.place);
                }
                once(value, path)?;
            }
        }
        Value::Named(_, arguments) => once(arguments, path)?,
        Value::List(nodes) | Value::Tuple(nodes) => {
            for (index, node) in nodes.iter().enumerate() {
                once(node, &format!("{path}[{index}]"))?;
            }
        }
        Value::Number(_) | Value::Text(_) | Value::Word(_) | Value::Verbatim(_) => {}
    }
    Ok(())
}

/// Key paths that are set one after the other: none may set again what one before it has set.
#[derive(Debug, Default)]
pub struct Assigned {
    /// Keys, and the path as it was written.
    known: Vec<(Vec<String>, String)>,
}

impl Assigned {
    /// The next key path, of a value below `root`.
    ///
    /// # Errors
    /// When a path before it leads to the same value or into it, whatever it calls elements of lists.
    pub fn add(&mut self, root: &Node, next: &At<String>) -> Result<(), Mistake> {
        let (keys, path) = (numbered(root, &next.value), &next.value);
        let lost = self
            .known
            .iter()
            .find(|(other, _)| other.starts_with(&keys));
        let message = match lost {
            None => {
                self.known.push((keys, path.clone()));
                return Ok(());
            }
            Some((_, other)) if other == path => {
                format!("`{path}` stands here twice: expected it once")
            }
            Some((other, written)) if *other == keys => {
                format!("`{path}` is `{written}`, which stands before it: expected it once")
            }
            Some((_, written)) => format!(
                "`{path}` sets `{written}` again, which stands before it: expected one of the two, or `{path}` first"
            ),
        };
        Err(next.mistake(message))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Place;
    use super::*;

    /// Place and path of the key that is there twice.
    fn doubled(text: &str) -> Option<(usize, String, String)> {
        let mistake = read(text, 0).err()?;
        Some((mistake.place.offset, mistake.path, mistake.message))
    }

    #[test]
    fn keys_stand_once_in_every_section_and_map() {
        let text = "S(a: {\"x\": 1, \"y\": 2}, b: (x: 1, y: [(x: 1), (x: 1)]), c: Named({1: 2}))";
        assert_eq!(doubled(text), None);
        for (text, place, path, key) in [
            ("S(a: 1, b: 2, a: 3)", 14, "", "`a`"),
            ("S(a: (b: 1, b: 1))", 12, "a", "`b`"),
            ("S(a: [1, (b: 1, b: 2)])", 16, "a[1]", "`b`"),
            ("S(a: {\"x\": 1, \"x\": 2})", 14, "a", "`\"x\"`"),
            ("S(a: {\"x\": 1, r\"x\": 2})", 14, "a", "`\"x\"`"),
            ("S(a: {1: 1, 01: 2})", 12, "a", "`01`"),
            ("S(a: Named({1: 1, 1: 2}))", 18, "a[0]", "`1`"),
            ("S(a: Some({1: (b: 1, b: 1)}))", 21, "a", "`b`"),
        ] {
            let message = format!("the key {key} is given twice");
            assert_eq!(doubled(text), Some((place, path.into(), message)), "{text}");
        }
        // names that are like quantities are names
        assert_eq!(doubled("S(a: {\"1 s\": 1, \"1000 ms\": 2})"), None);
    }

    #[test]
    fn what_one_path_has_set_no_other_sets_again() {
        let root = parse(
            "(traffic: [(name: \"u\", size: \"64 B\")], fabric: (flit: \"64 B\"))",
            0,
        );
        let root = root.unwrap();
        let refused = |paths: &[&str]| {
            let mut assigned = Assigned::default();
            let mut added = paths.iter().map(|path| {
                let (value, place) = ((*path).to_owned(), Place::default());
                let path = String::new();
                assigned.add(&root, &At { value, place, path })
            });
            added.find_map(Result::err).map(|mistake| mistake.message)
        };
        assert_eq!(
            refused(&["traffic", "traffic.0", "traffic.u.size", "fabric.flit"]),
            None
        );
        assert_eq!(
            refused(&["fabric.switch.lanes", "fabric.switch.lane"]),
            None
        );
        for (paths, words) in [
            (["fabric.flit", "fabric.flit"], "stands here twice"),
            (
                ["traffic.u.size", "traffic[0].size"],
                "`traffic[0].size` is `traffic.u.size`",
            ),
            (
                ["fabric.switch.lanes", "fabric.switch"],
                "or `fabric.switch` first",
            ),
            (
                ["traffic.0.size", "traffic"],
                "`traffic` sets `traffic.0.size` again",
            ),
        ] {
            let message = refused(&paths).unwrap();
            assert!(message.contains(words), "{message}");
        }
    }
}
