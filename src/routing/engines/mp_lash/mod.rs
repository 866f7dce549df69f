//! Multi-path LASH: several addresses per host, each on a shortest path of its own, and one chosen at the source.
//!
//! Guarantees: minimal, deadlock-free; not in order.
//! Needs: any connected fabric, as many lanes as layers come out (1 on trees and complete graphs).
//! Fails with: [`RoutingError::TooFewLanes`] with the number of layers needed, [`RoutingError::Unreachable`].
//! Cost: that of `Lash` times the addresses; memory one byte per (address, destination switch, switch) and per
//! (address, pair of switches).
//!
//! # Algorithm
//! 1. A host has `2^lmc` addresses (InfiniBand: LIDs). Each has a forwarding table: the first that of `Lash(paths: Lowest)`, the
//!    others lead over other shortest paths as far as there are, where the load is least (`ways.rs`). Hosts of one
//!    switch share the ways to it.
//! 2. Every (source switch, destination switch, address) is put into a layer by the rules of `Lash`, see
//!    `layers/assign.rs`; layer `l` is lane `l` of the group.
//! 3. At its first switch a packet chooses one of the addresses of its destination; from then on it follows the
//!    table of that address, on the lane of its layer.
//!
//! # Deviations
//! The source names no rule of choice; those here are the oblivious and the adaptive one it allows, and two fixed
//! ones. A packet gets the lane of its layer at the first switch: on the link from its host lanes take turns (D20).
//!
//! References: [`REINEMO`] §3.3.6 (S-11b), [`LASH`]

mod ways;

#[cfg(test)]
mod tests;

use crate::ids::SwitchId;
use crate::references::{LASH, REINEMO};
use crate::registry::{Arguments, Entry, Parameter};
use crate::routing::adaptive::{Adaptive, Candidate, Course, Leg, Legs, Local, Selection};
use crate::routing::balance::{
    Destination, destinations, require_all_reachable, require_nameable_ports,
};
use crate::routing::engines::lash::shortest::{ShortestPaths, distances, lowest, ways_to_switches};
use crate::routing::layers::{self, Granularity, Layers, NO_LAYER, Order};
use crate::routing::paths::Adjacency;
use crate::routing::{AdaptiveEngine, BuildEngine, Engine, LaneBudget, RoutingError};
use crate::topology::{Channel, Endpoint, Graph};
use serde::Deserialize;

/// Which address a packet takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
enum Choose {
    /// The first: `Lash`.
    First,
    /// One per pair of switches: all their packets the same.
    Pair,
    /// Drawn.
    Random,
    /// The one with the least load on its first output and lane.
    #[default]
    LeastLoad,
}

/// Largest LID mask control: it has three bits.
const MOST_LMC: u8 = 7;

/// Number of address bits (LMC).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u8")]
struct Lmc(u8);

impl TryFrom<u8> for Lmc {
    type Error = String;

    fn try_from(bits: u8) -> Result<Self, String> {
        if bits > MOST_LMC {
            return Err(format!("`lmc` is {bits}, allowed are 0 to {MOST_LMC}"));
        }
        Ok(Self(bits))
    }
}

/// Multi-path layered shortest paths.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MpLash {
    lmc: Lmc,
    choose: Choose,
    granularity: Granularity,
}

impl Default for MpLash {
    fn default() -> Self {
        Self {
            lmc: Lmc(1),
            choose: Choose::LeastLoad,
            granularity: Granularity::Pair,
        }
    }
}

const NAME: &str = "MpLash";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &["MP-LASH", "MultiPathLash"],
    summary: "layered shortest paths with several addresses per host, one chosen at the source",
    parameters: &[
        Parameter {
            name: "lmc",
            kind: "integer from 0 to 7",
            default: Some("1"),
            summary: "every host has 2^lmc addresses, each on another shortest path where there is one",
        },
        Parameter {
            name: "choose",
            kind: "First, Pair, Random or LeastLoad",
            default: Some("LeastLoad"),
            summary: "address of a packet: the first (that of Lash over the lowest switches), a fixed one per pair of switches, drawn, or the \
                      one with the fewest flits waiting behind its first output and lane",
        },
        Parameter {
            name: "granularity",
            kind: "Source, Destination, Pair, Both or Hybrid",
            default: Some("Pair"),
            summary: "paths put into a layer at a time, as in `Lash`; each address is a destination",
        },
    ],
    guarantees: &["minimal", "deadlock-free"],
    references: &[REINEMO, LASH],
    build: |arguments: Arguments<'_>| Ok(Engine::adaptive(arguments.parse::<MpLash>()?)),
};

impl AdaptiveEngine for MpLash {
    fn adapt(&self, graph: &Graph, budget: LaneBudget) -> Result<Adaptive, RoutingError> {
        require_nameable_ports(graph, NAME)?;
        let adjacency = Adjacency::new(graph);
        let destinations = destinations(graph);
        let next = lowest(
            graph,
            &adjacency,
            &destinations,
            &distances(&adjacency, &destinations),
        );
        require_all_reachable(graph, &next)?;
        let mut ends: Vec<&Destination> = destinations.iter().collect();
        ends.sort_by_key(|end| end.switch);
        let mut next = ways_to_switches(graph, &next, &ends);
        let distinct = ways::add_addresses(graph, &ends, &mut next, 1 << self.lmc.0);
        let paths = ShortestPaths::of_addresses(graph, &ends, next);
        let options = layers::Options {
            granularity: self.granularity,
            order: Order::Index,
            balance: true,
            most: usize::from(NO_LAYER) - 1,
            least: 0,
            seed: 0,
        };
        let found = layers::assign(&paths, &options);
        let remarks = remarks(&found, ends.len(), distinct);
        let legs = ByAddress::new(graph, &ends, &paths.next, found, self.choose);
        let mut adaptive = Adaptive::by_legs(graph, NAME, legs, budget, [true, true])?;
        adaptive.remarks = remarks;
        Ok(adaptive)
    }
}

