//! Conservation (model section 6): every flit of every packet is in exactly one place, credits add up,
//! packets of one path stay in order.

use super::Fabric;
use super::flows::Told;
use super::own_routes;
use super::packet::{Packet, PacketId, Saying, Says};
use super::routing::{Routing, tables_of};
use super::set_up;
use super::switch::Switch;
use std::collections::BTreeMap;
use virtlane::ids::{HostId, SlId};

/// Checks the whole fabric at the end of a cycle.
pub(super) fn check(fabric: &Fabric<'_>) {
    for link in &fabric.links {
        link.check_credits();
    }
    super::wormhole::check(fabric);
    check_flits(fabric);
    check_queues(fabric);
    check_inputs(fabric);
    check_control(fabric);
    check_visits(fabric);
    check_rooms(fabric);
    fabric.networks.check();
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

/// Times each flit is at the source, consumed or dropped; none of a delivered packet is to be anywhere else.
fn flits_at_ends(packet: &Packet) -> Vec<u32> {
    if packet.delivered.is_some() {
        return Vec::new();
    }
    let gone = packet.flits_consumed + packet.flits_dropped;
    let at_ends = |index| u32::from(index >= packet.flits_sent || index < gone);
    (0..packet.size).map(at_ends).collect()
}

/// Created = queued + in the fabric + delivered + dropped, the queued ones in one queue of a source or a flow each.
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
        match packet.dropped {
            None => assert_eq!(packet.flits_dropped, 0),
            Some(_) => assert!(packet.flits_consumed == 0 && packet.injected.is_some()),
        }
    }
}

/// With adaptive routing: every packet with flits at an input of a switch is in one of its queues, or stands in several (D84), or has still to
/// choose one (D75) or to come, or is dropped from there.
fn check_inputs(fabric: &Fabric<'_>) {
    let Routing::Adaptive(_) = fabric.setting.routing else {
        return;
    };
    let inputs = fabric.switches.iter().flat_map(|switch| {
        let inputs = switch.inputs.iter().enumerate();
        inputs.filter_map(move |(number, input)| Some((switch, number, input.as_ref()?)))
    });
    for (switch, number, input) in inputs {
        let queues = input.queues.iter();
        let in_queues = queues.flat_map(|queue| &queue.packets);
        let undecided = input.undecided.iter().map(|(_, waiting)| waiting);
        let standing = input.standing.iter().map(|one| &one.waiting);
        let waiting = in_queues.chain(undecided).chain(standing);
        let waiting = waiting.map(|one| one.packet);
        let all: Vec<PacketId> = waiting.chain(switch.lost_at(number)).collect();
        for stored in &fabric.links[input.channel].buffer {
            let id = stored.flit.packet;
            let places = all.iter().filter(|&&other| other == id);
            assert_eq!(places.count(), 1, "packet {id} in queues");
        }
    }
}

/// D57: what takes room is a packet that drains (D78: of each lane one), an answer that is to be made, or a packet of an answer that has not started.
fn check_rooms(fabric: &Fabric<'_>) {
    let packets = &fabric.packets;
    let class_of = |flow: usize| fabric.setting.plan.flows[flow].class;
    for host in &fabric.hosts {
        for room in &host.rooms().0 {
            let drains = host.sink.drains(packets);
            let drains = drains.iter().filter(|&&id| packets[id].class == room.class);
            let (_, _, control) = host.control();
            let to_make = control.to_make();
            let to_make = to_make.filter(|saying| class_of(saying.flow) == room.class);
            let queued = control.queued();
            let queued = queued.filter(|&id| packets[id].class == room.answers);
            let taken = room.needs * (drains.count() + to_make.count()) as u64;
            let taken = taken + queued.count() as u64;
            assert_eq!(room.left + taken, room.places, "{:?}: {room:?}", host.id);
        }
    }
}

