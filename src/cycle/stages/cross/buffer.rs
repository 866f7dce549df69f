//! Channels behind the crossbar, and the buffers before them: the columns of fabrics that have them. The crossbar's stage fills them.

use crate::cycle::columns::OutputBuffer;
use crate::cycle::joints::Sending as _;
use crate::cycle::mechanism::{Mechanism, ShardBuilder, Site};
use crate::cycle::rules::RuleSet;
use crate::cycle::view::View;
use crate::fabric::OutPort;
use crate::fabric::rows::PortRow;

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

/// The channel of an output that is granted: when it is free again. Returns the cycle in which it starts what comes without errors,
/// without the crossbar delay.
#[inline(always)]
pub(in crate::cycle) fn hold_channel<const W: usize, P: RuleSet, const ERRORS: bool>(
    view: &mut View<'_, W, P>,
    output: PortRow,
    flits: u16,
    until: u64,
) -> u64 {
    let (now, shared) = (view.now, view.shared);
    let out = &mut view.outs[output];
    if shared.has_output_lanes() {
        out.free_at = now + 1;
        return now;
    }
    out.free_at = until;
    let mut start = now;
    if shared.output_buffer() != 0 {
        let channel_free = &mut view.optional.buffers[output].channel_free;
        let begin = (now + shared.switch.crossbar_delay).max(*channel_free);
        *channel_free = begin + (until - now);
        let ahead = u64::from(shared.output_buffer()) * u64::from(out.step);
        out.free_at = channel_free.saturating_sub(ahead).max(now + 1);
        start = begin - shared.switch.crossbar_delay;
    }
    if ERRORS {
        start += view.repeat(output, flits);
    }
    start
}
