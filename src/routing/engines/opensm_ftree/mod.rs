//! OpenSM's `ftree`: fat trees, a route towards every host balanced level by level, so that shifts do not contend.
//!
//! Guarantees: in order; equal to OpenSM's tables entry by entry. Minimal on regular trees. Deadlock-free (up, then
//! down) where no switches of one rank are linked.
//! Needs: a tree by OpenSM's criteria (`fabric.rs`), 1 lane.
//! Fails with: [`RoutingError::Unsupported`] for other fabrics, with the criterion that is not met;
//! [`RoutingError::Unreachable`] where the way up and down does not lead to all hosts.
//! Cost: time O(hosts * links); memory one byte per (switch, host).
//!
//! # Algorithm
//! 1. Ranks: hops from the roots, which are named, or are the switches farthest from any host. All hosts must be on
//!    switches of one rank, the leaves. Unless roots are named, all switches of a rank must be alike.
//! 2. Indices, groups of parallel links: see `fabric.rs`.
//! 3. The leaves are taken in the order of their indices, their hosts in port order. From each host its route is laid
//!    upward over the group and link with the fewest routes, from every switch on it to all others below, then over
//!    the other groups to the switches still without one, see `routes.rs`. A leaf with fewer hosts than
//!    the fullest gets routes to missing hosts, so that the counters stay in step.
//!
//! # Deviations
//! Without files that name compute and I/O nodes every host is a compute node. Switches no root reaches are refused,
//! OpenSM leaves them out.
//!
//! References: [`ZAHAVI_FAT_TREE`], OpenSM `osm_ucast_ftree.c`

mod fabric;
mod routes;
#[cfg(test)]
mod tests;

use self::fabric::Fabric;
pub(super) use self::routes::tables;
use crate::ids::SwitchId;
use crate::references::ZAHAVI_FAT_TREE;
use crate::registry::{Arguments, Entry, Parameter};
use crate::routing::engines::opensm::subnet::{Subnet, route_on_one_lane};
use crate::routing::engines::root::{Root, named};
use crate::routing::{BuildEngine, Engine, LaneBudget, RoutingEngine, RoutingError, Tables};
use crate::topology::Graph;
use serde::Deserialize;
use std::path::Path;

/// OpenSM's `ftree`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OpenSmFatTree {
    root: Root,
}

const NAME: &str = "OpenSmFatTree";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &["ftree"],
    summary: "the tables of OpenSM's ftree, entry by entry: balanced shifts on fat trees, pruned ones too",
    parameters: &[Parameter {
        name: "root",
        kind: "Auto, switch name, switch number or a list of them",
        default: Some("Auto"),
        summary: "the roots; Auto: the switches farthest from any host, and all switches of a rank must be alike",
    }],
    guarantees: &[
        "in order",
        "deadlock-free on 1 lane where no switches of one rank are linked",
    ],
    references: &[ZAHAVI_FAT_TREE],
    build: |arguments: Arguments<'_>| Ok(Engine::tables(arguments.parse::<OpenSmFatTree>()?)),
};

impl RoutingEngine for OpenSmFatTree {
    fn is_drawn(&self) -> bool {
        false
    }

    fn route(&self, graph: &Graph, budget: LaneBudget, _seed: u64) -> Result<Tables, RoutingError> {
        let roots = named(&self.root, graph, NAME)?;
        let mut up_then_down = false;
        let mut tables = route_on_one_lane(graph, NAME, budget, false, |subnet| {
            let fabric = tree(graph, subnet, roots.map(|roots| places(subnet, &roots)))?;
            up_then_down = !fabric.has_siblings();
            Ok(tables(subnet, fabric, false))
        })?;
        tables.guarantees.deadlock_free = up_then_down;
        Ok(tables)
    }

    fn management(&self, graph: &Graph, _base: &Path) -> Option<Vec<u8>> {
        let subnet = Subnet::new(graph);
        let roots = named(&self.root, graph, NAME).ok()?;
        let fabric = tree(graph, &subnet, roots.map(|roots| places(&subnet, &roots))).ok()?;
        tables(&subnet, fabric, true).switch_tables(&subnet)
    }
}

/// Places of the roots.
fn places(subnet: &Subnet, roots: &[SwitchId]) -> Vec<usize> {
    let is_root = |place: &usize| roots.contains(&subnet.switches[*place]);
    (0..subnet.len()).filter(is_root).collect()
}

/// Steps 1 and 2, from the places of the roots when they are named.
///
/// # Errors
/// [`RoutingError::Unsupported`] with the criterion that is not met.
pub(super) fn tree(
    graph: &Graph,
    subnet: &Subnet,
    roots: Option<Vec<usize>>,
) -> Result<Fabric, RoutingError> {
    Fabric::new(graph, subnet, roots).map_err(|reason| {
        let reason = format!("{reason}; use `UpDown()`, which routes any connected fabric");
        RoutingError::unsupported(NAME, reason)
    })
}
