//! When nothing can happen any more (section 6 of the model), with hosts that hold packets (D57) and switches that drop them
//! (D58): the engine says so of a cycle just when the reference model shows nothing from there on.

use super::engine::closed_set;
use super::number;
use crate::random_fabric::{Case, Dice, Saturating, case, settle_claims};
use crate::reference::{Outcome, simulate};
use std::sync::Arc;
use virtlane::control::{ALGORITHMS, Algorithm, ControlContext, WHOLE_LINK};
use virtlane::ids::{HostId, SlId};
use virtlane::plan::{
    ClassPlan, Control, DropRule, Dropping, FlowPlan, Forwarding, HostOptions, InputTurns, Phases,
    Plan,
};
use virtlane::registry::Arguments;
use virtlane::rng::{Purpose, stream};
use virtlane::routing::Routes;
use virtlane::run::{Options, Simulation};
use virtlane::traffic::SizeDistribution;
use virtlane::units::Clock;

/// Cycles of a case.
const CYCLES: u64 = 4_000;
/// In so many cycles something happens if anything is to come: longer than every time of these cases.
const SILENCE: u64 = 1_000;

/// How a case ended.
#[derive(Debug, PartialEq, Eq)]
enum Ending {
    /// Something happens until the end.
    Going,
    /// Everything has arrived or was dropped.
    Done,
    /// What is in the fabric stays there.
    Stuck,
}

/// A small random fabric with its options, without anything to send.
pub(super) fn small(seed: u64) -> Option<Case> {
    let mut case = case(seed);
    let plan = &mut case.plan;
    plan.phases = Phases {
        measure: CYCLES,
        ..Phases::default()
    };
    plan.host = HostOptions {
        sink_cycles_per_flit: plan.host.sink_cycles_per_flit,
        ..HostOptions::default()
    };
    plan.admission = None;
    plan.workloads.clear();
    plan.flows.clear();
    plan.app_phases.clear();
    plan.observe = virtlane::measure::Observe::default();
    let hosts = case.graph.hosts().len();
    let slowest = case.graph.channels().iter();
    let slowest = slowest.map(|channel| channel.timing.latency).max();
    ((2..=12).contains(&hosts) && slowest <= Some(40)).then_some(case)
}

/// Runs a case in the engine, asked in every cycle; the first cycle in which nothing can happen any more.
fn run(case: &Case, shards: usize) -> (Simulation, Option<u64>) {
    let (plan, graph) = (&case.plan, &case.graph);
    let (routes, options) = (
        Routes::Tables(case.routing.clone()),
        Options {
            shards,
            ..Options::default()
        },
    );
    let simulation = Simulation::new(plan, graph, &routes, options);
    let mut simulation = simulation.expect("one thread starts");
    let mut idle = None;
    for cycle in 1..=CYCLES {
        simulation.run_until(cycle).expect("there are no messages");
        let is_idle = simulation.is_idle();
        // at a look a head that stands may claim what it will not get
        let claims = plan.switch.allocation.claims;
        let is_look = claims.is_some_and(|period| cycle.is_multiple_of(period));
        assert!(
            is_idle || idle.is_none() || is_look,
            "{}: awake again in {cycle}",
            plan.title
        );
        idle = idle.or(is_idle.then_some(cycle));
    }
    (simulation, idle)
}

/// Compares a case with the reference model, and with itself in one shard.
fn ending(case: &Case) -> (Ending, Outcome) {
    let (plan, graph) = (&case.plan, &case.graph);
    let (simulation, idle) = run(case, case.way.shards);
    let after = |cycles: u64| simulate(plan, graph, &case.routing, cycles);
    let injected = |outcome: &Outcome| {
        let classes = outcome.window.classes.iter();
        classes.map(|class| class.injected.0).sum::<u64>()
    };
    let seen = |outcome: &Outcome| {
        (
            (outcome.created, injected(outcome), outcome.packet_hops),
            (outcome.deliveries.len(), outcome.lost.len()),
        )
    };
    let whole = after(CYCLES);
    let title = &plan.title;
    let closed = closed_set(&simulation, plan);
    assert_eq!(closed, whole.closed_set, "{title}");
    if let Some(cycle) = idle {
        let until = after(cycle);
        assert_eq!(seen(&until), seen(&whole), "{title}: idle in {cycle}");
    }
    // nothing has happened for so long
    if let Some(long_ago) = idle.unwrap_or(CYCLES).checked_sub(SILENCE) {
        let before = after(long_ago);
        assert_ne!(seen(&before), seen(&whole), "{title}: idle in {idle:?}");
    }
    let gone = (whole.deliveries.len() + whole.lost.len()) as u64;
    let ending = match idle {
        None => Ending::Going,
        Some(_) if injected(&whole) > gone => Ending::Stuck,
        Some(_) => Ending::Done,
    };
    // what stands may wait for credits of another shard, which are on their way for some cycles more
    if case.way.shards > 1 && ending != Ending::Stuck {
        assert_eq!(run(case, 1).1, idle, "{title}: in one shard");
    }
    (ending, whole)
}

/// A class that sends nothing of its own.
fn silent(hosts: Vec<HostId>, size: u16, level: u8) -> ClassPlan {
    let size = SizeDistribution::fixed(size);
    ClassPlan::silent(String::from("class"), hosts, size, vec![SlId(level)])
}

fn request_reply(dice: &mut Dice, answer: u16) -> Algorithm {
    let text = format!(
        "(outstanding: {}, request: {}, reply: {}, server: \"{} cycles\")",
        dice.between(1, 6),
        dice.pick(&[1, 1, 2]),
        dice.pick(&[1, 1, 3]),
        dice.between(1, 60)
    );
    let context = ControlContext {
        peak: None,
        link: WHOLE_LINK,
        clock: Clock {
            flit_bytes: 64,
            reference_rate: 1_000_000_000,
        },
        smallest: 1,
        largest: 8,
        answer,
    };
    let build = ALGORITHMS.find("RequestReply").expect("its name").build;
    build(Arguments { text: &text }, context).expect("arguments")
}

