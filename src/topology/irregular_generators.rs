//! Random link lists of studies that draw many networks.
//!
//! Cost: O(links) expected draws for sparse networks, O(switches^2 * log switches) for nearly complete ones.
//!
//! References: [`LASH`](crate::references::LASH), whose published layer counts the skewed one reproduces

use crate::rng::{Stream, below};
use std::collections::BTreeSet;

/// A connected simple network of `switches` switches and `links` links with a skewed degree distribution, as
/// (lower, higher) switch in the order of creation: switch i = 1, 2, .. is linked to a random earlier one; then
/// a random switch a >= 1 to a random b < a, duplicates drawn again.
///
/// `links` is brought into the range of a tree to a complete network.
pub fn skewed_links(switches: u32, links: u32, rng: &mut Stream) -> Vec<(u32, u32)> {
    let tree = switches.saturating_sub(1);
    let complete = switches * tree / 2;
    let links = links.clamp(tree, complete) as usize;
    let mut list: Vec<(u32, u32)> = (1..switches).map(|i| (below(rng, i), i)).collect();
    let mut known: BTreeSet<(u32, u32)> = list.iter().copied().collect();
    while list.len() < links {
        let a = 1 + below(rng, tree);
        let link = (below(rng, a), a);
        if known.insert(link) {
            list.push(link);
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};

    #[test]
    fn networks_are_simple_and_of_the_wanted_size() {
        for (switches, links) in [(1, 0), (2, 1), (8, 7), (8, 20), (8, 28), (32, 64)] {
            let mut rng = stream(1, Purpose::Topology, u64::from(links));
            let list = skewed_links(switches, links, &mut rng);
            assert_eq!(list.len(), links as usize);
            let distinct: BTreeSet<_> = list.iter().collect();
            assert_eq!(distinct.len(), list.len());
            assert!(list.iter().all(|(a, b)| a < b && *b < switches));
        }
        let mut rng = stream(1, Purpose::Topology, 0);
        assert_eq!(skewed_links(4, 1000, &mut rng).len(), 6);
    }
}
