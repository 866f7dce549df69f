//! Who waits for ever (section 6 of the model): random fabrics whose routes, or choices, may deadlock. The engine names the same heads as the
//! reference model, what is named stays, and where nothing moves any more something is named.

use super::endings::{seeds, small};
use super::engine::closed_set;
use super::number;
use super::wander::wander;
use crate::random_fabric::{Adaptive, Case, Dice, Saturating, settle_claims};
use crate::reference::{Outcome, Routing, simulate};
use std::sync::Arc;
use virtlane::ids::{HostId, SwitchId};
use virtlane::plan::{
    Allocation, DropRule, Dropping, Forwarding, HostOptions, InputSpeedup, InputTurns,
    OutputArbitration, Plan, Queues, SwitchOptions,
};
use virtlane::rng::{Purpose, stream};
use virtlane::routing::adaptive::Selection;
use virtlane::routing::{Guarantees, LaneBudget, Routes, Tables};
use virtlane::run::{Options, Simulation};
use virtlane::topology::{Endpoint, Graph};
use virtlane::traffic::SizeDistribution;

/// Cycles in which the sets are compared.
const LOOKS: [u64; 4] = [150, 500, 1_400, 2_600];

/// Where claims are made as often as this \[cycles\], what stood at the last look but one has claims at the last one.
const SOON: u64 = (LOOKS[3] - LOOKS[2]) / 2;

/// The same while sets close.
const EARLY: [u64; 16] = [
    10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 120, 140, 160, 180, 200, 220,
];

/// The same where headers have choices, so that sets close later.
const LATER: [u64; 7] = [60, 100, 200, 350, LOOKS[1], LOOKS[2], LOOKS[3]];

/// Ports of a walk through all switches to the switch of a host, as long as it happens to be: no loop, but such walks wait for
/// each other.
fn walk(dice: &mut Dice, graph: &Graph, next: &mut [u8], host: HostId) {
    let hosts = graph.hosts().len();
    let (root, to_host) = graph.attachment(host).expect("a switch");
    next[root.index() * hosts + host.index()] = to_host as u8;
    let mut seen = vec![false; graph.switches().len()];
    seen[root.index()] = true;
    let mut path = vec![root];
    while let Some(&at) = path.last() {
        let ways: Vec<(SwitchId, u16)> = graph
            .connected_ports(at)
            .filter_map(|(_, channel)| match graph.channel(channel).to {
                Endpoint::Switch(to, port) => Some((to, port)),
                Endpoint::Host(_) => None,
            })
            .filter(|(to, _)| !seen[to.index()])
            .collect();
        if ways.is_empty() {
            path.pop();
            continue;
        }
        let (to, port) = dice.pick(&ways);
        seen[to.index()] = true;
        next[to.index() * hosts + host.index()] = port as u8;
        path.push(to);
    }
}

/// A small random fabric with random options, small buffers and routes that may deadlock, under pressure.
fn prone(seed: u64) -> Option<Case> {
    let mut case = small(seed)?;
    if case.graph.switches().len() < 3 {
        return None;
    }
    let mut dice = Dice(stream(seed, Purpose::Topology, 1 << 45));
    let hosts: Vec<HostId> = case.graph.host_ids().collect();
    let mut next = vec![0; case.graph.switches().len() * hosts.len()];
    for &host in &hosts {
        walk(&mut dice, &case.graph, &mut next, host);
    }
    let levels = press(&mut dice, &mut case.plan, true)?;
    let budget = LaneBudget {
        lanes: levels,
        service_levels: levels,
    };
    let guarantees = Guarantees {
        minimal: false,
        deadlock_free: false,
        ..Guarantees::IN_ORDER
    };
    case.routing = Tables::on_one_lane(&case.graph, "Walks", next, budget, guarantees);
    Some(case)
}

/// The same with wormhole switching and adaptive routing.
fn prone_choices(seed: u64) -> Option<Case<Adaptive>> {
    let case = small(seed).filter(|case| case.graph.switches().len() >= 3)?;
    let mut dice = Dice(stream(seed, Purpose::Topology, 1 << 45));
    let routing = wander(&mut dice, &case.graph);
    let (selection, width) = (routing.function.selection(), routing.function.width());
    let is_open = selection == Selection::Open;
    let mut plan = case.plan;
    let switch = plan.switch;
    plan.switch = SwitchOptions {
        forwarding: Forwarding::Wormhole,
        lanes: width * dice.between(1, 2) as u8,
        output_arbitration: switch.output_arbitration,
        routing_delay: switch.routing_delay,
        allocation_delay: switch.allocation_delay,
        crossbar_delay: switch.crossbar_delay,
        credit_latency: switch.credit_latency,
        ..SwitchOptions::default()
    };
    if dice.chance(25) && !is_open {
        plan.switch.input_speedup = dice.pick(&[InputSpeedup::Unlimited, InputSpeedup::Limited(2)]);
    } else if dice.chance(30) {
        plan.switch.input_turns = InputTurns::Packets;
    }
    for class in &mut plan.classes {
        class.management = false;
    }
    press(&mut dice, &mut plan, false)?;
    Some(Case {
        plan,
        graph: case.graph,
        routing,
        cycles: case.cycles,
        fork: None,
        way: case.way,
    })
}

