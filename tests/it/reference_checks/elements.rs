//! The reference model's elements and broadcasts (D68), worked out by hand.
//!
//! With `DffaRounds` a flow announces its first packet: one that starts in cycle c makes a probe that is created in c + 1. Every
//! visit of it, and its delivery, raise the round of an element; the sender of a host whose round has changed asks.

use super::control::{controlled_by, flow, named};
use super::probes::{Agents, first_probe, machines, probing, way};
use super::{chain, star, tables};
use crate::reference::{ControlCounts, Outcome, simulate};
use virtlane::control::erratic::Erratic;
use virtlane::control::{Algorithm, Element};
use virtlane::ids::HostId;
use virtlane::plan::{Broadcast, OutOfBand, Plan};
use virtlane::topology::{ChannelTiming, Endpoint, Graph, GraphBuilder};

/// Serialisation, processing, routing, propagation; serialisation and processing of broadcasts.
fn times(times: [u32; 6]) -> OutOfBand {
    let [
        serialisation,
        processing,
        routing,
        propagation,
        copies,
        heard,
    ] = times;
    OutOfBand {
        serialisation,
        processing,
        routing,
        propagation,
        broadcast: Some(Broadcast {
            serialisation: copies,
            processing: heard,
        }),
    }
}

/// Flows with `DffaRounds`: ends and start each.
fn rounds(flows: &[(u32, u32, u64)], transport: OutOfBand) -> Plan {
    let flows = flows.iter().map(|&(from, to, start)| {
        let mut flow = flow(from, to);
        flow.start = start;
        flow
    });
    let mut plan = controlled_by(named("DffaRounds", "()", 2, None), flows.collect(), 2);
    plan.classes[0].control.as_mut().expect("control").transport = Some(transport);
    plan
}

fn run(plan: &Plan, network: &(Graph, virtlane::routing::Tables), cycles: u64) -> ControlCounts {
    simulate(plan, &network.0, &network.1, cycles).control[0].clone()
}

fn rounds_of(counts: &ControlCounts) -> Vec<&str> {
    let round = |state: &'_ String| state.find("now: ").map(|at| at + 5).expect("a round");
    let states = counts.elements.iter();
    states
        .map(|state| state[round(state)..].split(',').next().expect("a number"))
        .collect()
}

/// Host 0, three switches, host 1. The announcement is created in 1 and visits in 6, 17, 28, 39; it is delivered in 41, wanted
/// in 41, and a copy joins in 42, ends in 43, is at the switch in 46 and heard in 48. From one switch to the next: 1 + 2 + 1 + 2.
/// To host 0: 1 + 2. What host 0 asks and is replied stays behind.
#[test]
fn a_broadcast_goes_from_element_to_element() {
    let network = chain(&[ChannelTiming::default(); 4]);
    let plan = rounds(&[(0, 1, 0)], times([5, 3, 1, 2, 1, 2]));
    let after = run(&plan, &network, 400);
    assert_eq!(after.heard, [&[60][..], &[54], &[48], &[63], &[]]);
    assert_eq!(after.broadcasts, 4);
    assert_eq!(rounds_of(&after), ["1"; 5]);
    let joined = [42, 43, 48, 49, 54, 55, 60, 61].map(|cycles| run(&plan, &network, cycles));
    assert_eq!(
        joined.map(|counts| counts.broadcasts),
        [0, 1, 1, 2, 2, 3, 3, 4]
    );
    let seen = |cycles| rounds_of(&run(&plan, &network, cycles)).concat();
    let rounds = [6, 7, 17, 18, 28, 29, 39, 40, 41, 42].map(seen);
    let expected = [
        "00000", "00010", "00010", "10010", "10010", "11010", "11010", "11110",
    ];
    assert_eq!(rounds[..8], expected);
    assert_eq!(rounds[8..], ["11110", "11111"]);
}

