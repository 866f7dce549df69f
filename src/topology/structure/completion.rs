//! Finds the topology that a fabric is but for missing links: a few, or some of a leaf-spine network.
//!
//! Guarantees: of the ways that are tried to put links between switches one only makes the fabric a topology; with none,
//! or several, nothing is found.
//! Cost: that of the exact search for each of at most 15 ways of step 2 and 276 of step 3.
//!
//! # Algorithm
//! 1. Switches are compared with those as far from the hosts: the number of links that most of them have is the full
//!    one. Where some have more, or more than [`MOST_ENDS`] ends are missing, step 2 is left out.
//! 2. The missing ends are paired in every way, and what comes out is looked at as a fabric of its own.
//! 3. When no way gives a topology, as in meshes, whose switches have different numbers of links, one link is put between
//!    every two of the switches whose surroundings are the rarest, both ends of a missing link among them.
//! 4. When that gives nothing either, the fabric may be a leaf-spine network that lacks more (`leaf_spine.rs`).

use super::net::Net;
use super::{Reading, exact, leaf_spine};
use std::collections::BTreeMap;

/// Missing ends of links: three links.
const MOST_ENDS: usize = 6;
/// Switches between which a link is tried.
const MOST_RARE: usize = 24;

/// The topologies that a plain graph is when it is completed; the number of ways when there are several.
pub(super) fn find(net: &Net) -> Result<Vec<Reading>, usize> {
    let ways = missing_ends(net).map_or_else(Vec::new, |ends| pairings(&ends));
    let found = completed(net, &ways)?;
    if !found.is_empty() {
        return Ok(found);
    }
    let ends = rare(net);
    let of = |(place, &a)| ends[place + 1..].iter().map(move |&b| vec![(a, b)]);
    let ways: Vec<_> = ends.iter().enumerate().flat_map(of).collect();
    let found = completed(net, &ways)?;
    if !found.is_empty() {
        return Ok(found);
    }
    Ok(leaf_spine::completed(net).map_or_else(Vec::new, |whole| exact(&whole)))
}

/// The topologies that come out when links are put in, if one of the ways gives some; the number of those that do.
fn completed(net: &Net, ways: &[Vec<(u32, u32)>]) -> Result<Vec<Reading>, usize> {
    let readings = ways.iter().map(|way| {
        let links = way.iter();
        exact(&links.fold(net.clone(), |net, &(a, b)| net.with_link(a, b)))
    });
    let mut found: Vec<Vec<Reading>> = readings.filter(|found| !found.is_empty()).collect();
    match found.len() {
        0 | 1 => Ok(found.pop().unwrap_or_default()),
        several => Err(several),
    }
}

/// Switches whose hosts and links, and those of their neighbours, few others have, at most [`MOST_RARE`]; none where all
/// switches with hosts, and all without, have as many links, or where no topology has such hosts.
fn rare(net: &Net) -> Vec<u32> {
    let own = |switch: u32| (net.hosts[switch as usize], net.degree(switch as usize));
    let mut kinds: BTreeMap<_, Vec<u32>> = BTreeMap::new();
    for switch in 0..net.len() as u32 {
        let neighbors = net.links[switch as usize].iter();
        let mut around: Vec<_> = neighbors.map(|&(to, links)| (own(to), links)).collect();
        around.sort_unstable();
        kinds.entry((own(switch), around)).or_default().push(switch);
    }
    let is_alike = |has_hosts: bool| {
        let all = (0..net.len() as u32).map(own);
        let mut degrees = all.filter(|&(hosts, _)| (hosts > 0) == has_hosts);
        let first = degrees.next();
        degrees.all(|own| Some(own) == first)
    };
    let mut hosts: Vec<u32> = net
        .hosts
        .iter()
        .copied()
        .filter(|&hosts| hosts > 0)
        .collect();
    hosts.dedup();
    if hosts.len() != 1 || is_alike(true) && is_alike(false) {
        return Vec::new();
    }
    let mut kinds: Vec<Vec<u32>> = kinds.into_values().collect();
    kinds.sort_by_key(Vec::len);
    let mut rare = Vec::new();
    for kind in kinds {
        if rare.len() + kind.len() > MOST_RARE {
            break;
        }
        rare.extend(kind);
    }
    rare.sort_unstable();
    rare
}

/// Switches that have fewer links than most others of their level, ascending, each as often as links are missing; `None`
/// when that is no fabric with a few missing links.
fn missing_ends(net: &Net) -> Option<Vec<u32>> {
    let count = net.len() as u32;
    let levels = net.distances((0..count).filter(|&switch| net.hosts[switch as usize] > 0));
    let mut degrees: BTreeMap<u32, BTreeMap<u32, usize>> = BTreeMap::new();
    for (switch, &level) in levels.iter().enumerate() {
        let of_level = degrees.entry(level).or_default();
        *of_level.entry(net.degree(switch)).or_default() += 1;
    }
    let usual = |level: u32| {
        let (&degree, _) = degrees
            .get(&level)?
            .iter()
            .max_by_key(|&(_, &count)| count)?;
        Some(degree)
    };
    let mut ends = Vec::new();
    for (switch, &level) in (0..count).zip(&levels) {
        let lacking = usual(level)?.checked_sub(net.degree(switch as usize))?;
        ends.extend(std::iter::repeat_n(switch, lacking as usize));
        if ends.len() > MOST_ENDS {
            return None;
        }
    }
    (!ends.is_empty() && ends.len().is_multiple_of(2)).then_some(ends)
}

/// All ways to pair `ends`, none with itself, each once.
fn pairings(ends: &[u32]) -> Vec<Vec<(u32, u32)>> {
    let mut ways = Vec::new();
    pairs(ends, &mut Vec::new(), &mut ways);
    for way in &mut ways {
        way.sort_unstable();
    }
    ways.sort_unstable();
    ways.dedup();
    ways
}

/// Adds all ways to pair `ends`, some in several orders.
fn pairs(ends: &[u32], chosen: &mut Vec<(u32, u32)>, ways: &mut Vec<Vec<(u32, u32)>>) {
    let Some((&first, others)) = ends.split_first() else {
        ways.push(chosen.clone());
        return;
    };
    for (place, &other) in others.iter().enumerate() {
        if other == first || place > 0 && others[place - 1] == other {
            continue;
        }
        chosen.push((first, other));
        pairs(
            &[&others[..place], &others[place + 1..]].concat(),
            chosen,
            ways,
        );
        chosen.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_paired_in_every_way() {
        let count = |ends: &[u32]| pairings(ends).len();
        assert_eq!(
            [
                count(&[1, 2]),
                count(&[1, 2, 3, 4]),
                count(&[1, 2, 3, 4, 5, 6])
            ],
            [1, 3, 15]
        );
        assert_eq!(
            [count(&[1, 1]), count(&[1, 1, 2, 3]), count(&[1, 1, 2, 2])],
            [0, 1, 1]
        );
    }
}
