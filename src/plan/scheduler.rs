//! Schedulers of hosts (D31): which of the flows of a lane sends next.

use crate::registry::{Entry, Parameter, Registry};
use serde::{Deserialize, Serialize};

/// How a host chooses among what waits for one of its lanes (D31).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scheduler {
    /// What could have gone first.
    #[default]
    Fifo,
    /// In turns.
    RoundRobin,
    /// In turns, as long as the weight lasts.
    WeightedRoundRobin(Unit),
    /// What has least left to send.
    ShortestRemaining,
    /// Rates as shares, each flow held to its own.
    VirtualClock,
    /// Rates as shares, one packet after the other at the sum of them.
    Paced,
    /// Each flow at its rate into one queue, first in, first out.
    LeakyBucket,
}

/// What weights count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// Flits.
    Flits,
    /// Packets.
    Packets,
}

impl Scheduler {
    /// Whether the source queue takes its turn among the flows.
    pub fn keeps_turn(self) -> bool {
        matches!(self, Self::RoundRobin | Self::WeightedRoundRobin(_))
    }

    /// Whether flows share a lane by virtual clocks.
    pub fn has_clocks(self) -> bool {
        matches!(self, Self::VirtualClock | Self::Paced)
    }

    /// Whether every flow has a rate, so that none has a delay.
    pub fn takes_rates(self) -> bool {
        self.has_clocks() || self == Self::LeakyBucket
    }
}

const fn entry(
    name: &'static str,
    summary: &'static str,
    parameters: &'static [Parameter],
    build: Scheduler,
) -> Entry<Scheduler> {
    Entry {
        name,
        aliases: &[],
        summary,
        parameters,
        guarantees: &[],
        references: &[],
        build,
    }
}

/// All schedulers; one with a unit is made with flits.
pub const SCHEDULERS: Registry<Scheduler> = Registry {
    kind: "scheduler",
    entries: &[
        entry(
            "Fifo",
            "what could have gone first goes first",
            &[],
            Scheduler::Fifo,
        ),
        entry(
            "LeakyBucket",
            "each flow enters one queue at its rate; the queue is first in, first out",
            &[],
            Scheduler::LeakyBucket,
        ),
        entry(
            "Paced",
            "one packet after the other at the sum of the rates, shared by virtual clocks (periodic selection)",
            &[],
            Scheduler::Paced,
        ),
        entry("RoundRobin", "in turns", &[], Scheduler::RoundRobin),
        entry(
            "ShortestRemaining",
            "the flow with the fewest flits left; flows without a size last",
            &[],
            Scheduler::ShortestRemaining,
        ),
        entry(
            "VirtualClock",
            "each flow held to its rate, the smallest virtual clock first (simple virtual clock)",
            &[],
            Scheduler::VirtualClock,
        ),
        entry(
            "WeightedRoundRobin",
            "in turns, each flow as long as its weight lasts",
            &[Parameter {
                name: "unit",
                kind: "Flits | Packets, written without its name",
                default: None,
                summary: "what weights count",
            }],
            Scheduler::WeightedRoundRobin(Unit::Flits),
        ),
    ],
    unclear: &[],
};
