//! Routes k-ary n-trees by the digits of the destination (D-mod-K), without contention for shifts.
//!
//! Guarantees: minimal, deadlock-free (up, then down), in order; every shift permutation
//! `d = s + c mod N` loads each channel with at most one path, and no permutation loads a downward channel
//! with more than one.
//! Needs: a k-ary n-tree ([`Shape::Tree`]), 1 lane.
//! Fails with: [`RoutingError::Unsupported`] for any other shape or a tree with missing links.
//! Cost: time and memory O(switches * hosts).
//!
//! # Algorithm
//! The destination has the digits `p_0 .. p_(n-1)` base k, `p_(n-1)` the least significant. At the switch
//! `w` of level `l`:
//! 1. If `w_0 .. w_(l-1)` equal `p_0 .. p_(l-1)` the switch is an ancestor: down port `p_l + 1`.
//! 2. Otherwise go up through port `k + 1 + p_l`, which sets `w_(l-1) = p_l`.
//!
//! References: [`ZDORNOV_BIRK`] §6.1,
//! [`PETRINI_VANNESCHI`]

use crate::ids::{HostId, SwitchId};
use crate::references::{PETRINI_VANNESCHI, ZDORNOV_BIRK};
use crate::registry::{Arguments, Entry};
use crate::routing::balance::require_nameable_ports;
use crate::routing::{BuildEngine, Guarantees, LaneBudget, RoutingEngine, RoutingError, Tables};
use crate::topology::graph::TreeShape;
use crate::topology::{Graph, Shape};
use serde::Deserialize;

/// Destination-digit routing; takes no parameters.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FatTree {}

const NAME: &str = "FatTree";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &["DModK"],
    summary: "destination-digit routing of k-ary n-trees: no contention for shift permutations",
    parameters: &[],
    guarantees: &[
        "minimal",
        "deadlock-free on 1 lane",
        "in order",
        "every shift permutation loads each channel at most once",
    ],
    references: &[ZDORNOV_BIRK, PETRINI_VANNESCHI],
    build: |arguments: Arguments<'_>| Ok(Box::new(arguments.parse::<FatTree>()?)),
};

impl RoutingEngine for FatTree {
    fn route(&self, graph: &Graph, budget: LaneBudget, _seed: u64) -> Result<Tables, RoutingError> {
        let Shape::Tree(shape) = graph.shape() else {
            return Err(unsupported(
                "it is not a k-ary n-tree; use `UpDown()`, which routes any connected fabric",
            ));
        };
        require_nameable_ports(graph, NAME)?;
        let mut next = Vec::with_capacity(graph.switches().len() * graph.hosts().len());
        for switch in graph.switch_ids() {
            for host in graph.host_ids() {
                let port = port(shape, switch, host);
                if graph.port_channel(switch, port).is_none() {
                    return Err(unsupported(&format!(
                        "{} port {port} has no link; use `UpDown()`, which needs no complete tree",
                        graph.switches()[switch.index()].name
                    )));
                }
                next.push(port as u8);
            }
        }
        let guarantees = Guarantees {
            minimal: true,
            deadlock_free: true,
            in_order: true,
            lanes_needed: 1,
        };
        Ok(Tables::on_one_lane(graph, NAME, next, budget, guarantees))
    }
}

fn unsupported(reason: &str) -> RoutingError {
    RoutingError::Unsupported {
        engine: NAME,
        reason: reason.to_owned(),
    }
}

/// Output port at `switch` for `host`.
fn port(shape: &TreeShape, switch: SwitchId, host: HostId) -> u16 {
    let level = shape.level(switch);
    // weight of digit `level - 1` of the word, and of digit `level` of the destination
    let below = shape.arity.pow(shape.levels - 1 - level);
    let ancestor = shape.word(switch) / below == host.0 / (below * shape.arity);
    let digit = host.0 / below % shape.arity;
    let port = if ancestor {
        digit + 1 // step 1
    } else {
        shape.arity + digit + 1 // step 2
    };
    port as u16
}
