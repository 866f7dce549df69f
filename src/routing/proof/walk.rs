//! Follows forwarding tables towards one destination at a time, for all switches at once.
//!
//! Forwarding depends on row and destination only, so the ways to one destination form a tree of rows: one
//! pass over the rows (one per switch, unless the input matters) replaces one pass per path. Hosts of one
//! switch mostly have the same hops from everywhere, often the same ways: that is checked in one look at each
//! row, and tells the caller what it need not count again.
//!
//! Cost: O(rows) per destination.

use crate::ids::{ChannelId, HostId, SwitchId};
use crate::routing::entries::BLOCK;
use crate::routing::{Tables, UNREACHABLE};
use crate::topology::Graph;
use std::ops::Range;

/// No row, no channel, no way.
pub(in crate::routing) const NONE: u32 = u32::MAX;

/// Where channels lead to in the tables.
#[derive(Clone, Debug)]
pub(in crate::routing) struct Rows {
    /// Row that packets of a channel are looked up in, [`NONE`] when it leads to a host; `[channel]`.
    target: Vec<u32>,
    /// Switch of each row.
    pub(in crate::routing) switch: Vec<SwitchId>,
    /// First exit and number of exits, `[row]`; rows of one switch share them.
    ports: Vec<(u32, u32)>,
    /// Exits of all switches, in port order.
    exits: Vec<Exit>,
}

/// What is behind a port.
#[derive(Clone, Copy, Debug)]
struct Exit {
    /// Output channel, [`NONE`] without one.
    channel: u32,
    /// Row behind it, [`NONE`] when it leads to a host or nowhere.
    row: u32,
}

impl Exit {
    const NOWHERE: Self = Self {
        channel: NONE,
        row: NONE,
    };
}

impl Rows {
    /// The rows of `tables`, which fit `graph`.
    pub(in crate::routing) fn new(graph: &Graph, tables: &Tables) -> Self {
        let channels = graph.channel_ids();
        let target: Vec<u32> = channels.map(|c| tables.row_behind(graph, c)).collect();
        let (mut exits, mut of_switch) = (Vec::new(), Vec::new());
        for switch in graph.switch_ids() {
            let ports = graph.ports(switch);
            of_switch.push((exits.len() as u32, ports.len() as u32));
            exits.extend(ports.iter().map(|port| match port {
                Some(channel) => Exit {
                    channel: channel.0,
                    row: target[channel.index()],
                },
                None => Exit::NOWHERE,
            }));
        }
        let switch = tables.row_switches(graph);
        Self {
            ports: switch.iter().map(|s| of_switch[s.index()]).collect(),
            target,
            switch,
            exits,
        }
    }

    /// What is behind a port in the tables.
    #[inline]
    fn exit(&self, row: usize, port: u8) -> Exit {
        let (first, count) = self.ports[row];
        let place = u32::from(port).wrapping_sub(1);
        if port == UNREACHABLE || place >= count {
            return Exit::NOWHERE;
        }
        self.exits[(first + place) as usize]
    }

    /// Row of packets that `host` sends, [`NONE`] when it is not attached to a switch.
    pub(in crate::routing) fn of_host(&self, graph: &Graph, host: HostId) -> u32 {
        self.target[graph.host_channel(host).index()]
    }

    /// Hosts of a list by the row of what they send.
    pub(in crate::routing) fn senders(&self, graph: &Graph, hosts: &[HostId]) -> Vec<u32> {
        let mut count = vec![0; self.switch.len()];
        for &host in hosts {
            if let Some(count) = count.get_mut(self.of_host(graph, host) as usize) {
                *count += 1;
            }
        }
        count
    }

    /// Injection channels of a list of hosts by the row they lead to.
    pub(super) fn injections(&self, graph: &Graph, hosts: &[HostId]) -> Vec<Vec<ChannelId>> {
        let mut injections = vec![Vec::new(); self.switch.len()];
        for &host in hosts {
            if let Some(row) = injections.get_mut(self.of_host(graph, host) as usize) {
                row.push(graph.host_channel(host));
            }
        }
        injections
    }
}

/// The blocks of all destinations, in order: those that are handled together, so that tables are read in runs.
pub(in crate::routing) fn blocks(hosts: usize) -> Vec<Range<usize>> {
    (0..hosts)
        .step_by(BLOCK)
        .map(|start| start..hosts.min(start + BLOCK))
        .collect()
}

/// The ways from all rows to one destination.
#[derive(Clone, Debug, Default)]
pub(in crate::routing) struct Ways {
    /// Output channel of each row, [`NONE`] without one.
    pub(in crate::routing) exit: Vec<u32>,
    /// Next row, [`NONE`] when the exit leads to a host or nowhere.
    pub(in crate::routing) parent: Vec<u32>,
    /// Hops between switches to the destination, [`NONE`] for a row whose way does not arrive.
    pub(in crate::routing) hops: Vec<u32>,
    /// Rows whose ways arrive, farthest first, so every one before its parent.
    pub(in crate::routing) order: Vec<u32>,
    /// Switch of the destination.
    home: Option<SwitchId>,
    /// Rows passed whose hops are not known yet.
    passed: Vec<u32>,
    /// First place of the rows of each number of hops, farthest first.
    place: Vec<u32>,
}

