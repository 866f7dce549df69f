//! Admission: which flows may begin (section 10 of the model).
//!
//! An algorithm is a *desk* that is asked for one flow after the other, and told when one is over, and perhaps a *meter* at
//! every host that is told what arrives there. Both are pure state machines; when they are asked and told is D53 and D55. Some [try](Trials)
//! flows: they judge by what became of probe packets (D59). Engine and reference model share them.
//!
//! New ones: one file with an [`Entry`](crate::registry::Entry), one `mod` line, one line in the list.

mod admit_all;
mod arbitration_table;
mod calibrated_load;
mod egress;
mod jitter_probing;
mod link_by_link;
mod measured_sum;
pub mod meter;

pub use meter::{Arrived, Meter};

use crate::registry::{ArgumentError, Arguments, Parameter, Registry};
use crate::units::Clock;
use serde::Deserialize;
use std::fmt::Debug;
use std::sync::Arc;

/// Every admission control a scenario can name.
pub static ADMISSIONS: Registry<BuildAdmission> = Registry {
    kind: "admission control",
    entries: &[
        admit_all::ENTRY,
        arbitration_table::ENTRY,
        calibrated_load::ENTRY,
        egress::ENTRY,
        jitter_probing::ENTRY,
        link_by_link::ENTRY,
        measured_sum::ENTRY,
    ],
    unclear: &[],
};

/// A flow that asks to begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its id.
    pub flow: u32,
    /// Traffic class.
    pub class: u16,
    /// Service level.
    pub level: u8,
    /// Peak rate \[2^-32 flits per cycle\].
    pub peak: u64,
    /// Largest packet of its class \[flits\].
    pub packet: u16,
    /// Delay bound \[cycles\]; `None` = none.
    pub delay: Option<u64>,
    /// Jitter bound \[cycles\]; `None` = none.
    pub jitter: Option<u64>,
    /// Channels from its source to its destination, with those of both hosts, each with the lanes that its service level can
    /// have there, as a mask.
    pub way: Vec<(u32, u32)>,
}

/// What a desk is shown with a request.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shown<'a> {
    /// Cycle of the round.
    pub now: u64,
    /// Meter of the destination, if it measures.
    pub meter: Option<&'a Meter>,
    /// Loads, if it looks at them and this is not the first round.
    pub loads: Option<Loads<'a>>,
}

/// Flits granted to channels and lanes since the round before.
#[derive(Clone, Copy, Debug)]
pub struct Loads<'a> {
    /// `[channel][lane]`.
    pub flits: &'a [u64],
    /// Lanes of a channel.
    pub lanes: usize,
    /// Length of the time \[cycles\].
    pub cycles: u64,
}

impl Loads<'_> {
    /// What some lanes of a channel carried \[2^-32 flits per cycle\].
    fn rate(&self, channel: u32, lanes: u32) -> u64 {
        let first = channel as usize * self.lanes;
        let of_lanes = (0..self.lanes).filter(|&lane| lanes >> lane & 1 == 1);
        let sum: u64 = of_lanes.map(|lane| self.flits[first + lane]).sum();
        ((u128::from(sum) << 32) / u128::from(self.cycles)) as u64
    }
}

/// How a desk tries flows (D59).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trials {
    /// Packets of a session, at least 1.
    pub packets: u32,
    /// Mean gap between them \[cycles\], at least 1; `None` = that of packets at the peak.
    pub gap: Option<u32>,
    /// Packets that may wait at the source, at least 1.
    pub queue: u32,
    /// Service level of the packets; `None` = that of the class.
    pub level: Option<u8>,
    /// From look to look \[cycles\], at least 1.
    pub look: u64,
    /// Whose sessions a counter knows.
    pub sessions: Sessions,
}

/// Whose sessions a counter knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Sessions {
    /// Those of one flow.
    Own,
    /// Those of all flows of a class with one destination.
    Shared,
}

impl Trials {
    /// Mean gap between packets of a flow with such a peak, in packets of at most `packet` flits \[cycles\].
    pub fn mean_gap(&self, peak: u64, packet: u16) -> u32 {
        let at_peak = (u64::from(packet) << 32).div_ceil(peak.max(1));
        self.gap.unwrap_or(at_peak.min((1 << 31) - 1) as u32)
    }
}

/// What became of the packets of a session that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heard {
    /// Packets of a session.
    pub packets: u32,
    /// Packets that the counter has received.
    pub received: u32,
    /// Least and most network latency of these \[cycles\]; `None` = there were none.
    pub latencies: Option<(u64, u64)>,
    /// Packets of the session that were rejected at the source.
    pub rejected: u32,
}

/// What a desk knows of the fabric.
#[derive(Clone, Copy, Debug)]
pub struct Fabric<'a> {
    /// Cycles per flit of every channel.
    pub paces: &'a [u32],
}

