//! Why a packet was not granted in a cycle: what its input, its outputs and their credits were before.

use super::look::Looker;
use super::story::Reason;
use crate::cycle::Columns;
use crate::fabric::rows::{LaneRow, PortRow};

/// State of the ports of a switch, or of a host, after a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ports {
    shard: usize,
    /// First port.
    first: PortRow,
    /// First free cycles: (input, output).
    free: Vec<(u64, u64)>,
    /// Flits sent by every lane.
    sent: Vec<u32>,
}

impl Looker {
    /// The ports beside the one in row `port`.
    pub(super) fn ports(&self, view: &dyn Columns, port: PortRow) -> Ports {
        let (ins, outs) = (view.ins(), view.outs());
        let place = view.place();
        let beside = |row: &PortRow| {
            let are_switches = !place.is_host(port) && !place.is_host(*row);
            *row == port || (are_switches && ins[*row].owner == ins[port].owner)
        };
        let before = (0..=port.0).rev().map(PortRow);
        let first = before.take_while(beside).last().unwrap_or(port);
        let rows = (first.0..ins.len() as u32).map(PortRow);
        let rows: Vec<_> = rows.take_while(beside).collect();
        let free = |&row| (ins[row].free_at, outs[row].free_at);
        let lanes = rows
            .iter()
            .flat_map(|&row| view.shared().numbering.lanes_of(row));
        Ports {
            shard: self.shard,
            first,
            free: rows.iter().map(free).collect(),
            sent: lanes.map(|lane| view.sent(lane)).collect(),
        }
    }

    /// The ports before this cycle, when the packet was there already.
    fn before(&self, now: &Ports) -> Option<&Ports> {
        let before = self.before.as_ref();
        before.filter(|before| (before.shard, before.first) == (now.shard, now.first))
    }

    /// The input had no place for one more packet before this cycle's arbitration.
    pub(super) fn input_busy(&self, view: &dyn Columns, port: PortRow) -> Option<(Reason, u64)> {
        let input = &view.ins()[port];
        let speedup = view.shared().switch.speedup;
        if speedup != 1 {
            let is_full = speedup != u16::MAX && input.leaving >= speedup;
            return is_full.then_some((Reason::InputBusy, 0));
        }
        let now = self.found.ports.as_ref()?;
        let free_at = match self.before(now) {
            Some(before) => before.free[port.minus(before.first) as usize].0,
            None => input.free_at,
        };
        (free_at > self.cycle).then_some((Reason::InputBusy, free_at))
    }

    /// Flits of the packet that a lane of these ports has started in this cycle.
    pub(super) fn sent_now(&self, view: &dyn Columns, lane: LaneRow) -> u32 {
        let now = self.found.ports.as_ref();
        now.and_then(|now| self.before(now)).map_or(0, |before| {
            let place = view.shared().numbering.place(before.first, lane);
            let sent = before.sent[usize::from(place)];
            view.sent(lane).wrapping_sub(sent)
        })
    }

    /// Why an output (or the channel of a host) did not take the packet.
    pub(super) fn refused(&self, view: &dyn Columns, lane: LaneRow, size: u16) -> (Reason, u64) {
        let shared = view.shared();
        let out = shared.numbering.port(lane);
        let port = &view.outs()[out];
        let now = self.found.ports.as_ref();
        let before = now.and_then(|now| self.before(now));
        let was = before.map(|before| before.free[out.minus(before.first) as usize].1);
        let busy_until = was.unwrap_or(port.free_at);
        if busy_until > self.cycle {
            return (Reason::OutputBusy, busy_until);
        }
        // what this lane sent in this cycle was in its hands before
        let sent = self.sent_now(view, lane);
        let credits = view.credits_in(shared.credit_lane(lane), self.cycle);
        if !port.is_boundless() && credits + sent < u32::from(size) {
            return (Reason::NoCredit, u64::from(credits));
        }
        let open = view.shown().open.filter(|_| !view.place().is_host(out));
        if let Some(open) = open {
            let room = open(view.world(), lane, self.cycle + 1);
            if was.is_some_and(|was| was == port.free_at) && room < u32::from(size) {
                return (Reason::OutputLaneFull, u64::from(room));
            }
        }
        (Reason::LostArbitration, 0)
    }
}
