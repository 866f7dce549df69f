//! Chooses the roots of up*/down* routing by load: those whose fullest channel carries least under uniform traffic.
//!
//! The switch nearest to all hosts need not be a good root: what counts is how evenly the legal paths spread.
//!
//! Guarantees: a function of the fabric and the options; up to [`TABLES`] no root has a lower fullest channel.
//! Cost: at most about [`TABLES`] steps of routing, or [`STEPS`] of estimates and [`CLOSE_TABLES`] of routing: some tenths of
//! a second on one core, and less than the routing itself takes in fabrics where that is more.
//!
//! # Algorithm
//! 1. Choices are all switches farthest from any host together (all tops of a tree), then every switch, nearest to all
//!    hosts first. In large fabrics only as many switches as [`STEPS`] allow, evenly from that list.
//! 2. Where tables of all choices would take too long, each is estimated first: every switch splits what it sends
//!    to a destination switch evenly over all its legal ways. In large fabrics destinations are sampled evenly, too; the
//!    channels that end at a sampled one are then left out, because they carry all that others would spread.
//!    Choices within [`CLOSE`] of the best go on, as many as [`TABLES`] allow.
//! 3. The choices left are routed. The first with the least load of the fullest channel between switches, in cycles, all
//!    hosts sending at the rate of their link, is taken.

use super::legal::Way;
use super::root::{by_distance, tops};
use super::up_order::{Tree, UpOrder};
use crate::ids::SwitchId;
use crate::routing::balance::Destination;
use crate::routing::balance::by_load::by_hops;
use crate::routing::loads::demand::Demand;
use crate::routing::loads::demand_loads::fullest;
use crate::routing::paths::{Adjacency, UNREACHED};
use crate::routing::{RoutingError, Tables};
use crate::topology::Graph;
use rayon::prelude::*;

/// Most steps of routing where all choices are compared by their tables, hosts times channels of each choice.
const TABLES: usize = 1 << 26;

/// Most steps of routing where choices are estimated first.
const CLOSE_TABLES: usize = 1 << 24;

/// Most steps of estimates, destinations times channels of each choice.
const STEPS: usize = 1 << 23;

/// Fewest destinations an estimate looks at, unless there are fewer.
const DESTINATIONS: usize = 64;

/// Fewest roots that are looked at, unless there are fewer.
const ROOTS: usize = 16;

/// How much worse than the best an estimate may be: even splits and balanced tables differ by about this much.
const CLOSE: f64 = 1.25;

/// A fabric whose roots are sought.
pub(super) struct Search<'a> {
    pub(super) graph: &'a Graph,
    pub(super) adjacency: &'a Adjacency,
    pub(super) destinations: &'a [Destination],
    pub(super) tree: Tree,
    /// Times every destination chooses its ways.
    pub(super) passes: u8,
}

/// Choices, and what is said about them.
struct Choices {
    sets: Vec<Vec<SwitchId>>,
    remark: String,
}

