//! Requests and replies: a closed loop, in which a few requests are on their way at once.
//!
//! # Rules
//! 1. A request is `request` packets of the flow, one after the other. The receiver answers it, after the time `server`, when so
//!    many packets have come, in whatever order. The answer, the reply, is `reply` packets of the class of answers (D45); it is
//!    there when the last of them is.
//! 2. At most `outstanding` requests of a flow are under way. One counts from the start of its first packet until the time
//!    `think` after its reply is there.
//! 3. A flow with a size sends so many requests and then no more: a batch. What is left over at its end, less than a request,
//!    is sent and not answered.
//!
//! A read is a request of one packet with a long reply, a write a long request with a reply of one packet. Lengths are
//! numbers of packets, or sizes, which are rounded up to whole packets: the last packet is as large as the others.
//!
//! Without contention a flow has `outstanding` requests every (latency of a request + `server` + latency of its reply +
//! `think`) cycles, unless its host's channel allows fewer.
//!
//! Deviations: a server of BookSim takes one request after the other where replies wait for its port; here requests
//! of different flows are served side by side, and only the channel is shared. Replies go before requests of the same lane.
//! Where packets overtake each other, a request counts as come with as many packets, be some of the next.
//!
//! Cost: one answer per request.
//!
//! References: [`DALLY_TOWLES`], [`BOOKSIM`]

use super::parameters::{LARGEST_WINDOW, cycles, invalid, within};
use super::{
    Acknowledge, Actions, Algorithm, Answer, Arrival, BuildAlgorithm, ControlContext, Event, Line,
    Machines, UnderWay,
};
use crate::references::{BOOKSIM, DALLY_TOWLES};
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::units::{Amount, Clock, Time};
use serde::Deserialize;

