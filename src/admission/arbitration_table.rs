//! Arbitration tables: a flow takes a weight for its peak, and is granted while every channel of its way has room for it in the
//! arbitration table of its service level (003 S18, the second type of L611-615).
//!
//! # Rules
//! 1. A table of 64 entries of weight 255 is a channel: with its effective rate, `utilisation` of its rate, a flow takes
//!    ceil(peak * 64 * 255 / effective rate) of the 16,320 units.
//! 2. A flow is granted if every channel of its way, those of both hosts included, has so much left in the table that its service
//!    level is in. All or nothing: a request that is refused changes nothing.
//! 3. A flow that is over gives its weights back.
//! 4. `tables` says which service levels have a table together; those in none, best effort, are always granted and take nothing.
//!
//! # Deviations
//! The tables of the fabric stay as they are written: weights of lanes decide what they get at saturation, and flows that are
//! granted do not saturate. The first type of the source, which writes other weights into every switch of the way, is not
//! modelled: all ports of a fabric have the same tables.
//!
//! Cost: O(channels of the way) per request.

use super::{
    Admission, AdmissionContext, BuildAdmission, DeskState, Fabric, Request, Shown, check_part,
    invalid, rate,
};
use crate::references::SEM_JACOBSEN;
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use serde::Deserialize;
use std::sync::Arc;

/// Registers `ArbitrationTable`.
pub(super) const ENTRY: Entry<BuildAdmission> = Entry {
    name: "ArbitrationTable",
    aliases: &[],
    summary: "every channel of the way has room for the peak in an arbitration table of 64 entries of weight 255",
    parameters: &[
        Parameter {
            name: "utilisation",
            kind: "number in (0, 1]",
            default: Some("1"),
            summary: "what a full table is worth, as a part of a channel's rate",
        },
        Parameter {
            name: "tables",
            kind: "None | [[0..=15]]",
            default: Some("None"),
            summary: "service levels that have a table together; None = one table for all",
        },
    ],
    guarantees: &["the weights of the flows in a table are at most those that it has"],
    references: &[SEM_JACOBSEN],
    build,
};

/// Weight of a full table.
const FULL: u64 = 64 * 255;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "ArbitrationTable")]
struct Written {
    #[serde(default = "one")]
    utilisation: f64,
    #[serde(default)]
    tables: Option<Vec<Vec<u8>>>,
}

fn one() -> f64 {
    1.0
}

#[derive(Debug)]
struct ArbitrationTable {
    utilisation: f64,
    tables: usize,
    /// Table of each service level.
    of_level: [Option<usize>; 16],
}

/// The desk keeps the effective rates of the channels, then `[channel][table]` what is taken.
impl Admission for ArbitrationTable {
    fn start(&self, fabric: Fabric<'_>) -> DeskState {
        let rates = fabric.paces.iter();
        let mut desk: DeskState = rates.map(|&pace| rate(self.utilisation, pace)).collect();
        desk.resize(fabric.paces.len() * (1 + self.tables), 0);
        desk
    }

    fn ask(&self, desk: &mut DeskState, request: &Request, _: Shown<'_>) -> bool {
        let Some(table) = self.of_level[usize::from(request.level)] else {
            return true;
        };
        let (rates, taken) = self.parts(desk);
        let place = |channel: u32| channel as usize * self.tables + table;
        let fits = |&(channel, _): &(u32, u32)| {
            taken[place(channel)] + weight(rates, channel, request.peak) <= FULL
        };
        let grants = request.way.iter().all(fits);
        if grants {
            for &(channel, _) in &request.way {
                taken[place(channel)] += weight(rates, channel, request.peak);
            }
        }
        grants
    }

    fn refuses_for_ever(&self) -> bool {
        true
    }

    fn limited(&self) -> Option<[bool; 16]> {
        Some(self.of_level.map(|table| table.is_some()))
    }

    fn release(&self, desk: &mut DeskState, request: &Request) {
        let Some(table) = self.of_level[usize::from(request.level)] else {
            return;
        };
        let (rates, taken) = self.parts(desk);
        for &(channel, _) in &request.way {
            let place = channel as usize * self.tables + table;
            taken[place] -= weight(rates, channel, request.peak);
        }
    }
}

impl ArbitrationTable {
    /// Effective rates, and what is taken.
    fn parts<'a>(&self, desk: &'a mut DeskState) -> (&'a [u64], &'a mut [u64]) {
        let channels = desk.len() / (1 + self.tables);
        let (rates, taken) = desk.split_at_mut(channels);
        (rates, taken)
    }
}

/// What a flow takes of a channel's table.
fn weight(rates: &[u64], channel: u32, peak: u64) -> u64 {
    let units = u128::from(peak) * u128::from(FULL);
    units.div_ceil(rates[channel as usize].max(1).into()) as u64
}

fn build(
    arguments: Arguments<'_>,
    _: AdmissionContext,
) -> Result<Arc<dyn Admission>, ArgumentError> {
    let written: Written = arguments.parse()?;
    check_part("utilisation", written.utilisation)?;
    let tables = written.tables.unwrap_or_else(|| vec![(0..16).collect()]);
    if tables.is_empty() {
        return Err(invalid("`tables` is empty: expected at least one table"));
    }
    let mut of_level = [None; 16];
    for (table, levels) in tables.iter().enumerate() {
        for &level in levels {
            match of_level.get_mut(usize::from(level)) {
                Some(own @ None) => *own = Some(table),
                Some(_) => {
                    return Err(invalid(format!(
                        "`tables`: service level {level} is there twice"
                    )));
                }
                None => {
                    return Err(invalid(format!(
                        "`tables`: there is no service level {level}: expected 0 to 15"
                    )));
                }
            }
        }
    }
    Ok(Arc::new(ArbitrationTable {
        utilisation: written.utilisation,
        tables: tables.len(),
        of_level,
    }))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{build, request};
    use super::*;
    use crate::control::ONE_FLIT_PER_CYCLE;

    /// A table fills to the last unit, a refused request changes nothing, and a slower channel has heavier flows.
    #[test]
    fn a_table_is_filled_to_the_last_unit() {
        let control = build("ArbitrationTable(tables: [[0, 1], [2]])");
        let mut desk = control.start(Fabric { paces: &[1, 2] });
        let mut ask = |way: &[u32], level, peak| {
            let request = Request {
                way: way.iter().map(|&channel| (channel, 1)).collect(),
                ..request(level, peak)
            };
            let before = desk.clone();
            let grants = control.ask(&mut desk, &request, Shown::default());
            assert!(grants || desk == before);
            (grants, desk[2..].to_vec())
        };
        let whole = ONE_FLIT_PER_CYCLE;
        // [channel][table]
        assert_eq!(ask(&[0], 0, whole / 2), (true, vec![8160, 0, 0, 0]));
        assert_eq!(ask(&[0], 2, whole), (true, vec![8160, 16320, 0, 0]));
        // half of the fast channel is all of the slow one
        assert_eq!(
            ask(&[0, 1], 1, whole / 2),
            (true, vec![16320, 16320, 16320, 0])
        );
        assert!(!ask(&[0], 1, 1).0, "one more unit");
        assert!(!ask(&[1], 0, 1).0);
        assert!(ask(&[0, 1], 5, whole).0, "best effort");
        // half of the slow channel and a little: 8161 of its units
        assert_eq!(ask(&[1], 2, whole / 4 + 1).1[3], 8161);
        assert!(!ask(&[1], 2, whole / 4).0);
        assert!(ask(&[1], 2, whole / 4 - (1 << 20)).0);
    }
}
