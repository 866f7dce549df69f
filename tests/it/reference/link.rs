//! One channel with the buffer at its end and the credits of that buffer.
//!
//! Model rules 1 (presence), 2 (spacing of flits), 5 (credits), 10 (output buffer, D10), 13 (capacity),
//! D13 (port pool), D14 (VL15), D15 (credit latency), D22 (when a flit counts), D74 (what comes late). With wormhole switching (D65) flits take their
//! credits one by one, and rule 13 does not hold.

use super::packet::Flit;
use super::retry::Retry;
use virtlane::ids::ChannelId;
use virtlane::plan::{BufferSharing, Forwarding, SwitchOptions};
use virtlane::topology::{Channel, Endpoint, Graph};

/// A flit under way to or over the channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moving {
    pub(super) flit: Flit,
    pub(super) lane: usize,
    /// Cycle in which it is past the crossbar; from then on it takes a place in the output buffer.
    pub(super) past_crossbar: u64,
    /// Cycle in which it crosses the channel, in its first transmission (D74).
    pub(super) crosses: u64,
    /// D74: what its transmission is late by; for so long it stays on the wire beyond the latency.
    pub(super) late: u64,
}

/// A flit in the buffer at the end of the channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored {
    pub(super) flit: Flit,
    pub(super) lane: usize,
    /// Cycle of its arrival.
    pub(super) since: u64,
}

/// A channel, the buffer behind it and its credits.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) cycles_per_flit: u64,
    latency: u64,
    credit_latency: u64,
    /// Flits that each space holds.
    capacity: u64,
    pooled: bool,
    /// Credits at the sender, one count per space (a lane, or the pool of all lanes).
    credits: Vec<u64>,
    /// (cycle from which it counts, space) of each credit on its way back.
    returning: Vec<(u64, usize)>,
    /// Flits of granted packets that have not left their input (or their output lane, D18) yet, per space.
    promised: Vec<u64>,
    /// Flits in the crossbar or the output buffer.
    waiting: Vec<Moving>,
    /// Flits on the wire.
    wire: Vec<Moving>,
    /// Flits in the buffer at the end.
    pub(super) buffer: Vec<Stored>,
    /// The flit that has crossed last.
    last: Option<Moving>,
    /// D65: every flit is a transmission by itself.
    single: bool,
    /// D74; `None`: it makes no errors.
    pub(super) retry: Option<Retry>,
    /// Last flit that has arrived, by lane.
    pub(super) last_arrived: Vec<Option<Flit>>,
    /// Packets that have started, in order.
    pub(super) starts: Vec<Start>,
    /// D22: crossbar delay that a flit has behind it when it crosses, and that its count leaves out.
    crossbar_delay: u64,
    /// D22: cycle in which each flit counts that has been handed over, and its lane.
    pub(super) counted: Vec<(u64, usize)>,
}

/// A packet that a channel was granted to: at an output in the cycle of its grant, with output lanes (D18) in that of its
/// channel grant, at a host in that of its first flit; with wormhole switching (D65) every flit that it has passed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub(super) cycle: u64,
    pub(super) lane: usize,
    /// Flits.
    pub(super) size: u16,
    /// Repeats of its transmission (D74).
    pub(super) repeats: u64,
}

impl Link {
    pub(super) fn new(graph: &Graph, channel: ChannelId, options: &SwitchOptions) -> Self {
        let Channel { from, timing, .. } = *graph.channel(channel);
        let opposite = graph.channel(channel.reverse()).timing;
        let pooled = options.sharing == BufferSharing::PortPool;
        assert!(!(pooled && options.management_lane), "D13");
        let spaces = if pooled {
            1
        } else {
            usize::from(options.lane_count())
        };
        Self {
            cycles_per_flit: u64::from(timing.cycles_per_flit),
            latency: u64::from(timing.latency),
            credit_latency: u64::from(options.credit_latency.unwrap_or(opposite.latency)),
            capacity: u64::from(options.lane_capacity),
            pooled,
            credits: vec![u64::from(options.lane_capacity); spaces],
            returning: Vec::new(),
            promised: vec![0; spaces],
            waiting: Vec::new(),
            wire: Vec::new(),
            buffer: Vec::new(),
            last: None,
            single: options.forwarding == Forwarding::Wormhole,
            retry: None,
            last_arrived: vec![None; options.lane_count().into()],
            starts: Vec::new(),
            // output lanes have it behind them at their channel grant
            crossbar_delay: match from {
                Endpoint::Switch(..) if options.output_lane_buffer == 0 => {
                    options.crossbar_delay.into()
                }
                _ => 0,
            },
            counted: Vec::new(),
        }
    }

    fn space(&self, lane: usize) -> usize {
        if self.pooled { 0 } else { lane }
    }

    /// Rule 6: whether a packet of `size` flits fits the credits of `lane` now.
    pub(super) fn fits(&self, lane: usize, size: u16) -> bool {
        self.credits[self.space(lane)] >= u64::from(size)
    }

    /// D20: what is missing of the credits of `lane` now [flits].
    pub(super) fn downstream(&self, lane: usize) -> u64 {
        self.capacity - self.credits[self.space(lane)]
    }

