//! Routes fat trees by the digits of the destination (D-mod-K), without contention for shifts.
//!
//! Guarantees: deadlock-free (up, then down), in order unless `lanes: Any`; minimal when all links are there. Where every switch below the top has as many
//! links up as down (every k-ary n-tree), each shift permutation `d = s + c mod N` loads each channel with at
//! most one path, and no permutation loads a downward channel with more than one.
//! Needs: a k-ary n-tree ([`Shape::Tree`]), an extended generalised fat tree ([`Shape::Xgft`]: star, tree,
//! leaf-spine and Clos networks too) or an enriched tree ([`Shape::EnrichedTree`]); 1 lane.
//! Fails with: [`RoutingError::Unsupported`] for any other shape, and for a tree with missing links in which no way up and then
//! down is left between two switches with hosts.
//! Cost: time O(switches * hosts), a copy each, memory that of [`Entries`]; with missing links time O(links) more for each switch with
//! hosts.
//!
//! # Algorithm
//! Levels of switches count from 1 = leaves. A switch of level `l` has `m_l` children over `p_l` parallel
//! links each and, below the top, `w_(l+1)` parents over `p_(l+1)` links each. `W_l` is the product of
//! `w_1 .. w_l`, with `w_1 = 1`. At a switch of level `l`, for the destination number `d`:
//! 1. If `d` is below the switch: down, to the child that is `d` or has it below. Of the parallel links take
//!    number `(d / W_(l-1) mod w_l p_l) / w_l`, the one that step 2 takes from that child.
//! 2. Otherwise up: `q = d / W_l mod w_(l+1) p_(l+1)` gives parent `q mod w_(l+1)`, parallel link
//!    `q / w_(l+1)`.
//!
//! 3. With missing links: where the link of step 1 or 2 is missing, or no way up and then down leads on behind it, take
//!    of the ways that do and need the fewest hops number (`d` mod their count), by port.
//!
//! In a k-ary n-tree `q` is digit `l` of `d` base k, the least significant one at the leaves.
//!
//! # Deviations
//! The horizontal links of an enriched tree stay unused: they are for routing that adapts. These tables are its
//! default ports, and the static scheme that its source compares with.
//!
//! References: [`ZDORNOV_BIRK`] §6.1, [`ZAHAVI`] (step 2), [`PETRINI_VANNESCHI`]

use super::torn_tree::TornTree;
use crate::ids::SwitchId;
use crate::references::{PETRINI_VANNESCHI, ZAHAVI, ZDORNOV_BIRK};
use crate::registry::{Arguments, Entry};
use crate::routing::adaptive::Lanes;
use crate::routing::balance::require_nameable_ports;
use crate::routing::entries::{Builder, Entries};
use crate::routing::regular::{self, Links as Present, Need};
use crate::routing::{
    BuildEngine, Guarantees, LaneBudget, RoutingEngine, RoutingError, Tables, UNREACHABLE,
};
use crate::topology::graph::{TreeShape, XgftShape};
use crate::topology::{Graph, Shape};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range;

/// Destination-digit routing.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FatTree {
    lanes: Lanes,
}

const NAME: &str = "FatTree";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &["DModK"],
    summary: "destination-digit routing of fat trees: no contention for shift permutations",
    parameters: &[Lanes::PARAMETER],
    guarantees: &[
        "minimal when no link is missing",
        "deadlock-free on 1 lane",
        "in order unless `lanes: Any`",
        "with as many links up as down at every switch: shift permutations load each channel at most once",
    ],
    references: &[ZDORNOV_BIRK, ZAHAVI, PETRINI_VANNESCHI],
    build: |arguments: Arguments<'_>| {
        let engine: FatTree = arguments.parse()?;
        Ok(engine.lanes.engine(NAME, engine))
    },
};

impl RoutingEngine for FatTree {
    fn is_drawn(&self) -> bool {
        false
    }

    fn need(&self) -> Option<Need> {
        Some(Need {
            engine: NAME,
            takes: regular::is_tree,
            links: Present::Some(regular::is_tree, ""),
        })
    }

    fn route(&self, graph: &Graph, budget: LaneBudget, _seed: u64) -> Result<Tables, RoutingError> {
        require_nameable_ports(graph, NAME)?;
        let mut next = match graph.shape() {
            Shape::Tree(tree) => tables(graph, tree),
            Shape::EnrichedTree(enriched) => tables(graph, &enriched.tree),
            Shape::Xgft(shape) => tables(graph, &Levels::new(shape)),
            _ => {
                return Err(regular::is_no(NAME, graph, "fat tree"));
            }
        };
        let is_torn = lacks_links(graph, &next);
        if is_torn {
            let mut around = next.to_vec();
            go_around(graph, &mut around)?;
            next = Entries::new(&around, graph.hosts().len());
        }
        let guarantees = Guarantees {
            minimal: !is_torn,
            deadlock_free: true,
            ..Guarantees::IN_ORDER
        };
        Ok(Tables::on_one_lane(graph, NAME, next, budget, guarantees))
    }
}

/// The digits of a tree's destinations, as its switches use them.
trait Digits {
    /// Level of a switch, in the tree's own count.
    fn level(&self, switch: SwitchId) -> usize;
    /// Hosts below a switch.
    fn below(&self, switch: SwitchId) -> Range<u32>;
    /// Step 1: the port down to a host from any switch of a level that has it below, from 1.
    fn down(&self, level: usize, host: u32) -> u32;
    /// Step 2: the port up from any switch of a level that does not, from 1.
    fn up(&self, level: usize, host: u32) -> u32;
}

