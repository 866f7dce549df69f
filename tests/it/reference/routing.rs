//! What packets find their way by: forwarding tables, or the candidates of an adaptive engine (D20), with which those of VL15 have
//! tables of their own (D83).

use super::Setting;
use super::own_routes;
use super::packet::Packet;
use super::switch::Way;
use std::ops::Range;
use virtlane::plan::{Forwarding, Plan, Queues, SwitchOptions};
use virtlane::routing::adaptive::{AdaptiveRouting, Selection};
use virtlane::routing::{Routes, Tables};

/// Routing of a whole fabric.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Routing<'a> {
    /// One way per (row, destination).
    Tables(&'a Tables),
    /// Candidates for every head.
    Adaptive(&'a dyn AdaptiveRouting),
}

impl<'a> From<&'a Tables> for Routing<'a> {
    fn from(tables: &'a Tables) -> Self {
        Self::Tables(tables)
    }
}

impl<'a> From<&'a dyn AdaptiveRouting> for Routing<'a> {
    fn from(routing: &'a dyn AdaptiveRouting) -> Self {
        Self::Adaptive(routing)
    }
}

impl<'a> From<&'a Routes> for Routing<'a> {
    fn from(routes: &'a Routes) -> Self {
        match routes {
            Routes::Tables(tables) => Self::Tables(tables),
            Routes::Adaptive(adaptive) => Self::Adaptive(&*adaptive.routing),
        }
    }
}

impl Routing<'_> {
    /// Whether heads request all their candidates.
    pub(super) fn is_open(self) -> bool {
        matches!(self, Self::Adaptive(routing) if routing.selection() == Selection::Open)
    }

    /// D84: whether packets stand in the queues of all outputs that they may take.
    pub(super) fn has_standing(self, options: &SwitchOptions) -> bool {
        self.is_open() && options.queues == Queues::Voq
    }

    /// D83: with FIFO queues a packet of VL15 beside packets that choose waits for its output as head only.
    pub(super) fn early(self, options: &SwitchOptions, ways: Vec<Way>) -> Vec<Way> {
        let is_by_tables = matches!(self, Self::Tables(_));
        let is_early = is_by_tables || options.queues == Queues::Voq;
        ways.into_iter().filter(|_| is_early).collect()
    }

    /// What D20 and D84 exclude; packets of VL15 have tables (D83).
    pub(super) fn check_plan(self, plan: &Plan) {
        let has_own_tables = plan.management_tables.is_some();
        match self {
            Self::Tables(_) => assert!(!has_own_tables, "D83: all go by one kind of tables"),
            Self::Adaptive(_) => {
                let uses_them = plan.classes.iter().any(|class| class.management);
                assert!(has_own_tables || !uses_them, "D83: tables of VL15");
            }
        }
        if self.is_open() {
            assert!(!plan.switch.reserve, "D20");
        }
        if self.has_standing(&plan.switch) {
            assert_ne!(plan.switch.forwarding, Forwarding::Wormhole, "D84");
            assert_eq!(plan.switch.allocation.claims, None, "D84");
        }
    }
}

/// The tables that a packet goes by; none: it chooses (D20).
pub(super) fn tables_of<'a>(setting: Setting<'a>, packet: &Packet) -> Option<&'a Tables> {
    match setting.routing {
        Routing::Tables(tables) => Some(tables),
        Routing::Adaptive(_) if packet.management => {
            let tables = setting.plan.management_tables.as_deref();
            Some(tables.expect("D83: tables of VL15"))
        }
        Routing::Adaptive(_) => None,
    }
}

/// The lane on which a packet enters the fabric.
pub(super) fn injection_lane(setting: Setting<'_>, packet: &Packet) -> usize {
    let options = &setting.plan.switch;
    if packet.management {
        assert!(options.management_lane, "D14: VL15");
        return usize::from(options.lanes);
    }
    let lane = match setting.routing {
        Routing::Tables(tables) => {
            let channel = setting.graph.host_channel(packet.source);
            let has_route = own_routes::of_packet(setting, packet).is_some();
            let layer = if has_route { 0 } else { packet.layer };
            let lane = tables.lanes.injection_lane(channel, packet.sl, layer);
            lane.index()
        }
        Routing::Adaptive(routing) => {
            let lanes = group(routing, options, packet);
            // D39, D47: the flow of a control packet
            let flow = packet.flow.or(packet.saying.map(|saying| saying.flow));
            let number = flow.unwrap_or(packet.sequence as usize);
            lanes.start + number % lanes.len()
        }
    };
    assert!(lane < usize::from(options.lanes));
    lane
}

/// The lanes of a packet's service level.
pub(super) fn group(
    routing: &dyn AdaptiveRouting,
    options: &SwitchOptions,
    packet: &Packet,
) -> Range<usize> {
    assert!(!packet.management, "D83: VL15 is in no group");
    let (lanes, width) = (usize::from(options.lanes), usize::from(routing.width()));
    let groups = lanes / width;
    assert!(groups > 0, "fewer lanes than a group has");
    let first = packet.sl.index() % groups * width;
    first..first + width
}
