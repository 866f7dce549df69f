//! The flows of a host: what they make, and what a lane sends next (D28, D29); what their senders are told (D41).
//!
//! Each is a `flow` with a `limit`, and a `sender` when its class has control, or it is one of a `group` that has one
//! (D44), who are told in `notify`; a `scheduler` chooses among those of a lane. `slots` has the clocks of classes whose flows
//! make packets in slots (D52), `session` the sessions of probe flows (D59). `receivers` is the other end: what a host gives
//! back to flows that end there. What both send are `control_packets`. With leaky buckets a `bucket` is between the flows of
//! a lane and the channel (D46).

mod bucket;
mod control_packets;
mod flow;
mod group;
mod limit;
mod notify;
mod receivers;
mod scheduler;
mod sender;
mod session;
mod slots;

pub(super) use control_packets::ControlPackets;
pub(super) use flow::{Look, pace};
pub(super) use receivers::{Receivers, Told};
pub(crate) use sender::Controlled;
pub(super) use session::{NewSession, Session};

use super::Setting;
use super::levels::level;
use super::packet::{Packet, PacketId, Rejected};
use super::routing::injection_lane;
use bucket::{FIFO, Fifo};
use flow::Flow;
use group::Group;
use scheduler::{LaneScheduler, Offers, Place};
use session::trials_of;
use slots::Clock;
use virtlane::ids::HostId;
use virtlane::traffic::Creation;

/// All flows of a host, and the schedulers of its lanes.
#[derive(Debug)]
pub(super) struct Flows {
    host: HostId,
    /// In order.
    all: Vec<Flow>,
    groups: Vec<Group>,
    clocks: Vec<Clock>,
    /// By lane.
    schedulers: Vec<LaneScheduler>,
    /// By lane; with leaky buckets only.
    fifos: Vec<Fifo>,
    /// Packets of flows made so far, by class, rejected ones included.
    made: Vec<u64>,
}

/// Whether what a packet goes through at the switch of this host is blocked, and how many of the switch are (D51).
pub(super) type Blocked<'a> = (&'a dyn Fn(&Packet) -> bool, usize);

/// What a lane would send.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// That of D31, or of a [`bucket`].
    place: Place,
    /// Flits.
    pub(super) size: u16,
}

impl Flows {
    pub(super) fn new(setting: Setting<'_>, host: HostId) -> Self {
        let plan = setting.plan;
        let mut all = Vec::new();
        for (id, flow) in plan.flows.iter().enumerate() {
            assert_ne!(flow.source, flow.destination, "D27");
            if flow.source == host {
                let packet = packet(setting, id, (0, 1), 0);
                all.push(Flow::new(setting, id, injection_lane(setting, &packet)));
            }
        }
        let groups = Group::all(setting, host);
        for group in &groups {
            check_lanes(group, &all);
        }
        let lanes = plan.switch.lane_count();
        Self {
            host,
            clocks: Clock::all(setting, host, &all),
            all,
            groups,
            schedulers: (0..lanes).map(|_| LaneScheduler::default()).collect(),
            fifos: (0..lanes).map(|_| Fifo::default()).collect(),
            made: vec![0; plan.classes.len()],
        }
    }

    /// D50: a phase opens in this cycle.
    pub(super) fn open(&mut self, setting: Setting<'_>, phase: usize, now: u64) {
        for flow in &mut self.all {
            if flow.plan(setting).phase == Some(phase as u32) {
                flow.open(setting, now);
            }
        }
    }

    /// D63: the start cycle of this flow follows, perhaps again.
    pub(super) fn release(&mut self, setting: Setting<'_>, flow: usize, start: u64) {
        let mut all = self.all.iter_mut();
        let flow = all.find(|mine| mine.id == flow);
        let flow = flow.expect("a flow of this host");
        match flow.start_cycle() {
            Some(known) => assert_eq!(known, start, "D63: it follows once"),
            None => flow.admit(setting, start),
        }
    }

    /// D64: goes on with the flows of another plan, from this cycle on. Groups, schedulers, FIFOs and numbers stay.
    pub(super) fn fork(&mut self, setting: Setting<'_>, now: u64) {
        for flow in &mut self.all {
            flow.fork(setting, now);
        }
        for clock in &mut self.clocks {
            clock.fork(setting, self.host, now);
        }
    }

    /// D53: the first flow of a class that has not been admitted.
    pub(super) fn asks_for(&self, setting: Setting<'_>, class: usize) -> Option<usize> {
        let mut of_class = self.all.iter().filter(|flow| flow.class(setting) == class);
        let first = of_class.find(|flow| flow.start_cycle().is_none());
        first.map(|flow| flow.id)
    }

