//! The published numbers of layers, and the laws of units of one source.

use super::ways::{Choice, Ways};
use super::*;
use crate::routing::layers::channel_bits::Vertices;
use crate::routing::layers::graph::LayerGraph;
use crate::routing::layers::{Layers, assign, upper_bound};
use crate::topology::generators::irregular::{Generator, Irregular};
use crate::topology::{Topology, tests::context};
use std::collections::BTreeSet;

fn options(granularity: Granularity) -> Options {
    Options {
        granularity,
        order: Order::Index,
        balance: false,
        most: 254,
        least: 0,
        seed: 1,
    }
}

/// A ring whose trees go clockwise on ties.
fn ring(switches: u32) -> Trees {
    let neighbors = |s: u32| {
        let back = (s + switches - 1) % switches;
        vec![((s + 1) % switches, 2 * s), (back, 2 * back + 1)]
    };
    let neighbors: Vec<_> = (0..switches).map(neighbors).collect();
    let channels = (0..switches).flat_map(|s| {
        let next = (s + 1) % switches;
        [Some((s, next)), Some((next, s))]
    });
    Trees::search(&neighbors, channels.collect())
}

/// Links of a random network of a topology.
fn drawn(generator: Generator, degree: Option<u32>, switches: u32, links: u32, seed: u64) -> Links {
    let is_counted = generator != Generator::Saturated;
    let network = Irregular {
        switches,
        generator,
        degree,
        links: is_counted.then_some(links),
        hosts_per_switch: 1,
        seed: Some(seed),
    };
    let graph = network.build(&context()).unwrap();
    let ends = graph.channels().iter().step_by(2);
    let ends = ends.filter_map(|channel| Some((channel.from.switch()?.0, channel.to.switch()?.0)));
    ends.collect()
}

type Links = Vec<(u32, u32)>;
type Turns = BTreeSet<(u32, u32)>;

/// The dependencies of all paths from a source, by the definition.
fn turns_from(paths: &impl Paths, source: usize) -> Turns {
    let mut turns = BTreeSet::new();
    for destination in (0..paths.ends()).filter(|&end| end != source) {
        let mut channels = Vec::new();
        paths.path(source, destination, &mut channels);
        turns.extend(channels.windows(2).map(|pair| (pair[0], pair[1])));
    }
    turns
}

/// Whether the dependencies have no cycle: those of channels that nothing leads to are taken away until none is left.
fn is_acyclic(mut turns: Turns) -> bool {
    loop {
        let led_to: BTreeSet<u32> = turns.iter().map(|&(_, to)| to).collect();
        let before = turns.len();
        turns.retain(|(from, _)| led_to.contains(from));
        if turns.len() == before {
            return turns.is_empty();
        }
    }
}

/// Whether the sources fit into one layer, one after the other; the graph of a layer must say the same as the
/// definition.
fn fit(paths: &impl Paths, sources: &[usize]) -> bool {
    let vertices = Vertices::new(&paths.channels());
    let mut layer = LayerGraph::new(&vertices);
    let added = sources.iter().all(|&source| {
        let turns = turns_from(paths, source).into_iter();
        let turns: Vec<_> = turns
            .map(|(from, to)| (vertices.of(from), vertices.of(to), 1))
            .collect();
        layer.try_add(&turns)
    });
    let all = sources.iter().flat_map(|&source| turns_from(paths, source));
    assert_eq!(added, is_acyclic(all.collect()), "sources {sources:?}");
    added
}

/// Seed 002, A1 and A2: whatever drew a tree, and complete networks, where no path has a second hop.
#[test]
fn trees_and_complete_networks_need_one_layer() {
    for switches in [2u32, 8, 16, 32, 64, 128] {
        for granularity in [Granularity::Source, Granularity::Pair] {
            let networks = if switches < 64 { 10 } else { 3 };
            assert_eq!(
                point(switches, switches - 1, granularity, networks, 1).most,
                1
            );
            for generator in [Generator::Uniform, Generator::Recursive] {
                let links = drawn(generator, None, switches, switches - 1, 1);
                let trees = Trees::new(switches as usize, &links);
                assert_eq!(assign(&trees, &options(granularity)).fill.len(), 1);
            }
        }
    }
    for switches in [2u32, 8, 16, 32] {
        let links = recursive_links(switches, u32::MAX, &mut stream(1, Purpose::Topology, 0));
        let trees = Trees::new(switches as usize, &links);
        for granularity in [Granularity::Source, Granularity::Pair] {
            assert_eq!(assign(&trees, &options(granularity)).fill.len(), 1);
        }
        assert!((0..switches as usize).all(|source| turns_from(&trees, source).is_empty()));
    }
}

/// Seed 002, A5: of the six trees of a ring those of every second switch close a cycle, four neighbouring ones do not.
#[test]
fn the_ring_of_six_fills_as_drawn() {
    let ring = ring(6);
    assert!(fit(&ring, &[0, 2]));
    assert!(!fit(&ring, &[0, 2, 4]));
    assert!(fit(&ring, &[0, 1, 2, 3]));
    assert!(!fit(&ring, &[0, 1, 2, 3, 4]));
    let found = assign(&ring, &options(Granularity::Source));
    let layer_of = |source: usize| found.layer[source * 6 + (source + 1) % 6];
    assert_eq!((0..6).map(layer_of).collect::<Vec<_>>(), [0, 0, 0, 0, 1, 1]);
}

/// Sources per layer.
fn sources(found: &Layers, switches: usize) -> Vec<u64> {
    let others = switches as u64 - 1;
    found.fill.iter().map(|pairs| pairs / others).collect()
}

