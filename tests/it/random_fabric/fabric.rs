//! Random graphs with deadlock-free tables.
//!
//! Stars, k-ary 2-trees and connected irregular graphs are routed up*/down*: a packet goes down as soon
//! as its destination lies below, and never up again, so lanes are free to choose and are drawn at random
//! per hop and path. Rings are routed along the ring with a dateline: layer 1 until the wrap channel is
//! crossed, layer 0 after it.

use super::Dice;
use super::strata::Scale;
use std::collections::VecDeque;
use virtlane::ids::{HostId, SwitchId};
use virtlane::routing::entries::Entries;
use virtlane::routing::{Guarantees, LaneBudget, LaneMap, Tables, UNREACHABLE};
use virtlane::topology::{ChannelTiming, Endpoint, Graph, GraphBuilder};

/// Ports of a switch; some stay unconnected.
const PORTS: u16 = 24;

/// Ports of a switch among many hosts.
const MANY_PORTS: u16 = 64;

/// A graph without tables; `ports`: those of a wide switch.
pub(super) fn graph(dice: &mut Dice, scale: Scale, ports: u32) -> Graph {
    match scale {
        Scale::Wide(_) => return hub(dice, ports),
        Scale::Crowded => return crowd(dice),
        Scale::Usual | Scale::Long => {}
    }
    match dice.between(0, 9) {
        0 => {
            let hosts = dice.between(2, 6);
            irregular(dice, 1, hosts)
        }
        1..=5 => {
            let switches = dice.between(2, 8);
            let hosts = dice.between(switches, switches + 6);
            irregular(dice, switches, hosts)
        }
        6 | 7 => tree(dice),
        _ => {
            let count = dice.between(3, 5);
            ring_graph(dice, count)
        }
    }
}

/// A graph with its tables; `lanes_needed` of the guarantees may exceed `lanes` (rings).
pub(super) fn fabric(
    dice: &mut Dice,
    scale: Scale,
    ports: u32,
    lanes: u8,
    service_levels: u8,
) -> (Graph, Tables) {
    if matches!(scale, Scale::Wide(_) | Scale::Crowded) {
        let graph = graph(dice, scale, ports);
        let rank = levels(&graph);
        return up_down(dice, graph, &rank, lanes, service_levels);
    }
    match dice.between(0, 9) {
        0 | 1 => {
            let hosts = dice.between(2, 6);
            let graph = irregular(dice, 1, hosts);
            let rank = levels(&graph);
            up_down(dice, graph, &rank, lanes, service_levels)
        }
        2..=5 => {
            let switches = dice.between(2, 8);
            let hosts = dice.between(switches.max(2), switches + 6);
            let graph = irregular(dice, switches, hosts);
            let rank = levels(&graph);
            up_down(dice, graph, &rank, lanes, service_levels)
        }
        6 | 7 => {
            let graph = tree(dice);
            // roots come first: every root is above every leaf
            let rank: Vec<_> = graph.switch_ids().map(|switch| (0, switch.0)).collect();
            up_down(dice, graph, &rank, lanes, service_levels)
        }
        _ => ring(dice, lanes, service_levels),
    }
}

/// A link; `timing` gives it its times later.
fn connect(builder: &mut GraphBuilder, a: Endpoint, b: Endpoint) {
    let timing = ChannelTiming::default();
    builder.connect(a, b, timing).expect("free ports");
}

fn port(builder: &GraphBuilder, switch: SwitchId) -> Endpoint {
    let port = builder.free_port(switch).expect("enough ports");
    Endpoint::Switch(switch, port)
}

fn add_switches(builder: &mut GraphBuilder, count: u32, ports: u16) -> Vec<SwitchId> {
    (0..count)
        .map(|i| builder.add_switch(format!("S{i}"), u64::from(i), ports))
        .collect()
}

fn add_host(dice: &mut Dice, builder: &mut GraphBuilder, switch: SwitchId, number: u32) {
    let host = Endpoint::Host(builder.add_host(format!("H{number}"), u64::from(number)));
    let port = port(builder, switch);
    // which end is the first of a link must not matter
    if dice.chance(50) {
        connect(builder, host, port);
    } else {
        connect(builder, port, host);
    }
}

