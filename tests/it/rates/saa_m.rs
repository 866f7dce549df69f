//! SAA-M by messages: where it settles, what a change changes, and what it costs.

use super::network::{Case, Flow, Machines};
use crate::random_fabric::Dice;
use virtlane::control::saa_m::{Claimant, Link};
use virtlane::control::{Agent, Sender};
use virtlane::fluid::check;
use virtlane::fluid::rates::Allocation;
use virtlane::rng::{Purpose, stream};

const SAA_M: &str = "SaaM(period: \"50 cycles\", back_off: \"80 cycles\")";
/// Longer than it takes any of these cases to settle.
const QUIET: u64 = 100_000;

fn state(sender: &Sender) -> Claimant {
    match sender {
        Sender::SaaM(state) => *state,
        other => panic!("{other:?}"),
    }
}

fn link(agent: &Agent) -> Link {
    match agent {
        Agent::SaaM(link) => *link,
        other => panic!("{other:?}"),
    }
}

/// Rates are maximal, and links know them exactly.
fn assert_settled(machines: &Machines<'_>) {
    let case = machines.case;
    let rates = |flow: usize| u128::from(state(&machines.senders[flow]).flow.rate);
    let staying = case.staying();
    for (number, agent) in machines.agents.iter().enumerate() {
        let link = link(agent);
        let users = staying
            .iter()
            .filter(|&&flow| case.flows[flow].route.contains(&number));
        let (weights, taken): (Vec<u64>, Vec<u128>) = users
            .map(|&flow| (u64::from(case.flows[flow].weight), rates(flow)))
            .unzip();
        let capacity = (1u128 << 32) / u128::from(link.pace);
        assert_eq!(link.weight, weights.iter().sum::<u64>());
        assert_eq!(link.free as u128, capacity - taken.iter().sum::<u128>());
    }
    let rates = Allocation {
        rates: staying.iter().map(|&flow| rates(flow)).collect(),
        rounds: 1,
    };
    check::maximal(&case.fluid(1 << 32), &rates).expect("nobody could have more");
}

fn random(seed: u64) -> Case {
    let mut case = Case::random(seed);
    let mut dice = Dice(stream(seed, Purpose::Topology, 1 << 53));
    for flow in &mut case.flows {
        flow.start = dice.between(0, 400).into();
        flow.stop = dice
            .chance(30)
            .then(|| flow.start + u64::from(dice.between(1, 2000)));
    }
    case
}

/// S4: flows that start and stop at any time; when it is quiet, nobody has less than with SAA, no link carries more than it
/// can, and everybody has a link with nothing left. A flow that has come down once to what its links can carry only gains.
#[test]
fn what_is_left_is_claimed_in_the_end() {
    for seed in 0..1000 {
        let case = random(seed);
        let mut machines = Machines::new(SAA_M, &case);
        machines.run(QUIET / 2);
        let before = machines.changes.len();
        machines.run(QUIET);
        assert_eq!(machines.changes.len(), before, "case {seed} is settled");
        assert_settled(&machines);
    }
}

/// Rates do not fall any more once weights have settled, every flow has its guarantee and no more is reserved from before:
/// two round trips and two looks after the last change of the set of flows and after the last guarantee was taken.
#[test]
fn rates_only_rise_after_a_while() {
    for seed in 0..1000 {
        let case = random(seed);
        let mut machines = Machines::new(SAA_M, &case);
        machines.run(QUIET);
        let ends = case
            .flows
            .iter()
            .map(|flow| flow.stop.unwrap_or(flow.start));
        let last = ends.max().expect("a flow");
        let calm = last + 12 * (case.round_trip() + 80);
        let late = machines.changes.iter().filter(|change| change.cycle > calm);
        for change in late {
            assert!(
                change.from.is_some_and(|from| from < change.to),
                "case {seed}: {change:?}"
            );
        }
    }
}

/// S5: a flow that starts in a settled network changes the rates of flows that share a link with it, and of those that share one
/// with these; one that ends changes one step more.
#[test]
fn changes_stay_near() {
    let (mut reached, mut far) = ([0; 4], 0);
    for seed in 0..1000 {
        let mut case = Case::chain(seed);
        let distances = case.distances(0);
        far += u32::from(distances.iter().flatten().any(|&distance| distance > 3));
        case.flows[0].start = QUIET / 4;
        case.flows[0].stop = Some(QUIET / 2);
        let mut machines = Machines::new(SAA_M, &case);
        machines.run(QUIET);
        assert_settled(&machines);
        for (from, until, most) in [(QUIET / 4, QUIET / 2, 2), (QUIET / 2, QUIET, 3)] {
            let changes = machines.changes.iter();
            for change in changes.filter(|change| (from..until).contains(&change.cycle)) {
                let distance = distances[change.flow].expect("near");
                assert!(distance <= most, "case {seed}: {change:?} at {distance}");
                reached[distance as usize] += 1;
            }
        }
    }
    assert!(reached[..3].iter().all(|&count| count > 0), "{reached:?}");
    assert!(far > 200, "{far} networks have flows further away");
}

/// M5: two flows reach two links in opposite orders, at the same times. Each is refused by the link that the other one has
/// reserved first, and for ever so if both wait for the same time.
#[test]
fn equal_back_off_does_not_end_and_random_back_off_does() {
    // the two start when all others have settled
    let flow = |route: &[usize]| Flow {
        weight: 1,
        route: route.to_vec(),
        start: if route.len() == 2 { 1000 } else { 0 },
        stop: None,
        flits: None,
    };
    // links 0 and 1 are shared by three; the third has a sixth, as link 2 has six flows; others elsewhere move the numbers
    let case = |others: usize| Case {
        paces: vec![1; 4],
        flows: [flow(&[0, 1]), flow(&[1, 0]), flow(&[2, 0, 1])]
            .into_iter()
            .chain((0..5).map(|_| flow(&[2])))
            .chain((0..others).map(|_| flow(&[3])))
            .rev()
            .collect(),
        longest: 1,
        seed: 1,
    };
    let rates = |machines: &Machines<'_>| {
        let both = machines.senders.iter().rev().take(2);
        both.map(|sender| state(sender).flow.rate)
            .collect::<Vec<_>>()
    };
    let third = (1u64 << 32) / 3 + 9;
    for others in 0..100 {
        let case = case(others);
        let equal = "SaaM(period: \"50 cycles\", back_off: \"80 cycles\", random: false)";
        let mut machines = Machines::new(equal, &case);
        machines.run(QUIET);
        let found = rates(&machines);
        assert!(found.iter().all(|&rate| rate <= third), "{found:?}");
        assert!(machines.sent.iter().rev().take(2).all(|&sent| sent > 3000));
        let mut machines = Machines::new(SAA_M, &case);
        machines.run(QUIET);
        assert_settled(&machines);
        let found = rates(&machines);
        assert!(found.iter().any(|&rate| rate > third), "{found:?}");
    }
}
