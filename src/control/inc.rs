//! Injection by what the own switch shows: every host slows down while outputs of its switch are blocked, more so when it sends
//! through them (INC, injection and network congestion).
//!
//! # Rules
//! 1. At the end of every `interval` the host looks at its switch. An (output, lane) is blocked if packets wait for it and it
//!    has sent fewer than `few` flits in the interval.
//! 2. The flow has a level, 0 at first. If the (output, lane) it goes through is blocked, the level rises by `strong`; else,
//!    if any of the switch is, by `mild`; else it falls by `relax`. It stays within 0 and `most`.
//! 3. Level n is the limit (n, `shift`) of D30: after a packet, n times floor(its time / 2^shift). So gaps grow with the intervals
//!    that were congested one after the other.
//!
//! No packet is answered, nothing is marked: hosts behind other switches are not told. Where a switch has few hosts, as in a
//! torus, its own outputs block first; behind a leaf of a tree what blocks farther up shows late.
//!
//! Deviations: the source restricts in steps, first the lanes that packets may enter by, then by gaps, and gives neither interval nor
//! thresholds; here there are gaps alone, and all numbers are parameters with defaults of ours.
//!
//! Cost: a look at all flows of the class and all packets at switch inputs per interval.
//!
//! References: [`BAYDAL`]

use super::parameters::{cycles, within};
use super::{
    Actions, Algorithm, BuildAlgorithm, ControlContext, Event, Limit, Line, Looks, Machines,
};
use crate::references::BAYDAL;
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::units::Time;
use serde::{Deserialize, Serialize};

/// Registers `Inc`.
pub(super) const ENTRY: Entry<BuildAlgorithm> = Entry {
    name: "Inc",
    aliases: &["InjectionAndNetworkCongestion"],
    summary: "hosts send at longer distances while outputs of their own switch are blocked",
    parameters: &[
        Parameter {
            name: "interval",
            kind: "time, at least 1 cycle",
            default: None,
            summary: "from look to look",
        },
        Parameter {
            name: "few",
            kind: "integer in 1..=4294967295 [flits]",
            default: None,
            summary: "an output lane with packets waiting that sent fewer in the interval is blocked",
        },
        Parameter {
            name: "strong",
            kind: "integer in 0..=most",
            default: Some("4"),
            summary: "what the level rises by when the flow's own output lane is blocked",
        },
        Parameter {
            name: "mild",
            kind: "integer in 0..=most",
            default: Some("1"),
            summary: "what it rises by when another of the switch is",
        },
        Parameter {
            name: "relax",
            kind: "integer in 1..=most",
            default: Some("1"),
            summary: "what it falls by when none is",
        },
        Parameter {
            name: "most",
            kind: "integer in 1..=16383",
            default: Some("64"),
            summary: "the highest level",
        },
        Parameter {
            name: "shift",
            kind: "integer in 0..=3",
            default: Some("2"),
            summary: "a level is a gap of 1 / 2^shift of the packet's time",
        },
    ],
    guarantees: &[
        "a flow whose switch has nothing blocked is free again after `most` / `relax` intervals",
    ],
    references: &[BAYDAL],
    build,
};

/// Its parameters.
#[derive(Clone, Debug)]
pub struct Inc {
    /// \[cycles\].
    interval: u64,
    /// \[flits\].
    few: u32,
    strong: u16,
    mild: u16,
    relax: u16,
    most: u16,
    shift: u8,
}

/// State of a sender: its level.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Level(u16);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Inc")]
struct Parameters {
    interval: Time,
    few: u64,
    #[serde(default = "strong")]
    strong: u64,
    #[serde(default = "one")]
    mild: u64,
    #[serde(default = "one")]
    relax: u64,
    #[serde(default = "most")]
    most: u64,
    #[serde(default = "shift")]
    shift: u64,
}

fn strong() -> u64 {
    4
}

fn one() -> u64 {
    1
}

fn most() -> u64 {
    64
}

fn shift() -> u64 {
    2
}

