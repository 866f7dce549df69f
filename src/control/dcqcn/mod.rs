//! DCQCN: rates of RoCE senders, cut by congestion notification packets (CNP), recovered in stages.
//!
//! # Rules
//! 1. Receiver: a packet with FECN is answered with a CNP if none was for the flow in the `interval` before. Others are not.
//! 2. The sender has a current rate C, a target rate T, both at most the line rate L, and alpha, its measure of congestion; `alpha` at first.
//!    Before the first CNP, and whenever C is L again, it is *free*: there is no limit.
//! 3. CNP: T := C; C := C * (1 - alpha / 2), at least `least`; alpha := (1 - g) * alpha + g; all counts of rule 5 start at 0,
//!    both timers start anew.
//! 4. Each `alpha_timer` without CNP: alpha := (1 - g) * alpha.
//! 5. Each `timer`, and each `bytes` sent, is a stage. With t and b the stages of timer and bytes since the last CNP, this one
//!    included: T := T + `increase` if one of them is above F = `stages`, or + `hyper_increase` if both are; at most L.
//!    In each stage C := (T + C) / 2. So the first F stages are fast recovery.
//!
//! # Numbers
//! Rates are in 2^-32 flits per cycle: L = ceil(2^32 / s), s the cycles per flit of the host's channel; parameters are rounded
//! up. The cut floor(C * alpha / 2) is rounded down, (T + C) / 2 up, so that C reaches L. C is at least 2 * (largest packet of the
//! class) + 1 in these units, whatever `least` is, so that a packet goes within 2^31 cycles, and at most L. alpha is in
//! 2^-32, g = 2^-`gain`: g * alpha is rounded down. Bytes are flits that started on the channel, sizes rounded up to flits;
//! a packet makes at most one stage, and what is above whole ones counts for the next. A CNP is created 1 cycle after the delivery.
//!
//! While a sender is free it has no timer, so a flow that nothing disturbs costs nothing; the steps of rule 4 that fall into
//! that time are made up at the next CNP. They begin with the first CNP.
//!
//! # Source
//! What is not written is that of the `preset` ([`Preset`]), with `increase`, `hyper_increase` and `bytes` in proportion to the rate of the host's
//! link: 40 Mbit/s on 40 Gbit/s are 400 Mbit/s on 400 Gbit/s. What is written counts as it is; a scenario is warned of values
//! that are four times more or less than that. `Paper`: Zhu et al., 2015: `interval` 50 us, `gain` 8 (g = 1/256), `alpha_timer`
//! 55 us, `stages` 5, and the values the paper deploys in place of
//! QCN's: `timer` 55 us (the paper finds 1.5 ms, in the first setting, too slow), `bytes` 10 MB, `increase` 40 Mbit/s. It
//! leaves `hyper_increase` to QCN and names no least rate. So without `hyper_increase` additive increase goes on; as
//! `least`, ns-3's model of its senders has 100 Mbit/s. Marking: `fabric.switch.marking: Ecn(...)`, whose thresholds are for a rate, too.
//!
//! Deviations: the receiver sends a CNP when a marked packet comes, not at the end of an interval in which one came.
//! QCN multiplies the hyper increase by the number of its stages; here each adds the same, as in ns-3's model. CNPs have
//! the lane of the class of answers.
//!
//! Cost: one answer per `interval` and flow; timers only while a flow is limited.
//!
//! References: [`ZHU_DCQCN`], [`ALIZADEH_QCN`]

mod build;
mod presets;
mod settings;
#[cfg(test)]
mod tests;

pub use presets::Preset;
pub use settings::Dcqcn;

use self::build::build;
use self::settings::WHOLE;
use super::{
    Actions, Answer, Arrival, BuildAlgorithm, Event, Limit, Line, Machines, ONE_FLIT_PER_CYCLE,
};
use crate::references::{ALIZADEH_QCN, ZHU_DCQCN};
use crate::registry::{Entry, Parameter};
use serde::{Deserialize, Serialize};

