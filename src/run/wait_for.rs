//! Who waits for whom: the wait-for graph of a fabric that does not move, and a cycle in it.
//!
//! A node is a lane buffer: (incoming channel, lane). Its blocked head wants a lane of an output channel
//! that lacks credits, so it waits for the lane buffer at the other end of that channel. With VOQ a lane buffer can
//! have several blocked heads. With open adaptive routing a head waits for one of several buffers; it is blocked when none
//! of them has room, and only heads that wait for each other are kept. A head that waits for room in an output lane is no node: a channel sends what waits
//! there, whose credits are taken, without asking anyone. A packet that its host holds back (D57) waits for the answers
//! that keep its room: for the buffers that the heads of their control queues lack credits of, when all of these lack some.
//! Where packets stop half-way (D65) one that holds a lane without credits waits for that lane's buffer, and so do the heads
//! of the other lanes of its input, if it keeps that.
//! A cycle of such waits never resolves by itself.
//!
//! Cost: O(queues) once, when a run has stopped making progress.

use super::simulation::Simulation;
use crate::cycle::Columns;
use crate::cycle::ledger::Channels;
use crate::cycle::mechanisms::adaptive::Choice;
use crate::cycle::mechanisms::answer_rooms::AnswerRooms;
use crate::cycle::mechanisms::control::Answers;
use crate::cycle::mechanisms::wormhole::Held;
use crate::fabric::rows::{LaneRow, PacketRow, QueueRow};
use crate::ids::{ChannelId, HostId};
use crate::run::shard::Inspect;
use crate::topology::{Endpoint, Graph};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// A lane buffer: the channel that fills it, and the lane.
type Buffer = (ChannelId, u8);

/// A blocked head.
#[derive(Clone, Copy, Debug)]
struct Wait {
    wants: Buffer,
    /// Lane it is on, and lane it wants.
    lanes: (u32, u32),
    source: HostId,
    destination: HostId,
    sequence: u32,
    class: u16,
    size: u16,
    behind: Behind,
}

/// Who else wants what a head waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Behind {
    /// Nobody: it wants it itself.
    Nobody,
    /// Answers that keep its room at its host.
    Answers,
    /// The packet that keeps its input.
    Keeper,
}

/// The wait-for graph.
#[derive(Debug, Default)]
pub struct WaitFor {
    waits: BTreeMap<Buffer, Vec<Wait>>,
    /// A head goes on when any of the buffers it waits for makes room, not only a certain one.
    open: bool,
}

/// Collects the blocked heads of one shard after the other.
struct Collect<'a> {
    channels: &'a [Vec<ChannelId>],
    shard: usize,
    graph: WaitFor,
}

impl Inspect for Collect<'_> {
    fn look(&mut self, view: &dyn Columns) {
        let channels = Channels::new(&self.channels[self.shard]);
        self.shard += 1;
        let shared = view.shared();
        let choices = view.column::<QueueRow, Choice>();
        self.graph.open |= shared.switch.open;
        for (row, queue) in view.queues().enumerate() {
            if queue.head == PacketRow::NONE {
                continue;
            }
            let lane = shared.switch.classifier.lane(row);
            if view.place().is_host(shared.numbering.port(lane)) {
                let wanted = held(view, lane, queue.head);
                self.add(view, channels, (lane, queue.head), &wanted, Behind::Answers);
                continue;
            }
            if !queue.requesting {
                continue;
            }
            let single = [shared.numbering.lane(queue.out, u32::from(queue.out_lane))];
            let several = choices.get(row).map(|choice| &choice.requests);
            let several = several.into_iter().flatten().map(|request| request.lane);
            let wanted: Vec<LaneRow> = if shared.switch.open {
                several.collect()
            } else {
                single.to_vec()
            };
            let lacks_credits =
                |&lane: &LaneRow| view.credits(shared.credit_lane(lane)).0 < u32::from(queue.size);
            if !wanted.iter().all(lacks_credits) {
                continue;
            }
            self.add(view, channels, (lane, queue.head), &wanted, Behind::Nobody);
        }
        self.add_holders(view, channels);
    }
}

