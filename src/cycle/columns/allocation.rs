//! What the allocation of outputs keeps beside the ports: pointers over lanes, streams of random choice.

use crate::cycle::snapshot::{Persistent, Resume};
use crate::fabric::OutPort;
use crate::fabric::numbering::Numbering;
use crate::fabric::rows::{LaneRow, Rows, TurnRow};
use crate::rng::{Purpose, Stream, stream};
use bevy_ecs::component::Component;
use bevy_ecs::resource::Resource;
use serde::{Deserialize, Serialize};

/// Pointer over the lanes of an input, for an output that takes its turns by inputs.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Turn(pub u8);

/// The pointers of all (output, input) of the switches. No entities: these would take some forty bytes each, for one.
#[derive(Resource, Debug, Serialize, Deserialize)]
pub struct Turns(pub Vec<Turn>);

impl Persistent for Turns {}

/// The lane pointer for the input with this number, of an output whose first one is `turns`.
#[inline]
pub(in crate::cycle) fn turn(turns: TurnRow, input: u32) -> TurnRow {
    TurnRow(turns.0 + input)
}

/// Moves the pointers of an accepted grant for a data lane, of the request with this bit for `lane`; that over inputs in the `first`
/// round only.
#[inline(always)]
pub(in crate::cycle) fn advance(
    numbering: Numbering,
    out: &mut OutPort,
    turns: &mut Rows<'_, TurnRow, Turn>,
    (bit, lane): (u16, LaneRow),
    first: bool,
) {
    let input = numbering.input_index(bit);
    if first {
        out.input_pointer = input as u8 + 1;
    }
    if !numbering.is_single() {
        let lane = numbering.lane_number(bit, lane);
        turns[turn(out.turns, input)].0 = numbering.after(lane);
    }
}

/// Stream of an output that chooses at random; those of hosts are not used.
#[derive(Component, Clone, Debug, Serialize, Deserialize)]
pub struct OutputStream(pub Stream);

impl Default for OutputStream {
    fn default() -> Self {
        Self(stream(0, Purpose::Arbitration, 0))
    }
}

impl Persistent for OutputStream {
    fn resume(&mut self, built: Self, how: &Resume<'_>) {
        if how.fork {
            *self = built;
        }
    }
}

/// Pointers of a port: of its input over lanes, of its output over the input lanes of the switch by their places.
#[derive(Component, Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct InputArbiter {
    /// Of the input, over lanes.
    pub(in crate::cycle) lane: u8,
    /// Of the output, over places of input lanes.
    pub(in crate::cycle) output: u16,
}

impl Persistent for InputArbiter {}

/// Where an input lane has several requests, its pointer: with VOQ over outputs, of open heads over output lanes and outputs (D80).
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct VoqPointer(pub(in crate::cycle) u16);

impl Persistent for VoqPointer {}
