//! Flows: senders that a host asks for packets (D27 and following of the model).

use crate::control::Limit;
use crate::ids::{HostId, SlId};
use crate::traffic::OfferedProcess;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A flow; its id is its place in [`Plan::flows`](super::Plan::flows).
#[derive(Clone, Debug)]
pub struct FlowPlan {
    /// Traffic class.
    pub class: u16,
    /// Sending host.
    pub source: HostId,
    /// Receiving host, another one.
    pub destination: HostId,
    /// Service level, of those of its class.
    pub level: SlId,
    /// Cycle from which it takes part.
    pub start: u64,
    /// Cycle from which it makes no packet.
    pub stop: Option<u64>,
    /// What it sends in all \[flits\]; `None` = without end.
    pub flits: Option<u64>,
    /// Weight, at least 1.
    pub weight: u16,
    /// What it may send, from its start on.
    pub limit: Limit,
    /// Later limits: from which cycle on, ascending.
    pub changes: Arc<[(u64, Limit)]>,
    /// How much may be on its way.
    pub window: Option<Window>,
    /// When it makes packets; `None`: it always has one.
    pub process: Option<OfferedProcess>,
    /// Flows with smaller ids that it waits for: its start is the earliest then (D63).
    pub after: Box<[FlowAfter]>,
    /// Its phase, by its place in [`Plan::app_phases`](super::Plan::app_phases): its start counts from the opening.
    pub phase: Option<u32>,
    /// Its application among those of its generator; solvers at flow level tell them apart.
    pub application: Option<u32>,
}

impl FlowPlan {
    /// A flow that always has a packet, from cycle 0 on and without end, limit and window.
    pub fn backlogged(class: u16, source: HostId, destination: HostId) -> Self {
        Self {
            class,
            source,
            destination,
            level: SlId::default(),
            start: 0,
            stop: None,
            flits: None,
            weight: 1,
            limit: Limit::None,
            changes: Arc::new([]),
            window: None,
            process: None,
            after: Box::default(),
            phase: None,
            application: None,
        }
    }
}

/// A flow that another one waits for: one that begins or ends at the source of that one, and has a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowAfter {
    /// Its id.
    pub flow: u32,
    /// Time from the cycle on in which it is sent or received to the start of the other \[cycles\].
    pub delay: u64,
}

/// A phase of an application (D50).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppPhase {
    /// Name of the application.
    pub application: String,
    /// Number of the phase, from 0.
    pub number: u32,
    /// Least start of its flows \[cycles\].
    pub first_start: u64,
}

/// Packets that may be on their way at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// Packets, at least 1.
    pub packets: u32,
    /// Cycles from a delivery until it counts at the source.
    pub delay: u64,
}