/// The port of every (switch, host): the way up of the level, but for the hosts below the switch.
fn tables(graph: &Graph, digits: &impl Digits) -> Entries {
    let hosts = graph.hosts().len() as u32;
    let mut entries = Builder::new(hosts as usize);
    let mut ups: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
    for switch in graph.switch_ids() {
        let (level, below) = (digits.level(switch), digits.below(switch));
        let mut row = if below.len() < hosts as usize {
            let ways = || (0..hosts).map(|host| digits.up(level, host) as u8);
            ups.entry(level).or_insert_with(|| ways().collect()).clone()
        } else {
            vec![UNREACHABLE; hosts as usize]
        };
        for host in below.start..below.end.min(hosts) {
            row[host as usize] = digits.down(level, host) as u8;
        }
        entries.push(&row);
    }
    entries.finish()
}

/// Whether some port of the tables has no link.
fn lacks_links(graph: &Graph, next: &Entries) -> bool {
    graph.switch_ids().any(|switch| {
        let mut has_link = [false; 256];
        for (port, _) in graph.connected_ports(switch) {
            has_link[usize::from(port)] = true;
        }
        graph.connected_ports(switch).count() < graph.ports(switch).len()
            && (next.row(switch.index())).any(|port| !has_link[usize::from(port)])
    })
}

/// Step 3.
fn go_around(graph: &Graph, next: &mut [u8]) -> Result<(), RoutingError> {
    let tree = TornTree::new(graph, NAME)?;
    let homes: Vec<Option<SwitchId>> = graph
        .host_ids()
        .map(|host| Some(graph.attachment(host)?.0))
        .collect();
    let mut ways = Vec::new();
    for (switch, row) in graph.switch_ids().zip(next.chunks_mut(homes.len().max(1))) {
        let mut last = None;
        for (host, (port, &home)) in row.iter_mut().zip(&homes).enumerate() {
            let Some(home) = home.filter(|&home| home != switch) else {
                continue;
            };
            if last != Some(home) {
                ways.clear();
                tree.ports(switch, home, &mut ways);
                last = Some(home);
            }
            if !ways.contains(&u16::from(*port)) {
                let way = host.checked_rem(ways.len()).map(|number| ways[number]);
                *port = way.map_or(UNREACHABLE, |way| way as u8);
            }
        }
    }
    Ok(())
}

/// A k-ary n-tree: the steps for `m = w = k`, in its own numbering, whose level 0 is the top.
impl Digits for TreeShape {
    fn level(&self, switch: SwitchId) -> usize {
        Self::level(self, switch) as usize
    }

    fn below(&self, switch: SwitchId) -> Range<u32> {
        // weight of digit `level - 1` of the word, and of digit `level` of the destination
        let weight = self.arity.pow(self.levels - 1 - Self::level(self, switch));
        let (word, hosts) = (self.word(switch) / weight, weight * self.arity);
        word * hosts..(word + 1) * hosts
    }

    fn down(&self, level: usize, host: u32) -> u32 {
        let weight = self.arity.pow(self.levels - 1 - level as u32);
        host / weight % self.arity + 1
    }

    fn up(&self, level: usize, host: u32) -> u32 {
        self.arity + self.down(level, host)
    }
}

/// An extended generalised fat tree with the weights of its digits.
#[derive(Debug)]
struct Levels<'a> {
    shape: &'a XgftShape,
    /// Hosts below a switch, `[level]`; 1 for level 0, a host.
    hosts: Vec<u32>,
    /// `W_l`, `[level]`; 1 for level 0.
    parents: Vec<u32>,
    /// Level and word, `[switch]`.
    places: Vec<(usize, u32)>,
}

impl<'a> Levels<'a> {
    fn new(shape: &'a XgftShape) -> Self {
        let products = |factors: &[u32]| -> Vec<u32> {
            let all = (0..=factors.len()).map(|level| factors[..level].iter().product());
            all.collect()
        };
        let switches: u64 = (1..=shape.height()).filter_map(|l| shape.nodes(l)).sum();
        let places = (0..switches as u32).map(|switch| shape.level_and_word(SwitchId(switch)));
        Self {
            shape,
            hosts: products(&shape.children),
            parents: products(&shape.parents),
            places: places.collect(),
        }
    }

    /// `q` for the way up from `level`.
    fn way_up(&self, level: usize, host: u32) -> u32 {
        let links = self.shape.parents[level] * self.shape.parallel[level];
        host / self.parents[level] % links
    }
}

impl Digits for Levels<'_> {
    fn level(&self, switch: SwitchId) -> usize {
        self.places[switch.index()].0
    }

    fn below(&self, switch: SwitchId) -> Range<u32> {
        let (level, word) = self.places[switch.index()];
        let (word, hosts) = (word / self.parents[level], self.hosts[level]);
        word * hosts..(word + 1) * hosts
    }

    fn down(&self, level: usize, host: u32) -> u32 {
        // index of the level below in the lists, which start with the level of the hosts
        let below = level - 1;
        let child = host / self.hosts[below] % self.shape.children[below];
        let link = self.way_up(below, host) / self.shape.parents[below];
        child * self.shape.parallel[below] + link + 1
    }

    fn up(&self, level: usize, host: u32) -> u32 {
        let down = self.shape.children[level - 1] * self.shape.parallel[level - 1];
        let (way, parents) = (self.way_up(level, host), self.shape.parents[level]);
        down + way % parents * self.shape.parallel[level] + way / parents + 1
    }
}
