//! The claims of a scenario against its result: a scenario is its own test.

use crate::report::summary::look_up;
use crate::report::{RunResult, summarize};
use crate::scenario::schema::{Expectation, Relation, Tolerance};
use serde_json::Value;
use std::fmt;

/// A claim with what was found.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    metric: String,
    relation: Relation,
    value: f64,
    tolerance: Tolerance,
    source: String,
    found: Option<f64>,
    /// Whether the claim holds.
    pub(super) holds: bool,
}

/// Compares every expectation with the summary of the run.
pub(super) fn judge(expectations: &[Expectation], result: &RunResult) -> Vec<Claim> {
    let summary = serde_json::to_value(summarize(result)).unwrap_or(Value::Null);
    let claim = |expectation: &Expectation| {
        let found = look_up(&summary, &expectation.metric.value);
        Claim {
            metric: expectation.metric.value.clone(),
            relation: expectation.relation,
            value: expectation.value,
            tolerance: expectation.tolerance,
            source: expectation.source.clone(),
            found,
            holds: found.is_some_and(|found| expectation.holds(found)),
        }
    };
    expectations.iter().map(claim).collect()
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let relation = match self.relation {
            Relation::Equals => "=",
            Relation::AtLeast => ">=",
            Relation::AtMost => "<=",
        };
        write!(f, "{} {relation} {}", self.metric, self.value)?;
        match self.tolerance {
            Tolerance::Absolute(slack) if slack > 0.0 => write!(f, " +- {slack}")?,
            Tolerance::Relative(part) if part > 0.0 => write!(f, " +- {} %", part * 100.0)?,
            _ => {}
        }
        match self.found {
            Some(found) => write!(f, ", found {found:.6}")?,
            None => write!(f, ", but the summary has no such number")?,
        }
        if self.source.is_empty() {
            Ok(())
        } else {
            write!(f, " ({})", self.source)
        }
    }
}

/// All claims as lines for people; empty without claims.
pub(super) fn table(claims: &[Claim]) -> String {
    let line = |claim: &Claim| {
        format!(
            "{}  {claim}\n",
            if claim.holds { "holds " } else { "FAILED" }
        )
    };
    let lines: String = claims.iter().map(line).collect();
    if lines.is_empty() {
        lines
    } else {
        format!("\nexpected\n{lines}")
    }
}
