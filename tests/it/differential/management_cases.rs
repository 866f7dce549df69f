//! Random cases of VL15 beside packets that choose (D83): some of each kind that `random_fabric::features` knows.

use super::compare;
use super::half_way_cases::first;
use crate::random_fabric::{Adaptive, Case, VL15_BESIDE_CHOICES, VL15_OF_CHOICES, adaptive_case};

fn of_each_kind(seed: u64) -> Case<Adaptive> {
    first(seed, &VL15_BESIDE_CHOICES, adaptive_case)
}

fn with_others(seed: u64) -> Case<Adaptive> {
    first(seed, &VL15_OF_CHOICES, adaptive_case)
}

#[test]
fn packets_of_vl15_beside_packets_that_choose_do_not_differ() {
    let kinds = VL15_BESIDE_CHOICES.len() as u64;
    compare(of_each_kind, Adaptive::routes, 3 * kinds);
    compare(with_others, Adaptive::routes, VL15_OF_CHOICES.len() as u64);
}
