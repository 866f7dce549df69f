//! The routes towards every host and switch, one after the other, with counters of routes on every link.
//!
//! Cost: O(links) per destination; recursion as deep as the tree, and along linked switches of one rank.
//!
//! # Algorithm
//! 1. `climb` from a switch that has a route: first `descend`. Then, of the groups up by (routes down, index), the
//!    first, over its link with the fewest routes: the switch above gets the link as its way down, unless it knows one
//!    with no more hops; the counters rise; it climbs in turn. Only this is the *main* path. Then the
//!    other groups up and the siblings: a switch that knows no way with as few hops gets one and climbs,
//!    without counting.
//! 2. `descend` to all groups down by (routes up, index), then siblings, but the switch it came from: a switch that
//!    knows no way with as few hops gets the link with the fewest routes as its way up, and descends. When it has
//!    hosts below, group and link are counted.
//! 3. Routes to management ports have no main path.
//!
//! # Deviations
//! None. OpenSM also compares a counter of the switch above that it never raises: left out.

use super::fabric::{Fabric, Group, Port};
use crate::routing::UNREACHABLE;
use crate::routing::engines::opensm::subnet::{LidTables, Subnet};

/// No hops known.
const NO_HOPS: u16 = u16::MAX;

/// The tree while one destination is routed.
struct Routing<'a> {
    subnet: &'a Subnet,
    fabric: Fabric,
    /// Output port of every place.
    port: Vec<u8>,
    /// Hops of every place.
    hops: Vec<u16>,
    /// The destination is a missing host: siblings below do not matter.
    is_missing: bool,
}

/// Which routes are counted.
#[derive(Clone, Copy)]
enum Toward {
    Up,
    Down,
}

impl Toward {
    fn of_group(self, group: &Group) -> u32 {
        match self {
            Self::Up => group.up,
            Self::Down => group.down,
        }
    }

    fn of_port(self, port: &Port) -> u32 {
        match self {
            Self::Up => port.up,
            Self::Down => port.down,
        }
    }
}

/// The tables, with management ports as destinations when `switches` is true.
pub(in super::super) fn tables(subnet: &Subnet, fabric: Fabric, switches: bool) -> LidTables {
    let mut tables = LidTables::new(subnet, switches);
    let count = subnet.len();
    let mut routing = Routing {
        subnet,
        fabric,
        port: vec![UNREACHABLE; count],
        hops: vec![NO_HOPS; count],
        is_missing: false,
    };
    let leaves = routing.fabric.leaves.clone();
    let hosts = |leaf: &usize| subnet.hosts[*leaf].len();
    let fullest = leaves.iter().map(hosts).max().unwrap_or(0);
    for leaf in leaves {
        for &(port, host) in &subnet.hosts[leaf] {
            routing.route(leaf, port as u8, 1, true);
            routing.write(&mut tables, host.index());
        }
        routing.is_missing = true;
        for _ in subnet.hosts[leaf].len()..fullest {
            routing.route(leaf, UNREACHABLE, 1, true);
        }
        routing.is_missing = false;
    }
    if switches {
        for place in 0..count {
            routing.route(place, 0, 0, false);
            routing.write(&mut tables, subnet.host_count + place);
        }
    }
    tables
}

