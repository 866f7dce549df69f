//! Proves what an adaptive routing function does, whatever packets choose and however loaded the fabric is.
//!
//! Guarantees: a [`Proof`] covers every pair of hosts and every choice: every packet arrives after a bounded number
//! of hops, has a way on everywhere, and what the engine declared (minimal, deadlock-free) holds.
//! Needs: a function written leg by leg ([`Legs`](super::Legs)), or any lanes of tables ([`AnyLane`](super::AnyLane)), which
//! are proved as these.
//! Fails with: [`VerifyError`].
//! Cost: O(ways) per (goal, word), in parallel over goals, for open engines a few times; memory that of the
//! [`DependencyGraph`] plus O(ways) of one (goal, word) per thread.
//!
//! # Algorithm
//! 1. Every first leg, then every last leg is followed from all its starts (`explore.rs`); last legs start also
//!    where first legs end. Packets that pass the switch of their destination on their first leg are ejected
//!    there: they do less than what is followed. Which sources go through which switch to which destination is not
//!    looked at; but when the engine says that such switches lie between the two (`stays_between`) and all legs are
//!    shortest ways, so is the whole.
//! 2. Committed engines, and all with one pool for the lanes of a port: every way is a vertex, every way on from
//!    where it leads a dependency, those from a first leg to all last legs included. No cycle, no deadlock.
//! 3. Open engines (Duato): only escape lanes are vertices. A packet that holds one may ask for another next, or
//!    after any number of other lanes (direct and indirect dependencies). Indirect ones are many, so they are
//!    not listed: every vertex gets a level above those it is known to wait for, then each goal is searched for
//!    a dependency against the levels. Those found are added, until there is none (no cycle) or the
//!    dependencies found form a cycle.
//!
//! References: [`DALLY_SEITZ`](crate::references::DALLY_SEITZ), [`DUATO`](crate::references::DUATO)

use super::explore::{Explored, Question, Way};
use super::totals::{FirstLeg, Total};
use super::{Adaptive, Leg, Selection, any_lane};
use crate::ids::{ChannelId, SwitchId, VlId};
use crate::routing::paths::Adjacency;
use crate::routing::proof::conclude::{Followed, conclude};
use crate::routing::proof::dependency_graph::DependencyGraph;
use crate::routing::{Choices, Proof, VerifyError, VerifyOptions};
use crate::topology::Graph;
use rayon::prelude::*;

/// Checks `adaptive` against `graph`: a cycle is an error only when the engine promises that there is none and
/// lanes have buffers of their own.
///
/// # Errors
/// As [`crate::routing::verify()`].
pub fn verify(
    graph: &Graph,
    adaptive: &Adaptive,
    options: &VerifyOptions<'_>,
) -> Result<Proof, VerifyError> {
    if let Some(any) = adaptive.routing.any_lane() {
        return any_lane::verify(graph, any, options);
    }
    let question = question(graph, adaptive, options)?;
    let (legs, width) = (question.legs, question.legs.width());
    let merged = options.pool_shared || width == 1;
    let is_open = legs.selection() == Selection::Open;
    let hosts = |switch| graph.attached_hosts(switch).count() as u64;
    let check = Check {
        question,
        adjacency: Adjacency::new(graph),
        hosts: graph.switch_ids().map(hosts).collect(),
        merged,
        is_open: is_open && !merged,
    };
    let mut dependencies = DependencyGraph::new(graph, if merged { 1 } else { width });
    let first = check.first_legs(&dependencies)?;
    if is_open && first.iter().any(|leg| !leg.arrivals.is_empty()) {
        return Err(question.malformed("open engines go straight".into()));
    }
    let total = check.last_legs(&first, &dependencies)?;
    let shared = total.escape_lanes & total.other_lanes;
    if check.is_open && shared != 0 {
        let lane = shared.trailing_zeros();
        return Err(question.malformed(format!("lane {lane} is an escape lane and is not")));
    }
    if check.is_open {
        check.settle(&mut dependencies)?;
    }
    let pairs: u64 = total.histogram.iter().sum();
    let found = Followed {
        detour: total.detour,
        histogram: total.histogram,
        longest: total.longest,
        unreachable: 0,
        first_unreachable: Vec::new(),
        choices: Some(Choices {
            mean_longest: total.longest_sum as f64 / pairs.max(1) as f64,
            ..total.choices
        }),
    };
    let promises = (adaptive.engine.as_str(), &adaptive.guarantees);
    conclude(graph, promises, options, &dependencies, found)
}

