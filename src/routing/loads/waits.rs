//! Packets that may go before one on the way of every pair of hosts, from the links of the switches it passes.
//!
//! # Algorithm
//! The sum of [`worst_case`] by Horner's rule along the tree of ways to each destination, the nearest rows first.
//!
//! Cost: O(rows + hosts) per destination, in parallel over destinations.

use crate::ids::HostId;
use crate::qos::worst_case;
use crate::routing::Tables;
use crate::routing::proof::walk::{NONE, Rows, Ways, blocks};
use crate::topology::Graph;
use rayon::prelude::*;

/// The pair that waits longest of those with so many switches on their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Switches on the way.
    pub switches: u32,
    /// Packets that may go before.
    pub packets: u128,
    /// Source and destination, the first such pair.
    pub pair: (HostId, HostId),
}

/// The longest wait by switches on the way, fewest first; numbers of switches that no pair has are left out.
pub fn longest(graph: &Graph, tables: &Tables) -> Vec<Wait> {
    let hosts = graph.hosts().len();
    let rows = Rows::new(graph, tables);
    let links: Vec<u64> = rows
        .switch
        .iter()
        .map(|&switch| graph.connected_ports(switch).count() as u64)
        .collect();
    let of_host: Vec<u32> = graph.host_ids().map(|h| rows.of_host(graph, h)).collect();
    let found = blocks(hosts).into_par_iter().map(|block| {
        let ports = tables.next.columns(&block);
        let (mut ways, mut longest) = (Ways::default(), Vec::new());
        let mut packets = vec![0; links.len()];
        for (host, ports) in block.zip(&ports) {
            let to = HostId::from(host);
            ways.follow(graph, &rows, ports, to);
            for &row in ways.order.iter().rev() {
                let row = row as usize;
                let behind = match ways.parent[row] {
                    NONE => 0,
                    next => packets[next as usize],
                };
                packets[row] = worst_case::with_switch(links[row], behind);
            }
            for (from, &row) in (0..).map(HostId).zip(&of_host) {
                let hops = ways.hops.get(row as usize);
                if let Some(&hops) = hops.filter(|&&hops| hops != NONE && from != to) {
                    let (switches, pair) = (hops + 1, (from, to));
                    let packets = packets[row as usize];
                    take(
                        &mut longest,
                        Wait {
                            switches,
                            packets,
                            pair,
                        },
                    );
                }
            }
        }
        longest
    });
    let found = found.reduce(Vec::new, |mut all, more| {
        more.into_iter()
            .flatten()
            .for_each(|wait| take(&mut all, wait));
        all
    });
    found.into_iter().flatten().collect()
}

/// Keeps the longer of two waits over equally many switches, the first pair on ties.
fn take(longest: &mut Vec<Option<Wait>>, wait: Wait) {
    let place = wait.switches as usize;
    if place >= longest.len() {
        longest.resize(place + 1, None);
    }
    let is_longer = |known: &Wait| {
        (wait.packets, std::cmp::Reverse(wait.pair))
            > (known.packets, std::cmp::Reverse(known.pair))
    };
    if longest[place].as_ref().is_none_or(is_longer) {
        longest[place] = Some(wait);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::SlId;
    use crate::routing::tests::conformance::proof;
    use crate::routing::tests::graphs::{grid, irregular, tree};

    /// The same by walking every path.
    fn walked(graph: &Graph, tables: &Tables) -> Vec<(u32, u128)> {
        let mut longest: Vec<u128> = vec![0; 64];
        for (from, to) in graph
            .host_ids()
            .flat_map(|s| graph.host_ids().map(move |d| (s, d)))
        {
            if from == to {
                continue;
            }
            let path = tables.path(graph, from, to, SlId(0)).unwrap();
            let switches = path
                .iter()
                .filter_map(|&(c, _)| graph.channel(c).to.switch());
            let links: Vec<_> = switches
                .map(|s| graph.connected_ports(s).count() as u64)
                .collect();
            let place = &mut longest[links.len()];
            *place = (*place).max(worst_case::packets_ahead(links));
        }
        let found = (0..).zip(longest).filter(|(_, packets)| *packets > 0);
        found.collect()
    }

    #[test]
    fn waits_are_those_of_every_path() {
        for graph in [grid(&[3, 4], false, 2), tree(3, 3), irregular(20, 4, 3)] {
            let (tables, _) = proof(&graph, "Lash()", 15);
            let longest = longest(&graph, &tables);
            let found: Vec<_> = longest
                .iter()
                .map(|wait| (wait.switches, wait.packets))
                .collect();
            assert_eq!(found, walked(&graph, &tables));
            for wait in longest {
                let (from, to) = wait.pair;
                let path = tables.path(&graph, from, to, SlId(0)).unwrap();
                assert_eq!(path.len(), wait.switches as usize + 1);
            }
        }
    }
}
