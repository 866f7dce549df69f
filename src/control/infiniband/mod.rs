//! InfiniBand's congestion control (annex A10 of the standard), the part of channel adapters.
//!
//! # Rules
//! 1. The receiver sets BECN for a packet with FECN. `answers: Cnp`: only such packets are answered, each by itself.
//!    `answers: Acknowledgement`: every packet is answered, with the bit in it. An answer is created 1 cycle after the delivery.
//! 2. The sender has an index into the congestion control table, CCTI: `minimum` at first. On BECN it becomes
//!    min(CCTI + `increase`, `limit`), and the timer is started if it is idle and CCTI is above `minimum`.
//! 3. When the timer is over, CCTI - 1; it is started again while CCTI is above `minimum`. BECN does not restart it.
//! 4. Entry (shift h, multiplier m) of the table is the limit (m, h) of D30: after a packet, m times floor(its time / 2^h); no
//!    limit with m = 0. So a flow that always has a packet gets 1 / (1 + m / 2^h) of its link, if 2^h divides the packet's cycles.
//!
//! 5. `per: ServiceLevel` (bit 0 of `Port_Control`): one CCTI, one timer and one delay for all flows of the class at a host, as
//!    hfi1 has them; after a packet of any of them the next packet of any of them waits (a group of D44). `QueuePair`: each flow
//!    has its own.
//! 6. A BECN that takes CCTI from below `trigger` to it or above logs an event (`Trigger_Threshold`); with 0 none does.
//!
//! `table: Linear(most: M, shift: h)`: entry i has multiplier floor(i * M / `limit`) and shift h, the shape of opa-fm.
//! `table: Longest(time)` is this shape made for the largest delay, as opa-fm makes it: h is the largest shift with which
//! M = floor(time * 2^h / (time of the largest packet of the class on the reference link)) fits 14 bits.
//! `table: Entries([(h, m), ...])`: from entry 0 on, as OpenSM's `cc_cct`.
//! psm2 has entries of 0, 1/8, 2/8, ..., then coarser ones: `Entries([(3, 0), (3, 1), (3, 2), ...])`.
//!
//! Units: `timer` is a time; `CCTI_Timer` counts 1.024 us, so 150 of them are "153.6 us". It is rounded to whole cycles.
//!
//! `preset: NAME` takes what is not written from a set in use ([`presets`]); the switch's part is
//! `fabric.switch.marking: InfiniBand(preset: NAME)`.
//!
//! Deviations: a flow is a queue pair with a timer of its own. A service level is that of one class. hfi1 logs every BECN at
//! or above the trigger threshold. CCTI starts at the minimum, which the standard lets it return to. `window` is not in the
//! annex: it bounds what is unacknowledged, as reliable connections do.
//!
//! Cost: one answer per marked packet, or per packet.
//!
//! References: [`IBA`], [`GRAN_HARDWARE`], [`PFISTER_CONTROL`]

pub mod presets;
mod table;

use self::presets::Preset;
use self::table::{Table, entries};
use super::parameters::{LARGEST_WINDOW, cycles, invalid, within};
use super::{
    Acknowledge, Actions, Algorithm, Answer, Arrival, BuildAlgorithm, ControlContext, Event, Limit,
    Line, Machines,
};
use crate::references::{GRAN_HARDWARE, IBA, PFISTER_CONTROL};
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::units::Time;
use serde::{Deserialize, Serialize};

