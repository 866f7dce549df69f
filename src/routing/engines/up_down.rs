//! Routes any connected fabric along up*/down* paths that are legal by construction.
//!
//! Guarantees: deadlock-free on one lane per tree, in order; also with parallel links and hosts on any
//! switch. Not minimal in general; minimal on fat trees.
//! Needs: a connected fabric, as many lanes as trees.
//! Fails with: [`RoutingError::Unreachable`]; [`RoutingError::TooFewLanes`]; [`RoutingError::Unsupported`] for
//! a root that does not exist or options that exclude each other.
//! Cost: time O(destination switches * channels + switches * hosts), for root `Auto` that of `root_by_load.rs`
//! more; memory one byte per (switch, host) and two per (destination switch, switch), times the trees. With
//! `lookup: Input` channels stand in place of switches.
//!
//! # Algorithm
//! 1. The switches are put in a total order: by (hops from the nearest root, id), or as a depth-first search
//!    meets them. A step is *up* when it leads to an earlier switch, otherwise *down*: no cycle consists of
//!    upward (or downward) steps only.
//! 2. For a destination switch, `D(s)` = shortest way of downward steps only.
//! 3. Where `D` is finite, candidates are the downward neighbours with `D = D(s) - 1`.
//! 4. Elsewhere `T(s) = 1 + min T(w)` over the upward neighbours `w` (with `T = D` where `D` is finite),
//!    from the top down; candidates are the upward neighbours that reach the minimum.
//! 5. Among the candidates the way with the least load (see `balance/by_load.rs`), or with `balance: Ports` the
//!    least assigned port (see `balance/mod.rs`).
//!
//! A packet that has gone down once is at a switch with finite `D`, hence never goes up again: a table that
//! depends on the destination only needs no memory of the phase. OpenSM's own `updn` keeps one phase per
//! switch while it searches and may produce forbidden turns; this one cannot. `lookup: Input` gives the
//! shortest legal path of every pair in place of steps 2 to 4, in tables InfiniBand switches do not have.
//!
//! Root `Auto` takes the root whose fullest channel carries least under uniform traffic of all hosts (see
//! `root_by_load.rs`), or all top switches of a tree together where those do better: in fabrics of some hundred
//! switches it is the best of all switches, beyond the best by an estimate; `virtlane routes` tells how many were
//! compared.
//!
//! With `trees: n` there are n orders, each on a lane of its own, from n roots: those listed, or the
//! switch nearest to all hosts (least eccentricity, highest degree, lowest id on ties) and then each time the switch farthest from the roots so far. Every destination switch belongs to one tree: in
//! order of hosts, to that which makes the hops to it fewest, no tree getting more than its share of hosts.
//!
//! References: [`AUTONET`], [`SANCHO_ROBLES_DUATO`], [`LYSNE_SKEIE`]

use super::legal::Legal;
use super::root::{Root, center, named};
use super::root_by_load::Search;
use super::turns::{Lookup, route_steps};
use super::up_order::{Tree, UpOrder, far_apart};
use crate::ids::SwitchId;
use crate::references::{AUTONET, LYSNE_SKEIE, SANCHO_ROBLES_DUATO};
use crate::registry::{Arguments, Entry, Parameter};
use crate::routing::adaptive::Lanes;
use crate::routing::balance::{
    Balance, Destination, destinations, require_all_reachable, require_nameable_ports,
};
use crate::routing::paths::Adjacency;
use crate::routing::paths::steps::Steps;
use crate::routing::{BuildEngine, Guarantees, LaneBudget, RoutingEngine, RoutingError, Tables};
use crate::topology::Graph;
use serde::Deserialize;

/// Up*/down* routing from one or several roots.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UpDown {
    root: Root,
    tree: Tree,
    trees: u8,
    lookup: Lookup,
    balance: Balance,
    passes: u8,
    lanes: Lanes,
}

impl Default for UpDown {
    fn default() -> Self {
        Self {
            root: Root::Auto,
            tree: Tree::Breadth,
            trees: 1,
            lookup: Lookup::Destination,
            balance: Balance::Auto,
            passes: 1,
            lanes: Lanes::Fixed,
        }
    }
}

const NAME: &str = "UpDown";

