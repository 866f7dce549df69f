//! Closed sets of waits: heads that can never move again, because only heads of the set could make room for them.
//!
//! # Guarantees
//! What is in the set stays where it is, whatever sources, timers and the rest of the fabric do. The set is the largest one
//! of the state between two cycles: the same for any number of threads and shards.
//!
//! # Algorithm
//! Section 6 of the model. All heads are collected, each with the space that its queue keeps and what it asks for. A head for
//! which there would be room if all that are not in the set were gone is taken off, until none is left that is. What a
//! channel, a crossbar, an output lane or a sink has is in nobody's set: it goes by itself.
//!
//! Cost: O(packets in queues), and O(heads) for each step of the longest chain of heads that wait for each other.

mod head;
mod heads;
mod words;

use super::shards::Shards;
use crate::ids::ChannelId;
pub use head::Name;

use head::{Head, Kind, Space, Turn, Want};
use heads::Collect;
use std::collections::BTreeMap;

/// All heads of a state, and those that can never move again.
#[derive(Debug)]
pub struct WaitFor {
    heads: Vec<Head>,
    /// By head.
    stuck: Vec<bool>,
}

/// What the heads that are in the set so far keep from others.
struct Kept<'a> {
    heads: &'a [Head],
    /// Flits of a buffer \[flits\].
    capacity: u32,
    spaces: BTreeMap<Space, u32>,
    /// Heads at an input.
    inputs: BTreeMap<ChannelId, u32>,
    /// By lane of a host's channel, the first control packet waits for ever; by lane of an input, what holds an output lane does.
    lanes: BTreeMap<(bool, Space), usize>,
    /// Heads by the output lane whose turn they wait for.
    turns: BTreeMap<Space, Vec<usize>>,
    /// Heads by what they claim.
    claims: BTreeMap<Space, Vec<usize>>,
    /// Heads that stand in several queues.
    standing: BTreeMap<(Space, Name), usize>,
}

impl WaitFor {
    /// The state between two cycles; `capacity`: of a lane or pool \[flits\].
    pub fn of(shards: &Shards, capacity: u32) -> Self {
        let mut collect = Collect::new(shards.port_channels());
        shards.inspect(&mut collect);
        let mut heads = collect.heads;
        // the order of shards is not one of the model
        heads.sort_by_key(|head| (head.at, head.name));
        let stuck = closed(&heads, capacity);
        Self { heads, stuck }
    }

    /// Heads that can never move again.
    pub fn len(&self) -> usize {
        self.closed().count()
    }

    /// Whether every head may move some time.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Their names, sorted.
    pub fn names(&self) -> Vec<Name> {
        let mut names: Vec<Name> = self.closed().map(|head| self.heads[head].name).collect();
        names.sort_unstable();
        names
    }

    /// Numbers of the heads of the set.
    fn closed(&self) -> impl Iterator<Item = usize> {
        let stuck = self.stuck.iter().enumerate();
        stuck.filter_map(|(head, &is_stuck)| is_stuck.then_some(head))
    }
}

/// The largest closed set of heads.
fn closed(heads: &[Head], capacity: u32) -> Vec<bool> {
    let mut stuck = vec![true; heads.len()];
    let mut kept = Kept::new(heads, capacity);
    let mut left: Vec<usize> = (0..heads.len()).collect();
    loop {
        let before = left.len();
        left.retain(|&head| {
            let is_stuck = kept.blocks(head, &stuck);
            if !is_stuck {
                stuck[head] = false;
                kept.let_go(head);
            }
            is_stuck
        });
        if left.len() == before {
            return stuck;
        }
    }
}

impl<'a> Kept<'a> {
    /// All of them are.
    fn new(heads: &'a [Head], capacity: u32) -> Self {
        let mut kept = Self {
            heads,
            capacity,
            spaces: BTreeMap::new(),
            inputs: BTreeMap::new(),
            lanes: BTreeMap::new(),
            turns: BTreeMap::new(),
            claims: BTreeMap::new(),
            standing: BTreeMap::new(),
        };
        for (number, head) in heads.iter().enumerate() {
            let (space, flits) = head.keeps;
            *kept.spaces.entry(space).or_default() += flits;
            match &head.kind {
                Kind::Request { turn, claim, .. } => {
                    *kept.inputs.entry(head.at.0).or_default() += 1;
                    if turn.is_some() {
                        let Want { space, lane, .. } = head.wants[0];
                        kept.turns.entry((space.0, lane)).or_default().push(number);
                    }
                    if let Some(claim) = claim {
                        kept.claims.entry(claim.bars).or_default().push(number);
                    }
                }
                Kind::Stands { .. } => drop(kept.standing.insert((head.at, head.name), number)),
                Kind::Answer => drop(kept.lanes.insert((true, head.at), number)),
                Kind::Holds => drop(kept.lanes.insert((false, head.at), number)),
                Kind::Held(_) => {}
            }
        }
        kept
    }

    /// A head is not in the set any more.
    fn let_go(&mut self, head: usize) {
        let head = &self.heads[head];
        let (space, flits) = head.keeps;
        if let Some(kept) = self.spaces.get_mut(&space) {
            *kept -= flits;
        }
        if let Kind::Request { .. } = head.kind
            && let Some(kept) = self.inputs.get_mut(&head.at.0)
        {
            *kept -= 1;
        }
    }