/// Both flows announce over one switch: packets start in 0 and 4, probes are created in 1 and 5 and delivered in 5 and 9. Copies
/// join in 6 and 10, and are at the switch in 8 and 12: heard in 108, and 100 cycles later. The first one is old by then; the
/// second one goes on, when everything else has ended.
#[test]
fn one_copy_waits_for_the_other_at_an_input() {
    let network = chain(&[ChannelTiming::default(); 2]);
    let plan = rounds(&[(0, 1, 0), (0, 1, 0)], times([1, 0, 0, 1, 1, 100]));
    let before = run(&plan, &network, 208);
    assert_eq!(before.created, before.delivered);
    assert_eq!(before.heard, [&[108][..], &[], &[]]);
    assert_eq!(before.broadcasts, 2);
    let after = run(&plan, &network, 400);
    assert_eq!(after.heard, [&[108, 208][..], &[210], &[]]);
    assert_eq!((after.broadcasts, after.created), (3, before.created));
    assert_eq!(rounds_of(&after), ["2"; 3]);
}

/// What host 1 announces from cycle 0 on is delivered at host 0 in 11. What host 0 announces three cycles after a start visits
/// there: in the same cycle, which is told once, or in the next one, which is told, too. Then what host 0 has asked comes back
/// with another round than its own, and it asks again. What host 1 asks does so in both. So each flow makes an announcement, a
/// question, two updates, their replies, and says that its rate is final, 8 packets, and one or both another question.
#[test]
fn changes_of_one_cycle_are_told_once() {
    let network = star(2, 1);
    for (start, created) in [(8, 8 + 10), (9, 10 + 10)] {
        let plan = rounds(&[(1, 0, 0), (0, 1, start)], times([2, 1, 1, 2, 1, 1]));
        // announcements in 1 and start + 1, host 1 asks in 4, host 0 in 12
        let found = [12, 13, 14].map(|cycles| run(&plan, &network, cycles));
        assert_eq!(found.clone().map(|counts| counts.created), [3, 4, 4]);
        assert_eq!(found.clone().map(|counts| counts.broadcasts), [0, 1, 1]);
        assert_eq!(rounds_of(&found[2]), ["1", "2", "1"]);
        assert_eq!(run(&plan, &network, 400).created, created);
    }
}

/// A probe alone over three switches, the broadcast that it leads to and, behind this, its reply.
#[test]
fn elements_see_what_passes_and_what_is_broadcast() {
    let (graph, tables) = chain(&[ChannelTiming::default(); 4]);
    let transport = times([11, 6, 3, 2, 3, 4]);
    let out = way(&graph, &tables, 0);
    let mut ways = [0; 4];
    for seed in 0..1_000 {
        let (machines, algorithm) = with_elements(seed);
        let Some((_, created, mut payload)) = first_probe(&algorithm, 0) else {
            continue;
        };
        let mut agents = Agents::new(&algorithm, &graph);
        // those of the switches, then of the hosts
        let mut elements = elements(&algorithm, 3);
        let cycles = [11, 33, 55, 77].map(|after| created + after);
        for (step, place) in [3, 0, 1, 2].into_iter().enumerate() {
            let visited = (out[step], &mut elements[place]);
            agents.pass(visited, cycles[step], &mut payload);
        }
        let delivered = created + 79;
        let is_told = |element: &Element, host| algorithm.says(element) != algorithm.says(&host);
        let host = || algorithm.element(true).expect("elements");
        let word = algorithm.arrive(&mut elements[4], delivered, payload);
        let mut receiver = algorithm.receiver();
        let reply = algorithm.received(&mut receiver, delivered, payload);
        let reply = reply.expect("it replies to everything");
        let Some(word) = word.filter(|_| !is_told(&elements[3], host()) && !reply.visits) else {
            continue;
        };
        // over channels 3 + 2, to switches 3 + 4 more
        let mut heard = vec![vec![]; 5];
        let mut copies = 1;
        let mut now = delivered + 1;
        for place in [2, 1, 0, 3] {
            now += if place == 3 { 3 + 2 } else { 3 + 2 + 3 + 4 };
            heard[place].push(now);
            let goes_on = algorithm.hear(&mut elements[place], now, word);
            if place == 3 || !goes_on {
                break;
            }
            copies += 1;
        }
        ways[copies - 1] += 1;
        let outcome = simulate(
            &probing(machines, &[(0, 1)], Some(transport)),
            &graph,
            &tables,
            now + 1,
        );
        agents.check(&outcome);
        check(&outcome, &elements, &heard);
        assert_eq!(outcome.control[0].broadcasts, copies as u64);
        // behind the copy at host 1, and never again: 11 + 2, and three times 3 + 11 + 2
        let returned = delivered + reply.after.max(1 + 3) + 61;
        let answered = [returned, returned + 1].map(|cycles| {
            let plan = probing(machines, &[(0, 1)], Some(transport));
            simulate(&plan, &graph, &tables, cycles).flows[0].answered
        });
        assert_eq!(answered, [0, 1]);
    }
    assert!(ways.iter().all(|&ways| ways > 2), "{ways:?}");
}

