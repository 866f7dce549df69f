//! Where one packet is after a cycle, and why it was not granted in it.

use super::super::simulation::Simulation;
use super::PacketName;
use super::places::{Places, Spot};
use super::reasons::Ports;
use super::story::Reason;
use crate::cycle::columns::{OutChannel, WaitingLane};
use crate::cycle::ledger::Channels;
use crate::cycle::shown::Shown;
use crate::cycle::stages::generate::sources::Sources;
use crate::cycle::state::{Mail, PacketMail, Place};
use crate::cycle::{Columns, Inspect};
use crate::fabric::components::{Packet, PacketRecord};
use crate::fabric::rows::{HostRow, LaneRow, PacketRow, PortRow, QueueRow};
use crate::fabric::source_queue::{SourceQueues, Waiting};
use crate::ids::ChannelId;
use crate::topology::Graph;

/// What is seen after a cycle.
#[derive(Clone, Debug, Default)]
pub(super) struct Look {
    pub(super) spot: Spot,
    /// Packet and record; `None` while it waits at its host.
    pub(super) packet: Option<(Packet, PacketRecord)>,
    /// The packet while it waits at its host.
    pub(super) waiting: Option<Waiting>,
    /// Why it was not granted in this cycle, with a number that belongs to the reason.
    pub(super) reason: Option<(Reason, u64)>,
    /// State of the ports where it is.
    pub(super) ports: Option<Ports>,
}

/// Looks for the packet.
pub(super) struct Looker {
    name: PacketName,
    places: Places,
    /// Shard of its host, and the host there.
    home: (usize, HostRow),
    /// Mail on its way to each shard.
    mail: Vec<Option<PacketMail>>,
    pub(super) cycle: u64,
    pub(super) shard: usize,
    pub(super) before: Option<Ports>,
    pub(super) found: Look,
}

impl Looker {
    pub(super) fn new(graph: &Graph, simulation: &Simulation, name: PacketName) -> Self {
        let places = Places::new(graph, simulation);
        let source = graph.host_channel(name.source);
        let home = (0..).zip(simulation.each::<Place>()).zip(&places.channels);
        let home = home.into_iter().find_map(|((shard, place), channels)| {
            let mut ports = Channels::new(channels).enumerate();
            let (port, _) = ports.find(|&(_, &channel)| channel == source)?;
            Some((shard, place.host(port)))
        });
        Self {
            name,
            places,
            home: home.unwrap_or((0, HostRow(0))),
            mail: Vec::new(),
            cycle: 0,
            shard: 0,
            before: None,
            found: Look::default(),
        }
    }

    /// Packets its source has made.
    pub(super) fn made(&self, simulation: &Simulation) -> u64 {
        let (shard, host, class) = (self.home.0, self.home.1.0, self.name.class);
        let Some(place) = simulation.each::<Place>().nth(shard) else {
            return 0;
        };
        let classes = &place.shared.traffic.classes;
        let of = &classes[usize::from(class)];
        if of.flows.is_some() {
            let flows = simulation.worlds().nth(shard).and_then(Shown::flows);
            return flows.map_or(0, |flows| flows.made(host, class).into());
        }
        if of.answers.is_some() {
            let answers = simulation.worlds().nth(shard).and_then(Shown::answers);
            return answers.map_or(0, |answers| answers.made(host, class).into());
        }
        let sources = simulation.each::<Sources>().nth(shard);
        sources.map_or(0, |sources| {
            sources.made(host * classes.len() as u32 + u32::from(class))
        })
    }

    /// Where the packet is after `cycle`.
    pub(super) fn look(&mut self, simulation: &mut Simulation, cycle: u64) -> Look {
        let name = self.name;
        let mine = |mail: &[Mail]| {
            let mut packets = mail.iter().flat_map(Mail::packets);
            packets.find(|item| is(name, &item.record)).cloned()
        };
        self.mail = simulation.mail().map(mine).collect();
        (self.cycle, self.shard) = (cycle, 0);
        self.found = Look::default();
        simulation.inspect(self);
        self.before.clone_from(&self.found.ports);
        std::mem::take(&mut self.found)
    }
}

