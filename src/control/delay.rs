//! Windows by measured latency, as in Swift: below a target the window grows, above it shrinks.
//!
//! # Rules
//! 1. Every packet is answered with its network latency l, as 32 bits (longer ones as the largest number), 1 cycle after its
//!    delivery. An answer acknowledges one packet, 1 cycle later.
//! 2. The window w, `start` at first, is a number of packets; floor(w), at least 1, may be under way.
//! 3. l < `target`: w := w + `increase` / w if w >= 1, else w + `increase`. So w grows by about `increase` in each window of answers.
//! 4. l >= `target`: w := w * max(1 - `beta` * (l - `target`) / l, 1 - `most_decrease`), unless the last such cut was fewer than
//!    l cycles ago. w stays at least 2^-10.
//! 5. w is at most `most`. Below 1 one packet is under way and packets are paced: the rate is w * (largest packet) / l flits per cycle.
//!
//! # Numbers
//! w, `increase`, `beta` and `most_decrease` are in 2^-16, parameters rounded to the nearest; quotients and products are rounded
//! down, but an increase is at least 2^-16. The rate is in 2^-32 flits per cycle, rounded down, at most 2^32 and at least 2 * (largest
//! packet of the class) + 1, so that a packet goes within 2^31 cycles.
//!
//! # Source
//! Swift (Kumar et al., 2020), algorithm 1, which follows TIMELY (Mittal et al., 2015): `beta` 0.8 is TIMELY's. The paper lists
//! no values of its own for the others; `increase` 1 and `most_decrease` 0.5 are those of TCP, as is the first window.
//!
//! Deviations: l is the way of the packet alone, from its start on its host's channel, not a round trip; `target` is to be chosen
//! so, the same for all flows (Swift's depends on hops and windows). The round trip of rule 4 is taken as l, so
//! cuts can follow each other faster by the way back; the pacing of rule 5 likewise. There is one window, for the fabric; none
//! for the receiving host, and nothing is lost.
//!
//! Cost: one answer per packet.
//!
//! References: [`KUMAR_SWIFT`], [`MITTAL_TIMELY`], [`JACOBSON`]

use super::parameters::{LARGEST_WINDOW, ONE, cycles, fixed, within};
use super::{
    Acknowledge, Actions, Algorithm, Answer, Arrival, BuildAlgorithm, ControlContext, Event, Limit,
    Line, Machines, ONE_FLIT_PER_CYCLE,
};
use crate::references::{JACOBSON, KUMAR_SWIFT, MITTAL_TIMELY};
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::units::Time;
use serde::{Deserialize, Serialize};

/// Registers `Delay`.
pub(super) const ENTRY: Entry<BuildAlgorithm> = Entry {
    name: "Delay",
    aliases: &["Swift"],
    summary: "windows by measured latency, as in Swift: additive increase below a target, decrease in proportion above",
    parameters: &[
        Parameter {
            name: "target",
            kind: "time, at least 1 cycle",
            default: None,
            summary: "network latency below which the window grows",
        },
        Parameter {
            name: "most",
            kind: "integer in 1..=65535 [packets]",
            default: None,
            summary: "the largest window",
        },
        Parameter {
            name: "start",
            kind: "integer in 1..=most [packets]",
            default: Some("1"),
            summary: "the first window",
        },
        Parameter {
            name: "increase",
            kind: "number above 0, at most 65535 [packets]",
            default: Some("1.0"),
            summary: "what a window of answers below the target adds",
        },
        Parameter {
            name: "beta",
            kind: "number above 0, at most 1",
            default: Some("0.8"),
            summary: "part of the excess latency by which the window is cut",
        },
        Parameter {
            name: "most_decrease",
            kind: "number above 0, at most 1",
            default: Some("0.5"),
            summary: "largest part that a cut takes",
        },
    ],
    guarantees: &[
        "no more packets under way than the window, and at least one packet in 2^31 cycles",
    ],
    references: &[KUMAR_SWIFT, MITTAL_TIMELY, JACOBSON],
    build,
};