/// The registered part.
pub const ENTRY: Entry<BuildEngine> = Entry {
    name: NAME,
    aliases: &[],
    summary: "up*/down* paths, legal by construction, on any connected fabric",
    parameters: &[
        Parameter {
            name: "root",
            kind: "Auto, switch name, switch number or a list of them",
            default: Some("Auto"),
            summary: "where ranks are counted from; with `trees` above 1 one root per tree; Auto: where the fullest \
                      channel carries least",
        },
        Parameter {
            name: "tree",
            kind: "Breadth or Depth",
            default: Some("Breadth"),
            summary: "order of the switches: by breadth-first ranks or a depth-first search",
        },
        Parameter {
            name: "trees",
            kind: "integer 1..=15",
            default: Some("1"),
            summary: "independent trees, each with a root and a lane of its own",
        },
        Parameter {
            name: "lookup",
            kind: "Destination or Input",
            default: Some("Destination"),
            summary: "tables by destination (InfiniBand), or by input port and destination: shorter paths",
        },
        Balance::PARAMETER,
        Balance::PASSES,
        Lanes::PARAMETER,
    ],
    guarantees: &[
        "deadlock-free on one lane per tree",
        "in order unless `lanes: Any`",
    ],
    references: &[AUTONET, SANCHO_ROBLES_DUATO, LYSNE_SKEIE],
    build: |arguments: Arguments<'_>| {
        let engine: UpDown = arguments.parse()?;
        Ok(engine.lanes.engine(NAME, engine))
    },
};

impl RoutingEngine for UpDown {
    fn is_drawn(&self) -> bool {
        false
    }

    fn route(&self, graph: &Graph, budget: LaneBudget, _seed: u64) -> Result<Tables, RoutingError> {
        require_nameable_ports(graph, NAME)?;
        self.check(budget)?;
        let fabric = Fabric {
            graph,
            adjacency: &Adjacency::new(graph),
            destinations: &destinations(graph),
            budget,
        };
        let named = named(&self.root, graph, NAME)?;
        if self.trees > 1 {
            return self.over_trees(&fabric, named);
        }
        let Some(roots) = named else {
            let passes = match self.lookup {
                Lookup::Destination => self.balance.passes(graph, self.passes),
                Lookup::Input => self.passes,
            };
            let search = Search {
                graph,
                adjacency: fabric.adjacency,
                destinations: fabric.destinations,
                tree: self.tree,
                passes,
            };
            return search.route(|roots| self.one_order(&fabric, roots));
        };
        let reason = match roots.len() {
            0 => "the list of roots is empty; name one or use `root: Auto`",
            1 => return self.one_order(&fabric, &roots),
            _ if self.tree == Tree::Breadth => return self.one_order(&fabric, &roots),
            _ => "a depth-first tree has one root; name one, or use `trees` for several",
        };
        Err(RoutingError::unsupported(NAME, reason))
    }
}

/// What is routed.
struct Fabric<'a> {
    graph: &'a Graph,
    adjacency: &'a Adjacency,
    destinations: &'a [Destination],
    budget: LaneBudget,
}

impl UpDown {
    fn check(&self, budget: LaneBudget) -> Result<(), RoutingError> {
        let reason = if !(1..=15).contains(&self.trees) {
            format!("`trees` is {}, expected 1..=15", self.trees)
        } else if self.trees > 1 && self.lookup == Lookup::Input {
            "several trees need tables by destination; use `lookup: Destination` or `trees: 1`"
                .into()
        } else if self.lookup == Lookup::Input && self.balance == Balance::Ports {
            "`lookup: Input` balances by load; use `balance: Load`".into()
        } else {
            return budget.require(NAME, self.trees);
        };
        Err(RoutingError::unsupported(NAME, reason))
    }

    fn legal(&self, fabric: &Fabric<'_>, roots: &[SwitchId]) -> Legal {
        let order = UpOrder::new(fabric.adjacency, roots, self.tree);
        Legal::new(fabric.adjacency, order, fabric.destinations)
    }