impl Routing<'_> {
    /// Routes towards one destination at `home`, `hops` away over `port`.
    fn route(&mut self, home: usize, port: u8, hops: u16, is_main: bool) {
        self.port.fill(UNREACHABLE);
        self.hops.fill(NO_HOPS);
        self.port[home] = port;
        self.hops[home] = hops;
        self.climb(home, None, is_main, hops);
    }

    fn write(&self, tables: &mut LidTables, column: usize) {
        for (row, &port) in tables.ports.chunks_mut(tables.columns).zip(&self.port) {
            row[column] = port;
        }
    }

    /// Step 2; tells whether there are hosts.
    fn descend(&mut self, at: usize, before: Option<usize>, hops: u16) -> bool {
        let mut found = !self.subnet.hosts[at].is_empty();
        if !found && self.fabric.switches[at].down.is_empty() {
            return false;
        }
        let mut groups = self.sorted(&self.fabric.switches[at].down, Toward::Up);
        self.fabric.switches[at].down.clone_from(&groups);
        let siblings = self.sorted(&self.fabric.switches[at].siblings, Toward::Up);
        self.fabric.switches[at].siblings.clone_from(&siblings);
        if !self.is_missing {
            groups.extend(siblings);
        }
        for group in groups {
            let to = self.fabric.groups[group].to;
            if before == Some(to) || hops + 1 >= self.hops[to] {
                continue;
            }
            let port = self.least(group, Toward::Up);
            self.lead(to, group, port, hops + 1);
            if self.descend(to, None, hops + 1) {
                found = true;
                self.fabric.groups[group].up += 1;
                self.fabric.groups[group].ports[port].up += 1;
            }
        }
        found
    }

    /// Step 1; tells whether there are hosts.
    fn climb(&mut self, at: usize, before: Option<usize>, is_main: bool, hops: u16) -> bool {
        let mut found = self.descend(at, before, hops);
        let groups = self.sorted(&self.fabric.switches[at].up, Toward::Down);
        let Some(&first) = groups.first() else {
            return found;
        };
        self.fabric.switches[at].up.clone_from(&groups);
        if is_main {
            let port = self.least(first, Toward::Down);
            self.fabric.groups[first].down += 1;
            self.fabric.groups[first].ports[port].down += 1;
            let to = self.fabric.groups[first].to;
            if self.is_better(to, hops + 1) {
                self.lead(to, first, port, hops + 1);
            }
            found |= self.climb(to, Some(at), true, hops + 1);
        }
        for &group in &groups[usize::from(is_main)..] {
            if self.is_better(self.fabric.groups[group].to, hops + 1) {
                found |= self.aside(at, group, hops).0;
            }
        }
        let siblings = self.sorted(&self.fabric.switches[at].siblings, Toward::Down);
        self.fabric.switches[at].siblings.clone_from(&siblings);
        for group in siblings {
            if self.is_better(self.fabric.groups[group].to, hops + 1) {
                let (has_hosts, port) = self.aside(at, group, hops);
                found |= has_hosts;
                if has_hosts {
                    // the group up is counted, with the link of the sibling: so does OpenSM
                    self.fabric.groups[first].down += 1;
                    self.fabric.groups[group].ports[port].down += 1;
                }
            }
        }
        found
    }

    /// A way over a group that is not the main path; tells whether there are hosts, and the link.
    fn aside(&mut self, at: usize, group: usize, hops: u16) -> (bool, usize) {
        let port = self.least(group, Toward::Down);
        let to = self.fabric.groups[group].to;
        self.lead(to, group, port, hops + 1);
        (self.climb(to, Some(at), false, hops + 1), port)
    }

    /// Whether a switch has no way yet, or one with more hops.
    fn is_better(&self, to: usize, hops: u16) -> bool {
        self.port[to] == UNREACHABLE || hops < self.hops[to]
    }

    /// Makes the other end of a link of a group the way of the switch there.
    fn lead(&mut self, to: usize, group: usize, port: usize, hops: u16) {
        let link = self.fabric.groups[group].ports[port].link;
        self.port[to] = self.subnet.links.all[link].peer_port as u8;
        self.hops[to] = hops;
    }

    /// The link of a group with the fewest routes, the first of several.
    fn least(&self, group: usize, toward: Toward) -> usize {
        let ports = self.fabric.groups[group].ports.iter().enumerate();
        let least = ports.min_by_key(|(_, port)| toward.of_port(port));
        least.map_or(0, |(place, _)| place)
    }

    /// Groups by their routes and the index of their switch.
    fn sorted(&self, groups: &[usize], toward: Toward) -> Vec<usize> {
        let mut groups = groups.to_vec();
        groups.sort_by_key(|&number| {
            let group = &self.fabric.groups[number];
            (toward.of_group(group), self.fabric.switches[group.to].index)
        });
        groups
    }
}