/// Smallest window \[2^-16 packets\].
const LEAST: u32 = ONE >> 10;

/// Its parameters, in 2^-16.
#[derive(Clone, Debug)]
pub struct Delay {
    /// \[cycles\].
    target: u64,
    /// \[packets\].
    start: u32,
    most: u32,
    increase: u32,
    beta: u32,
    most_decrease: u32,
}

/// State of a sender.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    /// Largest packet \[flits\].
    largest: u16,
    /// \[2^-16 packets\].
    window: u32,
    /// Cycle of the last cut.
    cut_at: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Delay")]
struct Parameters {
    target: Time,
    most: u64,
    #[serde(default = "one")]
    start: u64,
    #[serde(default = "increase")]
    increase: f64,
    #[serde(default = "beta")]
    beta: f64,
    #[serde(default = "most_decrease")]
    most_decrease: f64,
}

fn one() -> u64 {
    1
}

fn increase() -> f64 {
    1.0
}

fn beta() -> f64 {
    0.8
}

fn most_decrease() -> f64 {
    0.5
}

impl Delay {
    /// The window after an answer.
    fn grown(&self, window: u32) -> u32 {
        let step = u64::from(self.increase) * u64::from(ONE) / u64::from(window.max(ONE));
        let step = step.max(1) as u32;
        window.saturating_add(step).min(self.most)
    }

    /// The window after a cut for a latency of at least the target.
    fn cut(&self, window: u32, latency: u64) -> u32 {
        let part = u64::from(self.beta) * (latency - self.target) / latency;
        let left = u64::from(ONE) - part.min(self.most_decrease.into());
        (((u64::from(window) * left) >> 16) as u32).max(LEAST)
    }
}

impl Machines for Delay {
    type Sender = State;
    type Receiver = ();

    fn start(&self, line: Line, actions: &mut Actions) -> State {
        actions.window = Some(self.start);
        State {
            largest: line.largest,
            window: self.start * ONE,
            cut_at: None,
        }
    }

    fn receive(&self, (): &mut (), arrival: Arrival) -> Option<Answer> {
        Some(Answer {
            value: u32::try_from(arrival.latency).unwrap_or(u32::MAX),
            after: 1,
        })
    }

    fn show(&self, state: &State) -> String {
        format!("window {:.3}", f64::from(state.window) / f64::from(ONE))
    }

    fn send(&self, sender: &mut State, now: u64, event: Event, actions: &mut Actions) {
        let Event::Answered(latency) = event else {
            return;
        };
        actions.acknowledge = Some(Acknowledge::one(1));
        let latency = u64::from(latency).max(1);
        let before = sender.window;
        if latency < self.target {
            sender.window = self.grown(before);
        } else if sender.cut_at.is_none_or(|last| now - last >= latency) {
            sender.window = self.cut(before, latency);
            sender.cut_at = Some(now);
        }
        let packets = |window: u32| (window / ONE).max(1);
        let after = packets(sender.window);
        actions.window = (after != packets(before)).then_some(after);
        if sender.window < ONE {
            let largest = u64::from(sender.largest);
            let rate = u64::from(sender.window) * largest * u64::from(ONE) / latency;
            let rate = rate.clamp(2 * largest + 1, ONE_FLIT_PER_CYCLE);
            actions.limit = Some(Limit::Rate(rate));
        } else if before < ONE {
            actions.limit = Some(Limit::None);
        }
    }

    fn ignores_starts(&self) -> bool {
        true
    }
}

