//! The reference model's routes set up by packets (D67), worked out by hand.
//!
//! Chains of upper switches A, B and so on, neighbours joined by parallel links. Hosts 0 to 2 are at a leaf below one of them
//! only, hosts 3 to 5 at a leaf below all of them. Tables lead everything up to the one above the sources, straight down, and
//! back by the same way. All links and delays are the default ones, so a packet of one flit created in t is delivered over
//! k switches in t + 1 + 2 k when its way is free.

use super::control::{controlled_by, flow, named};
use super::tables;
use crate::reference::{Outcome, ReservationCounts, SetUpCounts, simulate};
use virtlane::ids::{ChannelId, SwitchId};
use virtlane::plan::{FlowPlan, Plan};
use virtlane::rng::{Purpose, below, stream};
use virtlane::routing::Tables;
use virtlane::topology::{ChannelTiming, Endpoint, Graph, GraphBuilder};

/// A chain of switches with so many links between neighbours, the sources below the one of that number.
struct Chain {
    graph: Graph,
    tables: Tables,
    length: u32,
    above_sources: u32,
}

impl Chain {
    fn new(length: u32, width: usize, above_sources: u32) -> Self {
        let mut builder = GraphBuilder::new();
        let count = length + 2;
        let mut add = |number| builder.add_switch(format!("S{number}"), u64::from(number), 12);
        let switches: Vec<SwitchId> = (0..count).map(&mut add).collect();
        let [sources, destinations] = [switches[length as usize], switches[length as usize + 1]];
        let join = |builder: &mut GraphBuilder, a: Endpoint, b: SwitchId| {
            let port = builder.free_port(b).expect("enough ports");
            let joined = builder.connect(a, Endpoint::Switch(b, port), ChannelTiming::default());
            joined.expect("free ports");
        };
        for number in 0..6 {
            let host = builder.add_host(format!("H{number}"), number);
            let leaf = if number < 3 { sources } else { destinations };
            join(&mut builder, Endpoint::Host(host), leaf);
        }
        let mut link = |a, b| {
            let port = builder.free_port(a).expect("enough ports");
            join(&mut builder, Endpoint::Switch(a, port), b);
        };
        link(switches[above_sources as usize], sources);
        for &upper in &switches[..length as usize] {
            link(upper, destinations);
        }
        for pair in switches[..length as usize].windows(2) {
            for _ in 0..width {
                link(pair[0], pair[1]);
            }
        }
        let graph = builder.build().expect("well-formed");
        let port = |at, to| {
            let mut neighbors = graph.neighbors(at);
            let found = neighbors.find(|way| way.2 == to);
            found.expect("a link").0 as u8
        };
        let top = switches[above_sources as usize];
        let mut next = Vec::new();
        for &at in &switches {
            for host in graph.host_ids() {
                let (home, own) = graph.attachment(host).expect("attached");
                next.push(if at == home {
                    own as u8
                } else if at == sources || at == destinations {
                    port(at, top)
                } else if home == destinations || at == top {
                    port(at, home)
                } else if at > top {
                    port(at, SwitchId(at.0 - 1))
                } else {
                    port(at, SwitchId(at.0 + 1))
                });
            }
        }
        let tables = tables(&graph, next, 1);
        Self {
            graph,
            tables,
            length,
            above_sources,
        }
    }

    /// Channels from one switch to another, in port order.
    fn channels(&self, from: u32, to: u32) -> Vec<ChannelId> {
        let neighbors = self.graph.neighbors(SwitchId(from));
        let to = neighbors.filter(|&(_, _, other)| other == SwitchId(to));
        to.map(|(_, channel, _)| channel).collect()
    }

    /// Flits over the channels from one upper switch to another, or down from one to the destinations.
    fn flits(&self, outcome: &Outcome, from: u32, to: Option<u32>) -> Vec<u64> {
        let channels = self.channels(from, to.unwrap_or(self.length + 1));
        let sent = channels.iter();
        sent.map(|channel| outcome.window.sent[channel.index()][0])
            .collect()
    }

    /// The first draw of (two of) the choices above the sources.
    fn drawn(&self) -> usize {
        let [channel] = self.channels(self.length, self.above_sources)[..] else {
            panic!("one link")
        };
        let mut draws = stream(1, Purpose::SetUp, channel.0.into());
        below(&mut draws, 2) as usize
    }

    fn run(&self, arguments: &str, flows: Vec<FlowPlan>, cycles: u64) -> Outcome {
        let plan = setting_up(arguments, flows, cycles);
        simulate(&plan, &self.graph, &self.tables, cycles)
    }
}

