//! Key paths: keys joined by `.`, elements of lists by their numbers or by their `name`.

use super::{Node, Value};
use crate::registry::unknown;

/// The keys of a path; `a[0].b` is the same as `a.0.b`.
pub fn split(path: &str) -> Vec<String> {
    path.replace('[', ".")
        .replace(']', "")
        .split('.')
        .map(|key| key.trim().to_owned())
        .collect()
}

/// Index of a list element by number or by its `name`.
///
/// # Errors
/// When there is none: what there is.
pub fn element(nodes: &[Node], key: &str) -> Result<usize, String> {
    if let Ok(index) = key.parse::<usize>() {
        return if index < nodes.len() {
            Ok(index)
        } else {
            Err(format!(
                "there is no element `{key}`: there are {}",
                nodes.len()
            ))
        };
    }
    let names: Vec<_> = nodes.iter().filter_map(name).collect();
    let position = nodes.iter().position(|node| name(node) == Some(key));
    position.ok_or_else(|| {
        if names.is_empty() {
            format!(
                "`{key}` is not the number of an element: there are {}",
                nodes.len()
            )
        } else {
            unknown("name", key, names.into_iter())
        }
    })
}

/// The value at a path below a node.
pub fn find<'a>(node: &'a Node, path: &str) -> Option<&'a Node> {
    let mut keys = split(path).into_iter().filter(|key| !key.is_empty());
    keys.try_fold(node, |node, key| Some(child(node, &key)?.0))
}

/// The keys of a path with all elements by their numbers: the same for paths that lead to the same value. Keys that are not
/// there stay as they are.
pub fn numbered(root: &Node, path: &str) -> Vec<String> {
    let mut node = Some(root);
    let mut keys = split(path);
    for key in &mut keys {
        let found = node.and_then(|node| child(node, key));
        node = found.as_ref().map(|(inner, _)| *inner);
        if let Some((_, number)) = found {
            *key = number;
        }
    }
    keys
}

/// What a key leads to, and the key, which is the number of an element.
fn child<'a>(node: &'a Node, key: &str) -> Option<(&'a Node, String)> {
    let number = |nodes: &'a [Node], index: usize| Some((nodes.get(index)?, index.to_string()));
    match &node.inside().value {
        Value::Struct(fields) => {
            let field = fields.iter().find(|field| field.key == key)?;
            Some((&field.value, key.to_owned()))
        }
        Value::Named(_, arguments) => child(arguments, key),
        Value::List(nodes) => number(nodes, element(nodes, key).ok()?),
        Value::Tuple(nodes) => number(nodes, key.parse().ok()?),
        _ => None,
    }
}

fn name(node: &Node) -> Option<&str> {
    let Value::Struct(fields) = &node.value else {
        return None;
    };
    let field = fields.iter().find(|field| field.key == "name")?;
    match &field.value.value {
        Value::Text(name) => Some(name),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::parser::parse;
    use super::*;

    const TEXT: &str = "Scenario(traffic: [(name: \"a\", size: \"64 B\"), (name: \"b\", process: Some(Bernoulli(load: 0.1)))], \
                        topology: File(speeds: Replace({\"x\": 1})))";

    #[test]
    fn paths_to_the_same_value_have_the_same_keys() {
        let root = parse(TEXT, 0).unwrap();
        let keys = |path: &str| numbered(&root, path).join(".");
        for path in [
            "traffic.b.process.load",
            "traffic.1.process.load",
            "traffic[1].process.load",
            "traffic.01. process.load",
        ] {
            assert_eq!(keys(path), "traffic.1.process.load", "{path}");
        }
        // what is not there may be made by the path
        assert_eq!(keys("traffic.c.size"), "traffic.c.size");
        assert_eq!(keys("traffic.a.flows.0.bytes"), "traffic.0.flows.0.bytes");
    }

    #[test]
    fn values_are_found_below_names_and_parentheses() {
        let root = parse(TEXT, 0).unwrap();
        let text = |path: &str| find(&root, path).map(Node::to_text);
        assert_eq!(text("traffic[1].process.load").as_deref(), Some("0.1"));
        assert_eq!(text(".topology.speeds[0]").as_deref(), Some("{\"x\": 1}"));
        assert_eq!(text("topology.speeds[1]"), None);
        assert_eq!(text("traffic.b.size"), None);
    }
}
