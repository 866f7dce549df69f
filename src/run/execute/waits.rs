//! A verdict names the packet that has waited at a switch for as long as the measurement, or nearly: it had to come there first.

use super::Run;
use crate::ids::{ChannelId, HostId};
use crate::measure::Records;
use crate::run::checkpoint::Mark;
use crate::run::outcome::Verdict;
use crate::topology::Endpoint;

/// All but one of so many parts of the measurement is nearly all.
const WAITED: u64 = 10;

impl Run<'_> {
    /// A verdict whose reason names a packet that has waited at a switch for that long.
    pub(super) fn with_starved(
        &self,
        (verdict, reason): (Verdict, String),
        records: &Records,
        [warm, measured]: [&Mark; 2],
    ) -> (Verdict, String) {
        let cycles = measured.cycle - warm.cycle;
        let standing = measured.waited.standing.as_ref();
        let Some(head) =
            standing.filter(|head| WAITED * u64::from(head.cycles) >= (WAITED - 1) * cycles)
        else {
            return (verdict, reason);
        };
        let (plan, graph) = (&self.resolved.plan, &self.resolved.layout.graph);
        let host = |host: HostId| &graph.hosts()[host.index()].name;
        let port = |channel: ChannelId| match graph.channel(channel).from {
            Endpoint::Switch(switch, port) => (
                graph.switches()[switch.index()].name.as_str(),
                port.to_string(),
            ),
            Endpoint::Host(_) => ("", String::new()),
        };
        let ((switch, input), (_, output)) = (port(head.input), port(head.output));
        let passed = match records.channels.flits(head.output) {
            0 => "",
            _ => ", while others passed",
        };
        let starved = format!(
            "{}'s packet {} of class {} to {} has waited for {} cycles at {switch} input port {input} lane {} for output \
             port {output}{passed}",
            host(head.source),
            head.sequence,
            plan.classes[usize::from(head.class)].name,
            host(head.destination),
            head.cycles,
            head.lane
        );
        (verdict, format!("{reason}; {starved}"))
    }
}
