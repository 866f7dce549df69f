//! Addresses: distinct shortest paths, layers without cycles, one address is `Lash`, less load than `Lash`.

use super::*;
use crate::ids::{ChannelId, HostId, SlId};
use crate::routing::adaptive::verify;
use crate::routing::loads::ChannelLoads;
use crate::routing::tests::conformance::{engine, options};
use crate::routing::tests::graphs::{complete, grid, irregular, spine_leaf, tree};
use std::collections::{BTreeMap, BTreeSet};

const BUDGET: LaneBudget = LaneBudget {
    lanes: 15,
    service_levels: 1,
};

fn adapt(graph: &Graph, lmc: u8) -> Adaptive {
    let engine = MpLash {
        lmc: Lmc(lmc),
        ..MpLash::default()
    };
    engine.adapt(graph, BUDGET).unwrap()
}

fn graphs() -> Vec<Graph> {
    vec![
        grid(&[4, 4], true, 1),
        grid(&[5, 3], false, 2),
        grid(&[6], true, 1),
        irregular(16, 4, 3),
        irregular(32, 4, 4),
        irregular(24, 6, 9),
        tree(3, 3),
        spine_leaf(4, 3, 2),
        complete(6),
    ]
}

/// Pairs of different switches with hosts.
fn pairs(graph: &Graph) -> Vec<(SwitchId, SwitchId)> {
    let ends: Vec<_> = graph
        .switch_ids()
        .filter(|&switch| graph.attached_hosts(switch).next().is_some())
        .collect();
    let others = |&s: &SwitchId| ends.iter().filter(move |&&d| d != s).map(move |&d| (s, d));
    ends.iter().flat_map(others).collect()
}

/// The paths of a pair by address, as the packets with each word take them: channels and layer.
fn paths(
    graph: &Graph,
    adaptive: &Adaptive,
    (source, home): (SwitchId, SwitchId),
) -> Vec<(Vec<ChannelId>, u8)> {
    let legs = adaptive.routing.legs().unwrap();
    let mut words = Vec::new();
    legs.starts(source, home, Leg::Last, &mut words);
    let follow = |word| {
        let (mut path, mut lanes, mut at) = (Vec::new(), BTreeSet::new(), source);
        while at != home {
            let mut found = Vec::new();
            legs.ways(at, home, word, &mut found);
            let [way] = found[..] else {
                panic!("{found:?}");
            };
            let channel = graph.port_channel(at, way.port).unwrap();
            path.push(channel);
            lanes.insert(way.lane);
            at = graph.channel(channel).to.switch().unwrap();
        }
        assert_eq!(lanes.len(), 1, "one layer all the way");
        (path, lanes.pop_first().unwrap())
    };
    words.into_iter().map(follow).collect()
}

/// Shortest paths between all switches: `[from][to]`, by hand from the distances.
fn shortest_paths(graph: &Graph) -> (Vec<Vec<u16>>, Vec<Vec<u64>>) {
    let adjacency = Adjacency::new(graph);
    let hops: Vec<_> = graph
        .switch_ids()
        .map(|switch| adjacency.distances(&[switch]))
        .collect();
    let mut counts = vec![vec![0; adjacency.len()]; adjacency.len()];
    for (from, counts) in counts.iter_mut().enumerate() {
        let mut order: Vec<usize> = (0..adjacency.len()).collect();
        order.sort_by_key(|&switch| hops[from][switch]);
        counts[from] = 1;
        for &switch in &order[1..] {
            let before = adjacency.exits(switch).iter();
            let before = before.map(|exit| exit.neighbor as usize);
            counts[switch] = before
                .filter(|&b| hops[from][b] + 1 == hops[from][switch])
                .map(|b| counts[b])
                .sum();
        }
    }
    (hops, counts)
}