impl Collect<'_> {
    /// Packets that stopped half-way (D65): what is left of them waits for credits of the lane that they hold.
    fn add_holders(&mut self, view: &dyn Columns, channels: Channels<'_>) {
        let shared = view.shared();
        for (wanted, held) in view.column::<LaneRow, Held>().enumerate() {
            let Some((queue, holder)) = held.holder().filter(|_| view.credits(wanted).0 == 0)
            else {
                continue;
            };
            let lane = shared.switch.classifier.lane(queue);
            let number = |lane| shared.numbering.number(lane);
            let (input, out) = (shared.numbering.port(lane), shared.numbering.port(wanted));
            let buffer = (channels[input].reverse(), number(lane) as u8);
            self.graph.waits.entry(buffer).or_default().push(Wait {
                wants: (channels[out], number(wanted) as u8),
                lanes: (number(lane), number(wanted)),
                source: HostId(holder.source),
                destination: HostId(holder.destination),
                sequence: holder.sequence,
                class: holder.class,
                size: holder.size,
                behind: Behind::Nobody,
            });
            if shared.switch.kept_inputs {
                self.add_beside(view, channels, lane, wanted);
            }
        }
    }

    /// Heads of the other lanes of an input that the packet in `lane` keeps.
    fn add_beside(
        &mut self,
        view: &dyn Columns,
        channels: Channels<'_>,
        lane: LaneRow,
        wanted: LaneRow,
    ) {
        let shared = view.shared();
        let port = shared.numbering.port(lane);
        for beside in shared.numbering.lanes_of(port) {
            let queue = &view.queues()[shared.switch.classifier.behind(beside, 0)];
            if queue.requesting {
                self.add(
                    view,
                    channels,
                    (beside, queue.head),
                    &[wanted],
                    Behind::Keeper,
                );
            }
        }
    }

    /// The head of an input lane waits for these lanes.
    fn add(
        &mut self,
        view: &dyn Columns,
        channels: Channels<'_>,
        (lane, head): (LaneRow, PacketRow),
        wanted: &[LaneRow],
        behind: Behind,
    ) {
        if wanted.is_empty() {
            return;
        }
        let shared = view.shared();
        let port = shared.numbering.port(lane);
        let (packet, record) = (&view.packets()[head], &view.records()[head]);
        // all lanes of a port fill one pool
        let counted = |lane| shared.numbering.number(shared.credit_lane(lane)) as u8;
        let buffer = (channels[port].reverse(), counted(lane));
        let waits = self.graph.waits.entry(buffer).or_default();
        waits.extend(wanted.iter().map(|&wanted| {
            let out = shared.numbering.port(wanted);
            Wait {
                wants: (channels[out], counted(wanted)),
                lanes: (
                    shared.numbering.number(lane),
                    shared.numbering.number(wanted),
                ),
                source: HostId(record.source),
                destination: HostId(packet.destination),
                sequence: record.sequence,
                class: record.class,
                size: packet.size,
                behind,
            }
        }));
    }
}

/// Lanes that a packet at its host waits for: those of the answers that keep its room, when all of them lack credits.
fn held(view: &dyn Columns, lane: LaneRow, packet: PacketRow) -> Vec<LaneRow> {
    let (shared, place) = (view.shared(), view.place());
    let (Some(rooms), Some(answers)) = (view.resource::<AnswerRooms>(), view.resource::<Answers>())
    else {
        return Vec::new();
    };
    let port = shared.numbering.port(lane);
    let (host, class) = (place.host(port), view.records()[packet].class);
    if rooms.has_room(host, class) {
        return Vec::new();
    }
    let own = &shared.traffic.classes[usize::from(class)].control;
    let Some(of_class) = own.as_ref().map(|control| control.answers) else {
        return Vec::new();
    };
    let queue = |lane| {
        shared
            .numbering
            .source_queue(host, shared.numbering.number(lane))
    };
    let lanes = shared.numbering.lanes_of(port);
    let lanes: Vec<LaneRow> = lanes
        .filter(|&lane| answers.has(queue(lane), of_class))
        .collect();
    let lacks_credits = |&lane: &LaneRow| {
        let needed = answers.front(queue(lane)).unwrap_or(0);
        view.credits(shared.credit_lane(lane)).0 < u32::from(needed)
    };
    if lanes.iter().all(lacks_credits) {
        lanes
    } else {
        Vec::new()
    }
}

