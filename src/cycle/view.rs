//! Columns as slices: what a stage works on.
//!
//! Every stage is a plain function over a [`View`]; a system fetches the columns it names and calls it.

use super::rules::Rules;
use super::state::{ShardState, Work};
use crate::fabric::{InPort, OutLane, OutPort, Packet, PacketRecord, Queue, Switch};
use bevy_ecs::change_detection::{ContiguousMut, DetectChangesMut};
use bevy_ecs::prelude::{Query, ResMut};
use bevy_ecs::system::SystemParam;

/// The one table of a query as a slice, without change detection; empty when nothing was spawned.
macro_rules! column {
    ($query:expr) => {{
        let mut tables = $query.contiguous_iter_mut().into_iter().flatten();
        let first = tables.next();
        debug_assert!(tables.next().is_none(), "rows of a kind are in one table");
        match first {
            Some(column) => ContiguousMut::bypass_change_detection_split(column).0,
            None => &mut [],
        }
    }};
    ($query:expr, pair) => {{
        let mut tables = $query.contiguous_iter_mut().into_iter().flatten();
        let first = tables.next();
        debug_assert!(tables.next().is_none(), "rows of a kind are in one table");
        match first {
            Some((first, second)) => (
                ContiguousMut::bypass_change_detection_split(first).0,
                ContiguousMut::bypass_change_detection_split(second).0,
            ),
            None => (&mut [][..], &mut [][..]),
        }
    }};
}

/// System parameter: everything.
#[derive(SystemParam)]
pub struct Fabric<'w, 's, const W: usize> {
    state: ResMut<'w, ShardState>,
    switches: Query<'w, 's, &'static mut Switch<W>>,
    ports: Query<'w, 's, (&'static mut OutPort, &'static mut InPort)>,
    lanes: Query<'w, 's, &'static mut OutLane<W>>,
    queues: Query<'w, 's, &'static mut Queue>,
    packets: Query<'w, 's, (&'static mut Packet, &'static mut PacketRecord)>,
}

/// System parameter: what credits change.
#[derive(SystemParam)]
pub struct Channels<'w, 's, const W: usize> {
    state: ResMut<'w, ShardState>,
    outs: Query<'w, 's, &'static mut OutPort>,
    lanes: Query<'w, 's, &'static mut OutLane<W>>,
}

/// System parameter: what freed inputs change.
#[derive(SystemParam)]
pub struct Inputs<'w, 's, const W: usize> {
    state: ResMut<'w, ShardState>,
    switches: Query<'w, 's, &'static mut Switch<W>>,
    ports: Query<'w, 's, (&'static mut OutPort, &'static mut InPort)>,
    lanes: Query<'w, 's, &'static mut OutLane<W>>,
    queues: Query<'w, 's, &'static mut Queue>,
}

/// System parameter: what a packet meets on its way from a host to the first switch.
#[derive(SystemParam)]
pub struct Injection<'w, 's, const W: usize> {
    state: ResMut<'w, ShardState>,
    switches: Query<'w, 's, &'static mut Switch<W>>,
    ports: Query<'w, 's, (&'static mut OutPort, &'static mut InPort)>,
    lanes: Query<'w, 's, &'static mut OutLane<W>>,
    packets: Query<'w, 's, (&'static mut Packet, &'static mut PacketRecord)>,
}

/// System parameter: sending sides of ports.
#[derive(SystemParam)]
pub struct Outputs<'w, 's, const W: usize> {
    state: ResMut<'w, ShardState>,
    outs: Query<'w, 's, &'static mut OutPort>,
}

/// System parameter: the packet pool.
#[derive(SystemParam)]
pub struct Pool<'w, 's, const W: usize> {
    state: ResMut<'w, ShardState>,
    packets: Query<'w, 's, (&'static mut Packet, &'static mut PacketRecord)>,
}

/// The view of a system parameter: its columns, and an empty slice for every other.
macro_rules! view {
    ($($name:ident: $($column:ident)*;)*) => {
        $(impl<const W: usize> $name<'_, '_, W> {
            /// State of the shard, for a look at the worklists before the columns are fetched.
            #[inline]
            pub fn state(&self) -> &ShardState {
                &self.state
            }

            /// The columns.
            #[inline]
            pub fn view<const P: bool>(&mut self) -> View<'_, W, P> {
                let mut view = View::empty(self.state.bypass_change_detection());
                $(view!(fetch view self $column);)*
                view
            }
        })*
    };
    (fetch $view:ident $self:ident ports) => {
        ($view.outs, $view.ins) = column!($self.ports, pair)
    };
    (fetch $view:ident $self:ident packets) => {
        ($view.packets, $view.records) = column!($self.packets, pair)
    };
    (fetch $view:ident $self:ident $column:ident) => {
        $view.$column = column!($self.$column)
    };
}

view! {
    Fabric: switches ports lanes queues packets;
    Channels: outs lanes;
    Inputs: switches ports lanes queues;
    Injection: switches ports lanes packets;
    Outputs: outs;
    Pool: packets;
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
