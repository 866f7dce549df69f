//! One shard: a world, its schedule, its mail.

use crate::cycle::profile::StageClock;
use crate::cycle::state::{Message, ShardState};
use crate::cycle::{self, Cycle, Fabric, Stage, View};
use crate::fabric::{Packet, PacketRecord, Queue};
use crate::run::Options;
use crate::run::lower::Rows;
use crate::run::saved;
use bevy_ecs::system::SystemState;
use bevy_ecs::world::World;
use std::iter::repeat_n;
use std::sync::Arc;

/// What the driver needs of a shard, whatever its mask width.
pub trait Shard: Send {
    /// Runs the cycles `from..to`; idle ones are jumped over.
    fn run_window(&mut self, from: u64, to: u64);
    /// First cycle from `from` on in which something is due.
    fn next_event(&self, from: u64) -> Option<u64>;
    /// State beside the columns.
    fn state(&self) -> &ShardState;
    /// State beside the columns.
    fn state_mut(&mut self) -> &mut ShardState;
    /// Messages received since the last window.
    fn inbox(&mut self) -> &mut Vec<Message>;
    /// Words of its request masks.
    fn mask_words(&self) -> usize;
    /// The systems of its cycle, in run order.
    fn stages(&self) -> &[Stage];
    /// Time spent in each of them, with profiling.
    fn clock(&self) -> Option<&StageClock>;
    /// Checks the shard's part of the conservation laws.
    fn inspect(&mut self, inspect: &mut dyn Inspect);
    /// The whole state, for [`Shard::restore`].
    ///
    /// # Errors
    /// When it has no form as bytes, which no state has shown.
    fn save(&mut self) -> Result<Vec<u8>, String>;
    /// Takes over the state of a shard that was built alike; a fork keeps the sources it was built with, which
    /// start now.
    ///
    /// # Errors
    /// What does not fit.
    fn restore(&mut self, bytes: &[u8], fork: bool) -> Result<(), String>;
}

/// A look at a shard's columns that does not depend on the mask width.
pub trait Inspect {
    /// Called once per shard.
    fn look(&mut self, view: &dyn crate::run::inspect::Columns);
}

/// A shard with request masks of `W` words.
pub struct WorldShard<const W: usize> {
    world: World,
    cycle: Cycle,
    columns: SystemState<Fabric<'static, 'static, W>>,
    inbox: Vec<Message>,
}

impl<const W: usize> WorldShard<W> {
    /// Spawns the rows, in row order.
    ///
    /// # Panics
    /// When the cycle's systems are ambiguous: a defect of the schedule, caught by every test.
    pub fn new(rows: Rows<W>, state: ShardState, options: Options) -> Self {
        let mut world = World::new();
        world.spawn_batch(rows.switches);
        world.spawn_batch(rows.ports);
        match rows.voq_stride {
            // a FIFO lane and its queue are one entity: the same row
            0 => drop(world.spawn_batch(repeat_n((rows.lane, Queue::EMPTY), rows.lane_count))),
            stride => {
                world.spawn_batch(repeat_n(rows.lane, rows.lane_count));
                world.spawn_batch(repeat_n(Queue::EMPTY, rows.lane_count * stride));
            }
        }
        let shared = Arc::clone(&state.shared);
        world.insert_resource(state);
        let mut cycle = cycle::core::<W>(&shared);
        for guest in options.guests {
            guest(&mut cycle);
        }
        let cycle = cycle.build(&mut world, options.profile);
        let cycle = cycle.expect("no two systems of a slot touch the same");
        let columns = SystemState::new(&mut world);
        let mut whole = Self {
            world,
            cycle,
            columns,
            inbox: Vec::new(),
        };
        whole.grow_pool(256);
        whole
    }