#[test]
fn addresses_take_distinct_shortest_paths_where_there_are_some() {
    for graph in graphs() {
        let (hops, counts) = shortest_paths(&graph);
        for lmc in 0..=3 {
            let adaptive = adapt(&graph, lmc);
            let (mut distinct, mut possible) = (0, 0);
            for (source, home) in pairs(&graph) {
                let paths = paths(&graph, &adaptive, (source, home));
                assert_eq!(paths.len(), 1 << lmc);
                let hops = usize::from(hops[source.index()][home.index()]);
                assert!(paths.iter().all(|(path, _)| path.len() == hops));
                let found: BTreeSet<_> = paths.iter().map(|(path, _)| path).collect();
                let most = counts[source.index()][home.index()].min(1 << lmc);
                // two addresses always differ where two paths do
                assert!(found.len() as u64 >= most.min(2), "{source} {home}");
                distinct += found.len() as u64;
                possible += most;
            }
            let remark = format!(
                "{distinct} between {} pairs of switches",
                pairs(&graph).len()
            );
            assert!(
                adaptive
                    .remarks
                    .contains(&("distinct paths".into(), remark))
            );
            // what is chosen nearer to a destination may cost a path farther away, seldom
            assert!(100 * distinct >= 95 * possible, "{distinct} of {possible}");
        }
    }
}

#[test]
fn every_layer_is_free_of_cycles() {
    for graph in graphs() {
        for lmc in [1, 2] {
            let adaptive = adapt(&graph, lmc);
            let mut after: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
            let mut used = BTreeSet::new();
            for pair in pairs(&graph) {
                for (path, layer) in paths(&graph, &adaptive, pair) {
                    used.insert(layer);
                    for turn in path.windows(2) {
                        let next = after.entry((layer, turn[0])).or_default();
                        next.insert((layer, turn[1]));
                    }
                }
            }
            assert_eq!(used.len(), usize::from(adaptive.routing.width()));
            // takes away what waits for nothing, as long as there is something
            loop {
                let waiting: BTreeSet<_> = after.keys().copied().collect();
                let before = after.len();
                after.retain(|_, next| !next.is_disjoint(&waiting));
                if after.len() == before {
                    break;
                }
            }
            assert!(after.is_empty(), "lmc {lmc}: {after:?}");
            let proof = verify(&graph, &adaptive, &options(15)).unwrap();
            assert!(proof.acyclic && proof.minimal);
        }
    }
}

#[test]
fn one_address_is_lash_path_by_path_and_layer_by_layer() {
    for graph in graphs() {
        for granularity in ["Pair", "Source", "Both"] {
            let text = format!("Lash(paths: Lowest, granularity: {granularity})");
            let lash = engine(&text).route(&graph, BUDGET, 1).unwrap();
            let text = format!("(lmc: 0, granularity: {granularity})");
            let arguments = Arguments { text: &text };
            let engine = arguments.parse::<MpLash>().unwrap();
            let adaptive = engine.adapt(&graph, BUDGET).unwrap();
            assert_eq!(adaptive.routing.width(), lash.guarantees.lanes_needed);
            for (source, home) in pairs(&graph) {
                let (_, from) = graph.attached_hosts(source).next().unwrap();
                for (_, to) in graph.attached_hosts(home) {
                    let known = lash.path(&graph, from, to, SlId(0)).unwrap();
                    let known = &known[1..known.len() - 1];
                    let [(path, layer)] = &paths(&graph, &adaptive, (source, home))[..] else {
                        panic!("one address");
                    };
                    let found = path.iter().map(|&channel| (channel, *layer));
                    assert!(found.eq(known.iter().map(|&(channel, lane)| (channel, lane.0))));
                }
            }
        }
    }
}

