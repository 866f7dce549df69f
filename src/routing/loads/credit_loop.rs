//! Credit loops: what a lane carries at most, because its credits come back after a round trip, or its headers are routed one by one.
//!
//! # Algorithm
//! A packet takes all its credits when it starts (rule 5 of `docs/model.md`); flit k of it is `latency + k * pace` later in the
//! buffer, leaves it no earlier than the delay of the switch after that, and its credit counts the credit latency later. Let n
//! be the packet's flits, C those of the lane, a = floor(C / n) and r = C mod n: packet j + a may start when flit n - 1 - r of
//! packet j has given its credit back. So a * n flits pass in a round trip, that is the sum of the latencies and the delay, and
//! (n - 1 - r) * pace; exactly where nothing else holds the packets, and never more.
//! Of packets of several sizes a flit holds its credit for the latencies, the delay and, on average over a packet, half of the
//! packet's time: at least that of the smallest size.
//!
//! A wormhole header is routed when it is the first of its queue: its first flit leaves a routing delay R later than the cycle behind
//! that in which the last flit before it left. So a queue passes n flits in (n - 1) * pace + max(gap, 1 + R), with the gap that the input needs
//! behind a flit: the pace, or a cycle where several flits leave it at a time. The flits behind the header are
//! not routed: their slot is free for another after a round trip T without R. Flit k leaves T after flit k - C at least, and a pace
//! after flit k - 1; a header R later than that. Of packets of one size that is, with a = floor(n / C), at least
//! a * T + (n mod C) * pace + R for a packet longer than the lane, and for the q = ceil(n / C) packets that a lane begins to hold
//! T + (q * n - C) * pace + R, less pace - gap for each header that is on that way. Of several sizes with the mean n: n * T / C + R - (C - 1) * (T / C - pace), since a flit that
//! is left over by a whole number of lanes takes a pace in place of T / C.

/// The way of credits round a channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Channel {
    /// Space of the lane behind it \[flits\].
    pub capacity: u32,
    /// From the start of a flit to its arrival \[cycles\].
    pub latency: u64,
    /// From the arrival of a packet to the first cycle in which it may leave \[cycles\].
    pub delay: u64,
    /// From there to the cycle in which the credit counts \[cycles\].
    pub credit_latency: u64,
    /// Cycles per flit with which packets leave that space, at least.
    pub pace: u32,
    /// Cycles from a flit that leaves it to the header of the next packet, at least, where that is routed before.
    pub gap: u32,
}

/// What keeps a lane from carrying more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Its credits come back after a round trip.
    Credits,
    /// Its headers are routed one after the other.
    Headers,
}

/// What a lane carries at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CreditLoop {
    /// Flits of a round trip, or of a packet.
    pub flits: f64,
    /// Round trip, or time of a packet with its routing \[cycles\].
    pub cycles: f64,
    /// Why it carries no more.
    pub limit: Limit,
}

impl CreditLoop {
    /// Of packets from `least` to `most` flits.
    pub fn new(channel: Channel, [least, most]: [u32; 2]) -> Self {
        let latencies = channel.latency + channel.delay + channel.credit_latency;
        let pace = f64::from(channel.pace);
        if least != most {
            return Self {
                flits: f64::from(channel.capacity),
                cycles: latencies as f64 + pace * f64::from(least.saturating_sub(1)) / 2.0,
                limit: Limit::Credits,
            };
        }
        let size = least.max(1);
        let missing = size - 1 - channel.capacity % size;
        Self {
            flits: f64::from(channel.capacity / size * size),
            cycles: latencies as f64 + f64::from(missing) * pace,
            limit: Limit::Credits,
        }
    }

    /// Of a lane of one queue with wormhole packets from `least` to `most` flits, `mean` in the mean, whose headers are routed for
    /// so long; the delay of the channel is without that.
    pub fn of_flits(
        channel: Channel,
        ([least, most], mean): ([u32; 2], f64),
        routing_delay: u32,
    ) -> Self {
        let trip = (channel.latency + channel.delay + channel.credit_latency) as f64;
        let (pace, delay) = (f64::from(channel.pace), f64::from(routing_delay));
        let sooner = pace - f64::from(channel.gap);
        let capacity = f64::from(channel.capacity.max(1));
        let headers = |flits, cycles| Self {
            flits,
            cycles,
            limit: Limit::Headers,
        };
        let held = if least == most {
            let size = f64::from(least.max(1));
            let packets = (capacity / size).ceil();
            let lanes = (size / capacity).floor();
            if lanes > 0.0 {
                let rest = size - lanes * capacity;
                let rest = rest * pace - if rest > 0.0 { sooner } else { 0.0 };
                headers(size, lanes * trip + rest + delay)
            } else {
                let whole = packets * size;
                let rest = (whole - capacity) * pace - packets * sooner;
                headers(whole, trip + rest.max(0.0) + delay)
            }
        } else {
            let beyond = (trip / capacity - pace).max(0.0);
            let cycles = mean * trip / capacity + delay - (capacity - 1.0) * beyond - sooner;
            headers(mean, cycles.max(1.0))
        };
        let credits = Self::new(channel, [1; 2]);
        let all = [
            credits,
            held,
            Self::of_headers(mean, [channel.pace, channel.gap], routing_delay),
        ];
        let slower = |one: Self, other: Self| {
            if other.rate() < one.rate() {
                other
            } else {
                one
            }
        };
        all.into_iter().reduce(slower).unwrap_or(credits)
    }

    /// Of wormhole packets of `size` flits in the mean, which leave a queue at that pace, and that gap before headers, at least \[cycles\].
    pub fn of_headers(size: f64, [pace, gap]: [u32; 2], routing_delay: u32) -> Self {
        Self {
            flits: size,
            cycles: (size - 1.0) * f64::from(pace)
                + f64::from(gap).max(1.0 + f64::from(routing_delay)),
            limit: Limit::Headers,
        }
    }

