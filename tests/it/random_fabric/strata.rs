//! What the number of a case decides, so that all of it is met whatever the first number is.
//!
//! Every other case has what the fast path is compiled for. Of twenty such pairs five have wide request masks, one of each
//! width, one has dozens of hosts and one lasts for thousands of cycles; in the others a list of features goes round, and
//! two of three times such a run is resumed in the middle. Threads and form of the cycle change from round to round: any
//! [`PERIOD`] cases in a row hold every width and size in every mode, and every feature three times.
//!
//! With adaptive routing every other case of usual size among those without options has options instead, and what open engines have
//! with packets as units ([`of_open_engines`]), of which wormhole switching leaves the other cases little.

use super::Dice;
use super::features::{
    ADAPTIVE_ONLY, BESIDE_CHOICES, BESIDE_ROUTES, BESIDE_SET_UPS, OPEN_HEADS, PLAIN, ROUTES,
    SCHEDULERS, SELDOM_CHOICES, SET_UPS, STANDING, STATEFUL, TABLES_ONLY, traffic,
};
use virtlane::plan::Queues;

/// Cases in a row that hold everything.
pub(crate) const PERIOD: u64 = 2 * SLOTS * 20;
/// Pairs of cases until sizes come again.
const SLOTS: u64 = 20;
/// Words of wide request masks: at least so many and one bit, at most so many.
const WIDTHS: [(u32, u32); 5] = [(1, 2), (2, 4), (4, 8), (8, 16), (16, 64)];
/// Slots that have a size of their own.
const SIZED: u64 = WIDTHS.len() as u64 + 2;

/// Size of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    /// A few switches and hosts.
    Usual,
    /// A switch with so many ports and lanes that its request masks have a number of words of [`WIDTHS`], for a short
    /// time.
    Wide(usize),
    /// Dozens of hosts, for a short time.
    Crowded,
    /// Thousands of cycles.
    Long,
}

impl Scale {
    /// Cycles to simulate.
    pub(super) fn cycles(self, dice: &mut Dice) -> u64 {
        u64::from(match self {
            Self::Usual => dice.between(200, 1500),
            Self::Wide(_) => dice.between(40, 160),
            Self::Crowded => dice.between(100, 250),
            Self::Long => dice.between(1501, 4000),
        })
    }

    /// Lanes, and connected ports of a wide switch.
    pub(super) fn lanes_and_ports(self, dice: &mut Dice) -> (u8, u32) {
        match self {
            Self::Wide(width) => wide(dice, width),
            _ => (dice.between(1, 4) as u8, 0),
        }
    }
}

/// Ports times lanes, these as a power of two, are the bits of a request mask.
fn wide(dice: &mut Dice, width: usize) -> (u8, u32) {
    let (fewer, words) = WIDTHS[width];
    loop {
        let shift = dice.pick(&[0, 1, 2, 3, 4, 5, 5]);
        let least = (((fewer * 64) >> shift) + 1).max(5);
        let most = ((words * 64) >> shift).min(72);
        if least <= most {
            let lanes = dice.between((1 << shift) / 2 + 1, 1 << shift);
            return (lanes as u8, dice.between(least, most));
        }
    }
}

/// Kinds of routing whose cases are drawn from strata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Tables,
    Adaptive,
    /// Tables, and flows with routes of their own.
    OwnRoutes,
    /// Tables, and flows whose routes are set up by packets.
    SetUps,
}

/// What the number of a case decides.
#[derive(Clone, Debug)]
pub(super) struct Stratum {
    /// Whether the options are those the fast path is compiled for, and all channels run at one pace.
    pub(super) plain: bool,
    pub(super) scale: Scale,
    /// Threads at the start.
    pub(super) threads: usize,
    /// A feature it must have, and whether it is resumed.
    pub(super) feature: Option<(String, bool)>,
    /// How often it was drawn before: what is drawn from streams of its own is drawn anew, too.
    pub(super) attempt: u64,
}

