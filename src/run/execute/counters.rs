//! Reads the counters of all shards: flits sent, records as one.

use super::Run;
use crate::ids::{ChannelId, VlId};
use crate::measure::Records;
use crate::run::inspect::Underway;

impl Run<'_> {
    /// What was measured, with the flits sent between two marks.
    pub(super) fn records(&mut self, before: &[u64], after: &[u64]) -> Records {
        let mut records = self.merged();
        let under_way = &mut Underway {
            records: &mut records,
            now: self.simulation.now(),
        };
        self.simulation.inspect(under_way);
        records.counts = self.simulation.counts();
        records.counts.extend(self.simulation.act_counts());
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

    /// Flits sent so far, `[channel * lanes + lane]`.
    pub(super) fn sent(&mut self) -> Vec<u64> {
        self.driver.timeline.sent(&self.simulation).to_vec()
    }
}