/// Seed 002, A6.
#[test]
fn rings_need_two_layers_with_the_stated_fill() {
    for switches in 4..=64u64 {
        let found = assign(&ring(switches as u32), &options(Granularity::Source));
        let first = if switches % 2 == 0 {
            switches / 2 + 1
        } else {
            u64::midpoint(switches, 3)
        };
        let fill = sources(&found, switches as usize);
        assert_eq!(fill, [first, switches - first], "{switches} switches");
    }
    let smallest = assign(&ring(3), &options(Granularity::Source));
    assert_eq!(smallest.fill.len(), 1);
}

/// Random networks of every generator with every way to choose shortest paths.
fn random_paths() -> Vec<(String, Ways)> {
    let mut all = Vec::new();
    for number in 0..24u32 {
        let switches = 4 + number * 7 % 40;
        let complete = switches * (switches - 1) / 2;
        let links = (switches + number % 3 * switches / 2).min(complete);
        let (generator, degree) = match number % 4 {
            0 => (Generator::Uniform, None),
            1 => (Generator::Uniform, Some(6)),
            2 => (Generator::Recursive, None),
            _ => (Generator::Saturated, Some(4)),
        };
        let seed = u64::from(number);
        let links = drawn(generator, degree, switches, links, seed);
        for choice in Choice::ALL {
            for to_destination in [false, true] {
                let mut rng = stream(seed, Purpose::Routing, 3);
                let ways = Ways::new(switches, &links, choice, to_destination, &mut rng);
                let name = format!(
                    "{generator:?} of {switches} switches and {} links, {choice:?}, by destination: {to_destination}",
                    links.len()
                );
                all.push((name, ways));
            }
        }
    }
    all
}

/// Seed 002, A3, and A17 for at most 30 switches: with any shortest paths and any order half as many layers as
/// switches suffice, rounded up.
#[test]
fn half_the_switches_bound_the_layers() {
    for (name, ways) in random_paths() {
        for order in [Order::Index, Order::Random, Order::Longest, Order::Shortest] {
            let found = assign(
                &ways,
                &Options {
                    order,
                    seed: ways.ends() as u64,
                    ..options(Granularity::Source)
                },
            );
            let pairs = ways.ends() * (ways.ends() - 1);
            assert_eq!(found.fill.iter().sum::<u64>(), pairs as u64, "{name}");
            assert!(found.fill.len() <= upper_bound(ways.ends()), "{name}");
            assert!(ways.ends() > 30 || found.fill.len() <= 15, "{name}");
        }
    }
}

/// Seed 002, A4: the paths from two sources never wait for each other in a circle. Those from three do.
#[test]
fn any_two_sources_fit_into_one_layer() {
    let (mut pairs, mut three_that_do_not) = (0, 0);
    for (name, ways) in random_paths() {
        let turns: Vec<Turns> = (0..ways.ends()).map(|s| turns_from(&ways, s)).collect();
        for a in 0..ways.ends() {
            // all pairs of small networks, some of large ones
            for b in (a + 1..ways.ends()).step_by(ways.ends() / 12 + 1) {
                pairs += 1;
                assert!(is_acyclic(&turns[a] | &turns[b]), "{name}: {a} and {b}");
            }
        }
        let three = turns
            .windows(3)
            .map(|three| &(&three[0] | &three[1]) | &three[2]);
        three_that_do_not += three.filter(|turns| !is_acyclic(turns.clone())).count();
    }
    assert!(pairs > 15_000, "{pairs} pairs");
    assert!(three_that_do_not > 0);
}

/// Seed 002, A15 of the study: the layers of sources and of single pairs, with every choice of paths.
#[test]
fn every_pair_is_on_a_shortest_path_in_one_acyclic_layer() {
    for (name, ways) in random_paths().into_iter().step_by(3) {
        for granularity in [Granularity::Source, Granularity::Pair] {
            let found = assign(&ways, &options(granularity));
            let mut turns = vec![Turns::new(); found.fill.len()];
            let mut pairs = vec![0; found.fill.len()];
            for source in 0..ways.ends() {
                for destination in (0..ways.ends()).filter(|&end| end != source) {
                    let mut channels = Vec::new();
                    ways.path(source, destination, &mut channels);
                    assert_eq!(channels.len(), ways.distance(source, destination), "{name}");
                    let layer = usize::from(found.layer[source * ways.ends() + destination]);
                    pairs[layer] += 1;
                    turns[layer].extend(channels.windows(2).map(|pair| (pair[0], pair[1])));
                }
            }
            assert_eq!(pairs, found.fill, "{name}");
            assert!(turns.into_iter().all(is_acyclic), "{name}");
        }
    }
}

/// Seed 002, A14: n units against n (n - 1), and single pairs make a search look at more dependencies.
#[test]
fn single_pairs_cost_more_than_sources() {
    for (switches, networks) in [(32u32, 10), (64, 4), (128, 1)] {
        let [sources, pairs] = [Granularity::Source, Granularity::Pair]
            .map(|granularity| point(switches, 2 * switches, granularity, networks, 1));
        assert_eq!(sources.units, u64::from(switches));
        assert_eq!(pairs.units, u64::from(switches * (switches - 1)));
        assert!(
            pairs.searched > sources.searched,
            "{switches} switches: {} for pairs, {} for sources",
            pairs.searched,
            sources.searched
        );
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| point(32, 64, Granularity::Pair, 8, 3))
    };
    assert_eq!(on(1), on(3));
}
