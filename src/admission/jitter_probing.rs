//! Jitter probing: a flow sends probe packets on a service level with little right to the channels, and is granted if their
//! latencies differ by less than its jitter bound (000 S-27, equations 5.8 and 5.9; 003 S17, equations 5.18 and 5.19).
//!
//! # Rules
//! 1. A flow with a jitter bound J is tried (D59). It is granted if all packets of its session have come, none was rejected at its
//!    source, and 0 < largest - least network latency < J. So a fabric in which all packets take the same time refuses: the
//!    source counts this as a sign that the probes did not meet anybody. With `accept_zero` it grants.
//! 2. A flow without a jitter bound, best effort, is granted as soon as it asks.
//!
//! # Deviations
//! In the program that the source's results came from, probes went in the slots of the flow that asks. Here the gaps between
//! them are drawn around a mean, by default that of packets at the peak: six packets of 34 flits of a flow with a peak of 0.0068
//! flits per cycle (twice 0.0001 packets per cycle) take about 30,000 cycles of every round. A smaller `gap` makes admission
//! faster, and the probes of all flows on trial a larger load. There every packet that the source rejected counted, here
//! those of the session.
//!
//! Cost: that of the packets; O(flows on trial) per look.
//!
//! References: [`BIANCHI`]

use super::{
    Admission, AdmissionContext, BuildAdmission, DeskState, Fabric, Heard, Request, Sessions,
    Shown, Trials, invalid,
};
use crate::references::{BIANCHI, REINEMO, SEM_JACOBSEN};
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::units::Time;
use serde::Deserialize;
use std::sync::Arc;

/// Registers `JitterProbing`.
pub(super) const ENTRY: Entry<BuildAdmission> = Entry {
    name: "JitterProbing",
    aliases: &["JP", "PB"],
    summary: "the latencies of probe packets differ by less than the jitter bound; without a bound everything is admitted",
    parameters: &[
        Parameter {
            name: "packets",
            kind: "1..=65535",
            default: Some("6"),
            summary: "probe packets of a flow that asks",
        },
        Parameter {
            name: "sl",
            kind: "None | 0..=15",
            default: Some("None"),
            summary: "their service level; None = that of the class",
        },
        Parameter {
            name: "gap",
            kind: "None | time, at least 1 cycle",
            default: Some("None"),
            summary: "mean time from one to the next; None = that of packets at the peak",
        },
        Parameter {
            name: "queue",
            kind: "integer >= 1 [packets]",
            default: Some("2"),
            summary: "how many of a flow may wait at its source; one made then is rejected",
        },
        Parameter {
            name: "look",
            kind: "time, at least 1 cycle",
            default: Some("\"100 cycles\""),
            summary: "from one look at the probes that came to the next",
        },
        Parameter {
            name: "sessions",
            kind: "Own | Shared",
            default: Some("Own"),
            summary: "whether a destination counts the probes of each flow, or all of a class together (the source's program)",
        },
        Parameter {
            name: "accept_zero",
            kind: "true | false",
            default: Some("false"),
            summary: "whether latencies may all be the same",
        },
    ],
    guarantees: &["the probes of a flow that is admitted kept its jitter bound"],
    references: &[BIANCHI, REINEMO, SEM_JACOBSEN],
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "JitterProbing", default)]
struct Written {
    packets: u32,
    sl: Option<u8>,
    gap: Option<Time>,
    queue: u32,
    look: Time,
    sessions: Sessions,
    accept_zero: bool,
}

impl Default for Written {
    fn default() -> Self {
        Self {
            packets: 6,
            sl: None,
            gap: None,
            queue: 2,
            look: Time::Cycles(100),
            sessions: Sessions::Own,
            accept_zero: false,
        }
    }
}

#[derive(Debug)]
struct JitterProbing {
    trials: Trials,
    accept_zero: bool,
}

impl Admission for JitterProbing {
    fn start(&self, _: Fabric<'_>) -> DeskState {
        DeskState::new()
    }

    fn ask(&self, _: &mut DeskState, _: &Request, _: Shown<'_>) -> bool {
        true
    }

    fn trials(&self) -> Option<Trials> {
        Some(self.trials)
    }

