//! Follows all packets towards one switch: where they may be, over which channels and lanes they go on.
//!
//! Guarantees: of an [`Explored`] goal every state has a way on, every way leads over a link and a lane of the
//! group, and no packet can go round: ways end after at most as many hops as there are states.
//! Cost: O(ways) per (goal, word); memory is reused.

use super::{Candidate, Legs, Selection};
use crate::ids::SwitchId;
use crate::routing::VerifyError;
use crate::topology::Graph;

/// Not a state.
const NONE: u32 = u32::MAX;

/// One way on from a state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    /// State it leads to; `None` = the goal.
    pub(super) to: Option<u32>,
    /// Channel.
    pub(super) channel: u32,
    /// Lane within the group.
    pub(super) lane: u8,
    /// As [`Candidate::escape`].
    pub(super) escape: bool,
}

/// The packets with one word towards one goal; states are switches in the order in which they are met.
#[derive(Debug, Default)]
pub(super) struct Explored {
    /// Switch of each state.
    pub(super) switches: Vec<u32>,
    /// First way of each state; one more entry than states.
    first: Vec<u32>,
    ways: Vec<Way>,
    /// States, each before those it leads to.
    pub(super) order: Vec<u32>,
    /// Hops to the goal on the shortest and the longest way, `[state]`.
    pub(super) hops: Vec<(u32, u32)>,
    /// State of each switch.
    state: Vec<u32>,
    predecessors: Vec<u32>,
    found: Vec<Candidate>,
}

impl Explored {
    /// Ways on from a state.
    #[inline]
    pub(super) fn ways(&self, state: u32) -> &[Way] {
        let state = state as usize;
        &self.ways[self.first[state] as usize..self.first[state + 1] as usize]
    }

    /// State of a switch, when packets come there.
    pub(super) fn state(&self, switch: u32) -> Option<u32> {
        let state = self.state[switch as usize];
        (state != NONE).then_some(state)
    }

    /// Whether every way to the goal is a shortest one; `distances` are those to the goal.
    pub(super) fn is_minimal(&self, distances: &[u16]) -> bool {
        let mut longest = self.switches.iter().zip(&self.hops);
        longest.all(|(&switch, &(_, most))| most == u32::from(distances[switch as usize]))
    }

    /// Follows packets with `word` from `starts` to `goal`.
    ///
    /// # Errors
    /// [`VerifyError::Malformed`] and [`VerifyError::NoPath`].
    pub(super) fn follow(
        &mut self,
        question: &Question<'_>,
        starts: &[u32],
        goal: SwitchId,
        word: u16,
    ) -> Result<(), VerifyError> {
        self.clear(question.graph.switches().len());
        for &start in starts {
            self.meet(start, goal);
        }
        let mut next = 0;
        while let Some(&switch) = self.switches.get(next) {
            next += 1;
            self.found.clear();
            let at = SwitchId(switch);
            question.legs.ways(at, goal, word, &mut self.found);
            question.check(at, goal, &self.found)?;
            for i in 0..self.found.len() {
                let candidate = self.found[i];
                let way = question.way(at, goal, candidate)?;
                let to = self.meet(way.1, goal);
                self.ways.push(Way { to, ..way.0 });
            }
            self.first.push(self.ways.len() as u32);
        }
        self.sort(question, goal)?;
        self.measure();
        Ok(())
    }

    fn clear(&mut self, switches: usize) {
        for &switch in &self.switches {
            self.state[switch as usize] = NONE;
        }
        self.state.resize(switches, NONE);
        self.switches.clear();
        self.ways.clear();
        self.first.clear();
        self.first.push(0);
    }

    /// State of a switch, a new one at the first time; `None` for the goal.
    fn meet(&mut self, switch: u32, goal: SwitchId) -> Option<u32> {
        if switch == goal.0 {
            return None;
        }
        let state = &mut self.state[switch as usize];
        if *state == NONE {
            *state = self.switches.len() as u32;
            self.switches.push(switch);
        }
        Some(*state)
    }

