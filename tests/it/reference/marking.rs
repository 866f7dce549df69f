//! FECN marks (D16, D37, D38), given to a packet in the cycle of its grant.
//!
//! All grants of the switch in this cycle have been made; every output has one at most (D5).

use super::input::Input;
use super::packet::Packet;
use super::switch::{Grant, Switch};
use super::{Setting, wormhole};
use virtlane::ids::ChannelId;
use virtlane::plan::{Marking, Victims};
use virtlane::rng::{Purpose, Rng, Stream, stream};
use virtlane::topology::Endpoint;

/// What an output remembers of its grants.
#[derive(Debug)]
pub(super) struct Marks {
    /// I of D37 \[cycles\], with single flits in eighths of a cycle (D78).
    idle: u64,
    /// Cycle from which the channel was free of the packet granted last; 0 before the first.
    end: u64,
    /// Whether it was congested (D37) in the last cycle with a grant for it, by lane.
    congested: Vec<bool>,
    /// Eligible packets of D37 so far, by lane.
    eligible: Vec<u64>,
    /// Draws of D38.
    stream: Stream,
}

impl Marks {
    pub(super) fn new(setting: Setting<'_>, channel: ChannelId) -> Self {
        let options = &setting.plan.switch;
        if let Some(Marking::InfiniBand { threshold, .. }) = options.marking {
            assert!(threshold <= 15, "D37");
        }
        let (seed, id) = (setting.plan.seed, u64::from(channel.0));
        Self {
            idle: 0,
            end: 0,
            congested: vec![false; usize::from(options.lane_count())],
            eligible: vec![0; usize::from(options.lane_count())],
            stream: stream(seed, Purpose::Marking, id),
        }
    }

    /// D23: a fork draws anew.
    pub(super) fn start_draws(&mut self, seed: u64, channel: usize) {
        self.stream = stream(seed, Purpose::Marking, channel as u64);
    }

    /// D37: a packet that occupies the channel for so many cycles takes it.
    pub(super) fn take(&mut self, cycle: u64, length: u64, most: u64) {
        let gap = cycle.checked_sub(self.end).expect("one after the other");
        let idle = most.min(self.idle + gap);
        self.idle = idle.saturating_sub(length / 8);
        self.end = cycle + length;
    }

    /// D78: a flit takes the channel for so many cycles; `largest` packet of any class.
    pub(super) fn take_flit(&mut self, cycle: u64, pace: u64, largest: u64) {
        let gap = cycle.checked_sub(self.end).expect("one after the other");
        let idle = (8 * pace * largest).min(self.idle + 8 * gap);
        self.idle = idle.saturating_sub(pace);
        self.end = cycle + pace;
    }

    /// D37: whether a lane is congested, of which a packet is granted in this cycle; F and H.
    fn is_congested(&mut self, lane: usize, fill: u64, (limit, hysteresis): (u64, u64)) -> bool {
        if fill >= limit {
            self.congested[lane] = true;
        } else if fill <= limit.saturating_sub(1 + hysteresis) {
            self.congested[lane] = false;
        }
        self.congested[lane]
    }
}

impl Switch {
    /// D16: flits of the packets whose request for (output, lane) stands after the grants of this cycle; a head
    /// counts wherever it requests (D20).
    fn standing_flits(&self, packets: &[Packet], grant: Grant, now: u64) -> u64 {
        let inputs = self.inputs.iter().flatten();
        let heads = inputs.flat_map(|input| input.requesting(now));
        heads
            .filter(|head| {
                let ways = head.ways();
                let mut places = ways.iter().map(|way| (way.output, way.lane));
                places.any(|place| place == (grant.output, grant.lane))
            })
            .map(|head| u64::from(packets[head.waiting.packet].size))
            .sum()
    }