    /// Rule 5: all credits of a packet are taken at its grant.
    pub(super) fn take_credits(&mut self, lane: usize, size: u16) {
        assert!(self.fits(lane, size), "a grant without credits");
        let space = self.space(lane);
        self.credits[space] -= u64::from(size);
        self.promised[space] += u64::from(size);
    }

    /// The channel is granted to so many flits; returns what all of them come late by (D74).
    pub(super) fn start(&mut self, lane: usize, size: u16, now: u64) -> u64 {
        let retry = self.retry.as_mut();
        let (repeats, delay) = retry.map_or((0, 0), |retry| retry.transmit(size));
        self.starts.push(Start {
            cycle: now,
            lane,
            size,
            repeats,
        });
        delay
    }

    /// A flit has left its input (or its source, or its output lane) and will cross the channel.
    pub(super) fn hand_over(&mut self, moving: Moving) {
        assert!(moving.past_crossbar <= moving.crosses);
        let space = self.space(moving.lane);
        assert!(self.promised[space] > 0, "a flit without a credit");
        self.promised[space] -= 1;
        let counts_in = moving.crosses - self.crossbar_delay;
        self.counted.push((counts_in, moving.lane));
        self.waiting.push(moving);
    }

    /// Lets the flit that is due cross the channel; checks the channel's rate and the output buffer.
    pub(super) fn cross(&mut self, now: u64, output_buffer: u32) {
        let (due, later): (Vec<_>, Vec<_>) =
            self.waiting.iter().partition(|flit| flit.crosses == now);
        self.waiting = later;
        assert!(due.len() <= 1, "two flits on a channel in one cycle");
        for moving in due {
            if let Some(last) = self.last {
                // what is late is late as a whole, and what comes behind it waits for that
                let begins = self.single || moving.flit.index == 0;
                assert!(begins || moving.late == last.late, "D74: torn apart");
                let late = if begins { last.late } else { 0 };
                let free = last.crosses + late + self.cycles_per_flit;
                assert!(free <= now, "a channel too fast");
            }
            self.last = Some(moving);
            self.wire.push(moving);
        }
        assert!(self.waiting.iter().all(|flit| flit.crosses > now));
        let held = self.waiting.iter().filter(|f| f.past_crossbar <= now);
        assert!(
            held.count() <= output_buffer as usize,
            "output buffer overflow"
        );
    }

    /// Stage Deliver: credits that count from now on, then flits that arrive now, which are returned.
    pub(super) fn deliver(&mut self, now: u64) -> Vec<Stored> {
        let (due, later): (Vec<_>, Vec<_>) =
            self.returning.iter().partition(|&&(cycle, _)| cycle == now);
        self.returning = later;
        for (_, space) in due {
            self.credits[space] += 1;
        }
        let latency = self.latency;
        let (due, later): (Vec<Moving>, Vec<Moving>) = self
            .wire
            .iter()
            .partition(|flit| flit.crosses + flit.late + latency == now);
        self.wire = later;
        assert!(due.len() <= 1, "two flits come in one cycle");
        let arrived: Vec<Stored> = due
            .into_iter()
            .map(|moving| Stored {
                flit: moving.flit,
                lane: moving.lane,
                since: now,
            })
            .collect();
        self.buffer.extend(&arrived);
        for space in 0..self.credits.len() {
            assert!(self.occupied(space) <= self.capacity, "buffer overflow");
        }
        arrived
    }

    /// Removes a flit that leaves the buffer now and sends its credit back; returns its arrival cycle.
    pub(super) fn remove(&mut self, flit: Flit, now: u64) -> u64 {
        let place = self.buffer.iter().position(|stored| stored.flit == flit);
        let stored = self
            .buffer
            .remove(place.expect("underrun: the flit is not there"));
        let space = self.space(stored.lane);
        self.returning.push((now + self.credit_latency, space));
        stored.since
    }

    /// Credits of a lane that were taken and have not gone with their flits.
    pub(super) fn promised(&self, lane: usize) -> u64 {
        self.promised[self.space(lane)]
    }

    fn occupied(&self, space: usize) -> u64 {
        let stored = self.buffer.iter();
        stored.filter(|s| self.space(s.lane) == space).count() as u64
    }

    /// Section 7: credits at the sender + on the way back + taken by flits under way + occupied slots.
    pub(super) fn check_credits(&self) {
        for space in 0..self.credits.len() {
            let returning = self.returning.iter().filter(|r| r.1 == space).count();
            let moving = self.waiting.iter().chain(&self.wire);
            let moving = moving.filter(|m| self.space(m.lane) == space).count();
            let sum = self.credits[space]
                + self.promised[space]
                + returning as u64
                + moving as u64
                + self.occupied(space);
            assert_eq!(sum, self.capacity, "credits are lost or made");
        }
    }

    /// Every flit that is between its last buffer (or source) and its next one, or in the buffer.
    pub(super) fn flits(&self) -> impl Iterator<Item = Flit> {
        let moving = self.waiting.iter().chain(&self.wire).map(|m| m.flit);
        moving.chain(self.buffer.iter().map(|stored| stored.flit))
    }
}
