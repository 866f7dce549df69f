//! Hosts.

use super::scheduler::Scheduler;
use serde::{Deserialize, Serialize};

/// Host options (rule 11 of the model).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostOptions {
    /// Sink speed \[cycles per flit\]; `None` = as fast as flits arrive.
    pub sink_cycles_per_flit: Option<u32>,
    /// Packets a source queue of one (class, lane) holds; `None` = unbounded. Further ones are rejected.
    pub source_queue: Option<u32>,
    /// How flows and source queues share a lane.
    pub scheduler: Scheduler,
    /// Packets the queue of a flow holds; `None` = unbounded. Further ones are rejected.
    pub flow_queue: Option<u32>,
}
