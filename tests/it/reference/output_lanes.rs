//! The second queueing stage of an output: a buffer per lane, and the channel's own arbitration (D18).
//!
//! Every place of every buffer holds a real flit. A flit leaves its input when it is due and its lane has a
//! place that was empty at the start of the cycle; the channel takes what is there. When flit k leaves and
//! how long a packet holds its input follow from this and are compared with the closed forms of D18.

use super::lane_choice::LaneChooser;
use super::legacy_tables::Size;
use super::link::{Link, Moving};
use super::packet::{Flit, PacketId};
use virtlane::plan::{Forwarding, Matching, SwitchOptions};
use virtlane::qos::vl_arbitration::Places;

/// A flit that has left its input and has not crossed the channel.
#[derive(Clone, Copy, Debug)]
struct Buffered {
    flit: Flit,
    past_crossbar: u64,
}

/// A packet with a crossbar grant and without a channel grant.
#[derive(Clone, Copy, Debug)]
struct WaitingPacket {
    packet: PacketId,
    size: u16,
    /// Cycle of its crossbar grant.
    granted: u64,
}

/// One lane of the output.
#[derive(Clone, Debug, Default)]
struct OutputLane {
    flits: Vec<Buffered>,
    waiting: Vec<WaitingPacket>,
    /// The packet on its way from an input to this lane.
    passing: Option<PacketId>,
}

/// The packet on the channel.
#[derive(Clone, Copy, Debug)]
struct Sending {
    packet: PacketId,
    size: u16,
    lane: usize,
    /// Cycle of its channel grant.
    start: u64,
    /// D74: what it keeps the channel for beyond its first transmission.
    late: u64,
    sent: u16,
}

/// The lane buffers of one output.
#[derive(Debug)]
pub(super) struct OutputLanes {
    /// Flits that each lane holds.
    places: u64,
    cycles_per_flit: u64,
    crossbar_delay: u64,
    lanes: Vec<OutputLane>,
    /// Lane choice of the channel.
    chooser: LaneChooser,
    sending: Option<Sending>,
}

impl OutputLanes {
    /// `None` without output lanes, and where flits go one by one (D79).
    pub(super) fn new(options: &SwitchOptions, cycles_per_flit: u64) -> Option<Self> {
        if options.output_lane_buffer == 0 || options.forwarding == Forwarding::Wormhole {
            return None;
        }
        assert_eq!(options.output_buffer, 0, "D18");
        Some(Self {
            places: u64::from(options.output_lane_buffer),
            cycles_per_flit,
            crossbar_delay: u64::from(options.crossbar_delay),
            lanes: vec![OutputLane::default(); usize::from(options.lane_count())],
            chooser: channel_chooser(options),
            sending: None,
        })
    }

    /// Whether the lane is open now for a packet of `size` flits; one packet at a time passes the crossbar to it.
    pub(super) fn is_open(&self, lane: usize, size: u16) -> bool {
        if self.lanes[lane].passing.is_some() {
            return false;
        }
        let on_channel = self.sending.filter(|sending| sending.lane == lane);
        let on_channel = on_channel.map_or(0, |sending| u64::from(sending.size - sending.sent));
        let lane = &self.lanes[lane];
        let waiting: u64 = lane.waiting.iter().map(|p| u64::from(p.size)).sum();
        let taken = lane.flits.len() as u64;
        assert_eq!(taken, waiting + on_channel, "D18: open");
        lane.waiting.is_empty() || taken + u64::from(size) <= self.places
    }

    /// The crossbar grant of a packet.
    pub(super) fn expect(&mut self, lane: usize, packet: PacketId, size: u16, now: u64) {
        assert!(self.is_open(lane, size), "D18: open");
        let lane = &mut self.lanes[lane];
        lane.passing = Some(packet);
        lane.waiting.push(WaitingPacket {
            packet,
            size,
            granted: now,
        });
    }

    /// Whether a place was empty at the start of the cycle (the channel takes its flit later in the cycle).
    pub(super) fn has_place(&self, lane: usize) -> bool {
        (self.lanes[lane].flits.len() as u64) < self.places
    }