/// Numbers of threads in turn.
pub(super) fn threads(number: u64) -> usize {
    1 + (number % 3) as usize
}

impl Stratum {
    pub(super) fn of(kind: Kind, seed: u64) -> Self {
        let plain = seed.is_multiple_of(2);
        let (round, slot) = (seed / 2 / SLOTS, seed / 2 % SLOTS);
        let scale = match slot {
            0..5 => Scale::Wide(slot as usize),
            5 => Scale::Crowded,
            6 => Scale::Long,
            _ => Scale::Usual,
        };
        if scale != Scale::Usual {
            return Self {
                plain,
                scale,
                threads: threads(round),
                feature: None,
                attempt: 0,
            };
        }
        let turn = round * (SLOTS - SIZED) + slot - SIZED;
        let is_open = kind == Kind::Adaptive && plain && !turn.is_multiple_of(2);
        let (features, own) = if is_open {
            (of_open_engines(), turn / 2)
        } else {
            (wanted(kind, plain), turn)
        };
        let count = features.len() as u64;
        let feature = features[(own % count) as usize].clone();
        Self {
            plain: plain && !is_open,
            scale,
            threads: threads(round + turn),
            feature: Some((feature, own / count % 3 < 2)),
            attempt: 0,
        }
    }

    /// The queues that its feature needs, of those of open engines with packets as units.
    pub(super) fn queues(&self) -> Option<Queues> {
        let (name, _) = self.feature.as_ref()?;
        let is_of = |names: &[&str]| names.contains(&name.as_str());
        match (is_of(&STANDING), is_of(&OPEN_HEADS)) {
            (true, _) => Some(Queues::Voq),
            (_, true) => Some(Queues::Fifo),
            _ => None,
        }
    }
}

/// Features of open engines with packets as units, which go round by themselves.
fn of_open_engines() -> Vec<String> {
    let names = STANDING.iter().chain(&OPEN_HEADS);
    names.map(|&name| name.to_owned()).collect()
}

/// The seed of the adaptive case with the next of the features of packets that stand (D84), which come in turn.
pub(crate) fn standing_seed(number: u64) -> u64 {
    let (own, all) = (STANDING.len() as u64, of_open_engines().len() as u64);
    let turn = 2 * (number / own * all + number % own) + 1;
    let usual = SLOTS - SIZED;
    2 * (turn / usual * SLOTS + SIZED + turn % usual)
}