impl Search<'_> {
    /// The tables that `route` makes from the best roots.
    ///
    /// # Errors
    /// Those of `route` from the first choice, when it fails from every one.
    pub(super) fn route(
        &self,
        route: impl Fn(&[SwitchId]) -> Result<Tables, RoutingError> + Sync,
    ) -> Result<Tables, RoutingError> {
        let work = self.graph.hosts().len() * self.channels() * usize::from(self.passes);
        let Choices { mut sets, remark } = self.choices(TABLES / work.max(1));
        let mut remarks = vec![(String::from("roots chosen"), remark)];
        if sets.len() > TABLES / work.max(1) {
            let affordable = (CLOSE_TABLES / work.max(1)).max(1);
            let (close, remark) = self.estimate(sets, affordable);
            sets = close;
            remarks.push((String::new(), remark));
        }
        let demand = Demand::uniform(self.graph);
        let compare = |(place, roots): (usize, &Vec<SwitchId>)| {
            let tables = route(roots).ok()?;
            Some((fullest(self.graph, &tables, &demand), place))
        };
        let best = match sets.as_slice() {
            [_] => None,
            _ => sets.par_iter().enumerate().filter_map(compare).min(),
        };
        let roots = &sets[best.map_or(0, |(_, place)| place)];
        let mut tables = route(roots)?;
        tables
            .remarks
            .push((String::from("root"), self.names(roots)));
        tables.remarks.append(&mut remarks);
        Ok(tables)
    }

    /// Step 1; at least one choice, and all up to `affordable`.
    fn choices(&self, affordable: usize) -> Choices {
        let mut switches = by_distance(self.adjacency, self.destinations);
        let all = switches.len();
        let most = (STEPS / (DESTINATIONS * self.channels()).max(1)).max(ROOTS);
        let most = most.max(affordable);
        let mut remark = format!("by the load of the fullest channel, of all {all} switches");
        if all > most {
            switches = (0..most).map(|i| switches[i * all / most]).collect();
            remark = format!("by the load of the fullest channel, of {most} of {all} switches");
        }
        let mut sets: Vec<Vec<SwitchId>> = switches.into_iter().map(|root| vec![root]).collect();
        // a depth-first search has one root
        let tops = tops(self.adjacency, self.destinations).filter(|tops| tops.len() > 1);
        if self.tree == Tree::Breadth
            && let Some(tops) = tops
        {
            remark = format!(
                "{remark} and the {} farthest from hosts together",
                tops.len()
            );
            sets.insert(0, tops);
        }
        if sets.is_empty() {
            sets.push(vec![SwitchId(0)]);
        }
        Choices { sets, remark }
    }

    /// Step 2: at most `affordable` choices, and what is said about how they were found.
    fn estimate(
        &self,
        sets: Vec<Vec<SwitchId>>,
        affordable: usize,
    ) -> (Vec<Vec<SwitchId>>, String) {
        let all = self.destinations.len();
        let most = STEPS / (sets.len() * self.channels()).max(1);
        let count = most.max(DESTINATIONS).min(all);
        let sample: Vec<&Destination> = (0..count)
            .map(|i| &self.destinations[i * all / count])
            .collect();
        let paces = self.paces();
        let loads = sets
            .par_iter()
            .map(|roots| self.even(roots, &sample, &paces));
        let mut estimates: Vec<(f64, Vec<SwitchId>)> =
            loads.collect::<Vec<_>>().into_iter().zip(sets).collect();
        estimates.sort_by(|a, b| a.0.total_cmp(&b.0));
        let limit = estimates[0].0 * CLOSE;
        estimates.retain(|&(load, _)| load <= limit);
        estimates.truncate(affordable);
        let then = match estimates.len() {
            1 => String::from("the best is taken"),
            left => format!("the best {left} compared by their tables"),
        };
        let remark =
            format!("estimated by even splits of what goes to {count} of {all} switches, {then}");
        (
            estimates.into_iter().map(|(_, roots)| roots).collect(),
            remark,
        )
    }

    /// Load of the fullest channel when all split evenly \[cycles\]; infinite when a pair has no legal path.
    fn even(&self, roots: &[SwitchId], sample: &[&Destination], paces: &[f64]) -> f64 {
        let order = UpOrder::new(self.adjacency, roots, self.tree);
        let first = self.adjacency.first_exits();
        let is_sample = sample.len() < self.destinations.len();
        let mut loads = vec![0.0; paces.len()];
        let mut entering = vec![0.0; self.adjacency.len()];
        for (rate, end) in self.rates().zip(self.destinations) {
            entering[end.switch.index()] = rate;
        }
        let mut through = entering.clone();
        for end in sample {
            let way = Way::new(self.adjacency, &order, end.switch);
            if self
                .destinations
                .iter()
                .any(|from| way.hops[from.switch.index()] == UNREACHED)
            {
                return f64::INFINITY;
            }
            through.copy_from_slice(&entering);
            for &switch in by_hops(&way.hops).iter().rev() {
                let switch = switch as usize;
                let exits = self.adjacency.exits(switch);
                let leads_on = |neighbor: u32| way.leads_on(&order, switch, neighbor as usize);
                let ways = exits.iter().filter(|exit| leads_on(exit.neighbor)).count();
                let part = through[switch] / ways.max(1) as f64;
                for (place, exit) in (first[switch] as usize..).zip(exits) {
                    if !leads_on(exit.neighbor) {
                        continue;
                    }
                    through[exit.neighbor as usize] += part;
                    if !is_sample || exit.neighbor != end.switch.0 {
                        loads[place] += part * end.hosts.len() as f64;
                    }
                }
            }
        }
        let busy = loads.iter().zip(paces).map(|(load, pace)| load * pace);
        busy.fold(0.0, f64::max)
    }

    /// What the hosts of each destination switch send \[flits per cycle\].
    fn rates(&self) -> impl Iterator<Item = f64> {
        let rate = |&(_, host): &(u16, _)| {
            let channel = self.graph.channel(self.graph.host_channel(host));
            1.0 / f64::from(channel.timing.cycles_per_flit)
        };
        self.destinations
            .iter()
            .map(move |end| end.hosts.iter().map(rate).sum())
    }

    /// Pace of every exit \[cycles per flit\].
    fn paces(&self) -> Vec<f64> {
        let exits = self.graph.switch_ids().flat_map(|switch| {
            let exits = self.graph.neighbors(switch);
            exits.map(|(_, channel, _)| self.graph.channel(channel).timing.cycles_per_flit)
        });
        exits.map(f64::from).collect()
    }

    /// Channels between switches.
    fn channels(&self) -> usize {
        self.adjacency
            .first_exits()
            .last()
            .map_or(0, |&count| count as usize)
    }

    /// The first few names.
    fn names(&self, roots: &[SwitchId]) -> String {
        let shown = roots.iter().take(4);
        let names = shown.map(|root| self.graph.switches()[root.index()].name.as_str());
        let names = names.collect::<Vec<_>>().join(", ");
        match roots.len() {
            0..=4 => names,
            count => format!("{names} and {} more", count - 4),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::loads::ChannelLoads;
    use crate::routing::tests::conformance::proof;
    use crate::routing::tests::graphs::{degraded_leaf_spine, irregular, tree};

    fn most(graph: &Graph, text: &str) -> u64 {
        let (tables, proof) = proof(graph, text, 1);
        assert!(proof.acyclic);
        ChannelLoads::uniform(graph, &tables).max()
    }

    /// How many roots are better than `Auto`, and how much the best is \[parts\].
    fn better_roots(graph: &Graph) -> (usize, f64) {
        let auto = most(graph, "UpDown()");
        let roots = 0..graph.switches().len();
        let loads: Vec<u64> = roots
            .map(|root| most(graph, &format!("UpDown(root: {root})")))
            .collect();
        let best = loads.iter().min().copied().unwrap_or(auto);
        let better = loads.iter().filter(|&&load| load < auto).count();
        (better, auto as f64 / best as f64 - 1.0)
    }

    #[test]
    fn no_root_is_better_than_the_one_chosen() {
        let mut graphs = vec![degraded_leaf_spine()];
        graphs.extend((0..6).map(|seed| irregular(16 + 16 * seed as u32, 4, seed)));
        for graph in graphs {
            assert_eq!(better_roots(&graph).0, 0);
        }
    }

    #[test]
    fn estimated_roots_come_near_the_best() {
        let graph = irregular(160, 8, 1);
        let (tables, _) = proof(&graph, "UpDown(passes: 8)", 1);
        let remarks: Vec<&str> = tables.remarks.iter().map(|r| r.1.as_str()).collect();
        assert!(remarks[2].starts_with("estimated"), "{remarks:?}");
        let (_, worse) = better_roots(&graph);
        assert!(worse < 0.05, "{worse}");
    }

    #[test]
    fn tops_of_a_tree_are_chosen_together() {
        let (tables, proof) = proof(&tree(4, 3), "UpDown()", 1);
        assert!(proof.minimal);
        assert_eq!(tables.remarks[0].1, "S0, S1, S2, S3 and 12 more");
    }
}
