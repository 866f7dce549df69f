//! The channel dependency graph: which (channel, lane) waits for which, and whether in a circle.
//!
//! Vertices are (channel, lane) of channels between switches; host channels are left out, because nothing
//! leads into an injection channel and nothing out of an ejection channel, so no cycle contains one. Where hosts hold
//! packets back ([`DependencyGraph::with_hosts`]) they are vertices, too.
//! Dependencies can be added from several threads; the result does not depend on their order.
//!
//! Cost: memory one bit per (input port, output port, lane, lane) of each switch; finding a cycle is
//! O(vertices + dependencies) when there is none.
//!
//! # Algorithm
//! 1. Vertices without predecessor are removed until none is left to remove; the graph is acyclic exactly
//!    when nothing remains (Kahn).
//! 2. Likewise vertices without successor: what remains are cycles and ways between them.
//! 3. From each remaining vertex, the first 256 in id order, a breadth-first search for the way
//!    back; the shortest cycle found, the first on ties, is reported from its lowest vertex on.
//!
//! References: [`DALLY_SEITZ`](crate::references::DALLY_SEITZ)

use crate::ids::{ChannelId, VlId};
use crate::topology::{Endpoint, Graph};
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

/// Starting vertices tried for a short cycle: enough to find the shortest in small fabrics; raising it makes
/// the report of a large cyclic fabric slower, never the proof of an acyclic one.
const SEARCHES: usize = 256;

/// A set of bits that may be set from several threads.
#[derive(Debug)]
struct Bits(Vec<AtomicU64>);

impl Bits {
    fn new(bits: usize) -> Self {
        Self((0..bits.div_ceil(64)).map(|_| AtomicU64::new(0)).collect())
    }

    #[inline]
    fn set(&self, bit: usize) {
        let (word, mask) = (&self.0[bit / 64], 1 << (bit % 64));
        // looking first keeps the cache line shared between threads
        if word.load(Ordering::Relaxed) & mask == 0 {
            word.fetch_or(mask, Ordering::Relaxed);
        }
    }

    fn contains(&self, bit: usize) -> bool {
        self.word(bit / 64) >> (bit % 64) & 1 == 1
    }

    fn word(&self, word: usize) -> u64 {
        self.0[word].load(Ordering::Relaxed)
    }

    fn count(&self) -> u64 {
        (0..self.0.len())
            .map(|word| u64::from(self.word(word).count_ones()))
            .sum()
    }
}

/// Place of the rows of a channel.
#[derive(Clone, Copy, Debug)]
struct RowPlace {
    /// First word.
    first: u32,
    /// Words per row; 0 for channels to hosts, without hosts also for those from hosts.
    words: u32,
}

/// What waits for what, over (channel, lane).
#[derive(Debug)]
pub struct DependencyGraph<'a> {
    graph: &'a Graph,
    lanes: usize,
    /// Where the rows of a channel are, one row per lane; `[channel]`.
    rows: Vec<RowPlace>,
    dependencies: Bits,
    used: Bits,
    /// Dependencies that are no turns at a switch, (vertex, vertex), ascending.
    indirect: Vec<(u32, u32)>,
}

impl<'a> DependencyGraph<'a> {
    /// No dependencies yet, `lanes` lanes on every channel.
    pub fn new(graph: &'a Graph, lanes: u8) -> Self {
        Self::build(graph, lanes, false)
    }

    /// The same with the channels of hosts.
    pub fn with_hosts(graph: &'a Graph, lanes: u8) -> Self {
        Self::build(graph, lanes, true)
    }

    fn build(graph: &'a Graph, lanes: u8, hosts: bool) -> Self {
        let lanes = usize::from(lanes);
        let mut rows = Vec::with_capacity(graph.channels().len());
        let mut words = 0;
        for channel in graph.channels() {
            let row = match channel.to {
                Endpoint::Switch(switch, _) if hosts || channel.from.switch().is_some() => {
                    (graph.ports(switch).len() * lanes).div_ceil(64)
                }
                _ => 0,
            };
            rows.push(RowPlace {
                first: words as u32,
                words: row as u32,
            });
            words += row * lanes;
        }
        Self {
            graph,
            lanes,
            rows,
            dependencies: Bits::new(words * 64),
            used: Bits::new(graph.channels().len() * lanes),
            indirect: Vec::new(),
        }
    }

    /// Number of a (channel, lane).
    pub fn vertex(&self, channel: ChannelId, lane: VlId) -> usize {
        channel.index() * self.lanes + lane.index()
    }