/// A plan whose flows set up, in packets of four flits, with control packets of one.
fn setting_up(arguments: &str, flows: Vec<FlowPlan>, cycles: u64) -> Plan {
    let mut plan = controlled_by(named("SetUp", arguments, 1, None), flows, 1);
    plan.phases.measure = cycles;
    plan
}

/// Flows of these weights from host 0 to host 3, one packet each, which set up one after the other before any is torn down.
fn weighted(weights: &[u16]) -> Vec<FlowPlan> {
    let flows = (0..).zip(weights);
    let flows = flows.map(|(number, &weight)| FlowPlan {
        start: 3 * number,
        flits: Some(4),
        weight,
        ..flow(0, 3)
    });
    flows.collect()
}

/// Channels between switches that the packet of each flow takes.
fn hops(outcome: &Outcome) -> Vec<u16> {
    let of_flow = |flow: usize| {
        let mut mine = outcome.deliveries.iter();
        let packet = mine.find(|d| d.class == 0 && d.flow == Some(flow as u32));
        packet.expect("delivered").hops
    };
    (0..outcome.flows.len()).map(of_flow).collect()
}

const ALL: &str = "(hops: None)";

/// Down (0) and along two links (0, 0): the first flow goes down, as nothing is strictly less. The second has two links to draw
/// from, the third one; the fourth finds 2 everywhere and goes down. The two light ones find 4 against 2 and 2, then 4 against 2
/// and 3.
#[test]
fn a_set_up_goes_along_the_chain_only_where_strictly_less_is() {
    let chain = Chain::new(2, 2, 0);
    let weights = [2, 2, 2, 2, 1, 1];
    let outcome = chain.run(ALL, weighted(&weights), 33);
    let counts = SetUpCounts {
        full: 0,
        entries_most: 4,
        entries: 4,
        // over three switches or four
        weight: 3 * (2 + 2) + 4 * (2 + 2 + 1 + 1),
    };
    assert_eq!(outcome.set_ups, counts);
    let outcome = chain.run(ALL, weighted(&weights), 300);
    assert_eq!(hops(&outcome), [2, 3, 3, 2, 3, 3]);
    // each: set-up, four flits, tear-down
    assert_eq!(chain.flits(&outcome, 0, None), [2 * 6]);
    assert_eq!(chain.flits(&outcome, 0, Some(1)), [2 * 6, 2 * 6]);
    assert_eq!(chain.flits(&outcome, 1, None), [4 * 6]);
    assert_eq!(chain.flits(&outcome, 1, Some(0)), [0, 0]);
}

#[test]
fn ties_are_drawn_from_the_stream_of_the_channel() {
    let chain = Chain::new(2, 2, 0);
    let outcome = chain.run(ALL, weighted(&[1, 1]), 300);
    let mut expected = [0, 0];
    expected[chain.drawn()] = 6;
    assert_eq!(chain.flits(&outcome, 0, Some(1)), expected);
}

/// With one place the second flow has it; all later ones find less along the chain, and no place. Nothing is left of them.
#[test]
fn a_full_cache_falls_back_to_the_table() {
    let chain = Chain::new(2, 2, 0);
    let weights = [2, 2, 2, 2, 1, 1];
    for (places, full, taken) in [(0, 5, [2; 6]), (1, 4, [2, 3, 2, 2, 2, 2])] {
        let arguments = format!("(hops: None, cache: {places})");
        let outcome = chain.run(&arguments, weighted(&weights), 300);
        assert_eq!(hops(&outcome), taken);
        let counts = SetUpCounts {
            full,
            entries_most: places,
            entries: 0,
            weight: 0,
        };
        assert_eq!(outcome.set_ups, counts, "{places} places");
    }
}

#[test]
fn tear_downs_empty_everything() {
    let chain = Chain::new(2, 2, 0);
    for release in ["Acknowledged", "LastPacket", "AtOnce"] {
        let arguments = format!("(hops: None, release: {release})");
        let outcome = chain.run(&arguments, weighted(&[2, 2, 2, 9, 1, 1]), 300);
        let counts = outcome.set_ups;
        assert_eq!((counts.entries, counts.weight), (0, 0), "{release}");
        assert!(counts.entries_most >= 2, "{counts:?}");
        for flow in &outcome.flows {
            assert_eq!((flow.delivered, flow.logged), ((1, 4), 2), "{release}");
        }
    }
}

/// A chain of three, single links: flow 1 goes to B and down, flow 2 finds as much along as down, flow 3 goes to B, where it
/// finds less along, too, if it has a hop left.
#[test]
fn hops_are_counted_along_a_chain() {
    let chain = Chain::new(3, 1, 0);
    for (most, taken) in [
        ("None", [2, 3, 2, 4]),
        ("2", [2, 3, 2, 4]),
        ("1", [2, 3, 2, 3]),
        ("0", [2, 2, 2, 2]),
    ] {
        for free in [false, true] {
            let arguments = format!("(hops: {most}, free: {free})");
            let outcome = chain.run(&arguments, weighted(&[1; 4]), 300);
            assert_eq!(hops(&outcome), taken, "{arguments}");
        }
    }
}

