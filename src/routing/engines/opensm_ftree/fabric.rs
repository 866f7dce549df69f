//! A subnet as a fat tree: ranks, groups of links, indices, and whether OpenSM takes it for one.
//!
//! Cost: O(switches * ports^2).
//!
//! # Algorithm
//! 1. Without named roots: every switch has its distance from the nearest switch with hosts; those of the largest
//!    distance are the roots. Rank = hops from the nearest root, 0 to 7. The leaves have the largest rank (with named
//!    roots: the rank of the first host's switch), at least 1, and every host hangs on a leaf.
//! 2. A group is all links to one other switch: *up* to a smaller rank, *down* to a larger one, else *sibling*.
//! 3. Index: the rank and a digit per rank. A breadth-first search starts from the first leaf in GUID order, with all
//!    digits 0. From a switch it goes down (not from leaves), then up, groups in port order; a new switch gets the
//!    digits of the one it was reached from, but at the larger rank of both the smallest free digit. Then the
//!    groups are sorted by the index of their switch.
//! 4. At least two leaves have hosts. Without named roots every switch is compared with the first of its rank: as many
//!    groups up, and down except at leaves; as many links per group up, and in the first group down.

use crate::routing::engines::opensm::subnet::Subnet;
use crate::routing::identities::EndPort;
use crate::routing::paths::UNREACHED;
use crate::routing::paths::links::Link;
use crate::topology::Graph;
use std::collections::{BTreeSet, VecDeque};

/// Ranks of a tree, leaves included.
const MOST_RANKS: usize = 8;

/// Rank and digits; larger than all others before the search comes by.
pub(super) type Index = [u8; MOST_RANKS];

const NO_INDEX: Index = [u8::MAX; MOST_RANKS];

/// A link of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Port {
    /// Number among the links of the subnet.
    pub(super) link: usize,
    /// Routes that come up over it.
    pub(super) up: u32,
    /// Routes that go down over it.
    pub(super) down: u32,
}

/// Parallel links from one switch to another.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// Place of the other switch.
    pub(super) to: usize,
    /// In port order.
    pub(super) ports: Vec<Port>,
    /// As [`Port::up`].
    pub(super) up: u32,
    /// As [`Port::down`].
    pub(super) down: u32,
}

/// A switch of the tree; groups by number.
#[derive(Clone, Debug)]
pub(super) struct Switch {
    pub(super) rank: u16,
    pub(super) index: Index,
    pub(super) up: Vec<usize>,
    pub(super) down: Vec<usize>,
    pub(super) siblings: Vec<usize>,
}

/// A tree.
#[derive(Clone, Debug)]
pub(in super::super) struct Fabric {
    /// By place.
    pub(super) switches: Vec<Switch>,
    pub(super) groups: Vec<Group>,
    /// Places of the leaves by index, from the first with hosts to the last.
    pub(super) leaves: Vec<usize>,
}

impl Fabric {
    /// The tree of `subnet`, from the places of the roots when they are named.
    ///
    /// # Errors
    /// The criterion that is not met.
    pub(super) fn new(
        graph: &Graph,
        subnet: &Subnet,
        roots: Option<Vec<usize>>,
    ) -> Result<Self, String> {
        if subnet.len() < 2 || subnet.host_count < 2 {
            return Err(format!(
                "a tree has two switches and two hosts at least, there are {} and {}",
                subnet.len(),
                subnet.host_count
            ));
        }
        let name = |place: usize| {
            graph.switches()[subnet.switches[place].index()]
                .name
                .as_str()
        };
        let is_named = roots.is_some();
        let rank = ranks(subnet, roots.unwrap_or_else(|| farthest(subnet)));
        if let Some(place) = rank.iter().position(|&rank| rank == UNREACHED) {
            return Err(format!("{} is not connected to a root", name(place)));
        }
        let leaf_rank = leaf_rank(graph, subnet, &rank, is_named, name)?;
        let mut fabric = Self::grouped(subnet, &rank);
        fabric.make_indices(subnet, leaf_rank, name)?;
        fabric.find_leaves(subnet, leaf_rank)?;
        if !is_named {
            fabric.compare(leaf_rank, name)?;
        }
        Ok(fabric)
    }

    /// Whether switches of one rank are linked.
    pub(super) fn has_siblings(&self) -> bool {
        self.switches
            .iter()
            .any(|switch| !switch.siblings.is_empty())
    }