/// State of a desk; what the numbers mean is the algorithm's own business.
pub type DeskState = Vec<u64>;

/// An admission control.
pub trait Admission: Debug + Send + Sync {
    /// State of the desk before the first request.
    fn start(&self, fabric: Fabric<'_>) -> DeskState;

    /// Whether the flow is admitted.
    fn ask(&self, desk: &mut DeskState, request: &Request, shown: Shown<'_>) -> bool;

    /// Whether it grants no flow later that it refuses before all others, with nothing measured.
    fn refuses_for_ever(&self) -> bool {
        false
    }

    /// Service levels whose flows it may refuse; those of others are always granted. `None`: all levels.
    fn limited(&self) -> Option<[bool; 16]> {
        None
    }

    /// A flow that was granted is over: the desk takes back what it keeps for it, so that it is as if it had never asked (D53).
    fn release(&self, desk: &mut DeskState, request: &Request) {
        let _ = (desk, request);
    }

    /// The meter of a host before cycle 0; `None`: it does not measure.
    fn meter(&self) -> Option<Meter> {
        None
    }

    /// Whether it looks at loads.
    fn looks_at_loads(&self) -> bool {
        false
    }

    /// How it tries flows with a jitter bound in place of being asked for them; `None`: it does not.
    fn trials(&self) -> Option<Trials> {
        None
    }

    /// Whether a flow that was tried is admitted.
    fn judge(&self, _: &mut DeskState, _: &Request, _: Heard) -> bool {
        false
    }
}

/// What an algorithm may know when it is made.
#[derive(Clone, Copy, Debug)]
pub struct AdmissionContext {
    /// Flit size and reference rate.
    pub clock: Clock,
    /// What each lane has of a saturated channel by the arbitration tables of the fabric, packets of the largest size on all
    /// of them \[fraction\]; `None`: it has no tables, or legacy ones.
    pub lanes: Option<[f64; 16]>,
}

/// Makes the algorithm from its arguments; the error names what is wrong and what is allowed.
pub type BuildAdmission =
    fn(Arguments<'_>, AdmissionContext) -> Result<Arc<dyn Admission>, ArgumentError>;

/// A wrong value.
fn invalid(message: impl Into<String>) -> ArgumentError {
    ArgumentError {
        message: message.into(),
        line: 1,
        column: 1,
    }
}

/// What a channel may carry, where links are divided.
const UTILISATION: Parameter = Parameter {
    name: "utilisation",
    kind: "number in (0, 1]",
    default: Some("0.5"),
    summary: "effective rate of a channel, as a part of its rate",
};

/// A part of a channel's rate \[2^-32 flits per cycle\], rounded down.
fn rate(part: f64, pace: u32) -> u64 {
    // a product with a power of two is exact
    (part * crate::control::ONE_FLIT_PER_CYCLE as f64 / f64::from(pace)) as u64
}

/// A number in (0, 1].
fn check_part(name: &str, part: f64) -> Result<(), ArgumentError> {
    if part > 0.0 && part <= 1.0 {
        Ok(())
    } else {
        Err(invalid(format!(
            "`{name}` is {part}; it must be above 0 and at most 1"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An algorithm as a scenario names it.
    pub(super) fn build(text: &str) -> Arc<dyn Admission> {
        try_build(text).unwrap_or_else(|mistake| panic!("{text}: {mistake}"))
    }

    fn try_build(text: &str) -> Result<Arc<dyn Admission>, ArgumentError> {
        let (name, arguments) = text.split_at(text.find('(').unwrap());
        let context = AdmissionContext {
            clock: Clock {
                flit_bytes: 1,
                reference_rate: 8_000_000_000,
            },
            lanes: Some(std::array::from_fn(|lane| {
                [0.25, 0.5, 0.25, 0.0][lane.min(3)]
            })),
        };
        let build = ADMISSIONS.find(name).unwrap().build;
        build(Arguments { text: arguments }, context)
    }

    /// A request over no channel.
    pub(super) fn request(level: u8, peak: u64) -> Request {
        Request {
            flow: 0,
            class: 0,
            level,
            peak,
            packet: 34,
            delay: None,
            jitter: None,
            way: Vec::new(),
        }
    }

    /// A-6D: flows ask and end in any order; what is kept never depends on who has ended, and when all have, the desk is as it was
    /// before the first request.
    #[test]
    fn a_flow_that_is_released_leaves_nothing_behind() {
        let stateless = [
            "AdmitAll",
            "EgressMeasurement",
            "JitterProbing",
            "MeasuredSum",
        ];
        for entry in ADMISSIONS.entries {
            let text = match entry.name {
                "ArbitrationTable" => "ArbitrationTable(tables: [[0, 1], [2]])",
                "CalibratedLoad" => "CalibratedLoad(groups: [([0, 1], 1.5), ([2], 0.7)])",
                "LinkByLink" => "LinkByLink(utilisation: 0.9, shares: [(0, 1), (1, 2), (2, 3)])",
                name => {
                    assert!(stateless.contains(&name), "{name}: give it arguments here");
                    continue;
                }
            };
            let control = build(text);
            let before = control.start(Fabric {
                paces: &[1, 2, 1, 3, 1, 1],
            });
            let mut dice = crate::rng::stream(1, crate::rng::Purpose::Topology, 6);
            let (mut desk, mut held, mut refused) = (before.clone(), Vec::<Request>::new(), 0);
            for _ in 0..3000 {
                let mut drawn = |below| crate::rng::below(&mut dice, below);
                if !held.is_empty() && drawn(2) == 0 {
                    let gone = held.swap_remove(drawn(held.len() as u32) as usize);
                    control.release(&mut desk, &gone);
                } else {
                    let way = [drawn(2), 2 + drawn(2), 4 + drawn(2)];
                    let request = Request {
                        way: way.iter().map(|&channel| (channel, 1)).collect(),
                        ..request(drawn(4) as u8, 1 + u64::from(drawn(1 << 31)) / 4)
                    };
                    if control.ask(&mut desk, &request, Shown::default()) {
                        held.push(request);
                    } else {
                        refused += 1;
                    }
                }
                // what is kept is what those keep that are here, in any order
                let mut anew = before.clone();
                for request in held.iter().rev() {
                    assert!(control.ask(&mut anew, request, Shown::default()), "{text}");
                }
                assert_eq!(desk, anew, "{text}");
            }
            assert!(refused > 20, "{text}: {refused}");
            for request in &held {
                control.release(&mut desk, request);
            }
            assert_eq!(desk, before, "{text}");
        }
    }

    #[test]
    #[allow(clippy::too_many_lines, reason = "mostly a list of arguments")]
    fn impossible_parameters_are_refused_with_what_is_allowed() {
        for (text, message) in [
            (
                "CalibratedLoad(groups: [])",
                "`groups`: expected at least one group",
            ),
            (
                "CalibratedLoad(groups: [([], 1.0)])",
                "each with at least one service level",
            ),
            (
                "CalibratedLoad(groups: [([16], 1.0)])",
                "no service level 16: expected 0 to 15",
            ),
            (
                "CalibratedLoad(groups: [([1, 1], 1.0)])",
                "service level 1 is in two groups",
            ),
            (
                "CalibratedLoad(groups: [([1], 0.0)])",
                "a limit is 0: expected a number above 0",
            ),
            (
                "LinkByLink(utilisation: 1.5, shares: [(0, 1)])",
                "`utilisation` is 1.5; it must be above 0",
            ),
            (
                "LinkByLink(shares: [(2, 0.0)])",
                "the weight of service level 2 is 0",
            ),
            (
                "LinkByLink(shares: [(2, 1), (2, 1)])",
                "service level 2 is there twice",
            ),
            (
                "LinkByLink(shares: [])",
                "one of `shares`, `available` and `inverse` says",
            ),
            (
                "LinkByLink(shares: [(0, 1)], available: [1])",
                "one of `shares`, `available` and `inverse` says",
            ),
            (
                "LinkByLink(available: [16])",
                "`available`: there is no service level 16",
            ),
            (
                "LinkByLink(inverse: [1], total: 7)",
                "`total` is that of `shares`",
            ),
            (
                "MeasuredSum(shares: [])",
                "`total` is 0; it must be above 0",
            ),
            ("ArbitrationTable(tables: [])", "`tables` is empty"),
            (
                "ArbitrationTable(tables: [[1], [1]])",
                "service level 1 is there twice",
            ),
            (
                "ArbitrationTable(tables: [[16]])",
                "there is no service level 16",
            ),
            ("MeasuredSum(shares: [(17, 1)])", "no service level 17"),
            (
                "EgressMeasurement(slots: 1)",
                "`slots` is 1: expected 2 to 1024",
            ),
            (
                "EgressMeasurement(windows: 0)",
                "`windows` is 0: expected 2 to 64",
            ),
            ("EgressMeasurement(alpha: -1)", "`alpha` is -1"),
            (
                "JitterProbing(packets: 0)",
                "`packets` is 0: expected 1 to 65535",
            ),
            ("JitterProbing(queue: 0)", "`queue` is 0: expected 1 to"),
            ("JitterProbing(sl: 16)", "no service level 16"),
            (
                "JitterProbing(gap: \"0 cycles\")",
                "`gap` is 0 cycles: expected 1",
            ),
            (
                "JitterProbing(look: \"0 cycles\")",
                "`look` is 0 cycles: expected 1",
            ),
            ("JitterProbing(sessions: Common)", "Own"),
        ] {
            let error = try_build(text).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
