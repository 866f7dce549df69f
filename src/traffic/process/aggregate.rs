//! Slots with at most one packet each, from Pareto ON/OFF sources that feed a counter.
//!
//! # Rules
//! 1. A source is ON or OFF. When it goes ON it gives the counter its whole burst at once, k packets (a length of
//!    `pareto`), stays ON for k slots more and goes OFF in the next, for w slots more (another length); in the slot after
//!    these it goes ON again. So a period has k + w + 2 slots.
//! 2. A slot has a packet if the counter, with what sources give it in this slot, is not 0; the packet is taken from it.
//! 3. Sources start in their stationary mix: ON with probability (E k + 1) / (E k + E w + 2), within a period that the start
//!    meets. Without this they would need ever longer to forget their start: the rest of a length has no mean.
//! 4. With `Counter::Stationary` the counter starts as that of as many Poisson bursts does in its stationary state (Pollaczek
//!    and Khinchine: the number of rests of bursts it holds is geometric, with ratio m, the packets per slot), and 1000
//!    slots go by before the first. Giant bursts of a far past are all that a counter cannot forget, and these are rare
//!    enough to be independent; the dozens of slots in which sources differ from Poisson's are forgotten by then.
//!    Counted over many sources, the share of slots with a packet is m from the first slot on.
//!
//! Cost: two powers per burst, nothing for slots between.
//!
//! References: [`SEM_JACOBSEN`](crate::references::SEM_JACOBSEN) section 6.1 and appendix C,
//! [`WILLINGER_TAQQU`](crate::references::WILLINGER_TAQQU), [`ASMUSSEN`](crate::references::ASMUSSEN)

use super::pareto::Lengths;
use crate::rng::{Stream, unit_interval};
use serde::{Deserialize, Serialize};

/// Slots before the first with `Counter::Stationary`: sixteen mean periods of a source with the usual parameters.
const WARM_UP: u64 = 1000;

/// How the counter starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// At 0, as a flow that is created: fewer packets at first.
    Empty,
    /// As if it had always been running.
    Stationary,
}

/// The law of an aggregate: what all sources of packets with the same parameters share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aggregate {
    sources: u32,
    bursts: Lengths,
    silences: Lengths,
    counter: Counter,
}

/// The state of an aggregate; times are numbers of slots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AggregateState {
    /// The next slot.
    now: u64,
    /// The counter \[packets\].
    queue: u64,
    /// The slot in which each source next goes ON.
    turns: Vec<u64>,
    /// The first of them.
    first: u64,
}

impl Aggregate {
    /// Aggregate of that many sources, at least 1.
    pub fn new(sources: u32, bursts: Lengths, silences: Lengths, counter: Counter) -> Self {
        Self {
            sources,
            bursts,
            silences,
            counter,
        }
    }

    /// Mean number of packets per slot that sources give; below 1, or the counter grows without end.
    pub fn mean(&self) -> f64 {
        let burst = self.bursts.mean();
        f64::from(self.sources) * burst / (burst + self.silences.mean() + 2.0)
    }

    /// Makes the state of one aggregate: rules 3 and 4.
    pub fn start(&self, rng: &mut Stream) -> AggregateState {
        let (burst, silence) = (self.bursts.mean(), self.silences.mean());
        let on = (burst + 1.0) / (burst + silence + 2.0);
        let turn = |rng: &mut Stream| {
            if unit_interval(rng) <= on {
                let rest = self.bursts.rest(rng);
                let silence = self.silences.draw(rng);
                rest.saturating_add(silence).saturating_add(1)
            } else {
                self.silences.rest(rng)
            }
        };
        let turns: Vec<u64> = (0..self.sources).map(|_| turn(rng)).collect();
        let mut state = AggregateState {
            now: 0,
            queue: 0,
            first: first(&turns),
            turns,
        };
        if self.counter == Counter::Stationary {
            self.fill(&mut state, rng);
        }
        state
    }

