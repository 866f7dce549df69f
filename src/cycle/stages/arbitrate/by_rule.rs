//! First come first served, oldest first and random choice among requests.
//!
//! Part of `Slot::Arbitrate`. Reads queues and records, for random choice the stream of the output.
//! Cost: O(requests)

use crate::cycle::columns::OutputStream;
use crate::cycle::mechanism::{Mechanism, ShardBuilder, Site};
use crate::cycle::rules::RuleSet;
use crate::cycle::view::View;
use crate::fabric::OutPort;
use crate::fabric::mask::Mask;
use crate::fabric::rows::{LaneRow, PortRow, QueueRow};
use crate::ids::ChannelId;
use crate::plan::OutputArbitration;
use crate::rng::{Purpose, Stream, below, stream};
use std::ops::Range;

/// Random arbitration as a mechanism: a stream for every output. The choice is made by the core's stage.
pub struct OutputStreams {
    streams: Vec<Stream>,
}

impl Mechanism for OutputStreams {
    fn of(site: &Site<'_>) -> Option<Self> {
        (site.plan.switch.output_arbitration == OutputArbitration::Random).then(|| {
            let outputs = site.placement.switch_channels(site.graph, site.number);
            let seed = site.plan.seed;
            let stream = |channel: ChannelId| stream(seed, Purpose::Arbitration, channel.0.into());
            Self {
                streams: outputs.map(stream).collect(),
            }
        })
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        let Self { streams } = self;
        shard.column_by::<OutPort, OutputStream>(move |row| {
            (streams.get(row)).map_or_else(OutputStream::default, |own| OutputStream(own.clone()))
        });
    }
}

/// First come first served, oldest first or random among the set bits of `mask`, requests for `lane`.
pub(super) fn by_rule<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    lane: LaneRow,
    mask: &Mask<W>,
    rule: OutputArbitration,
) -> Option<u16> {
    let out = view.shared.numbering.port(lane);
    if rule == OutputArbitration::Random {
        return match mask.count() {
            0 => None,
            1 => mask.nth(0),
            count => mask.nth(below(&mut view.optional.streams[out].0, count)),
        };
    }
    let first_port = view.switches[view.outs[out].owner].first_port;
    mask.iter()
        .min_by_key(|&bit| since(view, view.queue_of(first_port, bit, lane), rule))
}

/// The same among grants that are proposed to an output, at least one.
pub(super) fn among<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    out: PortRow,
    proposals: Range<usize>,
    rule: OutputArbitration,
) -> usize {
    if rule == OutputArbitration::Random {
        let drawn = match proposals.len() as u32 {
            1 => 0,
            count => below(&mut view.optional.streams[out].0, count),
        };
        return proposals.start + drawn as usize;
    }
    let first = proposals.start;
    let oldest = proposals.min_by_key(|&number| since(view, view.lists.grants[number].queue, rule));
    oldest.unwrap_or(first)
}

/// What the rule goes by: the head whose cycle is the earliest is served.
fn since<const W: usize, P: RuleSet>(
    view: &View<'_, W, P>,
    queue: QueueRow,
    rule: OutputArbitration,
) -> u64 {
    let record = &view.records[view.queues[queue].head];
    if rule == OutputArbitration::OldestFirst {
        record.created
    } else {
        record.requested
    }
}