fn build(arguments: Arguments<'_>, context: ControlContext) -> Result<Algorithm, ArgumentError> {
    let written: Parameters = arguments.parse()?;
    let why = "what 16 bits before the point hold";
    let most = within("most", written.most, 1..=LARGEST_WINDOW, why)?;
    let start = within("start", written.start, 1..=most, "up to `most`")?;
    Ok(Algorithm::Delay(Delay {
        target: cycles("target", written.target, context.clock)?,
        start: start as u32,
        most: most as u32 * ONE,
        increase: fixed("increase", written.increase, LARGEST_WINDOW as f64)?,
        beta: fixed("beta", written.beta, 1.0)?,
        most_decrease: fixed("most_decrease", written.most_decrease, 1.0)?,
    }))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{arrival, made};
    use super::*;

    fn delay(text: &str) -> Delay {
        match made(text) {
            Algorithm::Delay(own) => own,
            other => panic!("{other:?}"),
        }
    }

    /// By hand: target 100, beta 1/2, no cut by more than 3/4, at most 3 packets; packets of 10 flits. A window of 1 is 65536.
    #[test]
    fn the_window_follows_the_latency() {
        let own = delay(
            "Delay(target: \"100 cycles\", most: 3, start: 2, beta: 0.5, most_decrease: 0.25)",
        );
        let line = Line {
            pace: 1,
            largest: 10,
        };
        let mut actions = Actions::default();
        let mut sender = own.start(line, &mut actions);
        assert_eq!(actions.window, Some(2));
        let rate = |rate| Some(Limit::Rate(rate));
        // cycle, latency, window in 2^-16, set window, set limit
        let steps = [
            (10, 99, 163_840, None, None),                // + 1/2
            (20, 50, 190_054, None, None),                // + floor(65536 / 2.5) = 26214
            (30, 60, 196_608, Some(3), None),             // + 22598 is above 3
            (40, 125, 176_949, Some(2), None), // 1 - 0.5 * 25 / 125 = 0.9: 65536 - 6553 = 58983, times 3
            (164, 125, 176_949, None, None),   // 124 cycles after the cut
            (165, 125, 159_255, None, None),   // 176949 * 58983 / 65536 = 159255.7
            (500, 100, 159_255, None, None),   // at the target: a cut by nothing
            (599, 1000, 159_255, None, None),  // which counts as one
            (1500, 1000, 119_441, Some(1), None), // 1 - 0.45 is below 0.75: 159255 * 0.75 = 119441.25
            (3000, 1000, 89_580, None, None),     // 0.75 of it
            (4000, 1000, 67_185, None, None),     // 0.75 of it
            (5000, 1000, 50_388, None, rate(33_022_279)), // 50388 * 10 * 65536 / 1000 = 33022279.7
            (5010, 80, 115_924, None, Some(Limit::None)), // + 1: below a window of 1
            (5020, 80, 152_973, Some(2), None),   // + floor(2^32 / 115924) = 37049
        ];
        for (now, latency, window, set, limit) in steps {
            let mut actions = Actions::default();
            own.send(&mut sender, now, Event::Answered(latency), &mut actions);
            let expected = Actions {
                limit,
                window: set,
                timer: None,
                acknowledge: Some(Acknowledge::one(1)),
                ..Actions::default()
            };
            assert_eq!((sender.window, actions), (window, expected), "{now}");
        }
        let mut actions = Actions::default();
        own.send(&mut sender, 6000, Event::Started(10), &mut actions);
        assert_eq!(actions, Actions::default());
    }

    #[test]
    fn windows_and_rates_have_a_least_value() {
        let own = delay("Delay(target: \"1 cycles\", most: 1, beta: 1, most_decrease: 1)");
        let line = Line {
            pace: 1,
            largest: 7,
        };
        let mut sender = own.start(line, &mut Actions::default());
        let mut actions = Actions::default();
        let longest = Event::Answered(u32::MAX);
        own.send(&mut sender, 10, longest, &mut actions);
        // 2^-10 of a packet of 7 flits in 2^32 cycles is less than 2 * 7 + 1
        assert_eq!((sender.window, actions.limit), (64, Some(Limit::Rate(15))));
    }

    #[test]
    fn answers_tell_the_latency_as_far_as_it_fits() {
        let own = delay("Delay(target: \"100 cycles\", most: 3)");
        for (latency, value) in [(17, 17), (1 << 32, u32::MAX)] {
            let answer = own.receive(&mut (), arrival(1 << 40, true, latency));
            assert_eq!(answer, Some(Answer { value, after: 1 }));
        }
    }
}
