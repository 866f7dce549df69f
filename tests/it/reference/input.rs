//! One input of a switch: its queues (D4, D75, rule 3; D84 in `standing`) and the state of its choices (D3, D8, D20).

use super::Setting;
use super::adaptive::Told;
use super::claims::Claim;
use super::lane_choice::LaneChooser;
use super::packet::PacketId;
use super::standing::Standing;
use virtlane::ids::ChannelId;
use virtlane::plan::{Forwarding, Plan, Queues};
use virtlane::rng::{Purpose, Stream, stream};

/// A way out of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Way {
    /// Output port, from 0.
    pub(super) output: usize,
    /// Lane of the outgoing channel.
    pub(super) lane: usize,
    /// D20: belongs to the escape network of an open engine.
    pub(super) escape: bool,
}

/// A packet in a queue.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub(super) packet: PacketId,
    /// What it requests as head: one way by tables, known from its arrival on; with adaptive routing, but for VL15 (D83), one or
    /// several, none before its first request (D20), with VOQ none before its choice (D75) or before it comes (D84).
    pub(super) ways: Vec<Way>,
    /// D20: what the adaptive engine said when it chose.
    pub(super) told: Option<Told>,
    /// Cycle in which its header came.
    pub(super) arrived: u64,
    /// Earliest request cycle as far as delays and flit rates go (D1).
    pub(super) ready: u64,
    /// D72, of a head that has waited for long.
    pub(super) claim: Option<Claim>,
}

impl Waiting {
    /// D36: whether it waits in a cycle for what it requests, or will request: from the cycle on in which it may request, with
    /// adaptive routing from its choice on, if it has one.
    pub(super) fn waits(&self, now: u64) -> bool {
        self.told.as_ref().map_or(self.ready, |told| told.since) <= now
    }

    /// Whether it waits in a cycle for (output, lane), maybe among others.
    pub(super) fn waits_for(&self, (output, lane): (usize, usize), now: u64) -> bool {
        let mut ways = self.ways.iter();
        self.waits(now) && ways.any(|way| (way.output, way.lane) == (output, lane))
    }
}

/// A queue of an input: one per lane, or one per (lane, output).
#[derive(Debug)]
pub(super) struct Queue {
    pub(super) lane: usize,
    /// First the packet that is leaving, granted or dropped, or with a flit passed (D65), when there is one.
    pub(super) packets: Vec<Waiting>,
    pub(super) leaving: bool,
    /// Cycle in which the first packet became head.
    pub(super) head_since: u64,
    /// D65: routing delay of the first packet, from when it is the first.
    routing: u64,
}

impl Queue {
    /// Rule 3: the head that requests its output now, and since when.
    pub(super) fn request(&self, now: u64) -> Option<(&Waiting, u64)> {
        let head = self.packets.first().filter(|_| !self.leaving)?;
        let since = head.ready.max(self.head_since) + self.routing;
        (since <= now).then_some((head, since))
    }

    /// A packet joins, which may have arrived before others that have joined (D67).
    pub(super) fn enter(&mut self, waiting: Waiting, now: u64) {
        let mut packets = self.packets.iter();
        let later = packets.position(|other| other.arrived > waiting.arrived);
        let place = later.unwrap_or(self.packets.len());
        if place == 0 {
            assert!(!self.leaving, "what leaves has arrived before");
            self.head_since = now;
        }
        self.packets.insert(place, waiting);
    }

    /// D75: a packet joins that has chosen now, behind all that have joined.
    pub(super) fn join(&mut self, waiting: Waiting, now: u64) {
        assert_eq!(
            waiting.ready, now,
            "D75: a packet joins when it may request"
        );
        if self.packets.is_empty() {
            self.head_since = now;
        }
        self.packets.push(waiting);
    }

    /// All packets but for the one that is leaving.
    pub(super) fn staying(&self) -> impl Iterator<Item = &Waiting> {
        self.packets.iter().skip(usize::from(self.leaving))
    }
}

/// An input port.
#[derive(Debug)]
pub(super) struct Input {
    /// Incoming channel.
    pub(super) channel: usize,
    /// Sorted by lane, then output.
    pub(super) queues: Vec<Queue>,
    /// D75, D84: packets whose header is here and that may not request yet, with their lanes; they are in no queue.
    pub(super) undecided: Vec<(usize, Waiting)>,
    /// D84: packets that stand, in the order in which they came.
    pub(super) standing: Vec<Standing>,
    /// D3: next output to accept.
    pub(super) accept_pointer: usize,
    /// D8: lane choice of the input.
    pub(super) chooser: LaneChooser,
    /// D8: next output per lane.
    pub(super) output_pointers: Vec<usize>,
    /// D80, D82: next request of the head per lane, over (output lane, output).
    pub(super) request_pointers: Vec<usize>,
    /// D20: draws of adaptive routing, by lane.
    pub(super) streams: Vec<Stream>,
}

impl Input {
    /// All packets in queues, those that stand (D84) among them, but for those that are leaving.
    pub(super) fn staying(&self) -> impl Iterator<Item = &Waiting> {
        let standing = self.standing.iter().map(|one| &one.waiting);
        self.queues.iter().flat_map(Queue::staying).chain(standing)
    }

    /// D25: those of them that may request by now.
    pub(super) fn queued(&self, now: u64) -> usize {
        let staying = self.staying();
        staying.filter(|packet| packet.ready <= now).count()
    }
}

/// What comes in over a channel, at first.
pub(super) fn new_input(setting: Setting<'_>, channel: ChannelId, ports: usize) -> Input {
    let options = &setting.plan.switch;
    let lanes = usize::from(options.lane_count());
    let per_lane = match options.queues {
        Queues::Fifo => 1,
        Queues::Voq => ports,
    };
    let queue = |index: usize| Queue {
        lane: index / per_lane,
        packets: Vec::new(),
        leaving: false,
        head_since: 0,
        routing: match options.forwarding {
            Forwarding::Wormhole => options.routing_delay.into(),
            _ => 0,
        },
    };
    Input {
        channel: channel.index(),
        queues: (0..lanes * per_lane).map(queue).collect(),
        undecided: Vec::new(),
        standing: Vec::new(),
        accept_pointer: 0,
        chooser: LaneChooser::new(options),
        output_pointers: vec![0; lanes],
        request_pointers: vec![0; lanes],
        streams: adaptive_streams(setting.plan, channel.index()),
    }
}

/// D20: the draws of an input, by lane.
pub(super) fn adaptive_streams(plan: &Plan, channel: usize) -> Vec<Stream> {
    let lanes = 0..u64::from(plan.switch.lane_count());
    let id = |lane| channel as u64 * 16 + lane % 16 + lane / 16 * (1 << 40);
    lanes
        .map(|lane| stream(plan.seed, Purpose::Adaptive, id(lane)))
        .collect()
}
