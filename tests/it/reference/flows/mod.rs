//! The flows of a host: what they make, and what a lane sends next (D28, D29); what their senders are told (D41).
//!
//! Each is a `flow`, with a `sender` when its class has control; a `scheduler` chooses among those of a lane. `answers` is
//! the other end: what a host answers to flows that end there.

mod answers;
mod flow;
mod scheduler;
mod sender;

pub(super) use answers::Answers;
pub(super) use flow::Look;
pub(crate) use sender::Controlled;

use super::Setting;
use super::packet::{Packet, PacketId, Rejected};
use super::routing::injection_lane;
use flow::Flow;
use scheduler::{LaneScheduler, Place};
use virtlane::ids::HostId;
use virtlane::traffic::Creation;

/// All flows of a host, and the schedulers of its lanes.
#[derive(Debug)]
pub(super) struct Flows {
    host: HostId,
    /// In order.
    all: Vec<Flow>,
    /// By lane.
    schedulers: Vec<LaneScheduler>,
    /// Packets of flows made so far, by class, rejected ones included.
    made: Vec<u64>,
}

/// What a lane would send.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
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
        let lanes = plan.switch.lane_count();
        Self {
            host,
            all,
            schedulers: (0..lanes).map(|_| LaneScheduler::default()).collect(),
            made: vec![0; plan.classes.len()],
        }
    }

    /// Stage Generate: acknowledgements that are due, then one packet of each flow whose process is due, in order.
    pub(super) fn generate(
        &mut self,
        setting: Setting<'_>,
        packets: &mut Vec<Packet>,
        rejected: &mut Vec<Rejected>,
        now: u64,
    ) {
        for index in 0..self.all.len() {
            if let Some(controlled) = &mut self.all[index].controlled {
                controlled.acknowledge(now);
            }
            if !self.all[index].is_due(setting, now) {
                continue;
            }
            let packet = self.make(setting, index, now);
            let flow = &mut self.all[index];
            let room = setting.plan.host.flow_queue;
            if room.is_some_and(|room| flow.queue.len() >= room as usize) {
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

    fn of_lane(&self, lane: usize) -> Vec<&Flow> {
        let flows = self.all.iter();
        flows.filter(|flow| flow.lane == lane).collect()
    }

    /// D29: what a lane would send, whose source queue begins with `head`.
    pub(super) fn candidate(
        &self,
        look: Look<'_>,
        lane: usize,
        head: Option<PacketId>,
    ) -> Option<Candidate> {
        let flows = self.of_lane(lane);
        let place = self.schedulers[lane].pick(look, head, &flows)?;
        let size = match place {
            0 => look.packets[head.expect("a contender")].size,
            _ => flows[place - 1].head(look).expect("a contender"),
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
        let mut scheduler = std::mem::take(&mut self.schedulers[lane]);
        let clock = scheduler.start(look, head, &self.of_lane(lane), (place, size));
        self.schedulers[lane] = scheduler;
        let on_lane = (0..self.all.len()).filter(|&index| self.all[index].lane == lane);
        let index = place
            .checked_sub(1)
            .and_then(|nth| on_lane.clone().nth(nth))?;
        let debt = self.all[index].next_debt(look, size);
        let id = if self.all[index].is_backlogged() {
            let packet = self.make(setting, index, now);
            packets.push(packet);
            packets.len() - 1
        } else {
            self.all[index].queue.remove(0)
        };
        assert_eq!(packets[id].size, size);
        let flow = &mut self.all[index];
        flow.start(id, debt);
        flow.clock = clock.unwrap_or(flow.clock);
        Some(id)
    }

    /// Stage Notify: the senders, in order.
    pub(super) fn notify(&mut self, look: Look<'_>) {
        for flow in &mut self.all {
            let started = flow.starts(look);
            let (id, plan) = (flow.id, flow.plan(look.setting));
            let class = &look.setting.plan.classes[usize::from(plan.class)];
            let Some(controlled) = &mut flow.controlled else {
                continue;
            };
            let answered = look.packets.iter().filter_map(|packet| {
                let answer = packet.answer.filter(|answer| answer.flow == id)?;
                (packet.delivered == Some(look.now)).then_some(answer.value)
            });
            let answered: Vec<u32> = answered.collect();
            assert!(answered.len() <= 1, "a host takes one packet per cycle");
            let control = class.control.as_ref().expect("a class with control");
            let algorithm = &control.algorithm;
            controlled.notify(algorithm, started, answered.first().copied(), look.now);
        }
    }

    /// Of every flow with control: its id, starts and answers its sender was told, packets it has started.
    pub(super) fn told(&self) -> impl Iterator<Item = (usize, u64, u64, usize)> {
        self.all.iter().filter_map(|flow| {
            let (started, answered) = flow.controlled.as_ref()?.told();
            Some((flow.id, started, answered, flow.started()))
        })
    }

    /// Packets that have not started.
    pub(super) fn queued(&self) -> impl Iterator<Item = PacketId> {
        self.all.iter().flat_map(|flow| flow.queue.iter().copied())
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
