//! Columns that stages and mechanisms work on: plain data with small methods, below the [view](super::view). Those of all fabrics stand in
//! [`fabric`](crate::fabric) and are saved as they are; those that only some fabrics have are here, and the mechanism that adds one says
//! what is done with it.
//!
//! | file | added by |
//! |---|---|
//! | `adaptive` | adaptive routing |
//! | `allocation` | all fabrics (`Turns`), random arbitration, input-first allocation |
//! | `flits` | wormhole switching |
//! | `output_buffer` | output buffers |
//! | `output_lanes` | output lanes |
//! | `standing` | open adaptive routing, and with VOQ |
//! | `vl_arbiters` | VL arbitration by tables |

mod adaptive;
mod allocation;
mod flits;
mod output_buffer;
mod output_lanes;
mod standing;
mod vl_arbiters;

pub use adaptive::{Choice, Contention};
pub use allocation::{InputArbiter, OutputStream, Turn, Turns, VoqPointer};
pub use flits::{Age, Discarded, Held, Holder, LaneQueue, Present};
pub use output_buffer::OutputBuffer;
pub use output_lanes::{OutChannel, WaitingLane};
pub use standing::{Request, Stand, Standing};
pub use vl_arbiters::{InputLaneArbiter, LaneArbiter};

pub(in crate::cycle) use allocation::{advance, turn};
pub(in crate::cycle) use output_lanes::OPEN_END;

use super::snapshot::{Persistent, Resume};
use crate::fabric::source_queue::SourceQueues;
use crate::fabric::{Group, InPort, OutLane, OutPort, Packet, PacketRecord, Queue, Switch};

impl<const W: usize> Persistent for Switch<W> {}
impl<const W: usize> Persistent for OutLane<W> {}
impl Persistent for OutPort {}
impl Persistent for InPort {}
impl Persistent for Queue {}
impl Persistent for Packet {}
impl Persistent for PacketRecord {}
impl Persistent for SourceQueues {}

impl<C: Persistent> Persistent for Group<C> {
    fn resume(&mut self, built: Self, how: &Resume<'_>) {
        for (row, built) in self.0.iter_mut().zip(built.0) {
            row.resume(built, how);
        }
    }
}
