//! What packets find their way by: forwarding tables, or the candidates of an adaptive engine (D20).

use super::Setting;
use super::own_routes;
use super::packet::Packet;
use std::ops::Range;
use virtlane::plan::{Queues, SwitchOptions};
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

    /// What D20 and D75 exclude.
    pub(super) fn check_options(self, options: &SwitchOptions) {
        if let Self::Adaptive(_) = self {
            assert!(!options.management_lane, "D20: no VL15");
        }
        if self.is_open() {
            assert_eq!(options.queues, Queues::Fifo, "D75");
            assert!(!options.reserve, "D20");
        }
    }
}

/// The lane on which a packet enters the fabric.
pub(super) fn injection_lane(setting: Setting<'_>, packet: &Packet) -> usize {
    let options = &setting.plan.switch;
    let lane = match setting.routing {
        Routing::Tables(_) if packet.management => return usize::from(options.lanes),
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
    assert!(!packet.management, "D20: no VL15");
    let (lanes, width) = (usize::from(options.lanes), usize::from(routing.width()));
    let groups = lanes / width;
    assert!(groups > 0, "fewer lanes than a group has");
    let first = packet.sl.index() % groups * width;
    first..first + width
}