    /// One order for all, from one root or several.
    fn one_order(&self, fabric: &Fabric<'_>, roots: &[SwitchId]) -> Result<Tables, RoutingError> {
        if self.lookup == Lookup::Destination {
            let tree = [self.legal(fabric, roots)];
            return self.balanced(fabric, &tree, &vec![0; fabric.destinations.len()]);
        }
        let Fabric { graph, budget, .. } = *fabric;
        let order = UpOrder::new(fabric.adjacency, roots, self.tree);
        let steps = Steps::by_input(graph, NAME, |input, output| {
            let up = |channel| {
                let ends = graph.channel(channel);
                let ends = ends.from.switch().zip(ends.to.switch());
                ends.is_some_and(|(from, to)| order.is_up(from, to))
            };
            up(input) || !up(output)
        })?;
        route_steps(graph, NAME, &steps, budget, self.passes)
    }

    /// An order and a lane for each of several trees, from the roots that are `named`.
    fn over_trees(
        &self,
        fabric: &Fabric<'_>,
        named: Option<Vec<SwitchId>>,
    ) -> Result<Tables, RoutingError> {
        let count = usize::from(self.trees);
        let roots = named.unwrap_or_else(|| {
            let first = center(fabric.adjacency, fabric.destinations);
            far_apart(fabric.adjacency, first, count)
        });
        if roots.len() != count {
            let found = roots.len();
            let reason = format!("{count} trees need as many roots, there are {found}");
            return Err(RoutingError::unsupported(NAME, reason));
        }
        let trees: Vec<Legal> = roots
            .iter()
            .map(|&root| self.legal(fabric, &[root]))
            .collect();
        let tree_of = assign(&trees, fabric.destinations);
        self.balanced(fabric, &trees, &tree_of)
    }

    /// Step 5: the ways to each destination switch in the tree it belongs to.
    fn balanced(
        &self,
        fabric: &Fabric<'_>,
        trees: &[Legal],
        tree_of: &[usize],
    ) -> Result<Tables, RoutingError> {
        let Fabric { graph, budget, .. } = *fabric;
        let next = self.balance.spread(
            graph,
            fabric.adjacency,
            fabric.destinations,
            |i| trees[tree_of[i]].hops(i),
            |i, from, to| trees[tree_of[i]].leads_on(i, from, to),
            self.passes,
        );
        require_all_reachable(graph, &next)?;
        let guarantees = Guarantees {
            minimal: false,
            deadlock_free: true,
            in_order: true,
            lanes_needed: trees.len() as u8,
        };
        if trees.len() == 1 {
            return Ok(Tables::on_one_lane(graph, NAME, next, budget, guarantees));
        }
        let mut layer_to = vec![0; graph.switches().len()];
        for (destination, &tree) in fabric.destinations.iter().zip(tree_of) {
            layer_to[destination.switch.index()] = tree as u8;
        }
        let path_layer = Tables::path_layers_by_switch(graph, |_, to| layer_to[to.index()]);
        Ok(Tables::on_layers(
            graph, NAME, next, path_layer, budget, guarantees,
        ))
    }
}