/// S-11b: several addresses do better than LASH under traffic that is not uniform.
#[test]
fn the_fullest_channel_of_a_permutation_carries_less_than_with_lash() {
    let mesh = grid(&[8, 8], false, 1);
    let transpose = |s: u32| s >> 3 | (s & 7) << 3;
    let complement = |s: u32| 63 - s;
    let permutations: [(&str, fn(u32) -> u32); 2] =
        [("transpose", transpose), ("complement", complement)];
    for (name, to) in permutations {
        let pairs = || {
            (0..64)
                .map(|s| (HostId(s), HostId(to(s))))
                .filter(|(s, d)| s != d)
        };
        let lash = engine("Lash(paths: Lowest)")
            .route(&mesh, BUDGET, 1)
            .unwrap();
        let lash = ChannelLoads::of_pairs(&mesh, &lash, pairs()).max();
        let lash = lash as f64;
        for lmc in [1, 2] {
            let adaptive = adapt(&mesh, lmc);
            let mut loads = vec![0u32; mesh.channels().len()];
            for (source, destination) in pairs() {
                let ends = [source, destination].map(|host| mesh.attachment(host).unwrap().0);
                for (path, _) in paths(&mesh, &adaptive, (ends[0], ends[1])) {
                    for channel in path {
                        loads[channel.index()] += 1;
                    }
                }
            }
            // every address with the same probability
            let most = f64::from(*loads.iter().max().unwrap()) / f64::from(1 << lmc);
            assert!(most < lash, "{name}, lmc {lmc}: {most}, LASH {lash}");
        }
    }
}

/// Loads by output port and lane, draws from a counter.
struct Known<'a> {
    loads: &'a dyn Fn(u16, u8) -> u32,
    draw: u32,
    bounds: Vec<u32>,
}

impl Local for Known<'_> {
    fn load(&self, port: u16, lane: u8) -> u32 {
        (self.loads)(port, lane)
    }

    fn below(&mut self, bound: u32) -> u32 {
        self.bounds.push(bound);
        self.draw % bound
    }
}

#[test]
fn the_source_chooses_as_it_is_told() {
    let graph = grid(&[3, 3], false, 1);
    let (source, home) = (SwitchId(0), SwitchId(8));
    let depart = |choose, loads: &dyn Fn(u16, u8) -> u32, draw| {
        let engine = MpLash {
            lmc: Lmc(2),
            choose,
            ..MpLash::default()
        };
        let adaptive = engine.adapt(&graph, BUDGET).unwrap();
        let legs = adaptive.routing.legs().unwrap();
        let mut local = Known {
            loads,
            draw,
            bounds: Vec::new(),
        };
        let course = legs.depart(source, home, &mut local);
        assert_eq!(course.via, Course::DIRECT);
        let mut way = Vec::new();
        legs.ways(source, home, course.word, &mut way);
        let address = course.word / u16::from(legs.width());
        (address, way[0].port, local.bounds)
    };
    let idle = |_: u16, _: u8| 0;
    assert_eq!(depart(Choose::First, &idle, 3).0, 0);
    assert_eq!(depart(Choose::Pair, &idle, 3).0, 0);
    for draw in 0..4 {
        let (address, _, bounds) = depart(Choose::Random, &idle, draw);
        assert_eq!((address, bounds), (draw as u16, vec![4]));
    }
    // the corner has two ports to go, with two addresses each: with the load on one, the other
    let ports = [1, 3].map(|busy: u16| {
        let loads = move |port: u16, _: u8| u32::from(port == busy);
        let (_, port, bounds) = depart(Choose::LeastLoad, &loads, 1);
        assert_eq!(bounds, [2], "a draw between two equal addresses");
        port
    });
    assert_eq!(ports, [3, 1]);
    let (address, _, bounds) = depart(Choose::LeastLoad, &idle, 3);
    assert_eq!((address, bounds), (3, vec![4]));
}

#[test]
fn too_few_lanes_and_wrong_arguments_are_named() {
    let graph = grid(&[5, 5], true, 1);
    let needed = adapt(&graph, 2).routing.width();
    assert!(needed > 1);
    let engine = MpLash {
        lmc: Lmc(2),
        ..MpLash::default()
    };
    let budget = |lanes| LaneBudget {
        lanes,
        service_levels: 1,
    };
    let error = engine.adapt(&graph, budget(needed - 1)).unwrap_err();
    assert_eq!(
        error,
        RoutingError::TooFewLanes {
            engine: NAME,
            needed,
            available: needed - 1
        }
    );
    assert!(engine.adapt(&graph, budget(needed)).is_ok());
    let wrong = Arguments { text: "(lmc: 8)" };
    let error = wrong.parse::<MpLash>().unwrap_err().to_string();
    assert!(error.contains("`lmc` is 8, allowed are 0 to 7"), "{error}");
}
