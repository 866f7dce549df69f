//! Values of a summary by their path.

use serde_json::{Map, Value};

/// The number at a path such as `latency.network.mean` or `classes.bulk.accepted`: list entries go by their
/// `name` or number.
pub fn look_up(summary: &Value, path: &str) -> Option<f64> {
    at(summary, path)?.as_f64()
}

/// What stands at a path.
pub fn at<'a>(summary: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(summary, step)
}

fn step<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    match value {
        Value::Array(entries) => {
            let named = entries
                .iter()
                .find(|entry| entry.get("name").and_then(Value::as_str) == Some(key));
            named.or_else(|| entries.get(key.parse::<usize>().ok()?))
        }
        _ => value.get(key),
    }
}

/// Puts a value at a path, in objects made where there are none. Inside what has no value there is nothing to put.
pub(super) fn set(object: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        None => drop(object.insert(path.to_owned(), value)),
        Some((key, rest)) => {
            let inner = object.entry(key).or_insert_with(|| Map::new().into());
            if let Some(inner) = inner.as_object_mut() {
                set(inner, rest, value);
            }
        }
    }
}
