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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cycle::state::parcel::{Content, Kind, Parcel};
    use crate::run::laws::halted::Halted;
    use std::cmp::Reverse;

    const OUT_OF_BAND: &str = "transport: OutOfBand(serialisation: \"32 ns\", processing: \"60 ns\", routing: \"100 ns\", \
         propagation: \"26 ns\"BROADCAST)";
    const BROADCAST: &str = ", broadcast: (serialisation: \"26 ns\", processing: \"30 ns\")";

    /// Flows whose rates an algorithm calculates, up to a cycle.
    fn calculating(control: &str, answers: &str, cycles: u64) -> Halted {
        let text = "Scenario(
            title: \"rates\", seed: 3,
            fabric: (topology: Complete(switches: 3, hosts_per_switch: 2), flit: \"64 B\",
                     link: (rate: \"10 Gbit/s\", latency: \"2 cycles\"),
                     switch: (lanes: 2, lane_capacity: \"64 flits\"), host: (scheduler: RoundRobin)),
            routing: MinHop(),
            traffic: [(name: \"flows\", flows: [(pairs: PerHost(count: 2))], size: \"8 flits\",
                       control: CONTROL, answers: (ANSWERS))],
            phases: (warmup: \"0 cycles\", measure: \"60000 cycles\"),
        )";
        let text = text.replace("CONTROL", control).replace("ANSWERS", answers);
        Halted::new(&text, cycles, 1)
    }

    /// The first cycle after which a parcel of this kind is under way.
    fn with_parcel(control: &str, is_copy: bool) -> Halted {
        let answers = OUT_OF_BAND.replace("BROADCAST", if is_copy { BROADCAST } else { "" });
        let cycles = (1..2000).step_by(3);
        let halted = cycles.map(|cycles| calculating(control, &answers, cycles));
        let mut halted = halted.filter(|halted| {
            let probes = halted.simulation.each::<Probes>();
            let events = probes.flat_map(|probes| &probes.networks[0].events);
            events
                .into_iter()
                .any(|Reverse((.., parcel))| parcel.is_copy() == is_copy)
        });
        halted.next().expect("one is sent")
    }

    /// Loses, or doubles, a parcel under way.
    fn change(halted: &mut Halted, is_copy: bool, is_lost: bool) {
        halted.resource(|probes: &mut Probes| {
            let network = &mut probes.networks[0];
            let mut events = std::mem::take(&mut network.events).into_vec();
            let of_kind =
                |Reverse(event): &Reverse<(_, _, _, Parcel)>| event.3.is_copy() == is_copy;
            let place = events.iter().position(of_kind).expect("one is under way");
            if is_lost {
                events.remove(place);
            } else {
                events.push(events[place]);
            }
            network.events = events.into();
        });
    }

    #[test]
    fn control_packets_out_of_band_are_neither_lost_nor_doubled() {
        for is_lost in [true, false] {
            let mut halted = with_parcel("Saa()", false);
            change(&mut halted, false, is_lost);
            halted.breaks(&["control packets were created out of band", "are under way"]);
        }
        let counters: [fn(&mut Probes); 2] = [
            |probes| probes.networks[0].created += 1,
            |probes| probes.networks[0].received += 1,
        ];
        for count in counters {
            let mut halted = with_parcel("Saa()", false);
            halted.resource(count);
            halted.breaks(&["control packets were created out of band", "were delivered"]);
        }
    }

    #[test]
    fn copies_of_broadcasts_are_neither_lost_nor_doubled() {
        for is_lost in [true, false] {
            let mut halted = with_parcel("DffaRounds()", true);
            change(&mut halted, true, is_lost);
            halted.breaks(&["copies of broadcasts were sent", "are under way"]);
        }
        let counters: [fn(&mut Probes); 2] = [
            |probes| probes.networks[0].copies.joined += 1,
            |probes| probes.networks[0].copies.heard += 1,
        ];
        for count in counters {
            let mut halted = with_parcel("DffaRounds()", true);
            halted.resource(count);
            halted.breaks(&["copies of broadcasts were sent", "were heard"]);
        }
    }

    #[test]
    fn packets_of_data_have_what_they_carry() {
        let mut halted = calculating("Saa(piggy_back: true)", "sl: 1", 300);
        let more = Content {
            kind: Kind::Data,
            visits: true,
            payload: [0; 4],
        };
        let row = halted.resource(|probes: &mut Probes| probes.contents.put(more));
        halted.breaks(&[
            "packets of data are under way that carry something",
            "contents are kept",
        ]);
        halted.resource(|probes: &mut Probes| probes.contents.take(row));
        halted.hold();
    }
}
