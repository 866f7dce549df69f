//! OpenSM's `dfsssp`: the paths of `sssp`, spread over layers without cycles.
//!
//! Guarantees: deadlock-free, in order; minimal as [`OpenSmSssp`](super::sssp::OpenSmSssp) is; equal to OpenSM's tables entry by entry and to its layers before
//! it balances them.
//! Needs: any connected fabric; as many lanes per group of service levels as layers come out.
//! Fails with: [`RoutingError::TooFewLanes`], [`RoutingError::Unreachable`].
//! Cost: as [`OpenSmSssp`](super::sssp::OpenSmSssp), and that of `layering.rs`.
//!
//! # Algorithm
//! 1. Tables of `sssp`.
//! 2. Layers by `layering.rs`: paths by destination, then by source, both in the order of `sssp`; channels are
//!    ordered by (LID, port, next LID, its port).
//!
//! # Deviations
//! OpenSM also spreads the paths of full layers over spare lanes, drawing each path's at random: left out. By
//! default management ports are no destinations of the layers (as in OpenSM where they cannot map service
//! levels); with `switch_destinations: true` they are, which may cost layers.
//!
//! References: [`DFSSSP`], OpenSM `osm_ucast_dfsssp.c`

use super::sssp;
use super::subnet::{LidTables, Subnet, by_switch};
use crate::references::DFSSSP;
use crate::registry::{Arguments, Entry, Parameter};
use crate::routing::balance::{require_all_reachable, require_nameable_ports};
use crate::routing::engines::dfsssp::layered;
use crate::routing::layers::layering::{Exactness, Layers, Paths, assign};
use crate::routing::{BuildEngine, Engine, LaneBudget, RoutingEngine, RoutingError, Tables};
use crate::topology::Graph;
use serde::Deserialize;
use std::path::Path;

/// OpenSM's `dfsssp`.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OpenSmDfsssp {
    switch_destinations: bool,
}

const NAME: &str = "OpenSmDfsssp";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &["dfsssp"],
    summary: "the tables and layers of OpenSM's dfsssp, before it balances the layers",
    parameters: &[Parameter {
        name: "switch_destinations",
        kind: "true or false",
        default: Some("false"),
        summary: "management ports of switches are destinations too, as where they map service levels",
    }],
    guarantees: &["deadlock-free", "in order"],
    references: &[DFSSSP],
    build: |arguments: Arguments<'_>| Ok(Engine::tables(arguments.parse::<OpenSmDfsssp>()?)),
};

impl RoutingEngine for OpenSmDfsssp {
    fn is_drawn(&self) -> bool {
        false
    }

    fn route(&self, graph: &Graph, budget: LaneBudget, _seed: u64) -> Result<Tables, RoutingError> {
        require_nameable_ports(graph, NAME)?;
        let subnet = Subnet::new(graph);
        let tables = sssp::tables(&subnet, self.switch_destinations);
        let next = tables.host_tables(&subnet);
        require_all_reachable(graph, &next)?;
        let layers = layers(&subnet, &tables);
        let path_layer = by_switch(&subnet, tables.columns, &layers.layer);
        layered(graph, NAME, budget, next, path_layer, layers.count, false)
    }

    fn management(&self, graph: &Graph, _base: &Path) -> Option<Vec<u8>> {
        let subnet = Subnet::new(graph);
        sssp::tables(&subnet, true).switch_tables(&subnet)
    }
}

/// Step 2. Management ports are destinations when `tables` has them.
pub(super) fn layers(subnet: &Subnet, tables: &LidTables) -> Layers {
    let order = subnet.by_hosts();
    let hosts = order.iter().flat_map(|&place| {
        let hosts = subnet.hosts[place].iter();
        hosts.map(|(_, host)| host.index())
    });
    let switches = order
        .iter()
        .filter(|_| tables.has_switches(subnet))
        .map(|&place| subnet.host_count + place);
    let destinations: Vec<usize> = hosts.chain(switches).collect();
    let sources: Vec<(usize, u32)> = order
        .iter()
        .map(|&place| (place, subnet.hosts[place].len() as u32))
        .filter(|&(_, hosts)| hosts > 0)
        .collect();
    let paths = Paths {
        links: &subnet.links,
        ports: &tables.ports,
        columns: tables.columns,
        destinations: &destinations,
        sources: &sources,
    };
    assign(&paths, Exactness::OpenSm, |link| subnet.channel_key(link))
}
