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
//! `table: Linear(most: M, shift: h)`: entry i has multiplier floor(i * M / `limit`) and shift h, the shape of opa-fm, which is
//! made for the largest delay, M / 2^h packets. `table: Entries([(h, m), ...])`: from entry 0 on, as OpenSM's `cc_cct`.
//! psm2 has entries of 0, 1/8, 2/8, ..., then coarser ones: `Entries([(3, 0), (3, 1), (3, 2), ...])`.
//!
//! Units: `timer` is a time; `CCTI_Timer` counts 1.024 us, so 150 of them are "153.6 us". It is rounded to whole cycles.
//!
//! Values in use, from their public sources: opa-fm increases by 5, with a `CCTI_Timer` of 10 ("10.24 us") and 127 as limit;
//! the manual of `ibccconfig` increases by 1, with 150 ("153.6 us"); Mellanox' manager increases by 1 and makes timer and table
//! from the number of hosts. All have 0 as minimum. The switch's part is `fabric.switch.marking: InfiniBand(...)`.
//!
//! Deviations: a flow is a queue pair with a timer of its own. A service level is that of one class. hfi1 logs every BECN at
//! or above the trigger threshold. CCTI starts at the minimum, which the standard lets it return to. `window` is not in the
//! annex: it bounds what is unacknowledged, as reliable connections do.
//!
//! Cost: one answer per marked packet, or per packet.
//!
//! References: [`IBA`], [`GRAN_HARDWARE`], [`PFISTER_CONTROL`]

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
            name: "timer",
            kind: "time, at least 1 cycle, at most 65535 * 1.024 us",
            default: None,
            summary: "after which CCTI falls by 1; CCTI_Timer * 1.024 us",
        },
        Parameter {
            name: "table",
            kind: "Linear(most: 0..=16383, shift: 0..=3) | Entries([(shift, multiplier)])",
            default: None,
            summary: "delays; Linear: multipliers from 0 to `most` in entry `limit`",
        },
        Parameter {
            name: "increase",
            kind: "integer in 1..=255",
            default: Some("1"),
            summary: "what BECN adds to CCTI, CCTI_Increase",
        },
        Parameter {
            name: "limit",
            kind: "integer in 0..=16319",
            default: Some("127; with Entries the last of them"),
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
            default: Some("0"),
            summary: "CCTI whose reaching is counted in control.triggers, Trigger_Threshold; 0 = none",
        },
    ],
    guarantees: &["a flow without BECN returns to entry `minimum` within `limit` timers"],
    references: &[IBA, GRAN_HARDWARE, PFISTER_CONTROL],
    build,
};

/// Largest number of an entry: `ControlTableCap` counts up to 255 blocks of 64 entries.
const LAST_ENTRY: u64 = 255 * 64 - 1;

/// Largest multiplier, of 14 bits.
const LARGEST_MULTIPLIER: u64 = (1 << 14) - 1;

/// Largest `CCTI_Timer` \[ps\]: 16 bits, of 1.024 us.
const LONGEST_TIMER: u64 = 65_535 * 1_024_000;

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
    timer: Time,
    table: Table,
    #[serde(default = "one")]
    increase: u64,
    limit: Option<u64>,
    #[serde(default)]
    minimum: u64,
    #[serde(default)]
    answers: Answers,
    window: Option<u64>,
    #[serde(default)]
    per: Per,
    #[serde(default)]
    trigger: u64,
}