/// The function with its graph, where groups of its lanes fit the switches.
fn question<'a>(
    graph: &'a Graph,
    adaptive: &'a Adaptive,
    options: &VerifyOptions<'_>,
) -> Result<Question<'a>, VerifyError> {
    let Some(legs) = adaptive.routing.legs() else {
        return Err(VerifyError::Malformed {
            engine: adaptive.engine.clone(),
            reason: "they are not written leg by leg".into(),
        });
    };
    let question = Question {
        graph,
        legs,
        engine: &adaptive.engine,
    };
    let (words, width, lanes) = (legs.words(), legs.width(), options.lanes);
    if width == 0 || width > lanes || words == 0 {
        return Err(question.malformed(format!(
            "{words} words and groups of {width} lanes, the switches have {lanes}"
        )));
    }
    Ok(question)
}

/// Memory of one thread.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) explored: Explored,
    /// Switches that packets start from, `[word]`.
    pub(super) starts: Vec<Vec<u32>>,
    words: Vec<u16>,
    /// Fewest and most hops of straight ways, `[source]`.
    hops: Vec<(u32, u32)>,
    /// Lowest level that packets may ask for from a state on, and its vertex.
    pub(super) lowest: Vec<(u32, u32)>,
}

/// Enters the hops of the straight ways from `sources` in the fewest and most of each.
fn widen(hops: &mut [(u32, u32)], explored: &Explored, sources: &[u32]) {
    for &source in sources {
        if let Some(state) = explored.state(source) {
            let (fewest, most) = explored.hops[state as usize];
            let known = &mut hops[source as usize];
            *known = (known.0.min(fewest), known.1.max(most));
        }
    }
}

/// All that is constant while goals are followed.
pub(super) struct Check<'a> {
    pub(super) question: Question<'a>,
    pub(super) adjacency: Adjacency,
    /// Hosts of every switch.
    pub(super) hosts: Vec<u64>,
    /// One vertex per channel.
    merged: bool,
    /// Escape lanes only.
    is_open: bool,
}

