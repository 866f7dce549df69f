//! Columns as slices: what a stage works on.
//!
//! Every stage is a plain function over a [`View`]; a system fetches the columns and calls it. The fused
//! loop (a measuring aid) fetches them once and calls all stages, so both run the same code.

use super::rules::Rules;
use super::state::{ShardState, Work};
use crate::fabric::{InPort, OutLane, OutPort, Packet, PacketRecord, Queue, Switch};
use bevy_ecs::change_detection::{ContiguousMut, DetectChangesMut};
use bevy_ecs::prelude::{Query, ResMut};
use bevy_ecs::system::SystemParam;

/// System parameter: all columns of one shard and its state.
#[derive(SystemParam)]
pub struct Fabric<'w, 's, const W: usize> {
    state: ResMut<'w, ShardState>,
    switches: Query<'w, 's, &'static mut Switch<W>>,
    ports: Query<'w, 's, (&'static mut OutPort, &'static mut InPort)>,
    lanes: Query<'w, 's, &'static mut OutLane<W>>,
    queues: Query<'w, 's, &'static mut Queue>,
    packets: Query<'w, 's, (&'static mut Packet, &'static mut PacketRecord)>,
}

/// System parameter of a stage that touches ports only.
#[derive(SystemParam)]
pub struct Ports<'w, 's> {
    state: ResMut<'w, ShardState>,
    ports: Query<'w, 's, (&'static mut OutPort, &'static mut InPort)>,
}

/// System parameter of a stage that touches packets only.
#[derive(SystemParam)]
pub struct Packets<'w, 's> {
    state: ResMut<'w, ShardState>,
    packets: Query<'w, 's, (&'static mut Packet, &'static mut PacketRecord)>,
}

/// All columns of one shard as slices, row == local id. `P`: see [`Rules`].
#[derive(Debug)]
pub struct View<'a, const W: usize, const P: bool = false> {
    /// The current cycle.
    pub now: u64,
    /// Switches.
    pub switches: &'a mut [Switch<W>],
    /// Sending sides of ports.
    pub outs: &'a mut [OutPort],
    /// Receiving sides of ports.
    pub ins: &'a mut [InPort],
    /// Sending sides of lanes.
    pub lanes: &'a mut [OutLane<W>],
    /// Input queues.
    pub queues: &'a mut [Queue],
    /// Packet pool.
    pub packets: &'a mut [Packet],
    /// Records of the packet pool.
    pub records: &'a mut [PacketRecord],
    /// Tables and options.
    pub shared: Rules<'a, P>,
    /// Calendar and worklists.
    pub work: &'a mut Work,
}

/// The one table of a query as a slice, without change detection; empty when nothing was spawned.
macro_rules! column {
    ($query:expr) => {
        match $query
            .contiguous_iter_mut()
            .ok()
            .and_then(|mut tables| tables.next())
        {
            Some(column) => ContiguousMut::bypass_change_detection_split(column).0,
            None => &mut [],
        }
    };
    ($query:expr, pair) => {
        match $query
            .contiguous_iter_mut()
            .ok()
            .and_then(|mut tables| tables.next())
        {
            Some((first, second)) => (
                ContiguousMut::bypass_change_detection_split(first).0,
                ContiguousMut::bypass_change_detection_split(second).0,
            ),
            None => (&mut [][..], &mut [][..]),
        }
    };
}

impl<const W: usize> Fabric<'_, '_, W> {
    /// State of the shard, for a look at the worklists before the columns are fetched.
    #[inline]
    pub fn state(&self) -> &ShardState {
        &self.state
    }

    /// All columns.
    #[inline]
    pub fn view<const P: bool>(&mut self) -> View<'_, W, P> {
        let state = self.state.bypass_change_detection();
        let (outs, ins) = column!(self.ports, pair);
        let (packets, records) = column!(self.packets, pair);
        View {
            now: state.now,
            switches: column!(self.switches),
            outs,
            ins,
            lanes: column!(self.lanes),
            queues: column!(self.queues),
            packets,
            records,
            shared: Rules(&state.shared),
            work: &mut state.work,
        }
    }
}

impl Ports<'_, '_> {
    /// State of the shard.
    #[inline]
    pub fn state(&self) -> &ShardState {
        &self.state
    }

    /// A view with the ports only.
    #[inline]
    pub fn view<const W: usize, const P: bool>(&mut self) -> View<'_, W, P> {
        let state = self.state.bypass_change_detection();
        let (outs, ins) = column!(self.ports, pair);
        View {
            outs,
            ins,
            ..View::empty(state)
        }
    }
}

impl Packets<'_, '_> {
    /// State of the shard.
    #[inline]
    pub fn state(&self) -> &ShardState {
        &self.state
    }

    /// A view with the packets only.
    #[inline]
    pub fn view<const W: usize, const P: bool>(&mut self) -> View<'_, W, P> {
        let state = self.state.bypass_change_detection();
        let (packets, records) = column!(self.packets, pair);
        View {
            packets,
            records,
            ..View::empty(state)
        }
    }
}

impl<'a, const W: usize, const P: bool> View<'a, W, P> {
    /// A view without columns.
    #[inline]
    fn empty(state: &'a mut ShardState) -> Self {
        View {
            now: state.now,
            switches: &mut [],
            outs: &mut [],
            ins: &mut [],
            lanes: &mut [],
            queues: &mut [],
            packets: &mut [],
            records: &mut [],
            shared: Rules(&state.shared),
            work: &mut state.work,
        }
    }

    /// The same columns for code that is the same under all options.
    #[inline]
    pub fn general(&mut self) -> View<'_, W> {
        View {
            now: self.now,
            switches: self.switches,
            outs: self.outs,
            ins: self.ins,
            lanes: self.lanes,
            queues: self.queues,
            packets: self.packets,
            records: self.records,
            shared: Rules(self.shared.0),
            work: self.work,
        }
    }
}
