//! Fixed random destinations: `RandomPermutation` and `RandomPairs`.
//!
//! Both draw once from the class's own stream ([`Purpose::Pattern`]), so other classes and policies do not
//! change them. Without self traffic the draw is repeated until no host meets itself (rejection: uniform
//! over all such assignments, e tries on average).
//!
//! * `RandomPermutation`: a permutation of the members; a class of few senders uses their part of it.
//! * `RandomPairs`: every sender gets one destination of its own; nobody receives from two senders.
//!
//! Fails with: nobody but the source itself to send to.
//! Cost: one table look-up per packet; memory O(hosts).
//!
//! References: [`DALLY_TOWLES`]

use super::members::{AMONG, FixedDestinations, Members, Plain, SELF_TRAFFIC, silent};
use crate::references::DALLY_TOWLES;
use crate::registry::{ArgumentError, Arguments, Entry};
use crate::rng::{Purpose, Stream, below, stream};
use crate::traffic::{BuildPattern, Pattern, PatternContext};
use std::sync::Arc;

/// Registers `RandomPairs`.
pub(super) const RANDOM_PAIRS: Entry<BuildPattern> = Entry {
    name: "RandomPairs",
    aliases: &[],
    summary: "every sender to one fixed random host that receives from nobody else",
    parameters: &[SELF_TRAFFIC, AMONG],
    guarantees: &["no host receives from two senders"],
    references: &[DALLY_TOWLES],
    build: random_pairs,
};

/// Registers `RandomPermutation`.
pub(super) const RANDOM_PERMUTATION: Entry<BuildPattern> = Entry {
    name: "RandomPermutation",
    aliases: &["Permutation"],
    summary: "a fixed random permutation of the hosts, without fixed points by default",
    parameters: &[SELF_TRAFFIC, AMONG],
    guarantees: &["uniform over all permutations, or all derangements"],
    references: &[DALLY_TOWLES],
    build: random_permutation,
};

fn random_permutation(
    arguments: Arguments<'_>,
    context: &PatternContext<'_>,
) -> Result<Arc<dyn Pattern>, ArgumentError> {
    let Plain {
        self_traffic,
        among,
    } = arguments.parse()?;
    let members = Members::new(among, context);
    if members.len() < 2 && !self_traffic {
        return Err(silent("RandomPermutation", context));
    }
    let mut rng = stream(context.seed, Purpose::Pattern, context.class as u64);
    let image = loop {
        let image = shuffled(members.len(), &mut rng);
        if self_traffic || (0..).zip(&image).all(|(i, &to)| i != to) {
            break image;
        }
    };
    FixedDestinations::from_map("RandomPermutation", &members, context, self_traffic, |i| {
        image[i as usize]
    })
}

fn random_pairs(
    arguments: Arguments<'_>,
    context: &PatternContext<'_>,
) -> Result<Arc<dyn Pattern>, ArgumentError> {
    let Plain {
        self_traffic,
        among,
    } = arguments.parse()?;
    let receivers = Members::new(among, context);
    if receivers.len() < 2 && !self_traffic {
        return Err(silent("RandomPairs", context));
    }
    let mut rng = stream(context.seed, Purpose::Pattern, context.class as u64);
    let drawn = loop {
        let drawn = shuffled(receivers.len(), &mut rng);
        let mut pairs = context.hosts.iter().zip(&drawn);
        if self_traffic || pairs.all(|(&sender, &to)| receivers.host(to) != sender) {
            break drawn;
        }
    };
    let mut destination = vec![None; context.graph.hosts().len()];
    for (sender, to) in context.hosts.iter().zip(drawn) {
        destination[sender.index()] = Some(receivers.host(to));
    }
    FixedDestinations::from_table("RandomPairs", destination, context)
}

/// The numbers `0..count` in random order (Fisher and Yates).
fn shuffled(count: u32, rng: &mut Stream) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count).collect();
    for last in (1..count).rev() {
        order.swap(last as usize, below(rng, last + 1) as usize);
    }
    order
}
