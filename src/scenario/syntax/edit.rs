//! Changing one value of the tree by its key path: `--set` and the axes of sweeps.
//!
//! A path is keys joined by `.`; a list element is its number or, where elements have a `name`, that name:
//! `traffic.0.process.load`, `traffic[0].process.load` and `traffic.bulk.process.load` are the same value.
//! Missing keys are created; whether the key exists at all is decided when the scenario is read.

use super::doubles::once;
use super::parser::parse;
use super::path::{element, split};
use super::{Field, Mistake, Node, Place, Value};

/// Replaces the value at `path` by `text` (RON; anything else is taken as a string).
///
/// # Errors
/// When the path leads through a value that has no such key or element, or the value gives a key twice.
pub fn set(root: &mut Node, path: &str, text: &str, source: u32) -> Result<(), Mistake> {
    let node = at(root, path, Place { source, offset: 0 })?;
    let mut value = value(path, text, source)?;
    let bare = match &value.value {
        Value::Word(text) | Value::Number(text) => Some(text.clone()),
        _ => None,
    };
    if let (Value::Text(_), Some(bare)) = (&node.value, bare) {
        value.value = Value::Text(bare);
    }
    *node = value;
    Ok(())
}

/// Replaces the value at `path`, which is written at `place`, by a value of a file.
///
/// # Errors
/// When the path leads through a value that has no such key or element.
pub fn put(root: &mut Node, path: &str, value: Node, place: Place) -> Result<(), Mistake> {
    *at(root, path, place)? = value;
    Ok(())
}

/// The fields of a scenario, if it is a struct.
pub fn sections(root: &mut Node) -> Option<&mut Vec<Field>> {
    let fields = match &mut root.value {
        Value::Named(_, arguments) => &mut arguments.value,
        other => other,
    };
    match fields {
        Value::Struct(fields) => Some(fields),
        _ => None,
    }
}

/// The value at `path`; keys that lack are created.
fn at<'a>(root: &'a mut Node, path: &str, place: Place) -> Result<&'a mut Node, Mistake> {
    let keys = split(path);
    if keys.iter().any(String::is_empty) {
        let message = format!("`{path}` is not a key path: expected keys joined by `.`");
        return Err(Mistake::new(place, "", message));
    }
    let mut node = root;
    let mut walked = String::new();
    for key in &keys {
        node = step(node, key, &walked, place)?;
        if !walked.is_empty() {
            walked.push('.');
        }
        walked.push_str(key);
    }
    Ok(node)
}

/// The value of an assignment: RON when it is RON, else the text itself.
fn value(path: &str, text: &str, source: u32) -> Result<Node, Mistake> {
    let Ok(node) = parse(text, source) else {
        return Ok(Node {
            place: Place { source, offset: 0 },
            value: Value::Text(text.trim().to_owned()),
        });
    };
    once(&node, path)?;
    Ok(node)
}

/// Goes from a node to its child `key`, which is created when a section lacks it.
fn step<'a>(
    node: &'a mut Node,
    key: &str,
    walked: &str,
    place: Place,
) -> Result<&'a mut Node, Mistake> {
    open(node);
    let wrong = |message: String| Err(Mistake::new(place, walked, message));
    let quoted = node.quoted();
    match &mut node.value {
        Value::Struct(fields) => Ok(field(fields, key, place)),
        Value::Named(_, arguments) => step(arguments, key, walked, place),
        Value::List(nodes) => match element(nodes, key) {
            Ok(index) => Ok(&mut nodes[index]),
            Err(message) => wrong(message),
        },
        Value::Tuple(nodes) => match key.parse::<usize>() {
            Ok(index) if index < nodes.len() => Ok(&mut nodes[index]),
            _ => wrong(format!("there is no element `{key}` in {quoted}")),
        },
        _ => wrong(format!("{quoted} has no key `{key}`")),
    }
}

/// Makes a node ready to take keys: passes `Some(...)`, turns `Name`, `Name()`, `()` and `None` into sections, and `Preset(NAME)` into
/// `(preset: NAME)`.
fn open(node: &mut Node) {
    let place = node.place;
    match &mut node.value {
        Value::Named(name, arguments) if name == "Preset" => {
            if let Value::Tuple(nodes) = &mut arguments.value
                && nodes.len() == 1
                && let Some(value) = nodes.pop()
            {
                let key = "preset".to_owned();
                node.value = Value::Struct(vec![Field { key, place, value }]);
            }
        }
        Value::Named(name, arguments) if name == "Some" => {
            if let Value::Tuple(nodes) = &mut arguments.value
                && nodes.len() == 1
                && let Some(inner) = nodes.pop()
            {
                *node = inner;
                open(node);
            }
        }
        Value::Word(name) if name == "None" => node.value = Value::Struct(Vec::new()),
        Value::Word(name) if name.starts_with(char::is_uppercase) => {
            let value = Value::Struct(Vec::new());
            let name = std::mem::take(name);
            node.value = Value::Named(name, Box::new(Node { place, value }));
        }
        Value::Tuple(nodes) if nodes.is_empty() => node.value = Value::Struct(Vec::new()),
        _ => {}
    }
}

fn field<'a>(fields: &'a mut Vec<Field>, key: &str, place: Place) -> &'a mut Node {
    let known = fields.iter().position(|field| field.key == key);
    let index = known.unwrap_or_else(|| {
        let value = Node {
            place,
            value: Value::Struct(Vec::new()),
        };
        let key = key.to_owned();
        fields.push(Field { key, place, value });
        fields.len() - 1
    });
    &mut fields[index].value
}
