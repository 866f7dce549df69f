//! Which hosts have a way to which others under forwarding tables.
//!
//! Cost: time O(rows * hosts); memory one bit per (row that hosts send from, host).

use super::walk::{NONE, Rows, Ways, blocks};
use crate::ids::HostId;
use crate::routing::Tables;
use crate::topology::Graph;
use fixedbitset::FixedBitSet;

/// The pairs of hosts with a way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Place in `ways` of the row that each host sends from, `[host]`.
    place: Vec<u32>,
    hosts: usize,
    /// `[place][destination]`
    ways: FixedBitSet,
}

impl Reach {
    /// Follows tables that fit `graph`.
    pub fn new(graph: &Graph, tables: &Tables) -> Self {
        let hosts = graph.hosts().len();
        let rows = Rows::new(graph, tables);
        let of_host: Vec<u32> = graph.host_ids().map(|h| rows.of_host(graph, h)).collect();
        let mut senders = of_host.clone();
        senders.sort_unstable();
        senders.dedup();
        let place = |row: &u32| senders.partition_point(|other| other < row) as u32;
        let mut reach = Self {
            place: of_host.iter().map(place).collect(),
            hosts,
            ways: FixedBitSet::with_capacity(senders.len() * hosts),
        };
        let mut ways = Ways::default();
        for block in blocks(hosts) {
            let columns = tables.next.columns(&block);
            for (host, ports) in block.zip(&columns) {
                ways.follow(graph, &rows, ports, HostId::from(host));
                for (place, &row) in senders.iter().enumerate() {
                    let arrives = ways.hops.get(row as usize).is_some_and(|&h| h != NONE);
                    reach.ways.set(place * hosts + host, arrives);
                }
            }
        }
        reach
    }

    /// Whether packets from `source` arrive at `destination`.
    #[inline]
    pub fn has_way(&self, source: HostId, destination: HostId) -> bool {
        let place = self.place[source.index()] as usize;
        self.ways[place * self.hosts + destination.index()]
    }
}
