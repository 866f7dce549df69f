//! Conservation laws, checked between windows with `--check` and in tests (model section 6).
//!
//! # Laws
//! 1. Packets: created = rejected + in source queues + in the fabric + delivered + dropped.
//! 2. A packet is in exactly one place: a queue, an output lane, the calendar, the mail, or delivered; a row of the pool that
//!    has a place has a packet.
//! 3. Credits of a lane: in hand + on their way back + taken by packets that have not been forwarded =
//!    capacity. Credits are never negative, so no lane exceeds its capacity.
//! 4. Control packets out of band: created = delivered + under way.
//! 5. Copies of broadcasts: joined = heard + under way.
//! 6. What packets of data carry (D69): a content for each of them, in the shard of its packet.
//! 7. Packets of a flow arrive in the order of their numbers, where the routing engine promises it.
//!
//! Mechanisms add their own terms. Cost: O(state of the fabric) per check.

use super::look::{self, Columns};
use super::records::Records;
use super::state::{Mail, Note, Outbox, PacketPool, Shared};
use crate::fabric::rows::{LaneRow, PacketRow, PortRow, Row, Seen};
use crate::fabric::source_queue::SourceQueues;
use crate::ids::ChannelId;

/// The outgoing channel of each port of a shard.
pub type Channels<'a> = Seen<'a, PortRow, ChannelId>;

