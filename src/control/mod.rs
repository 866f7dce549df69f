//! Control: algorithms that set what flows may send from what the fabric tells them (section 9 of the model).
//!
//! An algorithm is two pure state machines on integers: a *receiver* at the destination of a flow, which may answer the
//! packets that arrive, and a *sender* at its source, which sets limits, windows and timers; or one sender for all
//! flows of the class at a host, if the algorithm is shared (D44). They know no fabric, no clock and no other flow; when
//! they are called, and what their actions do, are D40 and D41. Engine and reference model share them.
//!
//! Some [probe]: their senders send packets of their own, which visit agents of the channels on their way.
//!
//! New ones: one file with an [`Entry`](crate::registry::Entry) and the two machines, one line in each of the two lists at
//! the end.

pub mod dcqcn;
pub mod delay;
pub mod dffa;
pub mod dffa_rounds;
pub mod element;
pub mod erratic;
pub mod inc;
pub mod infiniband;
mod limit;
pub mod member;
mod parameters;
pub mod probe;
pub mod request_reply;
pub mod reservation;
pub mod saa;
pub mod saa_m;
pub mod set_up;
mod under_way;
pub mod window;

pub use element::{Element, Elements};
pub use limit::{Limit, ONE_FLIT_PER_CYCLE, WHOLE_LINK};
pub use probe::{Agent, Facts, Payload, Probe, Probing, Reply};
pub use under_way::UnderWay;

use crate::registry::{ArgumentError, Arguments, Registry};
use crate::units::Clock;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// What a sender knows from the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Cycles per flit of its host's channel.
    pub pace: u16,
    /// Largest packet of the flow's class \[flits\].
    pub largest: u16,
}

/// A packet that was delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Cycle.
    pub now: u64,
    /// Size \[flits\].
    pub flits: u16,
    /// Whether it has the FECN bit.
    pub is_marked: bool,
    /// Network latency \[cycles\].
    pub latency: u64,
}

/// What a receiver sends back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What it says; the algorithm's own business.
    pub value: u32,
    /// Cycles until it is created, at least 1.
    pub after: u64,
}

/// What a sender is called with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A packet of so many flits started on the channel in this cycle. Told where [`Machines::hears_starts`] only.
    Started(u16),
    /// An answer with this value was delivered in this cycle.
    Answered(u32),
    /// The timer is set to this cycle.
    Timer,
    /// What the own switch shows after this cycle (D51).
    Looked {
        /// Whether the (output, lane) that the flow goes through is blocked.
        own: bool,
        /// How many of the switch are.
        blocked: u32,
    },
    /// The host's element says something else after this cycle (D68).
    Told(u32),
}

/// Looks at the own switch (D51).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Looks {
    /// Cycles from one to the next, at least 1.
    pub every: u64,
    /// What an (output, lane) sends at least if it is not blocked \[flits\].
    pub few: u32,
}

/// Packets that count as acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledge {
    /// How many, at least 1.
    pub packets: u32,
    /// After so many cycles, at least 1.
    pub after: u64,
}

impl Acknowledge {
    /// One packet, after so many cycles.
    pub const fn one(after: u64) -> Self {
        Self { packets: 1, after }
    }
}

/// What a sender wants done; what is left out stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Actions {
    /// Another limit.
    pub limit: Option<Limit>,
    /// Another window \[packets\], at least 1.
    pub window: Option<u32>,
    /// Another cycle for the timer, later than now, or none.
    pub timer: Option<Option<u64>>,
    /// Outstanding packets that count as acknowledged later.
    pub acknowledge: Option<Acknowledge>,
    /// Whether an event is logged.
    pub log: bool,
    /// A probe to the flow's destination (algorithms that probe only).
    pub send: Option<Probe>,
    /// Whether the flow begins (algorithms that reserve or set up only).
    pub begin: bool,
    /// Whether the connection is free for its next flow (algorithms that set up only).
    pub close: bool,
    /// What packets of the flow carry that start from the next cycle on (algorithms that carry only).
    pub carry: Option<Payload>,
}