/// From the middle of three: forced always to A; free to the one drawn, then to the other.
#[test]
fn the_first_hop_is_forced_or_free() {
    let chain = Chain::new(3, 1, 1);
    let along = |outcome: &Outcome| {
        let flits = |to| chain.flits(outcome, 1, Some(to))[0];
        [flits(0), flits(2)]
    };
    let outcome = chain.run("(free: false)", weighted(&[1; 3]), 300);
    assert_eq!(hops(&outcome), [2, 3, 2]);
    assert_eq!(along(&outcome), [6, 0]);
    let outcome = chain.run("(free: true)", weighted(&[1; 2]), 300);
    let mut expected = [0, 0];
    expected[chain.drawn()] = 6;
    assert_eq!(along(&outcome), expected);
    let outcome = chain.run("(free: true)", weighted(&[1; 3]), 300);
    assert_eq!(along(&outcome), [6, 6]);
}

/// Flow 0 goes down over three switches, flow 1, of three packets, along over four. The only packet of flow 0 starts in 17 and is
/// directed in 19, 21 and 23; those of flow 1 start in 22, 26 and 30, and the last one is directed in 32, 34, 36 and 38.
#[test]
fn the_last_packet_takes_the_route_down_where_it_passes() {
    let chain = Chain::new(2, 1, 0);
    let mut flows = weighted(&[2, 1]);
    flows[1].flits = Some(12);
    let mut changes = Vec::new();
    for cycles in 13..60 {
        let outcome = chain.run("(release: LastPacket)", flows.clone(), cycles);
        let counts = (outcome.set_ups.entries, outcome.set_ups.weight);
        if changes.last().is_none_or(|&(_, last)| last != counts) {
            changes.push((cycles - 1, counts));
        }
    }
    let expected = [
        // both are set up, one of them with an entry
        (12, (1, 3 * 2 + 4)),
        (19, (1, 8)),
        (21, (1, 6)),
        (23, (1, 4)),
        (32, (1, 3)),
        (34, (0, 2)),
        (36, (0, 1)),
        (38, (0, 0)),
    ];
    assert_eq!(changes, expected);
    let outcome = chain.run("(release: LastPacket)", flows, 200);
    assert_eq!(hops(&outcome), [2, 3]);
    // a set-up and its reply, data and their answer: nobody sends a tear-down
    let of = |class: u16| outcome.deliveries.iter().filter(move |d| d.class == class);
    assert_eq!((of(0).count(), of(1).count()), (1 + 3, 3 + 3));
}

/// Over three switches. Written for s: set-up made in s + 1, reply in s + 9, begun in s + 17; its third packet of four flits has
/// come in s + 35, the answer is made in s + 36, the tear-down in s + 44, its reply in s + 52, which comes in s + 59. By the last
/// packet: the answer comes in s + 43. At once: the third packet starts in s + 25, and the next set-up is made in s + 27; it starts
/// behind packet and tear-down, in s + 30.
#[test]
fn flows_of_a_pair_go_one_after_the_other() {
    let chain = Chain::new(2, 2, 0);
    let flows = || {
        let starts = [5, 5, 500].into_iter();
        let flows = starts.map(|start| FlowPlan {
            start,
            flits: Some(12),
            ..flow(0, 3)
        });
        flows.collect::<Vec<_>>()
    };
    for (release, second) in [
        ("Acknowledged", 5 + 60 + 17),
        ("LastPacket", 5 + 44 + 17),
        ("AtOnce", 5 + 30 + 16),
    ] {
        let arguments = format!("(connections: Pairs, release: {release})");
        let outcome = chain.run(&arguments, flows(), 700);
        let starts: Vec<Option<u64>> = outcome.flows.iter().map(|flow| flow.start).collect();
        assert_eq!(starts, [Some(22), Some(second), Some(517)], "{release}");
        let waits = [17, second - 5, 17];
        let counts = ReservationCounts {
            requests: 6,
            begun: 3,
            waits: (waits.iter().sum(), second - 5),
        };
        assert_eq!(outcome.reservations, counts, "{release}");
    }
    // side by side where each is a connection of its own
    let outcome = chain.run("()", flows(), 700);
    let starts: Vec<Option<u64>> = outcome.flows.iter().map(|flow| flow.start).collect();
    assert_eq!(starts[0], Some(22));
    assert!(starts[1] < Some(30), "{starts:?}");
}
