//! Counters over time: the rows of the timeline, and the flits that every lane has been granted.

use super::{DRAIN_STEP, LONGEST_ROW, TIMELINE_ROWS};
use crate::cycle::records::Totals;
use crate::plan::Phases;
use crate::run::acts::GlobalAct;
use crate::run::inspect::Sent;
use crate::run::outcome::{RunError, TimelineRow};
use crate::run::shards::Shards;
use serde::{Deserialize, Serialize};

/// Cycles in which a lane sends fewer flits than it can count.
const COUNTED: u64 = 1 << 32;

/// Takes a row at the end of every interval, and one of what is left at the end of the run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Timeline {
    /// Rows so far.
    pub rows: Vec<TimelineRow>,
    /// First cycle of the current row, and the totals then.
    pub(super) start: (u64, Totals),
    /// Length of a row \[cycles\].
    interval: u64,
    /// Whether the length of the run is known: else rows are joined when there are too many.
    is_fixed: bool,
    /// Flits granted to every lane as of the last look, `[channel * lanes + lane]`; empty before the first.
    sent: Vec<u64>,
    /// Cycle of the last look.
    looked: u64,
    /// Channels, and lanes of each.
    fabric: (usize, usize),
}

impl Timeline {
    /// At cycle 0 of a fabric of so many channels with so many lanes each.
    pub(super) fn new(phases: &Phases, channels: usize, lanes: usize) -> Self {
        let planned = phases.warmup + phases.measure;
        let interval = if phases.is_fixed() {
            planned.div_ceil(TIMELINE_ROWS).next_multiple_of(DRAIN_STEP)
        } else {
            DRAIN_STEP
        };
        Self {
            rows: Vec::new(),
            start: (0, Totals::default()),
            interval: interval.min(LONGEST_ROW),
            is_fixed: phases.is_fixed(),
            sent: Vec::new(),
            looked: 0,
            fabric: (channels, lanes),
        }
    }

    /// First cycle after the current row.
    pub(super) fn end(&self) -> u64 {
        self.start.0 + self.interval
    }

    /// Starts anew at cycle `now` of a fabric in which the lanes have sent what `origin` knows.
    pub(super) fn fork(&mut self, origin: &Self, now: u64, totals: Totals) {
        self.sent.clone_from(&origin.sent);
        self.looked = origin.looked;
        self.start = (now, totals);
    }

    /// Ends with the run in cycle `now`: the last row is as long as what is left.
    pub(super) fn finish(&mut self, now: u64, shards: &Shards) {
        if now > self.start.0 {
            self.take_row(now, shards);
        }
    }

    /// The row from the end of the last one to cycle `at`.
    fn take_row(&mut self, at: u64, shards: &Shards) {
        let totals = shards.totals();
        let (start, before) = self.start;
        self.rows.push(TimelineRow {
            start,
            length: at - start,
            created_flits: totals.created_flits - before.created_flits,
            delivered_flits: totals.delivered_flits - before.delivered_flits,
            delivered_packets: totals.delivered - before.delivered,
            network_latency_sum: totals.network_latency - before.network_latency,
            queued_packets: shards.queued(),
            in_flight_packets: totals.in_fabric(),
        });
        self.start = (at, totals);
    }

    /// Flits granted so far, `[channel * lanes + lane]`. The lanes count modulo 2^32, one flit a cycle at most in the long
    /// run, so what they have sent is kept before as many cycles have passed.
    pub(super) fn sent(&self, shards: &Shards) -> Vec<u64> {
        let (channels, lanes) = self.fabric;
        let mut flits = self.sent.clone();
        flits.resize(channels * lanes, 0);
        let mut sent = Sent {
            channels: shards.port_channels(),
            shard: 0,
            lanes,
            flits,
        };
        shards.inspect(&mut sent);
        sent.flits
    }
}

impl GlobalAct for Timeline {
    fn next(&self, from: u64) -> Option<u64> {
        Some(self.end().max(from))
    }

    fn act(&mut self, at: u64, shards: &mut Shards) -> Result<(), RunError> {
        if at - self.looked + LONGEST_ROW >= COUNTED {
            self.sent = self.sent(shards);
            self.looked = at;
        }
        self.take_row(at, shards);
        if self.rows.len() as u64 >= 2 * TIMELINE_ROWS && !self.is_fixed {
            self.rows = self.rows.chunks(2).map(TimelineRow::joined).collect();
            self.interval *= 2;
        }
        Ok(())
    }
}