/// The same of packets that stand in several queues (D84).
fn prone_to_stand(seed: u64) -> Option<Case<Adaptive>> {
    let case = small(seed).filter(|case| case.graph.switches().len() >= 3)?;
    let mut dice = Dice(stream(seed, Purpose::Topology, 1 << 45));
    let routing = wander(&mut dice, &case.graph);
    if routing.function.selection() != Selection::Open {
        return None;
    }
    let mut plan = case.plan;
    let switch = plan.switch;
    plan.switch = SwitchOptions {
        lanes: routing.function.width() * dice.between(1, 2) as u8,
        management_lane: false,
        queues: Queues::Voq,
        forwarding: match switch.forwarding {
            Forwarding::StoreAndForward => Forwarding::StoreAndForward,
            _ => Forwarding::CutThrough,
        },
        input_turns: InputTurns::Flits,
        // others are smaller than packets may be
        output_lane_buffer: match switch.output_lane_buffer {
            0..8 => 0,
            flits => flits,
        },
        allocation: Allocation::rounds(switch.allocation.iterations),
        reserve: false,
        ..switch
    };
    for class in &mut plan.classes {
        class.management = false;
    }
    press(&mut dice, &mut plan, false)?;
    Some(Case {
        plan,
        graph: case.graph,
        routing,
        cycles: case.cycles,
        fork: None,
        way: case.way,
    })
}

/// Small buffers, and sources that always have something to send; the number of service levels, none without a source.
fn press(dice: &mut Dice, plan: &mut Plan, has_turns: bool) -> Option<u8> {
    plan.classes.retain(|class| {
        class.flows.is_none()
            && class.messages.is_none()
            && class.answers.is_none()
            && class.control.is_none()
    });
    if plan.classes.is_empty() {
        return None;
    }
    for class in &mut plan.classes {
        class.process = Arc::new(Saturating);
        class.other_processes.clear();
        class.size = SizeDistribution::fixed(dice.between(1, 8) as u16);
        class.packets_per_host = dice.chance(50).then(|| dice.between(1, 30).into());
    }
    let levels = plan.service_level_count();
    let switch = &mut plan.switch;
    switch.lanes = switch.lanes.max(levels);
    switch.vl_arbitration = None;
    switch.drop = None;
    let is_wormhole = switch.forwarding == Forwarding::Wormhole;
    if dice.chance(10) && !is_wormhole {
        switch.drop = Some(Dropping {
            service_levels: vec![virtlane::ids::SlId(0)],
            rule: DropRule::Held,
        });
    }
    let may_reserve = switch.output_arbitration != OutputArbitration::Random
        && switch.matching == virtlane::plan::Matching::OutputFirst;
    if dice.chance(50) && !is_wormhole && may_reserve && has_turns {
        switch.reserve = true;
    }
    plan.host = HostOptions {
        sink_cycles_per_flit: plan.host.sink_cycles_per_flit,
        ..HostOptions::default()
    };
    let largest = u32::from(plan.largest_packet());
    plan.switch.lane_capacity = if is_wormhole {
        dice.between(1, largest)
    } else {
        largest + dice.between(0, largest)
    };
    settle_claims(plan);
    Some(levels)
}

/// Whether heads may wait for an arbiter alone: a turn that is kept at an input with other queues, or until they claim.
fn may_wait_for_a_turn<R>(case: &Case<R>) -> bool {
    let switch = &case.plan.switch;
    let is_single = switch.lane_count() == 1 && switch.queues == Queues::Fifo;
    let will_claim = (switch.allocation.claims).is_some_and(|period| period > SOON);
    let has_places = switch.input_speedup != InputSpeedup::Unlimited && !is_single;
    switch.reserve && (has_places || will_claim)
}

/// What was seen of a case.
#[derive(Debug, Default)]
struct Seen {
    /// With a closed set.
    closed: u32,
    /// The same while something still moved.
    partial: u32,
    /// With nothing that moves, and a closed set.
    still: u32,
    wormhole: u32,
    reserve: u32,
    several: u32,
}

