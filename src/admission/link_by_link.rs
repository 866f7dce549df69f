//! Link by link: a broker that knows all ways grants a flow if every channel of its way has room for its peak, in the share of
//! its service level (000 S-25, equations 5.3 and 5.4; 003 S12, equations 5.1 to 5.5).
//!
//! # Rules
//! 1. The effective rate of a channel is `utilisation` of its rate.
//! 2. At the channel of the source what is left of the effective rate must be at least the peak, whatever the service level.
//! 3. At every other channel of the way, that to the destination included, what is left of the level's share must be more than
//!    the peak. A share is effective rate * weight of the level / `total`.
//! 4. All or nothing: a request that is refused changes nothing.
//! 5. Levels without a share, best effort, are always granted, and count nowhere.
//!
//! Cost: O(channels of the way) per request.

use super::{
    Admission, AdmissionContext, BuildAdmission, DeskState, Fabric, Request, Shown, check_part,
    invalid, rate,
};
use crate::references::{REINEMO, SEM_JACOBSEN};
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use serde::Deserialize;
use std::sync::Arc;

/// Registers `LinkByLink`.
pub(super) const ENTRY: Entry<BuildAdmission> = Entry {
    name: "LinkByLink",
    aliases: &["LL", "LBL"],
    summary: "every channel of the way has room for the peak in the share of the service level",
    parameters: &[
        Parameter {
            name: "utilisation",
            kind: "number in (0, 1]",
            default: Some("0.5"),
            summary: "effective rate of a channel, as a part of its rate",
        },
        Parameter {
            name: "shares",
            kind: "[(service level, weight > 0)]",
            default: None,
            summary: "how a channel is divided, by offered loads or otherwise; levels without a share are always admitted",
        },
        Parameter {
            name: "total",
            kind: "None | number > 0",
            default: Some("None"),
            summary: "what weights are parts of; None = their sum",
        },
    ],
    guarantees: &["the sum of the peaks of a service level on a channel is less than its share"],
    references: &[REINEMO, SEM_JACOBSEN],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "LinkByLink")]
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

/// Division of a channel.
#[derive(Debug)]
pub(super) struct Shares {
    pub(super) utilisation: f64,
    /// Part of the effective rate by service level.
    pub(super) parts: [f64; 16],
}

impl Shares {
    pub(super) fn new(
        utilisation: f64,
        shares: &[(u8, f64)],
        total: Option<f64>,
    ) -> Result<Self, ArgumentError> {
        check_part("utilisation", utilisation)?;
        let mut parts = [0.0; 16];
        for &(level, weight) in shares {
            let Some(part) = parts.get_mut(usize::from(level)) else {
                return Err(invalid(format!(
                    "`shares`: there is no service level {level}: expected 0 to 15"
                )));
            };
            if *part > 0.0 {
                return Err(invalid(format!(
                    "`shares`: service level {level} is there twice"
                )));
            }
            if !(weight > 0.0 && weight.is_finite()) {
                return Err(invalid(format!(
                    "`shares`: the weight of service level {level} is {weight}; it must be above 0"
                )));
            }
            *part = weight;
        }
        let total = total.unwrap_or_else(|| parts.iter().sum());
        if !(total > 0.0 && total.is_finite()) {
            return Err(invalid(format!("`total` is {total}; it must be above 0")));
        }
        for part in &mut parts {
            *part = (*part / total).min(1.0);
        }
        Ok(Self { utilisation, parts })
    }

    /// Whether a service level has a share.
    pub(super) fn limits(&self, level: u8) -> bool {
        self.parts[usize::from(level)] > 0.0
    }

    /// What a service level has of a channel \[2^-32 flits per cycle\].
    pub(super) fn of(&self, level: u8, pace: u32) -> u64 {
        rate(self.utilisation * self.parts[usize::from(level)], pace)
    }
}

/// `[channel][service level]` what is left, the last entry of a channel without regard to levels.
#[derive(Debug)]
struct LinkByLink(Shares);

/// Entries of a channel.
const ENTRIES: usize = 17;

impl Admission for LinkByLink {
    fn start(&self, fabric: Fabric<'_>) -> DeskState {
        let mut left = DeskState::with_capacity(fabric.paces.len() * ENTRIES);
        for &pace in fabric.paces {
            left.extend((0..16).map(|level| self.0.of(level, pace)));
            left.push(rate(self.0.utilisation, pace));
        }
        left
    }

    fn ask(&self, desk: &mut DeskState, request: &Request, _: Shown<'_>) -> bool {
        let Some((&(first, _), others)) = request.way.split_first() else {
            return false;
        };
        if !self.0.limits(request.level) {
            return true;
        }
        let host = first as usize * ENTRIES + ENTRIES - 1;
        let share = |channel: u32| channel as usize * ENTRIES + usize::from(request.level);
        let grants = desk[host] >= request.peak
            && (others.iter()).all(|&(channel, _)| desk[share(channel)] > request.peak);
        if grants {
            desk[host] -= request.peak;
            for &(channel, _) in others {
                desk[share(channel)] -= request.peak;
            }
        }
        grants
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
    Ok(Arc::new(LinkByLink(Shares::new(
        utilisation,
        &shares,
        total,
    )?)))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{build, request};
    use super::*;
    use crate::control::ONE_FLIT_PER_CYCLE;

    /// shares of 10, 15, 20, 25 and 30 of 100.
    #[test]
    fn shares_are_those_of_the_offered_loads() {
        let weights = [(0, 10.0), (1, 15.0), (2, 20.0), (3, 25.0), (4, 30.0)];
        let shares = Shares::new(1.0, &weights, Some(100.0)).unwrap();
        for (level, part) in (0..).zip([0.10, 0.15, 0.20, 0.25, 0.30]) {
            let expected = (part * ONE_FLIT_PER_CYCLE as f64) as u64;
            assert_eq!(shares.of(level, 1), expected, "{level}");
        }
    }

    /// C14, A-6D: sums stay below the shares, and what is refused changes nothing.
    #[test]
    fn a_channel_without_room_refuses_and_nothing_changes() {
        let control = build("LinkByLink(utilisation: 1.0, shares: [(0, 1), (1, 3)])");
        let paces = [1, 1, 2, 1];
        let mut desk = control.start(Fabric { paces: &paces });
        let whole = ONE_FLIT_PER_CYCLE;
        let mut ask = |way: &[u32], level, peak| {
            let request = Request {
                way: way.iter().map(|&channel| (channel, 1)).collect(),
                ..request(level, peak)
            };
            let before = desk.clone();
            let grants = control.ask(&mut desk, &request, Shown::default());
            assert!(grants || desk == before);
            grants
        };
        // level 0 has a quarter, on channel 2 an eighth
        assert!(
            !ask(&[0, 1, 3], 0, whole / 4),
            "the share itself is too much"
        );
        assert!(ask(&[0, 1, 3], 0, whole / 8));
        assert!(!ask(&[0, 1, 3], 0, whole / 8));
        assert!(ask(&[0, 1, 3], 0, whole / 8 - 1));
        assert!(!ask(&[0, 2], 0, whole / 8), "half the speed");
        assert!(ask(&[0, 2], 0, whole / 16));
        // the channel of the source is not divided: 11/16 of it and one unit are left
        assert!(ask(&[0, 3], 1, whole / 16 * 11 + 1));
        assert!(!ask(&[0, 2], 0, 1), "nothing left at the source");
        assert!(ask(&[0, 2], 5, whole), "best effort");
    }
}