/// Registers `Dcqcn`.
pub(super) const ENTRY: Entry<BuildAlgorithm> = Entry {
    name: "Dcqcn",
    aliases: &["RoCE"],
    summary: "DCQCN: rates cut by congestion notification packets, recovered by timer and bytes sent",
    parameters: &[
        Parameter {
            name: "preset",
            kind: "Paper | Ns3 | Production",
            default: Some("Paper"),
            summary: "parameter set that what is not written is taken from, scaled to the host's link",
        },
        time("interval", "least time between two CNPs of a flow"),
        Parameter {
            name: "gain",
            kind: "integer in 1..=16",
            default: Some("8"),
            summary: "g of the average alpha, as a shift: g = 1 / 2^gain",
        },
        Parameter {
            name: "alpha",
            kind: "number in (0, 1]",
            default: Some("1.0"),
            summary: "alpha at the first CNP: 1 halves the rate",
        },
        time("alpha_timer", "time without CNP after which alpha falls"),
        time("timer", "stage of the rate increase by time"),
        Parameter {
            name: "bytes",
            kind: "None | size, at least 1 flit",
            default: Some("None"),
            summary: "stage of the rate increase by what is sent; None: the preset's, for Paper 10 MB at 40 Gbit/s, 100 MB at 400",
        },
        Parameter {
            name: "stages",
            kind: "None | integer in 0..=65535",
            default: Some("None"),
            summary: "stages of fast recovery, F; None: the preset's",
        },
        Parameter {
            name: "increase",
            kind: "None | rate, at most the reference rate",
            default: Some("None"),
            summary: "additive increase, R_AI; None: the preset's, for Paper a thousandth of the host's link",
        },
        Parameter {
            name: "hyper_increase",
            kind: "None | rate, at most the reference rate",
            default: Some("None"),
            summary: "hyper increase, R_HAI; None: the preset's, for Paper that additive increase goes on",
        },
        Parameter {
            name: "least",
            kind: "rate, at most the reference rate",
            default: Some("\"100 Mbit/s\""),
            summary: "no CNP cuts the rate below",
        },
    ],
    guarantees: &[
        "a flow without CNP is not limited",
        "rates between `least` and the rate of the host's link",
    ],
    references: &[ZHU_DCQCN, ALIZADEH_QCN],
    build,
};

const fn time(name: &'static str, summary: &'static str) -> Parameter {
    Parameter {
        name,
        kind: "None | time, at least 1 cycle; None: the preset's",
        default: Some("None"),
        summary,
    }
}

/// So many times more or less than the preset's is worth a warning.
const FAR: f64 = 4.0;

/// State of a sender; rates in 2^-32 flits per cycle.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    line: u64,
    least: u64,
    current: u64,
    target: u64,
    /// \[2^-32\].
    alpha: u64,
    /// Next cycle in which alpha falls; the largest number before the first CNP.
    alpha_at: u64,
    /// Next cycle of a stage by time, when it is limited.
    stage_at: u64,
    /// Flits of the stage by bytes.
    sent: u64,
    by_time: u32,
    by_bytes: u32,
    is_limited: bool,
}

impl Dcqcn {
    /// What is written and far from what the preset has for the link of a host with this pace: its name, and how many times as
    /// much it is.
    pub fn far(&self, pace: u32) -> Vec<(&'static str, f64)> {
        let line = ONE_FLIT_PER_CYCLE.div_ceil(pace.into());
        // without a hyper increase the additive one goes on
        let hyper = Some(self.hyper_increase).filter(|hyper| *hyper != self.increase);
        let all = [
            ("increase", Some(self.increase)),
            ("hyper_increase", hyper),
            ("bytes", Some(self.bytes)),
        ];
        let times = all.into_iter().filter_map(|(name, amounts)| {
            let amounts = amounts?;
            let times = amounts.written? as f64 / amounts.of_preset(line)? as f64;
            Some((name, times))
        });
        times
            .filter(|(_, times)| !(1.0 / FAR..=FAR).contains(times))
            .collect()
    }

    fn fall(&self, state: &mut State) {
        state.alpha -= state.alpha >> self.gain;
        state.alpha_at += self.alpha_timer;
    }

