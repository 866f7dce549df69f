//! Rates against the other forms of AFA, times against the formula, applications that come and go.

use super::elements::element;
use super::{Elements, Simulation, Times, star};
use crate::fluid::network::{Builder, Network, UNIT};
use crate::fluid::rates::tests::random;
use crate::fluid::rates::{Allocation, SOLVERS};
use crate::fluid::routes::{Ends, POLICIES, Ways};
use crate::ids::{HostId, SlId, SwitchId};
use crate::registry::Arguments;
use crate::rng::{Purpose, below, stream};
use crate::topology::{BuildContext, ChannelTiming, Endpoint, Graph, TOPOLOGIES};
use crate::units::Clock;
use std::path::Path;

fn solve(solver: &str, network: &Network) -> Allocation {
    let solver = SOLVERS.lookup(solver).unwrap().build;
    let rates = (solver.solve)(network, 7).unwrap();
    (solver.check)(network, &rates).unwrap();
    rates
}

/// Rates of flows from the levels of their applications.
fn rates(network: &Network, levels: &[u128]) -> Vec<u128> {
    let flows = network.flows().iter();
    flows
        .map(|flow| levels[flow.application as usize] * u128::from(flow.weight))
        .collect()
}

/// Connected elements that share the links of a network.
fn elements(seed: u64, links: usize) -> Elements {
    let mut rng = stream(seed, Purpose::Flows, 7);
    let count = 1 + below(&mut rng, 12);
    let mut neighbours = vec![Vec::new(); count as usize];
    let more = below(&mut rng, count);
    for number in 1..count + more {
        let one = if number < count {
            number
        } else {
            below(&mut rng, count)
        };
        let other = below(&mut rng, if number < count { number } else { count });
        if one != other {
            neighbours[one as usize].push(other);
            neighbours[other as usize].push(one);
        }
    }
    let owners = (0..links).map(|_| below(&mut rng, count)).collect();
    Elements::new(neighbours, owners)
}

/// S10: the rates of AFA to the last unit, in its rounds, of which there are no more than applications; a PIF is two messages
/// between two neighbours, on whatever ways it goes, and takes a hop more down at most than the way to the farthest and back.
#[test]
fn messages_find_the_rates_of_afa() {
    for seed in 0..1000 {
        let network = random(seed, 1 + (seed % 8) as u32);
        let expected = solve("Afa", &network);
        for form in ["AfaLists", "Pafa"] {
            assert_eq!(solve(form, &network), expected, "{form}, seed {seed}");
        }
        let all = elements(seed, network.capacities().len());
        let leader = (seed % all.len() as u64) as u32;
        let times = Times {
            down: 1 + seed % 3,
            up: 3,
            barrier: 0,
        };
        for elements in [&all, &all.tree(leader)] {
            let (levels, found) = star(&network, elements, leader, times);
            assert_eq!(rates(&network, &levels), expected.rates, "seed {seed}");
            assert_eq!(found.rounds, expected.rounds as u64);
            assert!(found.rounds <= network.applications() as u64);
            let phases = 2 * found.rounds + 1;
            assert_eq!(found.messages, phases * 2 * elements.pairs());
            let height = u64::from(elements.height(leader));
            let most = times.formula(found.rounds, height) + 2 * found.rounds * times.down;
            assert!((times.formula(found.rounds, height)..=most).contains(&found.found));
            let last = found.ended.unwrap() - found.found;
            let alone = height * (times.down + times.up);
            assert!((alone..=alone + times.down).contains(&last));
            let is_tree = elements.pairs() + 1 == elements.len() as u64;
            assert!(!is_tree || found.found == times.formula(found.rounds, height));
        }
        assert_eq!(all.tree(leader).pairs() + 1, all.len() as u64);
    }
}

fn tree(k: u32, n: u32) -> Graph {
    let entry = TOPOLOGIES.lookup("KAryNTree").unwrap();
    let text = format!("(k: {k}, n: {n})");
    let topology = (entry.build)(Arguments { text: &text }).unwrap();
    let context = BuildContext {
        seed: 1,
        clock: Clock {
            flit_bytes: 64,
            reference_rate: 160_000_000_000,
        },
        switch_link: ChannelTiming::default(),
        host_link: ChannelTiming::default(),
        base: Path::new(""),
    };
    topology.build(&context).unwrap()
}

/// A flow of every host to another, up the ways with the fewest, in applications of so many hosts in a row.
fn on_tree(graph: &Graph, hosts_of_each: u32) -> Network {
    let count = graph.hosts().len() as u32;
    let mut rng = stream(1, Purpose::Flows, 8);
    let flows = (0..count).map(|source| Ends {
        source: HostId(source),
        destination: HostId((source + 1 + below(&mut rng, count - 1)) % count),
        weight: 1,
        level: SlId(0),
    });
    let flows: Vec<Ends> = flows.collect();
    let policy = POLICIES.lookup("Ascent").unwrap().build;
    let policy = policy(Arguments { text: "()" }).unwrap();
    let ways = Ways {
        graph,
        tables: None,
    };
    let routes = policy.routes(&ways, &flows, 1).unwrap();
    let mut network = Builder::new(vec![UNIT; graph.channels().len()]);
    for (number, flow) in flows.iter().enumerate() {
        let route = routes.of(number).iter().copied();
        network.flow(1, flow.source.0 / hosts_of_each, route);
    }
    network.build()
}

