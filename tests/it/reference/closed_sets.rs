//! Heads that can never move again (section 6 of the model): the largest closed set of waits, found by asking all heads again
//! and again.

use super::input::Queue;
use super::packet::{Packet, PacketId};
use super::switch::{Switch, Waiting, Way};
use super::{Fabric, wormhole};
use virtlane::ids::HostId;
use virtlane::plan::{BufferSharing, InputSpeedup, InputTurns, OutputArbitration};

/// Name of a packet: source, class, number.
pub(crate) type Stuck = (HostId, u16, u64);

/// Which of the four kinds of heads; those that stand are of the first.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Requests {
        switch: usize,
        input: usize,
        queue: usize,
    },
    /// D84, with its place among those that stand at its input.
    Stands(usize),
    Holds {
        switch: usize,
        input: usize,
    },
    WantsRoom {
        host: usize,
    },
    Answer {
        host: usize,
        lane: usize,
    },
}

/// A head.
#[derive(Clone, Debug)]
struct Head {
    packet: PacketId,
    kind: Kind,
    /// Channel and lane of the buffer that it is in, if it is in one, and the flits that it keeps there.
    keeps: Option<(usize, usize, u64)>,
    /// Channels and lanes that it may go by, and the flits of room that it needs behind them.
    candidates: Vec<((usize, usize), u64)>,
}

