//! Columns and resources of all fabrics that are saved as they are.

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