/// Flows of requests, some of a size, whose answers have little room, on any service level or on VL15.
fn add_requests(dice: &mut Dice, case: &mut Case) {
    let plan = &mut case.plan;
    let hosts: Vec<HostId> = case.graph.host_ids().collect();
    let levels = u32::from(plan.service_level_count());
    let mut level = || dice.between(0, levels - 1) as u8;
    let levels = [level(), level()];
    let [mut requests, mut answers] =
        levels.map(|level| silent(hosts.clone(), dice.between(1, 8) as u16, level));
    let algorithm = request_reply(dice, answers.size.largest());
    let least = u32::from(algorithm.packets_per_answer());
    let count = dice.between(2, 12);
    requests.flows = Some(count.into());
    requests.control = Some(Control {
        algorithm,
        answers: 1,
        transport: None,
        queue: Some(least + dice.pick(&[0, 0, 1, 4])),
    });
    answers.answers = Some(0);
    answers.management = plan.switch.management_lane && dice.chance(50);
    let ends = dice.chance(40);
    for _ in 0..count {
        let source = dice.between(0, hosts.len() as u32 - 1);
        let other = dice.between(1, hosts.len() as u32 - 1);
        plan.flows.push(FlowPlan {
            level: SlId(levels[0]),
            start: dice.between(0, 50).into(),
            flits: ends.then(|| dice.between(1, 200).into()),
            ..FlowPlan::backlogged(
                0,
                HostId(source),
                HostId((source + other) % hosts.len() as u32),
            )
        });
    }
    plan.classes = vec![requests, answers];
    plan.switch.drop = None;
    if plan.switch.forwarding == Forwarding::Wormhole {
        plan.switch.forwarding = Forwarding::CutThrough;
        plan.switch.input_turns = InputTurns::Flits;
        plan.switch.vl_arbitration = None;
    }
    fit(plan);
}

/// Every host sends some packets as fast as it can, and switches drop.
fn add_drops(dice: &mut Dice, case: &mut Case) {
    let plan = &mut case.plan;
    let levels = plan.service_level_count();
    plan.classes
        .retain(|class| class.flows.is_none() && class.messages.is_none());
    plan.classes
        .retain(|class| class.answers.is_none() && class.control.is_none());
    for class in &mut plan.classes {
        class.process = Arc::new(Saturating);
        class.other_processes.clear();
        class.size = SizeDistribution::fixed(dice.between(1, 8) as u16);
        class.packets_per_host = Some(dice.between(1, 12).into());
    }
    plan.switch.drop = Some(Dropping {
        service_levels: (0..levels).map(SlId).collect(),
        rule: match plan.switch.forwarding {
            Forwarding::Wormhole => DropRule::Held,
            _ => dice.pick(&[
                DropRule::Held,
                DropRule::Threshold(1),
                DropRule::Threshold(12),
            ]),
        },
    });
    fit(plan);
}

/// Lanes are as small as can be, and nothing claims what it may not.
fn fit(plan: &mut Plan) {
    settle_claims(plan);
    plan.switch.lane_capacity = plan.largest_packet().into();
}

/// Seeds from the first one on, some that say what few do before them.
pub(super) fn seeds(rare: &[u64]) -> impl Iterator<Item = u64> {
    let first = number("VIRTLANE_FIRST_CASE", 0);
    let rare = rare.iter().copied().filter(move |_| first == 0);
    rare.chain(first..)
}

/// Runs so many small cases with that traffic, rare ones first.
fn endings(count: usize, rare: &[u64], add: fn(&mut Dice, &mut Case)) -> Vec<(Ending, Outcome)> {
    let count = number("VIRTLANE_CASES", count as u64) as usize;
    let cases = seeds(rare).filter_map(|seed| {
        let mut case = small(seed)?;
        add(
            &mut Dice(stream(seed, Purpose::Topology, 1 << 44)),
            &mut case,
        );
        Some(case)
    });
    cases.take(count).map(|case| ending(&case)).collect()
}

#[test]
fn held_packets_are_stuck_when_no_answer_is_to_come() {
    // heads claim while nothing moves any more; hosts have answers to send beside inputs with the turn of an output lane
    let endings = endings(60, &[257, 275], add_requests);
    let count = |of: Ending| endings.iter().filter(|(ending, _)| *ending == of).count();
    let counts = [Ending::Going, Ending::Done, Ending::Stuck].map(count);
    assert!(counts.iter().all(|&count| count > 3), "{counts:?}");
    // what nothing can undo waits for itself
    let closed = |(ending, outcome): &&(Ending, Outcome)| {
        *ending == Ending::Stuck && !outcome.closed_set.is_empty()
    };
    let closed = endings.iter().filter(closed).count();
    assert!(4 * closed >= 3 * counts[2], "{closed} of {}", counts[2]);
    let held = endings.iter().filter(|(_, outcome)| outcome.held > 0);
    assert!(held.count() > 20);
}

#[test]
fn dropped_packets_are_not_waited_for() {
    let endings = endings(60, &[], add_drops);
    let stuck = endings.iter().filter(|(end, _)| *end != Ending::Done);
    let lost = endings
        .iter()
        .filter(|(_, outcome)| !outcome.lost.is_empty());
    let (stuck, lost) = (stuck.count(), lost.count());
    let all = endings.len();
    assert!(12 * stuck < all && 3 * lost > all, "{stuck} {lost}");
}
