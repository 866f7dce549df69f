//! Groups: flows of a host that share one limit, one window and one last start (D44 of the model).
//!
//! A group has a gate, the same on all lanes of its flows. Lanes know the cycle from which it is open, so choosing a
//! packet asks one number more and visits no flow.
//! Cost: O(lanes of the group) per packet, acknowledgement and change.

use super::Flows;
use super::flow::{Flow, NEVER};
use super::lane::Lane;
use super::limit::{LastStart, debt, eligible, wide};
use crate::fabric::components::NONE;
use crate::plan::Limit;
use serde::{Deserialize, Serialize};

/// Flows of a class at one host.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Group {
    /// Row of its first flow, which it is named by.
    first: u32,
    /// Rows of the lanes of its flows.
    lanes: Vec<u32>,
    limit: Limit,
    /// Packets that may be on their way at once; `u32::MAX` = any number.
    window: u32,
    outstanding: u32,
    last: Option<LastStart>,
}

impl Group {
    /// The group of a flow, so far alone.
    pub(super) fn new(first: u32) -> Self {
        Self {
            first,
            lanes: Vec::new(),
            limit: Limit::None,
            window: u32::MAX,
            outstanding: 0,
            last: None,
        }
    }

    /// A lane has flows of it.
    pub(super) fn add(&mut self, lane: u32) {
        if !self.lanes.contains(&lane) {
            self.lanes.push(lane);
        }
    }

    /// Its eligible cycle, on a channel of `pace` cycles per flit; `None` = never.
    fn eligible(&self, pace: u16) -> Option<u64> {
        match (self.limit, self.last) {
            (Limit::Rate(0), _) => None,
            (_, None) => Some(0),
            (limit, Some(last)) => eligible(limit, last, pace),
        }
    }

    /// Its limit, eligible cycle, window and outstanding packets, for who looks on.
    pub(super) fn state(&self, pace: u16) -> (Limit, Option<u64>, Option<u32>, u32) {
        let window = (self.window < u32::MAX).then_some(self.window);
        (self.limit, self.eligible(pace), window, self.outstanding)
    }

    /// From when on its gate is open; [`NEVER`]: not before something happens.
    fn opens(&self, pace: u16) -> u64 {
        match self.eligible(pace) {
            Some(cycle) if self.outstanding < self.window => cycle,
            _ => NEVER,
        }
    }

    /// A packet of one of its flows starts.
    fn start(&mut self, flits: u16, now: u64, pace: u16) {
        let debt = match (self.limit, self.last, self.eligible(pace)) {
            (Limit::Rate(rate), Some(last), Some(from)) => {
                debt(flits, now, from, rate.into(), last)
            }
            _ => wide(flits),
        };
        self.last = Some(LastStart {
            at: now,
            flits,
            debt,
        });
        self.outstanding += 1;
    }
}

/// Number of the group that a flow is in.
fn group_of(lanes: &[Lane], flow: &Flow) -> Option<usize> {
    let group = lanes[flow.lane as usize].group;
    (group != NONE).then_some(group as usize)
}

impl Flows {
    /// The row that the sender of the flow in a row is named by: that of the first flow of its group, if it is in one.
    pub fn speaker(&self, row: u32) -> u32 {
        let group = group_of(&self.lanes, &self.rows[row as usize]);
        group.map_or(row, |group| self.groups[group].first)
    }

    /// The limit and window that the sender of a flow or group starts with; from now on it counts what is outstanding.
    pub fn set_control(&mut self, row: u32, limit: Limit, window: Option<u32>) {
        let flow = &mut self.rows[row as usize];
        let window = window.unwrap_or(u32::MAX);
        if let Some(number) = group_of(&self.lanes, flow) {
            let group = &mut self.groups[number];
            (group.limit, group.window) = (limit, window);
            return self.move_gate(number, 0);
        }
        flow.set_limit(limit);
        flow.window = window;
    }

