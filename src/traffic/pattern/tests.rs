//! Closed forms, support and mean of every pattern.

use super::PATTERNS;
use crate::ids::HostId;
use crate::registry::Arguments;
use crate::rng::{Purpose, stream};
use crate::topology::graph::{DragonflyShape, GridShape};
use crate::topology::{ChannelTiming, Endpoint, Graph, GraphBuilder, Shape};
use crate::traffic::{Pattern, PatternContext, Receivers};
use std::sync::Arc;

pub(super) fn star(hosts: u32, shape: Shape) -> Graph {
    let mut builder = GraphBuilder::new();
    let hub = builder.add_switch("S0", 0, hosts as u16);
    for i in 0..hosts {
        let host = builder.add_host(format!("H{i}"), 0);
        let port = Endpoint::Switch(hub, i as u16 + 1);
        let timing = ChannelTiming::default();
        builder.connect(Endpoint::Host(host), port, timing).unwrap();
    }
    builder.set_shape(shape);
    builder.build().unwrap()
}

pub(super) fn build_on(
    graph: &Graph,
    senders: &[u32],
    name: &str,
    text: &str,
) -> Result<Arc<dyn Pattern>, String> {
    let ranks: Vec<HostId> = senders.iter().copied().map(HostId).collect();
    let mut hosts = ranks.clone();
    hosts.sort_unstable();
    let context = PatternContext {
        graph,
        hosts: &hosts,
        ranks: &ranks,
        seed: 7,
        class: 2,
    };
    let entry = PATTERNS.find(name).expect("registered");
    (entry.build)(Arguments { text }, &context).map_err(|error| error.message)
}

fn build(hosts: u32, name: &str, text: &str) -> Result<Arc<dyn Pattern>, String> {
    let senders: Vec<u32> = (0..hosts).collect();
    build_on(&star(hosts, Shape::Irregular), &senders, name, text)
}

/// Destination of each host of a fixed pattern; a host that does not send is its own.
fn table(pattern: &dyn Pattern, hosts: u32) -> Vec<u32> {
    let mut rng = stream(1, Purpose::Destinations, 0);
    assert!(pattern.is_fixed());
    (0..hosts)
        .map(|host| {
            let destination = pattern.destination(HostId(host), &mut rng);
            assert_eq!(destination.is_some(), pattern.sends(HostId(host)));
            destination.map_or(host, |to| to.0)
        })
        .collect()
}

fn fixed(hosts: u32, name: &str, text: &str) -> Vec<u32> {
    table(&*build(hosts, name, text).unwrap(), hosts)
}

/// How often each host is drawn by `source`.
pub(super) fn histogram(pattern: &dyn Pattern, source: u32, hosts: u32, draws: u32) -> Vec<u32> {
    let mut rng = stream(1, Purpose::Destinations, u64::from(source));
    let mut counts = vec![0; hosts as usize];
    for _ in 0..draws {
        counts[pattern
            .destination(HostId(source), &mut rng)
            .unwrap()
            .index()] += 1;
    }
    counts
}

/// Probability of each destination of `source` by the shares of a pattern.
pub(super) fn expected(pattern: &dyn Pattern, source: HostId, hosts: u32) -> Vec<f64> {
    let mut parts = vec![0.0; hosts as usize];
    for share in pattern.shares(source) {
        let (members, itself) = match share.to {
            Receivers::One(to) => {
                parts[to.index()] += share.part;
                continue;
            }
            Receivers::Each(members) => (members, true),
            Receivers::Others(members) => (members, false),
        };
        let all = (0..members.len()).map(|position| members.host(position));
        let receive: Vec<HostId> = all.filter(|&host| itself || host != source).collect();
        for host in &receive {
            parts[host.index()] += share.part / receive.len() as f64;
        }
    }
    parts
}

#[test]
fn bit_patterns_follow_their_definitions() {
    assert_eq!(fixed(8, "BitReverse", ""), [0, 4, 2, 6, 1, 5, 3, 7]);
    assert_eq!(fixed(8, "Shuffle", ""), [0, 2, 4, 6, 1, 3, 5, 7]);
    assert_eq!(fixed(8, "BitRotation", ""), [0, 4, 1, 5, 2, 6, 3, 7]);
    assert_eq!(fixed(8, "Butterfly", ""), [0, 4, 2, 6, 1, 5, 3, 7]);
    assert_eq!(fixed(16, "Butterfly", "")[..8], [0, 8, 2, 10, 4, 12, 6, 14]);
    assert_eq!(fixed(8, "Complement", ""), [7, 6, 5, 4, 3, 2, 1, 0]);
    assert_eq!(fixed(5, "Complement", ""), [4, 3, 2, 1, 0]);
}

