//! Takes failed switches and links out of a graph.
//!
//! Guarantees: switches and hosts that remain keep their names, ports and order, links theirs; the same plan
//! gives the same graph. With `keep_connected` the number of connected parts does not grow.
//! Fails with: [`FaultError`] when fewer can fail than asked for, a listed fault would cut the fabric in two,
//! or nothing would be left.
//! Cost: O(candidates + failed * search) time, where the search for another way round a link is short in a
//! well-connected fabric; O(switches + links) memory.
//!
//! # Algorithm
//!
//! 1. Switches fail: the listed ones, or as many as asked for from a random order of all. The hosts of a
//!    failed switch disappear, and so do its links.
//! 2. Links between the remaining switches fail likewise. Only a list can name a host's link; its host
//!    disappears.
//! 3. With `keep_connected`, a random candidate whose failure would cut a part in two is passed over, and
//!    the next one in the order is taken.
//!
//! The graph that remains is [`Shape::Irregular`](super::Shape::Irregular), for its coordinates no longer say which ports
//! exist; what it was, and what of that is missing, is its [`Structure`](super::structure::Structure). Hosts and switches are numbered anew, without gaps.

mod rest;

use super::graph::{Endpoint, Graph};
use crate::ids::{LinkId, SwitchId};
use crate::rng::{Purpose, below, stream};
use std::collections::VecDeque;

/// Which things of one kind fail.
#[derive(Clone, Debug, PartialEq)]
pub enum Failing<T> {
    /// So many, at random.
    Count(u32),
    /// This fraction of them, at random, rounded to the nearest number.
    Fraction(f64),
    /// These.
    List(Vec<T>),
}

/// What fails.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultPlan {
    /// Switches, with all their links and hosts.
    pub switches: Failing<SwitchId>,
    /// Links; random ones are between switches.
    pub links: Failing<LinkId>,
    /// Whether the fabric must not be cut into more parts than it has.
    pub keep_connected: bool,
    /// Seed of the random choice.
    pub seed: u64,
}

/// A graph with faults.
#[derive(Clone, Debug, PartialEq)]
pub struct Degraded {
    /// What remains.
    pub graph: Graph,
    /// What does not.
    pub failed: Failed,
}

/// Names of what failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failed {
    /// Names of the failed switches, in their order.
    pub switches: Vec<String>,
    /// Names of the links that failed by themselves, not with a switch: `S0 port 2 - S1 port 3`.
    pub links: Vec<String>,
    /// Names of the hosts that disappeared.
    pub hosts: Vec<String>,
}

/// Kind of a thing that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Faults of switches.
    Switches,
    /// Faults of links.
    Links,
}

/// Faults that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct FaultError {
    /// Which faults.
    pub kind: FaultKind,
    /// What is wrong and what is possible.
    pub reason: String,
}

/// Lets switches and links of a graph fail.
///
/// # Errors
/// When fewer can fail than the plan says, or nothing would be left.
pub fn apply(graph: &Graph, plan: &FaultPlan) -> Result<Degraded, FaultError> {
    let mut faults = Faults {
        graph,
        keep_connected: plan.keep_connected,
        is_switch_up: vec![true; graph.switches().len()],
        is_link_up: vec![true; graph.link_count()],
        seen: vec![0; graph.switches().len()],
        search: 0,
    };
    let switches: Vec<SwitchId> = graph.switch_ids().collect();
    faults.fail(&switches, &plan.switches, plan.seed)?;
    let between_switches = |&link: &LinkId| {
        let ends = graph.link_ends(link);
        faults.is_link_up[link.index()] && ends.iter().all(|end| end.switch().is_some())
    };
    let links: Vec<LinkId> = (0..graph.link_count())
        .map(LinkId::from)
        .filter(between_switches)
        .collect();
    let with_switches = faults.is_link_up.clone();
    faults.fail(&links, &plan.links, plan.seed)?;
    faults.rebuild(&with_switches)
}

