//! Finds the heads of all shards, with what their queues keep and what they ask for.

use super::head::{Claim, Head, Kind, Name, Room, Space, Turn, Want};
use crate::cycle::columns::{Held, Present};
use crate::cycle::ledger::Channels;
use crate::cycle::shown::{AnswersShown, Shown, Stands};
use crate::cycle::{Columns, Inspect};
use crate::fabric::rows::{HostRow, LaneRow, PacketRow, PortRow, QueueRow};
use crate::fabric::{Host, Queue};
use crate::ids::{ChannelId, HostId};
use crate::plan::OutputArbitration;
use std::collections::BTreeMap;

/// Collects the heads of one shard after the other.
pub(super) struct Collect<'a> {
    channels: &'a [Vec<ChannelId>],
    shard: usize,
    pub(super) heads: Vec<Head>,
}

/// A shard that is looked at.
struct Shard<'a> {
    view: &'a dyn Columns,
    channels: Channels<'a>,
}

impl<'a> Collect<'a> {
    /// None yet; `channels`: the outgoing channel of every port, by shard.
    pub(super) fn new(channels: &'a [Vec<ChannelId>]) -> Self {
        Self {
            channels,
            shard: 0,
            heads: Vec::new(),
        }
    }
}

impl Inspect for Collect<'_> {
    fn look(&mut self, view: &dyn Columns) {
        let channels = Channels::new(&self.channels[self.shard]);
        self.shard += 1;
        let shard = Shard { view, channels };
        match view.shown().standing {
            Some(stands) => shard.add_standing(stands, &mut self.heads),
            None => shard.add_requests(&mut self.heads),
        }
        shard.add_holders(&mut self.heads);
        if view.shown().demand.is_some() {
            shard.add_held(&mut self.heads);
        }
    }
}