/// Why its host does not take a packet with others ahead of it in its lane.
fn at_host(view: &dyn Columns, host: HostRow, ahead: u32) -> (Reason, u64) {
    if !view.is_holding(host) {
        (Reason::SinkBusy, u64::from(ahead))
    } else if ahead == 0 {
        (Reason::NoRoomForAnswer, 0)
    } else {
        (Reason::NotHead, u64::from(ahead))
    }
}

fn is(name: PacketName, record: &PacketRecord) -> bool {
    record.source == name.source.0
        && record.class == name.class
        && u64::from(record.sequence) == name.sequence
}

impl Inspect for Looker {
    fn look(&mut self, view: &dyn Columns) {
        self.look_at_mail(view);
        self.look_at_source(view);
        self.look_at_queues(view);
        self.look_at_calendar(view);
        self.look_at_output_lanes(view);
        self.shard += 1;
    }
}

impl Looker {
    fn is_mine(&self, view: &dyn Columns, row: PacketRow) -> bool {
        is(self.name, &view.records()[row])
    }

    /// Found in this shard, at `spot`, beside the ports of `port`.
    fn find(&mut self, view: &dyn Columns, row: PacketRow, spot: Spot, port: Option<PortRow>) {
        self.found.packet = Some((view.packets()[row], view.records()[row]));
        self.found.spot = spot;
        self.found.ports = port.map(|port| self.ports(view, port));
    }

    /// Outgoing channel and number of a lane.
    fn channel(&self, view: &dyn Columns, lane: LaneRow) -> (ChannelId, u8) {
        self.places.channel(view, self.shard, lane)
    }

    fn look_at_mail(&mut self, view: &dyn Columns) {
        let Some(PacketMail {
            lane,
            at,
            packet,
            record,
        }) = self.mail[self.shard].take()
        else {
            return;
        };
        self.found.spot = self.flight(view, lane, at, (&packet, &record));
        self.found.packet = Some((packet, record));
        self.found.ports = Some(self.ports(view, view.shared().numbering.port(lane)));
    }

    /// A packet that may request from `at` on in the input lane `lane`.
    fn flight(
        &self,
        view: &dyn Columns,
        lane: LaneRow,
        at: u64,
        packet: (&Packet, &PacketRecord),
    ) -> Spot {
        self.places.flight(view, self.shard, lane, at, packet)
    }

    fn look_at_calendar(&mut self, view: &dyn Columns) {
        let slots = view.calendar().slots();
        let next = self.cycle + 1;
        for (index, slot) in slots.iter().enumerate() {
            let at = next + ((index as u64).wrapping_sub(next) & (slots.len() as u64 - 1));
            for &(lane, row) in &slot.heads {
                if self.is_mine(view, row) {
                    let packet = (&view.packets()[row], &view.records()[row]);
                    let spot = self.flight(view, lane, at, packet);
                    self.find(view, row, spot, Some(view.shared().numbering.port(lane)));
                }
            }
            for &row in &slot.deliveries {
                if self.is_mine(view, row) {
                    self.find(view, row, Spot::Ending { delivered: at }, None);
                }
            }
        }
    }

    fn look_at_queues(&mut self, view: &dyn Columns) {
        for (number, queue) in view.queues().enumerate() {
            let (mut row, mut ahead) = (queue.head, 0);
            while row != PacketRow::NONE {
                if self.is_mine(view, row) {
                    return self.in_queue(view, number, row, ahead);
                }
                ahead += 1;
                row = if row == queue.tail {
                    PacketRow::NONE
                } else {
                    view.packets()[row].next
                };
            }
        }
    }