    /// D53: this flow is admitted with this start cycle.
    pub(super) fn admit(&mut self, setting: Setting<'_>, flow: usize, start: u64) {
        let mut all = self.all.iter_mut();
        let flow = all.find(|mine| mine.id == flow);
        flow.expect("a flow of this host").admit(setting, start);
    }

    /// Flits of a flow that were rejected.
    pub(super) fn flits_rejected(&self, flow: usize) -> u64 {
        let mut all = self.all.iter();
        all.find(|mine| mine.id == flow).map_or(0, Flow::rejected)
    }

    /// D59: a session of this probe flow begins in this cycle.
    pub(super) fn try_out(&mut self, probe: usize, new: NewSession, now: u64) {
        let mut all = self.all.iter_mut();
        let flow = all.find(|mine| mine.id == probe);
        flow.expect("a flow of this host").try_out(new, now);
    }

    /// D59: the last session of this probe flow.
    pub(super) fn session(&self, probe: usize) -> Option<&Session> {
        let mut all = self.all.iter();
        all.find(|mine| mine.id == probe)?.session.as_ref()
    }

    /// Stage Generate: acknowledgements that are due, then one packet of each flow whose process, slot or session is due, in
    /// order; then entries.
    pub(super) fn generate(
        &mut self,
        setting: Setting<'_>,
        packets: &mut Vec<Packet>,
        rejected: &mut Vec<Rejected>,
        now: u64,
    ) {
        for controlled in self.senders() {
            controlled.acknowledge(now);
        }
        for index in self.due(setting, now) {
            let packet = self.make(setting, index, now);
            let waiting = self.waiting(setting, index);
            let trials = trials_of(setting, self.all[index].class(setting));
            let room = trials.map(|trials| trials.queue);
            let room = room.or(setting.plan.host.flow_queue);
            let flow = &mut self.all[index];
            if room.is_some_and(|room| waiting >= room as usize) {
                flow.reject(packet.size);
                rejected.push(Rejected {
                    source: self.host,
                    class: packet.class,
                    flow: packet.flow,
                    size: packet.size,
                    created: now,
                });
                continue;
            }
            flow.queue.push(packets.len());
            packets.push(packet);
        }
        self.enter(setting, packets, now);
    }

    /// The places of the flows that make a packet now, in order: by their processes (D28), in their slots (D52) and in
    /// sessions (D59).
    fn due(&mut self, setting: Setting<'_>, now: u64) -> Vec<usize> {
        let flows = self.all.iter_mut().enumerate();
        let due = flows.filter_map(|(index, flow)| flow.is_due(setting, now).then_some(index));
        let mut due: Vec<usize> = due.collect();
        for clock in &mut self.clocks {
            due.extend(clock.tick(setting, &mut self.all, now));
        }
        due.sort_unstable();
        due
    }

    /// Packets that count where a flow's queue is bounded: its own, or in slots those of its class (D52).
    fn waiting(&self, setting: Setting<'_>, index: usize) -> usize {
        let class = self.all[index].class(setting);
        if setting.plan.classes[class].slots.is_none() {
            return self.all[index].queue.len();
        }
        let of_class = self.all.iter().filter(|flow| flow.class(setting) == class);
        of_class.map(|flow| flow.queue.len()).sum()
    }

    /// D46: packets of flows enter the FIFO of their lane, in order.
    fn enter(&mut self, setting: Setting<'_>, packets: &mut Vec<Packet>, now: u64) {
        let pace = pace(setting, self.host);
        for index in 0..self.all.len() {
            let look = Look {
                setting,
                packets,
                pace,
                now,
            };
            if look.has_buckets() && self.all[index].is_ready(look) {
                let id = self.go((setting, pace), packets, index, now);
                self.fifos[self.all[index].lane].enter(id, now);
            }
        }
    }

    /// A flow makes a packet.
    fn make(&mut self, setting: Setting<'_>, index: usize, now: u64) -> Packet {
        let flow = &mut self.all[index];
        let size = flow.make(setting);
        let made = &mut self.made[usize::from(flow.plan(setting).class)];
        let mut packet = packet(setting, flow.id, (*made, size), now);
        packet.session = flow.session.as_ref().map(|session| session.number);
        packet.is_last = flow.left(setting) == 0;
        assert_eq!(injection_lane(setting, &packet), flow.lane);
        *made += 1;
        packet
    }

    /// All senders of this host.
    fn senders(&mut self) -> impl Iterator<Item = &mut Controlled> {
        let own = self
            .all
            .iter_mut()
            .filter_map(|flow| flow.controlled.as_mut());
        own.chain(self.groups.iter_mut().map(|group| &mut group.controlled))
    }

