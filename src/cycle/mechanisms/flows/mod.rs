//! Flows: senders that a host asks for a packet when its channel is free (D27 to D35 of the model).
//!
//! Stages: `Slot::Admit` (flows that may go from now on, packets that processes make), the head of a lane in `Slot::Inject`,
//! `Slot::Notify` (what was delivered); only where the plan has flows
//! Reads: delivered packets
//! Writes: its own state, host visit lists
//! Cost: O(log flows of the shard) per packet; a flow that waits costs nothing
//!
//! # Rules
//! 1. Everything that happens to a flow at a known cycle is in one heap of the shard: its start and stop, changes of its limit,
//!    its next packet, its eligible cycle, acknowledgements.
//! 2. A contender of a lane can go now; whatever may make a flow one, or end it, ends in `Flows::refresh`, which
//!    asks all conditions anew. Looks without a reason change nothing.
//!
//! # Deviations
//! None. References: [`VIRTUAL_CLOCK`](crate::references::VIRTUAL_CLOCK)

mod arrive;
mod bucket;
mod build;
pub mod flow;
mod fork;
mod group;
pub mod lane;
pub mod limit;
mod make;
mod ready;
mod session;
mod show;
mod slots;

pub use arrive::Tails;

pub(in crate::cycle) use arrive::FlowsAboard;
pub use build::{Flowing, lane_of};

use self::bucket::{Buckets, next_debt};
use self::flow::{Clock, Flow, Made, Maker, NEVER};
use self::group::Group;
use self::lane::{Lane, Pick};
use self::limit::LastStart;
use self::make::Wake;
use self::ready::rate_of;
use self::session::Session;
use self::slots::SlotClock;
use crate::cycle::joints::{Supply, Taken};
use crate::cycle::snapshot::{Persistent, Resume};
use crate::cycle::state::wheel::Wheel;
use crate::fabric::components::NONE;
use crate::fabric::rows::PortRow;
use crate::fabric::source_queue::SourceQueues;
use crate::plan::{Limit, Scheduler, Slots};
use crate::traffic::{Gap, Process, SizeDistribution};
use bevy_ecs::resource::Resource;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What does not change.
#[derive(Debug)]
struct Given {
    scheduler: Scheduler,
    /// Most packets in the queue of a flow.
    bound: Option<u32>,
    /// The same of a probe flow.
    probes: Option<u32>,
    /// Packet sizes of each class.
    sizes: Vec<SizeDistribution>,
    /// Process of each maker.
    processes: Vec<Option<Arc<dyn Process>>>,
    /// Slots of each class.
    slots: Vec<Option<Slots>>,
    /// Classes whose limits and windows senders set.
    is_controlled: Vec<bool>,
    /// Classes whose flows have no start cycle before they are admitted or begin by themselves.
    asks: Vec<bool>,
    /// Changes of limits.
    limits: Vec<Limit>,
    /// Rows and starts of the flows of each phase that is not open from the beginning.
    phases: Vec<Vec<(u32, u64)>>,
    /// Port of the first host.
    first_port: PortRow,
}

/// All flows of a shard, by source host and id.
#[derive(Resource, Debug, Serialize, Deserialize)]
pub struct Flows {
    #[serde(skip)]
    given: Given,
    rows: Vec<Flow>,
    makers: Vec<Maker>,
    /// By row, where lanes are shared by virtual clocks.
    clocks: Vec<Clock>,
    lanes: Vec<Lane>,
    groups: Vec<Group>,
    slot_clocks: Vec<SlotClock>,
    /// By row, where flows are tried: those of probe flows.
    sessions: Vec<Option<Session>>,
    buckets: Buckets,
    /// Row of the lane of each source queue, `NONE` where it has no flow.
    lane_of: Vec<u32>,
    /// Number of the next packet, `[host][class]`.
    numbers: Vec<u32>,
    /// What is due, by [`Wake::code`].
    wakes: Wheel,
    /// Lanes whose host is to be visited.
    asks: Vec<u32>,
    /// Packets in the queues of flows.
    waiting: u64,
}

