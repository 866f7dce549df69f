//! Random connected simple networks: how their links are drawn.
//!
//! Guarantees: connected; at most one link between two switches; no switch has more than `degree` links;
//! the same seed gives the same links in the same order.
//! Cost: O(links * log links) expected time while most pairs are free.
//!
//! # Algorithm
//!
//! First a tree, then further links between random pairs that are no neighbours yet and have links free:
//!
//! | [`Generator`] | tree | further links | ends with | order |
//! |---|---|---|---|---|
//! | `Saturated` | each switch, in random order, to a random earlier one | uniform pairs | no pair left | by switches |
//! | `Uniform` | uniform among all trees (random Prüfer sequence) | uniform pairs | `links` | by switches |
//! | `Recursive` | switch `i` to a random `j < i` | random `a` in `1..n`, random `b < a` | `links` | as drawn |
//! | `CPython` | as `Saturated` | uniform pairs, 20000 tries | no pair drawn | by switches |
//!
//! `Recursive` favours switches of low number, whose degrees grow; published counts of virtual layers are
//! met by it, while networks of limited degree need more. Under `degree`, a tree's next switch is drawn
//! among those with links free.

use super::mersenne_twister::MersenneTwister;
use crate::rng::{Purpose, Stream, below, stream};
use crate::topology::TopologyError;
use crate::topology::graph::limits::parameter_error;
use serde::Deserialize;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// Random pairs tried in a row without success before the remaining pairs are listed instead. With many
/// switches left most pairs are free, so the list is made when few are left; the value changes graphs.
const PATIENCE: u32 = 1000;

/// Pairs that [`Generator::CPython`] tries in all.
const TRIES: u32 = 20_000;

/// How links are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum Generator {
    /// Until no link can be added within `degree`.
    #[default]
    Saturated,
    /// `links` links: a uniform tree and uniform pairs.
    Uniform,
    /// `links` links: a random recursive tree, and pairs drawn alike.
    Recursive,
    /// As a short script draws them with `CPython`'s module `random`.
    CPython,
}

/// What to draw.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) generator: Generator,
    pub(super) switches: u32,
    /// Most links of a switch.
    pub(super) degree: u32,
    /// Links in all, for generators that end with them.
    pub(super) links: u64,
    pub(super) seed: u64,
}

/// Draws the links.
pub(super) fn links(wanted: Wanted) -> Result<Vec<(u32, u32)>, TopologyError> {
    let mut draft = Draft::new(wanted.switches, wanted.degree);
    let rng = &mut stream(wanted.seed, Purpose::Topology, 0);
    match wanted.generator {
        Generator::Saturated => {
            draft.attach_in_random_order(rng);
            draft.fill(rng);
        }
        Generator::Uniform => {
            draft.uniform_tree(rng);
            draft.add(wanted.links, rng, uniform_pair, |_| 1)?;
        }
        Generator::Recursive => {
            draft.recursive_tree(rng);
            // the pair (a, b) is drawn with a probability of 1 / (n - 1) * 1 / a
            draft.add(wanted.links, rng, recursive_pair, |a| a)?;
        }
        Generator::CPython => draft.scripted(&mut MersenneTwister::new(wanted.seed)),
    }
    if wanted.generator != Generator::Recursive {
        draft.order.sort_unstable();
    }
    Ok(draft.order)
}

/// The links of [`Generator::Recursive`] without a limit of degree, as (lower, higher) switch in the order
/// of creation; `links` is brought into the range of a tree to a complete network.
///
/// # Panics
/// Never: so many links fit.
pub fn recursive_links(switches: u32, links: u32, rng: &mut Stream) -> Vec<(u32, u32)> {
    let tree = switches.saturating_sub(1);
    let complete = u64::from(switches) * u64::from(tree) / 2;
    let links = u64::from(links).clamp(u64::from(tree), complete);
    let mut draft = Draft::new(switches, switches);
    draft.recursive_tree(rng);
    draft
        .add(links, rng, recursive_pair, |a| a)
        .expect("a complete network has this many links");
    draft.order
}