/// Registers `RequestReply`.
pub(super) const ENTRY: Entry<BuildAlgorithm> = Entry {
    name: "RequestReply",
    aliases: &["ClosedLoop"],
    summary: "packets are requests that wait for their replies, one packet or several; so many at once",
    parameters: &[
        Parameter {
            name: "outstanding",
            kind: "integer in 1..=65535 [requests]",
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
        Parameter {
            name: "request",
            kind: "integer in 1..=65535 [packets] | size",
            default: Some("1"),
            summary: "length of a request; a size in whole packets of the class",
        },
        Parameter {
            name: "reply",
            kind: "integer in 1..=65535 [packets] | size",
            default: Some("1"),
            summary: "length of a reply; a size in whole packets of the class of answers",
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
    /// \[packets\].
    request: u32,
    /// \[packets\].
    reply: u16,
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
    #[serde(default)]
    request: Length,
    #[serde(default)]
    reply: Length,
}

/// How long a request or a reply is.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a number of packets, or a size such as \"4 KiB\""
)]
enum Length {
    Packets(u64),
    Size(Amount),
}

impl Default for Length {
    fn default() -> Self {
        Self::Packets(1)
    }
}

impl Length {
    /// Packets of `flits`, `None`: they are of several sizes.
    fn packets(self, name: &str, clock: Clock, flits: Option<u16>) -> Result<u64, ArgumentError> {
        let packets = match (self, flits) {
            (Self::Packets(packets), _) => packets,
            (Self::Size(size), Some(flits)) => size.flits(clock).div_ceil(flits.into()),
            (Self::Size(size), None) => {
                return Err(invalid(format!(
                    "`{name}` is `{size}`, and the packets of the class have several sizes: write a number of packets"
                )));
            }
        };
        match self {
            Self::Size(size) if !(1..=LARGEST_WINDOW).contains(&packets) => Err(invalid(format!(
                "`{name}` is `{size}`, {packets} packets: expected 1 to {LARGEST_WINDOW}, 16 bits"
            ))),
            _ => within(name, packets, 1..=LARGEST_WINDOW, "16 bits"),
        }
    }
}

impl RequestReply {
    /// Packets of all requests that may be outstanding (rule 2).
    fn packets(&self) -> u32 {
        self.outstanding * self.request
    }
}

fn one() -> u64 {
    1
}

fn least() -> Time {
    Time::Cycles(1)
}

impl Machines for RequestReply {
    type Sender = ();
    /// Packets of the request that is coming.
    type Receiver = u32;

    fn start(&self, _: Line, actions: &mut Actions) {
        actions.window = Some(self.packets());
    }

    fn receive(&self, come: &mut u32, _: Arrival) -> Option<Answer> {
        *come = (*come + 1) % self.request;
        (*come == 0).then_some(Answer {
            value: 0,
            after: self.server,
        })
    }

    fn send(&self, (): &mut (), _: u64, event: Event, actions: &mut Actions) {
        if let Event::Answered(_) = event {
            actions.acknowledge = Some(Acknowledge {
                packets: self.request,
                after: self.think,
            });
        }
    }

    fn packets_per_answer(&self) -> u16 {
        self.reply
    }

    fn under_way(&self) -> Option<UnderWay> {
        Some(UnderWay {
            first: self.packets(),
            most: self.packets(),
            together: self.request,
            waits: self.server + self.think,
        })
    }
}

fn build(arguments: Arguments<'_>, context: ControlContext) -> Result<Algorithm, ArgumentError> {
    let written: Parameters = arguments.parse()?;
    let all = 1..=LARGEST_WINDOW;
    let why = "as large as any window of an algorithm";
    let clock = context.clock;
    let request = Some(context.largest).filter(|_| context.smallest == context.largest);
    Ok(Algorithm::RequestReply(RequestReply {
        outstanding: within("outstanding", written.outstanding, all, why)? as u32,
        server: cycles("server", written.server, clock)?,
        think: cycles("think", written.think, clock)?,
        request: written.request.packets("request", clock, request)? as u32,
        reply: (written.reply).packets("reply", clock, Some(context.answer))? as u16,
    }))
}

#[cfg(test)]
mod tests {
    use super::super::WHOLE_LINK;
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
            let answer = loops.receive(&mut 0, arrival(100, is_marked, 12));
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
            acknowledge: Some(Acknowledge::one(7)),
            ..Actions::default()
        };
        assert_eq!(after(Event::Answered(0)), thinks);
        assert_eq!(loops.packets_per_answer(), 1);
    }

    /// Writes of 4 KiB in packets of 32 flits of 64 B: 2 each, with a reply of 1; 3 of them are 6 packets.
    #[test]
    fn a_request_is_answered_with_its_last_packet_and_acknowledges_them_all() {
        let loops = made("RequestReply(outstanding: 3, request: \"4 KiB\", reply: \"65 B\")");
        let Algorithm::RequestReply(loops) = loops else {
            panic!("{loops:?}")
        };
        let line = Line {
            pace: 1,
            largest: 32,
        };
        let mut actions = Actions::default();
        loops.start(line, &mut actions);
        assert_eq!(actions.window, Some(6));
        let mut receiver = 0;
        let answers = [0; 5].map(|_| {
            let answer = loops.receive(&mut receiver, arrival(100, false, 12));
            answer.is_some()
        });
        assert_eq!(answers, [false, true, false, true, false]);
        let mut actions = Actions::default();
        loops.send(&mut (), 200, Event::Answered(0), &mut actions);
        let both = Acknowledge {
            packets: 2,
            after: 1,
        };
        assert_eq!(actions.acknowledge, Some(both));
        let Algorithm::RequestReply(read) = made("RequestReply(reply: \"1.5 KiB\")") else {
            panic!("a read")
        };
        assert_eq!(read.packets_per_answer(), 2);
    }

    #[test]
    fn a_size_needs_packets_of_one_size() {
        let context = ControlContext {
            clock: Clock {
                flit_bytes: 64,
                reference_rate: 1_000_000_000,
            },
            smallest: 1,
            largest: 9,
            answer: 2,
            peak: None,
            link: WHOLE_LINK,
        };
        let build = |text| build(Arguments { text }, context);
        let message = build("(request: \"1 KiB\")")
            .expect_err("two sizes")
            .message;
        assert_eq!(
            message,
            "`request` is `1 KiB`, and the packets of the class have several sizes: write a number of packets"
        );
        assert!(build("(request: 3, reply: \"1 KiB\")").is_ok());
    }
}
