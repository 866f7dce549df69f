//! Conservation of control packets out of band and of what packets of data carry, and what is counted of classes apart.

use super::{Probes, Probing};
use crate::cycle::counts::{Count, Reduction};
use crate::cycle::ledger::{Channels, Ledger};
use crate::cycle::look::Columns;
use crate::cycle::mechanism::ShardBuilder;
use crate::cycle::state::PacketPool;
use bevy_ecs::world::World;

/// What is counted of broadcasts.
const COPIES: [(&str, fn(&World, u64) -> u64); 2] = [
    ("control.broadcasts", |world, _| copies(world)[0]),
    ("control.broadcasts_heard", |world, _| copies(world)[1]),
];

/// What is counted out of band.
const SUMS: [(&str, fn(&World, u64) -> u64); 3] = [
    ("out_of_band.created", |world, _| sums(world)[0]),
    ("out_of_band.delivered", |world, _| sums(world)[1]),
    ("out_of_band.cycles", |world, _| sums(world)[2]),
];

impl Probing {
    /// Terms of the conservation laws, and counters; which, depends on `probes`.
    pub(super) fn account<const W: usize>(shard: &mut ShardBuilder<'_, W>, probes: &Probes) {
        let by = Reduction::Sum;
        if probes.agents.iter().any(|agents| !agents.is_empty()) {
            shard.count(Count {
                name: "control.visits",
                by,
                value: |world, _| world.resource::<Probes>().visits,
            });
        }
        if !probes.given.first_flows.is_empty() {
            for (name, value) in COPIES {
                shard.count(Count { name, by, value });
            }
        }
        if probes.carries() {
            shard.ledger(enter_contents);
        }
        if probes.given.times.iter().all(Option::is_none) {
            return;
        }
        shard.ledger(enter);
        for (name, value) in SUMS {
            shard.count(Count { name, by, value });
        }
        shard.count(Count {
            name: "out_of_band.longest",
            by: Reduction::Most,
            value: |world, _| {
                let networks = world.resource::<Probes>().networks.iter();
                networks.map(|network| network.longest).max().unwrap_or(0)
            },
        });
    }
}

/// Created, delivered, cycles in between, all networks together.
fn sums(world: &World) -> [u64; 3] {
    let networks = world.resource::<Probes>().networks.iter();
    networks.fold([0; 3], |sum, network| {
        let counts = [network.created, network.received, network.latency];
        [0, 1, 2].map(|index| sum[index] + counts[index])
    })
}

/// Copies that joined the queue of a channel, and copies heard, all networks together.
fn copies(world: &World) -> [u64; 2] {
    let networks = world.resource::<Probes>().networks.iter();
    networks.fold([0; 2], |[joined, heard], network| {
        let copies = &network.copies;
        [joined + copies.joined, heard + copies.heard]
    })
}

/// Created = delivered + under way, joined = heard + under way.
fn enter(view: &dyn Columns, _: Channels<'_>, ledger: &mut Ledger) {
    let probes = view.resource::<Probes>();
    for network in probes.into_iter().flat_map(|probes| &probes.networks) {
        ledger.carries(network.created, network.received, network.under_way());
        let copies = &network.copies;
        ledger.spreads(copies.joined, copies.heard, network.copies_under_way());
    }
}

/// Packets of data that carry = what they carry.
fn enter_contents(view: &dyn Columns, _: Channels<'_>, ledger: &mut Ledger) {
    let (Some(probes), Some(pool)) = (view.resource::<Probes>(), view.resource::<PacketPool>())
    else {
        return;
    };
    let used = view.records().enumerate().zip(pool.used());
    let carriers = used.filter(|((_, record), used)| *used && probes.carried_by(record));
    let (carriers, kept) = (carriers.count(), probes.contents.of_data());
    if carriers != kept {
        ledger.breaks(format!(
            "{carriers} packets of data are under way that carry something, but {kept} contents are kept for them"
        ));
    }
}
