//! State behind the crossbar: the packets that wait in output lanes, and the channels that take them.
//!
//! A lane's waiting packets are a list through [`Packet::next`](crate::fabric::Packet); the cycle from which a
//! packet may be taken is in its record.

use crate::cycle::snapshot::Persistent;
use crate::fabric::mask::LaneMask;
use crate::fabric::rows::{LaneRow, PacketRow, PortRow, QueueRow};
use bevy_ecs::component::Component;
use serde::{Deserialize, Serialize};

/// Held until the channel takes the packet: no cycle is known yet.
pub(in crate::cycle) const OPEN_END: u64 = u64::MAX;

/// Waiting packets of one output lane; of single flits only how many there are, and the first cycle in which the crossbar can pass the
/// next.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct WaitingLane {
    /// First packet.
    pub head: PacketRow,
    /// Last packet.
    pub tail: PacketRow,
    /// Flits of all of them.
    pub flits: u32,
    /// First cycle in which the crossbar can pass the next packet to this lane.
    pub free_at: u64,
    /// Queue of the packet that is half-way through the crossbar (larger than the buffer).
    pub queue: QueueRow,
    /// Its input.
    pub input: PortRow,
}

/// The channel of one output.
#[derive(Component, Clone, Copy, Debug, Serialize, Deserialize)]
pub struct OutChannel {
    /// First cycle in which it can take the next packet.
    pub free_at: u64,
    /// Cycle in which it took its latest packet.
    pub taken_at: u64,
    /// Lane of that packet.
    pub lane: LaneRow,
    /// Size of the latest packet \[flits\].
    pub flits: u16,
    /// Lanes with waiting packets.
    pub waiting: LaneMask,
    /// Lane round robin: the lane that is asked first.
    pub pointer: u8,
    /// A visit is arranged.
    pub scheduled: bool,
    /// Time that it has lost lately (D37) \[cycles\]; [`Self::UNASKED`] where nobody asks.
    pub idle: u32,
}

impl Persistent for WaitingLane {}

impl Default for WaitingLane {
    fn default() -> Self {
        Self {
            head: PacketRow::NONE,
            tail: PacketRow::NONE,
            flits: 0,
            free_at: 0,
            queue: QueueRow::NONE,
            input: PortRow::NONE,
        }
    }
}

impl Persistent for OutChannel {}

impl Default for OutChannel {
    fn default() -> Self {
        Self {
            free_at: 0,
            taken_at: 0,
            lane: LaneRow::NONE,
            flits: 0,
            waiting: LaneMask::EMPTY,
            pointer: 0,
            scheduled: false,
            idle: Self::UNASKED,
        }
    }
}

impl OutChannel {
    /// Nobody asks for the time that a channel loses.
    pub const UNASKED: u32 = u32::MAX;

    /// It takes a packet in cycle `now`, after the one that it has taken before; `most`: what the largest packet takes \[flits\].
    pub fn lose(&mut self, now: u64, (flits, most): (u16, u16), step: u16) {
        let time = |flits: u16| u32::from(flits) * u32::from(step);
        let lost = now - (self.taken_at + u64::from(time(self.flits)));
        let idle = (u64::from(self.idle) + lost).min(time(most).into()) as u32;
        self.idle = idle.saturating_sub(time(flits) / 8);
    }

    /// Flits of its packet, when that is of `lane`, that start crossing at `now` or later.
    #[inline]
    pub fn leaving(&self, lane: LaneRow, step: u16, now: u64) -> u32 {
        if self.lane != lane {
            return 0;
        }
        let gone = (now - self.taken_at).div_ceil(u64::from(step));
        u64::from(self.flits).saturating_sub(gone) as u32
    }
}

impl WaitingLane {
    /// Largest packet the lane is open for in cycle `now`, before the channel grants of this cycle; `leaving`: see
    /// [`OutChannel::leaving`].
    #[inline]
    pub fn open_for(&self, leaving: u32, buffer: u32, now: u64) -> u32 {
        if self.free_at > now {
            return 0;
        }
        if self.flits == 0 {
            return u32::MAX;
        }
        buffer.saturating_sub(self.flits + leaving)
    }

    /// First cycle, maybe past, in which the lane, in row `lane`, is open for a packet; `None`: not before the channel
    /// takes one more packet of this lane.
    pub fn opens_at(
        &self,
        channel: &OutChannel,
        lane: LaneRow,
        buffer: u32,
        step: u16,
        flits: u16,
    ) -> Option<u64> {
        if self.free_at == OPEN_END {
            return None;
        }
        if self.flits == 0 {
            return Some(self.free_at);
        }
        let spare = buffer.checked_sub(self.flits + u32::from(flits))?;
        if channel.lane != lane || spare >= u32::from(channel.flits) {
            return Some(self.free_at);
        }
        let must_leave = u64::from(u32::from(channel.flits) - spare);
        let left = channel.taken_at + (must_leave - 1) * u64::from(step) + 1;
        Some(left.max(self.free_at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `open_for` and `opens_at` say the same, and count flit by flit what D18 says.
    #[test]
    fn space_comes_free_with_the_flits_that_leave() {
        for (step, flits, buffer) in [(1, 3, 10), (3, 3, 10), (2, 5, 12), (4, 9, 9)] {
            let channel = OutChannel {
                taken_at: 100,
                lane: LaneRow(1),
                flits: 7,
                ..OutChannel::default()
            };
            let open = |waiting: &WaitingLane, lane, now| {
                waiting.open_for(channel.leaving(lane, step, now), buffer, now)
            };
            assert_eq!(open(&WaitingLane::default(), LaneRow(1), 101), u32::MAX);
            let waiting = WaitingLane {
                head: PacketRow(5),
                tail: PacketRow(5),
                flits,
                ..WaitingLane::default()
            };
            for now in 101..140u64 {
                let leaving = (0..7).filter(|k| 100 + k * u64::from(step) >= now).count() as u32;
                let expected = buffer.saturating_sub(flits + leaving);
                assert_eq!(open(&waiting, LaneRow(1), now), expected);
                assert_eq!(open(&waiting, LaneRow(0), now), buffer - flits);
                for flits in 1..=buffer as u16 {
                    let at = waiting.opens_at(&channel, LaneRow(1), buffer, step, flits);
                    let is_open = at.is_some_and(|at| at <= now);
                    assert_eq!(
                        is_open,
                        u32::from(flits) <= expected,
                        "{flits} flits at {now}"
                    );
                }
            }
        }
    }
}