    /// Columns and inbox, for looking and changing between windows.
    pub(super) fn with_view<T>(
        &mut self,
        use_it: impl FnOnce(&mut View<'_, W>, &mut Vec<Message>) -> T,
    ) -> T {
        let mut fabric = self
            .columns
            .get_mut(&mut self.world)
            .expect("all resources exist");
        use_it(&mut fabric.view::<false>(), &mut self.inbox)
    }

    /// Adds `count` unused packets to the pool.
    pub(super) fn grow_pool(&mut self, count: usize) {
        let unused = repeat_n((Packet::UNUSED, PacketRecord::UNUSED), count);
        self.world.spawn_batch(unused);
        let work = &mut self.world.resource_mut::<ShardState>().work;
        let known = work.pool_size;
        work.pool_size += count as u32;
        work.free_packets
            .extend((known..known + count as u32).rev());
    }

    /// Makes sure the pool holds what one cycle can need: a packet per host.
    #[inline]
    fn fill_pool(&mut self) {
        let work = &self.world.resource::<ShardState>().work;
        if work.free_packets.len() < work.host_ids.len() {
            let count = (work.pool_size as usize).max(work.host_ids.len());
            self.grow_pool(count);
        }
    }

    /// Puts the mail of the last window into the calendar and the pool.
    fn receive(&mut self) {
        if self.inbox.is_empty() {
            return;
        }
        let heads = self
            .inbox
            .iter()
            .filter(|message| matches!(message, Message::Head { .. }))
            .count();
        let unused = self.world.resource::<ShardState>().work.free_packets.len();
        if unused < heads {
            let size = self.world.resource::<ShardState>().work.pool_size as usize;
            self.grow_pool(heads.max(size));
        }
        let mut fabric = self
            .columns
            .get_mut(&mut self.world)
            .expect("all resources exist");
        let mut view = fabric.view::<false>();
        for message in self.inbox.drain(..) {
            accept(&mut view, message);
        }
    }

    /// Runs the cycles `from..to` that have something to do.
    #[inline]
    fn run(&mut self, from: u64, to: u64) {
        let mut now = from;
        let mut low = true;
        while now < to {
            if low {
                self.fill_pool();
                self.world.resource_mut::<ShardState>().now = now;
            }
            self.cycle.run(&mut self.world);
            let state = self.world.resource_mut::<ShardState>().into_inner();
            now = state.next_event(now + 1).min(to);
            low = state.work.free_packets.len() < state.work.host_ids.len();
            if now < to {
                state.now = now;
            }
        }
    }
}

/// Takes one message.
fn accept<const W: usize>(view: &mut View<'_, W>, message: Message) {
    match message {
        Message::Head {
            lane,
            at,
            packet,
            record,
        } => {
            let row = view.work.claim_packet();
            view.packets[row as usize] = packet;
            view.records[row as usize] = record;
            view.work.calendar.at(at).heads.push((lane, row));
        }
        Message::Ramp {
            lane,
            at,
            flits,
            step,
        } => {
            view.work
                .calendar
                .at(at)
                .ramps
                .push(cycle::calendar::Ramp { lane, flits, step });
        }
    }
}

impl<const W: usize> Shard for WorldShard<W> {
    fn run_window(&mut self, from: u64, to: u64) {
        self.receive();
        let start = self.world.resource::<ShardState>().next_event(from).min(to);
        self.run(start, to);
    }

    fn next_event(&self, from: u64) -> Option<u64> {
        let mail = self.inbox.iter().map(|message| match message {
            Message::Head { at, .. } | Message::Ramp { at, .. } => *at,
        });
        let own = self.state().next_event(from);
        mail.min()
            .into_iter()
            .chain((own != u64::MAX).then_some(own))
            .min()
    }

    fn state(&self) -> &ShardState {
        self.world.resource::<ShardState>()
    }

    fn state_mut(&mut self) -> &mut ShardState {
        self.world.resource_mut::<ShardState>().into_inner()
    }

    fn inbox(&mut self) -> &mut Vec<Message> {
        &mut self.inbox
    }

    fn mask_words(&self) -> usize {
        W
    }

    fn stages(&self) -> &[Stage] {
        self.cycle.stages()
    }

    fn clock(&self) -> Option<&StageClock> {
        self.cycle.clock().map(Arc::as_ref)
    }

    fn inspect(&mut self, inspect: &mut dyn Inspect) {
        self.with_view(|view, _| inspect.look(view));
    }

    fn save(&mut self) -> Result<Vec<u8>, String> {
        self.with_view(|view, inbox| saved::save(view, inbox))
    }

    fn restore(&mut self, bytes: &[u8], fork: bool) -> Result<(), String> {
        saved::restore(self, bytes, fork)
    }
}