    /// Rule 4.
    fn fill(&self, state: &mut AggregateState, rng: &mut Stream) {
        let mean = self.mean();
        while unit_interval(rng) <= mean {
            // rests of lengths >= 1, less the one that is served: j in proportion to P(k > j)
            let rest = loop {
                match self.bursts.rest(rng) {
                    0 => {}
                    rest => break rest - 1,
                }
            };
            state.queue = state.queue.saturating_add(rest);
        }
        while state.first < WARM_UP {
            let idle = state.first - state.now;
            state.queue = state.queue.saturating_sub(idle);
            state.now = state.first;
            self.turn(state, rng);
        }
        state.queue = state.queue.saturating_sub(WARM_UP - state.now);
        state.now = 0;
        for turn in &mut state.turns {
            *turn -= WARM_UP;
        }
        state.first -= WARM_UP;
    }

    /// Whether the next slot has a packet.
    pub fn slot(&self, state: &mut AggregateState, rng: &mut Stream) -> bool {
        self.turn(state, rng);
        let sends = state.queue > 0;
        state.queue -= u64::from(sends);
        state.now += 1;
        sends
    }

    /// Slots without a packet before the next one with a packet, which is passed too; `None`: more than can be counted.
    ///
    /// The same slots as by [`Self::slot`], with the same draws; what lies between costs nothing.
    pub fn skip(&self, state: &mut AggregateState, rng: &mut Stream) -> Option<u64> {
        let start = state.now;
        self.turn(state, rng);
        if state.queue == 0 {
            if state.first == u64::MAX {
                return None;
            }
            state.now = state.first;
            self.turn(state, rng);
        }
        state.queue -= 1;
        state.now += 1;
        Some(state.now - 1 - start)
    }

    /// Sources whose slot has come go ON, in their order.
    #[inline]
    fn turn(&self, state: &mut AggregateState, rng: &mut Stream) {
        if state.first != state.now {
            return;
        }
        for turn in &mut state.turns {
            if *turn == state.now {
                let burst = self.bursts.draw(rng);
                let period = burst
                    .saturating_add(self.silences.draw(rng))
                    .saturating_add(2);
                state.queue = state.queue.saturating_add(burst);
                *turn = turn.saturating_add(period);
            }
        }
        state.first = first(&state.turns);
    }
}

