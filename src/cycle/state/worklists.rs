//! What is to be done in the current cycle, and the facts of it that somebody reads.

use super::Grant;
use crate::cycle::snapshot::{Persistent, Resume};
use crate::fabric::row_set::RowSet;
use crate::fabric::rows::{BorderRow, HostRow, LaneRow, PacketRow, PortRow, QueueRow, Row as _};
use crate::routing::adaptive::Candidate;
use bevy_ecs::resource::Resource;
use serde::{Deserialize, Serialize};

/// What happened in a cycle. A fact that no system subscribed to is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// Packets that reached the queue of an input: [`Worklists::arrived`].
    Arrived,
    /// Packets that passed a crossbar: [`Worklists::grants`], the accepted ones.
    Granted,
    /// Packets that started on the channel of their host: [`Worklists::sent`].
    Sent,
    /// Packets that were made: [`Worklists::created`].
    Created,
    /// Packets that their hosts took: [`Worklists::consumed`]; their rows are valid up to the end of the cycle.
    Delivered,
}

/// Facts somebody subscribed to.
#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "one independent switch per fact"
)]
pub struct Facts {
    /// [`Fact::Arrived`].
    pub arrived: bool,
    /// [`Fact::Granted`].
    pub granted: bool,
    /// [`Fact::Sent`].
    pub sent: bool,
    /// [`Fact::Created`].
    pub created: bool,
    /// [`Fact::Delivered`].
    pub delivered: bool,
}

impl Facts {
    /// From now on `fact` is kept.
    pub fn keep(&mut self, fact: Fact) {
        *match fact {
            Fact::Arrived => &mut self.arrived,
            Fact::Granted => &mut self.granted,
            Fact::Sent => &mut self.sent,
            Fact::Created => &mut self.created,
            Fact::Delivered => &mut self.delivered,
        } = true;
    }

    /// Whether any is kept.
    pub fn any(&self) -> bool {
        self.arrived || self.granted || self.sent || self.created || self.delivered
    }
}

/// A packet that was made at a local host.
#[derive(Clone, Copy, Debug)]
pub struct Created {
    /// The host.
    pub host: HostRow,
    /// Traffic class.
    pub class: u16,
    /// Size \[flits\].
    pub size: u16,
    /// Destination host (global id).
    pub destination: u32,
    /// Number within its source.
    pub sequence: u32,
}

/// A packet that a switch dropped.
#[derive(Clone, Copy, Debug)]
pub struct Dropped {
    /// The input where it was.
    pub input: PortRow,
    /// The output lane that it would have taken.
    pub lane: LaneRow,
    /// Size \[flits\].
    pub flits: u16,
}

/// A packet on its way to another shard; its row is valid up to `Slot::Consume`.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// The channel.
    pub border: BorderRow,
    /// Number of its lane.
    pub lane: u32,
    /// Cycle from which it may request there.
    pub at: u64,
    /// The packet.
    pub packet: PacketRow,
}

/// Credits on their way to another shard.
#[derive(Clone, Copy, Debug)]
pub struct CreditReturn {
    /// The channel.
    pub border: BorderRow,
    /// Number of the lane that counts them.
    pub lane: u32,
    /// Cycle from which they count there.
    pub at: u64,
    /// Credits.
    pub flits: u16,
    /// Cycles between two.
    pub step: u16,
}

/// Packets that have come to input lanes, at most one to each: they are given back in the order of the lanes.
#[derive(Debug, Default)]
pub struct Comers {
    lanes: RowSet<LaneRow>,
    /// By lane; those of lanes that are not in the set have no meaning.
    packets: Vec<PacketRow>,
}

impl Comers {
    /// Adds a packet.
    #[inline]
    pub fn insert(&mut self, lane: LaneRow, packet: PacketRow) {
        debug_assert!(!self.lanes.contains(lane), "two packets at a time");
        if lane.index() >= self.packets.len() {
            self.grow(lane);
        }
        self.packets[lane.index()] = packet;
        self.lanes.insert(lane);
    }

    #[cold]
    fn grow(&mut self, lane: LaneRow) {
        self.packets.resize(lane.index() + 1, PacketRow::NONE);
    }

