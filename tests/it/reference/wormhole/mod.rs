//! Wormhole switching (D65): every output and every host passes single flits.
//!
//! Links, queues, hosts, flows and choices of heads (D20) are those of packets that travel as a unit; what stands here takes the place of
//! stages Arbitrate and Cross (`switch`, `ports`, `ready`, and of the two kinds of matching `output_first` and `input_first`), of Inject
//! (`host`) and of slow sinks (`sink`). With adaptive routing: D76; rounds, output buffers, marks and occupancy: D77; messages, flows
//! that wait, routes of flows, input speed-up, queues by output, VL15, slow sinks, InfiniBand's marking, looks, `reserve` (which nothing
//! here asks for) and bounded answers: D78; input-first matching and
//! thresholds of dropping (`drops`), congestion trees (`congestion`) and output lanes
//! (`output_lanes`): D79; headers that several outputs pick, or that have several proposals to choose from: D82.

mod host;
mod input_first;
mod output_first;
mod output_lanes;
mod ports;
mod ready;
mod sink;
mod switch;

pub(super) use output_lanes::FlitLanes;
pub(super) use ports::Ports;
pub(super) use ready::{has_room, needs_empty};
pub(super) use sink::FlitSink;
pub(super) use switch::{may_leave, pass_flits};

use super::packet::{Flit, Packet};
use super::{Fabric, Setting};
use virtlane::plan::{BufferSharing, Forwarding, InputSpeedup, InputTurns, Plan, SwitchOptions};
use virtlane::qos::vl_arbitration::Rules;

/// Whether flits go by themselves.
pub(super) fn is_on(plan: &Plan) -> bool {
    plan.switch.forwarding == Forwarding::Wormhole
}

/// Asserts that nothing is there that D65 does not go with.
pub(super) fn check_plan(setting: Setting<'_>) {
    let plan = setting.plan;
    if !is_on(plan) {
        let turns = plan.switch.input_turns;
        assert_eq!(turns, InputTurns::Flits, "D65: kept inputs");
        return;
    }
    check_switch(&plan.switch);
}

fn check_switch(options: &SwitchOptions) {
    assert!(options.lane_capacity >= 1, "D65: room for a flit");
    assert_eq!(options.sharing, BufferSharing::PerLane, "D65");
    if options.input_turns == InputTurns::Packets {
        let places = options.input_speedup;
        assert_eq!(places, InputSpeedup::Limited(1), "D65: kept inputs");
    }
    let rules = options.vl_arbitration.as_ref().map(|tables| tables.rules);
    if rules == Some(Rules::Legacy) {
        assert_eq!(options.allocation.iterations, 1, "D54");
        assert!(!options.management_lane, "D54");
    }
}

/// A flit arrives on a lane, or leaves an input that packets keep: the next one of its packet, or the first one of another
/// after the last one.
pub(super) fn check_succession(last: &mut Option<Flit>, next: Flit, packets: &[Packet]) {
    match last {
        Some(last) if last.index + 1 < packets[last.packet].size => {
            assert_eq!(last.packet, next.packet, "packets interleaved");
            assert_eq!(last.index + 1, next.index, "flits out of order");
        }
        // the same packet may come back on a detour
        _ => assert_eq!(next.index, 0, "a packet begins with its header"),
    }
    *last = Some(next);
}

/// What holds a lane holds it with some of its flits passed, and some not; every passed flit has its credit, behind the crossbar too.
pub(super) fn check(fabric: &Fabric<'_>) {
    let packets = &fabric.packets;
    if !is_on(fabric.setting.plan) {
        return;
    }
    let lanes = 0..usize::from(fabric.setting.plan.switch.lane_count());
    for host in &fabric.hosts {
        let link = &fabric.links[host.outgoing];
        for lane in lanes.clone() {
            assert_eq!(link.promised(lane), 0, "a credit without a flit");
        }
        let held = host.held.iter().flatten();
        check_each_once(held.clone().collect());
        for &id in held {
            let packet = &packets[id];
            assert!((1..packet.size).contains(&packet.flits_sent), "{packet:?}");
        }
    }
    for switch in &fabric.switches {
        for output in switch.outputs.iter().flatten() {
            let link = &fabric.links[output.channel];
            for lane in lanes.clone() {
                let buffered = output.flit_lanes.as_ref();
                let buffered = buffered.map_or(0, |lanes| lanes.waiting(lane));
                assert_eq!(link.promised(lane), buffered as u64, "a flit's credit");
            }
        }
        let options = &fabric.setting.plan.switch;
        check_each_once(switch.ports.check_held(options, switch, packets));
    }
}

/// No packet holds two lanes, of a switch from one input: on a detour (D20) it may come back while it is there.
fn check_each_once<T: Ord>(mut held: Vec<T>) {
    let lanes = held.len();
    held.sort_unstable();
    held.dedup();
    assert_eq!(held.len(), lanes, "a packet that holds two lanes");
}