/// Two different switches, every pair alike.
fn uniform_pair(rng: &mut Stream, switches: u32) -> (u32, u32) {
    let a = below(rng, switches);
    let b = below(rng, switches - 1);
    (a, b + u32::from(b >= a))
}

/// A switch above the first, and one below it.
fn recursive_pair(rng: &mut Stream, switches: u32) -> (u32, u32) {
    let a = below(rng, switches - 1) + 1;
    (a, below(rng, a))
}

/// A network in the making.
struct Draft {
    /// Links a switch may still get.
    free: Vec<u32>,
    /// Links as (lower switch, higher switch).
    made: BTreeSet<(u32, u32)>,
    /// The same in the order in which they were made.
    order: Vec<(u32, u32)>,
}

impl Draft {
    fn new(switches: u32, degree: u32) -> Self {
        Self {
            free: vec![degree; switches as usize],
            made: BTreeSet::new(),
            order: Vec::new(),
        }
    }

    fn switches(&self) -> u32 {
        self.free.len() as u32
    }

    fn is_open(&self, switch: u32) -> bool {
        self.free[switch as usize] > 0
    }

    /// Links two switches unless they are linked already; tells whether it did.
    fn link(&mut self, a: u32, b: u32) -> bool {
        let link = (a.min(b), a.max(b));
        let is_new = self.made.insert(link);
        if is_new {
            self.order.push(link);
            self.free[a as usize] -= 1;
            self.free[b as usize] -= 1;
        }
        is_new
    }

    /// A tree: the switches in random order, each to a random earlier one that has a link free.
    fn attach_in_random_order(&mut self, rng: &mut Stream) {
        let mut order: Vec<u32> = (0..self.switches()).collect();
        for i in (1..order.len()).rev() {
            order.swap(i, below(rng, i as u32 + 1) as usize);
        }
        self.attach(&order, rng);
    }

    /// A tree: every switch to a random one before it that has a link free.
    fn recursive_tree(&mut self, rng: &mut Stream) {
        let order: Vec<u32> = (0..self.switches()).collect();
        self.attach(&order, rng);
    }

    fn attach(&mut self, order: &[u32], rng: &mut Stream) {
        // switches of the tree that may get another link
        let mut open: Vec<u32> = Vec::new();
        for &switch in order {
            if !open.is_empty() {
                let i = below(rng, open.len() as u32) as usize;
                let parent = open[i];
                self.link(switch, parent);
                if !self.is_open(parent) {
                    open.swap_remove(i);
                }
            }
            if self.is_open(switch) {
                open.push(switch);
            }
        }
    }

    /// A tree from a random Prüfer sequence: every labelled tree alike, while no switch reaches its degree.
    fn uniform_tree(&mut self, rng: &mut Stream) {
        let switches = self.switches();
        if switches < 2 {
            return;
        }
        let mut uses = vec![1u32; switches as usize];
        let sequence: Vec<u32> = (2..switches)
            .map(|_| {
                loop {
                    let switch = below(rng, switches);
                    if uses[switch as usize] < self.free[switch as usize] {
                        uses[switch as usize] += 1;
                        return switch;
                    }
                }
            })
            .collect();
        let is_leaf = |&switch: &u32| uses[switch as usize] == 1;
        let mut leaves: BinaryHeap<Reverse<u32>> =
            (0..switches).filter(is_leaf).map(Reverse).collect();
        for switch in sequence {
            let Some(Reverse(leaf)) = leaves.pop() else {
                break; // every Prüfer sequence leaves one
            };
            self.link(leaf, switch);
            uses[switch as usize] -= 1;
            if uses[switch as usize] == 1 {
                leaves.push(Reverse(switch));
            }
        }
        if let (Some(Reverse(a)), Some(Reverse(b))) = (leaves.pop(), leaves.pop()) {
            self.link(a, b);
        }
    }