impl Default for Given {
    /// Of a state that is being restored, until it takes over what was built.
    fn default() -> Self {
        Self {
            scheduler: Scheduler::default(),
            bound: None,
            probes: None,
            sizes: Vec::new(),
            processes: Vec::new(),
            slots: Vec::new(),
            is_controlled: Vec::new(),
            asks: Vec::new(),
            limits: Vec::new(),
            phases: Vec::new(),
            first_port: PortRow(0),
        }
    }
}

impl Persistent for Flows {
    fn resume(&mut self, mut built: Self, how: &Resume<'_>) {
        self.given = std::mem::take(&mut built.given);
        if how.fork {
            self.fork(built, how.now);
        }
    }
}

impl Flows {
    /// First cycle in which something is due.
    #[inline]
    pub fn next(&self) -> u64 {
        self.wakes.next()
    }

    /// Packets in the queues of flows.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// The flows, by row.
    pub fn rows(&self) -> &[Flow] {
        &self.rows
    }

    /// A phase opens: its flows start their time after cycle `from`.
    pub fn open(&mut self, phase: usize, from: u64) {
        for number in 0..self.given.phases[phase].len() {
            let (row, start) = self.given.phases[phase][number];
            self.rows[row as usize].active.0 = from + start;
            self.wake(row, from + start);
        }
    }

    /// The flow in this row, whose start cycle was not known, starts in cycle `at`: it is admitted, or waits for nothing any
    /// more.
    pub fn admit(&mut self, row: u32, at: u64) {
        let flow = &mut self.rows[row as usize];
        flow.active.0 = at;
        if let Some(maker) = self.makers.get_mut(flow.maker as usize) {
            let process = &self.given.processes[flow.maker as usize];
            let gap = process
                .as_ref()
                .map(|process| process.gap(&mut maker.state, &mut maker.arrivals));
            if let Some(Gap::After(cycles)) = gap {
                self.wakes.push(at + cycles, Wake::Make(row).code());
            }
            if maker.clock != NONE {
                self.wakes.push(at, Wake::Hold(row).code());
            }
        }
        self.wake(row, at);
    }

    /// The flow in this row begins in cycle `at`; false if it has begun before.
    pub fn begin(&mut self, row: u32, at: u64) -> bool {
        let is_first = self.rows[row as usize].active.0 == NEVER;
        if is_first {
            self.admit(row, at);
        }
        is_first
    }

    /// So many packets of the flow or group in this row count as acknowledged from cycle `at` on.
    pub fn acknowledge(&mut self, row: u32, packets: u32, at: u64) {
        let wake = Wake::Acknowledged(row, packets);
        self.wakes.push(at, wake.code());
    }

    /// The next packet of a flow starts.
    fn start(&mut self, row: u32, now: u64) -> Option<Taken> {
        let size = self.size_of(row);
        let flow = &mut self.rows[row as usize];
        let lane = &mut self.lanes[flow.lane as usize];
        let scheduler = self.given.scheduler;
        let rate = rate_of(flow, lane.pace, scheduler);
        let debt = next_debt(flow, lane.pace, scheduler, size, now);
        let clock = self.clocks.get_mut(row as usize);
        lane.start_flow(scheduler, (flow, clock), size, rate, now);
        flow.start(LastStart {
            at: now,
            flits: size,
            debt,
        });
        self.start_of_group(row, size, now);
        let made = self.next_packet(row, now)?;
        let flow = &self.rows[row as usize];
        self.waiting -= u64::from(flow.is_process);
        let taken = flow.taken(made, false, !flow.is_process);
        let lane = flow.lane as usize;
        self.refresh(row, now);
        if scheduler.has_clocks() {
            self.lanes[lane].reach(&self.rows);
        }
        Some(taken)
    }

