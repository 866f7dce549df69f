//! What channels carry while a flow may send.
//!
//! # Algorithm
//! A flow may send while it is active and its limit is not 0. Its own flits come in that time. Those of flows that may send all the
//! time, and of other classes, are spread evenly over the measurement. Those of a flow that may send in a part of it only come evenly
//! in that part, but in the time looked at come at least those that its limits do not let it send in the rest.
//!
//! Cost: O(flows * their ways) once, where a flow is held back that may not send all the time; then O(groups of flows that are
//! alike) per channel of its way.

use super::shares::spans;
use super::window::Window;
use crate::ids::ChannelId;
use crate::measure::FlowCounts;
use crate::plan::{FlowPlan, Limit};
use crate::scenario::offered::rate_of_limit;
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// A flow while it may send.
#[derive(Clone, Debug)]
pub(super) struct Own {
    id: usize,
    flits: u64,
    /// When that is.
    times: Vec<[u64; 2]>,
    /// How long that is \[cycles\].
    cycles: u64,
}

/// Flows over a channel that may send at the same times only, with no others between them by their ids.
struct Group {
    ids: [usize; 2],
    count: u64,
    received: u64,
}

/// The groups of all channels.
type Groups = BTreeMap<ChannelId, Vec<Group>>;

/// Finds what channels carry beside flows.
pub(super) struct Beside<'r> {
    pub(super) window: &'r Window<'r>,
    counts: &'r [FlowCounts],
    groups: OnceCell<Groups>,
}

impl<'r> Beside<'r> {
    /// In a measurement in which the flows did so much.
    pub(super) fn new(window: &'r Window<'r>, counts: &'r [FlowCounts]) -> Self {
        Self {
            window,
            counts,
            groups: OnceCell::new(),
        }
    }

    /// A flow while it may send.
    pub(super) fn own(&self, id: usize) -> Own {
        let times: Vec<[u64; 2]> = self.open(id).map(|(_, times)| times).collect();
        let cycles = length(&times);
        Own {
            id,
            flits: self.counts[id].arrived.received,
            times,
            cycles: if cycles > 0 {
                cycles
            } else {
                self.window.cycles()
            },
        }
    }

    /// Part of the time in which a channel of the way of a flow carries flits while that may send.
    pub(super) fn carried(&self, channel: ChannelId, own: &Own) -> f64 {
        let flits = self.window.records.channels.flits(channel);
        let rate = self.rate(channel, flits, own);
        (rate * self.window.time_of_flit(channel)).min(1.0)
    }

    /// Flits per cycle, while a flow may send, of so many over a channel of its way in the measurement.
    pub(super) fn rate(&self, channel: ChannelId, all: u64, own: &Own) -> f64 {
        let flits = own.flits.min(all);
        let mut others = all - flits;
        let mut inside = flits as f64;
        let whole = self.window.cycles();
        if own.cycles < whole {
            let groups = self.groups.get_or_init(|| self.groups());
            for group in groups.get(&channel).into_iter().flatten() {
                let [first, last] = group.ids;
                let is_own = (first..=last).contains(&own.id) && own.flits > 0;
                let count = group.count - u64::from(is_own);
                let received = group.received - if is_own { own.flits } else { 0 };
                let received = received.min(others);
                others -= received;
                if count > 0 {
                    inside += self.inside((first, count), received as f64, own);
                }
            }
        }
        inside / own.cycles as f64 + others as f64 / whole as f64
    }

    /// Flits of so many flows as one, of all that they sent, in the time in which another may send.
    fn inside(&self, (id, count): (usize, u64), received: f64, own: &Own) -> f64 {
        let flow = &self.window.plan().flows[id];
        let pace = self.pace(flow);
        let (mut open, mut common, mut rest) = (0.0, 0.0, 0.0);
        for (limit, times) in self.open(id) {
            let both = own.times.iter().map(|own| overlap(*own, times));
            let (all, both) = (times[1] - times[0], both.sum::<u64>());
            open += all as f64;
            common += both as f64;
            rest += (all - both) as f64 * rate_of_limit(limit, self.window.sizes(flow), pace);
        }
        let evenly = received * common / open;
        evenly.max(received - rest * count as f64)
    }

    /// Times in which a flow may send, each with its limit.
    fn open(&self, id: usize) -> impl Iterator<Item = (Limit, [u64; 2])> {
        let flow = &self.window.plan().flows[id];
        let active = self.window.active(flow, &self.counts[id]);
        let spans = active.into_iter().flat_map(|times| spans(flow, times));
        spans.filter(|(limit, _)| *limit != Limit::Rate(0))
    }

    fn pace(&self, flow: &FlowPlan) -> f64 {
        let window = self.window;
        window.time_of_flit(window.graph.host_channel(flow.source))
    }

    /// Whether flows may send the same at the same times.
    fn are_alike(&self, [one, other]: [usize; 2]) -> bool {
        let known = |id: usize| {
            let flow = &self.window.plan().flows[id];
            let ends = (self.counts[id].sent.start, flow.stop);
            (flow.class, ends, flow.limit, &flow.changes, self.pace(flow))
        };
        known(one) == known(other)
    }

    /// By channel, the flows that sent some and may not send all the time.
    fn groups(&self) -> Groups {
        let mut all = Groups::new();
        for (id, counts) in self.counts.iter().enumerate() {
            let received = counts.arrived.received;
            if received == 0 || self.own(id).cycles == self.window.cycles() {
                continue;
            }
            for (channel, _) in self.window.way(id) {
                let groups = all.entry(channel).or_default();
                match groups.last_mut() {
                    Some(last) if self.are_alike([last.ids[0], id]) => {
                        last.ids[1] = id;
                        last.count += 1;
                        last.received += received;
                    }
                    _ => groups.push(Group {
                        ids: [id, id],
                        count: 1,
                        received,
                    }),
                }
            }
        }
        all
    }
}

/// How long some times are together \[cycles\].
fn length(times: &[[u64; 2]]) -> u64 {
    times.iter().map(|[at, end]| end - at).sum()
}

/// Cycles that two times have in common.
fn overlap([at, end]: [u64; 2], other: [u64; 2]) -> u64 {
    end.min(other[1]).saturating_sub(at.max(other[0]))
}
