//! Prohibited turns, and the tables of engines that route along shortest ways without them.
//!
//! Cost: one bit per (input port, output port) of each switch; tables as in `balance/by_load.rs`, with channels
//! in place of switches.

use crate::ids::{ChannelId, SwitchId};
use crate::routing::balance::by_load::{Spreading, spread};
use crate::routing::balance::{destinations, require_all_reachable, require_nameable_ports};
use crate::routing::paths::UNREACHED;
use crate::routing::paths::steps::Steps;
use crate::routing::{Guarantees, LaneBudget, RoutingError, Tables};
use crate::topology::{Endpoint, Graph};
use fixedbitset::FixedBitSet;
use rayon::prelude::*;
use serde::Deserialize;

/// What forwarding looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) enum Lookup {
    /// The destination only, as InfiniBand.
    #[default]
    Destination,
    /// Input port and destination.
    Input,
}

/// Which turns between two links of a switch are prohibited, always in both directions.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    /// First bit of each switch.
    first: Vec<usize>,
    ports: Vec<usize>,
    prohibited: FixedBitSet,
    count: u64,
}

impl Turns {
    /// All turns of `graph` are allowed.
    pub(super) fn new(graph: &Graph) -> Self {
        let ports: Vec<usize> = graph.switch_ids().map(|s| graph.ports(s).len()).collect();
        let mut first = Vec::with_capacity(ports.len());
        let mut bits = 0;
        for &ports in &ports {
            first.push(bits);
            bits += ports * ports;
        }
        Self {
            first,
            ports,
            prohibited: FixedBitSet::with_capacity(bits),
            count: 0,
        }
    }

    fn bit(&self, switch: SwitchId, from: u16, to: u16) -> usize {
        let s = switch.index();
        self.first[s] + usize::from(from - 1) * self.ports[s] + usize::from(to - 1)
    }

    /// Prohibits the turns between two ports of `switch`.
    pub(super) fn prohibit(&mut self, switch: SwitchId, a: u16, b: u16) {
        let bits = [self.bit(switch, a, b), self.bit(switch, b, a)];
        if !self.prohibited.contains(bits[0]) {
            self.count += 1;
        }
        self.prohibited.extend(bits);
    }

    /// Whether packets from `input` may leave over `output`.
    pub(super) fn allows(&self, graph: &Graph, input: ChannelId, output: ChannelId) -> bool {
        match (graph.channel(input).to, graph.channel(output).from) {
            (Endpoint::Switch(switch, from), Endpoint::Switch(_, to)) => {
                !self.prohibited.contains(self.bit(switch, from, to))
            }
            _ => true,
        }
    }

    /// Prohibited turns, both directions counted as one.
    pub(super) fn prohibited(&self) -> u64 {
        self.count
    }

    /// All turns between two links of a switch of `graph`, both directions counted as one.
    pub(super) fn all(graph: &Graph) -> u64 {
        let turns = |switch| {
            let links = graph.neighbors(switch).count() as u64;
            links * links.saturating_sub(1) / 2
        };
        graph.switch_ids().map(turns).sum()
    }

    /// The share of prohibited turns for `virtlane routes`.
    pub(super) fn remark(&self, graph: &Graph) -> (String, String) {
        let (prohibited, all) = (self.prohibited(), Self::all(graph));
        let share = 100.0 * prohibited as f64 / all.max(1) as f64;
        let value = format!("{prohibited} of {all} prohibited ({share:.1} %)");
        ("turns".into(), value)
    }

    /// Steps of `engine` that keep to the allowed turns.
    ///
    /// # Errors
    /// [`RoutingError::Unsupported`] for too many rows.
    pub(super) fn steps(&self, graph: &Graph, engine: &'static str) -> Result<Steps, RoutingError> {
        Steps::by_input(graph, engine, |input, output| {
            self.allows(graph, input, output)
        })
    }
}

/// Tables along the shortest ways of `steps`, which have no cycle, balanced in `passes` passes.
///
/// # Errors
/// [`RoutingError::Unreachable`]; [`RoutingError::Unsupported`] for switches with too many ports.
pub(super) fn route_steps(
    graph: &Graph,
    engine: &'static str,
    steps: &Steps,
    budget: LaneBudget,
    passes: u8,
) -> Result<Tables, RoutingError> {
    require_nameable_ports(graph, engine)?;
    let destinations = destinations(graph);
    let hops: Vec<Vec<u16>> = destinations
        .par_iter()
        .map(|destination| steps.hops_to(destination.switch))
        .collect();
    let spreading = Spreading {
        passes,
        by_switch: false,
    };
    let candidate = |i: usize, from: usize, to: usize| {
        let [here, there] = [from, to].map(|node| hops[i][node]);
        there != UNREACHED && there + 1 == here
    };
    let next = spread(
        graph,
        steps,
        &destinations,
        |i| &hops[i],
        candidate,
        spreading,
    );
    require_all_reachable(graph, &next)?;
    let guarantees = Guarantees {
        deadlock_free: true,
        ..Guarantees::IN_ORDER
    };
    let mut tables = Tables::on_one_lane(graph, engine, next, budget, guarantees);
    tables.input_row.clone_from(&steps.input_row);
    Ok(tables)
}
