//! The flows of a lane of a host, and what the scheduler chooses among them (D31, D32 of the model).
//!
//! Contenders stand in a bitset by their places, or in a heap by what the scheduler compares; a heap keeps entries of
//! flows that have left, which are known by their stamps and dropped when they come up.
//! Cost: O(log contenders) per change, or O(places / 64) for round robin; nothing per cycle.

use super::flow::{Clock, Flow};
use super::limit::{LastStart, debt};
use crate::fabric::components::NONE;
use crate::fabric::rows::PortRow;
use crate::fabric::source_queue::Waiting;
use crate::plan::{Scheduler, Unit};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What a lane sends next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pick {
    /// The head of its source queue.
    Queue,
    /// The next packet of the flow in this row.
    Flow(u32),
}

/// The place of the source queue.
const QUEUE: u32 = 0;
/// No place.
const NOWHERE: u32 = u32::MAX;

/// A contender: what is compared, its row, its stamp.
type Entry = Reverse<(u128, u32, u32)>;

/// Flows of one lane of one host.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Lane {
    /// Port of the host.
    pub port: PortRow,
    /// Number of the lane.
    pub number: u8,
    /// Cycles per flit of the channel.
    pub pace: u16,
    /// Rows of its flows, by place - 1.
    rows: Vec<u32>,
    /// Contenders by place; with virtual clocks those that the lane's has reached.
    bits: Vec<u64>,
    /// Contenders by what is compared.
    heap: BinaryHeap<Entry>,
    /// Contenders among its flows.
    ready: u32,
    /// Round robin: the place asked first; with weights: the current place.
    turn: u32,
    /// What is left of the weight of the current place.
    credit: i64,
    /// Virtual clock \[2^-32 cycles\].
    clock: u128,
    /// Rates of the flows that share the lane \[2^-32 flits per cycle\].
    sum: u128,
    /// Cycle, size and debt of the last start of a flow; `None` before the first.
    last: Option<(u64, u16, u64)>,
    /// Group of its flows, [`NONE`] where they are in none.
    pub group: u32,
    /// First cycle in which its group lets them go; `u64::MAX`: not before something happens.
    pub opens: u64,
    /// First cycle for which a look at it is arranged; `u64::MAX` = none.
    pub wake: u64,
    /// What the last look chose.
    picked: Option<Pick>,
}

impl Lane {
    /// A lane without flows.
    pub fn new(port: PortRow, number: u8, pace: u16, scheduler: Scheduler) -> Self {
        let has_current = matches!(scheduler, Scheduler::WeightedRoundRobin(_));
        Self {
            port,
            number,
            pace,
            rows: Vec::new(),
            bits: vec![0],
            heap: BinaryHeap::new(),
            ready: 0,
            turn: if has_current { NOWHERE } else { QUEUE },
            credit: 0,
            clock: 0,
            sum: 0,
            last: None,
            group: NONE,
            opens: 0,
            wake: u64::MAX,
            picked: None,
        }
    }

    /// Adds the flow of a row; returns its place.
    pub fn add(&mut self, row: u32) -> u32 {
        self.rows.push(row);
        let place = self.rows.len() as u32;
        self.bits.resize(place as usize / 64 + 1, 0);
        place
    }

    /// Rows of its flows, in order.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// A flow becomes a contender, with its row and virtual clock; `since`: the cycle from which it could go.
    pub fn join(
        &mut self,
        scheduler: Scheduler,
        (row, flow, time): (u32, &mut Flow, u128),
        since: u64,
        unsent: u64,
    ) {
        flow.is_ready = true;
        flow.stamp = flow.stamp.wrapping_add(1);
        self.ready += 1;
        let key = match scheduler {
            Scheduler::Fifo | Scheduler::LeakyBucket => u128::from(since),
            Scheduler::ShortestRemaining => u128::from(unsent),
            Scheduler::RoundRobin | Scheduler::WeightedRoundRobin(_) => {
                return self.insert(flow.place);
            }
            Scheduler::VirtualClock | Scheduler::Paced if time <= self.clock => {
                return self.insert(flow.place);
            }
            Scheduler::VirtualClock | Scheduler::Paced => time,
        };
        self.heap.push(Reverse((key, row, flow.stamp)));
    }

    /// A contender leaves.
    pub fn leave(&mut self, flow: &mut Flow) {
        flow.is_ready = false;
        flow.stamp = flow.stamp.wrapping_add(1);
        self.ready -= 1;
        self.remove(flow.place);
        if self.ready == 0 {
            self.heap.clear();
        }
    }

    /// Whether a flow contends, be the gate of its group closed.
    #[inline]
    pub fn has_ready(&self) -> bool {
        self.ready > 0
    }

    /// A flow shares the lane at this rate, 0 = no longer.
    pub fn share(&mut self, clock: &mut Clock, rate: u64) {
        self.sum -= u128::from(clock.counted);
        self.sum += u128::from(rate);
        clock.counted = rate;
    }

    /// First cycle in which one of its flows may go, as far as the lane is concerned; `None`: none contends.
    #[inline]
    pub fn tick(&self, scheduler: Scheduler) -> Option<u64> {
        let last = match (self.ready, scheduler) {
            (0, _) => return None,
            (_, Scheduler::Paced) => self.last,
            _ => None,
        };
        let tick = |(at, _, debt): (u64, u16, u64)| at + u128::from(debt).div_ceil(self.sum) as u64;
        Some(last.map_or(self.opens, tick)).filter(|&tick| tick != u64::MAX)
    }

