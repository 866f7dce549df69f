//! Leaf-spine networks that lack more than a few links.
//!
//! Guarantees: one completion at most. Where switches with hosts are linked to those without only, every pair of the two kinds
//! gets as many links as the pair with most has, and nothing else can be put in.
//! Cost: O(leaves * spines).

use super::net::Net;

/// The network that a fabric is but for missing links; `None` where more than a quarter of the links would be missing, none is, a
/// switch has none left, or it is something else.
pub(super) fn completed(net: &Net) -> Option<Net> {
    let is_leaf = |&switch: &u32| net.hosts[switch as usize] > 0;
    let (leaves, spines): (Vec<u32>, Vec<u32>) = (0..net.len() as u32).partition(is_leaf);
    let mut links = 0;
    for (switch, neighbors) in (0..).zip(&net.links) {
        let is_across = |&(to, _): &(u32, u32)| is_leaf(&to) != is_leaf(&switch);
        if neighbors.is_empty() || !neighbors.iter().all(is_across) {
            return None;
        }
        let most = neighbors.iter().map(|&(_, own)| own);
        links = most.fold(links, u32::max);
    }
    let full = leaves.len() as u64 * spines.len() as u64 * u64::from(links);
    let missing = full.checked_sub(net.link_count())?;
    if missing == 0 || missing * 4 > full {
        return None;
    }
    let all = |others: &[u32]| others.iter().map(|&other| (other, links)).collect();
    let of = |switch: u32| all(if is_leaf(&switch) { &spines } else { &leaves });
    Some(Net {
        hosts: net.hosts.clone(),
        links: (0..net.len() as u32).map(of).collect(),
    })
}
