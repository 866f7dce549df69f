//! Clock, links and graph of a scenario.

use crate::topology::faults::Failed;
use crate::topology::{BuildContext, ChannelTiming, Graph};
use crate::units::Clock;
use std::path::Path;

/// The fabric in cycles.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Flit size and reference rate.
    pub clock: Clock,
    /// Timing of links between switches that have none of their own.
    pub switch_link: ChannelTiming,
    /// Timing of links of hosts that have none of their own.
    pub host_link: ChannelTiming,
    /// Switches, hosts and channels, without those that failed.
    pub graph: Graph,
    /// What failed.
    pub failed: Failed,
}

impl Layout {
    /// The context the graph was built in.
    pub fn context<'a>(&self, seed: u64, base: &'a Path) -> BuildContext<'a> {
        BuildContext {
            seed,
            clock: self.clock,
            switch_link: self.switch_link,
            host_link: self.host_link,
            base,
        }
    }
}
