//! Conservation (model section 6): every flit of every packet is in exactly one place, credits add up,
//! packets of one path stay in order.

use super::Fabric;
use super::packet::Packet;
use super::switch::Switch;
use std::collections::BTreeMap;
use virtlane::ids::{HostId, SlId};

/// Checks the whole fabric at the end of a cycle.
pub(super) fn check(fabric: &Fabric<'_>) {
    for link in &fabric.links {
        link.check_credits();
    }
    check_flits(fabric);
    check_queues(fabric);
    check_control(fabric);
}

/// At the source, on the way (between buffers or in one), or consumed: once each.
fn check_flits(fabric: &Fabric<'_>) {
    let mut seen: Vec<Vec<u32>> = fabric.packets.iter().map(flits_at_ends).collect();
    let on_links = fabric.links.iter().flat_map(super::link::Link::flits);
    let in_lanes = fabric.switches.iter().flat_map(Switch::buffered_flits);
    for flit in on_links.chain(in_lanes) {
        seen[flit.packet][usize::from(flit.index)] += 1;
    }
    for (id, flits) in seen.iter().enumerate() {
        assert!(
            flits.iter().all(|&places| places == 1),
            "packet {id}: {flits:?}"
        );
    }
}

/// Times each flit is at the source or consumed; none of a delivered packet is to be anywhere else.
fn flits_at_ends(packet: &Packet) -> Vec<u32> {
    if packet.delivered.is_some() {
        return Vec::new();
    }
    let at_ends = |index| u32::from(index >= packet.flits_sent || index < packet.flits_consumed);
    (0..packet.size).map(at_ends).collect()
}

/// Created = queued + in the fabric + delivered, the queued ones in one queue of a source or a flow each.
fn check_queues(fabric: &Fabric<'_>) {
    let mut times_queued = vec![0u32; fabric.packets.len()];
    for id in fabric.hosts.iter().flat_map(super::host::Host::queued) {
        times_queued[id] += 1;
    }
    for (packet, times) in fabric.packets.iter().zip(times_queued) {
        assert_eq!(times, u32::from(packet.injected.is_none()));
        assert!(packet.injected.is_some() || packet.flits_sent == 0);
        assert_eq!(
            packet.delivered.is_some(),
            packet.flits_consumed == packet.size
        );
    }
}

/// Every delivery of a flow with control is told to its receiver once, every answer is to be made, or made; every start and
/// every delivery of an answer is told to its sender once.
fn check_control(fabric: &Fabric<'_>) {
    let count = |is_meant: &dyn Fn(&&Packet) -> bool| {
        let packets = fabric.packets.iter();
        packets.filter(is_meant).count() as u64
    };
    for (_, answers) in fabric.hosts.iter().map(super::host::Host::control) {
        for (flow, received, answered) in answers.told() {
            let delivered = count(&|p| p.flow == Some(flow) && p.delivered.is_some());
            assert_eq!(received, delivered, "flow {flow}");
            let made = answers_made(&fabric.packets, &[flow]).len() as u64;
            assert_eq!(answered, made + answers.to_make(flow), "flow {flow}");
        }
    }
    for (flows, _) in fabric.hosts.iter().map(super::host::Host::control) {
        for told in flows.told() {
            let is_of = |p: &Packet| p.flow.is_some_and(|flow| told.flows.contains(&flow));
            let injected = count(&|p| is_of(p) && p.injected.is_some());
            assert_eq!(told.starts, injected, "{told:?}");
            let made = answers_made(&fabric.packets, &told.flows);
            let whole = made.values().filter(|is_delivered| **is_delivered);
            assert_eq!(told.answers, whole.count() as u64, "{told:?}");
        }
    }
}

/// The answers made to these flows, by flow and number, and whether all packets of each are delivered.
fn answers_made(packets: &[Packet], flows: &[usize]) -> BTreeMap<(usize, u64), bool> {
    let mut made = BTreeMap::new();
    for packet in packets {
        if let Some(answer) = packet.answer.filter(|answer| flows.contains(&answer.flow)) {
            *made.entry((answer.flow, answer.number)).or_insert(true) &= packet.delivered.is_some();
        }
    }
    made
}

/// Packets of one (source, destination, service level) take one path and one sequence of lanes, so they are delivered in
/// the order of their creation, those of one flow, those of none, and answers; which of these goes first is the scheduler's
/// choice, or D40's.
pub(super) fn check_order(packets: &[Packet]) {
    let mut last: BTreeMap<(HostId, HostId, SlId, bool, Option<usize>, bool), u64> =
        BTreeMap::new();
    for packet in packets {
        let delivered = packet.delivered.unwrap_or(u64::MAX);
        // the service level of a management packet does not matter
        let sl = if packet.management {
            SlId(0)
        } else {
            packet.sl
        };
        let ends = (packet.source, packet.destination);
        let path = (
            ends.0,
            ends.1,
            sl,
            packet.management,
            packet.flow,
            packet.answer.is_some(),
        );
        let before = last.insert(path, delivered).unwrap_or(0);
        assert!(before <= delivered, "overtaken on one path: {packet:?}");
    }
}