    /// Whether a head can move only after one of the set.
    fn blocks(&self, number: usize, stuck: &[bool]) -> bool {
        let head = &self.heads[number];
        let waits = |lane: bool, at: Space| {
            let head = self.lanes.get(&(lane, at));
            head.is_some_and(|&head| stuck[head])
        };
        match &head.kind {
            Kind::Held(room) => {
                let queued = room.queued.iter().filter(|(lane, _)| waits(true, *lane));
                let taken: u32 = queued.map(|(_, packets)| packets).sum();
                return room.places - taken < room.needs;
            }
            Kind::Request { turn, keeper, .. } => {
                let is_kept = keeper.is_some_and(|keeper| waits(false, keeper));
                let is_late = turn.is_some_and(|turn| self.is_before(head, turn, stuck));
                if is_kept || is_late {
                    return true;
                }
            }
            Kind::Stands { .. } | Kind::Holds | Kind::Answer => {}
        }
        let is_full = |want: &Want| {
            let kept = self.spaces.get(&want.space).copied().unwrap_or(0);
            let needs = if want.empty {
                self.capacity
            } else {
                head.needs
            };
            self.capacity - kept.min(self.capacity) < needs
        };
        let is_closed = |(place, want): (usize, &Want)| {
            is_full(want)
                || self.is_behind(head, place, stuck)
                || self.is_barred(number, want.space, stuck)
        };
        head.wants.iter().enumerate().all(is_closed)
    }

    /// D84: whether one of the set stands before this head in the queue of a candidate, for ever.
    fn is_behind(&self, head: &Head, want: usize, stuck: &[bool]) -> bool {
        let Kind::Stands { ahead } = &head.kind else {
            return false;
        };
        let mut ahead = ahead[want].iter();
        ahead.any(|&name| {
            self.standing
                .get(&(head.at, name))
                .is_some_and(|&one| stuck[one])
        })
    }

    /// D72: whether one of the set bars a candidate of this head, for ever.
    fn is_barred(&self, head: usize, space: Space, stuck: &[bool]) -> bool {
        let claim_of = |head: usize| match &self.heads[head].kind {
            Kind::Request { claim, .. } => claim.filter(|claim| claim.bars == space),
            _ => None,
        };
        let own = claim_of(head);
        let claimants = self.claims.get(&space).into_iter().flatten();
        let mut others = claimants.filter(|&&other| other != head && stuck[other]);
        others.any(|&other| {
            let other = claim_of(other).expect("it claims this");
            own.is_none_or(|own| other.key < own.key)
        })
    }

    /// D9: whether one of the set has the turn of the output lane before this head, for ever.
    fn is_before(&self, head: &Head, turn: Turn, stuck: &[bool]) -> bool {
        let Want { space, lane, .. } = head.wants[0];
        let rivals = self.turns.get(&(space.0, lane)).into_iter().flatten();
        rivals.filter(|&&rival| stuck[rival]).any(|&rival| {
            let rival = &self.heads[rival];
            let Kind::Request {
                turn: Some(its), ..
            } = rival.kind
            else {
                return false;
            };
            let all = its.rivals;
            let is_free = all.is_none_or(|all| self.inputs.get(&rival.at.0) == Some(&all));
            its.key < turn.key && is_free
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::HostId;

    fn head(number: u32, keeps: (u32, u32), needs: u32, wants: &[u32]) -> Head {
        let space = |channel| (ChannelId(channel), 0);
        Head {
            name: Name {
                source: HostId(0),
                class: 0,
                sequence: number,
            },
            destination: HostId(1),
            size: needs as u16,
            at: space(keeps.0),
            kind: Kind::Request {
                turn: None,
                keeper: None,
                claim: None,
            },
            keeps: (space(keeps.0), keeps.1),
            needs,
            wants: wants
                .iter()
                .map(|&channel| Want {
                    space: space(channel),
                    lane: 0,
                    empty: false,
                })
                .collect(),
        }
    }

    #[test]
    fn a_circle_is_closed_when_what_it_keeps_leaves_too_little_room() {
        let circle = |kept: u32, needs: u32| {
            vec![
                head(0, (0, kept), needs, &[1]),
                head(1, (1, 8), needs, &[2]),
                head(2, (2, 8), needs, &[0]),
                // waits for the circle
                head(3, (3, 2), 1, &[1]),
                // may go another way
                head(4, (4, 8), 8, &[1, 9]),
            ]
        };
        assert_eq!(closed(&circle(8, 4), 8), [true, true, true, true, false]);
        // a packet of four flits fits beside four that stay
        assert_eq!(closed(&circle(4, 4), 8), [false; 5]);
        assert_eq!(closed(&circle(5, 4), 8), [true, true, true, true, false]);
    }

    #[test]
    fn who_holds_nothing_back_ends_a_chain() {
        let chain = [head(0, (0, 8), 8, &[1]), head(1, (1, 8), 8, &[2])];
        assert_eq!(closed(&chain, 8), [false, false]);
        assert!(closed(&[], 8).is_empty());
    }
}