    fn in_queue(&mut self, view: &dyn Columns, number: QueueRow, row: PacketRow, ahead: u32) {
        let shared = view.shared();
        let port = shared.numbering.port(shared.switch.classifier.lane(number));
        let queue = &view.queues()[number];
        let wanted: Vec<LaneRow> = if ahead > 0 || !queue.requesting {
            Vec::new()
        } else {
            view.requests()(number)
        };
        let wants = wanted
            .iter()
            .map(|&lane| self.channel(view, lane))
            .collect();
        self.find(view, row, Spot::Queue { ahead, wants }, Some(port));
        let size = view.packets()[row].size;
        self.found.reason = Some(if view.place().is_host(port) {
            at_host(view, view.place().host(port), ahead)
        } else if wanted.is_empty() {
            (Reason::NotHead, u64::from(ahead))
        } else {
            self.input_busy(view, port).unwrap_or_else(|| {
                let reasons = wanted.iter().map(|&lane| self.refused(view, lane, size));
                reasons
                    .max_by_key(|(reason, _)| reason.rank())
                    .unwrap_or((Reason::NotHead, 0))
            })
        });
    }

    fn look_at_output_lanes(&mut self, view: &dyn Columns) {
        for (number, lane) in view.grouped::<LaneRow, WaitingLane>().enumerate() {
            let (mut row, mut ahead) = (lane.head, 0);
            while row != PacketRow::NONE {
                if self.is_mine(view, row) {
                    let (out, lane) = self.channel(view, number);
                    self.find(view, row, Spot::OutputLane { out, lane, ahead }, None);
                    let port = view.shared().numbering.port(number);
                    let channel = &view.column::<PortRow, OutChannel>()[port];
                    let ready = view.records()[row].requested;
                    self.found.reason = Some(if ahead > 0 {
                        (Reason::NotHead, u64::from(ahead))
                    } else if ready > self.cycle {
                        (Reason::Crossbar, ready)
                    } else if channel.free_at > self.cycle && channel.taken_at < self.cycle {
                        (Reason::OutputBusy, channel.free_at)
                    } else {
                        (Reason::LostArbitration, 0)
                    });
                    return;
                }
                ahead += 1;
                row = view.packets()[row].next;
            }
        }
    }

    fn look_at_source(&mut self, view: &dyn Columns) {
        if self.shard != self.home.0 {
            return;
        }
        let shared = view.shared();
        let port = view.place().port(self.home.1);
        for lane in 0..shared.numbering.lanes() {
            let queue = shared.numbering.source_queue(self.home.1, lane);
            let Some((flow, ahead, waiting)) = self.waiting(view, queue) else {
                continue;
            };
            self.found.ports = Some(self.ports(view, port));
            let row = shared.numbering.lane(port, lane);
            self.found.reason = Some(match flow {
                Some(_) if ahead > 0 => (Reason::NotHead, ahead),
                Some(flow) => (Reason::Flow, flow.into()),
                // one that left in this cycle was before it, too
                None if ahead > 0 || self.sent_now(view, row) > 0 => {
                    (Reason::NotHead, ahead.max(1))
                }
                None => self.refused(view, row, waiting.size),
            });
            self.found.spot = Spot::Source {
                lane: lane as u8,
                ahead: ahead as u32,
            };
            self.found.waiting = Some(waiting);
        }
    }

    /// The packet among those that wait for a lane of its host, with how many are before it: in the source queue, in the
    /// control queue, or kept by its flow, which is named.
    fn waiting(&self, view: &dyn Columns, queue: usize) -> Option<(Option<u32>, u64, Waiting)> {
        let name = self.name;
        let is_mine = |waiting: &Waiting| {
            waiting.class == name.class && u64::from(waiting.sequence) == name.sequence
        };
        let sources = view.resource::<SourceQueues>();
        let queued = sources.and_then(|sources| {
            let mut packets = (0..).zip(sources.packets(queue).copied());
            packets.find(|(_, waiting)| is_mine(waiting))
        });
        let answers = Shown::answers(view.world());
        let answer = answers.and_then(|answers| {
            let mut packets = (0..).zip(answers.queued(queue).iter().map(|queued| queued.packet));
            packets.find(|(_, waiting)| is_mine(waiting))
        });
        if let Some((ahead, waiting)) = queued.or(answer) {
            return Some((None, ahead, waiting));
        }
        let held = Shown::flows(view.world())?.waiting_at(queue);
        let mut mine = held.into_iter().filter(|held| is_mine(&held.packet));
        mine.next()
            .map(|held| (Some(held.flow), held.ahead, held.packet))
    }
}