impl Machines for Inc {
    type Sender = Level;
    type Receiver = ();

    fn start(&self, _: Line, _: &mut Actions) -> Level {
        Level(0)
    }

    fn send(&self, Level(level): &mut Level, _: u64, event: Event, actions: &mut Actions) {
        let Event::Looked { own, blocked } = event else {
            return;
        };
        let next = match (own, blocked) {
            (true, _) => (*level + self.strong).min(self.most),
            (false, 1..) => (*level + self.mild).min(self.most),
            (false, 0) => level.saturating_sub(self.relax),
        };
        if next != *level {
            *level = next;
            actions.limit = Some(match next {
                0 => Limit::None,
                entry => Limit::Delay {
                    entry,
                    shift: self.shift,
                },
            });
        }
    }

    fn show(&self, Level(level): &Level) -> String {
        format!("level {level}")
    }

    fn least_shift(&self) -> Option<u8> {
        Some(self.shift)
    }

    fn looks(&self) -> Option<Looks> {
        Some(Looks {
            every: self.interval,
            few: self.few,
        })
    }
}

fn build(arguments: Arguments<'_>, context: ControlContext) -> Result<Algorithm, ArgumentError> {
    let written: Parameters = arguments.parse()?;
    let most = within("most", written.most, 1..=16_383, "what a multiplier holds")?;
    Ok(Algorithm::Inc(Inc {
        interval: cycles("interval", written.interval, context.clock)?,
        few: within(
            "few",
            written.few,
            1..=u64::from(u32::MAX),
            "a number of 32 bits",
        )? as u32,
        strong: within("strong", written.strong, 0..=most, "no more than `most`")? as u16,
        mild: within("mild", written.mild, 0..=most, "no more than `most`")? as u16,
        relax: within("relax", written.relax, 1..=most, "no more than `most`")? as u16,
        most: most as u16,
        shift: within("shift", written.shift, 0..=3, "a shift of two bits")? as u8,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked out by hand from rules 2 and 3, with 4, 1, 2 and at most 10.
    #[test]
    fn a_trace_by_hand() {
        let inc = Inc {
            interval: 100,
            few: 20,
            strong: 4,
            mild: 1,
            relax: 2,
            most: 10,
            shift: 2,
        };
        let line = Line {
            pace: 1,
            largest: 16,
        };
        let mut actions = Actions::default();
        let mut level = inc.start(line, &mut actions);
        assert_eq!(actions, Actions::default());
        let delay = |entry| Some(Limit::Delay { entry, shift: 2 });
        let trace = [
            // (own lane is blocked, blocked ones of the switch), limit
            ((false, 0), None),
            ((false, 3), delay(1)),
            ((true, 1), delay(5)),
            ((true, 2), delay(9)),
            ((true, 2), delay(10)),
            ((false, 1), None),
            ((false, 0), delay(8)),
            ((false, 2), delay(9)),
            ((false, 0), delay(7)),
            ((false, 0), delay(5)),
            ((false, 0), delay(3)),
            ((false, 0), delay(1)),
            ((false, 0), Some(Limit::None)),
            ((false, 0), None),
        ];
        for (number, ((own, blocked), limit)) in (1..).zip(trace) {
            let mut actions = Actions::default();
            inc.send(
                &mut level,
                100 * number - 1,
                Event::Looked { own, blocked },
                &mut actions,
            );
            let expected = Actions {
                limit,
                ..Actions::default()
            };
            assert_eq!(actions, expected, "look {number}");
        }
    }

    #[test]
    fn nothing_else_changes_it() {
        let inc = Inc {
            interval: 100,
            few: 20,
            strong: 4,
            mild: 1,
            relax: 1,
            most: 64,
            shift: 2,
        };
        let mut level = Level(7);
        for event in [Event::Started(3), Event::Answered(1), Event::Timer] {
            let mut actions = Actions::default();
            inc.send(&mut level, 5, event, &mut actions);
            assert_eq!((level.0, actions), (7, Actions::default()));
        }
    }
}
