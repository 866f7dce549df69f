//! Expected loads of a routing function whose choices look at no load: what is drawn has its chances.
//!
//! # Algorithm
//! For every switch that receives, and every word that packets to it may start with, what enters is handed on from the
//! farthest switches to the nearest, in equal parts over the ways that one is drawn from.
//!
//! Cost: O(switches^2 * words * ways).

use super::cuts::{Between, distances};
use crate::ids::{ChannelId, SwitchId};
use crate::routing::adaptive::{Legs, Selection};
use crate::topology::Graph;

/// Amounts of the channels between switches \[flits per cycle\], `[channel]`; `None` where a choice depends on loads, or where
/// ways are not known to lead nearer to their end.
pub(super) fn amounts(graph: &Graph, legs: &dyn Legs, between: &Between) -> Option<Vec<f64>> {
    let switches = graph.switches().len();
    let mut amounts = vec![0.0; graph.channels().len()];
    for to in graph.switch_ids() {
        let rates = between.towards(to, switches);
        if rates.iter().all(|&rate| rate == 0.0) {
            continue;
        }
        let mut entering = vec![Vec::new(); usize::from(legs.words())];
        for (from, &rate) in graph.switch_ids().zip(&rates) {
            if rate > 0.0 {
                for (word, chance) in legs.chances(from, to)? {
                    let word = entering.get_mut(usize::from(word))?;
                    word.resize(switches, 0.0);
                    word[from.index()] += rate * chance;
                }
            }
        }
        let hops = distances(graph, to);
        let mut order: Vec<SwitchId> = graph.switch_ids().collect();
        order.sort_by_key(|switch| std::cmp::Reverse(hops[switch.index()]));
        let entering = (0..).zip(entering).filter(|(_, rates)| !rates.is_empty());
        for (word, through) in entering {
            let goal = Goal {
                to,
                word,
                hops: &hops,
            };
            goal.hand_on(graph, legs, &order, through, &mut amounts)?;
        }
    }
    Some(amounts)
}

/// Where packets of one word go.
struct Goal<'a> {
    to: SwitchId,
    word: u16,
    hops: &'a [u16],
}

impl Goal<'_> {
    fn hand_on(
        &self,
        graph: &Graph,
        legs: &dyn Legs,
        order: &[SwitchId],
        mut through: Vec<f64>,
        amounts: &mut [f64],
    ) -> Option<()> {
        let mut ways = Vec::new();
        for &at in order.iter().filter(|&&at| at != self.to) {
            let rate = through[at.index()];
            if rate == 0.0 {
                continue;
            }
            ways.clear();
            legs.ways(at, self.to, self.word, &mut ways);
            match legs.selection() {
                Selection::First => ways.truncate(1),
                Selection::Random => {}
                Selection::LeastLoad | Selection::Open if ways.len() < 2 => {}
                Selection::LeastLoad | Selection::Open => return None,
            }
            let part = rate / ways.len() as f64;
            for way in &ways {
                let (channel, next) = behind(graph, at, way.port)?;
                if self.hops[next.index()] >= self.hops[at.index()] {
                    return None;
                }
                amounts[channel.index()] += part;
                through[next.index()] += part;
            }
        }
        Some(())
    }
}

/// The channel out of a port, and the switch that it leads to.
fn behind(graph: &Graph, at: SwitchId, port: u16) -> Option<(ChannelId, SwitchId)> {
    let mut exits = graph.neighbors(at);
    let (_, channel, next) = exits.find(|exit| exit.0 == port)?;
    Some((channel, next))
}
