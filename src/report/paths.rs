//! Values of a summary by their path.

use serde_json::Value;

/// The number at a path such as `latency.network.mean` or `classes.bulk.accepted`: list entries go by their
/// `name` or number.
pub fn look_up(summary: &Value, path: &str) -> Option<f64> {
    path.split('.').try_fold(summary, step)?.as_f64()
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