/// What a mechanism enters for a shard: packets it holds, credits they took.
pub type Term = fn(&dyn Columns, Channels<'_>, &mut Ledger);

/// Sums over all shards.
#[derive(Debug, Default)]
pub struct Ledger {
    created: u64,
    rejected: u64,
    delivered: u64,
    dropped: u64,
    waiting: u64,
    in_fabric: u64,
    /// Control packets out of band: created, delivered, under way.
    carried: [u64; 3],
    /// Copies of broadcasts: joined, heard, under way.
    spread: [u64; 3],
    /// Flits taken from each (channel, lane) by packets not forwarded yet, plus credits on their way.
    claimed: Vec<u64>,
    /// Credits in hand per (channel, lane); `None` where they are not counted.
    held: Vec<Option<u64>>,
    lanes: usize,
    /// Receiver of notices that are single flits for another shard, where packets go flit by flit.
    flits: Option<u16>,
    /// Packets of the shard that is being entered, by place; with the input lane whose space they hold, if any.
    places: Vec<(PacketRow, Option<LaneRow>)>,
    broken: Option<String>,
}

impl Ledger {
    /// An empty ledger for a fabric.
    pub fn new(channels: usize, lanes: usize) -> Self {
        let rows = channels * lanes;
        Self {
            claimed: vec![0; rows],
            held: vec![None; rows],
            lanes,
            ..Self::default()
        }
    }

    /// Adds one shard, `channels` those of its ports; `all`: the outgoing channel of each port, by shard.
    pub fn add(
        &mut self,
        view: &dyn Columns,
        channels: Channels<'_>,
        inbox: &[Mail],
        all: &[Vec<ChannelId>],
        terms: &[Term],
    ) {
        if let Some(records) = view.resource::<Records>() {
            self.created += records.totals.created;
            self.rejected += records.totals.rejected;
            self.delivered += records.totals.delivered;
            self.dropped += records.totals.dropped;
        }
        if let Some(queues) = view.resource::<SourceQueues>() {
            self.count_waiting(queues);
        }
        self.in_fabric += view.resource::<PacketPool>().map_or(0, PacketPool::in_use);
        for term in terms {
            term(view, channels, self);
        }
        self.count_packets(view, channels);
        self.count_credits(view, channels);
        let shared = view.shared();
        for mail in inbox {
            self.count_mail(shared, mail, channels);
        }
        let outbox = view.resource::<Outbox>();
        for (shard, mail) in outbox.into_iter().flat_map(|outbox| &outbox.0).enumerate() {
            self.count_mail(shared, mail, Seen::new(&all[shard]));
        }
    }

    /// A mechanism holds a packet.
    pub fn holds(&mut self, packet: PacketRow) {
        self.places.push((packet, None));
    }

    /// Packets go flit by flit, to another shard as notices for a receiver.
    pub fn passes_flits(&mut self, receiver: u16) {
        self.flits = Some(receiver);
    }

    /// Mechanisms hold packets that have not entered the fabric.
    pub fn waits(&mut self, packets: u64) {
        self.waiting += packets;
    }

    /// Control packets out of band: created, delivered, under way in the shard.
    pub fn carries(&mut self, created: u64, delivered: u64, under_way: u64) {
        add(&mut self.carried, [created, delivered, under_way]);
    }

    /// Copies of broadcasts: joined the queue of a channel, heard, under way in the shard.
    pub fn spreads(&mut self, joined: u64, heard: u64, under_way: u64) {
        add(&mut self.spread, [joined, heard, under_way]);
    }

    /// `flits` credits of a lane of `channel` are taken or on their way.
    pub fn claim(&mut self, shared: &Shared, channel: ChannelId, lane: LaneRow, flits: u32) {
        let number = shared.numbering.number(shared.credit_lane(lane));
        let row = self.row(channel, number);
        self.claimed[row] += u64::from(flits);
    }

    /// A law does not hold, in words.
    pub fn breaks(&mut self, law: String) {
        self.broken.get_or_insert(law);
    }

    fn row(&self, channel: ChannelId, lane: u32) -> usize {
        channel.index() * self.lanes + lane as usize
    }

    /// What waits in source queues, for law 1.
    fn count_waiting(&mut self, queues: &SourceQueues) {
        let (known, found) = (queues.waiting(), queues.found());
        self.waiting += found;
        if known != found {
            self.breaks(format!(
                "source queues count {known} packets and have {found}"
            ));
        }
    }

    /// Law 2, and the packets' side of law 3.
    fn count_packets(&mut self, view: &dyn Columns, channels: Channels<'_>) {
        let shared = view.shared();
        let pool = view.resource::<PacketPool>();
        let is_used = pool.map(PacketPool::used).unwrap_or_default();
        let mut seen = vec![false; view.packets().len()];
        let mut places = std::mem::take(&mut self.places);
        look::each_queued(view.world(), |lane, packet| {
            places.push((packet, Some(lane)));
        });
        for slot in view.calendar().slots() {
            let heads = slot.heads.iter();
            places.extend(heads.map(|&(lane, packet)| (packet, Some(lane))));
            places.extend(slot.deliveries.iter().map(|&packet| (packet, None)));
        }
        let found = places.len() as u64;
        for (packet, lane) in places.drain(..) {
            if std::mem::replace(&mut seen[packet.index()], true) {
                self.breaks(format!("packet row {} is in two places", packet.0));
            }
            if !is_used[packet.index()] {
                self.breaks(format!("packet row {} has a place and no packet", packet.0));
            }
            // flits that go one by one have slots of their own
            if let Some(lane) = lane.filter(|_| !shared.switch.single_flits) {
                let incoming = channels[shared.numbering.port(lane)].reverse();
                let size = u32::from(view.packets()[packet].size);
                self.claim(shared, incoming, lane, size);
            }
        }
        self.places = places;
        let used = pool.map_or(0, PacketPool::in_use);
        if found != used {
            self.breaks(format!(
                "{used} packets are in the fabric, {found} have a place"
            ));
        }
    }

    /// The sender's side of law 3.
    fn count_credits(&mut self, view: &dyn Columns, channels: Channels<'_>) {
        let shared = view.shared();
        for (port, out) in view.outs().enumerate() {
            if out.is_boundless() {
                continue;
            }
            let counted = |lane: &LaneRow| shared.credit_lane(*lane) == *lane;
            for lane in shared.numbering.lanes_of(port).filter(counted) {
                let row = self.row(channels[port], shared.numbering.number(lane));
                self.held[row] = Some(view.held(lane));
            }
        }
        let slots = view.calendar().slots().iter();
        for ramp in slots.flat_map(|slot| &slot.ramps) {
            let channel = channels[shared.numbering.port(ramp.lane)];
            self.claim(shared, channel, ramp.lane, u32::from(ramp.flits));
        }
    }

    fn count_mail(&mut self, shared: &Shared, mail: &Mail, channels: Channels<'_>) {
        let flits = self.flits;
        let channel = |lane: LaneRow| channels[shared.numbering.port(lane)];
        for item in mail.packets() {
            self.in_fabric += 1;
            let size = flits.map_or(item.packet.size, |_| 0);
            self.claim(shared, channel(item.lane).reverse(), item.lane, size.into());
        }
        for item in mail.credits() {
            self.claim(shared, channel(item.lane), item.lane, item.flits.into());
        }
        for note in mail.notes() {
            match note {
                Note::Parcel { parcel, .. } if parcel.is_copy() => self.spreads(0, 0, 1),
                Note::Parcel { .. } => self.carries(0, 0, 1),
                Note::Notice { receiver, row, .. } if flits == Some(*receiver) => {
                    let lane = LaneRow(*row);
                    self.claim(shared, channel(lane).reverse(), lane, 1);
                }
                Note::Content { .. } | Note::Notice { .. } => {}
            }
        }
    }

    /// Whether all laws hold, else the first that does not, in words.
    ///
    /// # Errors
    /// Names the law and the place.
    pub fn settle(
        mut self,
        capacity: u32,
        name: impl Fn(ChannelId) -> String,
    ) -> Result<(), String> {
        if let Some(broken) = self.broken.take() {
            return Err(broken);
        }
        let known = self.rejected + self.waiting + self.in_fabric + self.delivered + self.dropped;
        if self.created != known {
            return Err(format!(
                "{} packets were created, but {known} are accounted for ({} rejected, {} waiting, {} in the fabric, {} delivered, {} dropped)",
                self.created,
                self.rejected,
                self.waiting,
                self.in_fabric,
                self.delivered,
                self.dropped
            ));
        }
        let [created, delivered, under_way] = self.carried;
        if created != delivered + under_way {
            return Err(format!(
                "{created} control packets were created out of band, but {delivered} were delivered and {under_way} are under way"
            ));
        }
        let [joined, heard, under_way] = self.spread;
        if joined != heard + under_way {
            return Err(format!(
                "{joined} copies of broadcasts were sent, but {heard} were heard and {under_way} are under way"
            ));
        }
        for (row, held) in self.held.iter().enumerate() {
            let Some(held) = held else { continue };
            let sum = held + self.claimed[row];
            if sum != u64::from(capacity) {
                let channel = ChannelId::from(row / self.lanes);
                return Err(format!(
                    "credits of lane {} of {}: {held} held + {} on the way or occupied is not the capacity {capacity}",
                    row % self.lanes,
                    name(channel),
                    self.claimed[row]
                ));
            }
        }
        Ok(())
    }
}

fn add(sums: &mut [u64; 3], counts: [u64; 3]) {
    for (sum, count) in sums.iter_mut().zip(counts) {
        *sum += count;
    }
}