    /// Step 2.
    fn grouped(subnet: &Subnet, rank: &[u16]) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        let mut switches = Vec::with_capacity(rank.len());
        for (place, &own) in rank.iter().enumerate() {
            let first = groups.len();
            for link in subnet.links.range(place) {
                let to = subnet.links.all[link].to as usize;
                let known = groups[first..].iter().position(|group| group.to == to);
                let group = known.map_or(groups.len(), |group| first + group);
                if known.is_none() {
                    groups.push(Group {
                        to,
                        ports: Vec::new(),
                        up: 0,
                        down: 0,
                    });
                }
                let (up, down) = (0, 0);
                groups[group].ports.push(Port { link, up, down });
            }
            let all = first..groups.len();
            let lead = |to_rank: fn(&u16, &u16) -> bool| {
                let leads = |&group: &usize| to_rank(&rank[groups[group].to], &own);
                all.clone().filter(leads).collect()
            };
            switches.push(Switch {
                rank: own,
                index: NO_INDEX,
                up: lead(u16::lt),
                down: lead(u16::gt),
                siblings: lead(u16::eq),
            });
        }
        let leaves = Vec::new();
        Self {
            switches,
            groups,
            leaves,
        }
    }

    /// Step 3.
    fn make_indices<'a>(
        &mut self,
        subnet: &Subnet,
        leaf_rank: u16,
        name: impl Fn(usize) -> &'a str,
    ) -> Result<(), String> {
        let with_hosts = subnet.hosts.iter().position(|hosts| !hosts.is_empty());
        let first = with_hosts.unwrap_or_default();
        let mut index = NO_INDEX;
        index[0] = leaf_rank as u8;
        index[1..=usize::from(leaf_rank)].fill(0);
        self.switches[first].index = index;
        let mut used = BTreeSet::from([index]);
        let mut queue = VecDeque::from([first]);
        while let Some(place) = queue.pop_front() {
            let Switch { rank, index, .. } = self.switches[place];
            for is_up in [false, true] {
                if !is_up && rank >= leaf_rank {
                    continue;
                }
                let switch = &mut self.switches[place];
                let list = if is_up {
                    &mut switch.up
                } else {
                    &mut switch.down
                };
                let mut groups = std::mem::take(list);
                for &group in &groups {
                    let to = self.groups[group].to;
                    if self.switches[to].index != NO_INDEX {
                        continue;
                    }
                    let found = free(index, is_up, &used);
                    let found = found.ok_or_else(|| {
                        format!(
                            "there is no index left for {}: the tree is too wide",
                            name(to)
                        )
                    })?;
                    self.switches[to].index = found;
                    used.insert(found);
                    queue.push_back(to);
                }
                groups.sort_by_key(|&group| self.switches[self.groups[group].to].index);
                let switch = &mut self.switches[place];
                let list = if is_up {
                    &mut switch.up
                } else {
                    &mut switch.down
                };
                *list = groups;
            }
        }
        Ok(())
    }

    /// Step 4, the leaves.
    fn find_leaves(&mut self, subnet: &Subnet, leaf_rank: u16) -> Result<(), String> {
        let places = 0..self.switches.len();
        let mut all: Vec<usize> = places
            .filter(|&place| self.switches[place].rank == leaf_rank)
            .collect();
        all.sort_by_key(|&place| self.switches[place].index);
        let has_hosts = |place: &usize| !subnet.hosts[*place].is_empty();
        match (
            all.iter().position(has_hosts),
            all.iter().rposition(has_hosts),
        ) {
            (Some(first), Some(last)) if first < last => {
                self.leaves = all[first..=last].to_vec();
                Ok(())
            }
            _ => Err("all hosts are on one switch".into()),
        }
    }

    /// Step 4, the comparison.
    fn compare<'a>(&self, leaf_rank: u16, name: impl Fn(usize) -> &'a str) -> Result<(), String> {
        let links = |group: usize| self.groups[group].ports.len();
        let mut first_of_rank = vec![None; usize::from(leaf_rank) + 1];
        for (place, switch) in self.switches.iter().enumerate() {
            let known: &mut Option<usize> = &mut first_of_rank[usize::from(switch.rank)];
            let Some(first) = *known else {
                *known = Some(place);
                continue;
            };
            let reference = &self.switches[first];
            let differ = |what: &str, one: usize, other: usize| {
                let (a, b, rank) = (name(first), name(place), switch.rank);
                Err(format!(
                    "{a} and {b} of rank {rank} differ in {what}: {one} and {other} (name the roots to \
                     route unequal trees)"
                ))
            };
            let counts = |switch: &Switch| [switch.up.len(), switch.down.len()];
            let [[up, down], [own_up, own_down]] = [counts(reference), counts(switch)];
            if up != own_up {
                return differ("neighbours upward", up, own_up);
            }
            let is_leaf = switch.rank == leaf_rank;
            if !is_leaf && down != own_down {
                return differ("neighbours downward", down, own_down);
            }
            if let Some(&group) = reference.up.first() {
                let unequal = switch.up.iter().find(|&&own| links(own) != links(group));
                if let Some(&own) = unequal {
                    return differ("links upward to a neighbour", links(group), links(own));
                }
            }
            if let (false, Some(&group), Some(&own)) =
                (is_leaf, reference.down.first(), switch.down.first())
                && links(own) != links(group)
            {
                return differ("links downward to a neighbour", links(group), links(own));
            }
        }
        Ok(())
    }
}

