//! SAA: every flow gets its weight over the largest weight of a link of its route, and finds that out by packets over it
//! ([`fluid::rates`](crate::fluid::rates) has the rates themselves).
//!
//! # Rules
//! 1. The agent of a channel has the weight of its flows. The weight of a link is this times its cycles per flit: weight
//!    over capacity.
//! 2. With its first packet a flow *announces* itself: a control packet adds its weight at every channel of its way and
//!    brings back the largest weight of a link, W. From then on the flow has the rate weight / W; until then it sends no
//!    more.
//! 3. Then it *looks*, by a packet that only brings back the largest weight: at once where the last answer was another
//!    than the one before, otherwise `period` after it. No flow has more than one control packet under way.
//! 4. When its last packet has started, or at its stop, a packet takes its weight away again. Nothing comes back.
//! 5. `weights`: `Given`, those of the flows, or `Sizes`, what they send, in flits (2^40 at most; of a flow without a size its
//!    weight). With sizes all flows that start together are through as early as is possible.
//!
//! # Numbers
//! Weights are integers, so that what is added can be taken away exactly. The rate is rounded down to 2^-32 flits per
//! cycle: those of all flows of a link are together no more than it, and each is less than one such unit below weight /
//! W, whatever order and delay packets have. A rate below what D30 allows counts as the least that it allows.
//!
//! Needs routes of tables: with adaptive routing packets of one flow visit different channels, and what links know means nothing.
//!
//! # Deviations
//! The source announces at the start of a flow; here its first packet says that it has started. That packets of data
//! carry weights in place of looks is not there: they visit no agents.
//!
//! Cost: one packet there for each change of the set of flows; one there and back for each look.
//!
//! References: [`ZDORNOV_BIRK`] §4.1.1, §4.1.2

use super::member::{Member, packed, unpacked};
use super::parameters::cycles;
use super::probe::{Facts, Payload, Place, Probing, Reply};
use super::{Actions, Algorithm, BuildAlgorithm, ControlContext, Event, Line, Machines};
use crate::references::ZDORNOV_BIRK;
use crate::registry::{ArgumentError, Arguments, Entry, Parameter};
use crate::units::Time;
use serde::{Deserialize, Serialize};

/// Registers `Saa`.
pub(super) const ENTRY: Entry<BuildAlgorithm> = Entry {
    name: "Saa",
    aliases: &["SAA"],
    summary: "single application assignment: a flow's rate is its weight over the largest weight of a link, found by packets",
    parameters: &[
        Parameter {
            name: "period",
            kind: "time, at least 1 cycle",
            default: Some("\"10 us\""),
            summary: "from an answer without news to the next look at the links",
        },
        Parameter {
            name: "weights",
            kind: "Given | Sizes",
            default: Some("Given"),
            summary: "weights of the flows, or what they send in all",
        },
    ],
    guarantees: &[
        "one look after the last flow has announced itself every rate is final until one ends",
        "final rates are feasible; with sizes as weights the last of flows that start together ends as early as is possible",
    ],
    references: &[ZDORNOV_BIRK],
    build,
};

const ANNOUNCE: u128 = 0;
const LOOK: u128 = 1;
const END: u128 = 2;

/// Bits of a payload: what it is, weight, largest weight of a link.
const BITS: [u32; 3] = [4, 44, 80];

/// What weights are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Weights {
    /// Those of the flows.
    Given,
    /// What they send.
    Sizes,
}

/// Its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Saa {
    /// \[cycles\].
    period: u64,
    weights: Weights,
}

/// A sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sharer {
    /// The flow.
    pub flow: Member,
    /// Largest weight of a link that it knows of; 0 = none.
    pub largest: u128,
}

/// An agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Weight of its flows.
    pub weight: u64,
    /// Cycles per flit.
    pub pace: u16,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Saa", default)]
struct Parameters {
    period: Time,
    weights: Weights,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            period: Time::Picoseconds(10_000_000),
            weights: Weights::Given,
        }
    }
}

fn packet(what: u128, weight: u64) -> Payload {
    packed([what, weight.into(), 0], BITS)
}

