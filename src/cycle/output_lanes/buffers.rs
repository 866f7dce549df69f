//! State behind the crossbar: the packets that wait in output lanes, and the channels that take them.
//!
//! A lane's waiting packets are a list through [`Packet::next`](crate::fabric::Packet); the cycle from which a
//! packet may be taken is in its record. Channels are visited by an agenda of their own, a ring as the
//! calendar's; [`Calendar`](crate::cycle::calendar::Calendar) keeps the same cycle from being jumped over.

use super::OPEN_END;
use crate::fabric::components::NONE;
use serde::{Deserialize, Serialize};

/// Waiting packets of one output lane.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct WaitingLane {
    /// First packet.
    pub head: u32,
    /// Last packet.
    pub tail: u32,
    /// Flits of all of them.
    pub flits: u32,
    /// First cycle in which the crossbar can pass the next packet to this lane.
    pub free_at: u64,
    /// Queue of the packet that is half-way through the crossbar (larger than the buffer).
    pub queue: u32,
    /// Its input port row.
    pub input: u32,
}

/// The channel of one output.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct OutChannel {
    /// First cycle in which it can take the next packet.
    pub free_at: u64,
    /// Cycle in which it took its latest packet.
    pub taken_at: u64,
    /// Lane row of that packet.
    pub lane: u32,
    /// Size of the latest packet \[flits\].
    pub flits: u16,
    /// Lanes with waiting packets.
    pub waiting: u16,
    /// Lane round robin: the lane that is asked first.
    pub pointer: u8,
    /// On the agenda.
    pub scheduled: bool,
}

/// Output lanes of a shard; empty without `output_lane_buffer`.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct OutputLanes {
    /// Per lane row.
    pub lanes: Vec<WaitingLane>,
    /// Per port row.
    pub channels: Vec<OutChannel>,
    /// Channels to visit, by cycle.
    agenda: Vec<Vec<u32>>,
}

impl OutputLanes {
    /// Empty buffers for the given rows; visits lie up to `horizon` cycles ahead.
    pub fn new(ports: usize, lanes: usize, horizon: u64) -> Self {
        let lane = WaitingLane {
            head: NONE,
            tail: NONE,
            flits: 0,
            free_at: 0,
            queue: NONE,
            input: NONE,
        };
        let channel = OutChannel {
            free_at: 0,
            taken_at: 0,
            lane: NONE,
            flits: 0,
            waiting: 0,
            pointer: 0,
            scheduled: false,
        };
        Self {
            lanes: vec![lane; lanes],
            channels: vec![channel; ports],
            agenda: vec![Vec::new(); (horizon + 2).next_power_of_two() as usize],
        }
    }

    /// Channels to visit in cycle `at`; there are some only with the option.
    #[inline]
    pub fn agenda(&mut self, at: u64) -> &mut Vec<u32> {
        let mask = self.agenda.len() as u64 - 1;
        &mut self.agenda[(at & mask) as usize]
    }

    /// Whether a channel is to be visited in cycle `now`.
    #[inline]
    pub fn is_due(&self, now: u64) -> bool {
        let mask = (self.agenda.len() as u64).wrapping_sub(1);
        self.agenda
            .get((now & mask) as usize)
            .is_some_and(|due| !due.is_empty())
    }

    /// Flits of the lane's packet on the channel of `out` that start crossing at `now` or later.
    #[inline]
    fn leaving(&self, lane: u32, out: u32, step: u16, now: u64) -> u32 {
        let channel = &self.channels[out as usize];
        if channel.lane != lane {
            return 0;
        }
        let gone = (now - channel.taken_at).div_ceil(u64::from(step));
        u64::from(channel.flits).saturating_sub(gone) as u32
    }

    /// Largest packet the lane is open for in cycle `now`, before the channel grants of this cycle.
    #[inline]
    pub fn open_for(&self, lane: u32, out: u32, buffer: u32, step: u16, now: u64) -> u32 {
        let waiting = &self.lanes[lane as usize];
        if waiting.free_at > now {
            return 0;
        }
        if waiting.head == NONE {
            return u32::MAX;
        }
        buffer.saturating_sub(waiting.flits + self.leaving(lane, out, step, now))
    }

    /// First cycle, maybe past, in which the lane is open for a packet; `None`: not before the channel takes
    /// one more packet of this lane.
    pub fn opens_at(&self, lane: u32, out: u32, buffer: u32, step: u16, flits: u16) -> Option<u64> {
        let waiting = &self.lanes[lane as usize];
        if waiting.free_at == OPEN_END {
            return None;
        }
        if waiting.head == NONE {
            return Some(waiting.free_at);
        }
        let spare = buffer.checked_sub(waiting.flits + u32::from(flits))?;
        let channel = &self.channels[out as usize];
        if channel.lane != lane || spare >= u32::from(channel.flits) {
            return Some(waiting.free_at);
        }
        let must_leave = u64::from(u32::from(channel.flits) - spare);
        let left = channel.taken_at + (must_leave - 1) * u64::from(step) + 1;
        Some(left.max(waiting.free_at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `open_for` and `opens_at` say the same, and count flit by flit what D18 says.
    #[test]
    fn space_comes_free_with_the_flits_that_leave() {
        for (step, waiting, buffer) in [(1, 3, 10), (3, 3, 10), (2, 5, 12), (4, 9, 9)] {
            let mut lanes = OutputLanes::new(1, 2, 64);
            lanes.channels[0] = OutChannel {
                taken_at: 100,
                lane: 1,
                flits: 7,
                ..lanes.channels[0]
            };
            assert_eq!(lanes.open_for(1, 0, buffer, step, 101), u32::MAX);
            lanes.lanes[1] = WaitingLane {
                head: 5,
                tail: 5,
                flits: waiting,
                ..lanes.lanes[1]
            };
            lanes.lanes[0] = lanes.lanes[1];
            for now in 101..140u64 {
                let leaving = (0..7).filter(|k| 100 + k * u64::from(step) >= now).count() as u32;
                let open = buffer.saturating_sub(waiting + leaving);
                assert_eq!(lanes.open_for(1, 0, buffer, step, now), open);
                assert_eq!(lanes.open_for(0, 0, buffer, step, now), buffer - waiting);
                for flits in 1..=buffer as u16 {
                    let at = lanes.opens_at(1, 0, buffer, step, flits);
                    let is_open = at.is_some_and(|at| at <= now);
                    assert_eq!(is_open, u32::from(flits) <= open, "{flits} flits at {now}");
                }
            }
        }
    }
}
