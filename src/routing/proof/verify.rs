//! Proves what forwarding tables do, independently of the engine that made them.
//!
//! Guarantees: a [`Proof`] covers every (source, destination, service level) in use: all paths arrive, all
//! lanes exist, and what the engine declared (minimal, deadlock-free, lanes) holds. In-order delivery follows
//! from the form of the tables: one path and one sequence of lanes per (source, destination, service level).
//! Fails with: [`VerifyError`], for the first wrong pair in (destination, source switch) order.
//! Cost: time O(destinations * rows * path layers * distinct service levels), in parallel over
//! destinations, where layers and levels count once for hosts of a switch that share the ways to them; memory that of the [`DependencyGraph`] plus O(rows * path layers) per thread. Tables have
//! one row per switch, unless the input port matters.
//!
//! # Algorithm
//! 1. Towards one destination all ways form a tree (see `walk.rs`); rows are visited every one before
//!    its parent.
//! 2. Per (row, path layer) the set of lanes that packets use on the exit is collected from the sources
//!    attached and from the children; each (lane in, lane out) is a dependency.
//! 3. Service levels with equal lanes are followed once; with one lane, or one pool for all lanes, layers do
//!    not matter either. Where every level has one lane on all hops, the first is followed and stands for the others.
//!
//! References: [`DALLY_SEITZ`](crate::references::DALLY_SEITZ)

use super::conclude::{Followed, conclude};
use super::dependency_graph::DependencyGraph;
use super::lane_walk::{LaneWalk, Level, distinct_levels, require_sound};
use super::own_routes::{Beside, extend};
use super::pairs::Pairs;
use super::statement::{Proof, VerifyError, VerifyOptions};
use super::walk::{Common, DeadEnd, NONE, Rows, Ways, blocks, dead_end};
use crate::ids::{HostId, VlId};
use crate::routing::Tables;
use crate::routing::entries::Entries;
use crate::routing::paths::{Adjacency, UNREACHED};
use crate::topology::Graph;
use rayon::prelude::*;
use std::ops::Range;

/// All that is constant while destinations are followed.
struct Check<'a> {
    graph: &'a Graph,
    tables: &'a Tables,
    adjacency: Adjacency,
    rows: &'a Rows,
    senders: Vec<u32>,
    sends: Vec<bool>,
    receives: Vec<bool>,
    lanes: LaneWalk<'a>,
    allow_unreachable: bool,
}

/// Checks `tables` against `graph`.
///
/// A cycle is an error only when the tables declare to be deadlock-free and lanes have buffers of their own
/// (`pool_shared` breaks the premise of such a declaration); otherwise it is reported in the proof.
///
/// # Errors
/// [`VerifyError::Malformed`] for tables or lanes out of range, [`VerifyError::NoPath`] for a path that does
/// not arrive, [`VerifyError::NotMinimal`] and [`VerifyError::Cyclic`] for declarations that are not true.
pub fn verify(
    graph: &Graph,
    tables: &Tables,
    options: &VerifyOptions<'_>,
) -> Result<Proof, VerifyError> {
    verify_with(graph, tables, options, &Beside::default())
}

/// The same where packets also go over other routes, which no declaration of the tables is about: a cycle that comes with
/// them is reported in the proof.
///
/// # Errors
/// Those of [`verify`].
pub fn verify_with(
    graph: &Graph,
    tables: &Tables,
    options: &VerifyOptions<'_>,
    beside: &Beside<'_>,
) -> Result<Proof, VerifyError> {
    require_sound(graph, tables, options)?;
    let all: Vec<HostId> = graph.host_ids().collect();
    let senders = options.senders.unwrap_or(&all);
    let receivers = options.receivers.unwrap_or(&all);
    let rows = Rows::new(graph, tables);
    let merged = options.pool_shared || options.lanes == 1;
    let vertex_lanes = if merged { 1 } else { options.lanes };
    let dependencies = DependencyGraph::new(graph, vertex_lanes);
    let check = Check {
        graph,
        tables,
        adjacency: Adjacency::new(graph),
        senders: rows.senders(graph, senders),
        sends: membership(graph, senders),
        receives: membership(graph, receivers),
        lanes: LaneWalk {
            tables,
            levels: if merged {
                vec![Level::Always(VlId(0))]
            } else {
                distinct_levels(&tables.lanes, options.service_levels)
            },
            layers: tables
                .path_layer
                .iter()
                .max()
                .map_or(1, |most| usize::from(most) + 1),
            injections: rows.injections(graph, senders),
            rows: &rows,
            dependencies: &dependencies,
        },
        rows: &rows,
        allow_unreachable: options.allow_unreachable,
    };
    let total = check.all()?;
    let found = Followed {
        longest: total.histogram.len().saturating_sub(1) as u32,
        detour: total.detour,
        histogram: total.histogram,
        unreachable: total.unreachable,
        first_unreachable: total.first_unreachable,
        choices: None,
    };
    let promises = (tables.engine.as_str(), &tables.guarantees);
    let mut proof = conclude(graph, promises, options, &dependencies, found)?;
    extend(
        (graph, tables),
        beside,
        vertex_lanes,
        &dependencies,
        &mut proof,
    )?;
    Ok(proof)
}

