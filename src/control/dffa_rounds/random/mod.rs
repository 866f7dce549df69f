//! Check S9 without an engine: flows that start and end at any times, in random networks with any delays. Once nothing is
//! under way all elements have one round, and rates are those of the solver. `VIRTLANE_CASES=n`: how many cases,
//! `VIRTLANE_FIRST_CASE=n`: the first of them.

mod lemmas;
mod messages;
mod network;

use super::super::dffa::UNIT;
use super::{Progress, rate};
use crate::control::{Limit, ONE_FLIT_PER_CYCLE};
use crate::fluid::check;
use crate::fluid::network::{Builder, Network};
use crate::fluid::rates::{Allocation, SOLVERS};
use crate::rng::{Purpose, below, stream};
use messages::Messages;
use network::{Case, PACKET};
use std::ops::Range;

/// The cases, as many unless another number is wanted.
fn cases(count: u64) -> Range<u64> {
    let number = |name, default| {
        let text = std::env::var(name).ok();
        text.and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let first = number("VIRTLANE_FIRST_CASE", 0);
    first..first + number("VIRTLANE_CASES", count)
}

/// What is left when nothing is under way.
struct Quiet {
    /// Rounds of all elements.
    rounds: usize,
    /// Different rates per weight.
    rates: u64,
    /// Whether all rates are the solver's to the last bit; where divisions do not come out they are less by what was rounded.
    is_same: bool,
}

/// The wires, and the flows that have not ended.
fn remaining(messages: &Messages<'_>) -> (Network, Vec<usize>) {
    let case = messages.case;
    let capacities = case.wires.iter().map(|wire| UNIT / u64::from(wire.pace));
    let mut network = Builder::new(capacities.map(u128::from).collect());
    let takes_part = |&flow: &usize| messages.senders[flow].flow.takes_part();
    let flows: Vec<usize> = (0..case.flows.len()).filter(takes_part).collect();
    for &flow in &flows {
        let plan = &case.flows[flow];
        let way = plan.way.iter().map(|&wire| wire as u32);
        network.flow(plan.facts.weight.into(), 0, way);
    }
    (network.build(), flows)
}

/// All that S9 says of what is left. Networks are connected, so there is no element that broadcasts cannot reach.
fn quiet(messages: &Messages<'_>, case: u64) -> Quiet {
    let round = messages.elements[0].now;
    for (element, state) in messages.elements.iter().enumerate() {
        assert_eq!(state.now, round, "case {case}, element {element}");
    }
    // lemma 4.2.13: by its announcement, and by its broadcast
    let raised = messages.raised.iter().flatten().max();
    assert!(raised.is_none_or(|&times| times <= 2), "case {case}");
    let (network, flows) = remaining(messages);
    for (wire, channel) in messages.channels.iter().enumerate() {
        assert_eq!(u128::from(channel.all), network.total(wire), "case {case}");
    }
    let mut rates = Vec::new();
    for &flow in &flows {
        let sender = &messages.senders[flow];
        assert_eq!(sender.progress, Progress::IsDone, "case {case}, {flow}");
        assert_eq!(sender.round, round, "case {case}, flow {flow}");
        let weight = messages.case.flows[flow].facts.weight.into();
        let limit = rate(sender.level, weight).clamp(17, ONE_FLIT_PER_CYCLE);
        assert_eq!(messages.limits[flow], Some(Limit::Rate(limit)));
        rates.push(u128::from(sender.level * weight));
    }
    let rates = Allocation { rates, rounds: 1 };
    check::max_min(&network, &rates).unwrap_or_else(|unfair| panic!("case {case}: {unfair}"));
    let solve = SOLVERS.lookup("Ffa").unwrap().build.solve;
    let solved = solve(&network, 1).unwrap();
    for (rate, solved) in rates.rates.iter().zip(&solved.rates) {
        assert!(
            rate.abs_diff(*solved) < 1 << 24,
            "case {case}: {rate} and {solved}"
        );
    }
    Quiet {
        rounds: messages.rounds(round),
        rates: solved.rounds as u64,
        is_same: rates.rates == solved.rates,
    }
}

/// Changes while others are under way: any number of rounds at a time.
#[test]
fn rates_are_max_min_fair_once_nothing_changes() {
    let (mut same, mut overtaken) = (0, 0);
    let cases = cases(1000);
    let count = cases.end - cases.start;
    for number in cases {
        let case = Case::random(number);
        let mut messages = Messages::new(&case, number.is_multiple_of(2), number);
        for (flow, plan) in case.flows.iter().enumerate() {
            plan.starts
                .iter()
                .for_each(|&start| messages.start(flow, start));
        }
        messages.run();
        let quiet = quiet(&messages, number);
        same += u64::from(quiet.is_same);
        overtaken += u64::from(quiet.rounds > messages.raised.len());
    }
    if count >= 1000 {
        assert!(10 * same >= 7 * count, "{same} of {count} to the last bit");
        assert!(overtaken > 0, "announcements overtake each other");
    }
}

/// Each change has ended before the next: it raises all rounds by one, once, and the time to the rates is bounded.
#[test]
fn each_change_that_is_alone_raises_all_rounds_by_one_and_takes_bounded_time() {
    for number in cases(300) {
        let mut case = Case::random(number);
        let mut starts = Vec::new();
        for (flow, plan) in case.flows.iter_mut().enumerate() {
            // these end with a packet only
            plan.facts.stop = None;
            starts.extend(plan.starts.iter().map(|_| flow));
        }
        let mut rng = stream(number, Purpose::Flows, 1 << 40);
        for last in (1..starts.len()).rev() {
            starts.swap(last, below(&mut rng, last as u32 + 1) as usize);
        }
        let mut messages = Messages::new(&case, false, number);
        for flow in starts {
            let begin = messages.now + 1;
            let before = messages.raised.len();
            (messages.round_trip, messages.done) = (0, begin);
            messages.start(flow, begin);
            messages.run();
            let quiet = quiet(&messages, number);
            assert_eq!(quiet.rounds, messages.raised.len());
            if messages.raised.len() > before {
                let raised = &messages.raised[before];
                assert!(raised.iter().all(|&times| times == 1), "case {number}");
                assert_bound(&messages, flow, begin, quiet.rates);
            }
        }
    }
}

/// The announcement goes to the end, the broadcast to the last element; one that asks may just have missed that, and asks
/// again; then theorem 4.2.12.
fn assert_bound(messages: &Messages<'_>, flow: usize, begin: u64, rates: u64) {
    let case = messages.case;
    let hop = case.longest_hop() + 1;
    let hops = case.flows[flow].way.len() + case.switches + 1;
    assert!(messages.agreed <= begin + 1 + hop * hops as u64);
    let handshake = messages.agreed + 2 * messages.round_trip;
    let most = handshake + 6 * rates * messages.round_trip;
    assert!(messages.done <= most, "done {}, most {most}", messages.done);
}

/// Packets of one size only: what the plans are made of.
#[test]
fn plans_have_flows_that_start_and_end_in_all_ways() {
    let mut kinds = [0; 5];
    for number in 0..100 {
        for plan in Case::random(number).flows {
            let facts = plan.facts;
            kinds[0] += usize::from(facts.stop.is_none() && facts.flits.is_none());
            kinds[1] += usize::from(facts.stop.is_some_and(|stop| stop > plan.starts[0]));
            kinds[2] += usize::from(facts.stop.is_some_and(|stop| stop < plan.starts[0]));
            kinds[3] += usize::from(facts.flits == Some(PACKET.into()));
            kinds[4] += usize::from(facts.flits.is_some_and(|all| all > PACKET.into()));
        }
    }
    assert!(kinds.iter().all(|&count| count >= 10), "{kinds:?}");
}
