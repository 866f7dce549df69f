//! Queues whose first packet is dropped, flit by flit (D58).

use crate::cycle::columns::Present;
use crate::cycle::snapshot::Persistent;
use crate::fabric::rows::QueueRow;
use bevy_ecs::prelude::Resource;
use serde::{Deserialize, Serialize};

/// Queues with a flit of a dropped packet that may leave.
#[derive(Resource, Clone, Debug, Default, Serialize, Deserialize)]
pub struct Swallowing {
    pub(super) queues: Vec<QueueRow>,
}

impl Persistent for Swallowing {}

impl Swallowing {
    /// A flit of a dropped packet may leave this queue, the only one there.
    pub(super) fn push(&mut self, queue: QueueRow) {
        self.queues.push(queue);
    }

    /// Whether none waits.
    pub(super) fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    /// The packet at the head of a queue is dropped, with so many flits. (One that has come in this cycle has its header counted later in
    /// it.)
    pub fn swallow(&mut self, queue: QueueRow, present: &mut Present, flits: u16) {
        present.lost = flits;
        if present.flits > 0 {
            self.queues.push(queue);
        }
    }
}
