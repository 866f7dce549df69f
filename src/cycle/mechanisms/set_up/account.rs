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

#[cfg(test)]
mod tests {
    use super::super::Entry;
    use super::*;
    use crate::run::laws::halted::Halted;

    /// Flows whose routes are set up, with so many places of a cache.
    fn set_up(places: u32) -> Halted {
        let text = "Scenario(
            title: \"set-up\", seed: 3,
            fabric: (topology: EnrichedTree(k: 4, n: 3, width: 2), flit: \"64 B\",
                     link: (rate: \"10 Gbit/s\", latency: \"2 cycles\"),
                     switch: (lanes: 2, lane_capacity: \"32 flits\", routing_delay: \"1 cycles\")),
            routing: FatTree(),
            traffic: [(name: \"flows\", flows: [(pairs: Permutations(count: 2), copies: 3, bytes: \"40 flits\")], size: \"8 flits\",
                       control: SetUp(connections: Pairs, cache: PLACES), answers: (sl: 1))],
            phases: (warmup: \"0 cycles\", measure: \"6000 cycles\"),
        )";
        Halted::new(&text.replace("PLACES", &places.to_string()), 90, 1)
    }

    fn enters(cache: &mut RouteCache, entries: &[Entry]) -> bool {
        cache.entries.extend_from_slice(entries);
        true
    }

    const TWO: [Entry; 2] = [
        Entry {
            connection: 7_000,
            output: 0,
        },
        Entry {
            connection: 7_001,
            output: 1,
        },
    ];

    #[test]
    fn a_connection_has_one_entry() {
        let mut halted = set_up(8);
        halted.change(|cache: &mut RouteCache| enters(cache, &TWO));
        halted.hold();
        // of the same output, too
        halted.change(|cache: &mut RouteCache| enters(cache, &TWO[1..]));
        halted.breaks(&[
            "the cache behind channel",
            "has two entries of one connection",
        ]);
    }

    #[test]
    fn a_cache_has_no_more_entries_than_places() {
        let mut halted = set_up(2);
        let more = [
            TWO[0],
            TWO[1],
            Entry {
                connection: 7_002,
                output: 0,
            },
        ];
        halted.change(|cache: &mut RouteCache| enters(cache, &more));
        halted.breaks(&["the cache behind channel", "entries"]);
    }

    #[test]
    fn no_output_has_flows_of_less_than_no_weight() {
        let mut halted = set_up(8);
        halted.change(|counter: &mut FlowCounter| {
            counter.0 = -1;
            true
        });
        halted.breaks(&["-1 is the weight of the flows over channel"]);
    }
}
