//! The values of a plan by key path, for telling runs apart.

use super::{ResultsError, Run};
use crate::report::manifest;
use crate::scenario::names::without_seeds;
use crate::scenario::syntax::parser::parse;
use crate::scenario::syntax::{Node, Value};
use std::collections::BTreeMap;

/// Key path to value, as written.
pub type Settings = BTreeMap<String, String>;

/// Sections and keys that do not tell one simulated system from another: what a run is called, which random numbers it
/// draws, what is claimed about it, and limits that follow from other values. Keys called `seed` are left out everywhere.
const IGNORED: [&str; 5] = [
    "title",
    "sweep",
    "expect",
    "phases.drain",
    "phases.watchdog",
];

/// All values of a run's plan that say what was simulated.
///
/// # Errors
/// When the plan is not RON.
pub fn settings(run: &Run) -> Result<Settings, ResultsError> {
    let node = parse(&run.plan(), 0).map_err(|mistake| {
        let file = run.path.join(manifest::FILE);
        ResultsError::new(&file, format!("the plan is damaged: {}", mistake.message))
    })?;
    let mut settings = Settings::new();
    collect(&without_seeds(&node), "", &mut settings);
    settings.retain(|path, _| {
        let under = |key: &&str| path == *key || path.starts_with(&format!("{key}."));
        IGNORED.iter().find(|key| under(key)).is_none()
    });
    Ok(settings)
}

/// Whether this is the load that sources offer.
pub fn is_load(path: &str) -> bool {
    let mut keys = path.split('.');
    keys.next() == Some("traffic") && keys.next_back() == Some("load")
}

fn collect(node: &Node, path: &str, settings: &mut Settings) {
    let below = |key: &str| match path {
        "" => key.to_owned(),
        path => format!("{path}.{key}"),
    };
    match &node.value {
        Value::Struct(fields) => {
            for field in fields {
                collect(&field.value, &below(&field.key), settings);
            }
        }
        // the arrival process of a class: its load is a setting of its own
        Value::Named(name, arguments) if path.is_empty() || path.ends_with(".process") => {
            if !path.is_empty() {
                settings.insert(path.to_owned(), name.clone());
            }
            collect(arguments, path, settings);
        }
        Value::List(entries) if path == "traffic" => {
            for (number, entry) in entries.iter().enumerate() {
                let name = name_of(entry).unwrap_or_else(|| number.to_string());
                collect(entry, &below(&name), settings);
            }
        }
        Value::Text(text) => drop(settings.insert(path.to_owned(), text.clone())),
        _ => drop(settings.insert(path.to_owned(), node.to_text())),
    }
}

/// Value of the key `name` of a list element.
fn name_of(node: &Node) -> Option<String> {
    let Value::Struct(fields) = &node.value else {
        return None;
    };
    let field = fields.iter().find(|field| field.key == "name")?;
    match &field.value.value {
        Value::Text(name) => Some(name.clone()),
        _ => None,
    }
}
