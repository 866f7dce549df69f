//! Max-min fair rates found by packets: the distributed water filling DFFA* ([`fluid::rates`](crate::fluid::rates) has
//! the rates themselves).
//!
//! # Rules
//! 1. The agent of a channel has the weight of its *active* flows, what the others leave of it (divided by this weight:
//!    its *share*), and what its flows have not taken. It is *full* once all its active flows have its share.
//! 2. With its first packet a flow *announces* itself: its weight is added at every channel of its way. Until it has a
//!    rate it sends no more.
//! 3. From cycle `begin` on, if its announcement is back, it is *active* and *collects*: the least share of its links comes
//!    back, and per weight it has as much from then on. It tells the links by how much that is more than before (*update*).
//!    If one of them is full it tells all of them that it is no longer active, with the rate that it keeps, and is done.
//!    Otherwise it collects again. No flow has more than one control packet under way.
//! 4. `one_packet`: an update collects, too, so that each round is one packet.
//!
//! All flows must have been announced by `begin` where they share links: this is what rates and guarantees are for. They are
//! calculated once. A flow that joins later may get too much or too little, and nothing is given back.
//!
//! # Numbers
//! Rates per weight and capacities are integers in parts of a flit per cycle, [`UNIT`] of them, divided and rounded down.
//! A link is full when each of its active flows has its share, so less than one unit per weight of its flows may be
//! left; that is given up. So for any delays of packets the final rates are the exact max-min fair rates of a network in
//! which every link has less by at most one unit per weight on it, as those of the solver: no link is overloaded, and every
//! flow has a link on which no other has more per weight and less than that is left
//! ([`check::max_min`](crate::fluid::check::max_min), without tolerance). Where all divisions come out, as those by up to 40,
//! rates are the solver's. What a flow may send is rounded down to 2^-32 flits per cycle; below what D30 allows it
//! counts as the least that it allows.
//!
//! # Deviations
//! The source keeps the share itself, which needs exact fractions; here the link keeps what is left, from which the same
//! share follows. It announces by a broadcast and calculates anew with every change; here that is left out.
//!
//! Cost: two packets there and back (`one_packet`: one) for each round of a flow; at most 6 times the number of different rates
//! round trips in all.
//!
//! References: [`ZDORNOV_BIRK`] §4.2.3, theorems 4.2.8, 4.2.12

use super::member::{Member, packed, unpacked};
use super::parameters::cycles;
use super::probe::{Facts, Payload, Place, Probing, Reply};
use super::{
    Actions, Algorithm, Answer, Arrival, BuildAlgorithm, ControlContext, Event, Line, Machines,
};
use crate::references::ZDORNOV_BIRK;
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::units::Time;
use serde::{Deserialize, Serialize};

/// Parts that a flit per cycle is counted in: three times the least common multiple of 1 to 40, just below 2^54.
pub const UNIT: u64 = 3 * 5_342_931_457_063_200;

/// Registers `Dffa`.
pub(super) const ENTRY: Entry<BuildAlgorithm> = Entry {
    name: "Dffa",
    aliases: &["DFFA*"],
    summary: "max-min fair rates of all flows that have announced themselves, found once by packets",
    parameters: &[
        Parameter {
            name: "begin",
            kind: "time, at least 1 cycle",
            default: None,
            summary: "cycle from which flows that have announced themselves calculate",
        },
        Parameter {
            name: "one_packet",
            kind: "true | false",
            default: Some("true"),
            summary: "whether a round of a flow is one packet, or two",
        },
    ],
    guarantees: &[
        "final rates are weighted max-min fair if all flows have announced themselves before `begin`",
        "no link is overloaded at any time then",
    ],
    references: &[ZDORNOV_BIRK],
    build,
};

const ANNOUNCE: u128 = 0;
const COLLECT: u128 = 1;
const UPDATE: u128 = 2;
const INACTIVE: u128 = 3;

/// Of a payload: what, whether a link is full, weight, rate or more of a rate per weight, least share.
const BITS: [u32; 5] = [3, 1, 16, 54, 54];
/// More than any share.
const ALL: u128 = (1 << 54) - 1;