    /// That of so many lanes together.
    #[must_use]
    pub fn times(self, lanes: u32) -> Self {
        Self {
            flits: self.flits * f64::from(lanes),
            ..self
        }
    }

    /// Flits per cycle.
    pub fn rate(&self) -> f64 {
        self.flits / self.cycles
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(capacity: u32, latency: u64) -> Channel {
        Channel {
            capacity,
            latency,
            delay: 1,
            credit_latency: latency,
            pace: 1,
            gap: 1,
        }
    }

    #[test]
    fn whole_packets_wait_for_their_last_credit() {
        let found = CreditLoop::new(channel(64, 195), [16, 16]);
        assert_eq!((found.flits, found.cycles), (64.0, 406.0));
        // 8 flits more are half of a packet's credits: the next starts 8 cycles sooner
        let found = CreditLoop::new(channel(72, 195), [16, 16]);
        assert_eq!((found.flits, found.cycles), (64.0, 398.0));
        let found = CreditLoop::new(channel(64, 195), [1, 1]);
        assert_eq!((found.flits, found.cycles), (64.0, 391.0));
        let slow = Channel {
            pace: 4,
            ..channel(64, 195)
        };
        let found = CreditLoop::new(slow, [16, 16]);
        assert_eq!((found.flits, found.cycles), (64.0, 391.0 + 60.0));
    }

    #[test]
    fn a_header_costs_its_routing_where_a_flit_leaves_sooner() {
        let cases = [
            ((8.0, [1, 1], 1), 8.0 / 9.0),
            ((1.0, [1, 1], 1), 0.5),
            ((8.0, [1, 1], 0), 1.0),
            // every second cycle a flit leaves: the header is routed in between
            ((8.0, [2, 2], 1), 0.5),
            ((8.0, [2, 2], 0), 0.5),
            ((8.0, [2, 2], 3), 8.0 / 18.0),
            ((8.0, [2, 1], 0), 8.0 / 15.0),
            // the input is free for another output a cycle later
            ((2.0, [5, 1], 1), 2.0 / 7.0),
        ];
        for ((size, paces, delay), expected) in cases {
            let rate = CreditLoop::of_headers(size, paces, delay).rate();
            assert!((rate - expected).abs() < 1e-12, "{rate}, {expected}");
        }
    }

    /// Flits per cycle that leave a lane at most, flit by flit, over a multiple of all periods here.
    fn flit_by_flit(channel: Channel, sizes: &[u32], routing_delay: u64) -> f64 {
        let trip = channel.latency + channel.delay + channel.credit_latency;
        let capacity = channel.capacity as usize;
        let [pace, gap] = [channel.pace, channel.gap].map(u64::from);
        let mut left: Vec<u64> = Vec::new();
        let mut headers = Vec::new();
        for packet in 0..3600 * sizes.len() {
            for flit in 0..sizes[packet % sizes.len()] {
                let last = left.last().copied();
                let freed = left.len().checked_sub(capacity).map(|before| left[before]);
                let mut may = freed.map_or(0, |freed| freed + trip);
                if flit == 0 {
                    may = may.max(last.map_or(0, |last| last + 1)) + routing_delay;
                    headers.push((left.len(), may.max(last.map_or(0, |last| last + gap))));
                }
                let before = if flit == 0 { gap } else { pace };
                left.push(may.max(last.map_or(0, |last| last + before)));
            }
        }
        let [(flits, from), (all, to)] = [headers[200], headers[200 + 3360 * sizes.len()]];
        (all - flits) as f64 / (to - from) as f64
    }

    #[test]
    fn flits_of_wormhole_packets_hold_their_slots_without_the_routing_of_headers() {
        let mut met = 0;
        for (capacity, latency, [pace, gap]) in [
            (3, 5, [1, 1]),
            (8, 5, [1, 1]),
            (5, 9, [2, 2]),
            (16, 3, [1, 1]),
            (1, 4, [1, 1]),
            (7, 20, [3, 3]),
            (5, 9, [2, 1]),
            (7, 6, [3, 1]),
        ] {
            let channel = Channel {
                pace,
                gap,
                ..channel(capacity, latency)
            };
            for routing_delay in [0, 1, 2, 20] {
                for size in [1, 2, 3, 7, 8, 10, 60] {
                    let mean = (([size; 2]), f64::from(size));
                    let bound = CreditLoop::of_flits(channel, mean, routing_delay).rate();
                    let exact = flit_by_flit(channel, &[size], routing_delay.into());
                    assert!(
                        bound >= exact * (1.0 - 1e-9),
                        "{channel:?} {size} {routing_delay}"
                    );
                    met += u32::from(gap == pace && bound < exact * 1.001);
                }
                for sizes in [[1, 9], [4, 5], [2, 60]] {
                    let mean = f64::from(sizes[0] + sizes[1]) / 2.0;
                    let bound = CreditLoop::of_flits(channel, (sizes, mean), routing_delay).rate();
                    let exact = flit_by_flit(channel, &sizes, routing_delay.into());
                    assert!(
                        bound >= exact * (1.0 - 1e-9),
                        "{channel:?} {sizes:?} {routing_delay}"
                    );
                }
            }
        }
        // of one size it is what comes out, nearly everywhere
        assert!(met > 120, "{met} of 168");
    }

    #[test]
    fn several_sizes_have_a_bound_that_no_single_size_exceeds() {
        let mixed = CreditLoop::new(channel(64, 195), [4, 16]).rate();
        for size in 4..=16 {
            assert!(CreditLoop::new(channel(64, 195), [size, size]).rate() <= mixed);
        }
    }
}
