//! Hands the records of packets over as they come, and those of flows at the end.

use super::Run;
use crate::cycle::mechanisms::packet_records::PacketRecords;
use crate::measure::percentiles::{ByFlow, ByHops, Groups};
use crate::measure::{Flow, FlowRecord, Observation, PacketRow, Sample};
use crate::run::acts::GlobalAct;
use crate::run::outcome::RunError;
use crate::run::packet_sink::{self, PacketSink};
use crate::run::shards::Shards;
use crate::scenario::Resolved;
use std::io;

/// Hands the records of packets over, so that few are held.
pub(super) struct HandOver<'a> {
    /// Takes them.
    pub(super) sink: Option<&'a mut dyn PacketSink>,
    /// Cycles between two hand-overs; `None` = no packet is recorded.
    interval: Option<u64>,
    /// Cycle of the latest.
    last: u64,
}

impl HandOver<'_> {
    /// To nobody yet.
    pub(super) fn new(resolved: &Resolved) -> Self {
        let hosts = resolved.layout.graph.hosts().len();
        let is_recorded = resolved.plan.observe.packets != Sample::None;
        Self {
            sink: None,
            interval: is_recorded.then(|| packet_sink::interval(hosts)),
            last: 0,
        }
    }

    /// Hands the packets over that were recorded since the last call, in order: all of them were delivered later
    /// than those before.
    pub(super) fn hand_over(&mut self, shards: &mut Shards) -> io::Result<()> {
        let mut rows = Vec::new();
        for mut records in shards.each_mut::<PacketRecords>() {
            if let Some(observation) = records.observation_mut() {
                observation.take_packets(&mut rows);
            }
        }
        rows.sort_unstable_by_key(PacketRow::order);
        match &mut self.sink {
            Some(sink) if !rows.is_empty() => sink.take(&rows),
            _ => Ok(()),
        }
    }
}

impl GlobalAct for HandOver<'_> {
    fn next(&self, from: u64) -> Option<u64> {
        Some((self.last + self.interval?).max(from))
    }

    fn act(&mut self, at: u64, shards: &mut Shards) -> Result<(), RunError> {
        self.last = at;
        self.hand_over(shards).map_err(RunError::Packets)
    }
}

impl Run<'_> {
    /// All flows in order, when asked for.
    pub(super) fn flows(&self) -> Option<Vec<(Flow, FlowRecord)>> {
        if !self.resolved.plan.observe.flows {
            return None;
        }
        let mut flows: Vec<_> = self.observations().flat_map(Observation::flows).collect();
        flows.sort_unstable_by_key(|(flow, _)| *flow);
        Some(flows)
    }

    /// Latencies of flows and by hops, each when asked for.
    pub(super) fn groups(&self) -> (Option<ByFlow>, Option<ByHops>) {
        let observe = &self.resolved.plan.observe;
        let mut all = Groups::default();
        for observation in self.observations() {
            all.merge(observation.groups());
        }
        let flows = (!observe.percentiles.is_empty()).then_some(all.flows);
        (flows, observe.hops.then_some(all.hops))
    }

    /// What the shards have recorded.
    fn observations(&self) -> impl Iterator<Item = &Observation> {
        let records = self.simulation.each::<PacketRecords>();
        records.filter_map(PacketRecords::observation)
    }
}
