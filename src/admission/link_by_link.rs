//! Link by link: a broker that knows all ways grants a flow if every channel of its way has room for its peak, in the share of
//! its service level (000 S-25, equations 5.3 and 5.4; 003 S12, equations 5.1 to 5.5).
//!
//! # Rules
//! 1. The effective rate of a channel is `utilisation` of its rate.
//! 2. At the channel of the source what is left of the effective rate must be at least the peak, whatever the service level.
//! 3. At every other channel of the way, that to the destination included, what is left of the level's share must be more than
//!    the peak. A share is
//!    - `shares`: effective rate * weight of the level / `total` (static shares, or offered loads, equation 5.5);
//!    - `available`: effective rate * what the lanes that the level can have there get of the channel by the fabric's arbitration
//!      tables when all lanes have packets (5.3; [`available_bandwidth`](crate::qos::available_bandwidth), for the largest packet);
//!    - `inverse`: what is left of the effective rate beside that (5.4).
//! 4. All or nothing: a request that is refused changes nothing.
//! 5. Levels without a share, best effort, are always granted, and count nowhere.
//! 6. A flow that is over gives back its peak at every channel of its way.
//!
//! Cost: O(channels of the way) per request.

use super::{
    Admission, AdmissionContext, BuildAdmission, DeskState, Fabric, Request, Shown, UTILISATION,
    check_part, invalid, rate,
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
        UTILISATION,
        Parameter {
            name: "shares",
            kind: "[(service level, weight > 0)]",
            default: Some("[]"),
            summary: "how a channel is divided, by offered loads or otherwise; levels without a share are always admitted",
        },
        Parameter {
            name: "available",
            kind: "[0..=15]",
            default: Some("[]"),
            summary: "in place of shares: levels that have what the arbitration tables give them",
        },
        Parameter {
            name: "inverse",
            kind: "[0..=15]",
            default: Some("[]"),
            summary: "in place of shares: levels that have what the arbitration tables do not give them",
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
    #[serde(default)]
    shares: Vec<(u8, f64)>,
    #[serde(default)]
    available: Vec<u8>,
    #[serde(default)]
    inverse: Vec<u8>,
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

/// How a channel is divided.
#[derive(Debug)]
enum Division {
    Weights(Shares),
    /// By arbitration tables.
    Lanes {
        utilisation: f64,
        /// Levels with a share.
        levels: [bool; 16],
        /// What lanes have of a saturated channel.
        lanes: [f64; 16],
        is_inverse: bool,
    },
}

impl Division {
    fn utilisation(&self) -> f64 {
        match self {
            Self::Weights(shares) => shares.utilisation,
            Self::Lanes { utilisation, .. } => *utilisation,
        }
    }

    /// Whether a service level has a share.
    fn limits(&self, level: u8) -> bool {
        match self {
            Self::Weights(shares) => shares.limits(level),
            Self::Lanes { levels, .. } => levels[usize::from(level)],
        }
    }

    /// What a service level has of a channel, on which it can have the lanes of a mask \[2^-32 flits per cycle\].
    fn share(&self, level: u8, mask: u32, pace: u32) -> u64 {
        match self {
            Self::Weights(shares) => shares.of(level, pace),
            Self::Lanes {
                utilisation,
                lanes,
                is_inverse,
                ..
            } => {
                let own = lanes.iter().enumerate();
                let own = own.filter(|(lane, _)| mask >> lane & 1 == 1);
                let part: f64 = own.map(|(_, part)| part).sum();
                let part = if *is_inverse { 1.0 - part } else { part };
                rate(utilisation * part.clamp(0.0, 1.0), pace)
            }
        }
    }
}

#[derive(Debug)]
struct LinkByLink(Division);

/// Entries of a channel.
const ENTRIES: usize = 18;
/// That of all service levels together.
const ALL: usize = 16;
/// Its cycles per flit.
const PACE: usize = 17;

impl LinkByLink {
    /// Where the desk counts the peak of a flow: at the channel of its source for all levels, behind it for its own; nowhere
    /// that of a level without a share.
    fn entries(&self, request: &Request) -> impl Iterator<Item = usize> {
        let counted = usize::from(self.0.limits(request.level)) * request.way.len();
        let entry = |(place, &(channel, _)): (usize, &(u32, u32))| match place {
            0 => entry(channel, ALL),
            _ => entry(channel, request.level.into()),
        };
        request.way.iter().take(counted).enumerate().map(entry)
    }
}

/// Place of an entry of a channel.
fn entry(channel: u32, entry: usize) -> usize {
    channel as usize * ENTRIES + entry
}

/// The desk keeps, `[channel][entry]`, the peaks granted by service level, of all of them at the channel of a source, and the
/// channel's pace.
impl Admission for LinkByLink {
    fn start(&self, fabric: Fabric<'_>) -> DeskState {
        let mut desk = DeskState::with_capacity(fabric.paces.len() * ENTRIES);
        for &pace in fabric.paces {
            desk.extend([0; PACE]);
            desk.push(pace.into());
        }
        desk
    }

    fn ask(&self, desk: &mut DeskState, request: &Request, _: Shown<'_>) -> bool {
        let Some((&(first, _), others)) = request.way.split_first() else {
            return false;
        };
        let level = request.level;
        if !self.0.limits(level) {
            return true;
        }
        let pace = |desk: &DeskState, channel| desk[entry(channel, PACE)] as u32;
        let at_host = rate(self.0.utilisation(), pace(desk, first));
        let has_room = |&(channel, mask): &(u32, u32)| {
            let share = self.0.share(level, mask, pace(desk, channel));
            desk[entry(channel, level.into())] + request.peak < share
        };
        let host = desk[entry(first, ALL)] + request.peak;
        let grants = host <= at_host && others.iter().all(has_room);
        if grants {
            self.entries(request)
                .for_each(|own| desk[own] += request.peak);
        }
        grants
    }

    fn refuses_for_ever(&self) -> bool {
        true
    }

    fn limited(&self) -> Option<[bool; 16]> {
        Some(std::array::from_fn(|level| self.0.limits(level as u8)))
    }

    fn release(&self, desk: &mut DeskState, request: &Request) {
        self.entries(request)
            .for_each(|own| desk[own] -= request.peak);
    }
}

fn build(
    arguments: Arguments<'_>,
    context: AdmissionContext,
) -> Result<Arc<dyn Admission>, ArgumentError> {
    let written: Written = arguments.parse()?;
    let by_lanes = [
        ("available", &written.available),
        ("inverse", &written.inverse),
    ];
    let mut by_lanes = by_lanes
        .into_iter()
        .filter(|(_, levels)| !levels.is_empty());
    let division = match (by_lanes.next(), by_lanes.next()) {
        (None, _) if !written.shares.is_empty() => Division::Weights(Shares::new(
            written.utilisation,
            &written.shares,
            written.total,
        )?),
        (Some((name, levels)), None) if written.shares.is_empty() => {
            if written.total.is_some() {
                return Err(invalid("`total` is that of `shares`: leave it out"));
            }
            by_tables(written.utilisation, (name, levels), context)?
        }
        _ => {
            return Err(invalid(
                "one of `shares`, `available` and `inverse` says how a channel is divided: expected one of them",
            ));
        }
    };
    Ok(Arc::new(LinkByLink(division)))
}

/// A division by arbitration tables.
fn by_tables(
    utilisation: f64,
    (name, listed): (&str, &[u8]),
    context: AdmissionContext,
) -> Result<Division, ArgumentError> {
    check_part("utilisation", utilisation)?;
    let mut levels = [false; 16];
    for &level in listed {
        match levels.get_mut(usize::from(level)) {
            Some(own) => *own = true,
            None => {
                return Err(invalid(format!(
                    "`{name}`: there is no service level {level}: expected 0 to 15"
                )));
            }
        }
    }
    let Some(lanes) = context.lanes else {
        return Err(invalid(format!(
            "`{name}` goes by what `qos.vl_arbitration` gives lanes, and there are no such tables, or they have \
             `rules: Legacy`: use `shares`"
        )));
    };
    Ok(Division::Lanes {
        utilisation,
        levels,
        lanes,
        is_inverse: name == "inverse",
    })
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

    /// Lanes with a quarter, a half and a quarter of the channel: what the tables give, and what they do not.
    #[test]
    fn shares_are_what_the_arbitration_tables_give() {
        let whole = ONE_FLIT_PER_CYCLE;
        for (text, shares) in [
            ("LinkByLink(utilisation: 1.0, available: [0, 1])", [1, 3]),
            ("LinkByLink(utilisation: 1.0, inverse: [0, 1])", [3, 1]),
        ] {
            let control = build(text);
            let fabric = Fabric { paces: &[1, 1] };
            let ask = |level: u8, mask, peak| {
                let request = Request {
                    way: vec![(0, mask), (1, mask)],
                    ..request(level, peak)
                };
                control.ask(&mut control.start(fabric), &request, Shown::default())
            };
            // level 1 has two lanes
            for (level, mask, quarters) in [(0, 0b001, shares[0]), (1, 0b110, shares[1])] {
                let share = whole / 4 * quarters;
                assert!(!ask(level, mask, share), "{text}, {level}");
                assert!(ask(level, mask, share - 1), "{text}, {level}");
            }
            assert!(ask(2, 0b001, 9 * whole), "best effort");
        }
    }
}
