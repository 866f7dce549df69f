//! Policies: over which links every flow goes.
//!
//! A policy sees the fabric, the forwarding tables where it needs some, and all flows at once; it gives each the channels
//! from its source to its destination. Adaptive policies set flows up one after the other, in a random order, and
//! choose by what the flows before have left on the links: the limit of set-ups that do not overlap.
//!
//! References: [`ZDORNOV_BIRK`](crate::references::ZDORNOV_BIRK) §3

mod ascent;
mod forced_dir;
mod free_dir;
pub mod link_sets;
mod setup;
mod static_tables;
#[cfg(test)]
mod tests;

use crate::ids::{HostId, SlId};
use crate::registry::{ArgumentError, Arguments, Registry};
use crate::routing::Tables;
use crate::topology::Graph;
use std::fmt::Debug;

/// Every policy a scenario can name. New ones: one file, one `mod` line, one line here.
pub static POLICIES: Registry<BuildPolicy> = Registry {
    kind: "policy of routes",
    entries: &[
        ascent::ENTRY,
        forced_dir::ENTRY,
        free_dir::ENTRY,
        static_tables::ENTRY,
    ],
    unclear: &[],
};

/// Makes a policy from its arguments; the error names what is wrong and what is allowed.
pub type BuildPolicy = fn(Arguments<'_>) -> Result<Box<dyn Policy>, ArgumentError>;

/// Chooses routes.
pub trait Policy: Debug + Send + Sync {
    /// Whether it follows forwarding tables.
    fn needs_tables(&self) -> bool {
        false
    }

    /// A route for every flow, in their order; equal input and seed, equal routes.
    ///
    /// # Errors
    /// When the fabric is none that the policy is for, or a flow has no way.
    fn routes(&self, ways: &Ways<'_>, flows: &[Ends], seed: u64)
    -> Result<FlowRoutes, PolicyError>;
}

/// What a policy may use.
#[derive(Clone, Copy, Debug)]
pub struct Ways<'a> {
    /// The fabric.
    pub graph: &'a Graph,
    /// Its forwarding tables; given where [`Policy::needs_tables`], if the engine makes some.
    pub tables: Option<&'a Tables>,
}

/// A flow that wants a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// Sending host.
    pub source: HostId,
    /// Receiving host, another one.
    pub destination: HostId,
    /// What it adds to the counter of each link.
    pub weight: u16,
    /// Service level.
    pub level: SlId,
}

/// Why there are no routes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PolicyError(pub String);

/// Channels of all flows, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowRoutes {
    /// First of every flow's channels in the list, then their number.
    first: Vec<u32>,
    channels: Vec<u32>,
}

impl FlowRoutes {
    /// No flows.
    fn new() -> Self {
        Self {
            first: vec![0],
            channels: Vec::new(),
        }
    }

    /// Ends the route of the next flow.
    fn end(&mut self) {
        self.first.push(self.channels.len() as u32);
    }

    /// The same flows, the one at `place` becoming number `order[place]`.
    fn reordered(&self, order: &[u32]) -> Self {
        let mut place = vec![0; order.len()];
        for (at, &flow) in order.iter().enumerate() {
            place[flow as usize] = at;
        }
        Self::collect(place.into_iter().map(|at| self.of(at)))
    }

    /// Flows with these channels.
    pub fn collect<'a>(routes: impl Iterator<Item = &'a [u32]>) -> Self {
        let mut all = Self::new();
        for route in routes {
            all.channels.extend_from_slice(route);
            all.end();
        }
        all
    }

    /// Number of flows.
    pub fn len(&self) -> usize {
        self.first.len() - 1
    }

    /// Whether there is no flow.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Channels of a flow by their ids, that of its source first.
    pub fn of(&self, flow: usize) -> &[u32] {
        &self.channels[self.first[flow] as usize..self.first[flow + 1] as usize]
    }

    /// Flows over every one of `channels` channels. Cost: O(links of all routes).
    pub fn loads(&self, channels: usize) -> Vec<u32> {
        let mut loads = vec![0; channels];
        for &channel in &self.channels {
            loads[channel as usize] += 1;
        }
        loads
    }
}
