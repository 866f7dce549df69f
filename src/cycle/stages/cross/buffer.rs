//! Buffers between the crossbar and the channels: the columns of fabrics that have them. The crossbar's stage fills them.

use crate::cycle::mechanism::{Mechanism, ShardBuilder, Site};
use crate::cycle::snapshot::Persistent;
use crate::fabric::OutPort;
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

/// Output buffers as a mechanism: one for every output. The crossbar's stage fills them.
pub struct OutputBuffers;

impl Mechanism for OutputBuffers {
    fn of(site: &Site<'_>) -> Option<Self> {
        (site.plan.switch.output_buffer > 0).then_some(Self)
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        shard.column::<OutPort, OutputBuffer>(OutputBuffer::default());
    }
}
