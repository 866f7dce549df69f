//! Sessions: a flow on trial has its probe flow make so many packets (D59 of the model).
//!
//! Cost: O(log flows of the shard) per packet.

use super::make::Making;
use super::{Flows, Wake};
use crate::admission::Trials;
use crate::plan::Plan;
use crate::rng::{Stream, below};
use serde::{Deserialize, Serialize};

/// What a probe flow has beside a flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Session {
    /// Mean gap between packets \[cycles\].
    gap: u32,
    /// Packets of the session still to be made.
    left: u32,
    /// Cycle of the last one made.
    last: u64,
    /// Packets of the flow that were rejected before the session.
    rejected: u64,
}

/// What a session has made, when it has made all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionMade {
    /// Cycle of the last packet.
    pub last: u64,
    /// Packets rejected.
    pub rejected: u32,
    /// Mean gap between packets \[cycles\].
    pub gap: u32,
}

impl Session {
    /// That of a probe flow of a class with probes, before the first one.
    pub(super) fn new(plan: &Plan, trials: &Trials, probes: u16) -> Self {
        let class = &plan.classes[usize::from(probes)];
        let tried = plan.admission.iter().flat_map(|one| &one.tried);
        let tried = tried.into_iter().find(|tried| tried.probes == probes);
        let asking = tried.and_then(|tried| plan.classes[usize::from(tried.class)].requests);
        let peak = asking.map_or(1, |requests| requests.peak);
        Self {
            gap: trials.mean_gap(peak, class.size.largest()),
            left: 0,
            last: 0,
            rejected: 0,
        }
    }

    /// Cycles from one packet to the next: the mean and half of it more or less, all alike.
    fn draw(&self, stream: &mut Stream) -> u64 {
        let half = self.gap / 2;
        u64::from(self.gap - half + below(stream, 2 * half + 1))
    }
}

impl Flows {
    /// A session of the probe flow in this row begins in cycle `at`.
    pub fn begin_session(&mut self, row: u32, at: u64, packets: u32) {
        let maker = &mut self.makers[self.rows[row as usize].maker as usize];
        let Some(session) = self.sessions.get_mut(row as usize).and_then(Option::as_mut) else {
            return;
        };
        session.left = packets;
        session.rejected = maker.rejected.packets;
        let gap = session.draw(&mut maker.arrivals);
        self.wakes.push(at + gap, Wake::Probe(row).code());
    }

    /// What the session of the probe flow in this row has made; `None`: it goes on.
    pub fn session(&self, row: u32) -> Option<SessionMade> {
        let session = self.sessions.get(row as usize)?.as_ref()?;
        let maker = &self.makers[self.rows[row as usize].maker as usize];
        (session.left == 0).then(|| SessionMade {
            last: session.last,
            rejected: (maker.rejected.packets - session.rejected) as u32,
            gap: session.gap,
        })
    }

    /// A session makes a packet.
    pub(super) fn probe(&mut self, row: u32, making: &mut Making<'_>) {
        let maker = &mut self.makers[self.rows[row as usize].maker as usize];
        let Some(session) = self.sessions[row as usize].as_mut() else {
            return;
        };
        session.left -= 1;
        session.last = making.now;
        if session.left > 0 {
            let gap = session.draw(&mut maker.arrivals);
            let wake = Wake::Probe(row);
            self.wakes.push(making.now + gap, wake.code());
        }
        let bound = self.given.probes;
        self.make_within(row, bound, making);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};

    #[test]
    fn gaps_are_around_their_mean() {
        for (gap, least, most) in [(1, 1, 1), (2, 1, 3), (7, 4, 10), (100, 50, 150)] {
            let session = Session {
                gap,
                left: 0,
                last: 0,
                rejected: 0,
            };
            let mut rng = stream(1, Purpose::FlowArrivals, gap.into());
            let gaps: Vec<u64> = (0..3000).map(|_| session.draw(&mut rng)).collect();
            assert_eq!(gaps.iter().min(), Some(&least), "{gap}");
            assert_eq!(gaps.iter().max(), Some(&most), "{gap}");
            let mean = gaps.iter().sum::<u64>() as f64 / gaps.len() as f64;
            assert!((mean / f64::from(gap) - 1.0).abs() < 0.03, "{gap}: {mean}");
        }
    }
}
