//! Hands the records of packets over as they come, and those of flows at the end.

use super::Run;
use crate::cycle::mechanisms::packet_records::PacketRecords;
use crate::measure::{Flow, FlowRecord, Observation, PacketRow, Sample};
use crate::run::outcome::RunError;
use crate::run::packet_sink;

impl Run<'_> {
    /// Latest end of the cycles up to the next [`Self::hand_over`].
    pub(super) fn next_hand_over(&self) -> u64 {
        if self.resolved.plan.observe.packets == Sample::None {
            return u64::MAX;
        }
        let hosts = self.resolved.layout.graph.hosts().len();
        self.simulation.now() + packet_sink::interval(hosts)
    }

    /// Hands the packets over that were recorded since the last call, in order: all of them were delivered later
    /// than those before.
    pub(super) fn hand_over(&mut self) -> Result<(), RunError> {
        if self.resolved.plan.observe.packets == Sample::None {
            return Ok(());
        }
        let mut rows = Vec::new();
        for mut records in self.simulation.each_mut::<PacketRecords>() {
            if let Some(observation) = records.observation_mut() {
                observation.take_packets(&mut rows);
            }
        }
        rows.sort_unstable_by_key(PacketRow::order);
        match &mut self.packets {
            Some(packets) if !rows.is_empty() => packets.take(&rows).map_err(RunError::Packets),
            _ => Ok(()),
        }
    }

    /// All flows in order, when asked for.
    pub(super) fn flows(&self) -> Option<Vec<(Flow, FlowRecord)>> {
        if !self.resolved.plan.observe.flows {
            return None;
        }
        let observations = self
            .simulation
            .each::<PacketRecords>()
            .filter_map(PacketRecords::observation);
        let mut flows: Vec<_> = observations.flat_map(Observation::flows).collect();
        flows.sort_unstable_by_key(|(flow, _)| *flow);
        Some(flows)
    }
}
