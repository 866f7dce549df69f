//! Columns as slices: what a stage works on.
//!
//! Every stage is a plain function over a [`View`]; a system fetches the columns it names and calls it. The columns of
//! all fabrics are fields of the view, those of a mechanism are in [`Optional`] and empty where it is not used.

use super::columns::{
    Choice, Contention, InputArbiter, InputLaneArbiter, LaneArbiter, OutChannel, OutputBuffer,
    OutputStream, Turn, Turns, VoqPointer, WaitingLane,
};
use super::rules::{Any, RuleSet, Rules};
use super::state::{Calendar, Place, Worklists};
use crate::fabric::bit_errors::Retry;
use crate::fabric::rows::{LaneRow, PacketRow, PortRow, QueueRow, Rows, Seen, SwitchRow, TurnRow};
use crate::fabric::{Group, InPort, OutLane, OutPort, Packet, PacketRecord, Queue, Switch};
use crate::plan::{Matching, OutputArbitration};
use bevy_ecs::change_detection::{ContiguousMut, DetectChangesMut};
use bevy_ecs::prelude::{Local, Query, ResMut};
use bevy_ecs::query::ContiguousQueryData;
use bevy_ecs::system::SystemParam;

/// The one table of a query as a slice, without change detection; empty when nothing was spawned.
macro_rules! column {
    ($query:expr) => {
        match crate::cycle::view::one_table(&mut $query) {
            Some(column) => crate::fabric::group::Flat::flat(
                ContiguousMut::bypass_change_detection_split(column).0,
            ),
            None => &mut [],
        }
    };
    ($query:expr, pair) => {
        match crate::cycle::view::one_table(&mut $query) {
            Some((first, second)) => (
                crate::fabric::group::Flat::flat(
                    ContiguousMut::bypass_change_detection_split(first).0,
                ),
                crate::fabric::group::Flat::flat(
                    ContiguousMut::bypass_change_detection_split(second).0,
                ),
            ),
            None => (&mut [][..], &mut [][..]),
        }
    };
}
pub(crate) use column;

/// The only table of a query, if there is one.
#[inline]
pub(crate) fn one_table<'a, D: ContiguousQueryData>(
    query: &'a mut Query<'_, '_, D>,
) -> Option<D::Contiguous<'a, 'a>> {
    let mut tables = query.contiguous_iter_mut().ok()?;
    let first = tables.next();
    debug_assert!(tables.next().is_none(), "rows of a kind are in one table");
    first
}

/// System parameter: the packets of the shard, to look at.
#[derive(SystemParam)]
pub struct Packets<'w, 's> {
    rows: Query<'w, 's, (&'static Group<Packet>, &'static Group<PacketRecord>)>,
}

impl Packets<'_, '_> {
    /// Packets and their records, by row.
    #[inline]
    pub fn rows(
        &self,
    ) -> (
        Seen<'_, PacketRow, Packet>,
        Seen<'_, PacketRow, PacketRecord>,
    ) {
        let table = self.rows.contiguous_iter().into_iter().flatten().next();
        let (packets, records) = table.unwrap_or_default();
        (
            Seen::new(Group::rows(packets)),
            Seen::new(Group::rows(records)),
        )
    }
}

/// System parameter: the resources of every stage of the switches.
#[derive(SystemParam)]
pub struct Events<'w, 's> {
    place: Local<'s, Place>,
    calendar: ResMut<'w, Calendar>,
    lists: ResMut<'w, Worklists>,
}

impl Events<'_, '_> {
    /// The current cycle.
    #[inline]
    pub fn now(&self) -> u64 {
        self.calendar.now()
    }

    /// Tables and options, for a look before the columns are fetched.
    #[inline]
    pub fn rules<P: RuleSet>(&self) -> Rules<'_, P> {
        Rules::new(&self.place.shared)
    }

    /// For a look before the columns are fetched.
    #[inline]
    pub fn calendar(&self) -> &Calendar {
        &self.calendar
    }

    /// For a look before the columns are fetched.
    #[inline]
    pub fn lists(&self) -> &Worklists {
        &self.lists
    }
}

