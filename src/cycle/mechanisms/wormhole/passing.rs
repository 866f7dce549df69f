//! What outputs and inputs of switches share while flits pass: the picks of a round, and what a flit that passes changes.

use super::{Crossed, Flits, Places};
use crate::cycle::columns::{Held, Present};
use crate::cycle::mechanisms::ahead::Booked;
use crate::cycle::mechanisms::congestion::Pace;
use crate::cycle::state::{Grant, Outbox};
use crate::cycle::view::{View, column};
use crate::fabric::Group;
use crate::fabric::rows::{LaneRow, PacketRow, PortRow, QueueRow, Rows};
use crate::plan::{Matching, OutputArbitration};
use crate::qos::vl_arbitration::VlChoice;
use bevy_ecs::change_detection::{ContiguousMut, DetectChangesMut};
use bevy_ecs::prelude::{Query, ResMut};
use bevy_ecs::system::SystemParam;

/// A flit that an output has picked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pick {
    pub(super) out: PortRow,
    pub(super) lane: LaneRow,
    pub(super) queue: QueueRow,
    pub(super) input: PortRow,
    /// Request bit of a packet that holds no lane so far.
    pub(super) first: Option<u16>,
    pub(super) choice: Option<VlChoice>,
    pub(super) accepted: bool,
    /// Whether nothing that its input accepts in the round comes behind it in turn.
    pub(super) is_latest: bool,
    /// The pick of the same input before it in the round, `NO_PICK` without one.
    pub(super) before: u32,
}

impl Pick {
    /// As facts of the cycle tell it, of the first flit of a packet.
    pub(super) fn grant(&self, packet: PacketRow) -> Grant {
        Grant {
            out: self.out,
            lane: self.lane,
            queue: self.queue,
            input: self.input,
            bit: self.first.unwrap_or(0),
            accepted: true,
            by_inputs: false,
            choice: self.choice,
            packet,
        }
    }
}

/// What passing flits changes.
pub(super) struct Passing<'a, const W: usize> {
    pub(super) view: View<'a, W>,
    pub(super) flits: &'a mut Flits,
    pub(super) outbox: &'a mut Outbox,
    pub(super) present: Rows<'a, QueueRow, Present>,
    pub(super) held: Rows<'a, LaneRow, Held>,
    pub(super) booked: Rows<'a, PortRow, Booked>,
    /// Whether flits that take a channel are told of: for buffers before it, or the times that it loses.
    pub(super) books: bool,
    /// Whether an output chooses the first request of a lane in turn.
    pub(super) one_will_do: bool,
    /// Where InfiniBand's marking asks for them.
    pub(super) idle_times: Rows<'a, PortRow, Pace>,
    /// Of inputs that let several flits pass at a time.
    pub(super) places: Option<&'a mut Places>,
    /// What waits behind the crossbar, with output lanes.
    pub(super) crossed: Option<&'a mut Crossed>,
    /// Whether VL tables choose the lane of an output.
    pub(super) has_tables: bool,
    pub(super) picks: &'a mut Vec<Pick>,
}

/// System parameter: what passing flits changes beside the fabric.
#[derive(SystemParam)]
pub(super) struct Aboard<'w, 's> {
    present: Query<'w, 's, &'static mut Group<Present>>,
    held: Query<'w, 's, &'static mut Group<Held>>,
    booked: Query<'w, 's, &'static mut Booked>,
    idle_times: Query<'w, 's, &'static mut Pace>,
    flits: ResMut<'w, Flits>,
    outbox: ResMut<'w, Outbox>,
    places: Option<ResMut<'w, Places>>,
    crossed: Option<ResMut<'w, Crossed>>,
}

impl Aboard<'_, '_> {
    /// With the view of a system, and the picks that it keeps the room of.
    #[inline(always)]
    pub(super) fn passing<'a, const W: usize>(
        &'a mut self,
        view: View<'a, W>,
        picks: &'a mut Vec<Pick>,
    ) -> Passing<'a, W> {
        let idle_times: Rows<'_, PortRow, Pace> = Rows::new(column!(self.idle_times));
        let shared = view.shared;
        let has_buffers = shared.output_buffer() > 0;
        let is_by_turn = shared.output_arbitration() == OutputArbitration::RoundRobin;
        let output_first = shared.matching() == Matching::OutputFirst;
        Passing {
            view,
            flits: self.flits.bypass_change_detection(),
            outbox: self.outbox.bypass_change_detection(),
            present: Rows::new(column!(self.present)),
            held: Rows::new(column!(self.held)),
            booked: Rows::new(column!(self.booked)),
            books: has_buffers || !idle_times.seen().is_empty() && !shared.has_output_lanes(),
            one_will_do: is_by_turn && output_first && !shared.open(),
            idle_times,
            places: self
                .places
                .as_mut()
                .map(DetectChangesMut::bypass_change_detection),
            crossed: self
                .crossed
                .as_mut()
                .map(DetectChangesMut::bypass_change_detection),
            has_tables: shared.crossbar_tables().is_some(),
            picks,
        }
    }
}
