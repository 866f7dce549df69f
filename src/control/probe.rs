//! Algorithms that probe: packets that senders send, replies to them, and agents of channels that both visit (D47, D48 of
//! the model), as packets of data may (D69).
//!
//! An agent is a third pure state machine on integers: it knows its channel and what visits it, and no fabric, no clock,
//! no other agent. A probe is all that carries numbers from one to the next.
//!
//! New ones: an algorithm that implements [`Probing`] beside [`Machines`], and its name in the list at the end.

use super::{Actions, Algorithm, Arrival, Machines, Receiver, Sender};
use super::{dffa, dffa_rounds, erratic, reservation, saa, saa_m, set_up};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// What a probe or a reply carries; the algorithm's own business.
pub type Payload = [u32; 4];

/// What a sender sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// What it carries.
    pub payload: Payload,
    /// Cycles until it is created, at least 1.
    pub after: u64,
}

/// What a receiver gives back for a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// What it carries.
    pub payload: Payload,
    /// Cycles until it is created, at least 1.
    pub after: u64,
    /// Whether it visits the agents on its way.
    pub visits: bool,
}

impl Reply {
    /// In the next cycle, without visits.
    pub const fn at_once(payload: Payload) -> Self {
        Self {
            payload,
            after: 1,
            visits: false,
        }
    }
}

/// What the sender of an algorithm that probes knows of its flow from the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Number of the flow.
    pub id: u32,
    /// Cycle from which it takes part; [`Self::NO_START`] where it is told none (D67).
    pub start: u64,
    /// Cycle from which it makes no packet.
    pub stop: Option<u64>,
    /// What it sends in all \[flits\]; `None` = without end.
    pub flits: Option<u64>,
    /// Weight, at least 1.
    pub weight: u16,
}

impl Facts {
    /// In place of a start: another flow goes before it.
    pub const NO_START: u64 = u64::MAX;
}

/// Where an agent stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Cycles per flit of the channel.
    pub pace: u16,
    /// Cycles per flit at which it is drained: its own, or those of the sink behind it where they are more.
    pub drain: u16,
    /// Whether the channel leaves a host.
    pub from_host: bool,
    /// Whether it leads to a host.
    pub to_host: bool,
}

/// What an algorithm has that probes; `self` are its parameters.
pub trait Probing: Machines {
    /// State of an agent.
    type Agent: Debug + Clone + Serialize;

    /// Whether it does with these parameters.
    fn probes(&self) -> bool {
        true
    }

    /// Whether its senders begin their flows once these are reserved (D60).
    fn reserves(&self) -> bool {
        false
    }

    /// Whether channels have agents (D48).
    fn has_agents(&self) -> bool {
        true
    }

    /// Whether packets of its flows carry a payload and visit agents (D69).
    fn carries(&self) -> bool {
        false
    }

    /// Whether all classes with this algorithm have their agents and elements in common (D73): then these do not depend on
    /// parameters.
    fn is_of_links(&self) -> bool {
        false
    }

    /// A receiver that was just made learns the size of its flow \[flits\], if it has one (D67).
    fn expect(&self, receiver: &mut Self::Receiver, flits: Option<u64>) {
        let _ = (receiver, flits);
    }

    /// A sender that was just started learns of its flow; adds to the actions of the start. It may not send yet.
    fn begin(&self, sender: &mut Self::Sender, flow: Facts, actions: &mut Actions);

    /// An agent before cycle 0.
    fn agent(&self, place: Place) -> Self::Agent;

    /// A probe, or a reply that visits, takes the agent's channel in cycle `now`.
    fn visit(&self, agent: &mut Self::Agent, now: u64, payload: &mut Payload);

    /// A probe was delivered in cycle `now`.
    fn received(&self, receiver: &mut Self::Receiver, now: u64, payload: Payload) -> Option<Reply>;

    /// A packet of the flow was delivered that carries this; called in place of [`Machines::receive`] where
    /// [`Self::carries`].
    fn carried(
        &self,
        receiver: &mut Self::Receiver,
        arrival: Arrival,
        payload: Payload,
    ) -> Option<Reply> {
        let _ = (receiver, arrival, payload);
        None
    }

    /// A reply was delivered at the source in cycle `now`.
    fn returned(
        &self,
        sender: &mut Self::Sender,
        now: u64,
        payload: Payload,
        actions: &mut Actions,
    );
}

