//! SAA by messages: rates, time, and weights that come back to nothing.

use super::network::{Case, Flow, Machines, What};
use crate::random_fabric::Dice;
use virtlane::control::saa::{Link, Sharer};
use virtlane::control::{Agent, Sender};
use virtlane::fluid::check;
use virtlane::fluid::rates::{Allocation, SOLVERS};
use virtlane::rng::{Purpose, stream};

const PERIOD: u64 = 50;
const SAA: &str = "Saa(period: \"50 cycles\")";

fn state(sender: &Sender) -> Sharer {
    match sender {
        Sender::Saa(state) => *state,
        other => panic!("{other:?}"),
    }
}

fn link(agent: &Agent) -> Link {
    match agent {
        Agent::Saa(link) => *link,
        other => panic!("{other:?}"),
    }
}

/// Weight over capacity of the fullest link of each flow, of the flows that take part.
fn largest(case: &Case, takes_part: impl Fn(&Flow) -> bool) -> Vec<u128> {
    let mut links = vec![0u128; case.paces.len()];
    for flow in case.flows.iter().filter(|flow| takes_part(flow)) {
        for &link in &flow.route {
            let weight = flow.flits.unwrap_or(flow.weight.into());
            links[link] += u128::from(weight) * u128::from(case.paces[link]);
        }
    }
    let of = |flow: &Flow| flow.route.iter().map(|&link| links[link]).max();
    case.flows
        .iter()
        .map(|flow| of(flow).expect("a route"))
        .collect()
}

/// S1: with the first look that is sent after all announcements are through, every rate is weight / W, to the last bit, and
/// stays so; rates are the solver's and feasible.
#[test]
fn one_look_after_the_last_announcement_is_enough() {
    for seed in 0..1000 {
        let mut case = Case::random(seed);
        let mut dice = Dice(stream(seed, Purpose::Topology, 1 << 52));
        for flow in &mut case.flows {
            flow.start = dice.between(0, 200).into();
        }
        let expected = largest(&case, |_| true);
        let mut machines = Machines::new(SAA, &case);
        let total: u64 = machines_weight(&case);
        let (mut all_in, mut right) = (None, vec![None; case.flows.len()]);
        let until = 200 + 4 * case.round_trip() + 2 * PERIOD;
        while let Some((flow, what)) = machines.step(until) {
            let weight: u64 = machines.agents.iter().map(|agent| link(agent).weight).sum();
            if weight == total && all_in.is_none() {
                all_in = Some(machines.now);
            }
            if matches!(what, What::Back(_))
                && state(&machines.senders[flow]).largest == expected[flow]
            {
                right[flow].get_or_insert(machines.now);
            }
        }
        let all_in = all_in.expect("all are announced");
        for (flow, right) in right.iter().enumerate() {
            // who looks at once needs what is under way, and a look; who rests, a period before it
            let by = all_in + 2 * case.round_trip() + PERIOD;
            assert!(
                right.is_some_and(|cycle| cycle <= by),
                "case {seed}, {flow}"
            );
            let weight = u128::from(case.flows[flow].weight);
            let part = ((weight << 32) / expected[flow]) as u64;
            let limit = part.max(3);
            assert_eq!(machines.limits[flow], Some(limit), "case {seed}, {flow}");
        }
        let network = case.fluid(1 << 32);
        let rates = machines.senders.iter();
        let rates: Vec<u128> = rates.map(|sender| state(sender).flow.rate.into()).collect();
        let solve = SOLVERS.lookup("Saa").expect("its name").build.solve;
        let solved = solve(&network, 1).expect("it is small").rates;
        // the solver rounds the part of a unit of weight, and capacities of slow links
        for (flow, (&rate, &solved)) in rates.iter().zip(&solved).enumerate() {
            let weight = u128::from(case.flows[flow].weight);
            assert!((solved..=solved + 2 * weight).contains(&rate), "{seed}");
        }
        let rates = Allocation { rates, rounds: 1 };
        check::guaranteed(&network, &rates).expect("feasible, and no less than the guarantee");
    }
}

fn machines_weight(case: &Case) -> u64 {
    let flows = case.flows.iter();
    flows
        .map(|flow| u64::from(flow.weight) * flow.route.len() as u64)
        .sum()
}

/// A random network whose flows start in the first 400 cycles; so many of 100 stop again.
fn coming_and_going(seed: u64, share: u32) -> (Case, Dice) {
    let mut case = Case::random(seed);
    let mut dice = Dice(stream(seed, Purpose::Topology, 1 << 53));
    for flow in &mut case.flows {
        flow.start = dice.between(0, 400).into();
        flow.stop = dice
            .chance(share)
            .then(|| flow.start + u64::from(dice.between(1, 300)));
    }
    (case, dice)
}