/// The machines of an algorithm; `self` are its parameters.
pub trait Machines: Debug + Clone {
    /// State of a sender.
    type Sender: Debug + Clone + Serialize;
    /// State of a receiver.
    type Receiver: Debug + Clone + Default + Serialize;

    /// A sender before cycle 0: limit, window and timer it starts with.
    fn start(&self, line: Line, actions: &mut Actions) -> Self::Sender;

    /// A packet of the flow was delivered; not answered where nothing else is said.
    fn receive(&self, receiver: &mut Self::Receiver, arrival: Arrival) -> Option<Answer> {
        let _ = (receiver, arrival);
        None
    }

    /// Something happened at the source in cycle `now`.
    fn send(&self, sender: &mut Self::Sender, now: u64, event: Event, actions: &mut Actions);

    /// What a sender is about, in words for who watches a flow; nothing where limit, window and timer say all.
    fn show(&self, sender: &Self::Sender) -> String {
        let _ = sender;
        String::new()
    }

    /// The least shift of the delays that it may set as limits (D30), `None` where it sets none: schedulers that share lanes by
    /// rates refuse these.
    fn least_shift(&self) -> Option<u8> {
        None
    }

    /// Whether its senders do something when a packet starts ([`Event::Started`]).
    fn hears_starts(&self) -> bool {
        false
    }

    /// Whether what its senders do depends on marks of packets.
    fn heeds_marks(&self) -> bool {
        false
    }

    /// Whether all flows of the class at a host have one sender (D44).
    fn is_shared(&self) -> bool {
        false
    }

    /// Looks at the own switch that its senders are told (D51).
    fn looks(&self) -> Option<Looks> {
        None
    }

    /// Packets that an answer consists of, at least 1 (D45).
    fn packets_per_answer(&self) -> u16 {
        1
    }

    /// What it lets a flow have under way; `None`: as much as there is, or what it finds by other means.
    fn under_way(&self) -> Option<UnderWay> {
        None
    }
}

/// What an algorithm may know when it is made.
#[derive(Clone, Copy, Debug)]
pub struct ControlContext {
    /// For times and sizes.
    pub clock: Clock,
    /// Smallest packet of the class \[flits\].
    pub smallest: u16,
    /// Largest packet of the class \[flits\].
    pub largest: u16,
    /// Packet of the class of answers \[flits\].
    pub answer: u16,
    /// Peak that the flows of the class ask for \[2^-32 flits per cycle\]; `None`: they do not ask.
    pub peak: Option<u64>,
    /// What rates may take of every link, in parts of [`WHOLE_LINK`].
    pub link: u32,
}

