//! Calibrated load: the sum of the peaks of a group of service levels over the whole fabric stays below what was found to be
//! its saturation (000 S-24, equation 5.1; 003 S14).
//!
//! # Rules
//! 1. A request of a level of a group is granted if the group's sum and its peak are together less than the group's limit.
//! 2. Levels of no group are not limited.
//! 3. A flow that is over is taken out of the sum.
//!
//! It knows nothing of where flows go. Cost: O(groups) per request.

use super::{
    Admission, AdmissionContext, BuildAdmission, DeskState, Fabric, Request, Shown, invalid,
};
use crate::control::ONE_FLIT_PER_CYCLE;
use crate::references::{REINEMO, SEM_JACOBSEN};
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use serde::Deserialize;
use std::sync::Arc;

/// Registers `CalibratedLoad`.
pub(super) const ENTRY: Entry<BuildAdmission> = Entry {
    name: "CalibratedLoad",
    aliases: &["CL"],
    summary: "the sum of all peaks of a group of service levels stays below a limit of the whole fabric",
    parameters: &[Parameter {
        name: "groups",
        kind: "[(service levels: [0..=15], limit: number > 0 [flits per cycle])]",
        default: None,
        summary: "service levels with a limit for the sum of their peaks",
    }],
    guarantees: &["the sum of a group is less than its limit at any time"],
    references: &[REINEMO, SEM_JACOBSEN],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "CalibratedLoad")]
struct Written {
    groups: Vec<(Vec<u8>, f64)>,
}

/// Levels and limits \[2^-32 flits per cycle\].
#[derive(Debug)]
struct CalibratedLoad(Vec<(Vec<u8>, u64)>);

impl CalibratedLoad {
    /// Limit and sum of the group of a service level; `None`: it is in none.
    fn group<'a>(&self, desk: &'a mut DeskState, level: u8) -> Option<(u64, &'a mut u64)> {
        let mut groups = self.0.iter().zip(desk);
        let own = groups.find(|((levels, _), _)| levels.contains(&level));
        own.map(|((_, limit), sum)| (*limit, sum))
    }
}

impl Admission for CalibratedLoad {
    fn start(&self, _: Fabric<'_>) -> DeskState {
        vec![0; self.0.len()]
    }

    fn ask(&self, desk: &mut DeskState, request: &Request, _: Shown<'_>) -> bool {
        let Some((limit, sum)) = self.group(desk, request.level) else {
            return true;
        };
        let grants = *sum + request.peak < limit;
        if grants {
            *sum += request.peak;
        }
        grants
    }

    fn refuses_for_ever(&self) -> bool {
        true
    }

    fn limited(&self) -> Option<[bool; 16]> {
        let is_limited = |level| self.0.iter().any(|(levels, _)| levels.contains(&level));
        Some(std::array::from_fn(|level| is_limited(level as u8)))
    }

    fn release(&self, desk: &mut DeskState, request: &Request) {
        if let Some((_, sum)) = self.group(desk, request.level) {
            *sum -= request.peak;
        }
    }
}

fn build(
    arguments: Arguments<'_>,
    _: AdmissionContext,
) -> Result<Arc<dyn Admission>, ArgumentError> {
    let Written { groups } = arguments.parse()?;
    if groups.is_empty() || groups.iter().any(|(levels, _)| levels.is_empty()) {
        return Err(invalid(String::from(
            "`groups`: expected at least one group, each with at least one service level, such as `[([0, 1], 0.5)]`",
        )));
    }
    let mut known = [false; 16];
    let mut all = Vec::new();
    for (levels, limit) in groups {
        for &level in &levels {
            match known.get_mut(usize::from(level)) {
                Some(known) if !*known => *known = true,
                Some(_) => {
                    return Err(invalid(format!(
                        "`groups`: service level {level} is in two groups"
                    )));
                }
                None => {
                    return Err(invalid(format!(
                        "`groups`: there is no service level {level}: expected 0 to 15"
                    )));
                }
            }
        }
        if !(limit > 0.0 && limit < 1e9) {
            return Err(invalid(format!(
                "`groups`: a limit is {limit}: expected a number above 0 and below 10^9 [flits per cycle]"
            )));
        }
        all.push((levels, (limit * ONE_FLIT_PER_CYCLE as f64) as u64));
    }
    Ok(Arc::new(CalibratedLoad(all)))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{build, request};
    use super::*;

    /// The sum stays strictly below the limit, and a refusal changes nothing (A-6D).
    #[test]
    fn a_group_is_filled_up_to_its_limit() {
        let control = build("CalibratedLoad(groups: [([0, 1], 1.0), ([2], 0.25)])");
        let mut desk = control.start(Fabric { paces: &[] });
        let half = ONE_FLIT_PER_CYCLE / 2;
        let mut ask = |level, peak| control.ask(&mut desk, &request(level, peak), Shown::default());
        assert!(ask(0, half));
        assert!(!ask(1, half), "the limit itself is too much");
        assert!(ask(1, half - 1));
        assert!(!ask(0, 1));
        assert!(!ask(2, half / 2));
        assert!(ask(2, half / 2 - 1));
        assert!(ask(3, 99 * half), "of no group");
    }
}
