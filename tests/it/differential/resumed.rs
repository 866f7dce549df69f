//! States that go on: a run that is resumed has, later, the state of the one that was not stopped, byte by byte. What is
//! forgotten shows where it is forgotten, not only where a result has to differ.

use super::{engine, is_usual, number};
use crate::random_fabric::{
    Adaptive, Case, Dice, adaptive_case, case, case_with_routes, case_with_set_ups,
};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use virtlane::cycle::state::Calendar;
use virtlane::rng::{Purpose, stream};
use virtlane::routing::Routes;
use virtlane::run::simulation::State;

/// A column or resource as a shard saves it.
#[derive(Deserialize)]
struct Item {
    name: String,
    _looks_on: bool,
    bytes: Vec<u8>,
}

/// The calendar of a shard that has nothing to do lags behind, until it is looked at: its days are the same.
fn in_cycle(cycle: u64, item: Item) -> (String, Vec<u8>) {
    if item.name != "Calendar" {
        return (item.name, item.bytes);
    }
    let mut calendar: Calendar = postcard::from_bytes(&item.bytes).expect("it was just saved");
    calendar.set_now(cycle);
    let bytes = postcard::to_stdvec(&calendar).expect("it can be saved");
    (item.name, bytes)
}

/// The items of a state of a cycle by shard and name, and its acts.
fn items(cycle: u64, state: &State) -> BTreeMap<(usize, String), Vec<u8>> {
    let mut all = BTreeMap::new();
    for (number, shard) in state.shards.iter().enumerate() {
        let (items, mail): (Vec<Item>, &[u8]) =
            postcard::take_from_bytes(shard).expect("it was just saved");
        let named = items.into_iter().map(|item| in_cycle(cycle, item));
        let named = named.chain([(String::from("mail"), mail.to_vec())]);
        all.extend(named.map(|(name, bytes)| ((number, name), bytes)));
    }
    let acts = postcard::to_stdvec(&state.acts).expect("it can be saved");
    all.insert((usize::MAX, String::from("acts")), acts);
    all
}

/// What is as at the start in every state: mail is handed over before the end of a window.
const AT_REST: [&str; 1] = ["Outbox"];

/// What there is of states, and what was seen in another state than its first.
#[derive(Default)]
struct Seen {
    all: BTreeSet<String>,
    in_midlife: BTreeSet<String>,
}

/// Runs a case to cycles in its middle and from each of them to the next in two ways; notes what was in mid-life there.
fn compare<R>(case: &Case<R>, routes: &Routes, seen: &mut Seen) {
    let simulation = || engine::simulation(case, routes, &case.plan, (1, case.way.threads == 1));
    let mut dice = Dice(stream(case.plan.seed, Purpose::Arbitration, 1 << 33));
    let cycles = case.cycles as u32;
    let mut stops: Vec<u64> = (0..4)
        .map(|_| u64::from(dice.between(1, cycles - 1)))
        .collect();
    stops.push(case.cycles);
    stops.sort_unstable();
    stops.dedup();
    let mut whole = simulation();
    let first = items(0, &whole.save().expect("it can be saved"));
    let mut before: Option<(u64, State)> = None;
    for cycle in stops {
        whole.run_until(cycle).expect("readable messages");
        let state = whole.save().expect("it can be saved");
        let expected = items(cycle, &state);
        if let Some((since, state)) = &before {
            let mut resumed = simulation();
            resumed.restore(*since, state, false).expect("it fits");
            resumed.run_until(cycle).expect("readable messages");
            let found = items(cycle, &resumed.save().expect("it can be saved"));
            let others = expected
                .iter()
                .filter(|(key, bytes)| found.get(key) != Some(bytes));
            let others: Vec<_> = others.map(|(key, _)| key).collect();
            assert!(
                others.is_empty() && found.len() == expected.len(),
                "{}: saved in {since}, another state in {cycle}: {others:?}",
                case.plan.title
            );
        }
        if cycle < case.cycles {
            let changed = expected
                .iter()
                .filter(|(key, bytes)| first.get(key) != Some(bytes));
            (seen.in_midlife).extend(changed.map(|((_, name), _)| name.clone()));
            seen.all.extend(first.keys().map(|(_, name)| name.clone()));
        }
        before = Some((cycle, state));
    }
}

#[test]
fn a_run_that_goes_on_has_the_state_of_one_that_was_not_stopped() {
    let (first, count) = (
        number("VIRTLANE_FIRST_CASE", 0),
        number("VIRTLANE_CASES", 60),
    );
    let mut seen = Seen::default();
    // flits of dropped packets wait for a cycle only
    let rare = is_usual().then_some(131);
    for seed in (first..first + count).chain(rare) {
        let plain = case(seed);
        compare(&plain, &Routes::Tables(plain.routing.clone()), &mut seen);
        let open = adaptive_case(seed);
        compare(&open, &Adaptive::routes(&open.routing), &mut seen);
        let carried = case_with_routes(seed);
        compare(
            &carried,
            &Routes::Tables(carried.routing.clone()),
            &mut seen,
        );
        let set_up = case_with_set_ups(seed);
        compare(&set_up, &Routes::Tables(set_up.routing.clone()), &mut seen);
    }
    if is_usual() {
        let never = seen.all.difference(&seen.in_midlife);
        let never: Vec<_> = never
            .filter(|name| !AT_REST.contains(&name.as_str()))
            .collect();
        assert!(never.is_empty(), "always as at the start: {never:?}");
        assert!(seen.all.len() > 50, "{:?}", seen.all);
    }
}