    /// Takes the next packet of a flow; one that is backlogged makes it.
    fn next_packet(&mut self, row: u32, now: u64) -> Option<Made> {
        let size = self.size_of(row);
        let flow = &mut self.rows[row as usize];
        if flow.is_process {
            let maker = &mut self.makers[flow.maker as usize];
            maker.flits -= u64::from(size);
            if let Some(clock) = self.slot_clocks.get_mut(maker.clock as usize) {
                clock.queued -= 1;
            }
            return maker.queue.pop_front();
        }
        let size = flow.take(size);
        let sequence = self.number(row);
        self.draw(row);
        Some(Made {
            created: now,
            sequence,
            size,
        })
    }

    /// Size of the next packet of a flow \[flits\].
    #[inline]
    fn size_of(&self, row: u32) -> u16 {
        let flow = &self.rows[row as usize];
        if flow.is_process {
            let queue = &self.makers[flow.maker as usize].queue;
            queue.front().map_or(0, |made| made.size)
        } else {
            flow.next_size
        }
    }

    /// Number of the packet that a flow makes now.
    fn number(&mut self, row: u32) -> u32 {
        let flow = &self.rows[row as usize];
        let classes = self.given.sizes.len();
        let host = self.host_of(flow.lane);
        let number = &mut self.numbers[host * classes + usize::from(flow.class)];
        *number += 1;
        *number - 1
    }

    /// Row of the host of a lane.
    fn host_of(&self, lane: u32) -> usize {
        let port = self.lanes[lane as usize].port;
        port.minus(self.given.first_port) as usize
    }

    /// Draws the size of the next packet of a backlogged flow.
    fn draw(&mut self, row: u32) {
        let flow = &mut self.rows[row as usize];
        let sizes = &self.given.sizes[usize::from(flow.class)];
        let size = match self.makers.get_mut(flow.maker as usize) {
            Some(maker) => sizes.draw(&mut maker.sizes),
            None => sizes.largest(),
        };
        flow.next_size = u64::from(size).min(flow.left) as u16;
    }
}

impl Supply for Flows {
    #[inline]
    fn candidate(&mut self, queues: &SourceQueues, queue: usize, now: u64) -> Option<u16> {
        let front = queues.front(queue);
        let number = self.lane_of[queue];
        let Some(lane) = self.lanes.get_mut(number as usize) else {
            return front.map(|front| front.size);
        };
        if self.buckets.are_there() {
            return self.buckets.candidate(number, front);
        }
        match lane.pick(self.given.scheduler, &self.rows, front, now)? {
            Pick::Queue => front.map(|front| front.size),
            Pick::Flow(row) => Some(self.size_of(row)),
        }
    }

    fn take(&mut self, queues: &mut SourceQueues, queue: usize, now: u64) -> Option<Taken> {
        let number = self.lane_of[queue];
        let scheduler = self.given.scheduler;
        let Some(lane) = self.lanes.get_mut(number as usize) else {
            let (packet, drained) = queues.pop(queue)?;
            return Some(Taken::queued(packet, drained));
        };
        if self.buckets.are_there() {
            return self.take_entered(queues, (queue, number), now);
        }
        let taken = match lane.take()? {
            Pick::Queue => {
                let (packet, _) = queues.pop(queue)?;
                lane.start_queue(scheduler, packet.size, now);
                Taken::queued(packet, false)
            }
            Pick::Flow(row) => self.start(row, now)?,
        };
        let lane = &self.lanes[number as usize];
        let tick = lane.tick(scheduler);
        let drained = queues.front(queue).is_none() && tick.is_none_or(|tick| tick > now);
        if let Some(tick) = tick.filter(|&tick| tick > now) {
            self.wake_lane(number, tick);
        }
        // the lane that sends asks for no visit
        self.asks.clear();
        Some(Taken { drained, ..taken })
    }
}