/// Tree of every destination switch.
fn assign(trees: &[Legal], destinations: &[Destination]) -> Vec<usize> {
    let hosts: usize = destinations.iter().map(|d| d.hosts.len()).sum();
    let share = hosts.div_ceil(trees.len());
    let mut taken = vec![0; trees.len()];
    let mut assigned = Vec::with_capacity(destinations.len());
    for (i, destination) in destinations.iter().enumerate() {
        let open = (0..trees.len()).filter(|&tree| taken[tree] < share);
        let best = open.min_by_key(|&tree| (trees[tree].hops_to(i, destinations), taken[tree]));
        let tree = best.unwrap_or(0);
        taken[tree] += destination.hosts.len();
        assigned.push(tree);
    }
    assigned
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::SlId;
    use crate::routing::loads::ChannelLoads;
    use crate::routing::tests::conformance::proof;
    use crate::routing::tests::graphs::{irregular, spine_leaf};

    #[test]
    fn up_down_uses_all_spines_and_balances_parallel_links() {
        let graph = spine_leaf(3, 5, 2);
        let (tables, proof) = proof(&graph, "UpDown(balance: Ports)", 1);
        assert!(proof.minimal && proof.acyclic);
        // the 16 remote hosts are shared by the 6 upward links of each leaf: 2 or 3 each, from 4 hosts
        let loads = ChannelLoads::uniform(&graph, &tables);
        for leaf in (3..8).map(SwitchId) {
            for (_, channel, _) in graph.neighbors(leaf) {
                assert!([8, 12].contains(&loads.paths[channel.index()]));
            }
        }
    }

    #[test]
    fn up_down_is_acyclic_and_nearly_as_short_as_legal_paths() {
        up_down_on(100);
    }

    /// A-14, path by path: what has gone down, away from the root or to the larger number, never goes up again.
    #[test]
    fn no_path_goes_up_after_it_has_gone_down() {
        let mut turns = 0;
        for seed in 0..100 {
            let graph = irregular(16 + (seed * 37 % 49) as u32, 3 + (seed % 6) as u32, seed);
            let rank = Adjacency::new(&graph).distances(&[SwitchId(0)]);
            for text in [
                "UpDown(root: \"S0\")",
                "UpDown(root: \"S0\", lookup: Input)",
            ] {
                let (tables, _) = proof(&graph, text, 1);
                for (source, destination) in graph
                    .host_ids()
                    .flat_map(|source| graph.host_ids().map(move |other| (source, other)))
                    .filter(|(source, destination)| source != destination)
                {
                    let path = tables.path(&graph, source, destination, SlId(0));
                    let mut is_down = false;
                    for (channel, _) in path.expect("connected") {
                        let ends = graph.channel(channel);
                        let (Some(from), Some(to)) = (ends.from.switch(), ends.to.switch()) else {
                            continue;
                        };
                        let goes_down = (rank[to.index()], to) > (rank[from.index()], from);
                        assert!(goes_down || !is_down, "seed {seed}, {text}: {source:?}");
                        turns += u32::from(goes_down && !is_down);
                        is_down = goes_down;
                    }
                }
            }
        }
        assert!(turns > 100_000, "{turns}");
    }

    #[test]
    #[ignore = "dev, 3 minutes: 1,000 fabrics; scripts/on_demand.sh up_down_on_a_thousand_random_fabrics"]
    fn up_down_on_a_thousand_random_fabrics() {
        up_down_on(1000);
    }

    /// A-14 on random fabrics of 16 to 128 switches and degree 3 to 8.
    fn up_down_on(fabrics: u64) {
        let (mut taken, mut legal) = (0.0, 0.0);
        for seed in 0..fabrics {
            let size = 16 + (seed * 37 % 113) as u32;
            let graph = irregular(size, 3 + (seed % 6) as u32, seed);
            let (_, automatic) = proof(&graph, "UpDown()", 1);
            let (_, rooted) = proof(&graph, "UpDown(root: \"S0\")", 1);
            assert!(automatic.acyclic && rooted.acyclic, "seed {seed}");
            let shortest = shortest_legal(&graph);
            let (_, by_input) = proof(&graph, "UpDown(root: \"S0\", lookup: Input)", 1);
            assert!((by_input.mean_hops - shortest).abs() < 1e-9, "seed {seed}");
            taken += rooted.mean_hops;
            legal += shortest;
        }
        assert!(taken >= legal && taken < legal * 1.01, "{taken} {legal}");
    }

    /// Mean hops of the shortest up*/down* paths from root 0, by a search over (switch, phase).
    fn shortest_legal(graph: &Graph) -> f64 {
        let rank = Adjacency::new(graph).distances(&[SwitchId(0)]);
        let (mut sum, mut pairs) = (0, 0);
        for source in graph.host_ids() {
            let (start, _) = graph.attachment(source).unwrap();
            let mut distance = vec![[u32::MAX; 2]; graph.switches().len()];
            distance[start.index()][0] = 0;
            let mut queue = std::collections::VecDeque::from([(start, 0)]);
            while let Some((switch, phase)) = queue.pop_front() {
                let here = distance[switch.index()][phase];
                for (_, _, next) in graph.neighbors(switch) {
                    let key = |s: SwitchId| (rank[s.index()], s);
                    let down = usize::from(key(next) > key(switch));
                    if down >= phase && distance[next.index()][down] == u32::MAX {
                        distance[next.index()][down] = here + 1;
                        queue.push_back((next, down));
                    }
                }
            }
            for destination in graph.host_ids().filter(|&d| d != source) {
                let (end, _) = graph.attachment(destination).unwrap();
                sum += distance[end.index()].into_iter().min().unwrap();
                pairs += 1;
            }
        }
        f64::from(sum) / f64::from(pairs)
    }
}
