//! One shard: a world, its schedule, its mail.

use crate::cycle::look::Look;
use crate::cycle::pass::next_event;
use crate::cycle::profile::StageClock;
use crate::cycle::snapshot::{Resume, SavedItem, Snapshot};
use crate::cycle::stages::generate::sources::Sources;
use crate::cycle::stages::receive::{self, Receiving};
use crate::cycle::state::{Calendar, Mail, Note, Outbox, PacketPool, Place};
use crate::cycle::ties::Ties;
use crate::cycle::view::column;
use crate::cycle::{Cycle, Inspect, Stage};
use crate::fabric::group::{GROUP, groups};
use crate::fabric::rows::Rows;
use crate::fabric::{Group, Packet, PacketRecord};
use bevy_ecs::change_detection::{ContiguousMut, DetectChangesMut};
use bevy_ecs::prelude::{Query, Res, ResMut};
use bevy_ecs::system::{SystemParam, SystemState};
use bevy_ecs::world::World;
use serde::{Deserialize, Serialize};
use std::iter::repeat_n;
use std::sync::Arc;

/// What the driver needs of a shard, whatever its mask width.
pub trait Shard: Send {
    /// Runs the cycles `from..to`; idle ones are jumped over.
    fn run_window(&mut self, from: u64, to: u64);
    /// First cycle from `from` on in which something is due.
    fn next_event(&self, from: u64) -> Option<u64>;
    /// Whether nothing is due from `from` on but credits on their way.
    fn has_credits_only(&self, from: u64) -> bool;
    /// Its world.
    fn world(&self) -> &World;
    /// Its world.
    fn world_mut(&mut self) -> &mut World;
    /// Mail received since the last window, by sending shard.
    fn inbox(&self) -> &[Mail];
    /// The same, to be added to.
    fn inbox_mut(&mut self) -> &mut Vec<Mail>;
    /// Mail for others that it has written.
    fn outbox_mut(&mut self) -> &mut [Mail];
    /// Whether its stages may run in one pass.
    fn has_pass(&self) -> bool;
    /// Words of its request masks.
    fn mask_words(&self) -> usize;
    /// The systems of its cycle, in run order.
    fn stages(&self) -> &[Stage];
    /// Time spent in each of them, with profiling.
    fn clock(&self) -> Option<&StageClock>;
    /// What its mechanisms have tied to it.
    fn ties(&self) -> &Ties;
    /// Shows its columns.
    fn inspect(&self, inspect: &mut dyn Inspect);
    /// The whole state, for [`Shard::restore`].
    ///
    /// # Errors
    /// When it has no form as bytes, which no state has shown.
    fn save(&mut self) -> Result<Vec<u8>, String>;
    /// Goes on from the state of a shard that was built alike; a fork keeps the sources it was built with, which
    /// start now.
    ///
    /// # Errors
    /// What does not fit.
    fn restore(&mut self, bytes: &[u8], now: u64, fork: bool) -> Result<(), String>;
}

/// A shard with request masks of `W` words.
pub struct WorldShard<const W: usize> {
    world: World,
    cycle: Cycle,
    snapshot: Snapshot,
    ties: Ties,
    /// Systems of each of its sleepers, a bit each in run order.
    sleeping: Vec<u64>,
    turnover: SystemState<Turnover<'static>>,
    receiving: SystemState<Reached<'static, 'static>>,
    inbox: Vec<Mail>,
    /// Where a pass found the next cycle in which something is due, since when nothing has changed.
    upcoming: Option<u64>,
}

/// What decides on the next cycle.
#[derive(SystemParam)]
struct Turnover<'w> {
    calendar: ResMut<'w, Calendar>,
    pool: Res<'w, PacketPool>,
    sources: Res<'w, Sources>,
}

/// What mail changes.
#[derive(SystemParam)]
struct Reached<'w, 's> {
    calendar: ResMut<'w, Calendar>,
    pool: ResMut<'w, PacketPool>,
    packets: Query<'w, 's, (&'static mut Group<Packet>, &'static mut Group<PacketRecord>)>,
}