fn first(turns: &[u64]) -> u64 {
    turns.iter().copied().min().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};

    /// The listing of the source, slot by slot: a source is ON or OFF with what is left.
    struct Listing {
        sources: Vec<(bool, u64)>,
        queue: u64,
    }

    impl Listing {
        fn slot(&mut self, law: &Aggregate, rng: &mut Stream) -> bool {
            for (is_on, left) in &mut self.sources {
                match (*is_on, *left) {
                    (true, 0) => (*is_on, *left) = (false, law.silences.draw(rng)),
                    (false, 0) => {
                        (*is_on, *left) = (true, law.bursts.draw(rng));
                        self.queue += *left;
                    }
                    _ => *left -= 1,
                }
            }
            let sends = self.queue > 0;
            self.queue -= u64::from(sends);
            sends
        }
    }

    fn law(shape: f64, counter: Counter) -> Aggregate {
        let bursts = Lengths::new(shape, 1.0);
        let silence = bursts.mean() * 19.0 - 2.0;
        let silences = Lengths::with_mean(shape, silence).expect("in range");
        Aggregate::new(10, bursts, silences, counter)
    }

    /// The constants of the source: 0.5723 packets per slot, not 0.5 (seed-003 S19, A9).
    fn legacy(shape: f64) -> Aggregate {
        let lengths = |scale| Lengths::new(shape, scale);
        Aggregate::new(10, lengths(1.0), lengths(19.0), Counter::Empty)
    }

    #[test]
    fn the_mean_of_the_listing_is_that_of_its_analysis() {
        let mean = legacy(1.5).mean();
        assert!((mean - 0.572).abs() < 0.0005, "{mean}");
        for shape in [1.2, 1.5, 1.8] {
            let mean = law(shape, Counter::Stationary).mean();
            assert!((mean - 0.5).abs() < 1e-9, "{mean}");
        }
    }

    /// The draws come in another order, so laws are compared: how often a slot with a packet follows one, and packets.
    #[test]
    fn slots_are_those_of_the_listing() {
        // a shape at which means of so many slots are known to a percent
        let (law, slots) = (legacy(1.8), 3_000_000);
        let mut rng = stream(9, Purpose::Arrivals, 0);
        let mut listing = Listing {
            sources: vec![(false, 0); 10],
            queue: 0,
        };
        let mut state = law.start(&mut rng);
        let count = |slots: Vec<bool>| {
            let packets = slots.iter().filter(|&&sends| sends).count();
            let pairs = slots.windows(2).filter(|pair| pair[0] && pair[1]).count();
            [packets, pairs].map(|count| count as f64 / 3e6)
        };
        // S19: 500,000 updates before the first slot, which do not count
        for _ in 0..500_000 {
            listing.slot(&law, &mut rng);
        }
        let of_listing = count((0..slots).map(|_| listing.slot(&law, &mut rng)).collect());
        let of_state = count((0..slots).map(|_| law.slot(&mut state, &mut rng)).collect());
        for (a, b) in of_listing.iter().zip(of_state) {
            assert!((a - b).abs() < 0.01, "{of_listing:?} {of_state:?}");
        }
    }

    /// The listing by its own order of draws, with one source: the same lengths in the same order.
    #[test]
    fn one_source_is_that_of_the_listing_slot_by_slot() {
        let law = Aggregate {
            sources: 1,
            ..legacy(1.5)
        };
        let mut rng = stream(2, Purpose::Arrivals, 7);
        let mut of_listing = rng.clone();
        let mut listing = Listing {
            sources: vec![(false, 0)],
            queue: 0,
        };
        let mut state = AggregateState {
            now: 0,
            queue: 0,
            turns: vec![0],
            first: 0,
        };
        for slot in 0..100_000 {
            let expected = listing.slot(&law, &mut of_listing);
            assert_eq!(law.slot(&mut state, &mut rng), expected, "slot {slot}");
        }
    }

    #[test]
    fn skipped_slots_are_those_without_a_packet() {
        let law = law(1.5, Counter::Stationary);
        let mut rng = stream(4, Purpose::Arrivals, 0);
        let mut state = law.start(&mut rng);
        let (mut other, mut other_rng) = (state.clone(), rng.clone());
        for _ in 0..50_000 {
            let idle = law.skip(&mut state, &mut rng).expect("not that long");
            for _ in 0..idle {
                assert!(!law.slot(&mut other, &mut other_rng));
            }
            assert!(law.slot(&mut other, &mut other_rng));
        }
        assert_eq!(state, other);
        assert_eq!(rng, other_rng);
    }

    /// Rule 4: packets per slot in the first slots, and later, over 4000 aggregates, against 0.5. Those that start empty
    /// have far fewer; at a shape of 1.2 for longer than any run.
    #[test]
    fn a_stationary_start_has_the_mean_from_the_first_slot_on() {
        for (shape, tolerance) in [(1.8, 0.03), (1.5, 0.03), (1.2, 0.03)] {
            let windows = |counter| {
                let law = law(shape, counter);
                let mut sums = [0u32; 3];
                for id in 0..4000 {
                    let mut rng = stream(6, Purpose::Arrivals, id);
                    let mut state = law.start(&mut rng);
                    for (sum, slots) in sums.iter_mut().zip([1, 9, 90]) {
                        let sends = (0..slots).filter(|_| law.slot(&mut state, &mut rng));
                        *sum += sends.count() as u32;
                    }
                }
                [0, 1, 2].map(|i| f64::from(sums[i]) / [4e3, 36e3, 36e4][i])
            };
            let found = windows(Counter::Stationary);
            for mean in found {
                assert!((mean - 0.5).abs() < tolerance, "{shape}: {found:?}");
            }
            let empty = windows(Counter::Empty);
            assert!(empty[0] < 0.2 && empty[2] < 0.49, "{shape}: {empty:?}");
        }
    }

    #[test]
    fn silence_without_end_has_no_packets() {
        let law = legacy(1.5);
        let mut rng = stream(1, Purpose::Arrivals, 0);
        let mut state = AggregateState {
            now: 5,
            queue: 1,
            turns: vec![u64::MAX; 2],
            first: u64::MAX,
        };
        assert_eq!(law.skip(&mut state, &mut rng), Some(0));
        assert_eq!(law.skip(&mut state, &mut rng), None);
    }
}