impl Saa {
    /// What every call ends with.
    fn close(sender: &mut Sharer, actions: &mut Actions) {
        if sender.flow.leaves() {
            let end = packet(END, sender.flow.weight);
            sender.flow.send(end, actions);
        }
        sender.flow.set_timer(actions);
    }
}

impl Machines for Saa {
    type Sender = Sharer;
    type Receiver = ();

    fn start(&self, line: Line, _: &mut Actions) -> Sharer {
        Sharer {
            flow: Member::new(line.largest),
            largest: 0,
        }
    }

    fn hears_starts(&self) -> bool {
        true
    }

    fn send(&self, sender: &mut Sharer, now: u64, event: Event, actions: &mut Actions) {
        let flow = &mut sender.flow;
        match event {
            Event::Started(flits) => {
                if flow.started(flits, actions) {
                    flow.send(packet(ANNOUNCE, flow.weight), actions);
                }
            }
            Event::Timer => {
                if flow.rings(now) {
                    flow.send(packet(LOOK, 0), actions);
                }
            }
            Event::Answered(_) | Event::Looked { .. } | Event::Told(_) => {}
        }
        Self::close(sender, actions);
    }

    fn show(&self, sender: &Sharer) -> String {
        format!("weight {} of {}", sender.flow.weight, sender.largest)
    }
}

impl Probing for Saa {
    type Agent = Link;

    fn begin(&self, sender: &mut Sharer, facts: Facts, actions: &mut Actions) {
        let weight = u64::from(facts.weight);
        let weight = match self.weights {
            Weights::Given => weight,
            Weights::Sizes => facts.flits.unwrap_or(weight),
        };
        sender.flow.know(weight, facts.flits, facts.stop);
        sender.flow.set_timer(actions);
    }

    fn agent(&self, place: Place) -> Link {
        Link {
            weight: 0,
            pace: place.pace,
        }
    }

    fn visit(&self, link: &mut Link, _: u64, payload: &mut Payload) {
        let [what, weight, largest] = unpacked(*payload, BITS);
        match what {
            ANNOUNCE => link.weight += weight as u64,
            END => link.weight = link.weight.saturating_sub(weight as u64),
            _ => {}
        }
        let own = u128::from(link.weight) * u128::from(link.pace);
        let fields = [what, weight, largest.max(own)];
        *payload = packed(fields, BITS);
    }

    fn received(&self, (): &mut (), _: u64, payload: Payload) -> Option<Reply> {
        let [what, ..] = unpacked(payload, BITS);
        (what != END).then_some(Reply::at_once(payload))
    }

    fn returned(&self, sender: &mut Sharer, now: u64, payload: Payload, actions: &mut Actions) {
        let [.., largest] = unpacked(payload, BITS);
        let flow = &mut sender.flow;
        flow.waits = false;
        flow.set_rate(flow.part_of(largest), actions);
        if largest == sender.largest {
            flow.rest(now + self.period);
        } else {
            sender.largest = largest;
            flow.go_on(packet(LOOK, 0), actions);
        }
        Self::close(sender, actions);
    }
}

