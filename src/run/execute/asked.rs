//! What the traffic asks of the channel that is full first, and of limits, in expectation.

use crate::plan::FlowPlan;
use crate::routing::loads::bound::Bound;
use crate::run::outcome::Settings;
use crate::scenario::Resolved;
use crate::scenario::bounds::headroom;
use crate::scenario::offered::{ByLimit, Part, by_limit, is_all_known};

/// Part beyond a bound that is no rounding.
pub(super) const BEYOND: f64 = 1e-6;
/// The same of rates that people write to fill a channel.
pub(super) const OF_LIMITS: f64 = 1e-3;

/// What the traffic asks for in expectation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// The bound of the channel that is full first, a factor of the loads offered.
    pub(super) bound: Option<Bound>,
    /// The same as if all of the measurement were as its last cycle, where flows make that another one.
    pub(super) at_end: Option<Bound>,
    /// Whether limits say what is asked: rates that fill a channel are rounded.
    pub(super) has_limits: bool,
    /// Whether the loads of hosts are known.
    pub(super) has_hosts: bool,
    /// Whether those of channels between switches are known too.
    pub(super) has_inner: bool,
    /// The flow with a process that is offered most beside its limit or its window.
    pub(super) by_limit: Option<ByLimit>,
}

impl Asked {
    /// Of a scenario; `None` where it is not known, or not asked.
    pub(super) fn of(resolved: &Resolved, settings: &Settings) -> Option<Self> {
        if settings.measured_only {
            return None;
        }
        let plan = &resolved.plan;
        let bound = headroom(resolved, |_| true, Part::Whole);
        let changes = |flow: &FlowPlan| {
            flow.start > plan.phases.warmup || flow.stop.is_some() || !flow.changes.is_empty()
        };
        let at_end = (plan.flows.iter().any(changes))
            .then(|| headroom(resolved, |_| true, Part::End))
            .flatten();
        let has_limits = plan.flows.iter().any(|flow| plan.is_backlogged(flow));
        let by_limit = by_limit(resolved, |_| true);
        let has_hosts = bound.is_some() && is_all_known(resolved);
        let has_processes = plan.flows.iter().any(|flow| plan.load_of(flow).is_some());
        let has_own_ways = plan.routes_of_flows.is_some() || plan.sets_up();
        let has_tables = resolved.routes.tables().is_some();
        let is_known = bound.is_some() || at_end.is_some() || by_limit.is_some();
        is_known.then_some(Self {
            bound,
            at_end,
            has_limits,
            has_hosts,
            has_inner: has_tables && !(has_processes && has_own_ways),
            by_limit,
        })
    }

    /// Part beyond a bound that is no rounding.
    pub(super) fn rounding(&self) -> f64 {
        if self.has_limits { OF_LIMITS } else { BEYOND }
    }

    /// What the flow is offered, a part of its limit or window.
    pub(super) fn part_of_limit(&self) -> f64 {
        self.by_limit.map_or(0.0, |by_limit| by_limit.part)
    }
}