    fn judge(&self, _: &mut DeskState, request: &Request, heard: Heard) -> bool {
        let (Some((least, most)), Some(bound)) = (heard.latencies, request.jitter) else {
            return false;
        };
        let jitter = most - least;
        let is_known = jitter > 0 || self.accept_zero;
        heard.received >= heard.packets && heard.rejected == 0 && is_known && jitter < bound
    }
}

fn build(
    arguments: Arguments<'_>,
    context: AdmissionContext,
) -> Result<Arc<dyn Admission>, ArgumentError> {
    let written: Written = arguments.parse()?;
    let within = |name, value: u32, most| match value {
        value if (1..=most).contains(&value) => Ok(value),
        _ => Err(invalid(format!(
            "`{name}` is {value}: expected 1 to {most}"
        ))),
    };
    let cycles = |name, time: Time| {
        let cycles = time.cycles(context.clock);
        if (1..1 << 31).contains(&cycles) {
            return Ok(cycles);
        }
        Err(invalid(format!(
            "`{name}` is {cycles} cycles: expected 1 to {} cycles",
            (1_u64 << 31) - 1
        )))
    };
    if let Some(level) = written.sl.filter(|&level| level > 15) {
        return Err(invalid(format!(
            "`sl`: there is no service level {level}: expected 0 to 15"
        )));
    }
    let gap = written.gap.map(|gap| cycles("gap", gap)).transpose()?;
    Ok(Arc::new(JitterProbing {
        trials: Trials {
            packets: within("packets", written.packets, u16::MAX.into())?,
            gap: gap.map(|gap| gap as u32),
            queue: within("queue", written.queue, u32::MAX)?,
            level: written.sl,
            look: cycles("look", written.look)?,
            sessions: written.sessions,
        },
        accept_zero: written.accept_zero,
    }))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{build, request};
    use super::*;

    /// What a desk says to the packets of a session of six; the bound is 15 cycles.
    fn judge(text: &str, received: u32, latencies: Option<(u64, u64)>, rejected: u32) -> bool {
        let control = build(text);
        let mut desk = control.start(Fabric { paces: &[] });
        let request = Request {
            jitter: Some(15),
            ..request(0, 1)
        };
        let heard = Heard {
            packets: 6,
            received,
            latencies,
            rejected,
        };
        control.judge(&mut desk, &request, heard)
    }

    /// C15, A-6C: all six, a spread above 0 and strictly below the bound, none rejected.
    #[test]
    fn all_packets_come_and_their_spread_is_within_the_bound() {
        let judge = |received, latencies, rejected| {
            judge("JitterProbing()", received, Some(latencies), rejected)
        };
        assert!(judge(6, (60, 74), 0));
        assert!(judge(6, (60, 61), 0));
        assert!(!judge(6, (60, 75), 0), "the bound itself");
        assert!(!judge(6, (60, 60), 0), "no spread");
        assert!(!judge(5, (60, 74), 0), "one is missing");
        assert!(judge(7, (60, 74), 0), "some of another flow, shared");
        assert!(!judge(6, (60, 74), 1), "one was rejected");
    }

    #[test]
    fn no_spread_is_accepted_on_demand_and_no_packet_never() {
        let text = "JitterProbing(accept_zero: true)";
        assert!(judge(text, 6, Some((60, 60)), 0));
        assert!(!judge(text, 6, Some((60, 75)), 0));
        assert!(!judge(text, 0, None, 0));
    }

    /// 34 flits at a peak of 34 flits in 5000 cycles.
    #[test]
    fn gaps_are_those_of_packets_at_the_peak() {
        let trials = build("JitterProbing()").trials().unwrap();
        let peak = (34_u64 << 32) / 5000;
        assert_eq!(trials.mean_gap(peak, 34), 5001);
        assert_eq!(trials.mean_gap(peak + 1, 34), 5000);
        assert_eq!(trials.mean_gap(1, 34), (1 << 31) - 1);
        let trials = build("JitterProbing(gap: \"200 cycles\")").trials();
        assert_eq!(trials.unwrap().mean_gap(peak, 34), 200);
    }

    #[test]
    fn best_effort_is_granted() {
        let control = build("JitterProbing()");
        let mut desk = control.start(Fabric { paces: &[] });
        assert!(control.ask(&mut desk, &request(0, 1), Shown::default()));
    }
}