fn with_elements(seed: u64) -> (Erratic, Algorithm) {
    let machines = Erratic {
        elements: true,
        ..machines(seed)
    };
    (machines, Algorithm::Erratic(machines))
}

/// Those of so many switches, then of two hosts.
fn elements(algorithm: &Algorithm, switches: usize) -> Vec<Element> {
    let all = (0..switches + 2).map(|place| algorithm.element(place >= switches));
    all.map(|element| element.expect("elements")).collect()
}

fn check(outcome: &Outcome, elements: &[Element], heard: &[Vec<u64>]) {
    let found = &outcome.control[0];
    let states = elements.iter().map(|element| format!("{element:?}"));
    assert_eq!(found.elements, states.collect::<Vec<_>>());
    assert_eq!(found.heard, heard);
    assert!(outcome.control[1].elements.is_empty(), "a class of answers");
}

/// Hosts 0 to 3 at ports 4 to 1, in this order of channels. Probes to hosts 2 and 3 visit at once: that at port 1 first.
#[test]
fn visits_at_a_switch_come_in_the_order_of_its_outputs() {
    let mut builder = GraphBuilder::new();
    let switch = builder.add_switch("S", 0, 4);
    for number in 0..4 {
        let host = Endpoint::Host(builder.add_host(format!("H{number}"), 0));
        let port = Endpoint::Switch(switch, 4 - number);
        let timing = ChannelTiming::default();
        builder.connect(host, port, timing).expect("well-formed");
    }
    let graph = builder.build().expect("well-formed");
    let tables = tables(&graph, vec![4, 3, 2, 1], 1);
    let mut at_once = 0;
    for seed in 0..4_000 {
        let (machines, algorithm) = with_elements(seed);
        let [Some(first), Some(second)] = [0, 1].map(|id| first_probe(&algorithm, id)) else {
            continue;
        };
        if first.1 != second.1 {
            continue;
        }
        at_once += 1;
        let leaves = first.1 + 3;
        let mut agents = Agents::new(&algorithm, &graph);
        let mut element = algorithm.element(false).expect("elements");
        for (from, to, mut payload) in [(1, 3, second.2), (0, 2, first.2)] {
            let [from, to] = [from, to].map(|host| graph.host_channel(HostId(host)));
            let mut host = algorithm.element(true).expect("elements");
            agents.pass((from, &mut host), leaves, &mut payload);
            let visited = (to.reverse(), &mut element);
            agents.pass(visited, leaves + 10, &mut payload);
        }
        let plan = probing(machines, &[(0, 2), (1, 3)], Some(times([3, 4, 1, 2, 1, 1])));
        let outcome = simulate(&plan, &graph, &tables, leaves + 11);
        assert_eq!(outcome.control[0].elements[0], format!("{element:?}"));
    }
    assert!(at_once > 10, "{at_once}");
}
