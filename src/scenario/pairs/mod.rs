//! Which options do not go together, and why: one table.
//!
//! Guarantees: a scenario that has both options of a row is refused, with the key of one, the other and the reason; two options of
//! which no row has both go together as far as options go (sizes, names and places are asked where they are read).
//! A test compares the table with what is refused for all pairs; `docs/model.md` has the rules behind the reasons.
//! Cost: O(rows).

mod feature;
mod table;

pub use feature::Feature;
pub use table::PAIRS;

use super::sections::Scenario;
use super::syntax::Mistake;
use crate::plan::Plan;
use crate::routing::Routes;

/// Two options that do not go together.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// The one whose key is told.
    pub first: Feature,
    /// The other one.
    pub second: Feature,
    /// Why, and what helps.
    pub why: &'static str,
}

/// What is known of a scenario.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// As it is written.
    pub scenario: &'a Scenario,
    /// What it means, once that is known.
    pub plan: Option<&'a Plan>,
    /// Its routes, once they are known.
    pub routes: Option<&'a Routes>,
}

/// Refuses the first pair that does not go together, as far as is known.
///
/// # Errors
/// The mistake of the first option's key.
pub(super) fn check(given: &Given<'_>) -> Result<(), Mistake> {
    let mut both = PAIRS.iter();
    let found = both.find(|pair| pair.first.is_on(given) && pair.second.is_on(given));
    found.map_or(Ok(()), |pair| Err(pair.mistake(given)))
}

impl Pair {
    fn mistake(&self, given: &Given<'_>) -> Mistake {
        let engine = &given.scenario.routing.name.value;
        let other = match self.second {
            Feature::Adaptive | Feature::Open => format!("`routing: {engine}`"),
            Feature::OpenVoq => format!("`queues: Voq` and `routing: {engine}`"),
            other => String::from(other.words()),
        };
        let rest = format!("does not go with {other}: {}", self.why);
        self.first.mistake(given, &rest)
    }
}