    /// D44: whether the group of a flow lets it go, if it is one of a group.
    fn gate_is_open(&self, look: Look<'_>, flow: usize) -> bool {
        let group = self.groups.iter().find(|group| group.flows.contains(&flow));
        group.is_none_or(|group| group.is_open(look))
    }

    /// D29: what a lane has, whose source queue begins with `head`.
    fn offers(&self, look: Look<'_>, lane: usize, head: Option<PacketId>) -> Offers<'_> {
        let flows = self.all.iter().filter(|flow| flow.lane == lane);
        let flows: Vec<&Flow> = flows.collect();
        let contend = |flow: &&Flow| flow.is_ready(look) && self.gate_is_open(look, flow.id);
        Offers {
            head,
            contend: flows.iter().map(contend).collect(),
            is_closed: !flows.iter().all(|flow| self.gate_is_open(look, flow.id)),
            flows,
        }
    }

    /// D29: what a lane would send, whose source queue begins with `head`.
    pub(super) fn candidate(
        &self,
        look: Look<'_>,
        lane: usize,
        head: Option<PacketId>,
    ) -> Option<Candidate> {
        if look.has_buckets() {
            let place = self.fifos[lane].pick(look, head)?;
            let first = if place == FIFO {
                self.fifos[lane].head()
            } else {
                head
            };
            let size = look.packets[first.expect("a contender")].size;
            return Some(Candidate { place, size });
        }
        let offers = self.offers(look, lane, head);
        let place = self.schedulers[lane].pick(look, &offers)?;
        let size = match place {
            0 => look.packets[head.expect("a contender")].size,
            _ => offers.flows[place - 1].head(look).expect("a contender"),
        };
        Some(Candidate { place, size })
    }

    /// The candidate starts; returns its packet when it is one of a flow.
    pub(super) fn start(
        &mut self,
        (setting, pace): (Setting<'_>, u64),
        packets: &mut Vec<Packet>,
        (lane, head): (usize, Option<PacketId>),
        candidate: Candidate,
        now: u64,
    ) -> Option<PacketId> {
        let look = Look {
            setting,
            packets,
            pace,
            now,
        };
        let Candidate { place, size } = candidate;
        if look.has_buckets() {
            return (place == FIFO).then(|| self.fifos[lane].start());
        }
        let mut scheduler = std::mem::take(&mut self.schedulers[lane]);
        let clock = scheduler.start(look, &self.offers(look, lane, head), (place, size));
        self.schedulers[lane] = scheduler;
        let mut on_lane = (0..self.all.len()).filter(|&index| self.all[index].lane == lane);
        let index = on_lane.nth(place.checked_sub(1)?).expect("a place");
        let flow = self.all[index].id;
        let mut groups = self.groups.iter_mut();
        if let Some(group) = groups.find(|group| group.flows.contains(&flow)) {
            group.start(look, size);
        }
        let id = self.go((setting, pace), packets, index, now);
        assert_eq!(packets[id].size, size);
        let flow = &mut self.all[index];
        flow.clock = clock.unwrap_or(flow.clock);
        Some(id)
    }

    /// The next packet leaves a flow: it starts, or enters (D46). That of a backlogged flow is made now.
    fn go(
        &mut self,
        (setting, pace): (Setting<'_>, u64),
        packets: &mut Vec<Packet>,
        index: usize,
        now: u64,
    ) -> PacketId {
        let id = if self.all[index].is_backlogged() {
            let packet = self.make(setting, index, now);
            packets.push(packet);
            packets.len() - 1
        } else {
            self.all[index].queue.remove(0)
        };
        let look = Look {
            setting,
            packets,
            pace,
            now,
        };
        self.all[index].go(look, id);
        id
    }

    /// Packets that have not started.
    pub(super) fn queued(&self) -> impl Iterator<Item = PacketId> {
        let own = self.all.iter().flat_map(|flow| flow.queue.iter().copied());
        own.chain(self.fifos.iter().flat_map(Fifo::packets))
    }
}

/// A packet of a flow, of that number within host and class and that size.
fn packet(setting: Setting<'_>, flow: usize, (sequence, size): (u64, u16), now: u64) -> Packet {
    let plan = &setting.plan.flows[flow];
    let made = Creation {
        destination: plan.destination,
        sl: level(setting.plan, plan.class, flow),
        size,
        sequence,
    };
    Packet::new(setting, plan.source, plan.class, Some(flow), made, now)
}

/// D44: a lane with flows of a group has no others.
fn check_lanes(group: &Group, flows: &[Flow]) {
    for flow in flows.iter().filter(|flow| group.flows.contains(&flow.id)) {
        let mut others = flows.iter().filter(|other| other.lane == flow.lane);
        assert!(others.all(|other| group.flows.contains(&other.id)), "D44");
    }
}