/// System parameter: everything that all fabrics have.
#[derive(SystemParam)]
pub struct Fabric<'w, 's, const W: usize> {
    /// Resources.
    pub events: Events<'w, 's>,
    switches: Query<'w, 's, &'static mut Switch<W>>,
    ports: Query<'w, 's, (&'static mut OutPort, &'static mut InPort)>,
    lanes: Query<'w, 's, &'static mut Group<OutLane<W>>>,
    queues: Query<'w, 's, &'static mut Group<Queue>>,
    packets: Query<'w, 's, (&'static mut Group<Packet>, &'static mut Group<PacketRecord>)>,
    turns: ResMut<'w, Turns>,
}

/// System parameter: what the routing of heads changes.
#[derive(SystemParam)]
pub struct Heads<'w, 's, const W: usize> {
    /// Resources.
    pub events: Events<'w, 's>,
    switches: Query<'w, 's, &'static mut Switch<W>>,
    ports: Query<'w, 's, (&'static mut OutPort, &'static mut InPort)>,
    lanes: Query<'w, 's, &'static mut Group<OutLane<W>>>,
    queues: Query<'w, 's, &'static mut Group<Queue>>,
    packets: Query<'w, 's, (&'static mut Group<Packet>, &'static mut Group<PacketRecord>)>,
}

/// System parameter: what credits change.
#[derive(SystemParam)]
pub struct Channels<'w, 's, const W: usize> {
    /// Resources.
    pub events: Events<'w, 's>,
    outs: Query<'w, 's, &'static mut OutPort>,
    lanes: Query<'w, 's, &'static mut Group<OutLane<W>>>,
}

/// System parameter: what freed inputs change.
#[derive(SystemParam)]
pub struct Inputs<'w, 's, const W: usize> {
    /// Resources.
    pub events: Events<'w, 's>,
    switches: Query<'w, 's, &'static mut Switch<W>>,
    ports: Query<'w, 's, (&'static mut OutPort, &'static mut InPort)>,
    lanes: Query<'w, 's, &'static mut Group<OutLane<W>>>,
    queues: Query<'w, 's, &'static mut Group<Queue>>,
}

/// System parameter: what a packet meets on its way from a host to the first switch.
#[derive(SystemParam)]
pub struct Injection<'w, 's, const W: usize> {
    /// Resources.
    pub events: Events<'w, 's>,
    switches: Query<'w, 's, &'static mut Switch<W>>,
    ports: Query<'w, 's, (&'static mut OutPort, &'static mut InPort)>,
    lanes: Query<'w, 's, &'static mut Group<OutLane<W>>>,
    packets: Query<'w, 's, (&'static mut Group<Packet>, &'static mut Group<PacketRecord>)>,
}

/// System parameter: what tells which packets wait for an output lane.
#[derive(SystemParam)]
pub struct Requests<'w, 's, const W: usize> {
    /// Resources.
    pub events: Events<'w, 's>,
    switches: Query<'w, 's, &'static mut Switch<W>>,
    outs: Query<'w, 's, &'static mut OutPort>,
    lanes: Query<'w, 's, &'static mut Group<OutLane<W>>>,
    queues: Query<'w, 's, &'static mut Group<Queue>>,
    packets: Query<'w, 's, (&'static mut Group<Packet>, &'static mut Group<PacketRecord>)>,
}

/// Columns that only some fabrics have; empty slices elsewhere.
#[derive(Debug, Default)]
pub struct Optional<'a> {
    /// VL arbiters of ports.
    pub vl: Rows<'a, PortRow, LaneArbiter>,
    /// VL arbiters of inputs, with input-first allocation.
    pub vl_inputs: Rows<'a, PortRow, InputLaneArbiter>,
    /// Streams of random arbitration, per port.
    pub streams: Rows<'a, PortRow, OutputStream>,
    /// Output buffers, per port.
    pub buffers: Rows<'a, PortRow, OutputBuffer>,
    /// Input-first allocation, per port.
    pub input_first: Rows<'a, PortRow, InputArbiter>,
    /// Input-first allocation where an input lane has several requests, per lane.
    pub voq_pointers: Rows<'a, LaneRow, VoqPointer>,
    /// Output lanes.
    pub waiting: Rows<'a, LaneRow, WaitingLane>,
    /// Channels behind output lanes, per port.
    pub channels: Rows<'a, PortRow, OutChannel>,
    /// Adaptive routing, per input queue.
    pub choices: Rows<'a, QueueRow, Choice>,
    /// Adaptive routing, per output lane.
    pub contention: Rows<'a, LaneRow, Contention>,
    /// Link-level retry, per port.
    pub retries: Rows<'a, PortRow, Retry>,
}

