//! Heads that wait at switches: the longest wait since a cycle, and the head that stands for longest now (D72).
//!
//! Cost: O(queues) per look

use super::simulation::Simulation;
use crate::cycle::ledger::Channels;
use crate::cycle::state::Worklists;
use crate::cycle::{Columns, Inspect};
use crate::fabric::rows::QueueRow;
use crate::ids::{ChannelId, HostId};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// A head whose request stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// Since its request \[cycles\].
    pub cycles: u32,
    /// Outgoing channel of the port it came in by.
    pub input: ChannelId,
    /// Lane it came in by.
    pub lane: u32,
    /// Channel it waits for.
    pub output: ChannelId,
    /// Its source.
    pub source: HostId,
    /// Where it goes.
    pub destination: HostId,
    /// Number within its source.
    pub sequence: u32,
    /// Traffic class.
    pub class: u16,
}

/// How long heads have waited up to a cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waited {
    /// Longest time from request to grant of the heads granted since [`Simulation::forget_waits`] \[cycles\].
    pub granted: u32,
    /// The head that has stood for longest.
    pub standing: Option<Standing>,
}

impl Waited {
    /// The longest wait, granted or not \[cycles\].
    pub fn longest(&self) -> u32 {
        let standing = self.standing.as_ref().map_or(0, |head| head.cycles);
        self.granted.max(standing)
    }
}

/// Finds the head that has stood for longest, in one shard after the other.
struct Find<'a> {
    channels: &'a [Vec<ChannelId>],
    shard: usize,
    now: u64,
    found: Option<Standing>,
}

impl Inspect for Find<'_> {
    fn look(&mut self, view: &dyn Columns) {
        let channels = Channels::new(&self.channels[self.shard]);
        self.shard += 1;
        let (place, shared) = (view.place(), view.shared());
        let lane_of = |row: QueueRow| shared.switch.classifier.lane(row);
        for (row, queue) in view.queues().enumerate() {
            let input = shared.numbering.port(lane_of(row));
            if place.is_host(input) {
                break;
            }
            let cycles = queue.waited(self.now);
            let longest = self.found.as_ref().map_or(0, |found| found.cycles);
            if !queue.requesting || cycles < longest {
                continue;
            }
            let (packet, record) = (&view.packets()[queue.head], &view.records()[queue.head]);
            let standing = Standing {
                cycles,
                input: channels[input],
                lane: shared.numbering.number(lane_of(row)),
                output: channels[queue.out],
                source: HostId(record.source),
                destination: HostId(packet.destination),
                sequence: record.sequence,
                class: record.class,
            };
            let rank = |one: &Standing| (one.cycles, Reverse((one.input, one.lane, one.output)));
            if (self.found.as_ref()).is_none_or(|found| rank(found) < rank(&standing)) {
                self.found = Some(standing);
            }
        }
    }
}

impl Simulation {
    /// How long heads have waited: those granted since waits were forgotten, and those that stand now.
    pub fn waited(&self) -> Waited {
        let mut find = Find {
            channels: self.port_channels(),
            shard: 0,
            now: self.now(),
            found: None,
        };
        self.inspect(&mut find);
        Waited {
            granted: self.hops().longest,
            standing: find.found,
        }
    }

    /// Waits of heads that have been granted do not count any more.
    pub fn forget_waits(&mut self) {
        for mut lists in self.each_mut::<Worklists>() {
            lists.hops.longest = 0;
        }
    }
}
