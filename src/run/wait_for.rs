//! Who waits for whom: the wait-for graph of a fabric that does not move, and a cycle in it.
//!
//! A node is a lane buffer: (incoming channel, lane). Its blocked head wants a lane of an output channel
//! that lacks credits, so it waits for the lane buffer at the other end of that channel. With VOQ a lane buffer can
//! have several blocked heads. With open adaptive routing a head waits for one of several buffers; it is blocked when none
//! of them has room, and only heads that wait for each other are kept. A head that waits for room in an output lane is no node: a channel sends what waits
//! there, whose credits are taken, without asking anyone. A cycle of such waits never resolves by itself.
//!
//! Cost: O(queues) once, when a run has stopped making progress.

use super::simulation::Simulation;
use crate::cycle::Columns;
use crate::cycle::ledger::Channels;
use crate::cycle::mechanisms::adaptive::Choice;
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
        for (row, queue) in view.queues().enumerate() {
            if queue.head == PacketRow::NONE || !queue.requesting {
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
            let lane = shared.switch.classifier.lane(row);
            let incoming = channels[shared.numbering.port(lane)].reverse();
            let packet = &view.packets()[queue.head];
            let record = &view.records()[queue.head];
            // all lanes of a port fill one pool
            let counted = |lane| shared.numbering.number(shared.credit_lane(lane)) as u8;
            let buffer = (incoming, counted(lane));
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
                }
            }));
            self.graph.open |= shared.switch.open;
        }
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
                Endpoint::Host(host) => graph.hosts()[host.index()].name.clone(),
            };
            let wanted = match graph.channel(wait.wants.0).from {
                Endpoint::Switch(_, port) => format!("output port {port} lane {wanted_lane}"),
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