/// The algorithms that probe, and the states of their agents.
macro_rules! probing {
    ($($name:ident in $module:ident),* $(,)?) => {
        /// State of an agent.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub enum Agent {
            $(#[doc = concat!("See [`", stringify!($module), "`].")] $name(<$module::$name as Probing>::Agent)),*
        }

        impl Algorithm {
            /// [`Probing::probes`].
            pub fn probes(&self) -> bool {
                match self {
                    $(Self::$name(own) => own.probes(),)*
                    _ => false,
                }
            }

            /// [`Probing::reserves`].
            pub fn reserves(&self) -> bool {
                match self {
                    $(Self::$name(own) => own.reserves(),)*
                    _ => false,
                }
            }

            /// [`Probing::carries`].
            pub fn carries(&self) -> bool {
                match self {
                    $(Self::$name(own) => own.probes() && own.carries(),)*
                    _ => false,
                }
            }

            /// [`Probing::is_of_links`].
            fn is_of_links(&self) -> bool {
                match self {
                    $(Self::$name(own) => own.probes() && own.is_of_links(),)*
                    _ => false,
                }
            }

            /// Whether two classes, one with this algorithm and one with the other, have agents and elements in common (D73).
            pub fn has_in_common(&self, other: &Self) -> bool {
                std::mem::discriminant(self) == std::mem::discriminant(other)
                    && self.is_of_links()
                    && other.is_of_links()
                    && self.has_elements() == other.has_elements()
            }

            /// [`Probing::begin`]; nothing where the algorithm does not probe.
            pub fn begin(&self, sender: &mut Sender, flow: Facts, actions: &mut Actions) {
                match (self, sender) {
                    $((Self::$name(own), Sender::$name(state)) if own.probes() => own.begin(state, flow, actions),)*
                    _ => {}
                }
            }

            /// [`Probing::expect`]; nothing where the algorithm does not probe.
            pub fn expect(&self, receiver: &mut Receiver, flits: Option<u64>) {
                match (self, receiver) {
                    $((Self::$name(own), Receiver::$name(state)) => own.expect(state, flits),)*
                    _ => {}
                }
            }

            /// [`Probing::agent`]; `None` where the algorithm does not probe or has none.
            pub fn agent(&self, place: Place) -> Option<Agent> {
                match self {
                    $(Self::$name(own) if own.probes() && own.has_agents() => Some(Agent::$name(own.agent(place))),)*
                    _ => None,
                }
            }

            /// [`Probing::visit`].
            ///
            /// # Panics
            /// When the agent is another algorithm's.
            pub fn visit(&self, agent: &mut Agent, now: u64, payload: &mut Payload) {
                match (self, agent) {
                    $((Self::$name(own), Agent::$name(state)) => own.visit(state, now, payload),)*
                    _ => unreachable!("an agent keeps its algorithm"),
                }
            }

            /// [`Probing::received`].
            ///
            /// # Panics
            /// When the state is another algorithm's, or the algorithm does not probe.
            pub fn received(&self, receiver: &mut Receiver, now: u64, payload: Payload) -> Option<Reply> {
                match (self, receiver) {
                    $((Self::$name(own), Receiver::$name(state)) => own.received(state, now, payload),)*
                    _ => unreachable!("only algorithms that probe have probes"),
                }
            }

            /// [`Probing::carried`].
            ///
            /// # Panics
            /// When the state is another algorithm's, or the algorithm does not probe.
            pub fn carried(&self, receiver: &mut Receiver, arrival: Arrival, payload: Payload) -> Option<Reply> {
                match (self, receiver) {
                    $((Self::$name(own), Receiver::$name(state)) => own.carried(state, arrival, payload),)*
                    _ => unreachable!("only algorithms that probe carry"),
                }
            }

            /// [`Probing::returned`].
            ///
            /// # Panics
            /// When the state is another algorithm's, or the algorithm does not probe.
            pub fn returned(&self, sender: &mut Sender, now: u64, payload: Payload, actions: &mut Actions) {
                match (self, sender) {
                    $((Self::$name(own), Sender::$name(state)) => own.returned(state, now, payload, actions),)*
                    _ => unreachable!("only algorithms that probe have replies"),
                }
            }
        }
    };
}

probing![
    Dffa in dffa,
    DffaRounds in dffa_rounds,
    Erratic in erratic,
    Reservation in reservation,
    Saa in saa,
    SaaM in saa_m,
    SetUp in set_up,
];