    /// What goes next, `front` the head of the source queue; kept for [`Self::take`].
    pub fn pick(
        &mut self,
        scheduler: Scheduler,
        flows: &[Flow],
        front: Option<&Waiting>,
        now: u64,
    ) -> Option<Pick> {
        let queue = front.map(|_| Pick::Queue);
        let has_flow = self.tick(scheduler).is_some_and(|tick| tick <= now);
        self.picked = match scheduler {
            _ if !(has_flow || scheduler.keeps_turn() && self.opens <= now) => queue,
            Scheduler::Fifo | Scheduler::LeakyBucket => match self.top(flows) {
                Some((since, row)) if front.is_none_or(|front| since < front.created.into()) => {
                    Some(Pick::Flow(row))
                }
                _ => queue,
            },
            Scheduler::ShortestRemaining => self.top(flows).map(|(_, row)| Pick::Flow(row)),
            Scheduler::RoundRobin => self.next(front.is_some(), self.turn),
            Scheduler::WeightedRoundRobin(_) => self.weighted(front.is_some()),
            Scheduler::VirtualClock | Scheduler::Paced => match self.first_from(1) {
                Some(place) => Some(self.at(place)),
                None => self.top(flows).map(|(_, row)| Pick::Flow(row)),
            },
        };
        self.picked
    }

    /// The choice of the last look.
    pub fn take(&mut self) -> Option<Pick> {
        self.picked.take()
    }

    /// A packet of `flits` of the source queue starts. While a gate is closed it takes no turn: the flows behind the gate
    /// would lose theirs, always the same ones.
    pub fn start_queue(&mut self, scheduler: Scheduler, flits: u16, now: u64) {
        if self.opens <= now {
            self.turn(scheduler, QUEUE, 1, flits);
        }
    }

    /// A packet of a flow starts, which shares the lane at `rate` where there are clocks.
    pub fn start_flow(
        &mut self,
        scheduler: Scheduler,
        (flow, clock): (&Flow, Option<&mut Clock>),
        flits: u16,
        rate: u64,
        now: u64,
    ) {
        self.turn(scheduler, flow.place, flow.weight, flits);
        let Some(clock) = clock else {
            return;
        };
        if scheduler == Scheduler::Paced {
            let owed = match (self.last, self.tick(scheduler)) {
                (Some((at, flits_then, owed)), Some(tick)) => {
                    let last = LastStart {
                        at,
                        flits: flits_then,
                        debt: owed,
                    };
                    debt(flits, now, tick, self.sum, last)
                }
                _ => super::limit::wide(flits),
            };
            self.last = Some((now, flits, owed));
        }
        self.clock = self.clock.max(clock.time);
        clock.time = self.clock + (u128::from(flits) << 64) / u128::from(rate);
    }

    /// After the clock has moved: flows that it has reached stand in order of their places.
    pub fn reach(&mut self, flows: &[Flow]) {
        while let Some((key, row)) = self.top(flows) {
            if key > self.clock {
                break;
            }
            self.heap.pop();
            self.insert(flows[row as usize].place);
        }
    }

    /// Pointers of round robin.
    fn turn(&mut self, scheduler: Scheduler, place: u32, weight: u16, flits: u16) {
        match scheduler {
            Scheduler::RoundRobin => self.turn = (place + 1) % (self.rows.len() as u32 + 1),
            Scheduler::WeightedRoundRobin(unit) => {
                if place != self.turn || self.credit <= 0 {
                    (self.turn, self.credit) = (place, weight.into());
                }
                self.credit -= match unit {
                    Unit::Flits => i64::from(flits),
                    Unit::Packets => 1,
                };
            }
            _ => {}
        }
    }

    /// Weighted round robin: the current place while it contends and has credit, else the next.
    fn weighted(&mut self, has_queue: bool) -> Option<Pick> {
        if self.turn == NOWHERE {
            return self.next(has_queue, QUEUE);
        }
        let contends = match self.turn {
            QUEUE => has_queue,
            place => self.contains(place),
        };
        if contends && self.credit > 0 {
            return Some(self.at(self.turn));
        }
        self.next(has_queue, self.turn + 1)
    }

    /// The first contender from a place on, around the circle.
    fn next(&mut self, has_queue: bool, from: u32) -> Option<Pick> {
        if has_queue {
            self.insert(QUEUE);
        } else {
            self.remove(QUEUE);
        }
        let place = self.first_from(from).or_else(|| self.first_from(QUEUE));
        self.remove(QUEUE);
        place.map(|place| self.at(place))
    }

    fn at(&self, place: u32) -> Pick {
        match place {
            QUEUE => Pick::Queue,
            place => Pick::Flow(self.rows[place as usize - 1]),
        }
    }

    /// The contender with the least key.
    fn top(&mut self, flows: &[Flow]) -> Option<(u128, u32)> {
        while let Some(&Reverse((key, row, stamp))) = self.heap.peek() {
            let flow = &flows[row as usize];
            if flow.is_ready && flow.stamp == stamp {
                return Some((key, row));
            }
            self.heap.pop();
        }
        None
    }

    fn insert(&mut self, place: u32) {
        self.bits[place as usize / 64] |= 1 << (place % 64);
    }

    fn remove(&mut self, place: u32) {
        self.bits[place as usize / 64] &= !(1 << (place % 64));
    }

    fn contains(&self, place: u32) -> bool {
        self.bits[place as usize / 64] >> (place % 64) & 1 != 0
    }

    /// The first place in the set from one on, without going around.
    fn first_from(&self, place: u32) -> Option<u32> {
        let word = place as usize / 64;
        let first = self.bits.get(word)? & (u64::MAX << (place % 64));
        let rest = self.bits[word + 1..].iter().copied();
        let mut words = (word..).zip(std::iter::once(first).chain(rest));
        let (word, bits) = words.find(|&(_, bits)| bits != 0)?;
        Some(word as u32 * 64 + bits.trailing_zeros())
    }
}