/// Runs a case with these routes in both models, to each of the looks.
fn compare<R>(case: &Case<R>, routes: &Routes, looks: &[u64], seen: &mut Seen)
where
    for<'a> &'a R: Into<Routing<'a>>,
{
    let (plan, graph, title) = (&case.plan, &case.graph, &case.plan.title);
    let options = Options {
        shards: case.way.shards,
        ..Options::default()
    };
    let mut simulation = Simulation::new(plan, graph, routes, options).expect("one thread starts");
    let mut before: Option<Outcome> = None;
    let mut is_partial = false;
    for &cycle in looks {
        simulation.run_until(cycle).expect("there are no messages");
        let expected = simulate(plan, graph, &case.routing, cycle);
        let found = closed_set(&simulation, plan);
        assert_eq!(
            found, expected.closed_set,
            "{title}, cycle {cycle}: {:?}",
            plan.switch
        );
        if let Some(before) = &before {
            for name in &before.closed_set {
                let stays = found.contains(name) && expected.in_fabric.contains(name);
                assert!(stays, "{title}: {name:?} has moved by {cycle}");
            }
            let moved = |outcome: &Outcome| {
                let gone = outcome.deliveries.len() + outcome.lost.len();
                (outcome.packet_hops, gone, outcome.in_fabric.len())
            };
            let is_still = moved(before) == moved(&expected) && !expected.in_fabric.is_empty();
            is_partial |= !is_still && !before.closed_set.is_empty();
            if cycle == LOOKS[LOOKS.len() - 1] && is_still {
                let is_told = !found.is_empty() || may_wait_for_a_turn(case);
                assert!(is_told, "{title}: stands still: {:?}", plan.switch);
                seen.still += u32::from(!found.is_empty());
            }
        }
        before = Some(expected);
    }
    let is_closed = before.is_some_and(|outcome| !outcome.closed_set.is_empty());
    seen.partial += u32::from(is_partial);
    for (count, is_meant) in [
        (&mut seen.closed, true),
        (
            &mut seen.wormhole,
            plan.switch.forwarding == Forwarding::Wormhole,
        ),
        (&mut seen.reserve, plan.switch.reserve),
        (&mut seen.several, simulation.shard_count() > 1),
    ] {
        *count += u32::from(is_closed && is_meant);
    }
}

fn by_tables(case: &Case) -> Routes {
    Routes::Tables(case.routing.clone())
}

#[test]
fn the_same_heads_wait_for_ever() {
    let count = number("VIRTLANE_CASES", 160) as usize;
    let cases = (number("VIRTLANE_FIRST_CASE", 0)..).filter_map(prone);
    let mut seen = Seen::default();
    for case in cases.take(count) {
        compare(&case, &by_tables(&case), &LOOKS, &mut seen);
    }
    let Seen {
        closed,
        partial,
        still,
        wormhole,
        reserve,
        several,
    } = seen;
    let is_enough = closed >= 30 && partial >= 10 && still >= 10;
    assert!(
        count < 160 || is_enough && wormhole >= 1 && reserve >= 5 && several >= 8,
        "{seen:?}"
    );
}

/// Cases in which whoever has the turn of an output lane keeps it from all others.
fn with_turns(seed: u64) -> Option<Case> {
    // with single flits `reserve` changes nothing
    let keeps =
        |options: &SwitchOptions| options.reserve && options.forwarding != Forwarding::Wormhole;
    let mut case = prone(seed).filter(|case| keeps(&case.plan.switch))?;
    case.plan.switch.input_speedup = InputSpeedup::Unlimited;
    Some(case)
}

/// Cases with wormhole switching.
fn with_flits(seed: u64) -> Option<Case> {
    prone(seed).filter(|case| case.plan.switch.forwarding == Forwarding::Wormhole)
}

#[test]
fn turns_that_are_kept_are_waited_for_for_ever() {
    let mut seen = Seen::default();
    let cases = seeds(&[7501]).filter_map(with_turns);
    for case in cases.take(number("VIRTLANE_CASES", 60) as usize) {
        compare(&case, &by_tables(&case), &LOOKS, &mut seen);
    }
    assert!(seen.reserve >= 5, "{seen:?}");
}

#[test]
fn flits_that_have_not_come_keep_no_room() {
    let mut seen = Seen::default();
    let cases = (0..).filter_map(with_flits);
    for case in cases.take(number("VIRTLANE_CASES", 90) as usize) {
        compare(&case, &by_tables(&case), &EARLY, &mut seen);
    }
    assert!(seen.wormhole >= 5, "{seen:?}");
}

#[test]
fn headers_wait_for_all_that_they_request() {
    let mut seen = [Seen::default(), Seen::default()];
    let cases = seeds(&[]).filter_map(prone_choices);
    for case in cases.take(number("VIRTLANE_CASES", 80) as usize) {
        let is_open = case.routing.function.selection() == Selection::Open;
        let seen = &mut seen[usize::from(is_open)];
        compare(&case, &case.routing.routes(), &LATER, seen);
    }
    let enough = seen
        .iter()
        .all(|seen| seen.closed >= 4 && seen.partial >= 1);
    assert!(enough && seen[1].still >= 2, "{seen:?}");
}

#[test]
fn packets_that_stand_wait_in_all_their_queues() {
    let mut seen = Seen::default();
    let cases = seeds(&[]).filter_map(prone_to_stand);
    for case in cases.take(number("VIRTLANE_CASES", 60) as usize) {
        compare(&case, &case.routing.routes(), &LATER, &mut seen);
    }
    assert!(seen.closed >= 3, "{seen:?}");
}
