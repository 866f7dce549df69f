//! What the traffic asks of the channel that is full first, in expectation.

use crate::routing::loads::bound::Bound;
use crate::run::outcome::Settings;
use crate::scenario::Resolved;
use crate::scenario::bounds::headroom;

/// What the traffic asks of the channel that is full first, in expectation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// The bound, a factor of the loads offered.
    pub(super) bound: Bound,
    /// Whether channels between switches are known too.
    pub(super) has_inner: bool,
}

impl Asked {
    /// Of a scenario; `None` where it is not known, or not asked.
    pub(super) fn of(resolved: &Resolved, settings: &Settings) -> Option<Self> {
        if settings.measured_only {
            return None;
        }
        let bound = headroom(resolved, |_| true)?;
        let has_inner = resolved.routes.tables().is_some();
        Some(Self { bound, has_inner })
    }

    /// Load of the channel, a part of what it carries.
    pub(super) fn part(&self) -> f64 {
        1.0 / self.bound.load
    }
}
