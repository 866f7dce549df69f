//! Traffic in expectation: how much every host sends to every other one.
//!
//! What a source spreads evenly over many hosts is kept as one number, so that uniform traffic of all hosts takes
//! O(hosts) memory and its load on channels one pass over each tree of ways. Amounts are whole numbers: sums do not
//! depend on their order.

use super::cuts::Between;
use crate::ids::HostId;
use crate::routing::proof::walk::Rows;
use crate::topology::Graph;
use crate::traffic::{Members, Pattern, Receivers};
use std::collections::BTreeMap;

/// One flit per cycle. A power of two above 2^53 times the smallest rate, and far enough below 2^128 for the sum of all hosts.
pub(super) const UNIT: f64 = (1u128 << 96) as f64;

/// Who sends how much to whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    pools: Vec<Pool>,
    /// Sources and what they send, `[destination]`.
    flows: Vec<Vec<(HostId, u128)>>,
}

/// Hosts that receive alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pool {
    members: Members,
    /// Whether a source that is a member sends to itself.
    to_itself: bool,
    /// What each host sends to each member, `[host]`.
    to_each: Vec<u128>,
}

impl Pool {
    /// Whether `host` receives from the pool.
    pub(super) fn receives(&self, host: HostId) -> bool {
        self.members.position(host).is_some()
    }

    /// What `host` sends to every member.
    pub(super) fn to_each(&self, host: HostId) -> u128 {
        self.to_each[host.index()]
    }

    /// What `host` would send to itself but does not.
    pub(super) fn left_out(&self, host: HostId) -> u128 {
        if !self.to_itself && self.receives(host) {
            self.to_each(host)
        } else {
            0
        }
    }

    /// What enters at each row for every member.
    pub(super) fn entering(&self, graph: &Graph, rows: &Rows) -> Vec<u128> {
        let mut entering = vec![0; rows.switch.len()];
        for (host, amount) in graph.host_ids().zip(&self.to_each) {
            if let Some(sum) = entering.get_mut(rows.of_host(graph, host) as usize) {
                *sum += amount;
            }
        }
        entering
    }
}

impl Demand {
    /// None among `hosts` hosts.
    pub fn none(hosts: usize) -> Self {
        Self {
            pools: Vec::new(),
            flows: vec![Vec::new(); hosts],
        }
    }

    /// One for every ordered pair of hosts: amounts are counts of pairs.
    pub(super) fn pairs(hosts: usize) -> Self {
        let mut demand = Self::none(hosts);
        demand.pools.push(Pool {
            members: Members::All(hosts as u32),
            to_itself: false,
            to_each: vec![1; hosts],
        });
        demand
    }

    /// Every host to all others alike, each with the full rate of its link.
    pub fn uniform(graph: &Graph) -> Self {
        let members = Members::All(graph.hosts().len() as u32);
        let mut demand = Self::none(graph.hosts().len());
        for host in graph.host_ids() {
            demand.spread(host, link_rate(graph, host), Receivers::Others(&members));
        }
        demand
    }

    /// Adds what `hosts` send under a pattern, each `load` of the rate of its own link.
    pub fn add(&mut self, graph: &Graph, pattern: &dyn Pattern, hosts: &[HostId], load: f64) {
        for &host in hosts {
            let rate = load * link_rate(graph, host);
            for share in pattern.shares(host) {
                self.spread(host, rate * share.part, share.to);
            }
        }
    }

    /// Adds what hosts send to each other, each with the full rate of its link to all others alike.
    pub fn add_among(&mut self, graph: &Graph, hosts: &[HostId]) {
        let members = Members::Some(hosts.to_vec());
        for &host in hosts {
            self.spread(host, link_rate(graph, host), Receivers::Others(&members));
        }
    }

    /// Adds what one host sends to another \[flits per cycle\].
    pub fn add_flow(&mut self, source: HostId, destination: HostId, rate: f64) {
        self.spread(source, rate, Receivers::One(destination));
    }

