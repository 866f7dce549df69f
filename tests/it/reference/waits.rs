//! Flows that wait for others (D63): in which cycle each starts.

use super::Setting;
use super::applications::is_complete;
use super::packet::Packet;
use virtlane::ids::HostId;
use virtlane::plan::FlowPlan;

/// A flow that is waited for has a size.
const SIZE: &str = "D63: a size";

/// The start cycle of a flow that waits, at the end of cycle `now`; `None`: it does not follow yet.
pub(super) fn start(setting: Setting<'_>, packets: &[Packet], flow: &FlowPlan) -> Option<u64> {
    assert!(flow.flits.is_some(), "{SIZE}");
    assert!(flow.process.is_none() && flow.stop.is_none(), "D63");
    assert!(flow.changes.is_empty() && flow.phase.is_none(), "D63");
    let mut start = flow.start;
    for after in &flow.after {
        let id = after.flow as usize;
        let other = &setting.plan.flows[id];
        let done = if other.source == flow.source {
            sent(setting, packets, id)
        } else {
            assert_eq!(other.destination, flow.source, "D63");
            received(setting, packets, id)
        };
        start = start.max(done? + after.delay);
    }
    Some(start)
}

/// The cycle from which on a flow is sent: the channel is free of all its packets.
fn sent(setting: Setting<'_>, packets: &[Packet], id: usize) -> Option<u64> {
    let own = packets.iter().filter(|packet| packet.flow == Some(id));
    let through: Vec<(u64, u64)> = own
        .filter_map(|packet| Some((packet.through?.free, packet.size.into())))
        .collect();
    let flits: u64 = through.iter().map(|packet| packet.1).sum();
    let (free, _) = through.into_iter().max()?;
    (flits == setting.plan.flows[id].flits.expect(SIZE)).then_some(free)
}

/// The cycle from which on a flow is received.
fn received(setting: Setting<'_>, packets: &[Packet], id: usize) -> Option<u64> {
    let flits = setting.plan.flows[id].flits.expect(SIZE);
    if !is_complete(packets, (id, flits)) {
        return None;
    }
    let own = packets.iter().filter(|packet| packet.flow == Some(id));
    let last = own.filter_map(|packet| packet.delivered).max();
    last.map(|cycle| cycle + 1)
}

/// Whether a packet of a flow was through or delivered in a cycle: nothing else releases.
pub(super) fn may_release(packets: &[Packet], now: u64) -> bool {
    let mut of_flows = packets.iter().filter(|packet| packet.flow.is_some());
    of_flows.any(|packet| {
        let known = packet.through.map(|through| through.known);
        known == Some(now) || packet.delivered == Some(now)
    })
}

/// Flows of a host that wait, by id.
pub(super) fn of_host(
    setting: Setting<'_>,
    host: HostId,
) -> impl Iterator<Item = (usize, &FlowPlan)> {
    let flows = setting.plan.flows.iter().enumerate();
    flows.filter(move |(_, flow)| flow.source == host && !flow.after.is_empty())
}
