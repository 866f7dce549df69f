//! Control packets of classes apart: probes and replies, the agents they visit, control networks beside the data network,
//! elements of switches and hosts, and their broadcasts; packets of data that visit (D47 to D49, D68, D69, D73 of the model).
//!
//! Stages: `Slot::Admit` (they are made, with the answers of other classes, and broadcasts begin), `Slot::React` (visits at
//! switch outputs, control networks), `Slot::Notify` (visits at hosts, deliveries, what elements say; with senders and
//! receivers); only where a class is apart
//! Reads: packets that passed a crossbar, where a class probes in band
//! Writes: its own state; mail
//! Cost: O(log packets to be made) per control packet; O(1) per visit, and per grant where a class probes in band; out of band
//! O(log packets and copies under way) per hop; O(flows of the host) where its element says something else
//!
//! # Rules
//! 1. In band a packet's record holds the row of its [`Content`]; a row lives from the creation to the delivery, and the
//!    content moves with the packet to another shard, in the mail behind it.
//! 2. Out of band the end of a service is known when a packet joins a queue, since nobody overtakes: a server is the cycle in
//!    which it is free.
//! 3. Everything that joins the queue of a switch output in one cycle comes by different inputs of its switch: the heap of a
//!    control network has them in the order of port rows, which is that of their numbers. The same holds of visits, by outputs,
//!    and of copies that are heard, which come after all of these.
//! 4. When a copy is heard is known when it leaves for the input server, since those of one channel come in order. A host's
//!    element hears a copy in `Slot::React`, after the visits of all classes: until `Slot::Notify` nobody asks it.
//! 5. Agents and elements that classes have in common are those of the first of these classes; networks run class by class.
//!
//! # Deviations
//! None. The agents are in [`control`](crate::control::probe).

mod build;
mod carry;
mod content;
mod due;
mod elements;
mod ledger;
mod network;
mod notify;
#[cfg(test)]
mod tests;
mod visits;

pub use build::Probing;

use self::content::Contents;
use self::due::Due;
use self::elements::Elements;
use self::network::{Network, Station};
use super::control::answers::Way;
use crate::control::{Agent, Algorithm, Payload};
use crate::cycle::joints;
use crate::cycle::snapshot::{Persistent, Resume};
use crate::cycle::state::parcel::{Content, Kind, Parcel};
use crate::fabric::rows::PortRow;
use crate::plan::OutOfBand;
use bevy_ecs::resource::Resource;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What does not change of the classes of control packets, by class from the first of them on.
#[derive(Debug, Default)]
struct Given {
    /// First of these classes.
    first: u16,
    /// Algorithm of the class; `None`: it is not apart.
    algorithms: Vec<Option<Algorithm>>,
    /// Number of the class whose agents and elements it has: the first that has them in common with it, or itself (D73).
    common: Vec<u16>,
    /// Times of its network, out of band.
    times: Vec<Option<OutOfBand>>,
    /// Where the channels of the ports lead, by port row; none where all is in band.
    stations: Vec<Station>,
    /// Where the probes of a flow go, by its row at its source.
    ways: Vec<Option<Way>>,
    /// First row of the flows of a host, and the end of all; none where no class has elements.
    first_flows: Vec<u32>,
    /// Number of the class of control packets of each class that carries, by class; nothing where none does.
    carriers: Vec<Option<u16>>,
}

/// All that classes apart have in a shard.
#[derive(Resource, Debug, Default, Serialize, Deserialize)]
pub struct Probes {
    #[serde(skip)]
    given: Given,
    /// What is to be made.
    due: BinaryHeap<Reverse<Due>>,
    /// Calls that wanted something so far.
    calls: u64,
    /// What packets in band carry.
    contents: Contents,
    /// Agents by port row, by class; none of a class that does not probe, or that has those of a class before it.
    agents: Vec<Vec<Agent>>,
    /// Elements by class, likewise.
    elements: Vec<Elements>,
    /// Control networks by class; empty where the class is in band.
    networks: Vec<Network>,
    /// Visits of agents since cycle 0.
    visits: u64,
}

impl Persistent for Probes {
    fn resume(&mut self, built: Self, _: &Resume<'_>) {
        self.given = built.given;
    }
}

impl Probes {
    /// First cycle in which one is to be made.
    #[inline]
    pub(in crate::cycle::mechanisms) fn next_due(&self) -> u64 {
        self.due.peek().map_or(u64::MAX, |Reverse(due)| due.at)
    }

    /// First cycle in which something happens out of band.
    #[inline]
    fn next_out_of_band(&self) -> u64 {
        let networks = self.networks.iter().map(Network::next);
        networks.min().unwrap_or(u64::MAX)
    }

    /// Number of a class of control packets that is apart, or of that of a class that carries.
    #[inline]
    fn number(&self, class: u16) -> Option<usize> {
        let Some(number) = class.checked_sub(self.given.first) else {
            let carrier = self.given.carriers.get(usize::from(class))?;
            return carrier.map(usize::from);
        };
        let number = usize::from(number);
        self.given.algorithms[number].is_some().then_some(number)
    }

    /// Number of the class whose agents and elements a class has (D73).
    #[inline]
    fn common(&self, number: usize) -> usize {
        usize::from(self.given.common[number])
    }

    /// Whether the answers of a class are not among those of other classes.
    pub(in crate::cycle::mechanisms) fn is_apart(&self, class: u16) -> bool {
        self.number(class).is_some()
    }

    /// What a packet in band carries, if it is a probe; `row` as its record says.
    #[inline]
    pub(in crate::cycle::mechanisms) fn probe(&mut self, row: u32) -> Option<&mut Payload> {
        let content = self.contents.of(row);
        (content.kind == Kind::Probe).then_some(&mut content.payload)
    }

    /// Keeps what a packet carries that came from another shard; returns the row for its record.
    pub fn keep(&mut self, content: Content) -> u32 {
        self.contents.put(content)
    }

    /// A parcel comes from another shard: to the input of a port of a switch, in cycle `at`.
    pub fn join(&mut self, network: u16, (at, port): (u64, PortRow), parcel: Parcel) {
        let number = usize::from(network);
        if let Some(times) = self.given.times[number] {
            self.networks[number].join(times, (at, port), parcel);
        }
    }
}

impl joints::Contents for Probes {
    #[inline]
    fn take(&mut self, class: u16, row: u32) -> Option<Content> {
        self.number(class)?;
        Some(self.contents.take(row))
    }
}