    /// Takes all packets out.
    #[inline(always)]
    pub fn drain(&mut self, mut act: impl FnMut(LaneRow, PacketRow)) {
        let packets = &self.packets;
        (self.lanes).drain(|lane| act(lane, packets[lane.index()]));
    }
}

/// What leaves the shard in this cycle.
#[derive(Debug, Default)]
pub struct Outgoing {
    /// Packets.
    pub packets: Vec<Departure>,
    /// Credits.
    pub credits: Vec<CreditReturn>,
}

impl Outgoing {
    /// Whether nothing does.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty() && self.credits.is_empty()
    }
}

/// Packets and flits that passed switches since cycle 0, and how long one has waited for that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hops {
    /// Packets, summed over switches.
    pub packets: u64,
    /// The same in flits.
    pub flits: u64,
    /// Longest time from the request of a head to its grant, of those granted since this was set to 0 \[cycles\].
    pub longest: u32,
}

/// Lists that the stages of a cycle hand on. Between cycles only [`Self::visits`] and [`Self::hops`] say anything.
#[derive(Resource, Debug, Default, Serialize, Deserialize)]
pub struct Worklists {
    /// Queues whose head must be routed and raise a request.
    pub heads: Vec<QueueRow>,
    /// Packets that arrived and must be put into a queue: (lane, packet).
    pub arrived: Vec<(LaneRow, PacketRow)>,
    /// Outputs to arbitrate.
    pub visits: Vec<PortRow>,
    /// Grants of this cycle.
    #[serde(skip)]
    pub grants: Vec<Grant>,
    /// An input that sends one packet at a time has refused a grant of this cycle.
    pub refused: bool,
    /// Grants of this cycle that have been carried out.
    #[serde(skip)]
    pub settled: usize,
    /// Hosts that may inject in this cycle, by their ports.
    pub host_visits: Vec<PortRow>,
    /// Packets whose tail is at its host in this cycle.
    pub consumed: Vec<PacketRow>,
    /// Slow sinks to look at in this cycle, by their ports.
    pub sink_visits: Vec<PortRow>,
    /// Channels behind output lanes to look at in this cycle.
    pub channel_visits: Vec<PortRow>,
    /// Inputs to look at (input-first matching).
    #[serde(skip)]
    pub input_visits: RowSet<PortRow>,
    /// Grants in the order in which inputs accept them: input, distance from its pointer, number.
    #[serde(skip)]
    pub order: Vec<(PortRow, u16, u32)>,
    /// Candidates of the head that is being routed.
    #[serde(skip)]
    pub candidates: Vec<Candidate>,
    /// Packets that choose in this cycle.
    #[serde(skip)]
    pub comers: Comers,
    /// Heads that choose in this cycle.
    #[serde(skip)]
    pub choosing: RowSet<QueueRow>,
    /// What leaves the shard.
    #[serde(skip)]
    pub outgoing: Outgoing,
    /// Packets that were made, see [`Fact::Created`].
    #[serde(skip)]
    pub created: Vec<Created>,
    /// Packets that were dropped in this cycle; their rows may be those of others already.
    #[serde(skip)]
    pub dropped: Vec<Dropped>,
    /// Packets that started on the channel of their host, see [`Fact::Sent`].
    #[serde(skip)]
    pub sent: Vec<PacketRow>,
    /// Running totals.
    pub hops: Hops,
    /// Facts that are kept.
    #[serde(skip)]
    pub facts: Facts,
}

impl Worklists {
    /// Whether a packet has arrived, was granted or was dropped in this cycle; who subscribed to these facts knows.
    #[inline]
    pub fn have_moved(&self) -> bool {
        !(self.arrived.is_empty() && self.grants.is_empty() && self.dropped.is_empty())
    }

    /// Whether there is a packet or a head for `Slot::Route`.
    #[inline]
    pub fn has_arrivals(&self) -> bool {
        !(self.heads.is_empty() && self.arrived.is_empty())
    }
}

impl Persistent for Worklists {
    fn resume(&mut self, built: Self, _: &Resume<'_>) {
        self.facts = built.facts;
    }
}