    /// Rule 3.
    fn cut(&self, state: &mut State, now: u64) {
        // what fell into the time without timer; alpha stays when its part is rounded to 0
        while state.alpha_at < now && state.alpha >> self.gain > 0 {
            self.fall(state);
        }
        let less = (u128::from(state.current) * u128::from(state.alpha)) >> 33;
        state.target = state.current;
        state.current = (state.current - less as u64).max(state.least);
        state.alpha = state.alpha - (state.alpha >> self.gain) + (WHOLE >> self.gain);
        (state.sent, state.by_time, state.by_bytes) = (0, 0, 0);
        state.alpha_at = now + self.alpha_timer;
        state.stage_at = now + self.timer;
        state.is_limited = true;
    }

    /// A stage that is counted already.
    fn recover(&self, state: &mut State) {
        let (one, both) = (
            state.by_time.max(state.by_bytes),
            state.by_time.min(state.by_bytes),
        );
        if both > self.stages {
            state.target = state
                .target
                .saturating_add(self.hyper_increase.at(state.line));
        } else if one > self.stages {
            state.target += self.increase.at(state.line);
        }
        state.target = state.target.min(state.line);
        state.current = (state.target + state.current).div_ceil(2);
    }

    /// What a changed rate and changed timers mean.
    fn settle(state: &mut State, now: u64, actions: &mut Actions) {
        if state.current >= state.line {
            state.is_limited = false;
            actions.limit = Some(Limit::None);
            actions.timer = Some(None);
        } else {
            actions.limit = Some(Limit::Rate(state.current));
            let at = state.alpha_at.min(state.stage_at);
            // a timer of this cycle is called after this, and stays
            actions.timer = (at > now).then_some(Some(at));
        }
    }
}

impl Machines for Dcqcn {
    type Sender = State;
    /// First cycle in which a marked packet is answered again.
    type Receiver = u64;

    fn start(&self, line: Line, _: &mut Actions) -> State {
        let largest = u64::from(line.largest);
        let line = ONE_FLIT_PER_CYCLE.div_ceil(line.pace.into());
        State {
            line,
            least: self.least.max(2 * largest + 1).min(line),
            current: line,
            target: line,
            alpha: self.alpha,
            alpha_at: u64::MAX,
            stage_at: u64::MAX,
            sent: 0,
            by_time: 0,
            by_bytes: 0,
            is_limited: false,
        }
    }

    fn receive(&self, next: &mut u64, arrival: Arrival) -> Option<Answer> {
        if !arrival.is_marked || arrival.now < *next {
            return None;
        }
        *next = arrival.now + self.interval;
        Some(Answer { value: 1, after: 1 })
    }

    fn show(&self, state: &State) -> String {
        let part = |value: u64| value as f64 / WHOLE as f64;
        let (current, target) = (part(state.current), part(state.target));
        let alpha = part(state.alpha);
        format!("rate {current:.4}, target {target:.4} flits per cycle, alpha {alpha:.4}")
    }

    fn hears_starts(&self) -> bool {
        true
    }

    fn heeds_marks(&self) -> bool {
        true
    }

    fn send(&self, state: &mut State, now: u64, event: Event, actions: &mut Actions) {
        match event {
            Event::Started(flits) if state.is_limited => {
                let bytes = self.bytes.at(state.line);
                state.sent += u64::from(flits);
                if state.sent < bytes {
                    return;
                }
                state.sent %= bytes;
                state.by_bytes = state.by_bytes.saturating_add(1);
                self.recover(state);
            }
            Event::Started(_) | Event::Looked { .. } | Event::Told(_) => return,
            Event::Answered(_) => self.cut(state, now),
            Event::Timer => {
                if state.alpha_at <= now {
                    self.fall(state);
                }
                if state.stage_at <= now {
                    state.stage_at += self.timer;
                    state.by_time = state.by_time.saturating_add(1);
                    self.recover(state);
                }
            }
        }
        Self::settle(state, now, actions);
    }
}
