//! Where one packet is after a cycle, and why it was not granted in it.

use super::super::shard::Inspect;
use super::super::simulation::Simulation;
use super::PacketName;
use super::reasons::Ports;
use super::story::Reason;
use crate::cycle::Columns;
use crate::cycle::ledger::Channels;
use crate::cycle::mechanisms::adaptive::Choice;
use crate::cycle::mechanisms::answer_rooms::AnswerRooms;
use crate::cycle::mechanisms::output_lanes::buffers::{OutChannel, WaitingLane};
use crate::cycle::stages::generate::sources::Sources;
use crate::cycle::state::{Mail, Place};
use crate::fabric::components::{Packet, PacketRecord};
use crate::fabric::rows::{HostRow, LaneRow, PacketRow, PortRow, QueueRow};
use crate::fabric::source_queue::{SourceQueues, Waiting};
use crate::ids::ChannelId;
use crate::topology::Graph;

/// Place of a packet between two cycles.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Spot {
    /// Not in the fabric.
    #[default]
    Nowhere,
    /// In its host's queue of a lane, behind others.
    Source { lane: u8, ahead: u32 },
    /// On a channel to a switch, or there until it may request.
    Channel {
        into: ChannelId,
        lane: u8,
        /// First cycle in which it may request.
        requests: u64,
        /// Cycle in which its header arrives.
        arrives: u64,
    },
    /// In an input queue, behind others; what it wants once it is head and requests.
    Queue {
        ahead: u32,
        wants: Vec<(ChannelId, u8)>,
    },
    /// In an output lane, behind others.
    OutputLane {
        out: ChannelId,
        lane: u8,
        ahead: u32,
    },
    /// On the channel to its host, or being consumed there; delivered in that cycle.
    Ending { delivered: u64 },
}

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
    channels: Vec<Vec<ChannelId>>,
    /// Cycles per flit, `[channel]`.
    steps: Vec<u16>,
    /// Shard of its host, and the host there.
    home: (usize, HostRow),
    /// Mail on its way to each shard.
    mail: Vec<Option<Mail>>,
    pub(super) cycle: u64,
    pub(super) shard: usize,
    pub(super) before: Option<Ports>,
    pub(super) found: Look,
}

impl Looker {
    pub(super) fn new(graph: &Graph, simulation: &Simulation, name: PacketName) -> Self {
        let channels = simulation.port_channels().to_vec();
        let source = graph.host_channel(name.source);
        let home = (0..).zip(simulation.each::<Place>()).zip(&channels);
        let home = home.into_iter().find_map(|((shard, place), channels)| {
            let mut ports = Channels::new(channels).enumerate();
            let (port, _) = ports.find(|&(_, &channel)| channel == source)?;
            Some((shard, place.host(port)))
        });
        let step = |channel| graph.channel(channel).timing.cycles_per_flit as u16;
        Self {
            name,
            channels,
            steps: graph.channel_ids().map(step).collect(),
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
        let mut shards = simulation.each::<Place>().zip(simulation.each::<Sources>());
        shards.nth(self.home.0).map_or(0, |(place, sources)| {
            let classes = place.shared.traffic.classes.len() as u32;
            sources.made(self.home.1.0 * classes + u32::from(self.name.class))
        })
    }

    /// Where the packet is after `cycle`.
    pub(super) fn look(&mut self, simulation: &mut Simulation, cycle: u64) -> Look {
        let name = self.name;
        let mine = |mail: &[Mail]| {
            let is_mine =
                |item: &&Mail| matches!(item, Mail::Packet { record, .. } if is(name, record));
            mail.iter().find(is_mine).cloned()
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
    let rooms = view.resource::<AnswerRooms>();
    if !rooms.is_some_and(|rooms| rooms.is_holding(host)) {
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
        let shared = view.shared();
        let channels = Channels::new(&self.channels[self.shard]);
        let port = shared.numbering.port(lane);
        (channels[port], shared.numbering.number(lane) as u8)
    }

    fn look_at_mail(&mut self, view: &dyn Columns) {
        let Some(Mail::Packet {
            lane,
            at,
            packet,
            record,
        }) = self.mail[self.shard].take()
        else {
            return;
        };
        self.found.spot = self.flight(view, lane, at, &packet);
        self.found.packet = Some((packet, record));
        self.found.ports = Some(self.ports(view, view.shared().numbering.port(lane)));
    }

    /// A packet that may request from `at` on in the input lane `lane`.
    fn flight(&self, view: &dyn Columns, lane: LaneRow, at: u64, packet: &Packet) -> Spot {
        let shared = view.shared();
        let (outgoing, number) = self.channel(view, lane);
        let into = outgoing.reverse();
        let step = self.steps[into.index()];
        let port_row = shared.numbering.port(lane);
        let port = &view.ins()[port_row];
        let delay = if view.place().is_host(port_row) {
            shared.underrun(packet.size, step, shared.switch.sink_step)
        } else {
            shared.pipeline([view.switch_id(port.owner), port.table_row], packet, step)
        };
        Spot::Channel {
            into,
            lane: number,
            requests: at,
            arrives: at - delay,
        }
    }

    fn look_at_calendar(&mut self, view: &dyn Columns) {
        let slots = view.calendar().slots();
        let next = self.cycle + 1;
        for (index, slot) in slots.iter().enumerate() {
            let at = next + ((index as u64).wrapping_sub(next) & (slots.len() as u64 - 1));
            for &(lane, row) in &slot.heads {
                if self.is_mine(view, row) {
                    let spot = self.flight(view, lane, at, &view.packets()[row]);
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
        } else if shared.switch.open {
            let requests = &view.column::<QueueRow, Choice>()[number].requests;
            requests.iter().map(|request| request.lane).collect()
        } else {
            vec![shared.numbering.lane(queue.out, u32::from(queue.out_lane))]
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
        for (number, lane) in view.column::<LaneRow, WaitingLane>().enumerate() {
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
        let name = self.name;
        let port = view.place().port(self.home.1);
        for lane in 0..shared.numbering.lanes() {
            let queue = shared.numbering.source_queue(self.home.1, lane);
            let is_mine = |waiting: &Waiting| {
                waiting.class == name.class && u64::from(waiting.sequence) == name.sequence
            };
            let Some(queues) = view.resource::<SourceQueues>() else {
                return;
            };
            let mut packets = queues.packets(queue);
            let Some((ahead, waiting)) = (0u64..)
                .zip(&mut packets)
                .find(|(_, waiting)| is_mine(waiting))
            else {
                continue;
            };
            self.found.ports = Some(self.ports(view, port));
            let row = shared.numbering.lane(port, lane);
            self.found.reason = Some(if ahead > 0 || self.sent_now(view, row) > 0 {
                // one that left in this cycle was before it, too
                (Reason::NotHead, ahead.max(1))
            } else {
                self.refused(view, row, waiting.size)
            });
            self.found.spot = Spot::Source {
                lane: lane as u8,
                ahead: ahead as u32,
            };
            self.found.waiting = Some(*waiting);
        }
    }
}
