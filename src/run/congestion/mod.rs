//! Looks at congestion trees (D43): when they are, and what they leave.
//!
//! A look reads the state of all shards between two cycles and changes nothing.
//! Cost: O(lanes + packets in input queues + sizes of the trees) per look; nothing without `observe.congestion`.

mod collect;
mod standing;
mod trees;

pub(super) use standing::{Standing, granted};

use super::acts::GlobalAct;
use super::outcome::RunError;
use super::shards::Shards;
use crate::measure::CongestionLook;
use crate::plan::{BufferSharing, Forwarding, Marking};
use crate::scenario::Resolved;
use crate::topology::Endpoint;
use collect::Collect;
use serde::{Deserialize, Serialize};
use trees::Rules;

/// What the looks of a run have found, and when the next one is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Looks {
    /// All of them.
    pub all: Vec<CongestionLook>,
    /// Cycle before which the next one is, and cycles between two; `None` outside the measurement.
    next: Option<(u64, u64)>,
}

impl Looks {
    /// The measurement starts at cycle `now`, with a look every so many cycles.
    pub(super) fn start(&mut self, now: u64, every: Option<u64>) {
        self.next = every.map(|every| (now + every, every));
    }

    /// The measurement is over.
    pub(super) fn stop(&mut self) {
        self.next = None;
    }
}

/// What a look has to know of the fabric.
pub(super) struct Observer {
    rules: Rules,
}

impl Observer {
    /// For a run of this scenario.
    pub(super) fn new(resolved: &Resolved) -> Self {
        let (plan, channels) = (&resolved.plan, resolved.layout.graph.channels());
        let switch = &plan.switch;
        let half = switch.lane_capacity.div_ceil(2);
        let limit = match switch.marking {
            Some(Marking::InfiniBand { threshold, .. }) => switch.infiniband_limit(threshold),
            _ => None,
        };
        let is_observed = plan.observe.congestion.is_some();
        let is_wormhole = switch.forwarding == Forwarding::Wormhole;
        let is_host = |end: Endpoint| matches!(end, Endpoint::Host(_));
        Self {
            rules: Rules {
                limit: u64::from(limit.unwrap_or(half)),
                least: if is_wormhole {
                    1
                } else {
                    plan.largest_packet().into()
                },
                has_holders: is_wormhole,
                is_pool: switch.sharing == BufferSharing::PortPool,
                to_host: (channels.iter().filter(|_| is_observed))
                    .map(|channel| is_host(channel.to))
                    .collect(),
            },
        }
    }

    /// The act that looks.
    pub(super) fn act<'a>(&'a self, looks: &'a mut Looks) -> Look<'a> {
        let rules = &self.rules;
        Look { rules, looks }
    }
}

/// Looks at a run.
pub(super) struct Look<'a> {
    rules: &'a Rules,
    looks: &'a mut Looks,
}

impl GlobalAct for Look<'_> {
    fn next(&self, from: u64) -> Option<u64> {
        self.looks.next.map(|(at, _)| at.max(from))
    }

    fn act(&mut self, at: u64, shards: &mut Shards) -> Result<(), RunError> {
        let waiting = Collect::waiting(self.rules, at, shards);
        self.looks.all.push(waiting.trees(self.rules, at));
        if let Some((next, every)) = &mut self.looks.next {
            *next = at + *every;
        }
        Ok(())
    }
}