/// A switch with this many connected ports, here and there one free in between: hosts, and two switches behind some of
/// them, each with hosts of its own.
fn hub(dice: &mut Dice, ports: u32) -> Graph {
    let mut builder = GraphBuilder::new();
    let free = dice.between(0, 3);
    let hub = builder.add_switch("hub", 0, (ports + free) as u16);
    let mut numbers: Vec<u16> = (1..=(ports + free) as u16).collect();
    let mut take =
        |dice: &mut Dice| numbers.remove(dice.between(0, numbers.len() as u32 - 1) as usize);
    for _ in 0..free {
        take(dice);
    }
    for (first, name) in [(0, "left"), (3, "right")] {
        let other = builder.add_switch(name, 1, PORTS);
        for _ in 0..dice.between(1, 2) {
            let number = take(dice);
            let far = port(&builder, other);
            connect(&mut builder, Endpoint::Switch(hub, number), far);
        }
        for number in first..first + dice.between(1, 3) {
            add_host(dice, &mut builder, other, number);
        }
    }
    for number in numbers {
        let host = Endpoint::Host(builder.add_host(format!("P{number}"), u64::from(number)));
        connect(&mut builder, host, Endpoint::Switch(hub, number));
    }
    builder.build().expect("well-formed")
}

/// Many hosts.
fn crowd(dice: &mut Dice) -> Graph {
    let switches = dice.between(6, 12);
    let hosts = dice.between(20, 7 * switches);
    irregular(dice, switches, hosts)
}

/// A random connected graph: a random tree, some more links (parallel ones, too), hosts anywhere.
fn irregular(dice: &mut Dice, switches: u32, hosts: u32) -> Graph {
    let mut builder = GraphBuilder::new();
    let ports = if hosts > 14 { MANY_PORTS } else { PORTS };
    let all = add_switches(&mut builder, switches, ports);
    let link = |builder: &mut GraphBuilder, a: SwitchId, b: SwitchId| {
        let a = port(builder, a);
        let b = port(builder, b);
        connect(builder, a, b);
    };
    // hosts before, between and after links: port numbers mix
    for number in 0..hosts / 2 {
        let switch = dice.pick(&all);
        add_host(dice, &mut builder, switch, number);
    }
    for i in 1..all.len() {
        let earlier = dice.pick(&all[..i]);
        link(&mut builder, earlier, all[i]);
    }
    for _ in 0..dice.between(0, switches - 1) {
        let (a, b) = (dice.pick(&all), dice.pick(&all));
        let few = |switch| builder.free_port(switch).is_some_and(|port| port < 16);
        if a != b && few(a) && few(b) {
            link(&mut builder, a, b);
        }
    }
    for number in hosts / 2..hosts {
        let switch = dice.pick(&all);
        add_host(dice, &mut builder, switch, number);
    }
    builder.build().expect("well-formed")
}

/// A 2-ary or 3-ary tree of two levels; roots first.
fn tree(dice: &mut Dice) -> Graph {
    let arity = dice.between(2, 3);
    let mut builder = GraphBuilder::new();
    let all = add_switches(&mut builder, 2 * arity, PORTS);
    let (roots, leaves) = all.split_at(arity as usize);
    for &root in roots {
        for &leaf in leaves {
            let (up, down) = (port(&builder, leaf), port(&builder, root));
            connect(&mut builder, down, up);
        }
    }
    for number in 0..arity * arity {
        let leaf = leaves[(number / arity) as usize];
        add_host(dice, &mut builder, leaf, number);
    }
    builder.build().expect("well-formed")
}

/// Empty tables for a graph.
fn no_routes(graph: &Graph, lanes: LaneMap, lanes_needed: u8) -> Tables {
    let (hosts, switches) = (graph.hosts().len(), graph.switches().len());
    let next = vec![UNREACHABLE; switches * hosts];
    let guarantees = Guarantees {
        deadlock_free: true,
        lanes_needed,
        ..Guarantees::IN_ORDER
    };
    Tables::by_destination(graph, "Test", next, Vec::new(), lanes, guarantees)
}

/// Hops from one switch to all others, breadth first.
pub(super) fn distances(graph: &Graph, from: SwitchId) -> Vec<usize> {
    let mut hops: Vec<Option<usize>> = vec![None; graph.switches().len()];
    let mut queue = VecDeque::from([(from, 0)]);
    while let Some((switch, distance)) = queue.pop_front() {
        if hops[switch.index()].is_none() {
            hops[switch.index()] = Some(distance);
            queue.extend(graph.neighbors(switch).map(|n| (n.2, distance + 1)));
        }
    }
    let hops = hops.into_iter();
    hops.map(|hops| hops.expect("connected")).collect()
}