impl<const W: usize> WorldShard<W> {
    /// A shard with all its entities but packets.
    pub fn new(mut world: World, cycle: Cycle, snapshot: Snapshot, ties: Ties) -> Self {
        let turnover = SystemState::new(&mut world);
        let receiving = SystemState::new(&mut world);
        let sleeping = ties.sleepers.iter();
        let sleeping = sleeping.map(|sleeper| cycle.bits(sleeper.systems));
        let mut whole = Self {
            sleeping: sleeping.collect(),
            world,
            cycle,
            snapshot,
            ties,
            turnover,
            receiving,
            inbox: Vec::new(),
            upcoming: None,
        };
        whole.grow_pool(256);
        whole
    }

    /// Adds at least `count` unused packets to the pool.
    fn grow_pool(&mut self, count: usize) {
        let count = count.next_multiple_of(GROUP);
        self.spawn_packets(count);
        self.world.resource_mut::<PacketPool>().grow(count as u32);
    }

    fn spawn_packets(&mut self, count: usize) {
        let unused = (Group::of(Packet::UNUSED), Group::of(PacketRecord::UNUSED));
        drop(self.world.spawn_batch(repeat_n(unused, groups(count))));
    }

    /// Makes sure the pool holds what one cycle can need: a packet per host.
    #[inline]
    fn fill_pool(&mut self) {
        let pool = self.world.resource::<PacketPool>();
        if pool.is_low() {
            let count = pool.size().max(pool.reserve());
            self.grow_pool(count);
        }
    }

    /// Makes sure the pool holds the packets of the last window's mail.
    fn make_room(&mut self) {
        let packets = self.inbox.iter().map(|mail| mail.packets().len()).sum();
        let pool = self.world.resource::<PacketPool>();
        if pool.unused() < packets {
            let count = packets.max(pool.size());
            self.grow_pool(count);
        }
    }

    /// Puts the mail of the last window into the calendar and the pool.
    fn receive(&mut self) {
        if self.inbox.iter().all(Mail::is_empty) {
            return;
        }
        self.make_room();
        let notices = self.open_notes();
        let receiving = self.receiving.get_mut(&mut self.world);
        let mut mail = receiving.expect("all resources exist");
        let (packets, records) = column!(mail.packets, pair);
        let mut receiving = Receiving {
            calendar: mail.calendar.bypass_change_detection(),
            pool: mail.pool.bypass_change_detection(),
            packets: Rows::new(packets),
            records: Rows::new(records),
        };
        for came in &mut self.inbox {
            let (packets, credits, _) = came.open();
            receive::run(&mut receiving, packets, credits);
        }
        for (receiver, row, at) in notices {
            self.ties.receivers[usize::from(receiver)](&mut self.world, row, at);
        }
    }

    /// Hands over what mechanisms sent beside packets and credits, but for notices, which are returned.
    fn open_notes(&mut self) -> Vec<(u16, u32, u64)> {
        let mut notices = Vec::new();
        let carrier = || self.ties.carrier.expect("they have sent it");
        for came in &mut self.inbox {
            let (packets, _, notes) = came.open();
            for note in notes.drain(..) {
                match note {
                    Note::Content { packet, content } => {
                        let word = (carrier().keep)(&mut self.world, content);
                        packets[packet].record.answer = word;
                    }
                    Note::Parcel {
                        network,
                        port,
                        at,
                        parcel,
                    } => (carrier().join)(&mut self.world, network, (at, port), parcel),
                    Note::Notice { receiver, row, at } => notices.push((receiver, row, at)),
                }
            }
        }
        notices
    }

    /// The same in one go, while nothing but the core has something to do.
    fn run_pass(&mut self, from: u64, to: u64) {
        let mut now = from;
        while now < to {
            now = (self.cycle).run_pass(&mut self.world, [now, to], &mut self.inbox);
            if now < to {
                self.make_room();
                self.fill_pool();
            }
        }
        self.upcoming = Some(now);
    }

    /// Leaves the systems of mechanisms out that sleep for the window.
    #[inline]
    fn let_sleep(&self) {
        let sleepers = self.ties.sleepers.iter().zip(&self.sleeping);
        let asleep = sleepers.filter(|(sleeper, _)| (sleeper.sleeps)(&self.world));
        let systems = asleep.fold(0, |all, (_, systems)| all | systems);
        self.cycle.let_sleep(systems);
    }

