//! Why a packet was not granted in a cycle: what its input, its outputs and their credits were before.

use super::look::Looker;
use super::story::Reason;
use crate::cycle::Columns;
use crate::cycle::mechanisms::output_lanes::buffers::{OutChannel, WaitingLane};

/// State of the ports of a switch, or of a host, after a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ports {
    shard: usize,
    /// First port row.
    first: u32,
    /// First free cycles: (input, output).
    free: Vec<(u64, u64)>,
    /// Flits sent by every lane.
    sent: Vec<u32>,
}

impl Looker {
    /// The ports beside the one in row `port`.
    pub(super) fn ports(&self, view: &dyn Columns, port: u32) -> Ports {
        let (ins, outs) = (view.ins(), view.outs());
        let hosts = view.place().first_host_port;
        let beside = |row: u32| {
            row == port
                || (port < hosts
                    && row < hosts
                    && ins[row as usize].owner == ins[port as usize].owner)
        };
        let first = (0..=port)
            .rev()
            .take_while(|row| beside(*row))
            .last()
            .unwrap_or(port);
        let rows = (first..ins.len() as u32).take_while(|row| beside(*row));
        let free: Vec<_> = rows
            .map(|row| (ins[row as usize].free_at, outs[row as usize].free_at))
            .collect();
        let shift = view.shared().lane_shift;
        let lanes = first << shift..(first + free.len() as u32) << shift;
        Ports {
            shard: self.shard,
            first,
            free,
            sent: lanes.map(|lane| view.sent(lane)).collect(),
        }
    }

    /// The ports before this cycle, when the packet was there already.
    fn before(&self, now: &Ports) -> Option<&Ports> {
        let before = self.before.as_ref();
        before.filter(|before| (before.shard, before.first) == (now.shard, now.first))
    }

    /// The input had no place for one more packet before this cycle's arbitration.
    pub(super) fn input_busy(&self, view: &dyn Columns, port: u32) -> Option<(Reason, u64)> {
        let input = &view.ins()[port as usize];
        let speedup = view.shared().switch.speedup;
        if speedup != 1 {
            let is_full = speedup != u16::MAX && input.leaving >= speedup;
            return is_full.then_some((Reason::InputBusy, 0));
        }
        let now = self.found.ports.as_ref()?;
        let free_at = match self.before(now) {
            Some(before) => before.free[(port - before.first) as usize].0,
            None => input.free_at,
        };
        (free_at > self.cycle).then_some((Reason::InputBusy, free_at))
    }

    /// Flits of the packet that a lane of these ports has started in this cycle.
    pub(super) fn sent_now(&self, view: &dyn Columns, lane: u32) -> u32 {
        let now = self.found.ports.as_ref();
        now.and_then(|now| self.before(now)).map_or(0, |before| {
            let index = lane - (before.first << view.shared().lane_shift);
            view.sent(lane).wrapping_sub(before.sent[index as usize])
        })
    }

    /// Why an output (or the channel of a host) did not take the packet.
    pub(super) fn refused(&self, view: &dyn Columns, lane: u32, size: u16) -> (Reason, u64) {
        let shared = view.shared();
        let out = lane >> shared.lane_shift;
        let port = &view.outs()[out as usize];
        let now = self.found.ports.as_ref();
        let before = now.and_then(|now| self.before(now));
        let was = before.map(|before| before.free[(out - before.first) as usize].1);
        let busy_until = was.unwrap_or(port.free_at);
        if busy_until > self.cycle {
            return (Reason::OutputBusy, busy_until);
        }
        // what this lane sent in this cycle was in its hands before
        let sent = self.sent_now(view, lane);
        let credit_lane = if shared.switch.pool {
            lane & !shared.lane_mask
        } else {
            lane
        };
        let credits = view.credits_in(credit_lane, self.cycle);
        if !port.boundless && credits + sent < u32::from(size) {
            return (Reason::NoCredit, u64::from(credits));
        }
        if shared.switch.output_lane_buffer > 0 && out < view.place().first_host_port {
            let (buffer, step) = (shared.switch.output_lane_buffer, port.step);
            let next = self.cycle + 1;
            let leaving = view.column::<OutChannel>()[out as usize].leaving(lane, step, next);
            let waiting = &view.column::<WaitingLane>()[lane as usize];
            let room = waiting.open_for(leaving, buffer, next);
            if was.is_some_and(|was| was == port.free_at) && room < u32::from(size) {
                return (Reason::OutputLaneFull, u64::from(room));
            }
        }
        (Reason::LostArbitration, 0)
    }
}