/// Every delivery of a flow with control, and of a probe of it, is told to its receiver once; every start, and every delivery
/// of an answer or a reply, is told to its sender once; every answer, reply and probe that they want is to be made, or made.
fn check_control(fabric: &Fabric<'_>) {
    let count = |is_meant: &dyn Fn(&&Packet) -> bool| {
        let packets = fabric.packets.iter();
        packets.filter(is_meant).count() as u64
    };
    let control: Vec<(Saying, bool)> = fabric
        .control_packets()
        .into_iter()
        .map(|(saying, delivered)| (saying, delivered.is_some()))
        .collect();
    let controls = || fabric.hosts.iter().map(super::host::Host::control);
    let to_make: Vec<Saying> = controls()
        .flat_map(|(_, _, wanted)| wanted.to_make())
        .collect();
    let arrived = |flow: usize, is_meant: fn(&Saying) -> bool| {
        let mine = control.iter().filter(|(saying, _)| saying.flow == flow);
        mine.filter(|(saying, delivered)| *delivered && is_meant(saying))
            .count() as u64
    };
    let wanted = |flow: usize, is_meant: fn(&Saying) -> bool| {
        let made = control.iter().map(|(saying, _)| saying);
        let all = made.chain(&to_make).filter(|saying| saying.flow == flow);
        all.filter(|saying| is_meant(saying)).count() as u64
    };
    let is_probe = |saying: &Saying| matches!(saying.says, Says::Probe(_));
    for (flow, told) in controls().flat_map(|(_, receivers, _)| receivers.told()) {
        let expected = Told {
            packets: count(&|p| p.flow == Some(flow) && p.delivered.is_some()),
            answers: wanted(flow, |saying| matches!(saying.says, Says::Answer(_))),
            probes: arrived(flow, is_probe),
            replies: wanted(flow, |saying| matches!(saying.says, Says::Reply { .. })),
        };
        assert_eq!(told, expected, "flow {flow}");
    }
    for told in controls().flat_map(|(flows, _, _)| flows.told()) {
        let is_of = |p: &Packet| p.flow.is_some_and(|flow| told.flows.contains(&flow));
        let injected = count(&|p| is_of(p) && p.injected.is_some());
        let sum = |of: &dyn Fn(usize) -> u64| told.flows.iter().map(|&flow| of(flow)).sum::<u64>();
        let returned = sum(&|flow| arrived(flow, Saying::is_for_sender));
        let probes = sum(&|flow| wanted(flow, is_probe));
        let found = (told.starts, told.answers, told.probes);
        assert_eq!(found, (injected, returned, probes), "{told:?}");
    }
}

/// D69: every packet of data that carries something has visited at its host and at each switch that has granted it, dropped
/// ones as well; all of a class carry once they have started, or none.
fn check_visits(fabric: &Fabric<'_>) {
    for (class, plan) in fabric.setting.plan.classes.iter().enumerate() {
        let control = plan.control.as_ref();
        let carries = control.is_some_and(|control| control.algorithm.carries());
        let packets = fabric.packets.iter();
        let started = packets.filter(|p| usize::from(p.class) == class && p.injected.is_some());
        let mut visits = 0;
        for packet in started {
            assert_eq!(packet.carries.is_some(), carries, "{packet:?}");
            visits += 1 + usize::from(packet.switches);
        }
        let expected = if carries { visits } else { 0 };
        assert_eq!(
            fabric.agents.visits_by_data(fabric.setting, class),
            expected,
            "{class}"
        );
    }
}

/// Packets of one (source, destination, service level) that go by tables take one path and one sequence of lanes, so they are delivered, but for
/// dropped ones, in the order of their creation, those of one flow, those of none, and control packets; which of these goes first is the scheduler's
/// choice, or D40's. With routes of their own (D66, D67) so are the packets of a flow, and its probes.
pub(super) fn check_order(fabric: &Fabric<'_>) {
    let (setting, packets) = (fabric.setting, &fabric.packets);
    let mut last: BTreeMap<(HostId, HostId, SlId, bool, Option<usize>, bool), u64> =
        BTreeMap::new();
    let on_one_path = |packet: &&Packet| tables_of(setting, packet).is_some();
    let arriving = packets.iter().filter(|packet| packet.dropped.is_none());
    for packet in arriving.filter(on_one_path) {
        let delivered = packet.delivered.unwrap_or(u64::MAX);
        // the service level of a management packet does not matter
        let sl = if packet.management {
            SlId(0)
        } else {
            packet.sl
        };
        let ends = (packet.source, packet.destination);
        let is_set_up = set_up::directed(setting, packet).is_some();
        if is_set_up && !set_up::is_in_order(setting) {
            continue;
        }
        let has_route =
            |saying: &Saying| is_set_up || own_routes::of_saying(setting, *saying).is_some();
        let probes = packet.saying.filter(has_route);
        let path = (
            ends.0,
            ends.1,
            sl,
            packet.management,
            packet.flow.or(probes.map(|saying| saying.flow)),
            packet.saying.is_some(),
        );
        let before = last.insert(path, delivered).unwrap_or(0);
        assert!(before <= delivered, "overtaken on one path: {packet:?}");
    }
}
