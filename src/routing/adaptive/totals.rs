//! What is found about all legs of adaptive routing: pairs, hops, choices.

use super::explore::Explored;
use super::proof::Check;
use crate::ids::{ChannelId, SwitchId, VlId};
use crate::routing::{Choices, VerifyError};

/// A first leg's end, for its goal.
#[derive(Default)]
pub(super) struct FirstLeg {
    /// Words with which packets arrive, and over which channels and lanes.
    pub(super) arrivals: Vec<(u16, Vec<(ChannelId, VlId)>)>,
    /// Hops of the longest way.
    pub(super) most: u32,
    /// Whether every way is a shortest one.
    pub(super) minimal: bool,
}

/// What is found about all last legs.
#[derive(Default)]
pub(super) struct Total {
    /// Pairs of hosts by the fewest hops of a straight way.
    pub(super) histogram: Vec<u64>,
    /// Sum over pairs of the hops of the longest straight way.
    pub(super) longest_sum: u64,
    /// Longest way of any packet \[hops\].
    pub(super) longest: u32,
    /// A way that is longer than the shortest.
    pub(super) detour: Option<VerifyError>,
    /// Whether packets that go through another switch first may take longer than straight ones.
    pub(super) bent: bool,
    pub(super) escape_lanes: u32,
    pub(super) other_lanes: u32,
    pub(super) choices: Choices,
}

impl Total {
    /// Adds what is found about another goal.
    pub(super) fn add(&mut self, other: Self) {
        let length = self.histogram.len().max(other.histogram.len());
        self.histogram.resize(length, 0);
        for (sum, pairs) in self.histogram.iter_mut().zip(other.histogram) {
            *sum += pairs;
        }
        self.longest_sum += other.longest_sum;
        self.longest = self.longest.max(other.longest);
        self.detour = self.detour.take().or(other.detour);
        self.bent |= other.bent;
        self.escape_lanes |= other.escape_lanes;
        self.other_lanes |= other.other_lanes;
        let (sum, part) = (&mut self.choices, other.choices);
        sum.states += part.states;
        sum.ways += part.ways;
        sum.most_ways = sum.most_ways.max(part.most_ways);
        sum.detours |= part.detours;
    }

    /// Counts states and ways.
    pub(super) fn count(&mut self, explored: &Explored) {
        for state in 0..explored.switches.len() as u32 {
            let ways = explored.ways(state);
            self.choices.states += 1;
            self.choices.ways += ways.len() as u64;
            self.choices.most_ways = self.choices.most_ways.max(ways.len() as u32);
            for way in ways {
                let lanes = if way.escape {
                    &mut self.escape_lanes
                } else {
                    &mut self.other_lanes
                };
                *lanes |= 1 << way.lane;
            }
        }
    }
}

impl Check<'_> {
    /// Counts the pairs of hosts that end at `home`.
    pub(super) fn count_pairs(
        &self,
        home: SwitchId,
        distances: &[u16],
        hops: &[(u32, u32)],
        total: &mut Total,
    ) {
        let receivers = self.hosts[home.index()];
        for (source, &senders) in self.hosts.iter().enumerate() {
            let own = source == home.index();
            let pairs = (senders - u64::from(own && senders > 0)) * receivers;
            if pairs == 0 {
                continue;
            }
            let (fewest, most) = if own { (0, 0) } else { hops[source] };
            total
                .histogram
                .resize(total.histogram.len().max(fewest as usize + 1), 0);
            total.histogram[fewest as usize] += pairs;
            total.longest_sum += pairs * u64::from(most);
            total.longest = total.longest.max(most);
            let shortest = u32::from(distances[source]);
            let longest = if total.bent { total.longest } else { most };
            if !own && longest > shortest && total.detour.is_none() {
                let name = |switch: usize| self.question.graph.switches()[switch].name.clone();
                total.detour = Some(VerifyError::NotMinimal {
                    engine: self.question.engine.to_owned(),
                    from: name(source),
                    to: name(home.index()),
                    hops: longest,
                    shortest,
                });
            }
        }
    }
}
