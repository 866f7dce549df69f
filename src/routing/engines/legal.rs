//! Legal up*/down* ways in tables that know the destination only.
//!
//! Cost: O(channels) per destination switch, in parallel; memory two bytes and a bit per (destination
//! switch, switch).

use super::up_order::UpOrder;
use crate::ids::SwitchId;
use crate::routing::balance::Destination;
use crate::routing::paths::{Adjacency, UNREACHED};
use fixedbitset::FixedBitSet;
use rayon::prelude::*;

/// The legal ways from every switch to every destination switch; steps 2 to 4 of `up_down.rs`.
#[derive(Debug)]
pub(super) struct Legal {
    order: UpOrder,
    ways: Vec<Way>,
}

/// The ways to one destination switch.
#[derive(Debug)]
pub(super) struct Way {
    /// Hops left, [`UNREACHED`] = no way.
    pub(super) hops: Vec<u16>,
    /// Switches whose way begins with an upward step: those without a way of downward steps only.
    up: FixedBitSet,
}

impl Legal {
    /// All ways under `order`.
    pub(super) fn new(adjacency: &Adjacency, order: UpOrder, destinations: &[Destination]) -> Self {
        let ways = destinations
            .par_iter()
            .map(|destination| Way::new(adjacency, &order, destination.switch))
            .collect();
        Self { order, ways }
    }

    /// Hops left to a destination, `[switch]`.
    pub(super) fn hops(&self, destination: usize) -> &[u16] {
        &self.ways[destination].hops
    }

    /// Whether `neighbor` is a candidate at `switch`.
    pub(super) fn leads_on(&self, destination: usize, switch: usize, neighbor: usize) -> bool {
        self.ways[destination].leads_on(&self.order, switch, neighbor)
    }

    /// Hops from all hosts to the hosts of one destination, `u64::MAX` when one has no legal path.
    pub(super) fn hops_to(&self, to: usize, destinations: &[Destination]) -> u64 {
        let mut total = 0;
        for from in destinations {
            let hops = self.ways[to].hops[from.switch.index()];
            if hops == UNREACHED {
                return u64::MAX;
            }
            total += from.hosts.len() as u64 * u64::from(hops);
        }
        total * destinations[to].hosts.len() as u64
    }
}

impl Way {
    /// The ways to `destination` under `order`.
    pub(super) fn new(adjacency: &Adjacency, order: &UpOrder, destination: SwitchId) -> Self {
        let place = &order.place;
        // against the direction of travel: from the destination a downward step is climbed
        let mut hops = adjacency.search(&[destination], |from, to| place[to] < place[from]);
        let mut up = FixedBitSet::with_capacity(hops.len());
        for &switch in &order.order {
            if hops[switch] != UNREACHED {
                continue;
            }
            let upward = adjacency.exits(switch).iter().filter_map(|exit| {
                let neighbor = exit.neighbor as usize;
                let usable = place[neighbor] < place[switch] && hops[neighbor] != UNREACHED;
                usable.then_some(hops[neighbor])
            });
            if let Some(least) = upward.min() {
                hops[switch] = least + 1;
                up.insert(switch);
            }
        }
        Self { hops, up }
    }

    /// Whether `neighbor` is a candidate at `switch`.
    #[inline]
    pub(super) fn leads_on(&self, order: &UpOrder, switch: usize, neighbor: usize) -> bool {
        let Self { hops, up } = self;
        let [here, there] = [hops[switch], hops[neighbor]];
        if here == UNREACHED || there == UNREACHED || there + 1 != here {
            return false;
        }
        let goes_up = order.place[neighbor] < order.place[switch];
        // going down, the neighbour must be able to go down itself
        goes_up == up.contains(switch) && (goes_up || !up.contains(neighbor))
    }
}
