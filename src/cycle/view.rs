//! Columns as slices: what a stage works on.
//!
//! Every stage is a plain function over a [`View`]; a system fetches the columns and calls it. The fused
//! loop (a measuring aid) fetches them once and calls all stages, so both run the same code.

use super::state::{ShardState, Shared, Work};
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

/// All columns of one shard as slices, row == local id.
#[derive(Debug)]
pub struct View<'a, const W: usize> {
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
    pub shared: &'a Shared,
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
    pub fn view(&mut self) -> View<'_, W> {
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
            shared: &state.shared,
            work: &mut state.work,
        }
    }
}