/// Seed 004, C2: the fixed patterns on 64 hosts.
#[test]
fn patterns_of_64_hosts_are_as_published() {
    let of = |name: &str| fixed(64, name, "");
    let shuffle = of("Shuffle");
    let samples = [1, 3, 31, 32, 33, 62].map(|host: usize| shuffle[host]);
    assert_eq!(samples, [2, 6, 62, 1, 3, 61]);
    let sixth = |host: u32| (0..6).fold(host, |at, _| shuffle[at as usize]);
    assert!((0..64).all(|host| sixth(host) == host));
    let own = |table: &[u32]| (0..64).filter(|&host| table[host as usize] == host).count();
    for (name, silent) in [
        ("Shuffle", 2),
        ("Transpose", 8),
        ("Butterfly", 32),
        ("Complement", 0),
        ("BitReverse", 8),
    ] {
        let table = of(name);
        assert_eq!(own(&table), silent, "{name}");
        let mut targets = table.clone();
        targets.sort_unstable();
        assert!(targets.into_iter().eq(0..64), "{name}");
        if name != "Shuffle" {
            let back = |host: u32| table[table[host as usize] as usize];
            assert!((0..64).all(|host| back(host) == host), "{name}");
        }
    }
}

#[test]
fn transpose_swaps_halves_of_the_bits() {
    let expected: Vec<u32> = (0..16).map(|i| (i >> 2) | ((i & 3) << 2)).collect();
    assert_eq!(fixed(16, "Transpose", ""), expected);
    assert_eq!(fixed(9, "Transpose", ""), [0, 3, 6, 1, 4, 7, 2, 5, 8]);
}

#[test]
fn ring_patterns_without_a_grid() {
    assert_eq!(fixed(8, "Tornado", ""), [3, 4, 5, 6, 7, 0, 1, 2]);
    assert_eq!(fixed(5, "Tornado", ""), [2, 3, 4, 0, 1]);
    assert_eq!(fixed(4, "Neighbor", ""), [1, 2, 3, 0]);
    assert_eq!(fixed(5, "Shift", "(by: 7)"), [2, 3, 4, 0, 1]);
    assert_eq!(fixed(5, "Shift", "(by: -1)"), [4, 0, 1, 2, 3]);
}

#[test]
fn ring_patterns_move_in_every_dimension_of_a_grid() {
    let grid = GridShape {
        radix: vec![4, 3],
        wrap: vec![true, true],
        hosts_per_switch: 2,
    };
    let graph = star(24, Shape::Grid(grid));
    let senders: Vec<u32> = (0..24).collect();
    let at = |x: u32, y: u32, j: u32| (x % 4 + y % 3 * 4) * 2 + j;
    let neighbor = build_on(&graph, &senders, "Neighbor", "").unwrap();
    let tornado = build_on(&graph, &senders, "Tornado", "").unwrap();
    let (neighbor, tornado) = (table(&*neighbor, 24), table(&*tornado, 24));
    for (x, y, j) in [(0, 0, 0), (3, 1, 1), (2, 2, 0)] {
        assert_eq!(neighbor[at(x, y, j) as usize], at(x + 1, y + 1, j));
        // ceil(4/2) - 1 = 1 and ceil(3/2) - 1 = 1
        assert_eq!(tornado[at(x, y, j) as usize], at(x + 1, y + 1, j));
    }
}

#[test]
fn uniform_draws_everybody_else_alike() {
    let pattern = build(8, "Uniform", "").unwrap();
    let counts = histogram(&*pattern, 3, 8, 70_000);
    assert_eq!(counts[3], 0);
    let others = counts.iter().enumerate().filter(|(i, _)| *i != 3);
    let chi: f64 = others
        .map(|(_, &c)| (f64::from(c) - 1e4).powi(2) / 1e4)
        .sum();
    // 6 degrees of freedom: 22.5 is the 0.1 % point
    assert!(chi < 22.5, "{counts:?}");
    let own = build(8, "Uniform", "(self_traffic: true)").unwrap();
    assert!(histogram(&*own, 3, 8, 8000)[3] > 0);
}

#[test]
fn among_senders_keeps_to_the_senders() {
    let graph = star(8, Shape::Irregular);
    let senders = [1, 4, 6];
    let pattern = build_on(&graph, &senders, "Uniform", "(among: Senders)").unwrap();
    let counts = histogram(&*pattern, 4, 8, 1000);
    assert_eq!(counts.iter().filter(|&&c| c > 0).count(), 2);
    assert!(counts[1] > 400 && counts[6] > 400);
    let pattern = build_on(&graph, &senders, "Shift", "(by: 1, among: Senders)").unwrap();
    assert_eq!(table(&*pattern, 8), [0, 4, 2, 3, 6, 5, 1, 7]);
}

