//! Reads the counters of all shards: rows of the timeline, flits sent, records as one.

use super::{Run, TIMELINE_ROWS};
use crate::cycle::records::Totals;
use crate::ids::{ChannelId, VlId};
use crate::measure::Records;
use crate::run::inspect::{Sent, Underway};
use crate::run::outcome::TimelineRow;

impl Run<'_> {
    /// Adds a row to the timeline.
    pub(super) fn sample(&mut self, now: u64, totals: Totals) {
        self.sent();
        let (start, before) = self.driver.row_start;
        self.driver.timeline.push(TimelineRow {
            start,
            length: now - start,
            created_flits: totals.created_flits - before.created_flits,
            delivered_flits: totals.delivered_flits - before.delivered_flits,
            delivered_packets: totals.delivered - before.delivered,
            network_latency_sum: totals.network_latency - before.network_latency,
            queued_packets: self.queued(),
            in_flight_packets: totals.injected - totals.delivered,
        });
        let driver = &mut self.driver;
        driver.row_start = (now, totals);
        if driver.timeline.len() as u64 >= 2 * TIMELINE_ROWS
            && !self.resolved.plan.phases.is_fixed()
        {
            driver.timeline = driver.timeline.chunks(2).map(TimelineRow::joined).collect();
            driver.interval *= 2;
        }
    }

    /// What was measured, with the flits sent between two marks.
    pub(super) fn records(&mut self, before: &[u64], after: &[u64]) -> Records {
        let mut records = self.merged();
        let under_way = &mut Underway {
            records: &mut records,
            now: self.simulation.now(),
        };
        self.simulation.inspect(under_way);
        records.counts = self.simulation.counts();
        let lanes = usize::from(self.resolved.plan.switch.lane_count());
        for (row, (before, after)) in before.iter().zip(after).enumerate() {
            let (channel, lane) = (ChannelId::from(row / lanes), VlId::from(row % lanes));
            records.channels.send(channel, lane, after - before);
        }
        records
    }

    /// Counters of all shards as one.
    fn merged(&self) -> Records {
        let graph = &self.resolved.layout.graph;
        let mut sum = Records::new(
            self.resolved.plan.classes.len(),
            graph.hosts().len(),
            graph.channels().len(),
            usize::from(self.resolved.plan.switch.lane_count()),
        );
        for records in self.simulation.records() {
            sum.merge(&records.measured);
        }
        let hops = self.simulation.hops();
        (sum.packet_hops, sum.flit_hops) = (hops.packets, hops.flits);
        sum
    }

    /// Flits sent so far, `[channel * lanes + lane]`. The lanes count modulo 2^32, so this is called at every
    /// row of the timeline.
    pub(super) fn sent(&mut self) -> Vec<u64> {
        let channels = self.simulation.port_channels().to_vec();
        let lanes = usize::from(self.resolved.plan.switch.lane_count());
        let mut sent = Sent {
            channels: &channels,
            shard: 0,
            lanes,
            flits: std::mem::take(&mut self.driver.sent),
        };
        self.simulation.inspect(&mut sent);
        self.driver.sent = sent.flits;
        self.driver.sent.clone()
    }
}