/// Distances from the root; the order of (distance, id) tells up from down.
pub(super) fn levels(graph: &Graph) -> Vec<(usize, u32)> {
    distances(graph, SwitchId(0)).into_iter().zip(0..).collect()
}

/// Up*/down*: down along a shortest way when the destination is below, else up towards the nearest
/// switch above it; equal ways are drawn.
fn up_down(
    dice: &mut Dice,
    graph: Graph,
    rank: &[(usize, u32)],
    lanes: u8,
    service_levels: u8,
) -> (Graph, Tables) {
    let lanes_per_sl = dice.between(1, u32::from(lanes)) as u8;
    let budget = LaneBudget {
        lanes,
        service_levels,
    };
    up_down_on(dice, graph, rank, budget, (lanes_per_sl, lanes_per_sl))
}

/// The same with paths and hops of so many layers, on so many lanes of a service level.
pub(super) fn up_down_on(
    dice: &mut Dice,
    graph: Graph,
    rank: &[(usize, u32)],
    budget: LaneBudget,
    (of_each, lanes_per_sl): (u8, u8),
) -> (Graph, Tables) {
    let layers = 2 * of_each - 1;
    let lanes = budget.lanes;
    let changes = Changes::draw(dice);
    let twist = dice.between(0, 2) as u8;
    let twist = if changes == Changes::None { 0 } else { twist };
    let mut map = LaneMap::grouped(&graph, budget, layers, lanes_per_sl, |channel, layer| {
        (layer + twist * (channel.0 % 3) as u8) % lanes_per_sl
    });
    if dice.chance(30) {
        let own = map.clone();
        depend_on_inputs(dice, &graph, &mut map, lanes);
        if changes == Changes::None {
            map = own;
        }
    }
    let mut tables = no_routes(&graph, map, 1);
    let sets = if dice.chance(25) { 2 } else { 1 };
    if sets == 2 {
        rows_by_input(dice, &graph, &mut tables);
    }
    let (switches, hosts) = (tables.switch_count, tables.host_count);
    tables.next.change(|next| {
        for set in 0..sets {
            for host in graph.host_ids() {
                let row = up_down_row(dice, &graph, rank, host);
                for (switch, port) in row.into_iter().enumerate() {
                    next[(set * switches + switch) * hosts + host.index()] = port;
                }
            }
        }
    });
    let mut layer = |rows: usize| {
        let highest = u32::from(of_each) - 1;
        let layers = (0..rows * hosts).map(|_| dice.between(0, highest) as u8);
        Entries::new(&layers.collect::<Vec<u8>>(), hosts)
    };
    let hop_layer = layer(tables.next.rows());
    if changes == Changes::LayersAndMaps {
        tables.hop_layer = hop_layer;
    }
    tables.path_layer = layer(switches);
    (graph, tables)
}

/// What changes the lanes of packets on their way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Changes {
    None,
    Maps,
    LayersAndMaps,
}

impl Changes {
    /// From numbers of its own: whatever comes of it, the rest of a case is drawn as without it.
    fn draw(dice: &Dice) -> Self {
        let mut aside = Dice(dice.0.clone());
        aside.0.jump();
        match aside.between(0, 9) {
            0..3 => Self::None,
            3 => Self::Maps,
            _ => Self::LayersAndMaps,
        }
    }
}

/// Gives every switch two rows, each input one of them (D19).
fn rows_by_input(dice: &mut Dice, graph: &Graph, tables: &mut Tables) {
    let count = tables.switch_count as u32;
    (tables.next).change(|next| next.resize(2 * next.len(), UNREACHABLE));
    tables.input_row = graph
        .channels()
        .iter()
        .map(|channel| match channel.to.switch() {
            Some(switch) => switch.0 + count * dice.between(0, 1),
            None => 2 * count - 1,
        })
        .collect();
}