    /// Fills `order`.
    fn sort(&mut self, question: &Question<'_>, goal: SwitchId) -> Result<(), VerifyError> {
        let count = self.switches.len();
        self.predecessors.clear();
        self.predecessors.resize(count, 0);
        for to in self.ways.iter().filter_map(|way| way.to) {
            self.predecessors[to as usize] += 1;
        }
        self.order.clear();
        let first = (0..count as u32).filter(|&state| self.predecessors[state as usize] == 0);
        self.order.extend(first);
        let mut next = 0;
        while let Some(&state) = self.order.get(next) {
            next += 1;
            let ways = self.first[state as usize] as usize..self.first[state as usize + 1] as usize;
            for to in self.ways[ways].iter().filter_map(|way| way.to) {
                self.predecessors[to as usize] -= 1;
                if self.predecessors[to as usize] == 0 {
                    self.order.push(to);
                }
            }
        }
        if self.order.len() == count {
            return Ok(());
        }
        let left = self.predecessors.iter().position(|&left| left > 0);
        let switch = SwitchId(self.switches[left.unwrap_or_default()]);
        Err(question.no_path(switch, goal, "packets may go round and come back"))
    }

    /// Fills `hops`.
    fn measure(&mut self) {
        self.hops.clear();
        self.hops.resize(self.switches.len(), (u32::MAX, 0));
        for &state in self.order.iter().rev() {
            let range =
                self.first[state as usize] as usize..self.first[state as usize + 1] as usize;
            let mut hops = (u32::MAX, 0);
            for way in &self.ways[range] {
                let (fewest, most) = way.to.map_or((0, 0), |to| self.hops[to as usize]);
                hops = (hops.0.min(fewest + 1), hops.1.max(most + 1));
            }
            self.hops[state as usize] = hops;
        }
    }
}

/// What is asked about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question<'a> {
    /// The fabric.
    pub(super) graph: &'a Graph,
    /// The routing function.
    pub(super) legs: &'a dyn Legs,
    /// Registered name of the engine.
    pub(super) engine: &'a str,
}

impl Question<'_> {
    /// A complaint about the ways from one switch to another.
    pub(super) fn no_path(&self, at: SwitchId, goal: SwitchId, reason: &str) -> VerifyError {
        let name = |switch: SwitchId| self.graph.switches()[switch.index()].name.clone();
        VerifyError::NoPath {
            from: name(at),
            to: name(goal),
            reason: reason.to_owned(),
            is_missing: false,
        }
    }

    /// A complaint about the function as a whole.
    pub(super) fn malformed(&self, reason: String) -> VerifyError {
        VerifyError::Malformed {
            engine: self.engine.to_owned(),
            reason,
        }
    }

    /// There is a way on, an escape where the engine relies on one, and no way twice.
    fn check(&self, at: SwitchId, goal: SwitchId, found: &[Candidate]) -> Result<(), VerifyError> {
        if found.is_empty() {
            return Err(self.no_path(at, goal, "there is no way on"));
        }
        let is_open = self.legs.selection() == Selection::Open;
        if is_open && !found.iter().any(|candidate| candidate.escape) {
            return Err(self.no_path(at, goal, "there is no escape lane"));
        }
        let key = |candidate: &Candidate| (candidate.port, candidate.lane);
        let twice = |(i, candidate)| found[..i].iter().any(|other| key(other) == key(candidate));
        if found.iter().enumerate().any(twice) {
            return Err(self.no_path(at, goal, "one way is listed twice"));
        }
        Ok(())
    }

    /// The channel of a candidate and the switch it leads to.
    fn way(
        &self,
        at: SwitchId,
        goal: SwitchId,
        candidate: Candidate,
    ) -> Result<(Way, u32), VerifyError> {
        if candidate.lane >= self.legs.width() {
            let (lane, width) = (candidate.lane, self.legs.width());
            return Err(self.malformed(format!("lane {lane} is used, a group has {width}")));
        }
        let channel = self.graph.port_channel(at, candidate.port);
        let to = channel.and_then(|channel| self.graph.channel(channel).to.switch());
        let (Some(channel), Some(to)) = (channel, to) else {
            let reason = format!("port {} leads to no switch", candidate.port);
            return Err(self.no_path(at, goal, &reason));
        };
        let way = Way {
            to: None,
            channel: channel.0,
            lane: candidate.lane,
            escape: candidate.escape,
        };
        Ok((way, to.0))
    }
}