/// Hops from the nearest of `roots`.
fn ranks(subnet: &Subnet, roots: Vec<usize>) -> Vec<u16> {
    let mut rank = vec![UNREACHED; subnet.len()];
    for &root in &roots {
        rank[root] = 0;
    }
    let mut queue = VecDeque::from(roots);
    while let Some(place) = queue.pop_front() {
        for &Link { to, .. } in subnet.links.of(place) {
            if rank[to as usize] == UNREACHED {
                rank[to as usize] = rank[place] + 1;
                queue.push_back(to as usize);
            }
        }
    }
    rank
}

/// The switches farthest from any host.
fn farthest(subnet: &Subnet) -> Vec<usize> {
    let places = || 0..subnet.len();
    let with_hosts = places().filter(|&place| !subnet.hosts[place].is_empty());
    let height = ranks(subnet, with_hosts.collect());
    let reached = height.iter().copied().filter(|&height| height != UNREACHED);
    let most = reached.max();
    places()
        .filter(|&place| Some(height[place]) == most)
        .collect()
}

/// Step 1: the rank of the leaves.
fn leaf_rank<'a>(
    graph: &Graph,
    subnet: &Subnet,
    rank: &[u16],
    is_named: bool,
    name: impl Fn(usize) -> &'a str,
) -> Result<u16, String> {
    let mut hosts: Vec<(usize, crate::ids::HostId)> = Vec::with_capacity(subnet.host_count);
    for (place, attached) in subnet.hosts.iter().enumerate() {
        hosts.extend(attached.iter().map(|&(_, host)| (place, host)));
    }
    hosts.sort_by_key(|&(_, host)| subnet.identities.order(EndPort::Host(host)));
    let largest = rank.iter().copied().max().unwrap_or(0);
    let leaf = match hosts.first() {
        Some(&(place, _)) if is_named => rank[place],
        _ => largest,
    };
    if largest == 0 {
        return Err(
            "every switch is a root: a tree has switches without hosts above the leaves".into(),
        );
    }
    let ranks = usize::from(leaf) + 1;
    if !(2..=MOST_RANKS).contains(&ranks) {
        return Err(format!(
            "{ranks} ranks from the roots to the leaves, allowed are 2 to {MOST_RANKS}"
        ));
    }
    match hosts.iter().find(|&&(place, _)| rank[place] != leaf) {
        None => Ok(leaf),
        Some(&(place, host)) => Err(format!(
            "{} is on {} of rank {}, the leaves have rank {leaf}",
            graph.hosts()[host.index()].name,
            name(place),
            rank[place]
        )),
    }
}

/// Step 3: the first free index next to `from`.
fn free(from: Index, is_up: bool, used: &BTreeSet<Index>) -> Option<Index> {
    let mut index = from;
    let digit = if is_up {
        index[0] -= 1;
        usize::from(from[0])
    } else {
        index[0] += 1;
        usize::from(from[0]) + 1
    };
    (0..u8::MAX).find_map(|value| {
        index[digit] = value;
        (!used.contains(&index)).then_some(index)
    })
}
