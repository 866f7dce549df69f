//! Keys of a `GraphML` file, and the attributes that nodes and edges have by them.
//!
//! Fails with: [`LineError`], when a key has two meanings, or a node or edge two values of an attribute that is read.
//! Cost: O(text) time and memory.

use crate::topology::formats::fabric_file::LineError;
use roxmltree::Node;
use std::collections::{BTreeMap, HashMap};

/// Attributes that are read; of others a second value does no harm.
const READ: [&str; 13] = [
    "kind",
    "type",
    "name",
    "label",
    "source_port",
    "target_port",
    "rate",
    "latency",
    "rate_back",
    "latency_back",
    "LinkSpeedRaw",
    "LinkSpeed",
    "LinkSpeedUnits",
];

/// An error at a node of the document.
pub(crate) fn at(node: Node<'_, '_>, reason: impl Into<String>) -> LineError {
    let position = node.document().text_pos_at(node.range().start);
    LineError::new(position.row as usize, reason)
}

/// The elements of that name below a node.
pub(crate) fn elements<'a, 'input>(
    node: Node<'a, 'input>,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'input>> {
    let children = node.children();
    children.filter(move |child| child.is_element() && child.tag_name().name() == name)
}

/// What the keys of the file mean.
pub(crate) struct Keys<'a> {
    /// Attribute name by id of the key.
    names: HashMap<&'a str, &'a str>,
    /// Value of attributes that are not given: (of node or edge, name, value).
    defaults: Vec<(&'a str, &'a str, &'a str)>,
}

impl<'a> Keys<'a> {
    /// The keys of a document by its root.
    pub(crate) fn new(root: Node<'a, '_>) -> Result<Self, LineError> {
        let (mut names, mut defaults) = (HashMap::new(), Vec::new());
        for key in elements(root, "key") {
            let Some(id) = key.attribute("id") else {
                continue;
            };
            let name = key.attribute("attr.name").unwrap_or(id);
            if let Some(other) = names.insert(id, name).filter(|other| *other != name) {
                let reason = format!(
                    "key `{id}` is `{name}` here and `{other}` before, expected one of them"
                );
                return Err(at(key, reason));
            }
            let default = elements(key, "default").next();
            if let Some(value) = default.and_then(|node| node.text()) {
                let of = key.attribute("for").unwrap_or("all");
                defaults.push((of, name, value.trim()));
            }
        }
        Ok(Self { names, defaults })
    }

    /// Attributes of a node or edge by name.
    pub(crate) fn attributes(
        &self,
        node: Node<'a, '_>,
    ) -> Result<BTreeMap<&'a str, &'a str>, LineError> {
        let mut attributes = BTreeMap::new();
        for data in elements(node, "data") {
            let (Some(key), Some(value)) = (data.attribute("key"), data.text()) else {
                continue;
            };
            let name = self.names.get(key).copied().unwrap_or(key);
            let value = value.trim();
            if let Some(other) = attributes.insert(name, value)
                && other != value
                && READ.contains(&name)
            {
                let reason =
                    format!("`{name}` is `{value}` here and `{other}` before, expected one value");
                return Err(at(data, reason));
            }
        }
        let kind = node.tag_name().name();
        for &(of, name, value) in &self.defaults {
            if of == kind || of == "all" {
                attributes.entry(name).or_insert(value);
            }
        }
        Ok(attributes)
    }
}