/// Registers `InfiniBand`.
pub(super) const ENTRY: Entry<BuildAlgorithm> = Entry {
    name: "InfiniBand",
    aliases: &["Cca", "AnnexA10"],
    summary: "InfiniBand's congestion control: delays between packets from a table, by BECN and a timer",
    parameters: &[
        Parameter {
            name: "preset",
            kind: "None | CcManager | FirstExperiences | IbCcConfig | OpaFm",
            default: Some("None"),
            summary: "parameter set in use that what is not written is taken from, if it has it",
        },
        Parameter {
            name: "timer",
            kind: "time, at least 1 cycle, at most 65535 * 1.024 us",
            default: Some("the preset's, if it has one"),
            summary: "after which CCTI falls by 1; CCTI_Timer * 1.024 us",
        },
        Parameter {
            name: "table",
            kind: "Linear(most: 0..=16383, shift: 0..=3) | Longest(time) | Entries([(shift, multiplier)])",
            default: Some("the preset's, if it has one"),
            summary: "delays; Linear: multipliers from 0 to `most` in entry `limit`; Longest: up to a delay",
        },
        Parameter {
            name: "increase",
            kind: "integer in 1..=255",
            default: Some("1, or the preset's"),
            summary: "what BECN adds to CCTI, CCTI_Increase",
        },
        Parameter {
            name: "limit",
            kind: "integer in 0..=16319",
            default: Some("127, or the preset's; with Entries the last of them"),
            summary: "largest CCTI, CCTI_Limit",
        },
        Parameter {
            name: "minimum",
            kind: "integer in 0..=limit",
            default: Some("0"),
            summary: "smallest CCTI, CCTI_Min, and the first",
        },
        Parameter {
            name: "answers",
            kind: "Cnp | Acknowledgement",
            default: Some("Cnp"),
            summary: "whether marked packets are answered, or all",
        },
        Parameter {
            name: "window",
            kind: "None | integer in 1..=65535 [packets], with Acknowledgement",
            default: Some("None"),
            summary: "packets that may be unacknowledged",
        },
        Parameter {
            name: "per",
            kind: "QueuePair | ServiceLevel",
            default: Some("QueuePair"),
            summary: "whether each flow has a CCTI, or all flows of the class at a host one; bit 0 of Port_Control",
        },
        Parameter {
            name: "trigger",
            kind: "integer in 0..=255",
            default: Some("0, or the preset's"),
            summary: "CCTI whose reaching is counted in control.triggers, Trigger_Threshold; 0 = none",
        },
    ],
    guarantees: &["a flow without BECN returns to entry `minimum` within `limit` timers"],
    references: &[IBA, GRAN_HARDWARE, PFISTER_CONTROL],
    build,
};

/// Unit of `CCTI_Timer` \[ps\].
const TIMER_UNIT: u64 = 1_024_000;

/// Largest `CCTI_Timer` \[ps\]: 16 bits, of 1.024 us.
const LONGEST_TIMER: u64 = 65_535 * TIMER_UNIT;

/// Its parameters.
#[derive(Clone, Debug)]
pub struct InfiniBand {
    increase: u16,
    minimum: u16,
    /// \[cycles\].
    timer: u64,
    answers: Answers,
    window: Option<u32>,
    per: Per,
    /// CCTI from which on an event is logged, 0 = never.
    trigger: u16,
    /// (Shift, multiplier) of the entries, as many as CCTI can reach.
    table: Vec<(u8, u16)>,
}

/// What is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
enum Answers {
    /// Packets with FECN.
    #[default]
    Cnp,
    /// All packets.
    Acknowledgement,
}

/// What has a CCTI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
enum Per {
    /// A flow.
    #[default]
    QueuePair,
    /// All flows of the class at a host.
    ServiceLevel,
}

/// State of a sender.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    /// CCTI.
    index: u16,
    is_timed: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "InfiniBand")]
struct Parameters {
    #[serde(default)]
    preset: Preset,
    timer: Option<Time>,
    table: Option<Table>,
    increase: Option<u64>,
    limit: Option<u64>,
    #[serde(default)]
    minimum: u64,
    #[serde(default)]
    answers: Answers,
    window: Option<u64>,
    #[serde(default)]
    per: Per,
    trigger: Option<u64>,
}

impl InfiniBand {
    fn limit(&self, index: u16) -> Limit {
        match self.table[usize::from(index)] {
            (_, 0) => Limit::None,
            (shift, entry) => Limit::Delay { entry, shift },
        }
    }

    /// Sets the index, and what follows from it.
    fn set(&self, state: &mut State, index: u16, actions: &mut Actions) {
        if index != state.index {
            state.index = index;
            actions.limit = Some(self.limit(index));
        }
    }
}

impl Machines for InfiniBand {
    type Sender = State;
    type Receiver = ();

    fn start(&self, _: Line, actions: &mut Actions) -> State {
        actions.limit = Some(self.limit(self.minimum));
        actions.window = self.window;
        State {
            index: self.minimum,
            is_timed: false,
        }
    }

    fn receive(&self, (): &mut (), arrival: Arrival) -> Option<Answer> {
        let is_answered = arrival.is_marked || self.answers == Answers::Acknowledgement;
        is_answered.then_some(Answer {
            value: arrival.is_marked.into(),
            after: 1,
        })
    }