    /// Packets on the first vertex of each pair may come to wait for the second one after other channels.
    pub fn add_indirect(&mut self, pairs: Vec<(u32, u32)>) {
        self.indirect.extend(pairs);
        self.indirect.sort_unstable();
        self.indirect.dedup();
    }

    /// Packets use `lane` of `channel`.
    #[inline]
    pub fn add_vertex(&self, channel: ChannelId, lane: VlId) {
        self.used.set(self.vertex(channel, lane));
    }

    /// Packets on `lane` of `from` may wait for `next_lane` of `to`, a channel out of the switch that `from`
    /// leads to.
    #[inline]
    pub fn add(&self, from: ChannelId, lane: VlId, to: ChannelId, next_lane: VlId) {
        if let Endpoint::Switch(_, port) = self.graph.channel(to).from {
            self.add_to_port(from, lane, port, next_lane);
        }
    }

    /// As [`Self::add`], for the channel out of `port` of the switch that `from` leads to.
    #[inline]
    pub(super) fn add_to_port(&self, from: ChannelId, lane: VlId, port: u16, next_lane: VlId) {
        let place = self.rows[from.index()];
        let row = place.first as usize + lane.index() * place.words as usize;
        let column = usize::from(port - 1) * self.lanes + next_lane.index();
        self.dependencies.set(row * 64 + column);
    }

    /// Packets on `lane` of every channel wait for each other as those on `known` do.
    pub(super) fn repeat(&self, known: VlId, lane: VlId) {
        for (number, place) in self.rows.iter().enumerate() {
            let channel = ChannelId::from(number);
            if self.used.contains(self.vertex(channel, known)) {
                self.add_vertex(channel, lane);
            }
            let words = place.words as usize;
            let row = |lane: VlId| (place.first as usize + lane.index() * words) * 64;
            for column in (known.index()..words * 64).step_by(self.lanes) {
                if self.dependencies.contains(row(known) + column) {
                    let own = row(lane) + column - known.index() + lane.index();
                    self.dependencies.set(own);
                }
            }
        }
    }

    /// Number of (channel, lane) in use.
    pub fn vertices(&self) -> u64 {
        self.used.count()
    }

    /// Number of dependencies.
    pub fn dependencies(&self) -> u64 {
        self.dependencies.count() + self.indirect.len() as u64
    }

    /// Number of channels between switches in use.
    pub fn channels_used(&self) -> usize {
        let used = |vertex: usize| self.used.contains(vertex);
        (0..self.rows.len())
            .filter(|channel| (0..self.lanes).any(|lane| used(channel * self.lanes + lane)))
            .count()
    }

    /// Calls `visit` for every vertex that `vertex` waits for.
    fn successors(&self, vertex: usize, mut visit: impl FnMut(usize)) {
        let (channel, lane) = (vertex / self.lanes, vertex % self.lanes);
        let first = self
            .indirect
            .partition_point(|&(from, _)| (from as usize) < vertex);
        let indirect = self.indirect[first..].iter();
        for &(_, to) in indirect.take_while(|&&(from, _)| from as usize == vertex) {
            visit(to as usize);
        }
        let place = self.rows[channel];
        let words = place.words as usize;
        if words == 0 {
            return;
        }
        let Some(switch) = self.graph.channels()[channel].to.switch() else {
            return;
        };
        let row = place.first as usize + lane * words;
        for word in 0..words {
            let mut bits = self.dependencies.word(row + word);
            while bits != 0 {
                let column = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let port = (column / self.lanes) as u16 + 1;
                if let Some(next) = self.graph.port_channel(switch, port) {
                    visit(next.index() * self.lanes + column % self.lanes);
                }
            }
        }
    }

    /// A shortest cycle among those looked at, starting with its lowest vertex; `None` when there is none.
    pub fn find_cycle(&self) -> Option<Vec<(ChannelId, VlId)>> {
        let core = self.core()?;
        let mut best: Option<Vec<usize>> = None;
        let mut came_from = vec![usize::MAX; core.len()];
        let starts = (0..core.len()).filter(|&vertex| !core[vertex].is_empty());
        for start in starts.take(SEARCHES) {
            let limit = best.as_ref().map_or(usize::MAX, Vec::len);
            if let Some(cycle) = shortest_cycle_through(start, &core, &mut came_from, limit) {
                best = Some(cycle);
            }
        }
        let mut cycle = best?;
        let lowest = (0..cycle.len()).min_by_key(|&i| cycle[i])?;
        cycle.rotate_left(lowest);
        let name = |vertex| {
            (
                ChannelId::from(vertex / self.lanes),
                VlId::from(vertex % self.lanes),
            )
        };
        Some(cycle.into_iter().map(name).collect())
    }

