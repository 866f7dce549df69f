//! The buffer between the crossbar and a channel.

use crate::cycle::snapshot::Persistent;
use bevy_ecs::component::Component;
use serde::{Deserialize, Serialize};

/// Buffer between the crossbar and the channel of an output.
#[derive(Component, Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct OutputBuffer {
    /// Cycle in which the channel is free.
    pub(in crate::cycle) channel_free: u64,
}

impl OutputBuffer {
    /// Cycle in which the channel is free.
    pub fn channel_free(&self) -> u64 {
        self.channel_free
    }
}

impl Persistent for OutputBuffer {}
