//! DFFA* by messages: the lemmas of its source at every event, the result and the time it takes.

use super::network::{Case, Machines, What};
use crate::random_fabric::Dice;
use virtlane::control::dffa::{Filler, Link, UNIT};
use virtlane::control::{Agent, Sender};
use virtlane::fluid::check;
use virtlane::fluid::rates::{Allocation, SOLVERS};
use virtlane::rng::{Purpose, stream};

/// First cycle of the calculation.
const BEGIN: u64 = 1000;

fn state(sender: &Sender) -> Filler {
    match sender {
        Sender::Dffa(state) => *state,
        other => panic!("{other:?}"),
    }
}

fn link(agent: &Agent) -> Link {
    match agent {
        Agent::Dffa(link) => *link,
        other => panic!("{other:?}"),
    }
}

/// What links know of their flows: rates per weight, and who is active, `[link][flow]`.
struct Known {
    levels: Vec<Vec<u64>>,
    active: Vec<Vec<bool>>,
}

/// Follows a packet over a link.
fn follow(case: &Case, known: &mut Known, flow: usize, number: usize, payload: [u32; 4]) {
    let words = payload.iter().rev();
    let all = words.fold(0u128, |all, &word| all << 32 | u128::from(word));
    let level = (all >> 20 & ((1 << 54) - 1)) as u64;
    match all & 7 {
        0 => known.active[number][flow] = true,
        2 => known.levels[number][flow] += level,
        3 => {
            // lemma 4.2.2: links and source agree on what it keeps
            assert_eq!(known.levels[number][flow], level);
            known.active[number][flow] = false;
        }
        _ => {}
    }
    assert!(case.flows[flow].route.contains(&number));
}

/// Lemmas 4.2.3 to 4.2.6 on one link.
fn assert_lemmas(machines: &Machines<'_>, known: &Known, number: usize, before: Link) {
    let now = link(&machines.agents[number]);
    let (case, share) = (machines.case, now.share());
    if let (Some(share), Some(before)) = (share, before.share())
        && machines.now >= BEGIN
    {
        assert!(share >= before, "4.2.3: shares do not fall");
    }
    assert!(now.free <= before.free, "4.2.4: what is free does not grow");
    let mut taken = 0;
    for (flow, &level) in known.levels[number].iter().enumerate() {
        let source = state(&machines.senders[flow]).level;
        assert!(level <= source, "4.2.4: the source knows first");
        if known.active[number][flow] {
            let share = share.expect("an active flow");
            assert!(source <= share, "4.2.3: no rate is above the share");
            taken += u128::from(case.flows[flow].weight) * u128::from(level);
        }
    }
    // equation 4.4; 4.2.6 is in it, as no number is below 0
    assert_eq!(u128::from(now.left), taken + u128::from(now.free), "4.2.5");
}

/// One case: result and time. Whether rates are the solver's, to the last bit.
fn calculate(seed: u64, one_packet: bool) -> bool {
    let mut case = Case::random(seed);
    let mut dice = Dice(stream(seed, Purpose::Topology, 1 << 52));
    for flow in &mut case.flows {
        flow.start = dice.between(0, 200).into();
    }
    let text = format!("Dffa(begin: \"{BEGIN} cycles\", one_packet: {one_packet})");
    let mut machines = Machines::new(&text, &case);
    let mut known = Known {
        levels: vec![vec![0; case.flows.len()]; case.paces.len()],
        active: vec![vec![false; case.flows.len()]; case.paces.len()],
    };
    let mut before: Vec<Link> = machines.agents.iter().map(link).collect();
    while let Some((flow, what)) = machines.step(u64::MAX) {
        if let What::Visit(place, payload) = what {
            let number = case.flows[flow].route[place];
            follow(&case, &mut known, flow, number, payload);
            assert_lemmas(&machines, &known, number, before[number]);
            before[number] = link(&machines.agents[number]);
        }
    }
    let states: Vec<Filler> = machines.senders.iter().map(state).collect();
    assert!(states.iter().all(|state| state.is_done), "case {seed}");
    let network = case.fluid(UNIT);
    let flows = states.iter().zip(&case.flows);
    let rates = flows.map(|(state, flow)| u128::from(state.level) * u128::from(flow.weight));
    let rates = Allocation {
        rates: rates.collect(),
        rounds: 1,
    };
    check::max_min(&network, &rates).unwrap_or_else(|unfair| panic!("case {seed}: {unfair}"));
    let solve = SOLVERS.lookup("Ffa").expect("its name").build.solve;
    let solved = solve(&network, 1).expect("it is small");
    for (rate, solved) in rates.rates.iter().zip(&solved.rates) {
        assert!(
            rate.abs_diff(*solved) < 1 << 24,
            "case {seed}: {rate} and {solved}"
        );
    }
    let last = machines.changes.iter().map(|change| change.cycle).max();
    let most = 6 * solved.rounds as u64 * case.round_trip();
    assert!(last.is_some_and(|last| last <= BEGIN + most), "case {seed}");
    rates.rates == solved.rates
}

/// S8: random networks, delays and weights. Every flow has a full link on which nobody has more per weight, without any
/// tolerance; and the solver's rates to within 2^-30 flits per cycle, mostly to the last bit.
#[test]
fn rates_are_max_min_fair_for_any_delays() {
    for one_packet in [true, false] {
        let same = (0..1000)
            .filter(|&seed| calculate(seed, one_packet))
            .count();
        assert!(
            same >= 700,
            "{same} of 1000 are the solver's to the last bit"
        );
    }
}

/// Two links, three flows, all divisions come out: thirds and two thirds, in one round and two.
#[test]
fn two_levels_are_found_exactly() {
    let flow = |weight, route: &[usize]| super::network::Flow {
        weight,
        route: route.to_vec(),
        start: 0,
        stop: None,
        flits: None,
    };
    let case = Case {
        paces: vec![1, 1],
        flows: vec![flow(1, &[0, 1]), flow(2, &[0]), flow(1, &[1])],
        longest: 1,
        seed: 3,
    };
    for one_packet in [true, false] {
        let text = format!("Dffa(begin: \"{BEGIN} cycles\", one_packet: {one_packet})");
        let mut machines = Machines::new(&text, &case);
        machines.run(u64::MAX);
        let levels = machines.senders.iter().map(|sender| state(sender).level);
        let third = UNIT / 3;
        assert_eq!(levels.collect::<Vec<_>>(), [third, third, 2 * third]);
        let limits = [1u64, 2, 2].map(|parts| Some((parts << 32) / 3));
        assert_eq!(machines.limits, limits);
    }
}
