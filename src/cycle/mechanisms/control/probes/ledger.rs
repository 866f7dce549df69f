//! Conservation of control packets of classes apart, and what is counted of them.

use super::{Probes, Probing};
use crate::cycle::counts::{Count, Reduction};
use crate::cycle::ledger::{Channels, Ledger};
use crate::cycle::look::Columns;
use crate::cycle::mechanism::ShardBuilder;
use bevy_ecs::world::World;

impl Probing {
    /// Terms of the conservation laws, and counters.
    pub(super) fn account<const W: usize>(shard: &mut ShardBuilder<'_, W>) {
        shard.ledger(enter);
        let sums: [(&'static str, fn(&World, u64) -> u64); 4] = [
            ("control.created", |world, _| out_of_band(world)[0]),
            ("control.delivered", |world, _| out_of_band(world)[1]),
            ("control.cycles", |world, _| out_of_band(world)[2]),
            ("control.visits", |world, _| {
                world.resource::<Probes>().visits
            }),
        ];
        let by = Reduction::Sum;
        for (name, value) in sums {
            shard.count(Count { name, by, value });
        }
        shard.count(Count {
            name: "control.longest",
            by: Reduction::Most,
            value: |world, _| {
                let networks = world.resource::<Probes>().networks.iter();
                networks.map(|network| network.longest).max().unwrap_or(0)
            },
        });
    }
}

/// Created, delivered, cycles in between, all networks together.
fn out_of_band(world: &World) -> [u64; 3] {
    let networks = world.resource::<Probes>().networks.iter();
    networks.fold([0; 3], |sum, network| {
        let counts = [network.created, network.received, network.latency];
        [0, 1, 2].map(|index| sum[index] + counts[index])
    })
}

/// Created = delivered + under way.
fn enter(view: &dyn Columns, _: Channels<'_>, ledger: &mut Ledger) {
    let probes = view.resource::<Probes>();
    for network in probes.into_iter().flat_map(|probes| &probes.networks) {
        ledger.carries(network.created, network.received, network.under_way());
    }
}