    /// A flit of a packet granted at `granted` leaves its input now.
    pub(super) fn store(&mut self, lane: usize, flit: Flit, granted: u64, now: u64) {
        assert_eq!(now, self.leaves(flit, granted), "D18: stalling");
        let past_crossbar = now + self.crossbar_delay;
        let lane = &mut self.lanes[lane];
        assert_eq!(lane.passing, Some(flit.packet));
        lane.flits.push(Buffered {
            flit,
            past_crossbar,
        });
        assert!(
            lane.flits.len() as u64 <= self.places,
            "output lane overflow"
        );
    }

    /// The whole packet has left its input, which is free from now on.
    pub(super) fn release(&mut self, lane: usize, packet: (PacketId, u16), granted: u64, now: u64) {
        assert_eq!(now, self.held_until(packet, granted), "D18: H");
        assert_eq!(self.lanes[lane].passing.take(), Some(packet.0));
    }

    /// The closed form of the cycle in which a flit leaves its input.
    fn leaves(&self, flit: Flit, granted: u64) -> u64 {
        let (k, s) = (u64::from(flit.index), self.cycles_per_flit);
        let paced = granted + k * s;
        if k < self.places {
            return paced;
        }
        let channel_grant = self.channel_grant(flit.packet);
        paced.max(channel_grant + (k - self.places) * s + 1)
    }

    /// The closed form of H.
    fn held_until(&self, (packet, size): (PacketId, u16), granted: u64) -> u64 {
        let (n, s) = (u64::from(size), self.cycles_per_flit);
        if n <= self.places {
            return granted + n * s;
        }
        let channel_grant = self.channel_grant(packet);
        n * s + granted.max((channel_grant + 1).saturating_sub(self.places * s))
    }

    /// When the packet on the channel got its channel grant.
    fn channel_grant(&self, packet: PacketId) -> u64 {
        let sending = self.sending.filter(|sending| sending.packet == packet);
        sending.expect("flits behind the buffer's size wait").start
    }

    /// The channel's stage: a channel grant when it is free, then the flit that is due crosses. Returns the flits of the packet
    /// that has the channel grant of this cycle.
    pub(super) fn send(&mut self, link: &mut Link, flit_bytes: u32, now: u64) -> Option<u16> {
        if let Some(last) = self.sending
            && last.start + u64::from(last.size) * self.cycles_per_flit + last.late <= now
        {
            assert_eq!(last.sent, last.size);
            self.sending = None;
        }
        if self.sending.is_none() {
            self.grant_channel(link, flit_bytes, now);
        }
        self.move_flit(link, now);
        let sending = self.sending.filter(|sending| sending.start == now);
        sending.map(|sending| sending.size)
    }

    /// The flit that is due crosses the channel.
    fn move_flit(&mut self, link: &mut Link, now: u64) {
        let Some(sending) = &mut self.sending else {
            return;
        };
        let due = sending.start + u64::from(sending.sent) * self.cycles_per_flit;
        if sending.sent == sending.size || due != now {
            return;
        }
        let flits = &mut self.lanes[sending.lane].flits;
        assert!(!flits.is_empty(), "output lane underrun: {sending:?}");
        let Buffered {
            flit,
            past_crossbar,
        } = flits.remove(0);
        assert_eq!((flit.packet, flit.index), (sending.packet, sending.sent));
        assert!(
            past_crossbar <= now,
            "output lane underrun: {flit:?} is in the crossbar until {past_crossbar}"
        );
        link.hand_over(Moving {
            flit,
            lane: sending.lane,
            past_crossbar,
            crosses: now,
            late: sending.late,
        });
        sending.sent += 1;
    }

    fn grant_channel(&mut self, link: &mut Link, flit_bytes: u32, now: u64) {
        let ready = |packet: &WaitingPacket| packet.granted + self.crossbar_delay <= now;
        let eligible: Vec<bool> = self
            .lanes
            .iter()
            .map(|lane| lane.waiting.first().is_some_and(ready))
            .collect();
        let Some(choice) = self.chooser.choose(&eligible) else {
            return;
        };
        let WaitingPacket { packet, size, .. } = self.lanes[choice.lane].waiting.remove(0);
        self.chooser.accepted(choice, Size::new(size, flit_bytes));
        self.sending = Some(Sending {
            packet,
            size,
            lane: choice.lane,
            start: now,
            late: link.start(choice.lane, size, now),
            sent: 0,
        });
    }

