//! Reads the counters of all shards: flits sent, records as one.

use super::Run;
use crate::cycle::ledger::Channels;
use crate::cycle::shown::Shown;
use crate::cycle::state::Place;
use crate::ids::VlId;
use crate::measure::records::ChannelRecords;
use crate::measure::{FlowCounts, Records};
use crate::run::inspect::{Underway, crossed, flow_counts};

impl Run<'_> {
    /// What was measured, with the flits that crossed between two marks.
    pub(super) fn records(&mut self, before: &[u64], mut after: Vec<u64>) -> Records {
        let mut records = self.merged();
        let under_way = &mut Underway {
            records: &mut records,
            now: self.simulation.now(),
        };
        self.simulation.inspect(under_way);
        records.counts = self.simulation.counts();
        records.counts.extend(self.simulation.act_counts());
        let lanes = usize::from(self.resolved.plan.switch.lane_count());
        for (after, before) in after.iter_mut().zip(before) {
            *after -= before;
        }
        records.channels = ChannelRecords::of(after, lanes);
        self.add_drops(&mut records.channels);
        records
    }

    /// What switches dropped, where it would have left.
    fn add_drops(&self, channels: &mut ChannelRecords) {
        let lanes = u32::from(self.resolved.plan.switch.lane_count());
        let shards = self.simulation.worlds();
        for (world, ports) in shards.zip(self.simulation.port_channels()) {
            let Some(losses) = world.resource::<Shown>().losses else {
                continue;
            };
            let place: &Place = world.resource();
            for (port, &channel) in Channels::new(ports).enumerate() {
                if place.is_host(port) {
                    break;
                }
                for lane in 0..lanes {
                    let row = place.shared.numbering.lane(port, lane);
                    channels.drop(channel, VlId::from(lane as usize), (losses.at)(world, row));
                }
            }
        }
    }

    /// Packets that each flow has made, rejected ones included, by id.
    pub(super) fn made(&self) -> Vec<u64> {
        let flows = flow_counts(&self.simulation, None);
        let made = flows.iter().map(|flow| flow.sent.created.packets);
        made.collect()
    }

    /// What flows have done, with the packets made between two marks.
    pub(super) fn flow_results(&self, [before, after]: [&[u64]; 2]) -> Vec<FlowCounts> {
        let mut flows = flow_counts(&self.simulation, Some(self.simulation.now()));
        for (flow, (before, after)) in flows.iter_mut().zip(before.iter().zip(after)) {
            flow.sent.attempted = after - before;
        }
        flows
    }

    /// Counters of all shards as one.
    fn merged(&self) -> Records {
        let graph = &self.resolved.layout.graph;
        let mut sum = Records::new(self.resolved.plan.classes.len(), graph.hosts().len(), 0, 0);
        for records in self.simulation.records() {
            sum.merge(&records.measured);
        }
        let hops = self.simulation.hops();
        (sum.packet_hops, sum.flit_hops) = (hops.packets, hops.flits);
        sum
    }

    /// Flits that have crossed so far (D22), `[channel * lanes + lane]`.
    pub(super) fn sent(&self) -> Vec<u64> {
        let lanes = usize::from(self.resolved.plan.switch.lane_count());
        let granted = self.driver.timeline.sent(&self.simulation);
        crossed(&self.simulation, lanes, granted)
    }
}
