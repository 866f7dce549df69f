//! What the traffic asks of the channel that is full first, and of limits, in expectation.

use crate::routing::loads::bound::Bound;
use crate::run::outcome::Settings;
use crate::scenario::Resolved;
use crate::scenario::bounds::headroom;
use crate::scenario::offered::{ByLimit, by_limit, is_all_known};

/// What the traffic asks for in expectation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// The bound of the channel that is full first, a factor of the loads offered.
    pub(super) bound: Option<Bound>,
    /// Whether the loads of hosts are known.
    pub(super) has_hosts: bool,
    /// Whether those of channels between switches are known too.
    pub(super) has_inner: bool,
    /// The flow with a process that is offered most beside its limit.
    pub(super) by_limit: Option<ByLimit>,
}

impl Asked {
    /// Of a scenario; `None` where it is not known, or not asked.
    pub(super) fn of(resolved: &Resolved, settings: &Settings) -> Option<Self> {
        if settings.measured_only {
            return None;
        }
        let plan = &resolved.plan;
        let bound = headroom(resolved, |_| true);
        let by_limit = by_limit(resolved, |_| true);
        let has_hosts = bound.is_some() && is_all_known(resolved);
        let has_processes = plan.flows.iter().any(|flow| flow.process.is_some());
        let has_own_ways = plan.routes_of_flows.is_some() || plan.sets_up();
        let has_tables = resolved.routes.tables().is_some();
        (bound.is_some() || by_limit.is_some()).then_some(Self {
            bound,
            has_hosts,
            has_inner: has_tables && !(has_processes && has_own_ways),
            by_limit,
        })
    }

    /// Load of the channel, a part of what it carries.
    pub(super) fn part(&self) -> f64 {
        self.bound.map_or(0.0, |bound| 1.0 / bound.load)
    }

    /// What the flow is offered, a part of its limit.
    pub(super) fn part_of_limit(&self) -> f64 {
        self.by_limit.map_or(0.0, |by_limit| by_limit.part)
    }
}