/// Section 6.5: in the 16-ary 3-tree with the leader at a root all elements are within four hops, and a round takes 4.8 us.
#[test]
fn a_round_of_the_16_ary_3_tree_takes_4_8_us() {
    let graph = tree(16, 3);
    let elements = Elements::of(&graph);
    let root = element(&graph, Endpoint::Switch(SwitchId(0), 1));
    let leaf = element(&graph, Endpoint::Switch(SwitchId(767), 1));
    let host = element(&graph, Endpoint::Host(HostId(0)));
    assert_eq!(
        [root, leaf, host].map(|from| elements.height(from)),
        [4, 5, 6]
    );
    let network = on_tree(&graph, 128);
    let times = Times::PUBLISHED;
    let (levels, found) = star(&network, &elements, root, times);
    let expected = solve("Afa", &network);
    assert_eq!(rates(&network, &levels), expected.rates);
    assert_eq!(times.formula(1, 4), 4_800);
    assert_eq!(found.found, 4_800 * expected.rounds as u64);
    assert_eq!(found.ended, Some(found.found + 2_400));
    // levels go down only
    assert_eq!(found.told, Some(found.found + 2_400 + 800));
    assert_eq!(elements.pairs(), 12_288);
    assert_eq!(found.telling, 2 * 12_288 - (4_864 - 1));
}

/// The flows of some applications, all others without.
fn only(network: &Network, present: &[bool]) -> Network {
    let mut builder = Builder::new(network.capacities().to_vec());
    for (number, flow) in network.flows().iter().enumerate() {
        if present[flow.application as usize] {
            let route = network.route(number).iter().copied();
            builder.flow(flow.weight, flow.application, route);
        }
    }
    builder.build()
}

/// Applications begin and end while rates are found: calculations are cut off by later ones, and after the last all elements
/// know the rates of those that are there.
#[test]
fn applications_come_and_go() {
    let (mut cut_off, mut ended) = (0, 0);
    for seed in 0..300 {
        let network = random(seed, 2 + (seed % 7) as u32);
        let elements = elements(seed, network.capacities().len());
        let leader = (seed % elements.len() as u64) as u32;
        let times = Times {
            barrier: 50,
            ..Times::PUBLISHED
        };
        let mut simulation = Simulation::new(&network, &elements, leader, times);
        let mut rng = stream(seed, Purpose::Flows, 9);
        let used = |application: usize| {
            let mut flows = network.flows().iter();
            flows.any(|flow| flow.application as usize == application)
        };
        let mut present = vec![false; network.applications()];
        let mut last_change = vec![0; present.len()];
        let (mut now, mut changes) = (0, 0);
        for _ in 0..=below(&mut rng, 12) {
            let application = below(&mut rng, present.len() as u32);
            let is_there = &mut present[application as usize];
            if !used(application as usize) {
                continue;
            }
            // an application meets before it begins or ends again
            let last = &mut last_change[application as usize];
            now = (now + u64::from(below(&mut rng, 8)) * 3_000).max(*last + 20_000);
            *last = now;
            *is_there = !*is_there;
            simulation.change(now, application, *is_there);
            changes += 1;
        }
        simulation.run();
        let calculations = simulation.calculations();
        assert_eq!(calculations.len(), changes);
        let Some(last) = calculations.last() else {
            continue;
        };
        assert!(last.told.is_some(), "seed {seed}");
        ended += calculations
            .iter()
            .filter(|one| one.ended.is_some())
            .count();
        cut_off += calculations
            .iter()
            .filter(|one| one.ended.is_none())
            .count();
        let remaining = only(&network, &present);
        let expected = solve("Afa", &remaining);
        for element in 0..elements.len() as u32 {
            let known = rates(&remaining, simulation.levels(element));
            assert_eq!(known, expected.rates, "seed {seed}");
        }
        assert_eq!(last.rounds, expected.rounds as u64);
    }
    assert!(cut_off > 50 && ended > 500, "{cut_off} {ended}");
}

/// A flow over two links: it is announced in two hops there and two back, and triggers over one; then three PIFs of one hop each
/// way, and the levels.
#[test]
fn a_flow_alone_is_known_after_its_announcement() {
    // two hosts, 1 and 2, at a switch
    let elements = Elements::new(vec![vec![1, 2], vec![0], vec![0]], vec![1, 0]);
    let mut network = Builder::new(vec![UNIT, UNIT / 2]);
    network.flow(3, 0, [0, 1]);
    let network = network.build();
    let times = Times {
        down: 10,
        up: 100,
        barrier: 1_000,
    };
    let mut simulation = Simulation::new(&network, &elements, 0, times);
    simulation.change(5, 0, true);
    simulation.run();
    let [found] = simulation.calculations() else {
        panic!("one trigger");
    };
    // two links there and back
    let began = 5 + 4 * 10 + 1_000 + 10;
    assert_eq!((found.began, found.rounds), (began, 1));
    assert_eq!(found.found, began + 2 * 110);
    assert_eq!(found.ended, Some(began + 3 * 110));
    assert_eq!(found.told, Some(began + 3 * 110 + 10));
    assert_eq!((found.messages, found.telling), (12, 2));
    assert_eq!(simulation.announcing(), 5);
    assert_eq!(simulation.levels(2), [UNIT / 6]);
}