/// What the ways to a destination have in common with those followed before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::routing) enum Common {
    /// Maybe nothing.
    Nothing,
    /// The switch of the destination and the hops of every row.
    Hops,
    /// These, and the exit of every row that does not lead to the destination itself.
    Ways,
}

/// Hops not looked for yet, and looked for.
const UNKNOWN: u32 = NONE - 1;
const OPEN: u32 = NONE - 2;

impl Ways {
    /// Follows `ports`, the output port of every row, towards `destination`.
    pub(in crate::routing) fn follow(
        &mut self,
        graph: &Graph,
        rows: &Rows,
        ports: &[u8],
        destination: HostId,
    ) -> Common {
        // the channel back from the destination is the reverse of its injection channel
        let last = graph.host_channel(destination).reverse().0;
        let home = graph.attachment(destination).map(|(switch, _)| switch);
        if home.is_some()
            && home == self.home
            && let Some(common) = self.follow_again(rows, ports, last)
        {
            return common;
        }
        self.home = home;
        self.exit.clear();
        self.parent.clear();
        for (row, &port) in ports.iter().enumerate() {
            let exit = rows.exit(row, port);
            self.exit.push(exit.channel);
            self.parent.push(exit.row);
        }
        self.count_hops(last);
        self.sort();
        Common::Nothing
    }

    /// Takes the exits of `ports` towards another host of the same switch when the hops known are right for
    /// them: by induction from the rows at the destination, if every other row has one hop more than the next.
    fn follow_again(&mut self, rows: &Rows, ports: &[u8], last: u32) -> Option<Common> {
        let mut common = Common::Ways;
        for (row, &port) in ports.iter().enumerate() {
            let exit = rows.exit(row, port);
            let known = self.hops[row];
            let hops = match exit.row {
                NONE if exit.channel == last => 0,
                NONE => NONE,
                // a row that leads to one that does not arrive may be on a loop
                next => self.hops[next as usize].checked_add(1)?,
            };
            if hops != known {
                return None;
            }
            if hops != 0 && exit.channel != self.exit[row] {
                common = Common::Hops;
            }
            self.exit[row] = exit.channel;
            self.parent[row] = exit.row;
        }
        Some(common)
    }

    fn count_hops(&mut self, last: u32) {
        self.hops.clear();
        self.hops.resize(self.exit.len(), UNKNOWN);
        for start in 0..self.exit.len() as u32 {
            let mut row = start;
            // hops of the last row passed
            let mut hops = loop {
                match self.hops[row as usize] {
                    UNKNOWN => {}
                    // a loop, or a way that does not arrive
                    OPEN | NONE => break None,
                    hops => break Some(hops + 1),
                }
                self.hops[row as usize] = OPEN;
                self.passed.push(row);
                match self.parent[row as usize] {
                    NONE if self.exit[row as usize] == last => break Some(0),
                    NONE => break None,
                    next => row = next,
                }
            };
            while let Some(row) = self.passed.pop() {
                self.hops[row as usize] = hops.unwrap_or(NONE);
                hops = hops.map(|hops| hops + 1);
            }
        }
    }

    fn sort(&mut self) {
        let arriving = || self.hops.iter().filter(|&&hops| hops != NONE);
        let most = arriving().max().map_or(0, |&most| most as usize);
        self.place.clear();
        self.place.resize(most + 2, 0);
        for &hops in arriving() {
            self.place[most + 1 - hops as usize] += 1;
        }
        for i in 1..self.place.len() {
            self.place[i] += self.place[i - 1];
        }
        self.order.clear();
        self.order.resize(self.place[most + 1] as usize, 0);
        for (row, &hops) in (0u32..).zip(&self.hops) {
            if hops != NONE {
                let place = &mut self.place[most - hops as usize];
                self.order[*place as usize] = row;
                *place += 1;
            }
        }
    }
}

/// How a way ends that does not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeadEnd {
    /// A switch has no entry.
    NoEntry,
    /// An entry leads nowhere, to another host or in a circle.
    Wrong,
}

/// How a way from row `start` that does not arrive ends, also in words.
pub(super) fn dead_end(
    graph: &Graph,
    tables: &Tables,
    rows: &Rows,
    start: usize,
    to: HostId,
) -> (DeadEnd, String) {
    let name = |switch: SwitchId| &graph.switches()[switch.index()].name;
    let (mut row, mut switch) = (start, rows.switch[start]);
    for _ in 0..=rows.switch.len() {
        let Some(port) = tables.next_port(row, to) else {
            return (DeadEnd::NoEntry, format!("{} has no entry", name(switch)));
        };
        let Some(channel) = graph.port_channel(switch, port) else {
            let words = format!("{} port {port} has no link", name(switch));
            return (DeadEnd::Wrong, words);
        };
        let to = graph.channel(channel).to;
        let Some(next) = to.switch() else {
            let end = graph.endpoint_name(to);
            let words = format!("{} port {port} leads to {end}", name(switch));
            return (DeadEnd::Wrong, words);
        };
        (row, switch) = (tables.row(channel, next), next);
    }
    let words = format!("it loops through {}", name(switch));
    (DeadEnd::Wrong, words)
}