impl Check<'_> {
    /// Fills `scratch.starts` with the sources of a leg to `goal`.
    pub(super) fn starts(
        &self,
        goal: SwitchId,
        leg: Leg,
        scratch: &mut Scratch,
    ) -> Result<(), VerifyError> {
        let Scratch { starts, words, .. } = scratch;
        let count = self.question.legs.words();
        starts.resize(usize::from(count), Vec::new());
        starts.iter_mut().for_each(Vec::clear);
        for source in self.question.graph.switch_ids() {
            if source == goal || self.hosts[source.index()] == 0 {
                continue;
            }
            words.clear();
            self.question.legs.starts(source, goal, leg, words);
            for &word in words.iter() {
                let Some(list) = starts.get_mut(usize::from(word)) else {
                    let reason = format!("word {word} is used, there are {count}");
                    return Err(self.question.malformed(reason));
                };
                list.push(source.0);
            }
            if words.is_empty() && leg == Leg::Last {
                return Err(self.question.no_path(source, goal, "no packet sets out"));
            }
        }
        Ok(())
    }

    pub(super) fn vertex(&self, way: &Way) -> (ChannelId, VlId) {
        let lane = if self.merged { 0 } else { way.lane };
        (ChannelId(way.channel), VlId(lane))
    }

    /// Adds the dependencies within an explored leg.
    fn depend(&self, explored: &Explored, dependencies: &DependencyGraph<'_>) {
        for state in 0..explored.switches.len() as u32 {
            for way in explored.ways(state) {
                let (channel, lane) = self.vertex(way);
                dependencies.add_vertex(channel, lane);
                let (Some(to), true) = (way.to, way.escape || !self.is_open) else {
                    continue;
                };
                for next in explored.ways(to) {
                    if next.escape || !self.is_open {
                        let (next, next_lane) = self.vertex(next);
                        dependencies.add(channel, lane, next, next_lane);
                    }
                }
            }
        }
    }

    fn first_legs(&self, dependencies: &DependencyGraph<'_>) -> Result<Vec<FirstLeg>, VerifyError> {
        let goals: Vec<SwitchId> = self.question.graph.switch_ids().collect();
        let legs = goals
            .par_iter()
            .map_init(Scratch::default, |scratch, &goal| {
                self.first_leg(goal, scratch, dependencies)
            });
        let legs: Vec<_> = legs.collect();
        legs.into_iter().collect()
    }

    fn first_leg(
        &self,
        goal: SwitchId,
        scratch: &mut Scratch,
        dependencies: &DependencyGraph<'_>,
    ) -> Result<FirstLeg, VerifyError> {
        self.starts(goal, Leg::First, scratch)?;
        let Scratch {
            starts, explored, ..
        } = scratch;
        let mut leg = FirstLeg {
            minimal: true,
            ..FirstLeg::default()
        };
        let distances = self.adjacency.distances(&[goal]);
        for (word, starts) in (0..).zip(starts).filter(|(_, starts)| !starts.is_empty()) {
            explored.follow(&self.question, starts, goal, word)?;
            self.depend(explored, dependencies);
            let mut arrivals = Vec::new();
            for state in 0..explored.switches.len() as u32 {
                let last = explored.ways(state).iter().filter(|way| way.to.is_none());
                arrivals.extend(last.map(|way| self.vertex(way)));
            }
            leg.arrivals.push((word, arrivals));
            let most = explored.hops.iter().map(|&(_, most)| most).max();
            leg.most = leg.most.max(most.unwrap_or(0));
            leg.minimal &= explored.is_minimal(&distances);
        }
        Ok(leg)
    }

    /// Switches with hosts: the ends of all ways.
    pub(super) fn homes(&self) -> Vec<SwitchId> {
        let switches = self.question.graph.switch_ids();
        switches
            .filter(|switch| self.hosts[switch.index()] > 0)
            .collect()
    }

    fn last_legs(
        &self,
        first: &[FirstLeg],
        dependencies: &DependencyGraph<'_>,
    ) -> Result<Total, VerifyError> {
        let homes = self.homes();
        let parts = homes
            .par_iter()
            .map_init(Scratch::default, |scratch, &home| {
                self.last_leg(home, first, scratch, dependencies)
            });
        let parts: Vec<_> = parts.collect();
        let mut total = Total::default();
        for part in parts {
            total.add(part?);
        }
        Ok(total)
    }

    fn last_leg(
        &self,
        home: SwitchId,
        first: &[FirstLeg],
        scratch: &mut Scratch,
        dependencies: &DependencyGraph<'_>,
    ) -> Result<Total, VerifyError> {
        let mut total = Total::default();
        let distances = self.adjacency.distances(&[home]);
        self.starts(home, Leg::Last, scratch)?;
        scratch.hops.clear();
        scratch.hops.resize(self.hosts.len(), (u32::MAX, 0));
        for word in 0..self.question.legs.words() {
            let Scratch {
                starts,
                explored,
                hops,
                ..
            } = &mut *scratch;
            let starts = &mut starts[usize::from(word)];
            let sources = starts.len();
            // first legs that end somewhere else and go on with this word
            let handed = |leg: &&(u16, Vec<_>)| self.question.legs.hand_over(leg.0) == word;
            let ends = (0..).zip(first).filter(|&(via, _)| via != home.0);
            let ends: Vec<(u32, &FirstLeg)> = ends
                .filter(|(_, leg)| leg.arrivals.iter().any(|leg| handed(&leg)))
                .collect();
            starts.extend(ends.iter().map(|&(via, _)| via));
            if starts.is_empty() {
                continue;
            }
            explored.follow(&self.question, starts, home, word)?;
            self.depend(explored, dependencies);
            total.count(explored);
            widen(hops, explored, &starts[..sources]);
            let between = self.question.legs.stays_between() && explored.is_minimal(&distances);
            for (via, leg) in ends {
                let Some(state) = explored.state(via) else {
                    continue;
                };
                total.choices.detours = true;
                if !(between && leg.minimal) {
                    total.bent = true;
                    let whole = leg.most + explored.hops[state as usize].1;
                    total.longest = total.longest.max(whole);
                }
                for (from, lane) in leg.arrivals.iter().filter(handed).flat_map(|leg| &leg.1) {
                    for next in explored.ways(state) {
                        let (next, next_lane) = self.vertex(next);
                        dependencies.add(*from, *lane, next, next_lane);
                    }
                }
            }
        }
        self.count_pairs(home, &distances, &scratch.hops, &mut total);
        Ok(total)
    }
}
