//! What packets are to the switches that direct them (D67): set-ups, tear-downs, and all others.

use super::plan::set_up_of;
use crate::reference::Setting;
use crate::reference::packet::{Packet, Says};

/// Word 0 of probes.
const SET_UP: u32 = 1;
const TEAR_DOWN: u32 = 2;

/// What the probe says that this packet is.
pub(super) fn payload_mut(packet: &mut Packet) -> &mut [u32; 4] {
    match packet.saying.as_mut().map(|saying| &mut saying.says) {
        Some(Says::Probe(payload)) => payload,
        other => panic!("no probe: {other:?}"),
    }
}

/// Word 0 of a probe, 0 of all other packets.
fn word(packet: &Packet) -> u32 {
    match packet.saying.map(|saying| saying.says) {
        Some(Says::Probe(payload)) => payload[0],
        _ => 0,
    }
}

/// Whether it chooses its way.
pub(super) fn sets_up(packet: &Packet) -> bool {
    word(packet) == SET_UP
}

/// Whether it takes the route of its flow down: a probe that says so, or the last packet of the flow.
pub(super) fn tears_down(setting: Setting<'_>, packet: &Packet) -> bool {
    let flow = directed(setting, packet).expect("D67");
    let by_last = set_up_of(setting, flow).expect("D67").last_takes_down;
    let is_probe = word(packet) == TEAR_DOWN;
    assert!(!is_probe || !by_last, "the last packet is the tear-down");
    is_probe || by_last && packet.flow.is_some() && packet.is_last
}

/// The flow of a packet that switches direct.
pub(in crate::reference) fn directed(setting: Setting<'_>, packet: &Packet) -> Option<usize> {
    let flow = match (packet.flow, packet.saying) {
        (Some(flow), _) => flow,
        (None, Some(saying)) if matches!(saying.says, Says::Probe(_)) => saying.flow,
        _ => return None,
    };
    set_up_of(setting, flow).map(|_| flow)
}