impl Fabric<'_> {
    /// The closed set after the last stage of cycle `now`, sorted by name.
    pub(super) fn closed_set(&self, now: u64) -> Vec<Stuck> {
        let mut set = self.heads(now);
        loop {
            let heads = set.iter();
            let blocked = heads.filter(|head| self.is_blocked(&set, head, now));
            let blocked: Vec<Head> = blocked.cloned().collect();
            if blocked.len() == set.len() {
                break;
            }
            set = blocked;
        }
        let name = |head: &Head| {
            let packet = &self.packets[head.packet];
            (packet.source, packet.class, packet.sequence)
        };
        let mut names: Vec<Stuck> = set.iter().map(name).collect();
        names.sort_unstable();
        names
    }

    fn heads(&self, now: u64) -> Vec<Head> {
        let mut heads = Vec::new();
        for (number, switch) in self.switches.iter().enumerate() {
            self.add_requests((number, switch), now, &mut heads);
            self.add_standing(switch, &mut heads);
            if wormhole::is_on(self.setting.plan) {
                self.add_holders((number, switch), now, &mut heads);
            }
        }
        for number in 0..self.hosts.len() {
            if !self.hosts[number].rooms().0.is_empty() {
                self.add_host(number, now, &mut heads);
            }
        }
        heads
    }

    /// Flits in a buffer of the packets of a queue that may leave it.
    fn flits_there(&self, channel: usize, queue: &Queue, now: u64) -> u64 {
        let link = &self.links[channel];
        let options = &self.setting.plan.switch;
        let stands = |id: PacketId| queue.packets.iter().any(|waiting| waiting.packet == id);
        let mine = link
            .buffer
            .iter()
            .filter(|stored| stored.lane == queue.lane && stands(stored.flit.packet));
        let ready = mine.filter(|stored| wormhole::may_leave(options, link, stored.flit, now));
        ready.count() as u64
    }

    fn add_requests(&self, (number, switch): (usize, &Switch), now: u64, heads: &mut Vec<Head>) {
        for (port, input) in switch.inputs.iter().enumerate() {
            let Some(input) = input else { continue };
            for (index, queue) in input.queues.iter().enumerate() {
                let Some((first, _)) = queue.request(now) else {
                    continue;
                };
                let ready = queue.packets.iter().filter(|packet| packet.ready <= now);
                let sizes = ready.map(|waiting| u64::from(self.packets[waiting.packet].size));
                let flits = if wormhole::is_on(self.setting.plan) {
                    self.flits_there(input.channel, queue, now)
                } else {
                    sizes.sum()
                };
                heads.push(Head {
                    packet: first.packet,
                    kind: Kind::Requests {
                        switch: number,
                        input: port,
                        queue: index,
                    },
                    keeps: Some((input.channel, queue.lane, flits)),
                    candidates: self.candidates(switch, first),
                });
            }
        }
    }

    /// D84: every packet that stands, whether or not it requests yet.
    fn add_standing(&self, switch: &Switch, heads: &mut Vec<Head>) {
        for input in switch.inputs.iter().flatten() {
            for (place, one) in input.standing.iter().enumerate() {
                let packet = one.waiting.packet;
                heads.push(Head {
                    packet,
                    kind: Kind::Stands(place),
                    keeps: Some((input.channel, one.lane, self.packets[packet].size.into())),
                    candidates: self.candidates(switch, &one.waiting),
                });
            }
        }
    }

    /// What a packet may go by, and the room that it needs there.
    fn candidates(&self, switch: &Switch, waiting: &Waiting) -> Vec<((usize, usize), u64)> {
        let candidates = waiting.ways.iter().map(|way| {
            let output = switch.outputs[way.output].as_ref().expect("connected");
            let channel = output.channel;
            let needs = self.needs(waiting.packet, channel, way);
            ((channel, way.lane), needs)
        });
        candidates.collect()
    }

    fn add_holders(&self, (number, switch): (usize, &Switch), now: u64, heads: &mut Vec<Head>) {
        let options = &self.setting.plan.switch;
        for (output, lane, holder) in switch.ports.holders() {
            let (input, queue, flit) = holder;
            let from = switch.inputs[input].as_ref().expect("connected");
            let (incoming, queue) = (from.channel, &from.queues[queue]);
            if !wormhole::may_leave(options, &self.links[incoming], flit, now) {
                continue;
            }
            let flits = self.flits_there(incoming, queue, now);
            let outgoing = switch.outputs[output].as_ref().expect("connected").channel;
            heads.push(Head {
                packet: flit.packet,
                kind: Kind::Holds {
                    switch: number,
                    input,
                },
                keeps: Some((incoming, queue.lane, flits)),
                candidates: vec![((outgoing, lane), 1)],
            });
        }
    }

    /// The room that a head needs behind a way, with D76 all of it or of one flit.
    fn needs(&self, packet: PacketId, channel: usize, way: &Way) -> u64 {
        if !wormhole::is_on(self.setting.plan) {
            self.packets[packet].size.into()
        } else if wormhole::needs_empty(self.setting, channel, way) {
            self.setting.plan.switch.lane_capacity.into()
        } else {
            1
        }
    }

    fn add_host(&self, number: usize, now: u64, heads: &mut Vec<Head>) {
        let host = &self.hosts[number];
        let incoming = self.setting.graph.host_channel(host.id).reverse().index();
        for lane in 0..usize::from(self.setting.plan.switch.lane_count()) {
            let (_, _, control) = host.control();
            if let Some(packet) = control.head(lane) {
                let needs = if wormhole::is_on(self.setting.plan) {
                    1
                } else {
                    self.packets[packet].size.into()
                };
                heads.push(Head {
                    packet,
                    kind: Kind::Answer { host: number, lane },
                    keeps: None,
                    candidates: vec![((host.outgoing, lane), needs)],
                });
            }
            let link = &self.links[incoming];
            let Some((packet, flits)) = host.sink.waiting(link, &self.packets, lane, now) else {
                continue;
            };
            let class = self.packets[packet].class;
            if host.rooms().0.iter().any(|room| room.class == class) {
                heads.push(Head {
                    packet,
                    kind: Kind::WantsRoom { host: number },
                    keeps: Some((incoming, lane, flits)),
                    candidates: Vec::new(),
                });
            }
        }
    }

    /// Whether heads of the set block this one.
    fn is_blocked(&self, set: &[Head], head: &Head, now: u64) -> bool {
        match head.kind {
            Kind::WantsRoom { host } => return self.has_no_room(set, head, host),
            Kind::Requests { switch, input, .. } => {
                let keeps = |other: &Head| other.kind == Kind::Holds { switch, input };
                let turns = self.setting.plan.switch.input_turns;
                if turns == InputTurns::Packets && set.iter().any(keeps) {
                    return true;
                }
                let before = |other: &Head| self.goes_before(set, (other, head), now);
                let options = &self.setting.plan.switch;
                // D78: single flits need none
                let needs_turn = options.reserve
                    && options.allocation.claims.is_none()
                    && !wormhole::is_on(self.setting.plan);
                if needs_turn && set.iter().any(before) {
                    return true;
                }
            }
            Kind::Stands(_) | Kind::Holds { .. } | Kind::Answer { .. } => {}
        }
        let has_room = |(channel, lane): (usize, usize), needs: u64| {
            let is_same = |other: usize| {
                self.setting.plan.switch.sharing == BufferSharing::PortPool || other == lane
            };
            let kept: u64 = set
                .iter()
                .filter_map(|other| other.keeps)
                .filter(|&(behind, other, _)| behind == channel && is_same(other))
                .map(|(.., flits)| flits)
                .sum();
            u64::from(self.setting.plan.switch.lane_capacity) >= kept + needs
        };
        let is_open = |&(candidate, needs): &((usize, usize), u64)| {
            let is_kept = |other: &Head| {
                self.bars(other, head, candidate, now) || stands_before(other, head, candidate.0)
            };
            has_room(candidate, needs) && !set.iter().any(is_kept)
        };
        !head.candidates.iter().any(is_open)
    }

    /// D72: what a head claims, and its place among the claims of its switch.
    fn claim(&self, head: &Head, now: u64) -> Option<((usize, usize), (u64, usize, usize))> {
        let Kind::Requests {
            switch,
            input,
            queue,
        } = head.kind
        else {
            return None;
        };
        let at = &self.switches[switch];
        let queues = &at.inputs[input].as_ref().expect("connected").queues;
        let claim = queues[queue].request(now)?.0.claim?;
        let output = at.outputs[claim.way.output].as_ref().expect("connected");
        let claimed = (output.channel, claim.way.lane);
        Some((claimed, (claim.made, input, queue)))
    }

    /// D72: whether the one claims a candidate of the other, which has no claim for the same before it.
    fn bars(&self, one: &Head, other: &Head, candidate: (usize, usize), now: u64) -> bool {
        let is_pool = self.setting.plan.switch.sharing == BufferSharing::PortPool;
        // place among the claims of the switch, if it claims the candidate
        let place = |head: &Head| {
            let (claimed, place) = self.claim(head, now)?;
            let is_it = claimed == candidate || is_pool && claimed.0 == candidate.0;
            is_it.then_some(place)
        };
        let (Some(its), false) = (place(one), one.packet == other.packet) else {
            return false;
        };
        place(other).is_none_or(|own| its < own)
    }

    /// D57: whether the answers that wait for ever leave too little room.
    fn has_no_room(&self, set: &[Head], head: &Head, host: usize) -> bool {
        let class = self.packets[head.packet].class;
        let mut rooms = self.hosts[host].rooms().0.iter();
        let room = rooms.find(|room| room.class == class).expect("a bound");
        let (_, _, control) = self.hosts[host].control();
        let mut taken = 0;
        for other in set {
            if let Kind::Answer { host: at, lane } = other.kind
                && at == host
            {
                let queued = control.of_lane(lane).iter();
                let mine = queued.filter(|&&id| self.packets[id].class == room.answers);
                taken += mine.count() as u64;
            }
        }
        room.places - taken < room.needs
    }

    /// D9: whether the one has the turn of the same output lane before the other, and keeps it.
    fn goes_before(&self, set: &[Head], (one, other): (&Head, &Head), now: u64) -> bool {
        let (Kind::Requests { switch, input, .. }, Kind::Requests { switch: at, .. }) =
            (&one.kind, &other.kind)
        else {
            return false;
        };
        let requested = |head: &Head| head.candidates.iter().map(|one| one.0).collect::<Vec<_>>();
        if switch != at || requested(one) != requested(other) || one.packet == other.packet {
            return false;
        }
        let queues = self.switches[*switch].inputs[*input].as_ref();
        let queues = queues.expect("connected").queues.len();
        let in_set = set.iter().filter(|head| {
            matches!(head.kind, Kind::Requests { switch: a, input: b, .. } if (a, b) == (*switch, *input))
        });
        let is_unlimited = self.setting.plan.switch.input_speedup == InputSpeedup::Unlimited;
        let keeps_it = is_unlimited || in_set.count() == queues;
        keeps_it && self.turn(one, now) < self.turn(other, now)
    }

    /// D7: less is served first.
    fn turn(&self, head: &Head, now: u64) -> (u64, usize) {
        let &Kind::Requests {
            switch,
            input,
            queue,
        } = &head.kind
        else {
            unreachable!("a request");
        };
        let options = &self.setting.plan.switch;
        let switch = &self.switches[switch];
        let queue = &switch.inputs[input].as_ref().expect("connected").queues[queue];
        let place = input * usize::from(options.lane_count()) + queue.lane;
        let (first, requested) = queue.request(now).expect("a head");
        let way = first.ways[0];
        let output = switch.outputs[way.output].as_ref().expect("connected");
        let packet: &Packet = &self.packets[first.packet];
        let before = match options.output_arbitration {
            OutputArbitration::FirstComeFirstServed => requested,
            OutputArbitration::OldestFirst => packet.created,
            OutputArbitration::RoundRobin => u64::from(place < output.request_pointers[way.lane]),
            OutputArbitration::Random => unreachable!("D9"),
        };
        (before, place)
    }

    /// Packets that have started and were neither delivered nor dropped, by name.
    pub(super) fn in_fabric(&self) -> Vec<Stuck> {
        let there = self.packets.iter().filter(|packet| {
            packet.injected.is_some() && packet.delivered.is_none() && packet.dropped.is_none()
        });
        let mut names: Vec<Stuck> = there
            .map(|packet| (packet.source, packet.class, packet.sequence))
            .collect();
        names.sort_unstable();
        names
    }
}

/// D84: whether the one stands before the other in the queue of its lane and the output to a channel.
fn stands_before(one: &Head, other: &Head, channel: usize) -> bool {
    let (Kind::Stands(first), Kind::Stands(second)) = (&one.kind, &other.kind) else {
        return false;
    };
    let lane = |head: &Head| head.keeps.map(|(from, lane, _)| (from, lane));
    let mut candidates = one.candidates.iter();
    lane(one) == lane(other) && first < second && candidates.any(|(to, _)| to.0 == channel)
}