/// Whether a fabric with these options has the column of a field of [`Optional`]: a system runs in every cycle and fetches no other.
macro_rules! has {
    ($rules:ident waiting) => {
        $rules.has_output_lanes()
    };
    ($rules:ident channels) => {
        $rules.has_output_lanes()
    };
    ($rules:ident choices) => {
        $rules.is_adaptive()
    };
    ($rules:ident contention) => {
        $rules.is_adaptive()
    };
    ($rules:ident vl) => {
        $rules.tables().is_some()
    };
    ($rules:ident vl_inputs) => {
        $rules.tables().is_some()
    };
    ($rules:ident streams) => {
        $rules.output_arbitration() == OutputArbitration::Random
    };
    ($rules:ident buffers) => {
        $rules.output_buffer() != 0
    };
    ($rules:ident input_first) => {
        $rules.matching() == Matching::InputFirst
    };
    ($rules:ident voq_pointers) => {
        $rules.matching() == Matching::InputFirst && $rules.chooses_within_lanes()
    };
    ($rules:ident retries) => {
        $rules.errors().is_some()
    };
}

/// System parameters of optional columns, one per set that stages use together.
macro_rules! optional {
    ($($(#[$meta:meta])* $name:ident: $($column:ident $type:ty),*;)*) => {
        $(
            $(#[$meta])*
            #[derive(SystemParam)]
            pub struct $name<'w, 's> {
                $($column: Query<'w, 's, &'static mut $type>,)*
            }

            impl $name<'_, '_> {
                /// The columns that a fabric with these options has.
                #[inline(always)]
                pub fn columns<P: RuleSet>(&mut self, rules: Rules<'_, P>) -> Optional<'_> {
                    let mut columns = Optional::default();
                    $(if has!(rules $column) {
                        columns.$column = Rows::new(column!(self.$column));
                    })*
                    columns
                }
            }
        )*
    };
}

optional! {
    /// System parameter: what decides whether an output lane has room.
    Room: waiting Group<WaitingLane>, channels OutChannel;
    /// System parameter: the same, and what heads request.
    Choosing: waiting Group<WaitingLane>, channels OutChannel, choices Group<Choice>, contention Group<Contention>;
    /// System parameter: the arbiters of output-first allocation, and what a grant changes: with several rounds, grants
    /// are carried out between them.
    Arbiters: waiting Group<WaitingLane>, channels OutChannel, choices Group<Choice>, contention Group<Contention>, vl LaneArbiter,
        streams OutputStream, buffers OutputBuffer, retries Retry;
    /// System parameter: the same for input-first allocation and the crossbar behind it.
    InputArbiters: waiting Group<WaitingLane>, channels OutChannel, choices Group<Choice>, contention Group<Contention>,
        vl_inputs InputLaneArbiter, streams OutputStream, buffers OutputBuffer, input_first InputArbiter, voq_pointers Group<VoqPointer>,
        retries Retry;
    /// System parameter: the arbiters of any allocation, for all stages in one pass.
    AllArbiters: waiting Group<WaitingLane>, channels OutChannel, choices Group<Choice>, contention Group<Contention>,
        vl LaneArbiter, vl_inputs InputLaneArbiter, streams OutputStream, buffers OutputBuffer, input_first InputArbiter,
        voq_pointers Group<VoqPointer>, retries Retry;
    /// System parameter: what a grant changes.
    Crossing: waiting Group<WaitingLane>, channels OutChannel, choices Group<Choice>, contention Group<Contention>, vl LaneArbiter,
        buffers OutputBuffer, retries Retry;
    /// System parameter: the channels behind output lanes.
    Transmission: waiting Group<WaitingLane>, channels OutChannel, vl LaneArbiter, retries Retry;
    /// System parameter: the arbiter of an injection channel, and room.
    InjectionArbiters: waiting Group<WaitingLane>, channels OutChannel, vl LaneArbiter, retries Retry;
}

/// The view of a system parameter: its columns, and an empty slice for every other.
macro_rules! view {
    ($($name:ident: $($column:ident)*;)*) => {
        $(impl<const W: usize> $name<'_, '_, W> {
            /// The columns, and those of mechanisms. Inlined, so that no view is copied.
            #[inline(always)]
            pub fn view<'a, P: RuleSet>(&'a mut self, optional: Optional<'a>) -> View<'a, W, P> {
                let mut view = View::empty(&mut self.events, optional);
                $(view! { fetch view self $column })*
                view
            }
        })*
    };
    (fetch $view:ident $self:ident ports) => {
        let (outs, ins) = column!($self.ports, pair);
        ($view.outs, $view.ins) = (Rows::new(outs), Rows::new(ins));
    };
    (fetch $view:ident $self:ident packets) => {
        let (packets, records) = column!($self.packets, pair);
        ($view.packets, $view.records) = (Rows::new(packets), Rows::new(records));
    };
    (fetch $view:ident $self:ident turns) => {
        $view.turns = Rows::new(&mut $self.turns.bypass_change_detection().0)
    };
    (fetch $view:ident $self:ident $column:ident) => {
        $view.$column = Rows::new(column!($self.$column));
    };
}

view! {
    Fabric: switches ports lanes queues packets turns;
    Heads: switches ports lanes queues packets;
    Channels: outs lanes;
    Inputs: switches ports lanes queues;
    Injection: switches ports lanes packets;
    Requests: switches outs lanes queues packets;
}

/// All columns of one shard, row == local id. `P`: see [`Rules`].
#[derive(Debug)]
pub struct View<'a, const W: usize, P: RuleSet = Any> {
    /// The current cycle.
    pub now: u64,
    /// Switches.
    pub switches: Rows<'a, SwitchRow, Switch<W>>,
    /// Sending sides of ports.
    pub outs: Rows<'a, PortRow, OutPort>,
    /// Receiving sides of ports.
    pub ins: Rows<'a, PortRow, InPort>,
    /// Sending sides of lanes.
    pub lanes: Rows<'a, LaneRow, OutLane<W>>,
    /// Input queues.
    pub queues: Rows<'a, QueueRow, Queue>,
    /// Packet pool.
    pub packets: Rows<'a, PacketRow, Packet>,
    /// Records of the packet pool.
    pub records: Rows<'a, PacketRow, PacketRecord>,
    /// Pointers over the lanes of an input, per (output, input) of a switch.
    pub turns: Rows<'a, TurnRow, Turn>,
    /// Columns of mechanisms.
    pub optional: Optional<'a>,
    /// Tables and options.
    pub shared: Rules<'a, P>,
    /// Where the rows belong.
    pub place: &'a Place,
    /// What takes time.
    pub calendar: &'a mut Calendar,
    /// What is to be done now.
    pub lists: &'a mut Worklists,
}

impl<'a, const W: usize, P: RuleSet> View<'a, W, P> {
    /// A view without columns of all fabrics.
    #[inline(always)]
    fn empty(events: &'a mut Events<'_, '_>, optional: Optional<'a>) -> Self {
        let place = &*events.place;
        View {
            now: events.calendar.now(),
            switches: Rows::default(),
            outs: Rows::default(),
            ins: Rows::default(),
            lanes: Rows::default(),
            queues: Rows::default(),
            packets: Rows::default(),
            records: Rows::default(),
            turns: Rows::default(),
            optional,
            shared: Rules::new(&place.shared),
            place,
            calendar: events.calendar.bypass_change_detection(),
            lists: events.lists.bypass_change_detection(),
        }
    }
}
