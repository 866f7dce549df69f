//! The flow level of a scenario, for claims about it.

use crate::flow_level::{self, Summary};
use crate::scenario::{Document, Parts};
use serde_json::Value;

/// The summary of its runs; `null` when they cannot be made.
pub(super) fn summary(document: &Document) -> Value {
    let Ok(scenario) = document.fluid(&Parts::registered()) else {
        return Value::Null;
    };
    let results = flow_level::run(document, &scenario, false);
    results.map_or(Value::Null, |results| Summary::new(&results).value())
}