#[test]
fn random_permutation_is_a_fixed_derangement() {
    for hosts in [2, 3, 17, 64] {
        let mut image = fixed(hosts, "RandomPermutation", "");
        assert_eq!(image, fixed(hosts, "RandomPermutation", ""));
        assert!((0..).zip(&image).all(|(i, &to)| i != to));
        image.sort_unstable();
        assert!((0..).zip(&image).all(|(i, &to)| i == to));
    }
    let own = build(1, "RandomPermutation", "(self_traffic: true)").unwrap();
    assert!(own.sends(HostId(0)));
}

#[test]
fn random_pairs_give_each_receiver_one_sender() {
    let graph = star(20, Shape::Irregular);
    let senders = [0, 3, 5, 9, 11];
    let pattern = build_on(&graph, &senders, "RandomPairs", "").unwrap();
    let mut rng = stream(1, Purpose::Destinations, 0);
    let mut receivers: Vec<_> = senders
        .iter()
        .map(|&host| pattern.destination(HostId(host), &mut rng).unwrap())
        .collect();
    assert!(senders.iter().zip(&receivers).all(|(s, to)| *s != to.0));
    receivers.sort_unstable();
    receivers.dedup();
    assert_eq!(receivers.len(), 5);
    assert!(!pattern.sends(HostId(1)));
}

#[test]
fn hot_spot_adds_its_fraction_to_the_background() {
    let pattern = build(10, "HotSpot", "(targets: [4, 7], fraction: 0.5)").unwrap();
    let counts = histogram(&*pattern, 0, 10, 90_000);
    // 0.5 / 2 + 0.5 / 9 of 90,000 and 0.5 / 9 of 90,000
    assert!(counts[4].abs_diff(27_500) < 600, "{counts:?}");
    assert!(counts[1].abs_diff(5000) < 300, "{counts:?}");
    assert_eq!(counts[0], 0);
    let counts = histogram(&*pattern, 4, 10, 90_000);
    assert!(counts[7].abs_diff(50_000) < 900, "{counts:?}");
    let only = build(10, "HotSpot", "(targets: [4], fraction: 1.0)").unwrap();
    assert!(!only.sends(HostId(4)));
    assert_eq!(histogram(&*only, 0, 10, 100)[4], 100);
}

#[test]
fn pairs_and_incast() {
    for text in ["([(0, 3), (2, 1)])", "(pairs: [(0, 3), (2, 1)])"] {
        assert_eq!(fixed(4, "Pairs", text), [3, 1, 1, 3]);
    }
    let several = build(4, "Pairs", "([(0, 3), (0, 1)])").unwrap();
    assert!(!several.is_fixed());
    assert!(histogram(&*several, 0, 4, 1000)[1] > 400);
    for text in ["(2)", "(target: 2)"] {
        assert_eq!(fixed(4, "AllTo", text), [2, 2, 2, 2]);
        assert!(!build(4, "AllTo", text).unwrap().sends(HostId(2)));
    }
}

/// Shares by the definitions of `BookSim2`: of 64 hosts, in parts of all packets.
#[test]
fn patterns_of_booksim_are_as_defined() {
    let parts = |name: &str, text: &str, source: u32| {
        let pattern = build(64, name, text).unwrap();
        expected(&*pattern, HostId(source), 64)
    };
    let assert_parts = |found: &[f64], known: &[(usize, f64)], others: f64| {
        for (host, part) in found.iter().enumerate() {
            let known = known.iter().find(|(known, _)| *known == host);
            let known = known.map_or(others, |(_, part)| *part);
            assert!(
                (part - known).abs() < 1e-12,
                "host {host}: {part}, not {known}"
            );
        }
    };
    let thirds = [(63, 2.0 / 3.0), (0, 1.0 / 3.0)];
    assert_parts(&parts("Diagonal", "", 63), &thirds, 0.0);
    let other = [(0, 1.0)];
    assert_parts(&parts("Diagonal", "(self_traffic: false)", 63), &other, 0.0);
    for source in [5, 37] {
        let halves = [(5, 0.5), (37, 0.5)];
        assert_parts(&parts("Asymmetric", "", source), &halves, 0.0);
    }
    // around host 0, over the edges of the numbers
    let near = [55, 56, 57, 63, 0, 1, 7, 8, 9].map(|host| (host, 1.0 / 18.0 + 1.0 / 128.0));
    assert_parts(&parts("Taper64", "", 0), &near, 1.0 / 128.0);
    let all = 1.0 - 1.0 / 18.0 - 1.0 / 128.0;
    let mut others = near.map(|(host, part)| (host, part / all));
    others[4].1 = 0.0;
    let found = parts("Taper64", "(self_traffic: false)", 0);
    assert_parts(&found, &others, 1.0 / 128.0 / all);
    let next: Vec<_> = (0..16).map(|host| (host, 1.0 / 16.0)).collect();
    let found = parts("BadDragon", "(group_hosts: 16)", 50);
    assert_parts(&found, &next, 0.0);
    let hot = [(3, 0.25), (9, 0.75)];
    let text = "(targets: [9, 3], weights: [6, 2], fraction: 1.0)";
    assert_parts(&parts("HotSpot", text, 7), &hot, 0.0);
    assert_parts(&parts("HotSpot", text, 3), &[(9, 1.0)], 0.0);
    let own = text.replace(')', ", self_traffic: true)");
    assert_parts(&parts("HotSpot", &own, 3), &hot, 0.0);
}