    fn send(&self, sender: &mut State, now: u64, event: Event, actions: &mut Actions) {
        match event {
            Event::Started(_) | Event::Looked { .. } | Event::Told(_) => {}
            Event::Answered(becn) => {
                if self.answers == Answers::Acknowledgement {
                    actions.acknowledge = Some(Acknowledge::one(1));
                }
                if becn == 0 {
                    return;
                }
                let last = (self.table.len() - 1) as u16;
                let was_below = sender.index < self.trigger;
                self.set(sender, (sender.index + self.increase).min(last), actions);
                actions.log = was_below && sender.index >= self.trigger;
                if !sender.is_timed && sender.index > self.minimum {
                    sender.is_timed = true;
                    actions.timer = Some(Some(now + self.timer));
                }
            }
            Event::Timer => {
                let index = sender.index.saturating_sub(1).max(self.minimum);
                self.set(sender, index, actions);
                sender.is_timed = sender.index > self.minimum;
                if sender.is_timed {
                    actions.timer = Some(Some(now + self.timer));
                }
            }
        }
    }

    fn show(&self, state: &State) -> String {
        format!("CCTI {}", state.index)
    }

    fn least_shift(&self) -> Option<u8> {
        let delays = self.table.iter().filter(|(_, multiplier)| *multiplier > 0);
        delays.map(|(shift, _)| *shift).min()
    }

    fn heeds_marks(&self) -> bool {
        true
    }

    fn is_shared(&self) -> bool {
        self.per == Per::ServiceLevel
    }
}

/// What a parameter set leaves to be written.
fn missing(name: &str, preset: Preset) -> ArgumentError {
    invalid(match preset.parameters() {
        None => format!("`{name}` is missing: write it, or a `preset` that has one"),
        Some(set) => {
            format!(
                "`{name}` is missing: the {} leaves it open, so it has to be written",
                set.source
            )
        }
    })
}

/// The table as written, or that of the parameter set.
fn table(written: &Parameters, context: ControlContext) -> Result<Vec<(u8, u16)>, ArgumentError> {
    let set = written.preset.parameters();
    let longest = set.and_then(|set| set.longest);
    let table = match (&written.table, longest) {
        (Some(table), _) => table.clone(),
        (None, Some(nanoseconds)) => Table::Longest(Time::Picoseconds(nanoseconds * 1000)),
        (None, None) => return Err(missing("table", written.preset)),
    };
    let limit = match table {
        Table::Entries(_) => written.limit,
        _ => written.limit.or(set.and_then(|set| set.limit)),
    };
    let packet = u64::from(context.largest);
    entries(&table, limit, packet, |time| time.cycles(context.clock))
}

fn build(arguments: Arguments<'_>, context: ControlContext) -> Result<Algorithm, ArgumentError> {
    let written: Parameters = arguments.parse()?;
    let set = written.preset.parameters();
    let units = set.and_then(|set| set.timer);
    let timer = written
        .timer
        .or(units.map(|units| Time::Picoseconds(units * TIMER_UNIT)));
    let timer = timer.ok_or_else(|| missing("timer", written.preset))?;
    if matches!(timer, Time::Picoseconds(time) if time > LONGEST_TIMER) {
        return Err(invalid(format!(
            "`timer` is `{timer}`: expected at most `67107840 ns`, CCTI_Timer's 16 bits of 1.024 us"
        )));
    }
    let table = table(&written, context)?;
    let last = table.len() as u64 - 1;
    let increase = within(
        "increase",
        written
            .increase
            .or(set.map(|set| set.increase))
            .unwrap_or(1),
        1..=255,
        "8 bits (CCTI_Increase)",
    )?;
    let minimum = within("minimum", written.minimum, 0..=last, "up to `limit`")?;
    if written.window.is_some() && written.answers == Answers::Cnp {
        return Err(invalid(
            "`window` needs `answers: Acknowledgement`: without acknowledgements it would never open again",
        ));
    }
    if written.window.is_some() && written.per == Per::ServiceLevel {
        return Err(invalid(
            "`window` goes with `per: QueuePair` only: it bounds what a queue pair has unacknowledged",
        ));
    }
    let trigger = within(
        "trigger",
        written.trigger.or(set.map(|set| set.trigger)).unwrap_or(0),
        0..=255,
        "8 bits (Trigger_Threshold)",
    )?;
    let window = written.window.map(|window| {
        let why = "as large as any window of an algorithm";
        within("window", window, 1..=LARGEST_WINDOW, why).map(|window| window as u32)
    });
    Ok(Algorithm::InfiniBand(InfiniBand {
        increase: increase as u16,
        minimum: minimum as u16,
        timer: cycles("timer", timer, context.clock)?,
        answers: written.answers,
        window: window.transpose()?,
        per: written.per,
        trigger: trigger as u16,
        table,
    }))
}

#[cfg(test)]
mod tests;