    /// Adds a rate \[flits per cycle\] from `source`.
    fn spread(&mut self, source: HostId, rate: f64, to: Receivers<'_>) {
        let (members, to_itself) = match to {
            Receivers::One(to) => {
                self.flows[to.index()].push((source, (rate * UNIT) as u128));
                return;
            }
            Receivers::Each(members) => (members, true),
            Receivers::Others(members) => (members, false),
        };
        let own = u32::from(!to_itself && members.position(source).is_some());
        let count = members.len() - own;
        if count > 0 {
            let amount = (rate / f64::from(count) * UNIT) as u128;
            self.pool(members, to_itself).to_each[source.index()] += amount;
        }
    }

    /// The pool of these members.
    fn pool(&mut self, members: &Members, to_itself: bool) -> &mut Pool {
        let is_it = |pool: &Pool| pool.to_itself == to_itself && pool.members == *members;
        let place = self.pools.iter().position(is_it).unwrap_or_else(|| {
            self.pools.push(Pool {
                members: members.clone(),
                to_itself,
                to_each: vec![0; self.flows.len()],
            });
            self.pools.len() - 1
        });
        &mut self.pools[place]
    }

    /// The pools.
    pub(super) fn pools(&self) -> &[Pool] {
        &self.pools
    }

    /// Sources of flows to one host only, and what they send to it.
    pub(super) fn flows(&self, destination: HostId) -> &[(HostId, u128)] {
        &self.flows[destination.index()]
    }

    /// Whether anybody sends to `destination`.
    pub(super) fn reaches(&self, destination: HostId) -> bool {
        !self.flows(destination).is_empty() || self.pools.iter().any(|p| p.receives(destination))
    }

    /// What goes from switch to switch \[flits per cycle\].
    pub(super) fn between(&self, graph: &Graph) -> Between {
        let switches = graph.switches().len();
        let home = |host: HostId| graph.attachment(host).map(|(switch, _)| switch);
        let per_switch = |of: &dyn Fn(HostId) -> f64| {
            let mut sums = vec![0.0; switches];
            for host in graph.host_ids() {
                if let Some(switch) = home(host) {
                    sums[switch.index()] += of(host);
                }
            }
            sums
        };
        let pools = self.pools.iter().map(|pool| {
            let sent = per_switch(&|host| pool.to_each(host) as f64 / UNIT);
            let members = per_switch(&|host| f64::from(u8::from(pool.receives(host))));
            (sent, members)
        });
        let mut flows = BTreeMap::new();
        for (to, sources) in graph.host_ids().zip(&self.flows) {
            for &(from, amount) in sources {
                if let (Some(from), Some(to)) = (home(from), home(to)) {
                    *flows.entry((from, to)).or_insert(0.0) += amount as f64 / UNIT;
                }
            }
        }
        let flows = flows.into_iter().filter(|((from, to), _)| from != to);
        Between {
            pools: pools.collect(),
            flows: flows.map(|((from, to), rate)| (from, to, rate)).collect(),
        }
    }

    /// What passes the channels of hosts, `[channel]`; 0 for those between switches.
    pub(super) fn at_hosts(&self, graph: &Graph) -> Vec<u128> {
        let mut amounts = vec![0; graph.channels().len()];
        for host in graph.host_ids() {
            let injection = graph.host_channel(host);
            let pools = self.pools.iter();
            amounts[injection.index()] += pools
                .map(|pool| {
                    pool.to_each(host) * u128::from(pool.members.len()) - pool.left_out(host)
                })
                .sum::<u128>();
            let to_host = &mut amounts[injection.reverse().index()];
            *to_host += self.flows(host).iter().map(|flow| flow.1).sum::<u128>();
            for &(source, amount) in self.flows(host) {
                amounts[graph.host_channel(source).index()] += amount;
            }
        }
        for pool in &self.pools {
            let all: u128 = pool.to_each.iter().sum();
            for host in graph.host_ids().filter(|&host| pool.receives(host)) {
                let ejection = graph.host_channel(host).reverse();
                amounts[ejection.index()] += all - pool.left_out(host);
            }
        }
        amounts
    }
}

/// Rate of the link of a host \[flits per cycle\].
fn link_rate(graph: &Graph, host: HostId) -> f64 {
    let channel = graph.channel(graph.host_channel(host));
    1.0 / f64::from(channel.timing.cycles_per_flit)
}
