//! What switches drop and full source queues reject, a shortfall of the class that made it.
//!
//! # Algorithm
//! What is lost is neither present nor delivered, and it comes at its rate however long a measurement is. A class that loses more
//! than 2 % of what it makes one way is saturated, one that loses less is steady, and what chance does not let tell from 2 % is undecided.
//! Losses come in bursts: a count of drops varies as they do from batch to batch, that of rejections as the packets that a queue
//! holds, and both as whole packets at least.
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

/// How packets are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// Switches drop them.
    Dropped,
    /// Full source queues reject them.
    Rejected,
}

/// What a class loses one way.
struct Loss {
    class: usize,
    how: How,
    /// Lost \[flits\].
    lost: f64,
    /// Made \[flits\].
    made: f64,
    /// Standard deviation of what may be lost \[flits\].
    noise: f64,
}

impl Loss {
    /// What is lost beyond what is tolerated \[flits\].
    fn beyond(&self) -> f64 {
        self.lost - CLEARLY_LESS * self.made
    }

    /// Part of what was made \[%\].
    fn percent(&self) -> f64 {
        self.lost / self.made.max(1.0) * 100.0
    }
}

impl Window<'_> {
    /// What switches drop of a class, where they may.
    fn dropped_of(&self, class: usize) -> Option<Loss> {
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
        let (lost, how) = (lost as f64, How::Dropped);
        Some(Loss {
            class,
            how,
            lost,
            made,
            noise,
        })
    }

    /// What full source queues reject of a class, where they may.
    fn rejected_of(&self, class: usize) -> Option<Loss> {
        let host = &self.plan().host;
        let queue = host.source_queue.into_iter().chain(host.flow_queue).max()?;
        let record = &self.records.classes[class];
        let made = record.created_flits as f64;
        let burst = f64::from(queue) * self.size;
        let noise = (burst.max(self.size) * CLEARLY_LESS * made).sqrt();
        Some(Loss {
            class,
            how: How::Rejected,
            lost: record.rejected_flits(),
            made,
            noise,
        })
    }

    /// What a class loses.
    fn losses_of(&self, class: usize) -> impl Iterator<Item = Loss> {
        let ways = [self.dropped_of(class), self.rejected_of(class)];
        ways.into_iter().flatten()
    }

    /// What all classes lose.
    fn losses(&self) -> impl Iterator<Item = Loss> {
        (0..self.records.classes.len()).flat_map(|class| self.losses_of(class))
    }

    /// Whether a loss is more than what is tolerated.
    fn is_beyond(&self, loss: &Loss) -> Behind {
        let certain = normal_bound(CERTAIN / self.records.classes.len().max(1) as f64);
        // a queue that never was full tells by its length that it is not
        let is_open = loss.how == How::Dropped && self.is_irregular();
        let is_chance = loss.lost > 0.0 || is_open;
        if loss.beyond() > certain * loss.noise {
            Behind::Certainly
        } else if is_chance && loss.beyond() > -MISSED * loss.noise {
            Behind::Perhaps
        } else {
            Behind::No
        }
    }

    /// Whether more of a class is lost one way than is tolerated.
    pub(super) fn loses(&self, class: usize) -> Behind {
        let found = |behind: &Behind| {
            let mut losses = self.losses_of(class);
            losses.any(|loss| self.is_beyond(&loss) == *behind)
        };
        let mut worse = [Behind::Certainly, Behind::Perhaps].into_iter();
        worse.find(found).unwrap_or(Behind::No)
    }

    /// A class that certainly loses more than is tolerated, in words.
    pub(super) fn losing(&self) -> Option<String> {
        let is_sure = |loss: &Loss| matches!(self.is_beyond(loss), Behind::Certainly);
        let losses = self.losses().filter(is_sure);
        let worst = losses.max_by(|a, b| a.percent().total_cmp(&b.percent()))?;
        let (words, tolerated) = (self.words_of(&worst), CLEARLY_LESS * 100.0);
        let loads = self.loads();
        Some(format!("{words}, more than {tolerated} %; {loads}"))
    }

    /// A class of which they may do so.
    pub(super) fn may_lose(&self) -> Option<Doubt> {
        let may_be = |loss: &Loss| matches!(self.is_beyond(loss), Behind::Perhaps);
        let losses = self.losses().filter(may_be);
        let worst = losses.max_by(|a, b| a.percent().total_cmp(&b.percent()))?;
        let noise = worst.noise / worst.made.max(1.0) * 100.0;
        let (words, tolerated) = (self.words_of(&worst), CLEARLY_LESS * 100.0);
        let words = if worst.lost > 0.0 {
            format!("{words}, and {tolerated} +- {noise:.2} % is the most that is steady")
        } else {
            let name = &self.plan().classes[worst.class].name;
            format!(
                "packets of {name} were too few to tell whether switches drop less than {tolerated} % of them"
            )
        };
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

    /// The class that loses most, if one does; in words.
    pub(super) fn most_lost(&self) -> Option<String> {
        let losses = self.losses().filter(|loss| loss.lost > 0.0);
        let worst = losses.max_by(|a, b| a.percent().total_cmp(&b.percent()))?;
        Some(self.words_of(&worst))
    }

    fn words_of(&self, loss: &Loss) -> String {
        let (percent, name) = (loss.percent(), &self.plan().classes[loss.class].name);
        let who = match loss.how {
            How::Dropped => "switches dropped",
            How::Rejected => "full source queues rejected",
        };
        format!("{who} {percent:.2} % of what {name} made")
    }
}
