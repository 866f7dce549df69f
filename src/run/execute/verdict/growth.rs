//! Flits that are missing of those created, against what an overload leaves behind and what chance explains.

use super::doubt::MISSED;
use super::shares::CLEARLY_LESS;
use super::window::{Window, of_present};

impl Window<'_> {
    /// Growth that an overload of all hosts may come to, or that chance does not explain.
    pub(super) fn growth(&self) -> Option<String> {
        let (created, _) = self.flits();
        if created <= 0.0 {
            return None;
        }
        let missing = self.missing();
        let least = self.least_growth(created).min(self.by_chance(created));
        (missing > least).then(|| of_present(missing * 100.0))
    }

    /// Part of the flits created that is missing beyond what filled the fabric, windows and buffers.
    pub(super) fn missing(&self) -> f64 {
        let (created, delivered) = self.flits();
        let missing = self.shortfall(created, delivered + self.lost()) - self.filled();
        missing / created.max(1.0)
    }

    /// Part of so many flits that may be missing by chance, or does not matter. Flows that begin fill the fabric: then any may.
    fn by_chance(&self, created: f64) -> f64 {
        let mut flows = self.plan().flows.iter();
        if flows.any(|flow| flow.start > self.warmup()) {
            return f64::INFINITY;
        }
        let noise = self.noise(created).hypot(self.edges(created));
        (MISSED * noise / created).max(CLEARLY_LESS)
    }
}
