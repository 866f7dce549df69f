//! What is counted of routes that are set up, and what must hold of them.

use super::{FlowCounter, RouteCache, SetUps};
use crate::cycle::counts::{Count, Reduction};
use crate::cycle::ledger::{Channels, Ledger};
use crate::cycle::look::{Columns, column};
use crate::cycle::mechanism::ShardBuilder;
use crate::fabric::rows::PortRow;
use bevy_ecs::world::World;

/// The counters of the run.
const COUNTS: [Count; 4] = [
    Count {
        name: "set_up.full",
        by: Reduction::Sum,
        value: |world, _| world.resource::<SetUps>().full,
    },
    Count {
        name: "set_up.entries_most",
        by: Reduction::Most,
        value: |world, _| world.resource::<SetUps>().entries_most,
    },
    Count {
        name: "set_up.entries",
        by: Reduction::Sum,
        value: |world, _| entries(world),
    },
    Count {
        name: "set_up.weight",
        by: Reduction::Sum,
        value: |world, _| weight(world),
    },
];

fn entries(world: &World) -> u64 {
    let caches = column::<RouteCache>(world).iter();
    caches.map(|cache| cache.entries.len() as u64).sum()
}

/// Of counters with a sign, modulo 2^64.
fn weight(world: &World) -> u64 {
    let counters = column::<FlowCounter>(world).iter();
    counters.map(|counter| counter.0).sum::<i64>() as u64
}

/// Counters, and terms of the conservation laws.
pub(super) fn account<const W: usize>(shard: &mut ShardBuilder<'_, W>) {
    for count in COUNTS {
        shard.count(count);
    }
    shard.ledger(enter);
}

/// No cache has more entries than places; and where the order of packets is kept, two of one connection, and no counter is
/// below 0.
fn enter(view: &dyn Columns, channels: Channels<'_>, ledger: &mut Ledger) {
    let routes = view.shared().own_routes.as_ref();
    let Some(flows) = routes.and_then(|routes| routes.set_up()) else {
        return;
    };
    let name = |port: PortRow| channels[port].0;
    for (port, cache) in view.column::<PortRow, RouteCache>().enumerate() {
        let entries = &cache.entries;
        if entries.len() as u64 > u64::from(flows.places()) {
            ledger.breaks(format!(
                "the cache behind channel {} has {} entries",
                name(port) ^ 1,
                entries.len()
            ));
        }
        let is_twice = |(place, entry): (usize, &super::Entry)| {
            let mut before = entries[..place].iter();
            before.any(|other| other.connection == entry.connection)
        };
        if !flows.is_loose && entries.iter().enumerate().any(is_twice) {
            ledger.breaks(format!(
                "the cache behind channel {} has two entries of one connection",
                name(port) ^ 1
            ));
        }
    }
    for (port, counter) in view.column::<PortRow, FlowCounter>().enumerate() {
        if !flows.is_loose && counter.0 < 0 {
            ledger.breaks(format!(
                "{} is the weight of the flows over channel {}",
                counter.0,
                name(port)
            ));
        }
    }
}
