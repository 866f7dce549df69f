//! Requests and replies: a closed loop, in which a few requests are on their way at once.
//!
//! # Rules
//! 1. Every packet of the flow is a request; its receiver answers it after the time `server` with one packet of the class of
//!    answers, the reply.
//! 2. At most `outstanding` requests of a flow are under way. One counts from its start until the time `think` after its
//!    reply is delivered.
//! 3. A flow with a size sends so many requests and then no more: a batch.
//!
//! Without contention a flow has `outstanding` requests every (latency of a request + `server` + latency of its reply +
//! `think`) cycles, unless its host's channel allows fewer.
//!
//! Deviations: a server of BookSim takes one request after the other where replies wait for its port; here requests
//! of different flows are served side by side, and only the channel is shared. Replies go before requests of the same lane.
//!
//! Cost: one answer per packet.
//!
//! References: [`DALLY_TOWLES`], [`BOOKSIM`]

use super::parameters::{LARGEST_WINDOW, cycles, within};
use super::{
    Actions, Algorithm, Answer, Arrival, BuildAlgorithm, ControlContext, Event, Line, Machines,
};
use crate::references::{BOOKSIM, DALLY_TOWLES};
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::units::Time;
use serde::Deserialize;

/// Registers `RequestReply`.
pub(super) const ENTRY: Entry<BuildAlgorithm> = Entry {
    name: "RequestReply",
    aliases: &["ClosedLoop"],
    summary: "every packet is a request that waits for its reply; so many at once",
    parameters: &[
        Parameter {
            name: "outstanding",
            kind: "integer in 1..=65535 [packets]",
            default: Some("1"),
            summary: "requests of a flow that may be under way",
        },
        Parameter {
            name: "server",
            kind: "time, at least 1 cycle",
            default: Some("\"1 cycles\""),
            summary: "from a request's delivery to the creation of its reply",
        },
        Parameter {
            name: "think",
            kind: "time, at least 1 cycle",
            default: Some("\"1 cycles\""),
            summary: "from a reply's delivery until its request no longer counts",
        },
    ],
    guarantees: &["no more requests under way than `outstanding`"],
    references: &[DALLY_TOWLES, BOOKSIM],
    build,
};

/// Its parameters.
#[derive(Clone, Debug)]
pub struct RequestReply {
    outstanding: u32,
    server: u64,
    think: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "RequestReply")]
struct Parameters {
    #[serde(default = "one")]
    outstanding: u64,
    #[serde(default = "least")]
    server: Time,
    #[serde(default = "least")]
    think: Time,
}

fn one() -> u64 {
    1
}

fn least() -> Time {
    Time::Cycles(1)
}

impl Machines for RequestReply {
    type Sender = ();
    type Receiver = ();

    fn start(&self, _: Line, actions: &mut Actions) {
        actions.window = Some(self.outstanding);
    }

    fn receive(&self, (): &mut (), _: Arrival) -> Option<Answer> {
        Some(Answer {
            value: 0,
            after: self.server,
        })
    }

    fn send(&self, (): &mut (), _: u64, event: Event, actions: &mut Actions) {
        if let Event::Answered(_) = event {
            actions.acknowledge = Some(self.think);
        }
    }
}

fn build(arguments: Arguments<'_>, context: ControlContext) -> Result<Algorithm, ArgumentError> {
    let written: Parameters = arguments.parse()?;
    let all = 1..=LARGEST_WINDOW;
    let why = "as large as any window of an algorithm";
    Ok(Algorithm::RequestReply(RequestReply {
        outstanding: within("outstanding", written.outstanding, all, why)? as u32,
        server: cycles("server", written.server, context.clock)?,
        think: cycles("think", written.think, context.clock)?,
    }))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{arrival, made};
    use super::*;

    #[test]
    fn every_request_is_replied_to_and_counts_until_the_time_to_think_is_over() {
        let loops =
            made("RequestReply(outstanding: 3, server: \"40 cycles\", think: \"7 cycles\")");
        let Algorithm::RequestReply(loops) = loops else {
            panic!("{loops:?}")
        };
        let mut actions = Actions::default();
        loops.start(
            Line {
                pace: 1,
                largest: 8,
            },
            &mut actions,
        );
        let window = Actions {
            window: Some(3),
            ..Actions::default()
        };
        assert_eq!(actions, window);
        for is_marked in [false, true] {
            let answer = loops.receive(&mut (), arrival(100, is_marked, 12));
            assert_eq!(
                answer,
                Some(Answer {
                    value: 0,
                    after: 40
                })
            );
        }
        let after = |event| {
            let mut actions = Actions::default();
            loops.send(&mut (), 200, event, &mut actions);
            actions
        };
        assert_eq!(after(Event::Started(8)), Actions::default());
        let thinks = Actions {
            acknowledge: Some(7),
            ..Actions::default()
        };
        assert_eq!(after(Event::Answered(0)), thinks);
    }
}