    /// D36, D75, D84: flits of the packets that wait for (output, lane) after the grants of this cycle: whole, for each of the ways
    /// that they have; with adaptive routing a packet has none before it chooses.
    pub(super) fn fill(&self, packets: &[Packet], output: usize, lane: usize, now: u64) -> u64 {
        let waiting = self.inputs.iter().flatten().flat_map(Input::staying);
        waiting
            .filter(|waiting| waiting.waits_for((output, lane), now))
            .map(|waiting| u64::from(packets[waiting.packet].size))
            .sum()
    }
}

/// Stage Mark, for one grant of this cycle.
pub(super) fn mark(
    setting: Setting<'_>,
    switch: &mut Switch,
    packets: &mut [Packet],
    grant: Grant,
    now: u64,
) {
    packets[grant.packet].fecn |= match setting.plan.switch.marking {
        None => false,
        Some(Marking::Requests(threshold)) => {
            switch.standing_flits(packets, grant, now) >= u64::from(threshold)
        }
        Some(Marking::InfiniBand { .. }) => infiniband(setting, switch, packets, grant, now),
        Some(Marking::Ecn { .. }) => ecn(setting, switch, packets, grant, now),
    };
}

/// Neither a control packet nor a packet of VL15.
fn may_be_marked(packet: &Packet) -> bool {
    packet.saying.is_none() && !packet.management
}

/// D37.
fn infiniband(
    setting: Setting<'_>,
    switch: &mut Switch,
    packets: &[Packet],
    grant: Grant,
    now: u64,
) -> bool {
    let options = &setting.plan.switch;
    let Some(Marking::InfiniBand {
        threshold,
        hysteresis,
        packet: least,
        rate,
        victims,
    }) = options.marking
    else {
        panic!("another marking")
    };
    let packet = &packets[grant.packet];
    let fill = switch.fill(packets, grant.output, grant.lane, now);
    let output = switch.outputs[grant.output].as_mut().expect("connected");
    // single flits have taken it one by one
    if output.lanes.is_none() && !wormhole::is_on(setting.plan) {
        let pace = output.cycles_per_flit;
        let length = u64::from(packet.size) * pace;
        let most = pace * u64::from(setting.plan.largest_packet());
        output.marks.take(grant.takes_channel, length, most);
    }
    let to = setting.graph.channels()[output.channel].to;
    let is_root = output.marks.idle == 0;
    let victims_mark = match victims {
        Victims::None => false,
        Victims::Hosts => matches!(to, Endpoint::Host(_)),
        Victims::All => true,
    };
    let sixteenths = (16 - u64::from(threshold)) * u64::from(options.lane_capacity);
    let terms = (sixteenths.div_ceil(16).max(1), u64::from(hysteresis));
    let is_congested = threshold > 0 && output.marks.is_congested(grant.lane, fill, terms);
    let is_eligible =
        is_congested && (is_root || victims_mark) && packet.size >= least && may_be_marked(packet);
    if !is_eligible {
        return false;
    }
    let before = output.marks.eligible[grant.lane];
    output.marks.eligible[grant.lane] += 1;
    before.is_multiple_of(u64::from(rate) + 1)
}

/// D38.
fn ecn(
    setting: Setting<'_>,
    switch: &mut Switch,
    packets: &[Packet],
    grant: Grant,
    now: u64,
) -> bool {
    let Some(Marking::Ecn {
        least,
        most,
        probability,
    }) = setting.plan.switch.marking
    else {
        panic!("another marking")
    };
    assert!(least < most && probability <= 1 << 32, "D38");
    let (least, most) = (u64::from(least), u64::from(most));
    let fill = switch.fill(packets, grant.output, grant.lane, now);
    if !may_be_marked(&packets[grant.packet]) || fill <= least {
        return false;
    }
    if fill >= most {
        return true;
    }
    let output = switch.outputs[grant.output].as_mut().expect("connected");
    let drawn = output.marks.stream.next_u64() >> 32;
    let share = u128::from(probability) * u128::from(fill - least) / u128::from(most - least);
    u128::from(drawn) < share
}
