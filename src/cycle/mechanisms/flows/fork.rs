//! Another plan takes over the flows of a saved state (D64 of the model).
//!
//! Cost: O(flows of the shard + what is due for them), once

use super::flow::NEVER;
use super::{Flows, Wake};
use crate::traffic::Gap;

impl Flows {
    /// In cycle `now`, before any stage; `built` is the state of the other plan before cycle 0. What does not change is
    /// taken over from it before.
    pub(super) fn fork(&mut self, built: Self, now: u64) {
        let of_first = |code: u128| {
            matches!(
                Wake::of(code),
                Wake::Change(..) | Wake::Make(_) | Wake::Tick(_)
            )
        };
        self.wakes.retain(|code| !of_first(code));
        for row in 0..self.rows.len() {
            self.change_row(row, &built);
        }
        for (maker, new) in self.makers.iter_mut().zip(built.makers) {
            (maker.sizes, maker.arrivals) = (new.sizes, new.arrivals);
            (maker.state, maker.source) = (new.state, new.source);
        }
        for (clock, new) in self.slot_clocks.iter_mut().zip(built.slot_clocks) {
            clock.restart(new);
        }
        for (at, code) in built.wakes.into_sorted() {
            let at = match Wake::of(code) {
                Wake::Change(row, number) if at <= now => {
                    let limit = self.given.limits[number as usize];
                    self.rows[row as usize].set_limit(limit);
                    continue;
                }
                Wake::Change(..) => at,
                Wake::Make(row) => {
                    let gap = at - built.rows[row as usize].active.0;
                    now.max(self.rows[row as usize].active.0) + gap
                }
                Wake::Tick(_) => now + at,
                _ => continue,
            };
            self.wakes.push(at, code);
        }
        self.restart_begun(now);
        // whatever has changed counts from now on
        for row in 0..self.rows.len() as u32 {
            let stop = self.rows[row as usize].active.1;
            if stop != NEVER && stop > now {
                self.wakes.push(stop, Wake::Look(row).code());
            }
            self.wake(row, now);
        }
    }

    /// Processes of flows that have begun by themselves (D60): before cycle 0 they have no gap yet. Those of flows that have
    /// not begun draw theirs when they do.
    fn restart_begun(&mut self, now: u64) {
        for (row, flow) in (0..).zip(&self.rows) {
            let class = usize::from(flow.class);
            let Some(maker) = self.makers.get_mut(flow.maker as usize) else {
                continue;
            };
            let process = &self.given.processes[flow.maker as usize];
            let begun = flow.active.0 != NEVER && self.given.asks[class];
            if let Some(process) = process.as_ref().filter(|_| begun)
                && let Gap::After(cycles) = process.gap(&mut maker.state, &mut maker.arrivals)
            {
                let at = now.max(flow.active.0) + cycles;
                self.wakes.push(at, Wake::Make(row).code());
            }
        }
    }

    /// What the other plan says of a flow.
    fn change_row(&mut self, row: usize, built: &Self) {
        let (flow, new) = (&mut self.rows[row], &built.rows[row]);
        let class = usize::from(flow.class);
        flow.weight = new.weight;
        if self.given.slots[class].is_none() {
            flow.active.1 = new.active.1;
        }
        if !flow.is_process {
            flow.next_size = u64::from(new.next_size).min(flow.left) as u16;
        }
        if !self.given.is_controlled[class] {
            flow.set_limit(new.limit());
            // 0 = packets on their way are not counted
            flow.window = new.window;
        }
    }
}
