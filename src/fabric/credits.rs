//! Credits of an output lane: a count plus one ramp that grows by a flit every few cycles.
//!
//! When a packet of `n` flits leaves a buffer at cycle `t` at one flit per `s` cycles, its slots come free
//! one by one. Instead of `n` credit events the sender gets one ramp: from `start`, every `s` cycles one
//! more credit, `n` in all. One packet at a time leaves a lane and the credit latency is constant, so
//! ramps of one lane never overlap (model rule 5) and one ramp is exact. Where they can overlap (shared
//! buffers with input speed-up above 1) credits come back as ramps of one flit.
//!
//! Cost: O(1) each.

use super::components::OutLane;

impl<const W: usize> OutLane<W> {
    /// Credits that count in cycle `now` \[flits\].
    #[inline]
    pub fn available(&self, now: u64) -> u32 {
        self.credits + self.ramped(now)
    }

    /// Whether `flits` credits count in cycle `now`.
    #[inline]
    pub fn covers(&self, flits: u16, now: u64) -> bool {
        self.credits >= u32::from(flits) || self.available(now) >= u32::from(flits)
    }

    /// Credits of the running ramp that count in cycle `now`.
    #[inline]
    fn ramped(&self, now: u64) -> u32 {
        if now < self.ramp_start {
            return 0;
        }
        let steps = if self.ramp_step == 1 {
            now - self.ramp_start
        } else {
            (now - self.ramp_start) / u64::from(self.ramp_step)
        };
        u64::from(self.ramp_flits).min(steps + 1) as u32
    }

    /// Takes the credits of a packet, which must be available.
    #[inline]
    pub fn take(&mut self, flits: u16, now: u64) {
        if self.credits < u32::from(flits) {
            self.gather(now);
        }
        self.credits -= u32::from(flits);
    }

    /// Counts the credits of the running ramp that have come among those in hand.
    #[inline(always)]
    fn gather(&mut self, now: u64) {
        let grown = self.ramped(now);
        self.credits += grown;
        self.ramp_flits -= grown as u16;
        self.ramp_start += u64::from(grown) * u64::from(self.ramp_step);
    }

    /// Leaves no credit that counts in cycle `now`, for [`Self::reveal`], which gives back what this returns; a ramp may
    /// start in between.
    pub fn conceal(&mut self, now: u64) -> u32 {
        self.gather(now);
        std::mem::take(&mut self.credits)
    }

    /// Gives back what [`Self::conceal`] has taken \[flits\].
    pub fn reveal(&mut self, flits: u32) {
        self.credits += flits;
    }

    /// Starts a ramp; the previous one has ended by the cycle in which this is called.
    #[inline]
    pub fn start_ramp(&mut self, start: u64, flits: u16, step: u16) {
        self.credits += u32::from(self.ramp_flits);
        self.ramp_start = start;
        self.ramp_flits = flits;
        self.ramp_step = step;
    }

    /// First cycle in which `flits` credits count, as far as known ramps tell; 0 when they are in hand.
    #[inline]
    pub fn ready_at(&self, flits: u16) -> Option<u64> {
        let flits = u32::from(flits);
        if self.credits >= flits {
            return Some(0);
        }
        let missing = flits - self.credits;
        (missing <= u32::from(self.ramp_flits))
            .then(|| self.ramp_start + u64::from(missing - 1) * u64::from(self.ramp_step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::mask::Mask;

    fn lane(credits: u32) -> OutLane<1> {
        OutLane {
            ramp_start: 0,
            sent: 0,
            credits,
            ramp_flits: 0,
            ramp_step: 1,
            pointer: 0,
            need: 0,
            requests: Mask::EMPTY,
        }
    }

    #[test]
    fn a_ramp_counts_flit_by_flit() {
        let mut lane = lane(1);
        lane.start_ramp(10, 4, 3);
        assert_eq!(
            [9, 10, 12, 13, 19, 100].map(|now| lane.available(now)),
            [1, 2, 2, 3, 5, 5]
        );
        assert_eq!(lane.ready_at(3), Some(13));
        assert_eq!(lane.ready_at(6), None);
        lane.take(2, 11);
        assert_eq!(
            [11, 12, 13, 16, 19].map(|now| lane.available(now)),
            [0, 0, 1, 2, 3]
        );
    }

    #[test]
    fn hidden_credits_come_back_beside_those_that_came_meanwhile() {
        let mut lane = lane(5);
        lane.start_ramp(10, 4, 3);
        let hidden = lane.conceal(14);
        assert_eq!((hidden, lane.available(14)), (7, 0));
        assert!(!lane.covers(1, 14));
        lane.reveal(hidden);
        assert_eq!([14, 16, 19].map(|now| lane.available(now)), [7, 8, 9]);
        let hidden = lane.conceal(19);
        lane.start_ramp(20, 2, 1);
        assert_eq!((hidden, lane.available(19)), (9, 0));
        lane.reveal(hidden);
        assert_eq!([19, 20, 21].map(|now| lane.available(now)), [9, 10, 11]);
    }
}
