//! A flow after a cycle: its state at its source, its packets under way, and what its host did.

use super::super::super::simulation::Simulation;
use super::super::places::{Places, Spot};
use crate::cycle::columns::WaitingLane;
use crate::cycle::shown::{FlowState, FlowsShown, Picked, SenderState, Shown};
use crate::cycle::state::{FlowEnd, Mail, PacketMail, Place};
use crate::cycle::{Columns, Inspect};
use crate::fabric::components::{Packet, PacketRecord};
use crate::fabric::rows::{HostRow, LaneRow, PacketRow, QueueRow};
use crate::fabric::source_queue::SourceQueues;
use crate::ids::{ChannelId, HostId};
use crate::measure::flow_counts::FlowReceived;
use crate::plan::FlowPlan;
use crate::topology::Graph;
use std::collections::BTreeMap;

/// A packet: source host, class, number there.
pub(super) type Key = (u32, u16, u32);

/// A packet of the flow, or a control packet that belongs to it, in the fabric.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) packet: Packet,
    pub(super) record: PacketRecord,
    pub(super) spot: Spot,
    /// Channel by which it comes, or has come to the queue that it is in.
    pub(super) into: Option<ChannelId>,
    /// First packet of a lane of its host, which has no room for its answer.
    pub(super) is_held: bool,
}

/// A packet that started on the channel of the flow's host in this cycle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Started {
    pub(super) lane: u8,
    pub(super) flits: u16,
    pub(super) record: PacketRecord,
}

/// The host of the flow.
#[derive(Clone, Debug, Default)]
pub(super) struct HostLook {
    /// First cycle in which its channel is free.
    pub(super) free_at: u64,
    pub(super) started: Option<Started>,
    /// A control packet waits for the lane of the flow.
    pub(super) has_control: bool,
    /// What the lane of the flow would send.
    pub(super) picked: Option<Picked>,
    /// Credits of the lane in this cycle, before any start in it; `None`: it needs none.
    pub(super) credits: Option<u32>,
}

/// What is seen at the source of the flow.
struct Home {
    state: FlowState,
    sender: Option<SenderState>,
    answered: u64,
    missing: Vec<u32>,
    release: Option<u64>,
    host: HostLook,
}

/// What is seen after a cycle.
#[derive(Clone, Debug)]
pub(super) struct FlowLook {
    pub(super) state: FlowState,
    pub(super) sender: Option<SenderState>,
    /// Answers and replies delivered.
    pub(super) answered: u64,
    pub(super) arrived: FlowReceived,
    /// Flows that it waits for and that are not complete at its host.
    pub(super) missing: Vec<u32>,
    /// Its start cycle once it waits for nothing any more, of a flow that waits.
    pub(super) release: Option<u64>,
    pub(super) host: HostLook,
    pub(super) packets: BTreeMap<Key, Seen>,
    /// Control packets that wait at the hosts.
    pub(super) control: Vec<Key>,
}

/// Looks for all of it.
pub(super) struct FlowLooker<'a> {
    id: u32,
    flows: &'a [FlowPlan],
    ends: FlowEnd,
    /// Its source and its destination.
    hosts: [HostId; 2],
    /// The same in their shards.
    rows: [(usize, HostRow); 2],
    places: Places,
    cycle: u64,
    shard: usize,
    mail: Vec<Vec<PacketMail>>,
    packets: BTreeMap<Key, Seen>,
    control: Vec<Key>,
    started: Option<Started>,
    home: Option<Home>,
    arrived: FlowReceived,
}

impl<'a> FlowLooker<'a> {
    /// For the flow with an id; `None`: there is none.
    pub(super) fn new(
        graph: &Graph,
        simulation: &Simulation,
        flows: &'a [FlowPlan],
        id: u32,
    ) -> Option<Self> {
        let flow = flows.get(id as usize)?;
        let place = simulation.each::<Place>().next()?;
        let host = |host| {
            let place = simulation.place(host);
            (place.shard, place.row)
        };
        Some(Self {
            id,
            flows,
            ends: *place.shared.flow_ends.get(id as usize)?,
            hosts: [flow.source, flow.destination],
            rows: [host(flow.source), host(flow.destination)],
            places: Places::new(graph, simulation),
            cycle: 0,
            shard: 0,
            mail: Vec::new(),
            packets: BTreeMap::new(),
            control: Vec::new(),
            started: None,
            home: None,
            arrived: FlowReceived::default(),
        })
    }