/// A switch or a link, as something that can fail.
trait CanFail: Copy {
    const KIND: FaultKind;
    const NAME: [&'static str; 2];
    /// Second half of the stream's id, so that both kinds draw by themselves.
    const STREAM: u64;

    fn is_up(self, faults: &Faults<'_>) -> bool;
    /// Whether its failure would leave more parts than there are.
    fn is_cut(self, faults: &mut Faults<'_>) -> bool;
    fn take_down(self, faults: &mut Faults<'_>);
    fn name(self, graph: &Graph) -> String;
}

impl CanFail for SwitchId {
    const KIND: FaultKind = FaultKind::Switches;
    const NAME: [&'static str; 2] = ["switch", "switches"];
    const STREAM: u64 = 0;

    fn is_up(self, faults: &Faults<'_>) -> bool {
        faults.is_switch_up[self.index()]
    }

    fn is_cut(self, faults: &mut Faults<'_>) -> bool {
        let mut neighbors: Vec<SwitchId> = faults.neighbors(self).collect();
        neighbors.sort_unstable();
        neighbors.dedup();
        faults.is_switch_up[self.index()] = false;
        let joined = match neighbors.split_first() {
            Some((&first, others)) => faults.reaches_all(first, others),
            None => true,
        };
        faults.is_switch_up[self.index()] = true;
        !joined
    }

    fn take_down(self, faults: &mut Faults<'_>) {
        faults.is_switch_up[self.index()] = false;
        for (_, channel) in faults.graph.connected_ports(self) {
            faults.is_link_up[channel.link().index()] = false;
        }
    }

    fn name(self, graph: &Graph) -> String {
        graph.switches()[self.index()].name.clone()
    }
}

impl CanFail for LinkId {
    const KIND: FaultKind = FaultKind::Links;
    const NAME: [&'static str; 2] = ["link between switches", "links between switches"];
    const STREAM: u64 = 1;

    fn is_up(self, faults: &Faults<'_>) -> bool {
        faults.is_link_up[self.index()]
    }

    fn is_cut(self, faults: &mut Faults<'_>) -> bool {
        let [Some(a), Some(b)] = faults.graph.link_ends(self).map(Endpoint::switch) else {
            return false; // a host goes with its link
        };
        faults.is_link_up[self.index()] = false;
        let joined = faults.reaches_all(a, &[b]);
        faults.is_link_up[self.index()] = true;
        !joined
    }

    fn take_down(self, faults: &mut Faults<'_>) {
        faults.is_link_up[self.index()] = false;
    }

    fn name(self, graph: &Graph) -> String {
        let ends = graph.link_ends(self);
        ends.map(|end| graph.endpoint_name(end)).join(" - ")
    }
}

/// A graph while things fail.
struct Faults<'a> {
    graph: &'a Graph,
    keep_connected: bool,
    is_switch_up: Vec<bool>,
    is_link_up: Vec<bool>,
    /// Number of the last search that reached a switch.
    seen: Vec<u32>,
    search: u32,
}

impl Faults<'_> {
    /// Lets things fail; `candidates` are those that random faults may hit.
    fn fail<T: CanFail>(
        &mut self,
        candidates: &[T],
        failing: &Failing<T>,
        seed: u64,
    ) -> Result<(), FaultError> {
        let total = candidates.len();
        let wanted = match failing {
            Failing::List(list) => return self.fail_listed(list),
            Failing::Count(count) => *count as usize,
            Failing::Fraction(fraction) => (fraction * total as f64).round() as usize,
        };
        let mut rng = stream(seed, Purpose::Faults, T::STREAM);
        let mut order: Vec<T> = candidates.to_vec();
        let mut failed = 0;
        for i in 0..total {
            if failed == wanted {
                break;
            }
            order.swap(i, i + below(&mut rng, (total - i) as u32) as usize);
            if self.keep_connected && order[i].is_cut(self) {
                continue;
            }
            order[i].take_down(self);
            failed += 1;
        }
        if failed == wanted {
            return Ok(());
        }
        let name = T::NAME[usize::from(wanted.max(total) != 1)];
        let reason = if wanted > total {
            let name = T::NAME[usize::from(wanted != 1)];
            let there = match total {
                0 => "there is none".to_owned(),
                1 => "there is 1".to_owned(),
                many => format!("there are {many}"),
            };
            format!("{wanted} {name} cannot fail, {there}")
        } else {
            format!(
                "{wanted} of {total} {name} cannot fail without cutting the fabric in two (with this seed \
                 {failed} can): expected fewer, or `keep_connected: false`"
            )
        };
        Err(FaultError {
            kind: T::KIND,
            reason,
        })
    }

    fn fail_listed<T: CanFail>(&mut self, list: &[T]) -> Result<(), FaultError> {
        let error = |reason| FaultError {
            kind: T::KIND,
            reason,
        };
        for &thing in list {
            let name = thing.name(self.graph);
            if !thing.is_up(self) {
                return Err(error(format!(
                    "`{name}` has failed already, expected it once"
                )));
            }
            if self.keep_connected && thing.is_cut(self) {
                return Err(error(format!(
                    "the failure of `{name}` cuts the fabric in two, expected another one or \
                     `keep_connected: false`"
                )));
            }
            thing.take_down(self);
        }
        Ok(())
    }

    /// Switches that are up behind links that are up.
    fn neighbors(&self, switch: SwitchId) -> impl Iterator<Item = SwitchId> {
        self.graph
            .neighbors(switch)
            .filter(|(_, channel, neighbor)| {
                self.is_link_up[channel.link().index()] && self.is_switch_up[neighbor.index()]
            })
            .map(|(.., neighbor)| neighbor)
    }

    /// Whether `from` can reach all of `others`, which are different and not `from`.
    fn reaches_all(&mut self, from: SwitchId, others: &[SwitchId]) -> bool {
        self.search += 1;
        let search = self.search;
        let mut left = others.len();
        let mut queue = VecDeque::from([from]);
        self.seen[from.index()] = search;
        while let Some(switch) = queue.pop_front() {
            if left == 0 {
                break;
            }
            let neighbors: Vec<SwitchId> = self.neighbors(switch).collect();
            for neighbor in neighbors {
                if self.seen[neighbor.index()] != search {
                    self.seen[neighbor.index()] = search;
                    left -= usize::from(others.contains(&neighbor));
                    queue.push_back(neighbor);
                }
            }
        }
        left == 0
    }
}

#[cfg(test)]
mod tests;