    /// Every flit in a buffer, or in the crossbar on its way there.
    pub(super) fn flits(&self) -> impl Iterator<Item = Flit> {
        let buffered = self.lanes.iter().flat_map(|lane| &lane.flits);
        buffered.map(|buffered| buffered.flit)
    }
}

/// The lane choice of a channel behind output lanes: VL tables with output-first matching or D70.
pub(super) fn channel_chooser(options: &SwitchOptions) -> LaneChooser {
    if options.matching == Matching::OutputFirst || are_at_both(options) {
        LaneChooser::new(options)
    } else {
        LaneChooser::round_robin(options)
    }
}

/// D70: whether VL tables act at inputs and at channels.
fn are_at_both(options: &SwitchOptions) -> bool {
    let tables = options.vl_arbitration.as_ref();
    tables.is_some_and(|tables| tables.places == Places::InputsAndChannels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use virtlane::ids::ChannelId;
    use virtlane::topology::{ChannelTiming, Endpoint, GraphBuilder};

    /// Cycles in which the flits of a packet leave their input, and H; the packet has its crossbar grant in
    /// cycle 2, the channel is taken until cycle `u`.
    fn leaving(n: u16, places: u32, s: u32, u: u64) -> (Vec<u64>, u64) {
        let mut builder = GraphBuilder::new();
        let host = Endpoint::Host(builder.add_host("H", 0));
        let port = Endpoint::Switch(builder.add_switch("S", 0, 1), 1);
        let timing = ChannelTiming {
            cycles_per_flit: s,
            latency: 1,
        };
        builder.connect(host, port, timing).expect("well-formed");
        let graph = builder.build().expect("well-formed");
        let options = SwitchOptions {
            output_lane_buffer: places,
            ..SwitchOptions::default()
        };
        let mut link = Link::new(&graph, ChannelId(0), &options);
        let mut lanes = OutputLanes::new(&options, u64::from(s)).expect("a buffer");
        // a packet of another lane whose flits have all crossed
        lanes.sending = Some(Sending {
            packet: 0,
            size: 1,
            lane: 1,
            start: u - u64::from(s),
            late: 0,
            sent: 1,
        });
        link.take_credits(0, n);
        lanes.expect(0, 1, n, 2);
        let mut left = Vec::new();
        let mut due = 2;
        for now in 2.. {
            if left.len() == usize::from(n) && now == due {
                lanes.release(0, (1, n), 2, now);
            }
            let index = left.len() as u16;
            if index < n && now >= due && lanes.has_place(0) {
                lanes.store(0, Flit { packet: 1, index }, 2, now);
                left.push(now);
                due = now + u64::from(s);
            }
            lanes.send(&mut link, 64, now);
            link.cross(now, 0);
            if lanes.sending.is_some_and(|p| p.packet == 1 && p.sent == n) {
                assert_eq!(now, u + (u64::from(n) - 1) * u64::from(s));
                break;
            }
        }
        (left, due)
    }

    #[test]
    fn a_packet_that_fits_leaves_at_once() {
        assert_eq!(leaving(3, 3, 1, 20), (vec![2, 3, 4], 5));
        assert_eq!(leaving(3, 4, 2, 20), (vec![2, 4, 6], 8));
    }

    /// Two flits go, the next ones follow one cycle after a flit has crossed the channel.
    #[test]
    fn a_larger_packet_waits_half_way() {
        assert_eq!(leaving(6, 2, 1, 20), (vec![2, 3, 21, 22, 23, 24], 25));
        assert_eq!(leaving(6, 2, 2, 20), (vec![2, 4, 21, 23, 25, 27], 29));
        assert_eq!(leaving(3, 1, 3, 20), (vec![2, 21, 24], 27));
        // the channel takes it in time
        assert_eq!(leaving(4, 2, 1, 3), (vec![2, 3, 4, 5], 6));
        assert_eq!(leaving(4, 2, 1, 4), (vec![2, 3, 5, 6], 7));
    }
}