fn one() -> u64 {
    1
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
enum Table {
    Linear { most: u64, shift: u64 },
    Entries(Vec<(u64, u64)>),
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
            Event::Started(_) | Event::Looked { .. } => {}
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

    fn ignores_starts(&self) -> bool {
        true
    }

    fn sets_delays(&self) -> bool {
        self.table.iter().any(|&(_, multiplier)| multiplier > 0)
    }

    fn is_shared(&self) -> bool {
        self.per == Per::ServiceLevel
    }
}

/// The entries up to the limit.
fn entries(table: &Table, limit: Option<u64>) -> Result<Vec<(u8, u16)>, ArgumentError> {
    const BLOCKS: &str = "255 blocks of 64 entries (ControlTableCap)";
    const SHIFT: &str = "2 bits (CCT_Shift)";
    const MULTIPLIER: &str = "14 bits (CCT_Multiplier)";
    let entry = |name: &str, (shift, multiplier): (u64, u64)| {
        let shift = within(&format!("{name}`: the shift `h"), shift, 0..=3, SHIFT)?;
        let most = 0..=LARGEST_MULTIPLIER;
        let multiplier = within(
            &format!("{name}`: the multiplier `m"),
            multiplier,
            most,
            MULTIPLIER,
        )?;
        Ok((shift as u8, multiplier as u16))
    };
    match table {
        &Table::Linear { most, shift } => {
            let last = within("limit", limit.unwrap_or(127), 0..=LAST_ENTRY, BLOCKS)?;
            let (shift, most) = entry("table", (shift, most))?;
            let multiplier = |index| (u64::from(most) * index / last.max(1)) as u16;
            Ok((0..=last).map(|index| (shift, multiplier(index))).collect())
        }
        Table::Entries(written) => {
            let count = written.len() as u64;
            if !(1..=LAST_ENTRY + 1).contains(&count) {
                return Err(invalid(format!(
                    "`table` has {count} entries: expected 1 to {}, {BLOCKS}",
                    LAST_ENTRY + 1
                )));
            }
            let last = limit.unwrap_or(count - 1);
            let last = within("limit", last, 0..=count - 1, "the last entry of `table`")?;
            let all = written[..=last as usize].iter();
            all.map(|&pair| entry("table", pair)).collect()
        }
    }
}

fn build(arguments: Arguments<'_>, context: ControlContext) -> Result<Algorithm, ArgumentError> {
    let written: Parameters = arguments.parse()?;
    if matches!(written.timer, Time::Picoseconds(time) if time > LONGEST_TIMER) {
        return Err(invalid(format!(
            "`timer` is `{}`: expected at most `67107840 ns`, CCTI_Timer's 16 bits of 1.024 us",
            written.timer
        )));
    }
    let table = entries(&written.table, written.limit)?;
    let last = table.len() as u64 - 1;
    let increase = within(
        "increase",
        written.increase,
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
        written.trigger,
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
        timer: cycles("timer", written.timer, context.clock)?,
        answers: written.answers,
        window: window.transpose()?,
        per: written.per,
        trigger: trigger as u16,
        table,
    }))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{arrival, made};
    use super::*;

    const LINE: Line = Line {
        pace: 1,
        largest: 32,
    };

    fn infiniband(text: &str) -> InfiniBand {
        match made(text) {
            Algorithm::InfiniBand(own) => own,
            other => panic!("{other:?}"),
        }
    }

    /// Calls a sender in turn: cycle, event, and what it shall do.
    fn follow(own: &InfiniBand, steps: &[(u64, Event, u16, Actions)]) {
        let mut sender = own.start(LINE, &mut Actions::default());
        for &(now, event, index, expected) in steps {
            let mut actions = Actions::default();
            own.send(&mut sender, now, event, &mut actions);
            assert_eq!((sender.index, actions), (index, expected), "cycle {now}");
        }
    }

    fn delay(entry: u16) -> Limit {
        Limit::Delay { entry, shift: 1 }
    }

    const BECN: Event = Event::Answered(1);
    const NOTHING: Actions = Actions {
        limit: None,
        window: None,
        timer: None,
        acknowledge: None,
        log: false,
        send: None,
    };

    /// A limit, and the timer where it is set.
    fn set(limit: Limit, timer: Option<u64>) -> Actions {
        Actions {
            limit: Some(limit),
            timer: timer.map(Some),
            ..NOTHING
        }
    }

    /// Entries 0, 2, 4, 6, 8: BECN adds 3 up to 4; one timer runs until the index is 0 again.
    #[test]
    fn the_index_rises_by_marks_and_falls_by_the_timer() {
        let own = infiniband(
            "InfiniBand(increase: 3, limit: 4, timer: \"100 cycles\", table: Linear(most: 8, shift: 1))",
        );
        follow(
            &own,
            &[
                (5, Event::Started(32), 0, NOTHING),
                (10, BECN, 3, set(delay(6), Some(110))),
                // the timer goes on
                (60, BECN, 4, set(delay(8), None)),
                (70, BECN, 4, NOTHING),
                (110, Event::Timer, 3, set(delay(6), Some(210))),
                (150, BECN, 4, set(delay(8), None)),
                (210, Event::Timer, 3, set(delay(6), Some(310))),
                (310, Event::Timer, 2, set(delay(4), Some(410))),
                (410, Event::Timer, 1, set(delay(2), Some(510))),
                // the last step: no limit, no timer
                (510, Event::Timer, 0, set(Limit::None, None)),
                (600, BECN, 3, set(delay(6), Some(700))),
            ],
        );
    }

    #[test]
    fn the_index_does_not_fall_below_its_minimum() {
        let own = infiniband(
            "InfiniBand(limit: 4, minimum: 2, timer: \"100 cycles\", table: Linear(most: 8, shift: 1))",
        );
        let mut actions = Actions::default();
        own.start(LINE, &mut actions);
        assert_eq!(actions.limit, Some(delay(4)));
        follow(
            &own,
            &[
                (10, BECN, 3, set(delay(6), Some(110))),
                (110, Event::Timer, 2, set(delay(4), None)),
            ],
        );
    }

    /// 2 of 5 by each BECN: events are steps from below 4 to it, not steps above it, and not the way down.
    #[test]
    fn an_event_is_logged_when_the_index_reaches_the_trigger() {
        let own = infiniband(
            "InfiniBand(increase: 2, limit: 5, minimum: 1, trigger: 4, timer: \"100 cycles\", table: Linear(most: 5, shift: 1))",
        );
        let set = |index, timer, log| Actions {
            limit: Some(delay(index)),
            timer,
            log,
            ..NOTHING
        };
        follow(
            &own,
            &[
                (10, BECN, 3, set(3, Some(Some(110)), false)),
                (20, BECN, 5, set(5, None, true)),
                (30, BECN, 5, NOTHING),
                (110, Event::Timer, 4, set(4, Some(Some(210)), false)),
                (120, BECN, 5, set(5, None, false)),
                (210, Event::Timer, 4, set(4, Some(Some(310)), false)),
                (310, Event::Timer, 3, set(3, Some(Some(410)), false)),
                (320, BECN, 5, set(5, None, true)),
                (410, Event::Timer, 4, set(4, Some(Some(510)), false)),
                (510, Event::Timer, 3, set(3, Some(Some(610)), false)),
                (610, Event::Timer, 2, set(2, Some(Some(710)), false)),
                // exactly the trigger
                (620, BECN, 4, set(4, None, true)),
            ],
        );
        for (never, what) in [("trigger: 0", "none"), ("trigger: 6", "above the limit")] {
            let text = format!(
                "InfiniBand(increase: 5, limit: 5, {never}, timer: \"100 cycles\", table: Linear(most: 5, shift: 1))"
            );
            follow(
                &infiniband(&text),
                &[(10, BECN, 5, set(5, Some(Some(110)), false))],
            );
            assert!(!infiniband(&text).is_shared(), "{what}");
        }
    }

    #[test]
    fn answers_are_for_marked_packets_or_for_all() {
        let table = "timer: \"1 us\", table: Entries([(0, 0)])";
        let cnp = infiniband(&format!("InfiniBand({table})"));
        assert_eq!(cnp.receive(&mut (), arrival(9, false, 4)), None);
        let marked = Answer { value: 1, after: 1 };
        assert_eq!(cnp.receive(&mut (), arrival(9, true, 4)), Some(marked));
        let all = infiniband(&format!(
            "InfiniBand({table}, answers: Acknowledgement, window: 6)"
        ));
        let plain = Answer { value: 0, after: 1 };
        assert_eq!(all.receive(&mut (), arrival(9, false, 4)), Some(plain));
        assert_eq!(all.receive(&mut (), arrival(9, true, 4)), Some(marked));
        let mut actions = Actions::default();
        all.start(LINE, &mut actions);
        assert_eq!(actions.window, Some(6));
        let acknowledged = Actions {
            acknowledge: Some(Acknowledge::one(1)),
            ..NOTHING
        };
        follow(&all, &[(20, Event::Answered(0), 0, acknowledged)]);
    }

    /// D30: the next packet goes n*s + floor(n*s / 2^h) * m after the last, so the share is 1 / (1 + m / 2^h).
    #[test]
    fn an_entry_leaves_the_share_of_its_closed_form() {
        for (shift, multiplier, share) in [
            (0, 1, (1, 2)),
            (2, 1, (4, 5)),
            (1, 3, (2, 5)),
            (3, 7, (8, 15)),
            (0, 16_383, (1, 16_384)),
        ] {
            let own = infiniband(&format!(
                "InfiniBand(timer: \"1 us\", table: Entries([(0, 0), ({shift}, {multiplier})]))"
            ));
            let mut sender = own.start(LINE, &mut Actions::default());
            let mut actions = Actions::default();
            own.send(&mut sender, 1, BECN, &mut actions);
            let Some(Limit::Delay { entry, shift }) = actions.limit else {
                panic!("{actions:?}")
            };
            let packet = 32_u64;
            let interval = packet + (packet >> shift) * u64::from(entry);
            assert_eq!(packet * share.1, interval * share.0, "{shift} {entry}");
        }
    }

    #[test]
    fn a_linear_table_ends_at_its_largest_multiplier() {
        let own =
            infiniband("InfiniBand(timer: \"1 us\", limit: 3, table: Linear(most: 10, shift: 2))");
        assert_eq!(own.table, [(2, 0), (2, 3), (2, 6), (2, 10)]);
        let long = infiniband("InfiniBand(timer: \"1 us\", table: Linear(most: 254, shift: 0))");
        assert_eq!((long.table.len(), long.table[127]), (128, (0, 254)));
    }
}