fn membership(graph: &Graph, hosts: &[HostId]) -> Vec<bool> {
    let mut member = vec![false; graph.hosts().len()];
    for host in hosts {
        member[host.index()] = true;
    }
    member
}

impl Check<'_> {
    /// Follows all destinations.
    fn all(&self) -> Result<Pairs, VerifyError> {
        let parts: Vec<Result<Pairs, VerifyError>> = blocks(self.graph.hosts().len())
            .into_par_iter()
            .map(|hosts| self.block(&hosts))
            .collect();
        self.lanes.follow_twins();
        let mut total = Pairs::default();
        for part in parts {
            total.add(&part?);
        }
        Ok(total)
    }

    /// Follows a run of destinations.
    fn block(&self, hosts: &Range<usize>) -> Result<Pairs, VerifyError> {
        let ports = self.tables.next.columns(hosts);
        let layers = |table: &Entries| {
            if table.is_empty() {
                vec![Vec::new(); hosts.len()]
            } else {
                table.columns(hosts)
            }
        };
        let path_layers = layers(&self.tables.path_layer);
        let hop_layers = layers(&self.tables.hop_layer);
        let mut total = Pairs::default();
        let mut ways = Ways::default();
        let mut sets = Vec::new();
        let mut shortest = (None, Vec::new());
        // the destination followed before, and its pairs by hops
        let mut before: Option<usize> = None;
        let mut pairs = Pairs::default();
        for (i, host) in hosts.clone().enumerate() {
            let destination = HostId::from(host);
            let Some((home, _)) = self.graph.attachment(destination) else {
                continue;
            };
            if !self.receives[host] {
                continue;
            }
            if shortest.0 != Some(home) {
                shortest = (Some(home), self.adjacency.distances(&[home]));
            }
            let common = ways.follow(self.graph, self.rows, &ports[i], destination);
            let twin = before.filter(|_| common != Common::Nothing);
            // of packets to itself, which a host does not send
            let own_hops = |i: usize| {
                let row = self.rows.of_host(self.graph, HostId::from(hosts.start + i));
                ways.hops[row as usize]
            };
            let sent = |i: usize| self.sends[hosts.start + i].then(|| own_hops(i));
            // where a way does not arrive is looked at anew for every destination
            if pairs.unreachable > 0 || twin.is_none_or(|j| sent(j) != sent(i)) {
                pairs = self.count(destination, &ways, &shortest.1)?;
            }
            total.add(&pairs);
            let same_lanes =
                |j: usize| path_layers[j] == path_layers[i] && hop_layers[j] == hop_layers[i];
            // packets from the host before to this one were not followed with those to it
            let is_known = |j: usize| same_lanes(j) && own_hops(j) == 0;
            if common != Common::Ways || !twin.is_some_and(is_known) {
                let own = self.graph.host_channel(destination);
                let (ports, layer, hop) = (&ports[i], &path_layers[i], &hop_layers[i]);
                self.lanes.follow(own, ports, layer, &ways, hop, &mut sets);
            }
            before = Some(i);
        }
        Ok(total)
    }

    /// The pairs that end at `destination`, by hops.
    fn count(
        &self,
        destination: HostId,
        ways: &Ways,
        shortest: &[u16],
    ) -> Result<Pairs, VerifyError> {
        let mut found = Pairs::default();
        let own = self.rows.of_host(self.graph, destination) as usize;
        for (row, &senders) in self.senders.iter().enumerate() {
            let itself = row == own && self.sends[destination.index()];
            let pairs = u64::from(senders - u32::from(itself));
            if pairs == 0 {
                continue;
            }
            let switch = self.rows.switch[row].index();
            let (hops, least) = (ways.hops[row], shortest[switch]);
            if hops == NONE {
                let (end, reason) = dead_end(self.graph, self.tables, self.rows, row, destination);
                if !self.allow_unreachable || end != DeadEnd::NoEntry {
                    return Err(VerifyError::NoPath {
                        from: self.graph.switches()[switch].name.clone(),
                        to: self.graph.hosts()[destination.index()].name.clone(),
                        reason,
                        is_missing: end == DeadEnd::NoEntry,
                    });
                }
                found.unreachable += pairs;
                found.name(self.sources(row, destination), destination);
                continue;
            }
            debug_assert_ne!(least, UNREACHED, "a path exists");
            if hops > u32::from(least) && found.detour.is_none() {
                found.detour = Some(VerifyError::NotMinimal {
                    engine: self.tables.engine.clone(),
                    from: self.graph.switches()[switch].name.clone(),
                    to: self.graph.hosts()[destination.index()].name.clone(),
                    hops,
                    shortest: u32::from(least),
                });
            }
            found.count(hops, pairs);
        }
        Ok(found)
    }

    /// Hosts that send to `destination` from `row`.
    fn sources(&self, row: usize, destination: HostId) -> impl Iterator<Item = HostId> {
        let hosts = self.graph.host_ids();
        hosts.filter(move |&host| {
            host != destination
                && self.sends[host.index()]
                && self.rows.of_host(self.graph, host) as usize == row
        })
    }
}