    /// The flow after `cycle`.
    pub(super) fn look(&mut self, simulation: &Simulation, cycle: u64) -> Option<FlowLook> {
        let id = self.id;
        let mine = |mail: &[Mail]| {
            let packets = mail.iter().flat_map(Mail::packets);
            packets
                .filter(|item| item.record.flow == id)
                .cloned()
                .collect()
        };
        self.mail = simulation.mail().map(mine).collect();
        (self.cycle, self.shard, self.started) = (cycle, 0, None);
        self.packets.clear();
        self.control.clear();
        simulation.inspect(self);
        let home = self.home.take()?;
        Some(FlowLook {
            state: home.state,
            sender: home.sender,
            answered: home.answered,
            arrived: self.arrived,
            missing: home.missing,
            release: home.release,
            host: home.host,
            packets: std::mem::take(&mut self.packets),
            control: std::mem::take(&mut self.control),
        })
    }
}

impl Inspect for FlowLooker<'_> {
    fn look(&mut self, view: &dyn Columns) {
        self.look_at_mail(view);
        self.look_at_calendar(view);
        self.look_at_queues(view);
        self.look_at_output_lanes(view);
        self.look_at_hosts(view);
        self.look_at_ends(view);
        self.shard += 1;
    }
}

impl FlowLooker<'_> {
    fn find(&mut self, packet: Packet, record: PacketRecord, spot: Spot) {
        let key = (record.source, record.class, record.sequence);
        let into = match spot {
            Spot::Channel { into, .. } => Some(into),
            _ => None,
        };
        let seen = Seen {
            packet,
            record,
            spot,
            into,
            is_held: false,
        };
        self.packets.insert(key, seen);
    }

    fn is_mine(&self, view: &dyn Columns, row: PacketRow) -> bool {
        view.records()[row].flow == self.id
    }

    fn look_at_mail(&mut self, view: &dyn Columns) {
        for mail in std::mem::take(&mut self.mail[self.shard]) {
            let PacketMail {
                lane,
                at,
                packet,
                record,
            } = mail;
            let spot = self
                .places
                .flight(view, self.shard, lane, at, (&packet, &record));
            self.find(packet, record, spot);
        }
    }

    fn look_at_calendar(&mut self, view: &dyn Columns) {
        let (source, is_home) = (self.hosts[0].0, self.shard == self.rows[0].0);
        for (at, slot) in view.calendar().ahead(self.cycle + 1) {
            for &(lane, row) in &slot.heads {
                let (packet, record) = (view.packets()[row], view.records()[row]);
                if is_home && record.source == source && record.injected == self.cycle {
                    self.started = Some(Started {
                        lane: view.shared().numbering.number(lane) as u8,
                        flits: packet.size,
                        record,
                    });
                }
                if record.flow == self.id {
                    let spot = self
                        .places
                        .flight(view, self.shard, lane, at, (&packet, &record));
                    self.find(packet, record, spot);
                }
            }
            for &row in &slot.deliveries {
                if self.is_mine(view, row) {
                    let spot = Spot::Ending { delivered: at };
                    self.find(view.packets()[row], view.records()[row], spot);
                }
            }
        }
    }

    fn look_at_queues(&mut self, view: &dyn Columns) {
        for (number, queue) in view.queues().enumerate() {
            let (mut row, mut ahead) = (queue.head, 0);
            while row != PacketRow::NONE {
                let packet = view.packets()[row];
                if self.is_mine(view, row) {
                    self.find_queued(view, number, row, ahead);
                }
                ahead += 1;
                row = if row == queue.tail {
                    PacketRow::NONE
                } else {
                    packet.next
                };
            }
        }
    }

    /// A packet in an input queue of a switch or at a host, behind others.
    fn find_queued(&mut self, view: &dyn Columns, number: QueueRow, row: PacketRow, ahead: u32) {
        let shared = view.shared();
        let lane = shared.switch.classifier.lane(number);
        let port = shared.numbering.port(lane);
        let host = (view.place().is_host(port)).then(|| view.place().host(port));
        let (outgoing, _) = self.places.channel(view, self.shard, lane);
        let record = view.records()[row];
        let key = (record.source, record.class, record.sequence);
        let seen = Seen {
            packet: view.packets()[row],
            record,
            spot: Spot::Queue {
                ahead,
                wants: Vec::new(),
            },
            into: Some(outgoing.reverse()),
            is_held: ahead == 0 && host.is_some_and(|host| view.is_holding(host)),
        };
        self.packets.insert(key, seen);
    }

    fn look_at_output_lanes(&mut self, view: &dyn Columns) {
        for (number, lane) in view.grouped::<LaneRow, WaitingLane>().enumerate() {
            let (mut row, mut ahead) = (lane.head, 0);
            while row != PacketRow::NONE {
                let packet = view.packets()[row];
                if self.is_mine(view, row) {
                    let (out, lane) = self.places.channel(view, self.shard, number);
                    let spot = Spot::OutputLane { out, lane, ahead };
                    self.find(packet, view.records()[row], spot);
                }
                ahead += 1;
                row = packet.next;
            }
        }
    }

    /// Control packets of the flow that wait at its ends.
    fn look_at_hosts(&mut self, view: &dyn Columns) {
        let Some(answers) = Shown::answers(view.world()) else {
            return;
        };
        let numbering = view.shared().numbering;
        for (&host, (shard, row)) in self.hosts.iter().zip(self.rows) {
            if shard != self.shard {
                continue;
            }
            for lane in 0..numbering.lanes() {
                let queued = answers.queued(numbering.source_queue(row, lane)).iter();
                let mine = queued.filter(|queued| queued.flow == self.id);
                let packets = mine.map(|queued| queued.packet);
                let keys = packets.map(|packet| (host.0, packet.class, packet.sequence));
                self.control.extend(keys);
            }
        }
    }

    fn look_at_ends(&mut self, view: &dyn Columns) {
        let world = view.world();
        if self.ends.tail_shard as usize == self.shard {
            self.arrived = Shown::arrived(world, self.ends.tail);
        }
        if self.ends.shard as usize != self.shard {
            return;
        }
        let (Some(flows), Some(queues)) = (Shown::flows(world), view.resource::<SourceQueues>())
        else {
            return;
        };
        let row = self.ends.row;
        let state = flows.state(row);
        let (shared, place, host) = (view.shared(), view.place(), self.rows[0].1);
        let queue = shared.numbering.source_queue(host, state.lane.into());
        let port = place.port(host);
        let out = &view.outs()[port];
        let lane = shared.numbering.lane(port, state.lane.into());
        let mut credits = view.credits_in(shared.credit_lane(lane), self.cycle);
        let takes = |started: &Started| shared.switch.pool || started.lane == state.lane;
        if let Some(started) = self.started.filter(takes) {
            credits += u32::from(started.flits);
        }
        let answers = Shown::answers(world);
        let &Shown {
            senders, release, ..
        } = view.shown();
        let mut sent = state.sent;
        if let Some(senders) = senders {
            (senders.count)(world, row, &mut sent);
        }
        self.home = Some(Home {
            missing: release.map_or(Vec::new(), |_| self.missing(view, flows)),
            release: release.and_then(|release| release(world, row)),
            host: HostLook {
                free_at: out.free_at,
                started: self.started,
                has_control: answers.is_some_and(|answers| !answers.queued(queue).is_empty()),
                picked: flows.picked(queues, queue, self.cycle),
                credits: (!out.is_boundless()).then_some(credits),
            },
            sender: senders.and_then(|senders| (senders.state)(world, row)),
            answered: sent.answered,
            state,
        });
    }

    /// Flows that it waits for, of which flits are missing at its host.
    fn missing(&self, view: &dyn Columns, flows: &dyn FlowsShown) -> Vec<u32> {
        let ends = &view.shared().flow_ends;
        let is_missing = |other: &u32| {
            let (end, plan) = (ends[*other as usize], &self.flows[*other as usize]);
            let flits = if plan.source == self.hosts[0] {
                flows.sent(end.row).started.flits
            } else {
                Shown::arrived(view.world(), end.tail).delivered.flits
            };
            plan.flits.is_some_and(|all| flits < all)
        };
        let after = self.flows[self.id as usize].after.iter();
        after.map(|after| after.flow).filter(is_missing).collect()
    }
}