/// Features that go round.
pub(crate) fn wanted(kind: Kind, plain: bool) -> Vec<String> {
    let given: &[&[&str]] = match (kind, plain) {
        (Kind::Tables, true) => &[&PLAIN],
        (Kind::Tables, false) => &[&STATEFUL, &TABLES_ONLY, &SCHEDULERS],
        (Kind::OwnRoutes, true) => &[&ROUTES],
        (Kind::OwnRoutes, false) => &[&ROUTES, &BESIDE_ROUTES, &SCHEDULERS],
        (Kind::SetUps, true) => &[&SET_UPS],
        (Kind::SetUps, false) => &[&BESIDE_SET_UPS, &SET_UPS, &SCHEDULERS],
        (Kind::Adaptive, true) => &[&PLAIN, &ADAPTIVE_ONLY],
        (Kind::Adaptive, false) => &[&STATEFUL, &ADAPTIVE_ONLY, &SCHEDULERS, &BESIDE_CHOICES],
    };
    let given = given.iter().copied().flatten();
    let mut names: Vec<String> = given.map(|&name| name.to_owned()).collect();
    if (kind, plain) == (Kind::Tables, true) {
        names.extend(traffic());
    }
    if matches!(kind, Kind::Tables | Kind::Adaptive) {
        names.push(String::from("fork"));
    }
    if (kind, plain) == (Kind::Adaptive, false) {
        // behind all others, whose cases stay as they are as long as the list has not gone round
        names.extend(SELDOM_CHOICES.map(String::from));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random_fabric::features::{
        ADMISSION, CLAIMS, CLAIMS_OF_CANDIDATES, CLAIMS_ON_TABLES, DROPPING, DROPPING_OF_CHOICES,
        FLOWS, MARKS_BEHIND_LANES, MESSAGES, WORMHOLE_CHOICES, WORMHOLE_HOSTS,
        WORMHOLE_HOSTS_OF_CHOICES, WORMHOLE_OPTIONS, WORMHOLE_OPTIONS_OF_CHOICES,
        WORMHOLE_REQUESTS, WORMHOLE_VL15, features,
    };
    use crate::random_fabric::{Case, adaptive_case, case};
    use crate::reference::Routing;
    use std::collections::BTreeMap;

    /// Demands what the module promises of the cases from some number on.
    fn check<R>(kind: Kind, draw: fn(u64) -> Case<R>, first: u64)
    where
        for<'a> &'a R: Into<Routing<'a>>,
    {
        let mut met: BTreeMap<String, u32> = BTreeMap::new();
        let mut resumed: BTreeMap<String, u32> = BTreeMap::new();
        for seed in first..first + PERIOD {
            let case = draw(seed);
            for name in features(&case) {
                *resumed.entry(name.clone()).or_default() += u32::from(case.way.resume.is_some());
                *met.entry(name).or_default() += 1;
            }
        }
        let mut names = [true, false].map(|plain| wanted(kind, plain)).concat();
        names.extend(FLOWS.map(String::from));
        names.extend(CLAIMS.map(String::from));
        names.extend(MARKS_BEHIND_LANES.map(String::from));
        names.extend(WORMHOLE_OPTIONS.map(String::from));
        names.extend(MESSAGES.map(String::from));
        if kind == Kind::Tables {
            names.extend(CLAIMS_ON_TABLES.map(String::from));
            names.extend(ADMISSION.map(String::from));
            names.extend(DROPPING.map(String::from));
            names.extend(WORMHOLE_REQUESTS.map(String::from));
            names.extend(WORMHOLE_HOSTS.map(String::from));
            names.extend(WORMHOLE_VL15.map(String::from));
        } else {
            names.extend(CLAIMS_OF_CANDIDATES.map(String::from));
            names.extend(WORMHOLE_CHOICES.map(String::from));
            names.extend(WORMHOLE_OPTIONS_OF_CHOICES.map(String::from));
            names.extend(WORMHOLE_HOSTS_OF_CHOICES.map(String::from));
            names.extend(DROPPING_OF_CHOICES.map(String::from));
            names.extend(of_open_engines());
        }
        let times = |of: &BTreeMap<String, u32>, name: &String| of.get(name).copied().unwrap_or(0);
        let missing: Vec<_> = names
            .iter()
            .map(|name| (name, times(&met, name), times(&resumed, name)))
            .filter(|&(_, met, resumed)| met < 3 || resumed < 2)
            .collect();
        assert!(
            missing.is_empty(),
            "{kind:?} from {first} on, met and resumed: {missing:?}"
        );
        for name in ["long", "many hosts", "64 hosts", "more than 16 lanes"] {
            assert!(
                met.get(name) >= Some(&6),
                "{kind:?} from {first} on, {name}: {met:?}"
            );
        }
    }

    #[test]
    fn any_cases_in_a_row_hold_everything() {
        for first in [0, 1_000_003] {
            check(Kind::Tables, case, first);
            check(Kind::Adaptive, adaptive_case, first);
        }
    }

    #[test]
    fn every_size_comes_with_every_number_of_threads() {
        let mut met: BTreeMap<String, u32> = BTreeMap::new();
        for seed in 77..77 + PERIOD {
            let Stratum {
                plain,
                scale,
                threads,
                ..
            } = Stratum::of(Kind::Tables, seed);
            let name = format!("{plain} {scale:?} {threads}");
            *met.entry(name).or_default() += 1;
        }
        // five widths, many hosts, long ones, the others
        assert_eq!(met.len(), 2 * 8 * 3, "{met:?}");
    }
}