impl WaitFor {
    /// The graph of the present state.
    pub fn of(simulation: &mut Simulation) -> Self {
        let channels = simulation.port_channels().to_vec();
        let mut collect = Collect {
            channels: &channels,
            shard: 0,
            graph: Self::default(),
        };
        simulation.inspect(&mut collect);
        let mut graph = collect.graph;
        if graph.open {
            graph.keep_stuck();
        }
        graph
    }

    /// Drops every head that waits for a buffer that can make room, until all that are left wait for each other.
    fn keep_stuck(&mut self) {
        loop {
            let known = self.waits.len();
            let stuck: BTreeSet<Buffer> = self.waits.keys().copied().collect();
            self.waits
                .retain(|_, waits| waits.iter().all(|wait| stuck.contains(&wait.wants)));
            if self.waits.len() == known {
                return;
            }
        }
    }

    /// Number of blocked heads.
    pub fn len(&self) -> usize {
        self.waits.values().map(Vec::len).sum()
    }

    /// Whether no head is blocked for lack of credits.
    pub fn is_empty(&self) -> bool {
        self.waits.is_empty()
    }

    /// A cycle, if there is one: buffers in waiting order, each with the blocked head that waits.
    fn cycle(&self) -> Option<Vec<(Buffer, Wait)>> {
        let mut done: BTreeMap<Buffer, bool> = BTreeMap::new();
        for &start in self.waits.keys() {
            if done.contains_key(&start) {
                continue;
            }
            // path of (buffer, number of the wait that is being followed)
            let mut path: Vec<(Buffer, usize)> = vec![(start, 0)];
            done.insert(start, false);
            while let Some(&mut (buffer, ref mut next)) = path.last_mut() {
                let Some(&wait) = self.waits.get(&buffer).and_then(|waits| waits.get(*next)) else {
                    done.insert(buffer, true);
                    path.pop();
                    continue;
                };
                *next += 1;
                match done.get(&wait.wants) {
                    Some(false) => return Some(self.close(&path, wait.wants)),
                    Some(true) => {}
                    None => {
                        done.insert(wait.wants, false);
                        path.push((wait.wants, 0));
                    }
                }
            }
        }
        None
    }

    /// The part of the path from `buffer` on, with the waits that were followed.
    fn close(&self, path: &[(Buffer, usize)], buffer: Buffer) -> Vec<(Buffer, Wait)> {
        let start = path.iter().position(|&(at, _)| at == buffer).unwrap_or(0);
        path[start..]
            .iter()
            .map(|&(at, next)| (at, self.waits[&at][next - 1]))
            .collect()
    }

    /// The cycle in words, one line per packet; `None` without one.
    pub fn describe(&self, graph: &Graph) -> Option<String> {
        let cycle = self.cycle()?;
        let mut text = format!("wait-for cycle of {} packets:", cycle.len());
        for ((channel, _), wait) in cycle {
            let (lane, wanted_lane) = wait.lanes;
            let place = match graph.channel(channel).to {
                Endpoint::Switch(switch, port) => {
                    format!(
                        "{} input port {port} lane {lane}",
                        graph.switches()[switch.index()].name
                    )
                }
                Endpoint::Host(host) => {
                    format!("{} lane {lane}", graph.hosts()[host.index()].name)
                }
            };
            let wanted = match graph.channel(wait.wants.0).from {
                Endpoint::Switch(_, port) if wait.behind == Behind::Keeper => {
                    format!(
                        "its input, kept by one that waits for output port {port} lane {wanted_lane}"
                    )
                }
                Endpoint::Switch(_, port) => format!("output port {port} lane {wanted_lane}"),
                Endpoint::Host(_) if wait.behind == Behind::Answers => {
                    format!("room for its answer, behind answers for lane {wanted_lane}")
                }
                Endpoint::Host(_) => String::from("its channel"),
            };
            let next = graph.endpoint_name(graph.channel(wait.wants.0).to);
            let name = |host: HostId| &graph.hosts()[host.index()].name;
            let _ = write!(
                text,
                "\n  {place}: packet {} of class {} from {} to {} ({} flits) waits for {wanted} (full buffer at {next})",
                wait.sequence,
                wait.class,
                name(wait.source),
                name(wait.destination),
                wait.size
            );
        }
        Some(text)
    }
}
