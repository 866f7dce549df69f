//! The meter of egress measurement: windows of arrivals and of service at a destination (003 S16).
//!
//! Its rules are rules 1 to 4 of the admission control `EgressMeasurement`.
//!
//! Cost: O(slots of a window) per packet.

use crate::rng::mix;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Service without end \[packets\].
pub(super) const UNBOUNDED: f64 = 1e7;

/// What a meter has measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meter {
    /// Length of a slot \[cycles\].
    slot: u64,
    /// Windows that are kept.
    windows: u32,
    /// Most by which a clock is wrong \[cycles\].
    clocks: u64,
    /// Begin of the open window.
    open: Option<u64>,
    /// Flits of the slots of the open window.
    arrivals: Vec<u64>,
    /// Time to serve p + 1 packets, most of the open window.
    service: Vec<u64>,
    /// Creation and delivery of the last packets.
    backlog: VecDeque<(u64, u64)>,
    /// Windows that have ended, the newest last.
    history: VecDeque<Window>,
}

/// A window that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Window {
    /// Most flits of so many slots in a row.
    pub(super) arrivals: Vec<u64>,
    /// Time to serve p + 1 packets, not falling.
    service: Vec<u64>,
}

/// A packet that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// Cycle.
    pub now: u64,
    /// Cycle of its creation.
    pub created: u64,
    /// Its source host.
    pub source: u32,
    /// The host itself.
    pub host: u32,
    /// Traffic class.
    pub class: u16,
    /// Size \[flits\].
    pub flits: u16,
}

impl Meter {
    pub(super) fn new(slot: u64, (slots, windows): (u32, u32), clocks: u64) -> Self {
        let slots = slots as usize;
        Self {
            slot,
            windows,
            clocks,
            open: None,
            arrivals: vec![0; slots],
            service: vec![0; slots],
            backlog: VecDeque::with_capacity(slots),
            history: VecDeque::new(),
        }
    }

    /// A packet arrives.
    pub fn arrive(&mut self, arrived: Arrived) {
        self.close(arrived.now);
        let begin = *self.open.get_or_insert(arrived.now);
        let slot = ((arrived.now - begin) / self.slot) as usize;
        self.arrivals[slot] += u64::from(arrived.flits);
        let slots = self.arrivals.len();
        if self.backlog.len() == slots {
            self.backlog.pop_front();
        }
        // only the difference of the two clocks matters
        let shift = |host: u32| mix(u64::from(host) ^ 0xc10c) % (2 * self.clocks + 1);
        let created = arrived.created + shift(arrived.source) + self.clocks;
        let delivered = arrived.now + shift(arrived.host) + self.clocks;
        self.backlog.push_back((created, delivered));
        if self.backlog.len() < slots {
            return;
        }
        let first = self.backlog[0].0;
        for (place, &(_, delivered)) in self.backlog.iter().enumerate() {
            let time = delivered.saturating_sub(first);
            self.service[place] = self.service[place].max(time);
            let next = self.backlog.get(place + 1);
            if next.is_none_or(|&(created, _)| delivered <= created) {
                break;
            }
        }
    }

    /// Ends the window that is over at a cycle.
    fn close(&mut self, now: u64) {
        let length = self.slot * self.arrivals.len() as u64;
        if self.open.is_none_or(|begin| now < begin + length) {
            return;
        }
        self.open = None;
        let slots = self.arrivals.len();
        let most = |count: usize| {
            let sums = self.arrivals.windows(count).map(|some| some.iter().sum());
            sums.max().unwrap_or(0)
        };
        let arrivals = (0..slots).map(|count| if count == 0 { 0 } else { most(count) });
        let arrivals = arrivals.collect();
        let mut so_far = 0;
        let service = self.service.iter().map(|&time| {
            so_far = time.max(so_far);
            so_far
        });
        let service = service.collect();
        if self.history.len() == self.windows as usize {
            self.history.pop_front();
        }
        self.history.push_back(Window { arrivals, service });
        self.arrivals.fill(0);
        self.service.fill(0);
    }

    /// Windows that have ended before a cycle, the newest last.
    pub(super) fn ended(&self, now: u64) -> VecDeque<Window> {
        let mut later = self.clone();
        later.close(now);
        later.history
    }
}

impl Window {
    pub(super) fn has_arrivals(&self) -> bool {
        self.arrivals.last().is_some_and(|&flits| flits > 0)
    }

    /// Packets served in a time \[cycles\].
    pub(super) fn served(&self, time: f64) -> f64 {
        let known = |p: usize| self.service[p] as f64;
        let count = self.service.partition_point(|&least| (least as f64) < time);
        if count == 0 {
            return 0.0;
        }
        if count == self.service.len() {
            return UNBOUNDED;
        }
        let (low, high) = (known(count - 1), known(count));
        let part = if high > low {
            (time - low) / (high - low)
        } else {
            0.0
        };
        count as f64 + part
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A packet of 34 flits that took `transit` cycles.
    fn arrived(now: u64, transit: u64) -> Arrived {
        Arrived {
            now,
            created: now - transit,
            source: 1,
            host: 2,
            class: 0,
            flits: 34,
        }
    }

    /// Windows of 4 slots of 100 cycles; a packet every 50 cycles.
    pub(in crate::admission) fn measured(transits: &[u64]) -> (Meter, u64) {
        let mut meter = Meter::new(100, (4, 5), 0);
        let mut now = 1000;
        for &transit in transits {
            for _ in 0..8 {
                meter.arrive(arrived(now, transit));
                now += 50;
            }
        }
        (meter, now)
    }

    #[test]
    fn a_window_is_an_envelope_of_arrivals_and_of_service() {
        let mut meter = Meter::new(10, (4, 5), 0);
        for (now, transit) in [(100, 7), (104, 9), (112, 20), (115, 18), (139, 4)] {
            meter.arrive(arrived(now, transit));
        }
        // 140 is the end
        assert!(meter.ended(139).is_empty());
        let ended = meter.ended(140);
        assert_eq!(ended.len(), 1);
        // slots 0, 1 and 3 have 2, 2 and 1 packets
        assert_eq!(ended[0].arrivals, [0, 68, 136, 136]);
        // full at 115 with (93, 100), (95, 104), (92, 112), (97, 115): all in one run; at 139 (95, 104) is the first, and the
        // run ends with (97, 115), since the next was created at 135
        assert_eq!(ended[0].service, [9, 17, 20, 22]);
    }

    #[test]
    fn a_run_ends_where_the_next_packet_comes_after_the_delivery() {
        let (meter, now) = measured(&[20]);
        // nothing waits: one packet takes 20, more were never measured
        assert_eq!(meter.ended(now)[0].service, [20; 4]);
        let (meter, now) = measured(&[60]);
        assert_eq!(meter.ended(now)[0].service, [60, 110, 160, 210]);
    }

    #[test]
    fn wrong_clocks_move_all_transits_of_a_pair_alike() {
        let transit = |clocks, source| {
            let mut meter = Meter::new(100, (4, 5), clocks);
            for now in [1000, 1050, 1100, 1150] {
                meter.arrive(Arrived {
                    source,
                    ..arrived(now, 20)
                });
            }
            meter.service[0]
        };
        assert_eq!(transit(0, 1), 20);
        let moved: Vec<u64> = (0..50).map(|source| transit(6, source)).collect();
        assert!(moved.iter().all(|time| (8..=32).contains(time)));
        assert!(moved.iter().any(|&time| time != moved[0]));
    }
}