fn remarks(found: &Layers, ends: usize, distinct: u64) -> Vec<(String, String)> {
    let layer = |(layer, paths)| (format!("layer {layer}"), format!("{paths} paths"));
    let mut remarks: Vec<_> = found.fill.iter().enumerate().map(layer).collect();
    let pairs = ends * ends.saturating_sub(1);
    remarks.push((
        "distinct paths".into(),
        format!("{distinct} between {pairs} pairs of switches"),
    ));
    remarks
}

/// The routing function. A word is `address * width + layer`.
#[derive(Debug)]
struct ByAddress {
    choose: Choose,
    addresses: u16,
    width: u8,
    /// Number among the switches with hosts, `[switch]`; of no meaning for others.
    end: Vec<u32>,
    ends: usize,
    /// Output port of `[target][switch]`, target as in `layers/assign.rs`; 0 without a way.
    ports: Vec<u8>,
    switches: usize,
    /// Layer of `[source end][target]`.
    layer: Vec<u8>,
}

impl ByAddress {
    fn new(
        graph: &Graph,
        ends: &[&Destination],
        next: &[Vec<u32>],
        found: Layers,
        choose: Choose,
    ) -> Self {
        let switches = graph.switches().len();
        let mut end = vec![0; switches];
        for (number, destination) in (0..).zip(ends) {
            end[destination.switch.index()] = number;
        }
        let port = |&channel: &u32| match graph.channels().get(channel as usize) {
            Some(&Channel {
                from: Endpoint::Switch(_, port),
                ..
            }) => port as u8,
            _ => 0,
        };
        Self {
            choose,
            addresses: (next.len() / ends.len().max(1)).max(1) as u16,
            width: found.fill.len().max(1) as u8,
            end,
            ends: ends.len(),
            ports: next.iter().flatten().map(port).collect(),
            switches,
            layer: found.layer,
        }
    }

    fn target(&self, address: u16, goal: SwitchId) -> usize {
        usize::from(address) * self.ends + self.end[goal.index()] as usize
    }

    fn port(&self, at: SwitchId, goal: SwitchId, address: u16) -> u16 {
        u16::from(self.ports[self.target(address, goal) * self.switches + at.index()])
    }

    fn layer(&self, source: SwitchId, goal: SwitchId, address: u16) -> u8 {
        let targets = self.ends * usize::from(self.addresses);
        self.layer[self.end[source.index()] as usize * targets + self.target(address, goal)]
    }

    fn word(&self, source: SwitchId, goal: SwitchId, address: u16) -> u16 {
        address * u16::from(self.width) + u16::from(self.layer(source, goal, address))
    }

    fn of_pair(&self, source: SwitchId, home: SwitchId) -> u16 {
        ((source.0 + home.0) % u32::from(self.addresses)) as u16
    }

    /// Step 3; ties are drawn, two or more.
    fn least_load(&self, source: SwitchId, home: SwitchId, local: &mut dyn Local) -> u16 {
        let all = 0..self.addresses;
        let load = |address: u16, local: &dyn Local| {
            local.load(
                self.port(source, home, address),
                self.layer(source, home, address),
            )
        };
        let loads = all.clone().map(|address| load(address, local));
        let least = loads.min().unwrap_or(0);
        let is_least = |&address: &u16, local: &dyn Local| load(address, local) == least;
        let ties = all.clone().filter(|a| is_least(a, local)).count() as u32;
        let place = if ties < 2 { 0 } else { local.below(ties) };
        let mut least_loaded = all.filter(|a| is_least(a, local));
        least_loaded.nth(place as usize).unwrap_or(0)
    }
}

impl Legs for ByAddress {
    fn width(&self) -> u8 {
        self.width
    }

    fn selection(&self) -> Selection {
        Selection::First
    }

    fn words(&self) -> u16 {
        self.addresses * u16::from(self.width)
    }

    fn depart(&self, source: SwitchId, home: SwitchId, local: &mut dyn Local) -> Course {
        let address = match self.choose {
            _ if self.addresses == 1 => 0,
            Choose::First => 0,
            Choose::Pair => self.of_pair(source, home),
            Choose::Random => local.below(u32::from(self.addresses)) as u16,
            Choose::LeastLoad => self.least_load(source, home, local),
        };
        Course {
            via: Course::DIRECT,
            word: self.word(source, home, address),
        }
    }

    fn starts(&self, source: SwitchId, goal: SwitchId, leg: Leg, found: &mut Vec<u16>) {
        if leg == Leg::Last {
            found.extend((0..self.addresses).map(|address| self.word(source, goal, address)));
        }
    }

    fn chances(&self, source: SwitchId, home: SwitchId) -> Option<Vec<(u16, f64)>> {
        let all = 0..self.addresses;
        let addresses = match self.choose {
            _ if self.addresses == 1 => 0..1,
            Choose::First => 0..1,
            Choose::Pair => {
                let address = self.of_pair(source, home);
                address..address + 1
            }
            Choose::Random => all,
            Choose::LeastLoad => return None,
        };
        let chance = 1.0 / f64::from(addresses.len() as u32);
        Some(
            addresses
                .map(|address| (self.word(source, home, address), chance))
                .collect(),
        )
    }

    fn ways(&self, at: SwitchId, goal: SwitchId, word: u16, found: &mut Vec<Candidate>) {
        let width = u16::from(self.width);
        found.push(Candidate {
            port: self.port(at, goal, word / width),
            lane: (word % width) as u8,
            escape: false,
        });
    }
}