fn build(arguments: Arguments<'_>, context: ControlContext) -> Result<Algorithm, ArgumentError> {
    let written: Parameters = arguments.parse()?;
    Ok(Algorithm::Saa(Saa {
        period: cycles("period", written.period, context.clock)?,
        weights: written.weights,
    }))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{FLOW, begun, made};
    use super::super::{Limit, Probe};
    use super::*;

    /// A period of 20 cycles, whatever they take.
    fn own() -> Saa {
        match made("Saa(period: \"20 cycles\")") {
            Algorithm::Saa(own) => own,
            other => panic!("{other:?}"),
        }
    }

    fn sender(own: &Saa, weight: u16, flits: Option<u64>) -> Sharer {
        let flow = Facts {
            flits,
            weight,
            ..FLOW
        };
        let (sender, actions) = begun(own, flow);
        assert_eq!(actions, Actions::default(), "the first packet is free");
        sender
    }

    fn probe(payload: Payload) -> Probe {
        Probe { payload, after: 1 }
    }

    fn links(own: &Saa) -> [Link; 2] {
        [1, 3].map(|pace| {
            own.agent(Place {
                pace,
                from_host: false,
                to_host: false,
            })
        })
    }

    /// A packet over some links, and what the reply says.
    fn over(own: &Saa, links: &mut [Link], mut payload: Payload) -> Payload {
        for link in links {
            own.visit(link, 6, &mut payload);
        }
        let reply = own.received(&mut (), 7, payload).unwrap();
        assert_eq!((reply.payload, reply.visits), (payload, false));
        payload
    }

    fn called(call: impl FnOnce(&mut Actions)) -> Actions {
        let mut actions = Actions::default();
        call(&mut actions);
        actions
    }

    /// Two links, the second at a third of the rate. Flow a of weight 2 goes over both, b of weight 1 over the second: that has
    /// 2 * 3 = 6 at first and 9 with b, so a has a third and then two ninths of a flit per cycle.
    #[test]
    fn two_flows_share_a_slow_link() {
        let own = own();
        let (mut links, mut a) = (links(&own), sender(&own, 2, Some(24)));
        let joins = called(|actions| own.send(&mut a, 5, Event::Started(8), actions));
        assert_eq!(joins.limit, Some(Limit::Rate(0)));
        assert_eq!(joins.send, Some(probe(packet(ANNOUNCE, 2))));
        let first = over(&own, &mut links, packet(ANNOUNCE, 2));
        assert_eq!(unpacked(first, BITS), [ANNOUNCE, 2, 6]);

        let mut b = sender(&own, 1, None);
        called(|actions| own.send(&mut b, 7, Event::Started(8), actions));
        let announced = over(&own, &mut links[1..], packet(ANNOUNCE, 1));
        assert_eq!(unpacked(announced, BITS), [ANNOUNCE, 1, 9]);
        let knows = called(|actions| own.returned(&mut b, 9, announced, actions));
        assert_eq!(knows.limit, Some(Limit::Rate((1 << 32) / 9)));

        // the answer is old: a looks at once, and again, until nothing is new
        let knows = called(|actions| own.returned(&mut a, 10, first, actions));
        let expected = Actions {
            limit: Some(Limit::Rate((1 << 32) / 3)),
            log: true,
            send: Some(probe(packet(LOOK, 0))),
            ..Actions::default()
        };
        assert_eq!(knows, expected);
        let look = over(&own, &mut links, packet(LOOK, 0));
        assert_eq!(unpacked(look, BITS), [LOOK, 0, 9]);
        let falls = called(|actions| own.returned(&mut a, 12, look, actions));
        assert_eq!(falls.limit, Some(Limit::Rate((2 << 32) / 9)));
        assert_eq!(falls.send, Some(probe(packet(LOOK, 0))));
        let rests = called(|actions| own.returned(&mut a, 14, look, actions));
        let expected = Actions {
            timer: Some(Some(34)),
            ..Actions::default()
        };
        assert_eq!(rests, expected);
        let looks = called(|actions| own.send(&mut a, 34, Event::Timer, actions));
        assert_eq!(looks.send, Some(probe(packet(LOOK, 0))));
    }

    /// The last packet starts while a look is under way: the weight is taken away when that is back.
    #[test]
    fn a_flow_that_ends_takes_its_weight_away() {
        let own = own();
        let (mut links, mut a) = (links(&own), sender(&own, 2, Some(24)));
        called(|actions| own.send(&mut a, 5, Event::Started(8), actions));
        let first = over(&own, &mut links, packet(ANNOUNCE, 2));
        called(|actions| own.returned(&mut a, 10, first, actions));
        for flits in [8, 8] {
            let starts = called(|actions| own.send(&mut a, 35, Event::Started(flits), actions));
            assert_eq!(starts, Actions::default());
        }
        let look = over(&own, &mut links, packet(LOOK, 0));
        let ends = called(|actions| own.returned(&mut a, 36, look, actions));
        let mut end = packet(END, 2);
        assert_eq!((ends.send, ends.timer), (Some(probe(end)), None));
        assert_eq!(links.map(|link| link.weight), [2, 2]);
        for link in &mut links {
            own.visit(link, 37, &mut end);
        }
        assert_eq!(own.received(&mut (), 38, end), None);
        assert_eq!(links.map(|link| link.weight), [0, 0]);
    }
}
