//! Where the records of packets go while a run makes them.
//!
//! The driver hands them over in the order of [`PacketRow::order`], some thousand cycles at a time, so a run holds few
//! of them. A checkpoint remembers how much was written; a run that goes on from it lets the sink forget what came
//! after.

use crate::measure::PacketRow;
use serde::{Deserialize, Serialize};
use std::io;

/// Host-cycles between two hand-overs: at most some ten megabytes of records.
const HELD: u64 = 1 << 18;
/// Most cycles between two hand-overs: what a run that is killed may lose.
const LONGEST: u64 = 256;

/// How much a sink had taken, and its checksum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// Length \[bytes\].
    pub bytes: u64,
    /// CRC-32 of these bytes.
    pub checksum: u32,
}

/// Takes the records of packets.
pub trait PacketSink {
    /// Takes the next rows.
    ///
    /// # Errors
    /// When they cannot be written.
    fn take(&mut self, rows: &[PacketRow]) -> io::Result<()>;

    /// Makes sure that everything so far outlives this process, and tells how much it is.
    ///
    /// # Errors
    /// When it cannot be written.
    fn secure(&mut self) -> io::Result<Written>;

    /// A state is saved to go on from that needs what was secured last.
    fn is_needed(&mut self);

    /// Whether it takes no more rows, which it has told: no state can be saved to go on from then.
    fn is_cut(&self) -> bool;

    /// Goes on where `written` was told, forgetting what came after.
    ///
    /// # Errors
    /// When that is not there any more, with the reason.
    fn go_on(&mut self, written: Written) -> io::Result<()>;
}

/// Most cycles between two hand-overs in a fabric of so many hosts.
pub(super) fn interval(hosts: usize) -> u64 {
    (HELD / hosts.max(1) as u64).clamp(1, LONGEST)
}