    /// A number for every vertex, above those of all that wait for it; `None` when there is a cycle.
    pub fn levels(&self) -> Option<Vec<u32>> {
        let (order, predecessors) = self.first_to_last();
        if order.len() < predecessors.len() {
            return None;
        }
        let mut levels = vec![0; order.len()];
        for vertex in order {
            let above = levels[vertex] + 1;
            self.successors(vertex, |next| levels[next] = above.max(levels[next]));
        }
        Some(levels)
    }

    /// Step 1: the removed vertices in the order of removal, and the predecessors that all others still have.
    fn first_to_last(&self) -> (Vec<usize>, Vec<u32>) {
        let count = self.rows.len() * self.lanes;
        let mut predecessors = vec![0u32; count];
        for vertex in 0..count {
            self.successors(vertex, |next| predecessors[next] += 1);
        }
        let mut removed: Vec<usize> = (0..count).filter(|&v| predecessors[v] == 0).collect();
        let mut head = 0;
        while let Some(&vertex) = removed.get(head) {
            head += 1;
            self.successors(vertex, |next| {
                predecessors[next] -= 1;
                if predecessors[next] == 0 {
                    removed.push(next);
                }
            });
        }
        (removed, predecessors)
    }

    /// Steps 1 and 2: successors of each vertex on or between cycles; `None` when there is none.
    fn core(&self) -> Option<Vec<Vec<usize>>> {
        let (removed, predecessors) = self.first_to_last();
        let count = predecessors.len();
        if removed.len() == count {
            return None;
        }
        // what is left has predecessors that are left; now the same against the arrows
        let mut waiting = vec![Vec::new(); count];
        let mut successors = vec![0u32; count];
        for vertex in (0..count).filter(|&vertex| predecessors[vertex] > 0) {
            self.successors(vertex, |next| {
                waiting[next].push(vertex);
                successors[vertex] += 1;
            });
        }
        let mut ends: Vec<usize> = (0..count)
            .filter(|&vertex| predecessors[vertex] > 0 && successors[vertex] == 0)
            .collect();
        while let Some(end) = ends.pop() {
            for &vertex in &waiting[end] {
                successors[vertex] -= 1;
                if successors[vertex] == 0 {
                    ends.push(vertex);
                }
            }
        }
        let mut core = vec![Vec::new(); count];
        for vertex in (0..count).filter(|&vertex| successors[vertex] > 0) {
            self.successors(vertex, |next| {
                if successors[next] > 0 {
                    core[vertex].push(next);
                }
            });
        }
        Some(core)
    }
}

/// The shortest cycle through `start` when it has fewer than `limit` vertices. `came_from` is all
/// `usize::MAX` before and after.
fn shortest_cycle_through(
    start: usize,
    successors: &[Vec<usize>],
    came_from: &mut [usize],
    limit: usize,
) -> Option<Vec<usize>> {
    let mut queue = vec![(start, 1)];
    let mut head = 0;
    let mut last = None;
    'search: while let Some(&(vertex, length)) = queue.get(head) {
        head += 1;
        if length >= limit {
            break;
        }
        for &next in &successors[vertex] {
            if next == start {
                last = Some(vertex);
                break 'search;
            }
            if came_from[next] == usize::MAX {
                came_from[next] = vertex;
                queue.push((next, length + 1));
            }
        }
    }
    let cycle = last.map(|last| {
        let mut cycle = vec![last];
        while cycle[cycle.len() - 1] != start {
            cycle.push(came_from[cycle[cycle.len() - 1]]);
        }
        cycle.reverse();
        cycle
    });
    for (vertex, _) in queue {
        came_from[vertex] = usize::MAX;
    }
    cycle
}

/// A cycle for people, one line per (channel, lane).
pub fn describe_cycle(graph: &Graph, cycle: &[(ChannelId, VlId)]) -> String {
    let mut text = String::new();
    for (i, &(channel, lane)) in cycle.iter().enumerate() {
        let ends = graph.channel(channel);
        let (from, to) = (graph.endpoint_name(ends.from), graph.endpoint_name(ends.to));
        let then = match ends.to {
            _ if i + 1 == cycle.len() => "waits for the first",
            Endpoint::Host(_) => "is held back for answers in",
            Endpoint::Switch(..) => "waits for",
        };
        let _ = writeln!(text, "{from} -> {to}, lane {lane}, {then}");
    }
    text.truncate(text.trim_end().len());
    text
}