    /// Another limit and window of a flow or group from cycle `from` on.
    pub fn control(&mut self, row: u32, limit: Option<Limit>, window: Option<u32>, from: u64) {
        let flow = &mut self.rows[row as usize];
        if let Some(number) = group_of(&self.lanes, flow) {
            let group = &mut self.groups[number];
            group.limit = limit.unwrap_or(group.limit);
            group.window = window.unwrap_or(group.window);
            return self.move_gate(number, from);
        }
        flow.window = window.unwrap_or(flow.window);
        if let Some(limit) = limit {
            flow.set_limit(limit);
        }
        self.wake(row, from);
    }

    /// So many packets of the flow or group in this row count as acknowledged from now on.
    pub(super) fn lower(&mut self, row: u32, packets: u32, now: u64) {
        let flow = &mut self.rows[row as usize];
        if let Some(number) = group_of(&self.lanes, flow) {
            let outstanding = &mut self.groups[number].outstanding;
            *outstanding = outstanding.saturating_sub(packets);
            return self.move_gate(number, now);
        }
        flow.outstanding = flow.outstanding.saturating_sub(packets);
        self.refresh(row, now);
    }

    /// A packet of the flow in this row has started: its group counts it.
    pub(super) fn start_of_group(&mut self, row: u32, flits: u16, now: u64) {
        let flow = &self.rows[row as usize];
        if let Some(number) = group_of(&self.lanes, flow) {
            let pace = self.lanes[flow.lane as usize].pace;
            self.groups[number].start(flits, now, pace);
            self.move_gate(number, now + 1);
        }
    }

    /// From when on the gate is open has changed; what it says of the cycles before `from` has been looked at.
    fn move_gate(&mut self, number: usize, from: u64) {
        let Some(&first) = self.groups[number].lanes.first() else {
            return;
        };
        let opens = self.groups[number].opens(self.lanes[first as usize].pace);
        for index in 0..self.groups[number].lanes.len() {
            let number = self.groups[number].lanes[index];
            let lane = &mut self.lanes[number as usize];
            let before = std::mem::replace(&mut lane.opens, opens);
            if before < from && opens > from && lane.has_ready() {
                // the source queue may be the candidate now, and fit where the flow did not
                self.wake_lane(number, from);
            } else if before.max(opens) >= from
                && let Some(tick) = lane.tick(self.given.scheduler)
            {
                // a lane that finds the gate closed asks for no visit until somebody wakes it
                self.wake_lane(number, tick.max(from));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Delays of entry 3, shift 1, at 2 cycles per flit: a packet of 4 flits takes 8 cycles and 3 * 4 more.
    #[test]
    fn a_packet_of_any_flow_closes_the_gate_for_all() {
        let mut group = Group::new(0);
        group.limit = Limit::Delay { entry: 3, shift: 1 };
        assert_eq!(group.opens(2), 0);
        group.start(4, 100, 2);
        assert_eq!(group.opens(2), 120);
        group.start(1, 125, 2);
        assert_eq!(group.opens(2), 125 + 2 + 3);
        group.window = 2;
        assert_eq!(group.opens(2), NEVER);
        group.outstanding = 1;
        group.limit = Limit::None;
        assert_eq!(group.opens(2), 125);
        group.limit = Limit::Rate(0);
        assert_eq!(group.opens(2), NEVER);
    }

    /// A third of a flit per cycle, by packets of 1 flit at their first cycles: no drift.
    #[test]
    fn the_debt_is_that_of_the_group() {
        let mut group = Group::new(0);
        let rate = (1 << 32) / 3 + 1;
        group.limit = Limit::Rate(rate);
        group.start(1, 7, 1);
        for number in 1..1000_u64 {
            let at = group.opens(1);
            assert_eq!(at, 7 + (number << 32).div_ceil(rate), "{number}");
            group.start(1, at, 1);
        }
    }
}
