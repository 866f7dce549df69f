//! What stands at the outputs of all switches, by output lanes.

use super::collect::Collect;
use super::trees::Rules;
use crate::cycle::ledger::Channels;
use crate::cycle::{Columns, Inspect};
use crate::ids::ChannelId;
use crate::run::shards::Shards;

/// By output lane: channel * lanes + lane.
#[derive(Debug)]
pub(in crate::run) struct Standing {
    /// Flits that wait for it (D36).
    pub(in crate::run) waiting: Vec<u64>,
    /// Flits granted for it since the start of the run, modulo 2^32: only differences count. Not with output lanes.
    pub(in crate::run) granted: Vec<u32>,
}

impl Standing {
    /// Before cycle `at`, of a fabric with so many channels.
    pub(in crate::run) fn new(channels: usize, lanes: usize, at: u64, shards: &Shards) -> Self {
        let rules = Rules {
            to_host: vec![false; channels],
            ..Rules::default()
        };
        Self {
            waiting: Collect::waiting(&rules, at, shards).fill,
            granted: granted(channels, lanes, shards),
        }
    }
}

/// Flits granted for every channel and lane since the start of the run, modulo 2^32. Not with output lanes.
pub(in crate::run) fn granted(channels: usize, lanes: usize, shards: &Shards) -> Vec<u32> {
    let mut granted = Granted {
        channels: shards.port_channels(),
        shard: 0,
        flits: vec![0; channels * lanes],
    };
    shards.inspect(&mut granted);
    granted.flits
}

struct Granted<'a> {
    /// Outgoing channel of every port row of every shard.
    channels: &'a [Vec<ChannelId>],
    /// Shard that comes next.
    shard: usize,
    flits: Vec<u32>,
}

impl Inspect for Granted<'_> {
    fn look(&mut self, view: &dyn Columns) {
        let channels = Channels::new(&self.channels[self.shard]);
        self.shard += 1;
        let numbering = view.shared().numbering;
        let lanes = numbering.lanes() as usize;
        for (port, _) in view.outs().enumerate() {
            for lane in numbering.lanes_of(port) {
                let number = channels[port].index() * lanes + numbering.number(lane) as usize;
                self.flits[number] = view.sent(lane);
            }
        }
    }
}