    /// Runs the cycles `from..to` that have something to do.
    #[inline]
    fn run(&mut self, from: u64, to: u64) {
        let mut now = from;
        let mut low = true;
        while now < to {
            if low {
                self.fill_pool();
                self.world.resource_mut::<Calendar>().set_now(now);
            }
            self.cycle.run(&mut self.world);
            let alarm = self.ties.next(&self.world, now + 1);
            let turnover = self.turnover.get_mut(&mut self.world);
            let mut turnover = turnover.expect("all resources exist");
            let next = next_event(&turnover.calendar, &turnover.sources, now + 1);
            now = next.min(alarm).min(to);
            low = turnover.pool.is_low();
            if now < to {
                turnover.calendar.set_now(now);
            }
        }
    }
}

/// A saved shard.
#[derive(Serialize, Deserialize)]
struct Saved {
    state: Vec<SavedItem>,
    inbox: Vec<Mail>,
}

impl<const W: usize> Shard for WorldShard<W> {
    fn run_window(&mut self, from: u64, to: u64) {
        // of a window without cycles nothing is learnt of what comes next
        if from >= to {
            return;
        }
        self.upcoming = None;
        if self.inbox.iter().any(|mail| !mail.notes().is_empty()) {
            self.receive();
        }
        if self.cycle.has_pass() && self.ties.are_asleep(&self.world) {
            return self.run_pass(from, to);
        }
        self.receive();
        self.let_sleep();
        let start = self.next_event(from).unwrap_or(to).min(to);
        self.run(start, to);
    }

    fn next_event(&self, from: u64) -> Option<u64> {
        let world = &self.world;
        let next = || next_event(world.resource(), world.resource(), from);
        let own = self.upcoming.unwrap_or_else(next);
        let own = own.min(self.ties.next(world, from));
        let mail = self.inbox.iter().map(Mail::earliest);
        let next = mail.fold(own, u64::min);
        (next != u64::MAX).then_some(next)
    }

    fn has_credits_only(&self, from: u64) -> bool {
        let calendar: &Calendar = self.world.resource();
        let sources: &Sources = self.world.resource();
        let mail = |mail: &Mail| mail.packets().is_empty() && mail.notes().is_empty();
        calendar.ahead(from).all(|(_, slot)| slot.has_ramps_only())
            && self.inbox.iter().all(mail)
            && sources.next_busy(from).is_none()
            && self.ties.next(&self.world, from) == u64::MAX
    }

    fn world(&self) -> &World {
        &self.world
    }

    fn world_mut(&mut self) -> &mut World {
        self.upcoming = None;
        &mut self.world
    }

    fn outbox_mut(&mut self) -> &mut [Mail] {
        let outbox = self.world.resource_mut::<Outbox>();
        &mut outbox.into_inner().0
    }

    fn inbox(&self) -> &[Mail] {
        &self.inbox
    }

    fn inbox_mut(&mut self) -> &mut Vec<Mail> {
        &mut self.inbox
    }

    fn has_pass(&self) -> bool {
        self.cycle.has_pass()
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

    fn ties(&self) -> &Ties {
        &self.ties
    }

    fn inspect(&self, inspect: &mut dyn Inspect) {
        inspect.look(&Look::<W>::new(&self.world));
    }

    fn save(&mut self) -> Result<Vec<u8>, String> {
        let saved = Saved {
            state: self.snapshot.save(&mut self.world)?,
            inbox: self.inbox.clone(),
        };
        postcard::to_stdvec(&saved).map_err(|cause| cause.to_string())
    }

    fn restore(&mut self, bytes: &[u8], now: u64, fork: bool) -> Result<(), String> {
        let saved: Saved = postcard::from_bytes(bytes).map_err(|cause| cause.to_string())?;
        let pool: PacketPool = Snapshot::read(&saved.state)?;
        let missing = pool
            .size()
            .checked_sub(self.world.resource::<PacketPool>().size());
        self.spawn_packets(missing.ok_or("its packet pool does not fit")?);
        let shared = Arc::clone(&self.world.resource::<Place>().shared);
        let how = Resume {
            fork,
            now,
            saturating: &shared.traffic.saturating,
        };
        self.snapshot.restore(&mut self.world, &saved.state, &how)?;
        self.world.resource_mut::<Calendar>().set_now(now);
        self.inbox = saved.inbox;
        self.upcoming = None;
        Ok(())
    }
}