    /// Adds links until there are `links`. A pair (higher, lower switch) is drawn by `draw` with a
    /// probability that is inversely proportional to `rarity(higher switch)`.
    fn add(
        &mut self,
        links: u64,
        rng: &mut Stream,
        draw: fn(&mut Stream, u32) -> (u32, u32),
        rarity: fn(u32) -> u32,
    ) -> Result<(), TopologyError> {
        let mut failures = 0;
        while (self.order.len() as u64) < links && failures < PATIENCE {
            let (a, b) = draw(rng, self.switches());
            let is_new = self.is_open(a) && self.is_open(b) && self.link(a, b);
            failures = if is_new { 0 } else { failures + 1 };
        }
        if self.order.len() as u64 >= links {
            return Ok(());
        }
        let open: Vec<u32> = (0..self.switches()).filter(|&s| self.is_open(s)).collect();
        let mut pairs = self.free_pairs(&open);
        while (self.order.len() as u64) < links {
            let Some(least) = pairs.iter().map(|&(_, higher)| rarity(higher)).min() else {
                let made = self.order.len();
                let reason = format!(
                    "{links} do not fit within the degree (this seed ends at {made}), expected fewer links \
                     or a larger degree"
                );
                return Err(parameter_error("links", reason));
            };
            let i = loop {
                let i = below(rng, pairs.len() as u32) as usize;
                if below(rng, rarity(pairs[i].1)) < least {
                    break i;
                }
            };
            let (a, b) = pairs.swap_remove(i);
            self.link(a, b);
            if !(self.is_open(a) && self.is_open(b)) {
                pairs.retain(|&(a, b)| self.is_open(a) && self.is_open(b));
            }
        }
        Ok(())
    }

    /// Pairs (lower, higher) of `open` switches that are not linked.
    fn free_pairs(&self, open: &[u32]) -> Vec<(u32, u32)> {
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for (i, &a) in open.iter().enumerate() {
            pairs.extend(open[i + 1..].iter().map(|&b| (a.min(b), a.max(b))));
        }
        pairs.retain(|pair| !self.made.contains(pair));
        pairs
    }

    /// Random links until every two switches with free links are neighbours.
    fn fill(&mut self, rng: &mut Stream) {
        let mut open: Vec<u32> = (0..self.switches()).filter(|&s| self.is_open(s)).collect();
        let mut failures = 0;
        while open.len() > 1 && failures < PATIENCE {
            let i = below(rng, open.len() as u32) as usize;
            let j = below(rng, open.len() as u32 - 1) as usize;
            let j = j + usize::from(j >= i);
            if !self.link(open[i], open[j]) {
                failures += 1;
                continue;
            }
            failures = 0;
            for place in [i.max(j), i.min(j)] {
                if !self.is_open(open[place]) {
                    open.swap_remove(place);
                }
            }
        }
        let mut pairs = self.free_pairs(&open);
        while !pairs.is_empty() {
            let (a, b) = pairs.swap_remove(below(rng, pairs.len() as u32) as usize);
            self.link(a, b);
            pairs.retain(|&(a, b)| self.is_open(a) && self.is_open(b));
        }
    }

    /// The draws of a script: shuffle, attach to a choice of earlier switches, then samples of two.
    fn scripted(&mut self, rng: &mut MersenneTwister) {
        let mut order: Vec<u32> = (0..self.switches()).collect();
        rng.shuffle(&mut order);
        let mut open: Vec<u32> = Vec::new();
        for &switch in &order {
            if !open.is_empty() {
                let i = rng.below(open.len() as u32) as usize;
                self.link(open[i], switch);
                if !self.is_open(open[i]) {
                    open.remove(i);
                }
            }
            if self.is_open(switch) {
                open.push(switch);
            }
        }
        open.sort_unstable();
        for _ in 0..TRIES {
            if open.len() < 2 {
                break;
            }
            let (a, b) = rng.pair(&open);
            if self.link(a, b) {
                open.retain(|&switch| self.free[switch as usize] > 0);
            }
        }
    }
}
