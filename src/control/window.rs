//! Windows: so many packets of a flow may be under way, a fixed number or one that follows the marks.
//!
//! # Rules
//! 1. Every packet is answered, with its FECN bit. An answer acknowledges one packet, 1 cycle after its delivery.
//! 2. `window: W`: W packets may be under way, whatever is marked.
//! 3. `aimd: true`: the window w is a number of packets in units of 2^-16, `start` at first; floor(w) packets may be under way.
//!    - An answer without the bit: w := min(w + floor(1 / w), `most`), the quotient rounded down to 2^-16. So w grows by
//!      about one packet in each window of answers.
//!    - An answer with the bit: w := max(1, w / 2), rounded down. The floor(w) answers that follow, w before the cut, cut
//!      nothing: they are of packets that were under way and tell of the same congestion.
//!
//! Source: additive increase and multiplicative decrease of Chiu and Jain, in the form of TCP's congestion avoidance by
//! Jacobson, whose first window is the default of `start`. Deviations: there is no slow start and nothing is lost, so marks
//! stand in for losses; a flow whose answers do not come back waits for them for ever.
//!
//! Cost: one answer per packet.
//!
//! References: [`JACOBSON`], [`CHIU_JAIN`]

use super::parameters::{LARGEST_WINDOW, ONE, invalid, within};
use super::{
    Acknowledge, Actions, Algorithm, Answer, Arrival, BuildAlgorithm, ControlContext, Event, Line,
    Machines, UnderWay,
};
use crate::references::{CHIU_JAIN, JACOBSON};
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use serde::{Deserialize, Serialize};

/// Registers `Window`.
pub(super) const ENTRY: Entry<BuildAlgorithm> = Entry {
    name: "Window",
    aliases: &["Aimd", "Fixed"],
    summary: "a window of packets that are acknowledged, fixed or with additive increase and multiplicative decrease",
    parameters: &[
        Parameter {
            name: "window",
            kind: "integer in 1..=65535 [packets], without `aimd`",
            default: None,
            summary: "packets that may be under way",
        },
        Parameter {
            name: "aimd",
            kind: "true | false",
            default: Some("false"),
            summary: "whether the window follows the marks, in place of `window`",
        },
        Parameter {
            name: "start",
            kind: "integer in 1..=most [packets], with `aimd`",
            default: Some("1"),
            summary: "the first window",
        },
        Parameter {
            name: "most",
            kind: "integer in 1..=65535 [packets], with `aimd`",
            default: None,
            summary: "the largest window",
        },
    ],
    guarantees: &["no more packets under way than the window, which is at least 1"],
    references: &[JACOBSON, CHIU_JAIN],
    build,
};

/// Its parameters.
#[derive(Clone, Debug)]
pub struct Window {
    /// First window \[packets\].
    start: u32,
    /// Largest window \[2^-16 packets\]; `None`: it stays as it is.
    most: Option<u32>,
}

/// State of a sender.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    /// \[2^-16 packets\].
    window: u32,
    /// Answers until the window may be cut again.
    held: u32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Window")]
struct Parameters {
    window: Option<u64>,
    #[serde(default)]
    aimd: bool,
    start: Option<u64>,
    most: Option<u64>,
}

/// From a delivery to its answer, and from that until it counts (rule 1) \[cycles\].
const WAITS: u64 = 2;

impl Machines for Window {
    type Sender = State;
    type Receiver = ();

    fn start(&self, _: Line, actions: &mut Actions) -> State {
        actions.window = Some(self.start);
        State {
            window: self.start * ONE,
            held: 0,
        }
    }

    fn under_way(&self) -> Option<UnderWay> {
        Some(UnderWay {
            first: self.start,
            most: self.most.map_or(self.start, |most| most / ONE),
            together: 1,
            waits: WAITS,
        })
    }

    fn receive(&self, (): &mut (), arrival: Arrival) -> Option<Answer> {
        Some(Answer {
            value: arrival.is_marked.into(),
            after: 1,
        })
    }

    fn show(&self, state: &State) -> String {
        let packets = f64::from(state.window) / f64::from(ONE);
        match self.most {
            Some(_) => format!("window {packets:.3}"),
            None => String::new(),
        }
    }

    fn heeds_marks(&self) -> bool {
        self.most.is_some()
    }

    fn send(&self, sender: &mut State, _: u64, event: Event, actions: &mut Actions) {
        let Event::Answered(mark) = event else {
            return;
        };
        actions.acknowledge = Some(Acknowledge::one(1));
        let Some(most) = self.most else {
            return;
        };
        let before = sender.window / ONE;
        if mark == 0 {
            let step = (u64::from(ONE) * u64::from(ONE) / u64::from(sender.window)) as u32;
            sender.window = sender.window.saturating_add(step).min(most);
            sender.held = sender.held.saturating_sub(1);
        } else if sender.held > 0 {
            sender.held -= 1;
        } else {
            sender.held = before;
            sender.window = (sender.window / 2).max(ONE);
        }
        let after = sender.window / ONE;
        actions.window = (after != before).then_some(after);
    }
}

