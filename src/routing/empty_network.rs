//! How long a flow takes through the empty fabric: a formula, the same for all options of the switch.
//!
//! Packet i begins to pass stage j (channels from 0 on, then the sink) in cycle U(j, i), the later of the cycle in which its head is
//! there and may leave without running dry (rules 3 and 4 of the model, D1, D2) and the cycle in which its predecessor
//! has passed. Nothing else is waited for: no limit, no window, no credit.
//! Cost: O(length of the path).

use crate::ids::ChannelId;
use crate::plan::{Forwarding, Plan};
use crate::topology::Graph;

/// A path through the empty fabric.
#[derive(Clone, Debug)]
pub struct EmptyNetwork {
    stages: Vec<Stage>,
    is_stored: bool,
}

/// What a packet passes.
#[derive(Clone, Copy, Debug)]
struct Stage {
    /// Cycles per flit.
    pace: u64,
    /// Cycles from its flit's start on the stage before to its earliest start here.
    wait: u64,
    /// Whether packets are stored before it.
    stores: bool,
}

impl EmptyNetwork {
    /// The path over these channels, injection channel first, ejection channel last.
    pub fn new(graph: &Graph, plan: &Plan, path: impl Iterator<Item = ChannelId>) -> Self {
        let switch = &plan.switch;
        let delay = u64::from(switch.routing_delay) + u64::from(switch.allocation_delay);
        let mut stages = Vec::new();
        let mut before = 0;
        for channel in path {
            let timing = graph.channel(channel).timing;
            let is_first = stages.is_empty();
            stages.push(Stage {
                pace: timing.cycles_per_flit.into(),
                wait: if is_first { 0 } else { before + delay },
                stores: !is_first,
            });
            let crossbar = if is_first {
                0
            } else {
                u64::from(switch.crossbar_delay)
            };
            before = u64::from(timing.latency) + crossbar;
        }
        let last = stages.last().map_or(1, |stage| stage.pace);
        stages.push(Stage {
            pace: plan.host.sink_cycles_per_flit.map_or(last, u64::from),
            wait: before,
            stores: false,
        });
        Self {
            stages,
            is_stored: switch.forwarding == Forwarding::StoreAndForward,
        }
    }

    /// Cycles from the start of the first packet to the delivery of the last of `flits` flits in packets of `size`, at
    /// least 1.
    pub fn completion(&self, flits: u64, size: u16) -> u64 {
        let size = u64::from(size).min(flits);
        let before = flits.div_ceil(size).saturating_sub(2);
        let (has_rest, rest) = (
            flits > size,
            flits - flits.div_ceil(size).saturating_sub(1) * size,
        );
        let mut slowest = 0;
        let (mut first, mut last) = (0, 0);
        for (number, stage) in self.stages.iter().enumerate() {
            let pace_before = number
                .checked_sub(1)
                .map_or(stage.pace, |n| self.stages[n].pace);
            let wait = |flits: u64| stage.wait + (flits - 1) * self.held(stage, pace_before);
            slowest = stage.pace.max(slowest);
            if number > 0 {
                first += wait(size);
                last += wait(rest);
            }
            // the last but one of equal packets has passed
            let free = first + before * size * slowest + size * stage.pace;
            last = if has_rest { last.max(free) } else { first };
        }
        let sink = self.stages.last().map_or(1, |stage| stage.pace);
        (last + (rest - 1) * sink).max(1)
    }

    /// Cycles a packet waits for each flit but its first before it passes a stage.
    fn held(&self, stage: &Stage, pace_before: u64) -> u64 {
        if self.is_stored && stage.stores {
            pace_before
        } else {
            pace_before.saturating_sub(stage.pace)
        }
    }
}