/// Lets some input channels lead to other lanes: all profiles again with the next lane.
fn depend_on_inputs(dice: &mut Dice, graph: &Graph, map: &mut LaneMap, lanes: u8) {
    let count = (map.profiles.len() / map.keys()) as u32;
    let others: Vec<u8> = map.profiles.iter().map(|lane| (lane + 1) % lanes).collect();
    map.profiles.extend(others);
    map.by_input = graph
        .channel_ids()
        .map(|_| count * dice.between(0, 1))
        .collect();
}

/// Output ports of all switches for one destination.
pub(super) fn up_down_row(
    dice: &mut Dice,
    graph: &Graph,
    rank: &[(usize, u32)],
    host: HostId,
) -> Vec<u8> {
    const FAR: usize = usize::MAX;
    let (home, home_port) = graph.attachment(host).expect("attached");
    let mut from_root: Vec<SwitchId> = graph.switch_ids().collect();
    from_root.sort_by_key(|switch| rank[switch.index()]);
    let mut distance = vec![FAR; rank.len()];
    let mut port = vec![UNREACHABLE; rank.len()];
    (distance[home.index()], port[home.index()]) = (0, home_port as u8);
    let mut set = |switch: SwitchId, distance: &mut Vec<usize>, down: bool| {
        let allowed = graph
            .neighbors(switch)
            .filter(|n| (rank[n.2.index()] > rank[switch.index()]) == down);
        let ways: Vec<(usize, u16)> = allowed
            .filter(|n| distance[n.2.index()] != FAR)
            .map(|n| (distance[n.2.index()] + 1, n.0))
            .collect();
        if let Some(&(least, _)) = ways.iter().min() {
            let best: Vec<_> = ways.into_iter().filter(|way| way.0 == least).collect();
            distance[switch.index()] = least;
            port[switch.index()] = dice.pick(&best).1 as u8;
        }
    };
    // down only: below every switch before the switch itself
    for &switch in from_root.iter().rev() {
        if switch != home {
            set(switch, &mut distance, true);
        }
    }
    // the rest go up first
    for &switch in &from_root {
        if distance[switch.index()] == FAR {
            set(switch, &mut distance, false);
        }
    }
    port
}

/// A ring of `count` switches.
fn ring_graph(dice: &mut Dice, count: u32) -> Graph {
    let mut builder = GraphBuilder::new();
    let all = add_switches(&mut builder, count, PORTS);
    for (i, &switch) in (0..).zip(&all) {
        // port 1 leads on, port 2 back
        let next = all[(i + 1) % all.len()];
        let (from, to) = (Endpoint::Switch(switch, 1), Endpoint::Switch(next, 2));
        connect(&mut builder, from, to);
    }
    for number in 0..count + dice.between(0, 3) {
        let switch = all[(number % count) as usize];
        let host = Endpoint::Host(builder.add_host(format!("H{number}"), u64::from(number)));
        let port = Endpoint::Switch(switch, 3 + (number / count) as u16);
        connect(&mut builder, host, port);
    }
    builder.build().expect("well-formed")
}

/// A ring of 3 to 5 switches, one way round or the shorter way, with dateline layers.
fn ring(dice: &mut Dice, lanes: u8, service_levels: u8) -> (Graph, Tables) {
    let count = dice.between(3, 5);
    let one_way = dice.chance(50);
    let graph = ring_graph(dice, count);
    let budget = LaneBudget {
        lanes: lanes.max(2),
        service_levels,
    };
    let map = LaneMap::grouped(&graph, budget, 2, 2, |_, layer| layer);
    let mut tables = no_routes(&graph, map, 2);
    let (mut next, hosts) = (tables.next.to_vec(), tables.host_count);
    let mut layers = vec![0; next.len()];
    for switch in graph.switch_ids() {
        for host in graph.host_ids() {
            let (home, home_port) = graph.attachment(host).expect("attached");
            let (here, there) = (switch.0, home.0);
            let (on, back) = (
                (there + count - here) % count,
                (here + count - there) % count,
            );
            let (port, layer) = match on {
                0 => (home_port as u8, 0),
                _ if one_way || on <= back => (1, u8::from(there < here)),
                _ => (2, u8::from(there > here)),
            };
            let place = switch.index() * hosts + host.index();
            (next[place], layers[place]) = (port, layer);
        }
    }
    tables.next = Entries::new(&next, hosts);
    tables.hop_layer = Entries::new(&layers, hosts);
    (graph, tables)
}