/// Flows that start and stop at any time: in the end links have the weight of those that stay, to the last bit, and rates
/// are theirs.
#[test]
fn weights_of_flows_that_end_are_taken_away() {
    for seed in 0..1000 {
        let (case, _) = coming_and_going(seed, 60);
        let mut machines = Machines::new(SAA, &case);
        machines.run(700 + 5 * case.round_trip() + 2 * PERIOD);
        let expected = largest(&case, |flow| flow.stop.is_none());
        let mut weights = vec![0; case.paces.len()];
        for flow in case.staying() {
            let state = state(&machines.senders[flow]);
            assert_eq!(state.largest, expected[flow], "case {seed}, flow {flow}");
            for &link in &case.flows[flow].route {
                weights[link] += u64::from(case.flows[flow].weight);
            }
        }
        let found: Vec<u64> = machines
            .agents
            .iter()
            .map(|agent| link(agent).weight)
            .collect();
        assert_eq!(found, weights, "case {seed}");
    }
}

/// S3: flows that start and stop at any time, packets of data at any time, and both that overtake each other: rates are those of
/// the variant with probes, nobody looks, and a packet is replied to exactly where it has met another weight than the one that
/// was known.
#[test]
fn packets_of_data_find_what_looks_find() {
    let mut replies = 0;
    for seed in 0..1000 {
        let (case, mut dice) = coming_and_going(seed, 40);
        let mut machines = Machines::new("Saa(piggy_back: true)", &case);
        let gap = dice.pick(&[1, 7, 60]);
        let quiet = 700 + 3 * case.round_trip();
        let until = quiet + 4 * (u64::from(gap) + case.round_trip());
        for (number, flow) in case.flows.iter().enumerate() {
            let mut at = flow.start;
            while at < flow.stop.unwrap_or(until) {
                machines.post(at, number, What::Laden);
                at += u64::from(dice.between(1, gap));
            }
        }
        machines.run(until + case.round_trip());
        let expected = largest(&case, |flow| flow.stop.is_none());
        let mut probes = Machines::new(SAA, &case);
        probes.run(until + 2 * PERIOD + case.round_trip());
        for flow in case.staying() {
            let state = state(&machines.senders[flow]);
            assert_eq!(state.largest, expected[flow], "case {seed}, flow {flow}");
            assert_eq!(machines.limits[flow], probes.limits[flow], "case {seed}");
            assert_eq!(machines.sent[flow], 1, "the announcement");
        }
        for &(payload, is_replied) in &machines.told {
            let [low, middle, high, top] = payload.map(u128::from);
            let bits = (low | middle << 32 | high << 64 | top << 96) >> 4;
            let (known, met) = (bits & ((1 << 62) - 1), bits >> 62);
            assert_eq!(is_replied, known > 0 && known != met, "case {seed}");
            replies += usize::from(is_replied);
        }
    }
    assert!(replies > 10_000, "{replies}");
}

/// S1 and S2: a phase, with sizes as weights. Nothing is sent before rates are known. The largest weight that a flow knows
/// does not change before it ends, and the last flow ends when the fullest link has sent all of its flows.
#[test]
fn known_weights_stay_until_a_flow_ends() {
    const TIME: u64 = 5000;
    for seed in 0..1000 {
        let mut case = Case::random(seed);
        for flow in &mut case.flows {
            // rounding of rates is less than a cycle for all of them
            flow.weight = flow.weight.min(20);
            flow.flits = Some(u64::from(flow.weight) + 1);
        }
        let expected = largest(&case, |_| true);
        let text = "Saa(period: \"50 cycles\", weights: Sizes)";
        let mut machines = Machines::new(text, &case);
        machines.run(TIME);
        for (flow, &largest) in expected.iter().enumerate() {
            assert_eq!(state(&machines.senders[flow]).largest, largest);
            // a part of the size is what so many flits take at the line's rate
            let parts = u128::from(case.flows[flow].weight + 1) * 1000;
            let rate = u128::from(state(&machines.senders[flow]).flow.rate);
            let takes = ((parts << 32) / rate) as u64;
            assert_eq!(
                u128::from(takes),
                largest * 1000,
                "case {seed}, flow {flow}"
            );
            machines.post(TIME + takes, flow, What::Start(case.flows[flow].weight));
        }
        let (mut last, mut has_ended) = (0, vec![false; case.flows.len()]);
        while let Some((flow, what)) = machines.step(u64::MAX) {
            let state = state(&machines.senders[flow]);
            match what {
                What::Start(_) => (last, has_ended[flow]) = (machines.now, true),
                What::Back(_) if !has_ended[flow] => {
                    assert_eq!(state.largest, expected[flow], "case {seed}");
                }
                _ => {}
            }
        }
        let worst = expected.iter().max().copied().expect("a flow");
        assert_eq!(u128::from(last - TIME), worst * 1000, "case {seed}");
        assert!(machines.agents.iter().all(|agent| link(agent).weight == 0));
    }
}
