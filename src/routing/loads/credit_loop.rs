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
//! A wormhole header is routed when it is the first of its queue: its first flit leaves a routing delay later than the cycle behind
//! that in which the last flit before it left. So a queue passes n flits in (n - 1) * pace + 1 + routing delay.

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

    /// Of wormhole packets of `size` flits in the mean, which leave a queue at that pace at least \[cycles per flit\].
    pub fn of_headers(size: f64, pace: u32, routing_delay: u32) -> Self {
        Self {
            flits: size,
            cycles: (size - 1.0) * f64::from(pace) + 1.0 + f64::from(routing_delay),
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
        let rate = |size, pace, delay| CreditLoop::of_headers(size, pace, delay).rate();
        assert_eq!(rate(8.0, 1, 1), 8.0 / 9.0);
        assert_eq!(rate(1.0, 1, 1), 0.5);
        assert_eq!(rate(8.0, 1, 0), 1.0);
        // every second cycle a flit leaves: the header is routed in between
        assert_eq!(rate(8.0, 2, 1), 0.5);
        assert_eq!(rate(8.0, 2, 3), 8.0 / 18.0);
    }

    #[test]
    fn several_sizes_have_a_bound_that_no_single_size_exceeds() {
        let mixed = CreditLoop::new(channel(64, 195), [4, 16]).rate();
        for size in 4..=16 {
            assert!(CreditLoop::new(channel(64, 195), [size, size]).rate() <= mixed);
        }
    }
}
