//! What switches drop, a shortfall of the class that made it.
//!
//! # Algorithm
//! What is dropped is neither present nor delivered, and it comes at its rate however long a measurement is. A class that loses more
//! than 2 % of what it makes is saturated, one that loses less is steady, and what chance does not let tell from 2 % is undecided.
//! Drops come in bursts: a count of them varies as they do from batch to batch, and as whole packets at least.
//!
//! Where nothing was dropped yet of a class that switches may drop, and its packets come by chance, there may be too few to tell.
//!
//! Cost: O(classes).

use super::doubt::{Doubt, LONGER, MISSED, Remedy};
use super::shares::CLEARLY_LESS;
use super::window::{Behind, CERTAIN, LEVELS, Window};
use crate::ids::SlId;
use crate::measure::precision::stationarity::{dispersion, normal_bound};

/// Times of a measurement beyond which no length is told: the loss is about what is tolerated.
const LONGEST: f64 = 1e4;

/// What a class loses.
struct Loss {
    class: usize,
    /// Dropped \[flits\].
    lost: f64,
    /// Made \[flits\].
    made: f64,
    /// Standard deviation of what may be dropped \[flits\].
    noise: f64,
}

impl Loss {
    /// What is dropped beyond what is tolerated \[flits\].
    fn beyond(&self) -> f64 {
        self.lost - CLEARLY_LESS * self.made
    }

    /// Part of what was made \[%\].
    fn percent(&self) -> f64 {
        self.lost / self.made.max(1.0) * 100.0
    }
}

impl Window<'_> {
    /// What a class loses, where switches may drop its packets.
    fn loss_of(&self, class: usize) -> Option<Loss> {
        let plan = self.plan();
        let dropping = plan.switch.drop.as_ref()?;
        let levels = &plan.classes[class].service_levels;
        let is_dropped = |level: &&SlId| dropping.service_levels.contains(level);
        levels.iter().find(is_dropped)?;
        let record = &self.records.classes[class];
        let lost = record.lost.window_flits;
        // packets of before may be delivered or dropped
        let made = record.created_flits.max(record.delivered_flits + lost) as f64;
        let dropped = self.series.joined(LEVELS);
        let dropped = dropped.iter().map(|batch| batch.dropped_flits as f64);
        let bursts = dispersion(&dropped.collect::<Vec<_>>()).unwrap_or(0.0);
        let noise = (bursts.max(self.size) * CLEARLY_LESS * made).sqrt();
        let lost = lost as f64;
        Some(Loss {
            class,
            lost,
            made,
            noise,
        })
    }

    /// What all classes lose.
    fn losses(&self) -> impl Iterator<Item = Loss> {
        (0..self.records.classes.len()).filter_map(|class| self.loss_of(class))
    }

    /// Whether a loss is more than what is tolerated.
    fn is_beyond(&self, loss: &Loss) -> Behind {
        let certain = normal_bound(CERTAIN / self.records.classes.len().max(1) as f64);
        let is_chance = loss.lost > 0.0 || self.is_irregular();
        if loss.beyond() > certain * loss.noise {
            Behind::Certainly
        } else if is_chance && loss.beyond() > -MISSED * loss.noise {
            Behind::Perhaps
        } else {
            Behind::No
        }
    }

    /// Whether switches drop more of a class than is tolerated.
    pub(super) fn loses(&self, class: usize) -> Behind {
        let loss = self.loss_of(class);
        loss.map_or(Behind::No, |loss| self.is_beyond(&loss))
    }

    /// A class of which switches certainly drop more than is tolerated, in words.
    pub(super) fn losing(&self) -> Option<String> {
        let is_sure = |loss: &Loss| matches!(self.is_beyond(loss), Behind::Certainly);
        let losses = self.losses().filter(is_sure);
        let worst = losses.max_by(|a, b| a.percent().total_cmp(&b.percent()))?;
        let (words, tolerated) = (self.dropped_of(&worst), CLEARLY_LESS * 100.0);
        let loads = self.loads();
        Some(format!("{words}, more than {tolerated} %; {loads}"))
    }

    /// A class of which they may do so.
    pub(super) fn may_lose(&self) -> Option<Doubt> {
        let may_be = |loss: &Loss| matches!(self.is_beyond(loss), Behind::Perhaps);
        let losses = self.losses().filter(may_be);
        let worst = losses.max_by(|a, b| a.percent().total_cmp(&b.percent()))?;
        let noise = worst.noise / worst.made.max(1.0) * 100.0;
        let (words, tolerated) = (self.dropped_of(&worst), CLEARLY_LESS * 100.0);
        let words = format!("{words}, and {tolerated} +- {noise:.2} % is the most that is steady");
        let beyond = worst.beyond();
        let bound = if beyond > 0.0 {
            normal_bound(CERTAIN / self.records.classes.len().max(1) as f64)
        } else {
            MISSED
        };
        let longer = LONGER * (bound * worst.noise / beyond).powi(2);
        let remedy = if longer < LONGEST {
            let cycles = (self.cycles() as f64 * longer).ceil() as u64;
            Remedy::Length(cycles, self.clock().time(cycles))
        } else {
            Remedy::Longer
        };
        Some(Doubt { words, remedy })
    }

    /// The class of which switches drop most, if they do; in words.
    pub(super) fn most_dropped(&self) -> Option<String> {
        let losses = self.losses().filter(|loss| loss.lost > 0.0);
        let worst = losses.max_by(|a, b| a.percent().total_cmp(&b.percent()))?;
        Some(self.dropped_of(&worst))
    }

    fn dropped_of(&self, loss: &Loss) -> String {
        let (percent, name) = (loss.percent(), &self.plan().classes[loss.class].name);
        format!("switches dropped {percent:.2} % of what {name} made")
    }
}