/// Makes an algorithm from its arguments; the error names what is wrong and what is allowed.
pub type BuildAlgorithm = fn(Arguments<'_>, ControlContext) -> Result<Algorithm, ArgumentError>;

/// The algorithms: their parameters, and the states of their machines.
macro_rules! algorithms {
    ($($name:ident in $module:ident),* $(,)?) => {
        /// An algorithm with its parameters.
        #[derive(Clone, Debug)]
        pub enum Algorithm {
            $(#[doc = concat!("See [`", stringify!($module), "`].")] $name($module::$name)),*
        }

        /// State of a sender.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub enum Sender {
            $(#[doc = concat!("See [`", stringify!($module), "`].")] $name(<$module::$name as Machines>::Sender)),*
        }

        /// State of a receiver.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub enum Receiver {
            $(#[doc = concat!("See [`", stringify!($module), "`].")] $name(<$module::$name as Machines>::Receiver)),*
        }

        impl Algorithm {
            /// [`Machines::start`].
            pub fn start(&self, line: Line, actions: &mut Actions) -> Sender {
                match self {
                    $(Self::$name(own) => Sender::$name(own.start(line, actions))),*
                }
            }

            /// [`Machines::show`].
            ///
            /// # Panics
            /// When the state is another algorithm's.
            pub fn show(&self, sender: &Sender) -> String {
                match (self, sender) {
                    $((Self::$name(own), Sender::$name(state)) => own.show(state),)*
                    _ => unreachable!("a sender keeps its algorithm"),
                }
            }

            /// [`Machines::least_shift`].
            pub fn least_shift(&self) -> Option<u8> {
                match self {
                    $(Self::$name(own) => own.least_shift()),*
                }
            }

            /// [`Machines::hears_starts`].
            pub fn hears_starts(&self) -> bool {
                match self {
                    $(Self::$name(own) => own.hears_starts()),*
                }
            }

            /// [`Machines::heeds_marks`].
            pub fn heeds_marks(&self) -> bool {
                match self {
                    $(Self::$name(own) => own.heeds_marks()),*
                }
            }

            /// [`Machines::is_shared`].
            pub fn is_shared(&self) -> bool {
                match self {
                    $(Self::$name(own) => own.is_shared()),*
                }
            }

            /// [`Machines::packets_per_answer`].
            pub fn packets_per_answer(&self) -> u16 {
                match self {
                    $(Self::$name(own) => own.packets_per_answer()),*
                }
            }

            /// [`Machines::under_way`].
            pub fn under_way(&self) -> Option<UnderWay> {
                match self {
                    $(Self::$name(own) => own.under_way()),*
                }
            }

            /// [`Machines::looks`].
            pub fn looks(&self) -> Option<Looks> {
                match self {
                    $(Self::$name(own) => own.looks()),*
                }
            }

            /// A receiver before cycle 0.
            pub fn receiver(&self) -> Receiver {
                match self {
                    $(Self::$name(_) => Receiver::$name(Default::default())),*
                }
            }

            /// [`Machines::receive`].
            ///
            /// # Panics
            /// When the state is another algorithm's.
            pub fn receive(&self, receiver: &mut Receiver, arrival: Arrival) -> Option<Answer> {
                match (self, receiver) {
                    $((Self::$name(own), Receiver::$name(state)) => own.receive(state, arrival),)*
                    _ => unreachable!("a receiver keeps its algorithm"),
                }
            }

            /// [`Machines::send`].
            ///
            /// # Panics
            /// When the state is another algorithm's.
            pub fn send(&self, sender: &mut Sender, now: u64, event: Event, actions: &mut Actions) {
                match (self, sender) {
                    $((Self::$name(own), Sender::$name(state)) => own.send(state, now, event, actions),)*
                    _ => unreachable!("a sender keeps its algorithm"),
                }
            }
        }
    };
}

algorithms![
    Dcqcn in dcqcn,
    Delay in delay,
    Dffa in dffa,
    DffaRounds in dffa_rounds,
    Erratic in erratic,
    Inc in inc,
    InfiniBand in infiniband,
    RequestReply in request_reply,
    Reservation in reservation,
    Saa in saa,
    SaaM in saa_m,
    SetUp in set_up,
    Window in window,
];

impl Algorithm {
    /// Its parameters, if it sets routes up (D67).
    pub fn set_up(&self) -> Option<&set_up::SetUp> {
        match self {
            Self::SetUp(own) => Some(own),
            _ => None,
        }
    }

    /// What weights are, if links add them up and they may be of several kinds.
    pub fn weights(&self) -> Option<saa::Weights> {
        match self {
            Self::Saa(own) => Some(own.weights),
            _ => None,
        }
    }
}

/// Every algorithm a scenario can name.
pub static ALGORITHMS: Registry<BuildAlgorithm> = Registry {
    kind: "control algorithm",
    entries: &[
        dcqcn::ENTRY,
        delay::ENTRY,
        dffa::ENTRY,
        dffa_rounds::ENTRY,
        inc::ENTRY,
        infiniband::ENTRY,
        request_reply::ENTRY,
        reservation::ENTRY,
        saa::ENTRY,
        saa_m::ENTRY,
        set_up::ENTRY,
        window::ENTRY,
    ],
    unclear: &[],
};

#[cfg(test)]
mod tests;
