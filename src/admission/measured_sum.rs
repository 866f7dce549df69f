//! Measured sum: a flow is admitted if every channel of its way has room for its peak beside what was measured there of its
//! service level since the round before (003 S12, "measured sum").
//!
//! # Rules
//! 1. At the channel of the source, measured load of all lanes + peak <= effective rate; at every other, measured load of the
//!    lanes of the level + peak < share. Shares are those of `LinkByLink`.
//! 2. In the first round nothing is measured: the load is 0.
//! 3. Levels without a share, best effort, are always granted.
//! 4. What was admitted in a round counts in the next one, as far as it has been sent.
//!
//! Cost: O(channels of the way times lanes of the level) per request.

use super::link_by_link::Shares;
use super::{
    Admission, AdmissionContext, BuildAdmission, DeskState, Fabric, Request, Shown, UTILISATION,
    rate,
};
use crate::references::SEM_JACOBSEN;
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use serde::Deserialize;
use std::sync::Arc;

/// Registers `MeasuredSum`.
pub(super) const ENTRY: Entry<BuildAdmission> = Entry {
    name: "MeasuredSum",
    aliases: &[],
    summary: "every channel of the way has room for the peak beside what was measured there",
    parameters: &[
        UTILISATION,
        Parameter {
            name: "shares",
            kind: "[(service level, weight > 0)]",
            default: None,
            summary: "how a channel is divided; levels without a share are always admitted",
        },
        Parameter {
            name: "total",
            kind: "None | number > 0",
            default: Some("None"),
            summary: "what weights are parts of; None = their sum",
        },
    ],
    guarantees: &[],
    references: &[SEM_JACOBSEN],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "MeasuredSum")]
struct Written {
    #[serde(default = "half")]
    utilisation: f64,
    shares: Vec<(u8, f64)>,
    #[serde(default)]
    total: Option<f64>,
}

fn half() -> f64 {
    0.5
}

#[derive(Debug)]
struct MeasuredSum(Shares);

/// The desk keeps the paces of the channels.
impl Admission for MeasuredSum {
    fn start(&self, fabric: Fabric<'_>) -> DeskState {
        fabric.paces.iter().map(|&pace| pace.into()).collect()
    }

    fn ask(&self, desk: &mut DeskState, request: &Request, shown: Shown<'_>) -> bool {
        let pace = |channel: u32| desk[channel as usize] as u32;
        let Some((&(first, _), others)) = request.way.split_first() else {
            return false;
        };
        let measured = |channel, lanes| shown.loads.map_or(0, |loads| loads.rate(channel, lanes));
        if !self.0.limits(request.level) {
            return true;
        }
        measured(first, u32::MAX) + request.peak <= rate(self.0.utilisation, pace(first))
            && others.iter().all(|&(channel, lanes)| {
                let share = self.0.of(request.level, pace(channel));
                measured(channel, lanes) + request.peak < share
            })
    }

    fn refuses_for_ever(&self) -> bool {
        true
    }

    fn limited(&self) -> Option<[bool; 16]> {
        Some(std::array::from_fn(|level| self.0.limits(level as u8)))
    }

    fn looks_at_loads(&self) -> bool {
        true
    }
}

fn build(
    arguments: Arguments<'_>,
    _: AdmissionContext,
) -> Result<Arc<dyn Admission>, ArgumentError> {
    let Written {
        utilisation,
        shares,
        total,
    } = arguments.parse()?;
    Ok(Arc::new(MeasuredSum(Shares::new(
        utilisation,
        &shares,
        total,
    )?)))
}

#[cfg(test)]
mod tests {
    use super::super::Loads;
    use super::super::tests::{build, request};
    use super::*;
    use crate::control::ONE_FLIT_PER_CYCLE;

    #[test]
    fn what_was_measured_leaves_so_much_room() {
        let control = build("MeasuredSum(utilisation: 1.0, shares: [(0, 1), (1, 1)])");
        let mut desk = control.start(Fabric { paces: &[1, 1] });
        let whole = ONE_FLIT_PER_CYCLE;
        let mut ask = |flits: Option<&[u64]>, level, peak| {
            let request = Request {
                way: [0, 1]
                    .map(|channel| (channel, [0b101, 0b010][level as usize]))
                    .to_vec(),
                ..request(level, peak)
            };
            let loads = flits.map(|flits| Loads {
                flits,
                lanes: 3,
                cycles: 100,
            });
            let shown = Shown {
                loads,
                ..Shown::default()
            };
            control.ask(&mut desk, &request, shown)
        };
        assert!(ask(None, 0, whole / 2 - 1));
        assert!(!ask(None, 0, whole / 2));
        // 25 of 100 cycles on the two lanes of level 0
        let loads = [0, 0, 0, 20, 45, 5];
        assert!(ask(Some(&loads), 0, whole / 4 - 1));
        assert!(!ask(Some(&loads), 0, whole / 4));
        assert!(!ask(Some(&loads), 1, whole / 20 + 1));
        // the channel of the source is full
        let loads = [40, 40, 20, 0, 0, 0];
        assert!(ask(Some(&loads), 0, 0));
        assert!(!ask(Some(&loads), 0, 1));
    }
}