/// Its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Dffa {
    /// Cycle.
    begin: u64,
    one_packet: bool,
}

/// A sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filler {
    /// The flow.
    pub flow: Member,
    /// Rate per weight \[[`UNIT`]ths of a flit per cycle\].
    pub level: u64,
    /// Whether it is final.
    pub is_done: bool,
}

/// An agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Weight of its active flows.
    pub weight: u64,
    /// What flows leave that are no longer active \[[`UNIT`]ths of a flit per cycle\].
    pub left: u64,
    /// What no flow has taken.
    pub free: u64,
    /// Whether all active flows have its share.
    pub full: bool,
}

impl Link {
    /// What each of its active flows may have per weight; `None` without any.
    pub fn share(&self) -> Option<u64> {
        self.left.checked_div(self.weight)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Dffa")]
struct Parameters {
    begin: Time,
    #[serde(default = "one_packet")]
    one_packet: bool,
}

const fn one_packet() -> bool {
    true
}

fn packet(what: u128, weight: u64, level: u64) -> Payload {
    let values = [what, 0, weight.into(), level.into(), ALL];
    packed([0, 1, 2, 3, 4].map(|field| (values[field], BITS[field])))
}

impl Filler {
    /// So much per weight; returns by how much that is more.
    fn rise(&mut self, share: u128, actions: &mut Actions) -> u64 {
        let more = (share as u64).saturating_sub(self.level);
        self.level += more;
        let rate = u128::from(self.level) * u128::from(self.flow.weight);
        let rate = (rate << 32) / u128::from(UNIT);
        self.flow.set_rate(rate as u64, actions);
        more
    }

    fn send(&mut self, what: u128, level: u64, actions: &mut Actions) {
        let payload = packet(what, self.flow.weight, level);
        self.flow.send(payload, actions);
    }

    /// The first packet of a round.
    fn collect(&mut self, one_packet: bool, actions: &mut Actions) {
        self.send(if one_packet { UPDATE } else { COLLECT }, 0, actions);
    }

    /// Its rate is final.
    fn declare(&mut self, actions: &mut Actions) {
        self.is_done = true;
        self.send(INACTIVE, self.level, actions);
    }
}

impl Machines for Dffa {
    type Sender = Filler;
    type Receiver = ();

    fn start(&self, line: Line, _: &mut Actions) -> Filler {
        Filler {
            flow: Member::new(line.largest),
            level: 0,
            is_done: false,
        }
    }

    fn receive(&self, (): &mut (), _: Arrival) -> Option<Answer> {
        None
    }

    fn hears_starts(&self) -> bool {
        true
    }

    fn send(&self, sender: &mut Filler, now: u64, event: Event, actions: &mut Actions) {
        match event {
            Event::Started(flits) => {
                if sender.flow.started(flits, actions) {
                    sender.send(ANNOUNCE, 0, actions);
                }
            }
            Event::Timer => {
                if sender.flow.rings(now) {
                    sender.collect(self.one_packet, actions);
                }
            }
            Event::Answered(_) | Event::Looked { .. } => {}
        }
        sender.flow.set_timer(actions);
    }

    fn show(&self, sender: &Filler) -> String {
        String::from(if sender.is_done {
            "final"
        } else {
            "calculates"
        })
    }
}

impl Probing for Dffa {
    type Agent = Link;

    fn begin(&self, sender: &mut Filler, facts: Facts, _: &mut Actions) {
        sender.flow.know(facts.weight.into(), None, None);
    }

    fn agent(&self, place: Place) -> Link {
        let capacity = UNIT / u64::from(place.pace);
        Link {
            weight: 0,
            left: capacity,
            free: capacity,
            full: false,
        }
    }

    fn visit(&self, link: &mut Link, _: u64, payload: &mut Payload) {
        let [what, mut full, weight, level, mut share] = unpacked(*payload, BITS);
        let (own, rate) = (weight as u64, (weight * level) as u64);
        match what {
            ANNOUNCE => link.weight += own,
            UPDATE => {
                link.free = link.free.saturating_sub(rate);
                let lost = link.left.checked_rem(link.weight);
                if !link.full && lost == Some(link.free) {
                    link.left -= link.free;
                    (link.free, link.full) = (0, true);
                }
                full |= u128::from(link.full);
            }
            INACTIVE => {
                link.left = link.left.saturating_sub(rate);
                link.weight = link.weight.saturating_sub(own);
            }
            _ => {}
        }
        if let Some(least) = link.share() {
            share = share.min(least.into());
        }
        let fields = [what, full, weight, level, share];
        *payload = packed([0, 1, 2, 3, 4].map(|field| (fields[field], BITS[field])));
    }

    fn received(&self, (): &mut (), _: u64, payload: Payload) -> Option<Reply> {
        let [what, ..] = unpacked(payload, BITS);
        (what != INACTIVE).then_some(Reply {
            payload,
            after: 1,
            visits: false,
        })
    }

    fn returned(&self, sender: &mut Filler, now: u64, payload: Payload, actions: &mut Actions) {
        let [what, full, _, _, share] = unpacked(payload, BITS);
        sender.flow.waits = false;
        match what {
            ANNOUNCE if now < self.begin => sender.flow.rest(self.begin),
            ANNOUNCE => sender.collect(self.one_packet, actions),
            COLLECT => {
                let more = sender.rise(share, actions);
                sender.send(UPDATE, more, actions);
            }
            _ if self.one_packet => {
                let more = sender.rise(share, actions);
                if full == 1 {
                    sender.declare(actions);
                } else {
                    sender.send(UPDATE, more, actions);
                }
            }
            _ if full == 1 => sender.declare(actions),
            _ => sender.collect(false, actions),
        }
        sender.flow.set_timer(actions);
    }
}

fn build(arguments: Arguments<'_>, context: ControlContext) -> Result<Algorithm, ArgumentError> {
    let written: Parameters = arguments.parse()?;
    Ok(Algorithm::Dffa(Dffa {
        begin: cycles("begin", written.begin, context.clock)?,
        one_packet: written.one_packet,
    }))
}

#[cfg(test)]
mod tests {
    use super::super::tests::made;
    use super::super::{Limit, Probe};
    use super::*;

    fn own(one_packet: bool) -> Dffa {
        match made(&format!(
            "Dffa(begin: \"50 cycles\", one_packet: {one_packet})"
        )) {
            Algorithm::Dffa(own) => own,
            other => panic!("{other:?}"),
        }
    }

    /// A flow that has joined.
    fn joined(own: &Dffa, weight: u16) -> Filler {
        let mut actions = Actions::default();
        let line = Line {
            pace: 1,
            largest: 8,
        };
        let mut sender = own.start(line, &mut actions);
        let facts = Facts {
            id: 0,
            start: 0,
            stop: None,
            flits: None,
            weight,
        };
        own.begin(&mut sender, facts, &mut actions);
        own.send(&mut sender, 5, Event::Started(8), &mut actions);
        let announcement = packet(ANNOUNCE, weight.into(), 0);
        assert_eq!(actions.send.unwrap().payload, announcement);
        sender
    }

    /// What is sent takes some links; returns what the reply leads to.
    fn goes(
        own: &Dffa,
        links: &mut [&mut Link],
        sender: &mut Filler,
        mut sent: Payload,
    ) -> Actions {
        links
            .iter_mut()
            .for_each(|link| own.visit(link, 0, &mut sent));
        let mut actions = Actions::default();
        if let Some(reply) = own.received(&mut (), 0, sent) {
            own.returned(sender, 60, reply.payload, &mut actions);
        }
        actions
    }

    /// A limit, and a packet that is sent.
    fn rises(share: (u64, u64), what: u128, (weight, level): (u64, u64)) -> Actions {
        Actions {
            limit: Some(Limit::Rate((share.0 << 32) / share.1)),
            log: true,
            send: Some(Probe {
                payload: packet(what, weight, level),
                after: 1,
            }),
            ..Actions::default()
        }
    }

    /// Flow a over both links, b of weight 2 over the first, c over the second: a and b have a third of the first link per
    /// weight; that leaves two thirds of the second for c, which has a half of it first.
    #[test]
    fn shares_rise_when_others_are_held() {
        let own = own(true);
        let place = Place {
            pace: 1,
            from_host: false,
            to_host: false,
        };
        let (mut first, mut second) = (own.agent(place), own.agent(place));
        let (mut a, mut b, mut c) = (joined(&own, 1), joined(&own, 2), joined(&own, 1));
        let announced = |weight| packet(ANNOUNCE, weight, 0);
        let mut actions = goes(&own, &mut [&mut first, &mut second], &mut a, announced(1));
        let collect = packet(UPDATE, 1, 0);
        assert_eq!(actions.send.unwrap().payload, collect);
        goes(&own, &mut [&mut first], &mut b, announced(2));
        goes(&own, &mut [&mut second], &mut c, announced(1));
        assert_eq!((first.weight, second.weight), (3, 2));

        let (half, third) = (UNIT / 2, UNIT / 3);
        actions = goes(&own, &mut [&mut second], &mut c, collect);
        assert_eq!(actions, rises((1, 2), UPDATE, (1, half)));
        goes(&own, &mut [&mut second], &mut c, packet(UPDATE, 1, half));
        assert_eq!((second.free, second.full), (half, false));
        actions = goes(&own, &mut [&mut first, &mut second], &mut a, collect);
        assert_eq!(actions, rises((1, 3), UPDATE, (1, third)));
        actions = goes(&own, &mut [&mut first], &mut b, packet(UPDATE, 2, 0));
        assert_eq!(actions, rises((2, 3), UPDATE, (2, third)));
        // the first link is not full before it knows of both
        actions = goes(
            &own,
            &mut [&mut first, &mut second],
            &mut a,
            packet(UPDATE, 1, third),
        );
        assert_eq!(actions.send.unwrap().payload, collect);
        actions = goes(&own, &mut [&mut first], &mut b, packet(UPDATE, 2, third));
        assert_eq!(actions.send.unwrap().payload, packet(INACTIVE, 2, third));
        assert!(first.full && first.share() == Some(third));
        goes(&own, &mut [&mut first], &mut b, packet(INACTIVE, 2, third));
        assert_eq!((first.weight, first.share()), (1, Some(third)));
        actions = goes(&own, &mut [&mut first, &mut second], &mut a, collect);
        assert_eq!(actions.send.unwrap().payload, packet(INACTIVE, 1, third));
        goes(
            &own,
            &mut [&mut first, &mut second],
            &mut a,
            packet(INACTIVE, 1, third),
        );
        assert_eq!((second.weight, second.share()), (1, Some(2 * third)));
        actions = goes(&own, &mut [&mut second], &mut c, collect);
        assert_eq!(actions, rises((2, 3), UPDATE, (1, 2 * third - half)));
        actions = goes(
            &own,
            &mut [&mut second],
            &mut c,
            packet(UPDATE, 1, 2 * third - half),
        );
        assert_eq!(
            actions.send.unwrap().payload,
            packet(INACTIVE, 1, 2 * third)
        );
        assert!(a.is_done && b.is_done && c.is_done);
    }

    /// Two packets for a round: one collects, one tells.
    #[test]
    fn a_flow_alone_takes_two_packets() {
        let own = own(false);
        let mut link = own.agent(Place {
            pace: 2,
            from_host: false,
            to_host: false,
        });
        let mut sender = joined(&own, 1);
        let mut actions = Actions::default();
        let announced = packet(ANNOUNCE, 1, 0);
        own.visit(&mut link, 0, &mut announced.clone());
        own.returned(&mut sender, 20, announced, &mut actions);
        assert_eq!((actions.send, actions.timer), (None, Some(Some(50))));
        let mut actions = Actions::default();
        own.send(&mut sender, 50, Event::Timer, &mut actions);
        let collect = packet(COLLECT, 1, 0);
        assert_eq!(actions.send.unwrap().payload, collect);
        let half = UNIT / 2;
        let mut actions = goes(&own, &mut [&mut link], &mut sender, collect);
        assert_eq!(actions, rises((1, 2), UPDATE, (1, half)));
        actions = goes(&own, &mut [&mut link], &mut sender, packet(UPDATE, 1, half));
        assert_eq!(actions.send.unwrap().payload, packet(INACTIVE, 1, half));
    }
}
