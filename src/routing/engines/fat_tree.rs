//! Routes fat trees by the digits of the destination (D-mod-K), without contention for shifts.
//!
//! Guarantees: deadlock-free (up, then down), in order unless `lanes: Any`; minimal when all links are there. Where every switch below the top has as many
//! links up as down (every k-ary n-tree), each shift permutation `d = s + c mod N` loads each channel with at
//! most one path, and no permutation loads a downward channel with more than one.
//! Needs: a k-ary n-tree ([`Shape::Tree`]), an extended generalised fat tree ([`Shape::Xgft`]: star, tree,
//! leaf-spine and Clos networks too) or an enriched tree ([`Shape::EnrichedTree`]); 1 lane.
//! Fails with: [`RoutingError::Unsupported`] for any other shape, and for a tree with missing links in which no way up and then
//! down is left between two switches with hosts.
//! Cost: time and memory O(switches * hosts); with missing links time O(links) more for each switch with hosts.
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
use crate::ids::{HostId, SwitchId};
use crate::references::{PETRINI_VANNESCHI, ZAHAVI, ZDORNOV_BIRK};
use crate::registry::{Arguments, Entry};
use crate::routing::adaptive::Lanes;
use crate::routing::balance::require_nameable_ports;
use crate::routing::regular::{self, Links as Present, Need};
use crate::routing::{
    BuildEngine, Guarantees, LaneBudget, RoutingEngine, RoutingError, Tables, UNREACHABLE,
};
use crate::topology::graph::{TreeShape, XgftShape};
use crate::topology::{Graph, Shape};
use serde::Deserialize;

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
            Shape::Tree(tree) => tree_tables(graph, tree),
            Shape::EnrichedTree(enriched) => tree_tables(graph, &enriched.tree),
            Shape::Xgft(shape) => {
                let levels = &Levels::new(shape);
                tables(graph, |switch| move |host| levels.port(switch, host))
            }
            _ => {
                return Err(regular::is_no(NAME, graph, "fat tree"));
            }
        };
        let is_torn = lacks_links(graph, &next);
        if is_torn {
            go_around(graph, &mut next)?;
        }
        let guarantees = Guarantees {
            minimal: !is_torn,
            deadlock_free: true,
            ..Guarantees::IN_ORDER
        };
        Ok(Tables::on_one_lane(graph, NAME, next, budget, guarantees))
    }
}

/// The port of every (switch, host); `ports` gives those of one switch.
fn tables<P: Fn(HostId) -> u16>(graph: &Graph, ports: impl Fn(SwitchId) -> P) -> Vec<u8> {
    let mut next = Vec::with_capacity(graph.switches().len() * graph.hosts().len());
    for switch in graph.switch_ids() {
        let port = ports(switch);
        next.extend(graph.host_ids().map(|host| port(host) as u8));
    }
    next
}

/// Whether some port of the tables has no link.
fn lacks_links(graph: &Graph, next: &[u8]) -> bool {
    let rows = graph
        .switch_ids()
        .zip(next.chunks(graph.hosts().len().max(1)));
    rows.into_iter().any(|(switch, row)| {
        let mut has_link = [false; 256];
        for (port, _) in graph.connected_ports(switch) {
            has_link[usize::from(port)] = true;
        }
        row.iter().any(|&port| !has_link[usize::from(port)])
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

/// Ports of a k-ary n-tree: the steps for `m = w = k`, in the numbering of [`TreeShape`].
fn tree_tables(graph: &Graph, shape: &TreeShape) -> Vec<u8> {
    // weight of digit `level - 1` of the word, and of digit `level` of the destination
    let below = |level: u32| shape.arity.pow(shape.levels - 1 - level);
    // by level and host: the word of the ancestors from digit `level` on, and the digit
    let parts = |level: u32| -> Vec<(u32, u16)> {
        let below = below(level);
        let part = |host: u32| {
            let digit = host / below % shape.arity;
            (host / (below * shape.arity), digit as u16)
        };
        graph.host_ids().map(|host| part(host.0)).collect()
    };
    let parts: Vec<Vec<(u32, u16)>> = (0..shape.levels).map(parts).collect();
    tables(graph, |switch| {
        let level = shape.level(switch);
        let own = shape.word(switch) / below(level);
        let parts = &parts[level as usize];
        move |host| {
            let (word, digit) = parts[host.index()];
            let up = if word == own {
                0 // step 1
            } else {
                shape.arity as u16 // step 2
            };
            up + digit + 1
        }
    })
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
    fn way_up(&self, level: usize, host: HostId) -> u32 {
        let links = self.shape.parents[level] * self.shape.parallel[level];
        host.0 / self.parents[level] % links
    }

    fn port(&self, switch: SwitchId, host: HostId) -> u16 {
        let (level, word) = self.places[switch.index()];
        // index of the level below in the lists, which start with the level of the hosts
        let below = level - 1;
        let copies = self.shape.parallel[below];
        let port = if word / self.parents[level] == host.0 / self.hosts[level] {
            let child = host.0 / self.hosts[below] % self.shape.children[below]; // step 1
            child * copies + self.way_up(below, host) / self.shape.parents[below]
        } else {
            let down = self.shape.children[below] * copies;
            let (way, parents) = (self.way_up(level, host), self.shape.parents[level]); // step 2
            down + way % parents * self.shape.parallel[level] + way / parents
        };
        port as u16 + 1
    }
}