impl Shard<'_> {
    /// Lane of the buffer that a channel's lane leads to, of a pool the first.
    fn counted(&self, lane: LaneRow) -> u8 {
        let shared = self.view.shared();
        shared.numbering.number(shared.credit_lane(lane)) as u8
    }

    fn number(&self, lane: LaneRow) -> u8 {
        self.view.shared().numbering.number(lane) as u8
    }

    fn port(&self, lane: LaneRow) -> PortRow {
        self.view.shared().numbering.port(lane)
    }

    /// The buffer of an input lane.
    fn inside(&self, lane: LaneRow) -> Space {
        let incoming = self.channels[self.port(lane)].reverse();
        (incoming, self.counted(lane))
    }

    /// Where an input lane is.
    fn at(&self, lane: LaneRow) -> Space {
        (self.channels[self.port(lane)].reverse(), self.number(lane))
    }

    /// Room behind an output lane, or a lane of a host's channel.
    fn want(&self, lane: LaneRow) -> Want {
        Want {
            space: (self.channels[self.port(lane)], self.counted(lane)),
            lane: self.number(lane),
            empty: false,
        }
    }

    fn name(&self, packet: PacketRow) -> Name {
        let record = &self.view.records()[packet];
        Name {
            source: HostId(record.source),
            class: record.class,
            sequence: record.sequence,
        }
    }

    /// Flits that a queue keeps: of all its packets, or, where they go one by one, those that are there.
    fn kept(&self, row: QueueRow, queue: &Queue) -> u32 {
        if self.view.shared().switch.single_flits {
            return self.view.grouped::<QueueRow, Present>()[row].flits();
        }
        let packets = self.view.packets();
        let sizes = queue.packets(packets).map(|packet| packets[packet].size);
        sizes.map(u32::from).sum()
    }

    /// A head that is the first packet of a queue.
    fn first(&self, row: QueueRow, kind: Kind, needs: u32, wants: Vec<Want>) -> Head {
        let view = self.view;
        let queue = &view.queues()[row];
        let lane = view.shared().switch.classifier.lane(row);
        let packet = &view.packets()[queue.head];
        Head {
            name: self.name(queue.head),
            destination: HostId(packet.destination),
            size: packet.size,
            at: self.at(lane),
            kind,
            keeps: (self.inside(lane), self.kept(row, queue)),
            needs,
            wants,
        }
    }

    /// Heads of switches that request.
    fn add_requests(&self, heads: &mut Vec<Head>) {
        let (view, shared) = (self.view, self.view.shared());
        let (requests, keepers) = (view.requests(), self.keepers());
        let claim = |row| {
            view.shown()
                .claim
                .and_then(|claim| claim(view.world(), row))
        };
        // a head that waits for its turn will have a claim in time, and needs none with it
        let has_turns = shared.switch.reserve && view.shown().claim.is_none();
        for (row, queue) in view.queues().enumerate() {
            let lane = shared.switch.classifier.lane(row);
            if !queue.requesting || view.place().is_host(self.port(lane)) {
                continue;
            }
            let out = shared.numbering.lane(queue.out, u32::from(queue.out_lane));
            let is_empty = |lane| {
                (view.shown().empty).is_some_and(|is_empty| is_empty(view.world(), row, lane))
            };
            let wants = requests(row).into_iter().map(|lane| Want {
                empty: is_empty(lane),
                ..self.want(lane)
            });
            let keeper = keepers.get(&self.port(lane)).copied();
            let kind = Kind::Request {
                turn: has_turns.then(|| self.turn(queue, lane, out)),
                keeper: keeper.map(|keeper| self.at(keeper)),
                claim: claim(row).map(|(since, lane)| Claim {
                    bars: self.want(lane).space,
                    key: (since, row),
                }),
            };
            heads.push(self.first(row, kind, queue.size.into(), wants.collect()));
        }
    }

    /// Packets that stand in the queues of several outputs (D84): of each candidate, who comes before them there.
    fn add_standing(&self, stands: Stands, heads: &mut Vec<Head>) {
        let (view, numbering) = (self.view, self.view.shared().numbering);
        let inputs = view.outs().enumerate().map(|(port, _)| port);
        let inputs = inputs.filter(|&port| !view.place().is_host(port));
        for lane in inputs.flat_map(|port| numbering.lanes_of(port)) {
            let all = stands(view.world(), lane);
            let mut before = 0;
            for of_packet in all.chunk_by(|one, next| one.packet == next.packet) {
                let ahead = |wanted: LaneRow| {
                    let others = all[..before].iter();
                    let same = numbering.port(wanted);
                    let others = others.filter(|other| numbering.port(other.request.lane) == same);
                    others.map(|other| self.name(other.packet)).collect()
                };
                let wanted = || of_packet.iter().map(|stand| stand.request.lane);
                let packet = &view.packets()[of_packet[0].packet];
                heads.push(Head {
                    name: self.name(of_packet[0].packet),
                    destination: HostId(packet.destination),
                    size: packet.size,
                    at: self.at(lane),
                    kind: Kind::Stands {
                        ahead: wanted().map(ahead).collect(),
                    },
                    keeps: (self.inside(lane), packet.size.into()),
                    needs: packet.size.into(),
                    wants: wanted().map(|lane| self.want(lane)).collect(),
                });
                before += of_packet.len();
            }
        }
    }

    /// Place of a request in the turn of its output lane (D7).
    fn turn(&self, queue: &Queue, lane: LaneRow, out: LaneRow) -> Turn {
        let (view, shared) = (self.view, self.view.shared());
        let input = &view.ins()[self.port(lane)];
        let bit = shared.numbering.bit_of(input.index, lane);
        let record = &view.records()[queue.head];
        let first = match shared.switch.output_arbitration {
            OutputArbitration::FirstComeFirstServed => record.requested,
            OutputArbitration::OldestFirst => record.created,
            OutputArbitration::RoundRobin | OutputArbitration::Random => {
                u64::from(bit < view.pointer(out))
            }
        };
        let queues = shared.numbering.lanes() * shared.switch.classifier.queues_per_lane();
        Turn {
            key: (first, bit),
            rivals: (shared.switch.speedup != u16::MAX).then_some(queues),
        }
    }

    /// By input that a packet keeps (D65), the lane of that packet.
    fn keepers(&self) -> BTreeMap<PortRow, LaneRow> {
        let shared = self.view.shared();
        if !shared.switch.kept_inputs {
            return BTreeMap::new();
        }
        let held = self.view.grouped::<LaneRow, Held>().enumerate();
        let holders = held.filter_map(|(_, held)| held.holder());
        let lanes = holders.map(|(queue, _)| shared.switch.classifier.lane(queue));
        lanes.map(|lane| (self.port(lane), lane)).collect()
    }

    /// Packets that stopped half-way (D65), with a flit that could pass.
    fn add_holders(&self, heads: &mut Vec<Head>) {
        let (view, shared) = (self.view, self.view.shared());
        let present = view.grouped::<QueueRow, Present>();
        for (wanted, held) in view.grouped::<LaneRow, Held>().enumerate() {
            let Some((queue, holder)) = held.holder() else {
                continue;
            };
            let flits = present[queue].flits();
            if flits == 0 {
                continue;
            }
            let lane = shared.switch.classifier.lane(queue);
            heads.push(Head {
                name: Name {
                    source: HostId(holder.source),
                    class: holder.class,
                    sequence: holder.sequence,
                },
                destination: HostId(holder.destination),
                size: holder.size,
                at: self.at(lane),
                kind: Kind::Holds,
                keeps: (self.inside(lane), flits),
                needs: 1,
                wants: vec![self.want(wanted)],
            });
        }
    }

    /// Packets that hosts hold back, and the answers that keep their room (D57).
    fn add_held(&self, heads: &mut Vec<Head>) {
        let (view, numbering) = (self.view, self.view.shared().numbering);
        let Some(answers) = Shown::answers(view.world()) else {
            return;
        };
        for (host, component) in view.column::<HostRow, Host>().enumerate() {
            for lane in numbering.lanes_of(view.place().port(host)) {
                let source_queue = numbering.source_queue(host, numbering.number(lane));
                let first = answers.queued(source_queue).front();
                if let Some(first) = first {
                    heads.push(self.answer(HostId(component.id), lane, &first.packet));
                }
                let row = view.shared().switch.classifier.behind(lane, 0);
                let queue = &view.queues()[row];
                if queue.head == PacketRow::NONE || self.has_begun(queue) {
                    continue;
                }
                let class = view.records()[queue.head].class;
                let room = self.room(answers, (host, class));
                if let Some(room) = room {
                    heads.push(self.first(row, Kind::Held(room), 0, Vec::new()));
                }
            }
        }
    }

    /// Whether a sink has taken flits of the first packet of a queue, where they go one by one: it takes the others, too.
    fn has_begun(&self, queue: &Queue) -> bool {
        let view = self.view;
        view.shared().switch.single_flits && queue.size < view.packets()[queue.head].size
    }

    /// The first control packet of a lane of a host's channel; it is in no buffer.
    fn answer(
        &self,
        host: HostId,
        lane: LaneRow,
        packet: &crate::fabric::source_queue::Waiting,
    ) -> Head {
        let shared = self.view.shared();
        let at = (self.channels[self.port(lane)], self.number(lane));
        Head {
            name: Name {
                source: host,
                class: packet.class,
                sequence: packet.sequence,
            },
            destination: HostId(packet.destination),
            size: packet.size,
            at,
            kind: Kind::Answer,
            keeps: (at, 0),
            needs: if shared.switch.single_flits {
                1
            } else {
                packet.size.into()
            },
            wants: vec![self.want(lane)],
        }
    }

    /// Room at a host that a packet of a class takes, if it takes any.
    fn room(&self, answers: &dyn AnswersShown, (host, class): (HostRow, u16)) -> Option<Room> {
        let (view, shared) = (self.view, self.view.shared());
        let (places, needs) = view.shown().demand?(view.world(), class)?;
        let control = shared.traffic.classes[usize::from(class)].control.as_ref();
        let of_class = control?.answers;
        let port = view.place().port(host);
        let queued = shared.numbering.lanes_of(port).map(|lane| {
            let number = shared.numbering.number(lane);
            let queue = shared.numbering.source_queue(host, number);
            let all = answers.queued(queue).iter();
            let mine = all.filter(|queued| queued.packet.class == of_class);
            ((self.channels[port], number as u8), mine.count() as u32)
        });
        Some(Room {
            places,
            needs,
            queued: queued.filter(|(_, packets)| *packets > 0).collect(),
        })
    }
}
