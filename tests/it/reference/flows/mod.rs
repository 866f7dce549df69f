//! The flows of a host: what they make, and what a lane sends next (D28, D29); what their senders are told (D41).
//!
//! Each is a `flow` with a `limit`, and a `sender` when its class has control, or it is one of a `group` that has one
//! (D44); a `scheduler` chooses among those of a lane. `slots` has the clocks of classes whose flows make packets in slots
//! (D52). `receivers` is the other end: what a host gives back to flows that
//! end there. What both send are `control_packets`. With leaky buckets a `bucket` is between the flows of a lane and the
//! channel (D46).

mod bucket;
mod control_packets;
mod flow;
mod group;
mod limit;
mod receivers;
mod scheduler;
mod sender;
mod slots;

pub(super) use control_packets::ControlPackets;
pub(super) use flow::{Look, pace};
pub(super) use receivers::{Receivers, Told};
pub(crate) use sender::Controlled;

use super::Setting;
use super::packet::{Packet, PacketId, Rejected, Saying, Says};
use super::routing::injection_lane;
use bucket::{FIFO, Fifo};
use control_packets::{Wanted, control};
use flow::Flow;
use group::Group;
use scheduler::{LaneScheduler, Offers, Place};
use slots::Clock;
use virtlane::control::Probe;
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

/// What the sender of a flow or group was told, and what it sent, for checks.
#[derive(Debug)]
pub(super) struct SenderTold {
    /// Their ids: one, or those of a group.
    pub(super) flows: Vec<usize>,
    pub(super) starts: u64,
    /// Answers and replies.
    pub(super) answers: u64,
    pub(super) probes: u64,
}

/// A probe of a flow that was sent in cycle `now`.
fn want(flow: usize, probe: &Probe, now: u64) -> Wanted {
    assert!(probe.after >= 1, "D47");
    Wanted {
        cycle: now + probe.after,
        called: now,
        saying: Saying {
            flow,
            number: 0,
            says: Says::Probe(probe.payload),
        },
    }
}

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

    /// D53: the first flow of a class that has not been admitted.
    pub(super) fn asks_for(&self, setting: Setting<'_>, class: usize) -> Option<usize> {
        let mut of_class = self.all.iter().filter(|flow| flow.class(setting) == class);
        let first = of_class.find(|flow| flow.start_cycle().is_none());
        first.map(|flow| flow.id)
    }

    /// D53: this flow is admitted in this cycle.
    pub(super) fn admit(&mut self, setting: Setting<'_>, flow: usize, now: u64) {
        let mut all = self.all.iter_mut();
        let flow = all.find(|mine| mine.id == flow);
        flow.expect("a flow of this host").admit(setting, now);
    }

    /// Stage Generate: acknowledgements that are due, then one packet of each flow whose process or slot is due, in order;
    /// then entries.
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
            let flow = &mut self.all[index];
            let room = setting.plan.host.flow_queue;
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

    /// The places of the flows that make a packet now, in order: by their processes (D28) and in their slots (D52).
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
        let packet = packet(setting, flow.id, (*made, size), now);
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

    /// Stage Notify: the senders, those of flows in order, then those of groups, with the control packets that were
    /// delivered anywhere in this cycle; returns the probes that they send.
    pub(super) fn notify(&mut self, look: Look<'_>, delivered: &[Saying]) -> Vec<Wanted> {
        let started = only(
            look.packets
                .iter()
                .filter(|packet| packet.source == self.host && packet.injected == Some(look.now)),
        );
        let mut wanted = Vec::new();
        let mut tell = |flows: &[usize], controlled: &mut Controlled| {
            let is_mine = |flow: usize| flows.contains(&flow);
            let started = started.filter(|packet| packet.flow.is_some_and(is_mine));
            let said = delivered.iter().filter(|saying| saying.is_for_sender());
            let said: Vec<&Saying> = said.filter(|saying| is_mine(saying.flow)).collect();
            assert!(said.len() <= 1, "at most one of a class, host and cycle");
            let probes = controlled.notify(
                &control(look.setting, flows[0]).algorithm,
                started.map(|packet| packet.size),
                said.first().map(|saying| saying.says),
                look.now,
            );
            wanted.extend(probes.iter().map(|probe| want(flows[0], probe, look.now)));
        };
        for flow in &mut self.all {
            if let Some(controlled) = &mut flow.controlled {
                tell(&[flow.id], controlled);
            }
        }
        for group in &mut self.groups {
            tell(&group.flows, &mut group.controlled);
        }
        wanted
    }

    /// D51: after all other events of cycle `last`, the senders of a class, those of flows in order, then those of groups;
    /// returns the probes that they send.
    pub(super) fn look(
        &mut self,
        setting: Setting<'_>,
        class: usize,
        (is_blocked, blocked): Blocked<'_>,
        last: u64,
    ) -> Vec<Wanted> {
        let mut wanted = Vec::new();
        let own = |flow: usize| is_blocked(&packet(setting, flow, (0, 1), last));
        let control = setting.plan.classes[class].control.as_ref();
        let algorithm = &control.expect("a class with control").algorithm;
        let of_class = self.all.iter_mut();
        let of_class =
            of_class.filter(|flow| usize::from(setting.plan.flows[flow.id].class) == class);
        for flow in of_class {
            if let Some(controlled) = &mut flow.controlled {
                let probe = controlled.look(algorithm, (own(flow.id), blocked), last);
                wanted.extend(probe.map(|probe| want(flow.id, &probe, last)));
            }
        }
        for group in self.groups.iter_mut().filter(|group| group.class == class) {
            let own = group.flows.iter().any(|&flow| own(flow));
            let probe = group.controlled.look(algorithm, (own, blocked), last);
            assert!(probe.is_none(), "D47: a group does not probe");
        }
        wanted
    }

    /// What each sender was told.
    pub(super) fn told(&self) -> impl Iterator<Item = SenderTold> {
        let own = self.all.iter().filter_map(|flow| {
            let controlled = flow.controlled.as_ref()?;
            Some((vec![flow.id], controlled))
        });
        let groups = self.groups.iter();
        let groups = groups.map(|group| (group.flows.clone(), &group.controlled));
        own.chain(groups).map(|(flows, controlled)| {
            let (starts, answers, probes) = controlled.told();
            SenderTold {
                flows,
                starts,
                answers,
                probes,
            }
        })
    }

    /// Of every flow its id, start cycle (D50, D53) and the events that its sender logged (D42); those of a group are its
    /// first flow's.
    pub(super) fn started_and_logged(&self) -> impl Iterator<Item = (usize, Option<u64>, u64)> {
        self.all.iter().map(|flow| {
            let mut groups = self.groups.iter();
            let group = groups.find(|group| group.flows[0] == flow.id);
            let controlled = flow.controlled.as_ref();
            let controlled = controlled.or(group.map(|group| &group.controlled));
            let logged = controlled.map_or(0, Controlled::logged);
            (flow.id, flow.start_cycle(), logged)
        })
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
    let class = &setting.plan.classes[usize::from(plan.class)];
    let made = Creation {
        destination: plan.destination,
        sl: class.service_levels[0],
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

/// What there is at most one of: a host starts and takes at most one packet per cycle.
fn only<'a>(mut packets: impl Iterator<Item = &'a Packet>) -> Option<&'a Packet> {
    let first = packets.next();
    assert!(
        packets.next().is_none(),
        "two packets of a host in one cycle"
    );
    first
}