fn build(arguments: Arguments<'_>, _: ControlContext) -> Result<Algorithm, ArgumentError> {
    let written: Parameters = arguments.parse()?;
    let packets = |name: &str, value: u64, most: u64| {
        let why = match most {
            LARGEST_WINDOW => "what 16 bits before the point hold",
            _ => "up to `most`",
        };
        within(name, value, 1..=most, why).map(|value| value as u32)
    };
    let made = match (written.aimd, written.window) {
        (false, Some(window)) => {
            for (name, value) in [("start", written.start), ("most", written.most)] {
                if value.is_some() {
                    return Err(invalid(format!(
                        "`{name}` is for `aimd: true`; a fixed `window` has none"
                    )));
                }
            }
            Window {
                start: packets("window", window, LARGEST_WINDOW)?,
                most: None,
            }
        }
        (false, None) => {
            let message = "expected `window: packets` or `aimd: true, most: packets`";
            return Err(invalid(message));
        }
        (true, Some(_)) => {
            let message =
                "`window` is for a fixed window; with `aimd: true` it is `start` and `most`";
            return Err(invalid(message));
        }
        (true, None) => {
            let Some(most) = written.most else {
                let message =
                    "the parameter `most` is missing: with `aimd: true` the largest window";
                return Err(invalid(message));
            };
            let largest = packets("most", most, LARGEST_WINDOW)?;
            Window {
                start: packets("start", written.start.unwrap_or(1), most)?,
                most: Some(largest * ONE),
            }
        }
    };
    Ok(Algorithm::Window(made))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{arrival, made};
    use super::*;

    const LINE: Line = Line {
        pace: 1,
        largest: 8,
    };

    fn window(text: &str) -> Window {
        match made(text) {
            Algorithm::Window(window) => window,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_fixed_window_is_acknowledged_and_stays() {
        let fixed = window("Fixed(window: 4)");
        let mut actions = Actions::default();
        let mut sender = fixed.start(LINE, &mut actions);
        assert_eq!(actions.window, Some(4));
        for mark in [0, 1, 1] {
            let mut actions = Actions::default();
            fixed.send(&mut sender, 9, Event::Answered(mark), &mut actions);
            let acknowledged = Actions {
                acknowledge: Some(Acknowledge::one(1)),
                ..Actions::default()
            };
            assert_eq!(actions, acknowledged);
        }
        let mut actions = Actions::default();
        fixed.send(&mut sender, 9, Event::Started(8), &mut actions);
        assert_eq!(actions, Actions::default());
        let value = |is_marked| fixed.receive(&mut (), arrival(5, is_marked, 3)).unwrap();
        assert_eq!((value(false).value, value(true).value), (0, 1));
    }

    /// By hand, in 2^-16: 1 is 65536; 1 / 2 is 32768; 1 / 2.5 is 26214.4; 1 / (190054 / 65536) is 22598.7.
    #[test]
    fn the_window_grows_by_one_per_window_and_is_halved_once_per_window() {
        let aimd = window("Aimd(aimd: true, start: 1, most: 4)");
        let mut sender = aimd.start(LINE, &mut Actions::default());
        let steps = [
            // (mark, window in 2^-16 after it, what is set)
            (0, 131_072, Some(2)), // + 1
            (0, 163_840, None),    // + 0.5
            (0, 190_054, None),    // + 26214
            (0, 212_652, Some(3)), // + 22598
            (1, 106_326, Some(1)), // halved, the next three answers do not
            (1, 106_326, None),
            (0, 146_720, Some(2)), // + floor(2^32 / 106326) = 40394
            (1, 146_720, None),
            (1, 73_360, Some(1)), // three are over; two more do not
            (1, 73_360, None),
            (1, 73_360, None),
            (1, 65_536, None), // not below 1; one more does not
            (1, 65_536, None),
            (0, 131_072, Some(2)),
            (0, 163_840, None),
            (0, 190_054, None),
            (0, 212_652, Some(3)),
            (0, 232_849, None),    // + floor(2^32 / 212652) = 20197
            (0, 251_294, None),    // + floor(2^32 / 232849) = 18445
            (0, 262_144, Some(4)), // + 17091 is above most
            (0, 262_144, None),
        ];
        for (number, (mark, expected, set)) in steps.into_iter().enumerate() {
            let mut actions = Actions::default();
            aimd.send(&mut sender, 10, Event::Answered(mark), &mut actions);
            assert_eq!((sender.window, actions.window), (expected, set), "{number}");
            assert_eq!(actions.acknowledge, Some(Acknowledge::one(1)));
        }
    }
}