#[test]
fn groups_are_those_of_the_dragonfly() {
    let shape = DragonflyShape {
        hosts_per_switch: 2,
        switches_per_group: 3,
        global_ports: 1,
        groups: 4,
    };
    let graph = star(24, Shape::Dragonfly(shape));
    let senders: Vec<u32> = (0..24).collect();
    let pattern = build_on(&graph, &senders, "BadDragon", "").unwrap();
    let counts = histogram(&*pattern, 20, 24, 600);
    assert!(counts[..6].iter().all(|&count| count > 50), "{counts:?}");
    assert!(counts[6..].iter().all(|&count| count == 0), "{counts:?}");
}

/// Fixed points send to themselves where that is allowed, as in `BookSim2`.
#[test]
fn self_traffic_lets_fixed_points_send() {
    for name in [
        "BitReverse",
        "Butterfly",
        "Shuffle",
        "Transpose",
        "RandomPairs",
    ] {
        let pattern = build(16, name, "(self_traffic: true)").unwrap();
        assert!((0..16).all(|host| pattern.sends(HostId(host))), "{name}");
    }
    assert!(build(3, "Shift", "(by: 3, self_traffic: true)").is_ok());
    let pairs = build(4, "Pairs", "(pairs: [(1, 1)], self_traffic: true)").unwrap();
    assert_eq!(histogram(&*pairs, 1, 4, 10)[1], 10);
}

#[test]
fn errors_say_what_is_wrong() {
    let message = |hosts, name, text| build(hosts, name, text).unwrap_err();
    insta::assert_snapshot!(
        [
            message(6, "BitReverse", ""),
            message(8, "Transpose", ""),
            message(1, "Uniform", ""),
            message(4, "Shift", "(by: 8)"),
            message(2, "Tornado", ""),
            message(4, "HotSpot", "(targets: [])"),
            message(4, "HotSpot", "(targets: [9])"),
            message(4, "HotSpot", "(targets: [1], fraction: 1.5)"),
            message(4, "HotSpot", "(targets: [1, 1])"),
            message(4, "HotSpot", "(targets: [1, 2], weights: [1])"),
            message(4, "HotSpot", "(targets: [1, 2], weights: [1, 0])"),
            message(4, "HotSpot", "(targets: [1, 2], weights: [4294967295, 1])"),
            message(5, "Asymmetric", ""),
            message(1, "Diagonal", "(self_traffic: false)"),
            message(32, "Taper64", ""),
            message(8, "BadDragon", ""),
            message(8, "BadDragon", "(group_hosts: 3)"),
            message(8, "BadDragon", "(group_hosts: 8)"),
            message(8, "BadDragon", "(group_hosts: 2, by: -4)"),
            message(4, "Pairs", "([(1, 1)])"),
            message(4, "Pairs", "([])"),
            message(4, "AllTo", "(4)"),
            message(4, "Uniform", "(self: true)"),
        ]
        .join("\n")
    );
    let graph = star(4, Shape::Irregular);
    let error = build_on(&graph, &[0, 1], "Pairs", "([(2, 3)])").unwrap_err();
    assert_eq!(
        error,
        "pair (2, 3): host 2 is not among the hosts of this class"
    );
}

#[test]
fn entries_are_sorted_and_unique() {
    let names: Vec<_> = PATTERNS.names().collect();
    assert!(names.windows(2).all(|pair| pair[0] < pair[1]), "{names:?}");
}
