//! Random cases of input-first matching, output lanes and thresholds with wormhole switching (D79), and of open heads there whose inputs
//! have several places or propose (D82), which few of all cases have: one or two of each kind that `random_fabric::features` knows.

use super::compare;
use crate::random_fabric::{
    Adaptive, Case, HALF_WAY_OF_CHOICES, OPEN_HALF_WAY, WORMHOLE_HALF_WAY, adaptive_case, case,
    features,
};
use crate::reference::Routing;
use virtlane::routing::{Routes, Tables};

/// The first case from a seed on that has one of these features, another one for each of so many seeds.
pub(super) fn first<R>(seed: u64, names: &[&str], draw: fn(u64) -> Case<R>) -> Case<R>
where
    for<'a> &'a R: Into<Routing<'a>>,
{
    let name = names[seed as usize % names.len()];
    // every other case has no options at all
    let mut cases = (64 * seed + 1..).step_by(2).map(draw);
    let found = cases.find(|case| features(case).iter().any(|one| one == name));
    found.expect("all are drawn")
}

fn of_tables(seed: u64) -> Case {
    first(seed, &WORMHOLE_HALF_WAY, case)
}

fn of_choices(seed: u64) -> Case<Adaptive> {
    first(seed, &HALF_WAY_OF_CHOICES, adaptive_case)
}

fn of_open_heads(seed: u64) -> Case<Adaptive> {
    first(seed, &OPEN_HALF_WAY, adaptive_case)
}

#[test]
fn open_heads_that_inputs_choose_for_do_not_differ() {
    let cases = 2 * OPEN_HALF_WAY.len() as u64;
    compare(of_open_heads, Adaptive::routes, cases);
}

#[test]
fn single_flits_behind_and_before_a_crossbar_do_not_differ() {
    let routes = |tables: &Tables| Routes::Tables(tables.clone());
    compare(of_tables, routes, WORMHOLE_HALF_WAY.len() as u64);
    compare(
        of_choices,
        Adaptive::routes,
        2 * HALF_WAY_OF_CHOICES.len() as u64,
    );
}
